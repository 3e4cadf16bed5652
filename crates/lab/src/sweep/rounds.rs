//! The cells of a sweep, counted and found without a list of them.

use super::plan::{MAX_SEEDS, MIN_SEEDS, Plan, Runs};
use crate::Error;
use crate::cell::Cell;
use crate::rows::Rows;
use crate::stats::{CONFIDENCE, Estimate};
use std::ops::Range;

/// Cells that are run before it is asked which others are wanted: of each point some of the plan's seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    seeds: Seeds,
    /// Of each point, which of its seeds are run in this round.
    spans: Vec<Range<u32>>,
    /// How many cells come before each point, and all.
    before: Vec<usize>,
    /// Its number, from 0 on.
    pub(super) number: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum Seeds {
    From(u64),
    /// In rising order.
    These(Vec<u64>),
}

impl Seeds {
    fn at(&self, k: u32) -> u64 {
        match self {
            Self::From(first) => first.wrapping_add(u64::from(k)),
            Self::These(seeds) => seeds[k as usize],
        }
    }

    /// The place of a seed.
    fn place(&self, seed: u64) -> Option<u32> {
        match self {
            Self::From(first) => u32::try_from(seed.wrapping_sub(*first)).ok(),
            Self::These(seeds) => seeds.binary_search(&seed).ok().and_then(|k| u32::try_from(k).ok()),
        }
    }
}

impl Plan {
    /// The cells that it begins with, in order: with a precision target the fewest that may do.
    ///
    /// # Errors
    /// The first scenario cannot be made.
    pub fn cells(&self) -> Result<Round, Error> {
        Round::first(self)
    }

    /// The cells that a precision target asks for beyond those of this round, all of which have run; none where it is met,
    /// and where there is no target.
    pub fn next(&self, round: &Round, rows: &Rows) -> Round {
        round.next(self, rows)
    }
}

impl Round {
    fn first(plan: &Plan) -> Result<Self, Error> {
        let first = match plan.grid.size() {
            0 => 1,
            _ => plan.grid.scenario(0)?.seed,
        };
        let many = |n: u64| {
            u32::try_from(n).map_err(|_| Error::Internal(format!("{n} runs of a point are too many")))
        };
        let (seeds, count) = match &plan.runs {
            Runs::Count(n) => (Seeds::From(first), many(*n)?),
            Runs::Precision { .. } => (Seeds::From(first), many(MIN_SEEDS)?),
            Runs::Seeds(seeds) => {
                let mut seeds = seeds.clone();
                seeds.sort_unstable();
                seeds.dedup();
                let count = many(seeds.len() as u64)?;
                (Seeds::These(seeds), count)
            }
        };
        Ok(Self::new(seeds, vec![0..count; plan.grid.size()], 0))
    }

    fn new(seeds: Seeds, spans: Vec<Range<u32>>, number: usize) -> Self {
        let sums = spans.iter().scan(0, |sum, span| {
            *sum += span.len();
            Some(*sum)
        });
        let before = std::iter::once(0).chain(sums).collect();
        Self { seeds, spans, before, number }
    }

    fn next(&self, plan: &Plan, rows: &Rows) -> Self {
        let Runs::Precision { target, .. } = plan.runs else {
            return Self::new(self.seeds.clone(), vec![0..0; self.spans.len()], self.number + 1);
        };
        let more = |(point, span): (usize, &Range<u32>)| {
            let have = u64::from(span.end);
            let width = self.relative_half_width(plan, point, rows);
            if width.is_some_and(|w| w <= target) || have >= MAX_SEEDS {
                return span.end..span.end;
            }
            // The half-width falls with the root of the number of seeds. At most doubling keeps a lucky or unlucky
            // first estimate from deciding too much.
            let ask = width.map_or(2 * have, |w| (have as f64 * (w / target).powi(2)).ceil() as u64);
            let ask = ask.clamp(have + 1, 2 * have).min(MAX_SEEDS);
            span.end..u32::try_from(ask).unwrap_or(span.end)
        };
        Self::new(self.seeds.clone(), self.spans.iter().enumerate().map(more).collect(), self.number + 1)
    }

    /// Of the precision target's metric at a point, over the cells wanted until now only: more may be on disk.
    pub(super) fn relative_half_width(&self, plan: &Plan, point: usize, rows: &Rows) -> Option<f64> {
        let Runs::Precision { metric, .. } = &plan.runs else { return None };
        let at = plan.in_memory().iter().position(|m| m == metric)?;
        let wanted = rows.values(point, at).filter(|(seed, _)| self.wants(Cell { point, seed: *seed }));
        Estimate::of(wanted.map(|(_, value)| value), CONFIDENCE).relative_half_width()
    }

    /// How many cells it has.
    pub fn len(&self) -> usize {
        self.before.last().copied().unwrap_or(0)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A cell by its number.
    pub fn cell(&self, number: usize) -> Cell {
        let point = self.before.partition_point(|&before| before <= number) - 1;
        let k = self.spans[point].start + (number - self.before[point]) as u32;
        Cell { point, seed: self.seeds.at(k) }
    }

    /// The number of a cell; `None`: it is not one of this round.
    pub(super) fn number_of(&self, cell: Cell) -> Option<usize> {
        let span = self.spans.get(cell.point)?;
        let k = self.seeds.place(cell.seed).filter(|k| span.contains(k))?;
        Some(self.before[cell.point] + (k - span.start) as usize)
    }

    /// Whether all its cells have run, where runs that nobody wants are not among them.
    pub(super) fn is_done(&self, rows: &Rows) -> bool {
        let all = |(point, span): (usize, &Range<u32>)| {
            rows.count(point) >= span.end as usize
                && span.clone().all(|k| rows.has(Cell { point, seed: self.seeds.at(k) }))
        };
        self.spans.iter().enumerate().all(all)
    }

    /// All cells.
    pub fn iter(&self) -> impl Iterator<Item = Cell> + '_ {
        let seeds = &self.seeds;
        let of = move |(point, span): (usize, &Range<u32>)| {
            span.clone().map(move |k| Cell { point, seed: seeds.at(k) })
        };
        self.spans.iter().enumerate().flat_map(of)
    }

    /// Whether a cell is one of this round or of those before.
    pub fn wants(&self, cell: Cell) -> bool {
        let until = self.spans.get(cell.point).map_or(0, |span| span.end);
        self.seeds.place(cell.seed).is_some_and(|k| k < until)
    }

    /// Whether a later round may want a cell.
    pub(super) fn may_want(&self, plan: &Plan, cell: Cell) -> bool {
        let most = match plan.runs {
            Runs::Precision { .. } => u32::try_from(MAX_SEEDS).unwrap_or(u32::MAX),
            _ => return self.wants(cell),
        };
        cell.point < self.spans.len() && self.seeds.place(cell.seed).is_some_and(|k| k < most)
    }

    /// How many cells are wanted in this round and those before.
    pub fn wanted(&self) -> usize {
        self.spans.iter().map(|span| span.end as usize).sum()
    }

    /// The seeds of a point that are wanted in this round and those before, in rising order.
    pub fn seeds(&self, point: usize) -> Vec<u64> {
        let mut seeds: Vec<u64> = (0..self.spans[point].end).map(|k| self.seeds.at(k)).collect();
        seeds.sort_unstable();
        seeds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_ten_millions_are_found_by_their_numbers_without_a_list() {
        let round = Round::new(Seeds::From(7), vec![0..100; 100_000], 0);
        assert_eq!((round.len(), round.wanted()), (10_000_000, 10_000_000));
        for number in [0, 99, 100, 5_000_001, 9_999_999] {
            let cell = round.cell(number);
            assert_eq!((cell.point, cell.seed), (number / 100, 7 + number as u64 % 100));
            assert_eq!(round.number_of(cell), Some(number));
        }
        assert!(
            !round.wants(Cell { point: 3, seed: 107 })
                && round.number_of(Cell { point: 3, seed: 6 }).is_none()
        );
    }

    #[test]
    fn a_later_round_has_only_what_is_new_and_wants_what_came_before_too() {
        let round = Round::new(Seeds::From(1), vec![5..8, 5..5, 5..6], 1);
        let cells: Vec<_> = round.iter().map(|cell| (cell.point, cell.seed)).collect();
        assert_eq!(cells, [(0, 6), (0, 7), (0, 8), (2, 6)]);
        let by_number: Vec<_> = (0..round.len()).map(|number| round.cell(number)).collect();
        assert_eq!(by_number, round.iter().collect::<Vec<_>>());
        assert_eq!((round.wanted(), round.seeds(1)), (19, vec![1, 2, 3, 4, 5]));
        assert!(round.wants(Cell { point: 0, seed: 2 }));
    }
}
