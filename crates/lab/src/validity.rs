//! What becomes of live runs in which the machine was late: which are replaced, by what budget, and how many spoilt ones
//! an answer bears.
//!
//! A run is judged by its [`Lateness`] alone, by the rule of [`truckee_scenario::lateness`]: nothing here is ever told
//! what a run showed. An invalid one is run again under the same seed, and what it showed is forgotten, while the budget
//! lasts. What is invalid after that stays where it is, marked; above [`MOST_INVALID`] of them nothing is judged.
//!
//! Not for: the simulator, which no machine makes late.

use crate::Failure;
use crate::sweep::Cell;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use truckee_scenario::Lateness;

/// Runs of one seed, the first one included.
pub const MOST_TRIES: u64 = 3;
/// Replacements for so many runs planned, one: a machine that is late more often than not is no laboratory.
pub const PLANNED_A_REPLACEMENT: usize = 2;
/// Where a larger share of an answer's live runs is invalid, nothing is judged.
pub const MOST_INVALID: f64 = 0.1;

/// The runs to replace now: of those planned, invalid ones that have tries left, in order, as far as the budget goes.
/// `done` gives how late each run was; the budget is what [`PLANNED_A_REPLACEMENT`] allows (rounded up), less what the
/// runs have replaced already, so that stopping and going on wins nothing.
pub fn to_replace<'a>(
    planned: usize,
    done: impl Iterator<Item = (Cell, Option<&'a Lateness>)> + Clone,
) -> Vec<Cell> {
    let known = done.filter_map(|(cell, lateness)| Some((cell, lateness?)));
    let spent: u64 = known.clone().map(|(_, lateness)| lateness.replaces).sum();
    let budget = planned.div_ceil(PLANNED_A_REPLACEMENT);
    let left = budget.saturating_sub(usize::try_from(spent).unwrap_or(usize::MAX));
    let wants = |lateness: &Lateness| lateness.is_invalid() && lateness.replaces + 1 < MOST_TRIES;
    known.filter(|(_, lateness)| wants(lateness)).map(|(cell, _)| cell).take(left).collect()
}

/// Live runs that broke off: what befell one of them is no reason to lose the others. They are made again as invalid ones
/// are, by a budget of the same size.
#[derive(Debug, Clone, Default)]
pub(crate) struct Broken(BTreeMap<Cell, u64>);

impl Broken {
    /// A run has broken off, of so many planned; whether it is to be made again.
    pub(crate) fn add(&mut self, cell: Cell, planned: usize) -> bool {
        let times = self.0.entry(cell).or_default();
        *times += 1;
        let (times, all) = (*times, self.0.values().sum::<u64>());
        times < MOST_TRIES && all <= planned.div_ceil(PLANNED_A_REPLACEMENT) as u64
    }

    /// How many of a cell have broken off.
    pub(crate) fn of(&self, cell: &Cell) -> u64 {
        self.0.get(cell).copied().unwrap_or(0)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Cell, u64)> + '_ {
        self.0.iter().map(|(cell, times)| (*cell, *times))
    }

    /// What is said of one that is made again.
    pub(crate) fn said(point: &str, seed: u64, failure: &Failure) -> String {
        let at = if point.is_empty() { String::new() } else { format!("at {point}, ") };
        format!("{at}seed {seed}: a run broke off, and is made again: {failure}")
    }
}

/// The live runs that an answer stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LiveRuns {
    /// How many.
    pub runs: usize,
    /// Of them, those that are invalid, and yet there, since the budget was spent.
    pub invalid: usize,
    /// Invalid runs that were replaced; not among `runs`.
    pub replaced: usize,
    /// Of the runs, those of which nobody knows how late the machine was: an older program kept them.
    pub unknown: usize,
}

impl LiveRuns {
    /// Of runs of a live engine that were so late.
    pub fn of<'a>(runs: impl Iterator<Item = Option<&'a Lateness>>) -> Self {
        let mut all = Self::default();
        for lateness in runs {
            all.runs += 1;
            match lateness {
                Some(lateness) => {
                    all.invalid += usize::from(lateness.is_invalid());
                    all.replaced += usize::try_from(lateness.replaces).unwrap_or(usize::MAX);
                }
                None => all.unknown += 1,
            }
        }
        all
    }

    /// These and those.
    pub fn and(self, other: Self) -> Self {
        Self {
            runs: self.runs + other.runs,
            invalid: self.invalid + other.invalid,
            replaced: self.replaced + other.replaced,
            unknown: self.unknown + other.unknown,
        }
    }

    /// Why nothing is to be judged by them; `None`: it may be.
    pub fn too_late(&self) -> Option<String> {
        let Self { runs, invalid, .. } = self;
        is_too_many(*invalid, *runs)
            .then(|| format!("the machine was too late ({invalid} of {runs} live runs invalid)"))
    }
}

/// Whether so many invalid runs are more than [`MOST_INVALID`] of all.
pub fn is_too_many(invalid: usize, all: usize) -> bool {
    invalid as f64 > MOST_INVALID * all as f64
}

/// In words, for tables and pages: `20 live runs, 1 of them invalid (5 %); 3 invalid ones were replaced`.
impl std::fmt::Display for LiveRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { runs, invalid, replaced, unknown } = self;
        write!(f, "{}, ", crate::human::many(*runs, "live run"))?;
        match invalid {
            0 => write!(f, "none of them invalid")?,
            n => {
                let share = crate::human::percent(*n as f64 / (*runs).max(1) as f64);
                write!(f, "{n} of them invalid ({share})")?;
            }
        }
        match replaced {
            0 => {}
            1 => write!(f, "; 1 invalid one was replaced")?,
            n => write!(f, "; {n} invalid ones were replaced")?,
        }
        if *unknown > 0 {
            write!(f, "; of {unknown} it is not known how late the machine was")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: Lateness = Lateness {
        packets: 100,
        late_share: 0.5,
        latest_s: 0.02,
        waiting_share: 0.0,
        longest_wait_s: 0.0,
        stolen_share: None,
        lost_records: 0,
        unread_packets: 0,
        replaces: 0,
    };
    const PUNCTUAL: Lateness = Lateness { late_share: 0.0, ..LATE };

    /// The seeds that are replaced of runs that were so late, seeds counted from 1.
    fn replaced(planned: usize, runs: &[Option<Lateness>]) -> Vec<u64> {
        let cells = runs.iter().enumerate();
        let done = cells.map(|(k, late)| (Cell { point: 0, seed: k as u64 + 1 }, late.as_ref()));
        to_replace(planned, done).into_iter().map(|cell| cell.seed).collect()
    }

    #[test]
    fn invalid_runs_are_replaced_and_no_others() {
        let runs = [Some(PUNCTUAL), Some(LATE), None, Some(PUNCTUAL), Some(LATE)];
        assert_eq!(replaced(5, &runs), [2, 5]);
        assert!(replaced(5, &[Some(PUNCTUAL), None]).is_empty());
    }

    #[test]
    fn a_seed_has_three_tries() {
        let tried = |replaces| Some(Lateness { replaces, ..LATE });
        assert_eq!(replaced(20, &[tried(0), tried(1), tried(2)]), [1, 2]);
    }

    #[test]
    fn half_of_the_planned_runs_rounded_up_are_replaced_and_no_more() {
        assert_eq!(replaced(5, &[Some(LATE); 5]), [1, 2, 3]);
        assert_eq!(replaced(1, &[Some(LATE)]), [1]);
        // What was replaced before counts, whoever asks.
        let again = Some(Lateness { replaces: 1, ..LATE });
        assert_eq!(replaced(5, &[again, again, Some(LATE), Some(LATE), Some(PUNCTUAL)]), [1]);
        assert!(replaced(4, &[Some(Lateness { replaces: 2, ..PUNCTUAL }), Some(LATE)]).is_empty());
    }

    #[test]
    fn what_breaks_off_is_made_again_within_its_budget() {
        let cell = |seed| Cell { point: 0, seed };
        let mut broken = Broken::default();
        assert!(broken.add(cell(1), 8) && broken.add(cell(1), 8));
        assert_eq!((broken.of(&cell(1)), broken.of(&cell(2))), (2, 0));
        assert!(!broken.add(cell(1), 8), "three tries");
        assert!(broken.add(cell(2), 8), "four of eight");
        assert!(!broken.add(cell(3), 8), "and no more");
    }

    #[test]
    fn an_answer_bears_a_tenth_of_invalid_runs() {
        let of = |invalid: usize, valid: usize| {
            let late = std::iter::repeat_n(Some(&LATE), invalid);
            LiveRuns::of(late.chain(std::iter::repeat_n(Some(&PUNCTUAL), valid)))
        };
        assert_eq!(of(1, 9).too_late(), None);
        let why = of(2, 9).too_late().unwrap();
        assert_eq!(why, "the machine was too late (2 of 11 live runs invalid)");
        assert_eq!(LiveRuns::default().too_late(), None, "a simulation has no live runs");
        assert_eq!(of(1, 4).and(of(0, 5)), of(1, 9));
    }

    #[test]
    fn the_share_of_invalid_runs_is_told_in_words() {
        let again = Lateness { replaces: 2, ..PUNCTUAL };
        let runs = [Some(&LATE), Some(&again), Some(&PUNCTUAL), Some(&PUNCTUAL)];
        let told = LiveRuns::of(runs.into_iter()).to_string();
        assert_eq!(told, "4 live runs, 1 of them invalid (25 %); 2 invalid ones were replaced");
        let old = LiveRuns::of([None, Some(&PUNCTUAL)].into_iter()).to_string();
        assert_eq!(old, "2 live runs, none of them invalid; of 1 it is not known how late the machine was");
    }
}
