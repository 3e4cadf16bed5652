//! A sweep as it is done here: which cells are missing, who runs them, and when it is enough.
//!
//! The cells of a round are cut into blocks. Where there is a store, a block belongs to the process that has claimed it,
//! which looks first at what others have done of it; so two that sweep the same share the work, and what one of them leaves
//! when it dies another one takes up.

use super::elsewhere::{Crew, work as work_elsewhere};
use super::plan::{Plan, Runs};
use super::pool::{Pool, Work};
use super::rounds::Round;
use super::{Progress, Sweep};
use crate::cell::{Cell, Key, NoRecord, Ran, Record};
use crate::engine::default_jobs;
use crate::realtime::Schedule;
use crate::rows::{Row, Rows};
use crate::store::{Kept, Store, Table};
use crate::validity::{Broken, to_replace};
use crate::{Cancel, Engine, Error, Failure, Metric};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::ops::Range;
use std::time::Duration;
use truckee_scenario::Lateness;

/// A round has so many blocks at most.
const BLOCKS: usize = 64;
/// So many cells are handed to the threads at a time: what comes of them waits in memory to be kept.
const HANDED: usize = 2048;
/// So often it is looked whether others have done what they have claimed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Who runs cells.
pub(super) enum Hands<'a> {
    Here(Pool),
    Elsewhere(&'a mut dyn Crew),
}

/// What is said when invalid runs are replaced.
pub(crate) fn replaced(runs: usize) -> String {
    match runs {
        1 => "the machine was too late in one run, which is made again".to_owned(),
        n => format!("the machine was too late in {n} runs, which are made again"),
    }
}

/// A block of cells that this process has claimed.
struct Block {
    cells: Range<usize>,
    /// Those that have not come back yet.
    left: usize,
    /// Gives it back when dropped; `None` where there is no store.
    _claim: Option<File>,
}

/// A sweep under way: what is known of it, and what is to be done.
pub(super) struct Sharing<'a> {
    plan: &'a Plan,
    engine: &'a dyn Engine,
    progress: &'a mut dyn Progress,
    store: Option<Store>,
    /// What the points are called, and their numbers in order of that.
    keys: Vec<Key>,
    order: Vec<u32>,
    /// The metrics in memory, and their places among those that are kept.
    metrics: Vec<Metric>,
    names: Vec<String>,
    places: Vec<usize>,
    rows: Rows,
    round: Round,
    /// What claims of this question begin with.
    question: String,
    /// Numbers of the blocks that nobody here has tried to claim yet.
    pending: VecDeque<usize>,
    open: Vec<Block>,
    /// Cells of them that no thread has been given yet.
    claimed: VecDeque<Cell>,
    /// Runs to make in place of others; while there are any, none is missing.
    again: Vec<Cell>,
    schedule: Option<Schedule>,
    broken: Broken,
    ran: bool,
    /// Whether it was said how much there is to do.
    told: bool,
}

impl<'a> Sharing<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        engine: &'a dyn Engine,
        store: Option<Store>,
        round: Round,
        progress: &'a mut dyn Progress,
    ) -> Self {
        let keys = plan.keys(engine);
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_by_key(|&point| keys[point as usize]);
        let metrics = plan.in_memory();
        let place = |metric: &Metric| plan.metrics.iter().position(|m| m == metric);
        let mut question = Sha256::new();
        keys.iter().for_each(|key| question.update(key.0));
        question.update(format!("{:?}", plan.runs));
        Self {
            rows: Rows::new(keys.len(), metrics.len()),
            places: metrics.iter().filter_map(place).collect(),
            names: metrics.iter().map(|m| m.name().to_owned()).collect(),
            question: question.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect(),
            plan,
            engine,
            progress,
            store,
            keys,
            order,
            metrics,
            round,
            pending: VecDeque::new(),
            open: Vec::new(),
            claimed: VecDeque::new(),
            again: Vec::new(),
            schedule: None,
            broken: Broken::default(),
            ran: false,
            told: false,
        }
    }

    /// Runs rounds until none asks for more. Whether it came to that, and was not cancelled.
    pub(super) fn until_enough(&mut self, hands: &mut Hands<'_>, cancel: &Cancel) -> Result<bool, Error> {
        loop {
            let missing = !self.round.is_done(&self.rows);
            self.again = if missing { Vec::new() } else { self.late() };
            if !missing && self.again.is_empty() {
                self.tell();
                let more = self.plan.next(&self.round, &self.rows);
                if more.is_empty() {
                    return Ok(true);
                }
                self.round = more;
                self.told = false;
                continue;
            }
            if cancel.is_cancelled() {
                return Ok(false);
            }
            if !self.again.is_empty() {
                self.progress.warned(&replaced(self.again.len()));
                self.told = false;
            }
            self.tell();
            let finished = self.once(hands, cancel)?;
            if !finished {
                // All that is missing is with others.
                std::thread::sleep(PATIENCE);
                self.refresh()?;
            }
        }
    }

    /// Says how much there is to do, once.
    fn tell(&mut self) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        let wanted = self.round.wanted();
        let to_do: Vec<Cell> = match self.again.is_empty() {
            false => self.again.clone(),
            true if self.engine.is_live() => self.round.iter().filter(|cell| !self.rows.has(*cell)).collect(),
            true => Vec::new(),
        };
        let left = match self.again.len() {
            0 => self.round.iter().filter(|cell| !self.rows.has(*cell)).count(),
            again => again,
        };
        self.progress.started(wanted, wanted - left);
        if self.engine.is_live() && !to_do.is_empty() {
            let at_once = self.plan.jobs.unwrap_or_else(|| default_jobs(self.engine));
            let schedule = Schedule::new(to_do.iter().filter_map(|&cell| self.takes(cell)), at_once);
            self.progress.live(schedule.plan(self.engine.name()));
            self.schedule = Some(schedule);
        }
    }

    fn takes(&self, cell: Cell) -> Option<Duration> {
        self.engine.takes(self.plan.grid.scenario(cell.point).ok()?.as_ref())
    }

    /// Runs what is missing and not with others. Whether anything was.
    fn once(&mut self, hands: &mut Hands<'_>, cancel: &Cancel) -> Result<bool, Error> {
        self.pending = match self.engine.is_live() {
            true => spread(self.blocks()).collect(),
            false => (0..self.blocks()).collect(),
        };
        self.ran = false;
        let late = |cell: &Cell| self.rows.lateness(*cell).map_or(0, |l| l.replaces + 1);
        let again = self.again.iter().map(|cell| (*cell, late(cell)));
        let mut replaces: BTreeMap<Cell, u64> = again.collect();
        for (cell, times) in self.broken.iter() {
            *replaces.entry(cell).or_default() += times;
        }
        let (plan, engine) = (self.plan, self.engine);
        let run = |cell: Cell| run_cell(plan, engine, cell, replaces.get(&cell).copied().unwrap_or(0));
        let done = match hands {
            Hands::Here(pool) => pool.work(cancel, run, self),
            Hands::Elsewhere(crew) => work_elsewhere(plan, engine, *crew, cancel, self),
        };
        if let Some(store) = &mut self.store {
            store.flush(true)?;
        }
        self.open.clear();
        self.claimed.clear();
        done?;
        Ok(self.ran)
    }

    fn blocks(&self) -> usize {
        BLOCKS.min(self.round.len().max(1))
    }

    fn block(&self, number: usize) -> Range<usize> {
        let (cells, blocks) = (self.round.len(), self.blocks());
        cells * number / blocks..cells * (number + 1) / blocks
    }

    /// The cells of runs in which the machine was too late, and which are to be made again.
    fn late(&self) -> Vec<Cell> {
        if !self.engine.is_live() {
            return Vec::new();
        }
        let wanted: Vec<Cell> = (0..self.keys.len())
            .flat_map(|point| self.round.seeds(point).into_iter().map(move |seed| Cell { point, seed }))
            .collect();
        let rows = wanted.iter().filter(|cell| self.rows.has(**cell));
        to_replace(wanted.len(), rows.map(|cell| (*cell, self.rows.lateness(*cell))))
    }

    /// Takes in what others have written.
    pub(super) fn refresh(&mut self) -> Result<(), Error> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let (plan, keys, order, round) = (self.plan, &self.keys, &self.order, &self.round);
        let (rows, progress, told) = (&mut self.rows, &mut self.progress, self.told);
        let said = store.refresh(&self.names, &mut |key, seed, record| {
            let points = &order[points_of(keys, order, &key)];
            for &point in points {
                let cell = Cell { point: point as usize, seed };
                if !round.may_want(plan, cell) {
                    continue;
                }
                let values = record.values.clone();
                let row = Row { point: cell.point, seed, values, lateness: record.lateness };
                if rows.add(row) && told && round.wants(cell) {
                    progress.finished(cell);
                }
            }
            bounds(points)
        })?;
        said.iter().for_each(|what| self.progress.warned(what));
        Ok(())
    }

    /// Gives back the blocks of which all is on disk.
    fn give_back(&mut self, all_written: bool) {
        if all_written {
            self.open.retain(|block| block.left > 0);
        }
    }

    fn keep_one(&mut self, cell: Cell, record: Record) -> Result<(), Error> {
        let key = self.keys[cell.point];
        let points = &self.order[points_of(&self.keys, &self.order, &key)];
        let row = Row {
            point: cell.point,
            seed: cell.seed,
            values: self.places.iter().map(|&k| record.values[k]).collect(),
            lateness: record.lateness,
        };
        for &point in points {
            self.rows.add(Row { point: point as usize, ..row.clone() });
        }
        if let (Some(store), Some(points)) = (&mut self.store, bounds(points)) {
            store.keep(Kept { key, seed: cell.seed, record }, points)?;
        }
        self.progress.finished(cell);
        let takes = self.schedule.as_ref().and_then(|_| self.takes(cell));
        if let (Some(schedule), Some(length)) = (&mut self.schedule, takes) {
            self.progress.left(schedule.finish(length));
        }
        Ok(())
    }

    fn came_back(&mut self, cell: Cell) {
        let number = self.round.number_of(cell).unwrap_or(0);
        // A run that is made again may be of an earlier round: it was claimed with the first block.
        if let Some(block) = self.open.iter_mut().find(|block| block.cells.contains(&number)) {
            block.left = block.left.saturating_sub(1);
        }
    }

    pub(super) fn result(mut self, complete: bool) -> Result<Sweep, Error> {
        let (plan, round) = (self.plan, &self.round);
        let imprecise = match plan.runs {
            Runs::Precision { target, .. } if complete => (0..self.keys.len())
                .filter(|&p| round.relative_half_width(plan, p, &self.rows).is_none_or(|w| w > target))
                .collect(),
            _ => Vec::new(),
        };
        for point in 0..self.keys.len() {
            self.rows.retain(point, |seed| round.wants(Cell { point, seed }));
        }
        let mut file = None;
        if let Some(mut store) = self.store.take() {
            store.flush(true)?;
            if complete {
                let replaced = |cell: Cell| self.rows.lateness(cell).map_or(0, |l| l.replaces as usize);
                let live = self.engine.is_live();
                let table = Table {
                    grid: &plan.grid,
                    keys: &self.keys,
                    points_of: &|key| points_of(&self.keys, &self.order, key),
                    seeds: &|point| round.seeds(point),
                    replaced: if live { round.iter().map(replaced).sum() } else { 0 },
                    live,
                };
                file = Some(store.finish(&table, &self.order)?);
            }
            store.close()?;
        }
        Ok(Sweep {
            grid: plan.grid.clone(),
            metrics: self.metrics,
            rows: self.rows,
            complete,
            live: self.engine.is_live(),
            imprecise,
            is_new: file.as_ref().is_none_or(|(_, is_new)| *is_new),
            file: file.map(|(path, _)| path),
        })
    }
}

impl Sharing<'_> {
    /// Claims the next block of which anything is to be run; none where all are done, or with others.
    fn claim(&mut self) -> Result<(), Error> {
        while let Some(number) = self.pending.pop_front() {
            let cells = self.block(number);
            let is_in = |cell: &Cell| self.round.number_of(*cell).unwrap_or(0);
            let again: Vec<Cell> =
                self.again.iter().filter(|cell| cells.contains(&is_in(cell))).copied().collect();
            let missing = |number: &usize| !self.rows.has(self.round.cell(*number));
            if again.is_empty() && !cells.clone().any(|number| missing(&number)) {
                continue;
            }
            let claim = match &self.store {
                None => None,
                Some(store) => {
                    let name = format!("{}-{}-{number}", self.question, self.round.number);
                    let Some(claim) = store.claim(&name)? else { continue };
                    Some(claim)
                }
            };
            let late: BTreeMap<Cell, u64> = again
                .iter()
                .map(|cell| (*cell, self.rows.lateness(*cell).map_or(0, |l| l.replaces)))
                .collect();
            self.refresh()?;
            let missing =
                cells.clone().map(|number| self.round.cell(number)).filter(|cell| !self.rows.has(*cell));
            // Somebody else may have made it meanwhile.
            let still =
                |cell: &Cell| self.rows.lateness(*cell).map(|l| l.replaces) == late.get(cell).copied();
            let to_run: Vec<Cell> = missing.chain(again.into_iter().filter(still)).collect();
            if !to_run.is_empty() {
                self.ran = true;
                self.open.push(Block { cells, left: to_run.len(), _claim: claim });
                self.claimed = to_run.into();
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Work<Ran> for Sharing<'_> {
    fn more(&mut self) -> Result<Vec<Cell>, Error> {
        if self.claimed.is_empty() {
            self.claim()?;
        }
        Ok(self.claimed.drain(..HANDED.min(self.claimed.len())).collect())
    }

    fn keep(&mut self, finished: Vec<Ran>) -> Result<(), Error> {
        let mut failures = Vec::new();
        for ran in finished {
            match ran {
                Ok((cell, record)) => {
                    self.keep_one(cell, record)?;
                    self.came_back(cell);
                }
                Err(failure) => failures.push(failure),
            }
        }
        self.look_after()?;
        for (cell, failure) in failures {
            self.came_back(cell);
            let point = self.plan.grid.label(cell.point);
            if !self.broken.add(cell, self.round.wanted()) {
                return Err(Error::Engine { point, seed: cell.seed, reason: failure.reason });
            }
            self.progress.warned(&Broken::said(&point, cell.seed, &failure));
        }
        Ok(())
    }

    fn say(&mut self, what: &str) {
        self.progress.warned(what);
    }

    fn look_after(&mut self) -> Result<(), Error> {
        let written = match &mut self.store {
            Some(store) => store.flush(false)?,
            None => true,
        };
        self.give_back(written);
        Ok(())
    }
}

/// Numbers below this one, each far from those before it: a golden section of the round further on. Neighbours ask as much of the
/// machine as one another: where they are measured together, those that ask most are late together; and what changes with the
/// time of day changes all points alike.
fn spread(count: usize) -> impl Iterator<Item = usize> {
    let coprime = |step: &usize| (2..=*step).all(|d| !(step.is_multiple_of(d) && count.is_multiple_of(d)));
    let step = (count * 618 / 1000..).find(coprime).unwrap_or(1);
    (0..count).map(move |k| k * step % count)
}

/// Where the points of a key are in the order of keys.
fn points_of(keys: &[Key], order: &[u32], key: &Key) -> Range<usize> {
    let from = order.partition_point(|&point| keys[point as usize] < *key);
    let to = order[from..].partition_point(|&point| keys[point as usize] == *key);
    from..from + to
}

fn bounds(points: &[u32]) -> Option<(usize, usize)> {
    Some((*points.iter().min()? as usize, *points.iter().max()? as usize))
}

fn run_cell(plan: &Plan, engine: &dyn Engine, cell: Cell, replaces: u64) -> Result<Ran, Error> {
    match plan.run(engine, cell) {
        Ok(mut record) => {
            record.lateness = record.lateness.map(|lateness| Lateness { replaces, ..lateness });
            Ok(Ok((cell, record)))
        }
        Err(NoRecord::Engine(failure)) if failure.once => Ok(Err((cell, failure))),
        Err(NoRecord::Engine(Failure { reason, .. })) => {
            Err(Error::Engine { point: plan.grid.label(cell.point), seed: cell.seed, reason })
        }
        Err(NoRecord::Asked(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn neighbours_are_not_measured_together() {
        for count in 0..200 {
            let order: Vec<usize> = spread(count).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count).collect::<Vec<_>>(), "{order:?}");
            for few in order.windows(3).filter(|_| count >= 24) {
                let apart = |a: usize, b: usize| a.abs_diff(b).min(count - a.abs_diff(b));
                let least = (0..3).flat_map(|i| (0..i).map(move |k| apart(few[i], few[k]))).min().unwrap();
                assert!(10 * least >= count, "{few:?} of {count}");
            }
        }
    }
}
