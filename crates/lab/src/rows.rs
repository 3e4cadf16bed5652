//! The finished runs of a sweep in memory, as small as they can be: of each run its seed and the numbers that are asked
//! for. What else is known of it is on disk ([`crate::store`]).

use crate::sweep::Cell;
use std::collections::BTreeMap;
use truckee_scenario::Lateness;

/// One finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The grid point's number.
    pub point: usize,
    /// The seed.
    pub seed: u64,
    /// One value a metric; `None` where the run has none.
    pub values: Vec<Option<f64>>,
    /// How late the machine was in a live run.
    pub lateness: Option<Lateness>,
}

impl Row {
    /// Whether it is of a live run in which the machine was too late.
    pub fn is_invalid(&self) -> bool {
        self.lateness.is_some_and(|lateness| lateness.is_invalid())
    }
}

/// Runs in order of point and seed.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// Values a run.
    width: usize,
    points: Vec<Point>,
    len: usize,
}

/// The runs of a point, by seed.
#[derive(Debug, Clone, Default)]
struct Point {
    seeds: Vec<u64>,
    /// One run after the other; what a run has no value of is NaN.
    values: Vec<f64>,
    /// Of live runs, by seed.
    late: BTreeMap<u64, Lateness>,
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Rows {
    /// None yet, of so many points; a run has so many values.
    pub fn new(points: usize, width: usize) -> Self {
        Self { width, points: vec![Point::default(); points], len: 0 }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a run; of two of a cell the one stays that has replaced the other, in whatever order they come. Returns
    /// whether the cell had none before.
    pub fn add(&mut self, row: Row) -> bool {
        if self.points.len() <= row.point {
            self.points.resize(row.point + 1, Point::default());
        }
        let (width, point) = (self.width, &mut self.points[row.point]);
        let replaces = |lateness: Option<&Lateness>| lateness.map_or(0, |l| l.replaces);
        let values =
            row.values.iter().map(|v| v.unwrap_or(f64::NAN)).chain(std::iter::repeat(f64::NAN)).take(width);
        let at = match point.seeds.binary_search(&row.seed) {
            Ok(_) if replaces(point.late.get(&row.seed)) > replaces(row.lateness.as_ref()) => return false,
            Ok(at) => {
                point.values.splice(at * width..(at + 1) * width, values);
                if let Some(lateness) = row.lateness {
                    point.late.insert(row.seed, lateness);
                }
                return false;
            }
            Err(at) => at,
        };
        point.seeds.insert(at, row.seed);
        point.values.splice(at * width..at * width, values);
        if let Some(lateness) = row.lateness {
            point.late.insert(row.seed, lateness);
        }
        self.len += 1;
        true
    }

    /// Leaves only the runs of a point whose seeds are wanted.
    pub(crate) fn retain(&mut self, point: usize, wanted: impl Fn(u64) -> bool) {
        let width = self.width;
        let Some(point) = self.points.get_mut(point) else { return };
        if point.seeds.iter().all(|&seed| wanted(seed)) {
            return;
        }
        let kept: Vec<usize> = (0..point.seeds.len()).filter(|&k| wanted(point.seeds[k])).collect();
        self.len -= point.seeds.len() - kept.len();
        point.values = kept.iter().flat_map(|&k| point.values[k * width..(k + 1) * width].to_vec()).collect();
        point.seeds = kept.iter().map(|&k| point.seeds[k]).collect();
        point.late.retain(|&seed, _| wanted(seed));
    }

    /// Whether a cell has a run.
    pub fn has(&self, cell: Cell) -> bool {
        self.points.get(cell.point).is_some_and(|point| point.seeds.binary_search(&cell.seed).is_ok())
    }

    /// How many runs a point has.
    pub fn count(&self, point: usize) -> usize {
        self.points.get(point).map_or(0, |point| point.seeds.len())
    }

    /// How late the machine was in a cell's run.
    pub fn lateness(&self, cell: Cell) -> Option<&Lateness> {
        self.points.get(cell.point)?.late.get(&cell.seed)
    }

    /// The values of a metric, by its place, at a point: seeds in order.
    pub fn values(&self, point: usize, at: usize) -> impl Iterator<Item = (u64, Option<f64>)> + '_ {
        let rows =
            self.points.get(point).into_iter().flat_map(|p| p.seeds.iter().enumerate().map(move |s| (p, s)));
        rows.map(move |(p, (k, &seed))| (seed, Some(p.values[k * self.width + at]).filter(|v| !v.is_nan())))
    }

    /// The runs at a point.
    pub fn at(&self, point: usize) -> impl Iterator<Item = Row> + '_ {
        let runs =
            self.points.get(point).into_iter().flat_map(|p| p.seeds.iter().enumerate().map(move |s| (p, s)));
        runs.map(move |(p, (k, &seed))| Row {
            point,
            seed,
            values: p.values[k * self.width..(k + 1) * self.width]
                .iter()
                .map(|v| (!v.is_nan()).then_some(*v))
                .collect(),
            lateness: p.late.get(&seed).copied(),
        })
    }

    /// All runs.
    pub fn iter(&self) -> impl Iterator<Item = Row> + '_ {
        (0..self.points.len()).flat_map(|point| self.at(point))
    }
}

/// The first run says how many values there are.
impl FromIterator<Row> for Rows {
    fn from_iter<T: IntoIterator<Item = Row>>(rows: T) -> Self {
        let mut rows = rows.into_iter().peekable();
        let mut all = Self::new(0, rows.peek().map_or(0, |row| row.values.len()));
        rows.for_each(|row| {
            all.add(row);
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(point: usize, seed: u64, replaces: Option<u64>) -> Row {
        let lateness = replaces.map(|replaces| Lateness { replaces, ..Lateness::default() });
        Row {
            point,
            seed,
            values: vec![(!seed.is_multiple_of(3)).then_some(seed as f64), Some(1.0)],
            lateness,
        }
    }

    #[test]
    fn runs_come_back_in_order_with_their_gaps_each_once() {
        let mut rows: Rows = [row(1, 3, None), row(0, 2, None), row(0, 1, None)].into_iter().collect();
        assert!(!rows.add(row(0, 2, None)));
        assert_eq!(rows.iter().collect::<Vec<_>>(), [row(0, 1, None), row(0, 2, None), row(1, 3, None)]);
        assert_eq!((rows.len(), rows.count(0), rows.count(7)), (3, 2, 0));
        assert_eq!(rows.values(1, 0).collect::<Vec<_>>(), [(3, None)]);
        rows.retain(0, |seed| seed == 2);
        assert_eq!(rows.iter().map(|r| r.seed).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(rows.len(), 2);
    }

    #[test]
    fn what_has_replaced_another_run_stays_in_whatever_order_they_come() {
        for order in [[0, 1], [1, 0]] {
            let rows: Rows = order.into_iter().map(|replaces| row(0, 1, Some(replaces))).collect();
            assert_eq!(rows.lateness(Cell { point: 0, seed: 1 }).map(|l| l.replaces), Some(1));
            assert_eq!(rows.len(), 1);
        }
    }
}
