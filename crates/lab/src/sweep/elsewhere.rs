//! Cells that run elsewhere: handed out as tasks to a [`Crew`], and taken in as they come back.
//!
//! What comes back is kept as what has run here is, so that a precision target, a folder that is shared and a sweep that goes
//! on do not know the difference. A task is of so many cells that it takes about [`LONG`]: few enough that little is made
//! twice where a worker dies, and many enough that handing over costs little.
//!
//! Not for: who the crew is, and what it does where somebody of it dies. It gives each task back once, or an error.

use super::pool::Work;
use crate::cell::{Cell, Ran, Record, Task};
use crate::{Cancel, Engine, EngineName, Error, Failure, Plan};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// So long a task is to take, s.
const LONG: f64 = 1.0;
/// So many cells it has at most.
const MOST: usize = 1024;
/// The next task has so many times the cells of those before at most: the first ones may have been quick ones.
const STEP: f64 = 8.0;
/// How much a task's time says of the next one's.
const WEIGHT: f64 = 0.3;
/// So often it is looked whether anybody wants it to end.
const LOOKED_AFTER: Duration = Duration::from_millis(100);

/// Those who run cells elsewhere.
pub trait Crew: Send {
    /// How many tasks they should have, waiting or under way.
    ///
    /// # Errors
    /// They are lost.
    fn room(&mut self) -> Result<usize, Error>;

    /// Takes a task, by a number that no other one has.
    ///
    /// # Errors
    /// They are lost.
    fn send(&mut self, number: u64, task: &Task) -> Result<(), Error>;

    /// What has come back, each task once; where nothing has, it waits for so long.
    ///
    /// # Errors
    /// They are lost, or nobody of them can run what was asked.
    fn returned(&mut self, patience: Duration) -> Result<Vec<Returned>, Error>;

    /// Takes tasks back that nobody has begun: their numbers.
    ///
    /// # Errors
    /// They are lost.
    fn take_back(&mut self) -> Result<Vec<u64>, Error>;

    /// What somebody should read since it was last asked.
    fn said(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A task that has been run.
#[derive(Debug, Clone)]
pub struct Returned {
    /// Its number.
    pub number: u64,
    /// As [`Task::run`] answers.
    pub answers: Vec<Result<Record, Failure>>,
    /// How long it took there, s.
    pub seconds: f64,
}

/// How many cells a task gets.
#[derive(Debug)]
struct Pace {
    cells: f64,
    /// What a cell takes, s.
    one: Option<f64>,
}

impl Pace {
    fn new() -> Self {
        Self { cells: 1.0, one: None }
    }

    fn hear(&mut self, cells: usize, seconds: f64) {
        if cells == 0 || !seconds.is_finite() {
            return;
        }
        let new = seconds.max(0.0) / cells as f64;
        let one = self.one.map_or(new, |old| old + WEIGHT * (new - old));
        self.one = Some(one);
        self.cells = (LONG / one).min(self.cells * STEP).clamp(1.0, MOST as f64);
    }

    /// Of so many cells for so many tasks.
    fn of(&self, cells: usize, tasks: usize) -> usize {
        (self.cells as usize).min(cells.div_ceil(tasks.max(1))).max(1)
    }
}

/// Has cells run as long as there are more. Ends early when `cancel` is wished, or a cell fails, as the threads here do.
pub(super) fn work(
    plan: &Plan,
    engine: &dyn Engine,
    crew: &mut dyn Crew,
    cancel: &Cancel,
    work: &mut dyn Work<Ran>,
) -> Result<(), Error> {
    let mut hand = Hand { plan, engine, out: BTreeMap::new(), next: 0, pace: Pace::new() };
    let mut waiting = VecDeque::new();
    let (mut failure, mut stopped) = (None, false);
    loop {
        if !stopped && (cancel.is_cancelled() || failure.is_some()) {
            stopped = true;
            for number in crew.take_back()? {
                hand.out.remove(&number);
            }
        }
        if !stopped && let Err(error) = hand.out(crew, work, &mut waiting) {
            failure = Some(error);
            continue;
        }
        if hand.out.is_empty() {
            return failure.map_or(Ok(()), Err);
        }
        let returned = crew.returned(LOOKED_AFTER)?;
        crew.said().iter().for_each(|what| work.say(what));
        let mut finished = Vec::new();
        for one in returned {
            if let Err(error) = hand.take(one, &mut finished) {
                failure.get_or_insert(error);
            }
        }
        let kept = if finished.is_empty() { Ok(()) } else { work.keep(finished) };
        if let Err(error) = kept.and_then(|()| work.look_after()) {
            failure.get_or_insert(error);
        }
        // After a failed write nothing more is written: the disk is full or gone.
        if matches!(failure, Some(Error::Write { .. })) {
            return failure.map_or(Ok(()), Err);
        }
    }
}

/// What is handed out.
struct Hand<'a> {
    plan: &'a Plan,
    engine: &'a dyn Engine,
    out: BTreeMap<u64, Vec<Cell>>,
    next: u64,
    pace: Pace,
}

impl Hand<'_> {
    /// Hands out as much as there is room for.
    fn out(
        &mut self,
        crew: &mut dyn Crew,
        work: &mut dyn Work<Ran>,
        waiting: &mut VecDeque<Cell>,
    ) -> Result<(), Error> {
        let free = crew.room()?.saturating_sub(self.out.len());
        let wanted = free * self.pace.cells as usize;
        while waiting.len() < wanted {
            let more = work.more()?;
            if more.is_empty() {
                break;
            }
            waiting.extend(more);
        }
        for tasks in (1..=free).rev() {
            if waiting.is_empty() {
                break;
            }
            let cells: Vec<Cell> = waiting.drain(..self.pace.of(waiting.len(), tasks)).collect();
            let engine: EngineName = self.engine.name().parse().map_err(Error::Internal)?;
            let task = self.plan.task(&engine, &self.engine.build(), &cells).ok_or_else(|| {
                Error::Internal("cells run elsewhere need a grid that is made of a file".to_owned())
            })?;
            crew.send(self.next, &task)?;
            self.out.insert(self.next, cells);
            self.next += 1;
        }
        Ok(())
    }

    /// Takes a task in; one that has come before counts for nothing.
    fn take(&mut self, returned: Returned, finished: &mut Vec<Ran>) -> Result<(), Error> {
        let Returned { number, answers, seconds } = returned;
        let Some(cells) = self.out.remove(&number) else { return Ok(()) };
        self.pace.hear(answers.len(), seconds);
        let (asked, answered) = (cells.len(), answers.len());
        for (cell, answer) in cells.into_iter().zip(answers) {
            match answer {
                Ok(record) if record.values.len() != self.plan.metrics.len() => {
                    let (n, of) = (record.values.len(), self.plan.metrics.len());
                    return Err(Error::Crew(format!("a run came back with {n} metrics, expected {of}")));
                }
                Ok(record) => finished.push(Ok((cell, record))),
                Err(failure) if failure.once => finished.push(Err((cell, failure))),
                Err(Failure { reason, .. }) => {
                    let point = self.plan.grid.label(cell.point);
                    return Err(Error::Engine { point, seed: cell.seed, reason });
                }
            }
        }
        match answered == asked {
            true => Ok(()),
            false => Err(Error::Crew(format!("a task of {asked} runs came back with {answered}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engines;
    use crate::sweep::{Sweep, elsewhere as sweep_elsewhere};
    use crate::testing::Fake;
    use crate::{Grid, Metric, Runs, grid, sweep};
    use truckee_scenario::Document;

    /// Workers who do their tasks as text, when they are asked what has come back.
    struct Village<E> {
        engines: E,
        tasks: Vec<(u64, String)>,
        /// What they were handed, in cells.
        sizes: Vec<usize>,
        /// What one cell is said to take, s.
        one: f64,
        /// Called when a task is about to be run, with the number of tasks before.
        before: fn(usize, &mut Vec<Returned>) -> Result<(), Error>,
        done: usize,
        taken_back: usize,
    }

    impl Village<Fake> {
        fn new() -> Self {
            Self {
                engines: Fake::new(),
                tasks: Vec::new(),
                sizes: Vec::new(),
                one: 0.1,
                before: |_, _| Ok(()),
                done: 0,
                taken_back: 0,
            }
        }
    }

    impl<E: Engines + Send> Crew for Village<E> {
        fn room(&mut self) -> Result<usize, Error> {
            Ok(3)
        }

        fn send(&mut self, number: u64, task: &Task) -> Result<(), Error> {
            self.sizes.push(task.cells.len());
            self.tasks.push((number, serde_json::to_string(task).unwrap()));
            Ok(())
        }

        fn returned(&mut self, _: Duration) -> Result<Vec<Returned>, Error> {
            // The last one first.
            let Some((number, text)) = self.tasks.pop() else { return Ok(Vec::new()) };
            let mut all = Vec::new();
            (self.before)(self.done, &mut all)?;
            self.done += 1;
            let task: Task = serde_json::from_str(&text).unwrap();
            let answers = task.run(&self.engines)?;
            let seconds = self.one * answers.len() as f64;
            let one = Returned { number, answers, seconds };
            // It is said twice: the crew has lost sight of somebody meanwhile, say.
            all.extend([one.clone(), one]);
            Ok(all)
        }

        fn take_back(&mut self) -> Result<Vec<u64>, Error> {
            self.taken_back += self.tasks.len();
            Ok(self.tasks.drain(..).map(|(number, _)| number).collect())
        }
    }

    fn plan(runs: Runs) -> Plan {
        let (axes, _) = grid::axes(&["duration=1s,2s,4s"]).unwrap();
        let document = Document::parse("n.toml", crate::testing::NOISY).unwrap();
        Plan::new(Grid::new(&document, axes).unwrap(), runs, vec![])
    }

    fn go(plan: &Plan, crew: &mut dyn Crew, cancel: &Cancel) -> Result<Sweep, Error> {
        sweep_elsewhere(plan, &Fake::new(), None, crew, &mut (), cancel)
    }

    #[test]
    fn what_runs_elsewhere_is_what_runs_here_row_by_row() {
        let precision = Runs::Precision { target: 0.01, metric: Metric::parse("goodput_bps").unwrap() };
        for runs in [Runs::Count(40), Runs::Seeds(vec![9, 4, 4, 1]), precision] {
            let plan = plan(runs);
            let here = sweep(&plan, &Fake::new(), None, &mut (), &Cancel::new()).unwrap();
            let mut village = Village::new();
            let there = go(&plan, &mut village, &Cancel::new()).unwrap();
            assert!(there.complete && there.rows.len() > 8);
            assert!(there.rows.iter().eq(here.rows.iter()), "{:?}", plan.runs);
            assert_eq!(village.sizes.iter().sum::<usize>(), there.rows.len(), "nothing is run twice");
        }
    }

    #[test]
    fn tasks_grow_until_they_take_as_long_as_they_should() {
        let mut village = Village::new();
        let done = go(&plan(Runs::Count(200)), &mut village, &Cancel::new()).unwrap();
        assert_eq!((done.rows.len(), &village.sizes[..3]), (600, &[1, 1, 1][..]));
        assert_eq!(village.sizes.iter().max(), Some(&10), "of a tenth of a second each");
        village = Village { one: 100.0, ..Village::new() };
        go(&plan(Runs::Count(4)), &mut village, &Cancel::new()).unwrap();
        assert!(village.sizes.iter().all(|&cells| cells == 1));
        let mut pace = Pace::new();
        pace.hear(0, 1.0);
        pace.hear(1, f64::NAN);
        pace.hear(1, 0.0);
        assert_eq!((pace.of(5000, 2), pace.of(5, 4), pace.of(1, 4)), (8, 2, 1));
    }

    #[test]
    fn what_was_not_begun_is_taken_back_when_it_is_to_end_and_a_lost_crew_is_an_error() {
        let cancel = Cancel::new();
        cancel.cancel();
        let mut village = Village::new();
        let plan = plan(Runs::Count(4));
        assert!(!go(&plan, &mut village, &cancel).unwrap().complete);
        assert_eq!(village.done, 0);
        village.before = |done, _| match done {
            2 => Err(Error::Crew("nobody is left".to_owned())),
            _ => Ok(()),
        };
        let lost = go(&plan, &mut village, &Cancel::new()).unwrap_err();
        assert_eq!(lost.to_string(), "nobody is left");
    }

    #[test]
    fn a_task_that_comes_back_otherwise_than_it_went_is_no_result() {
        let plan = plan(Runs::Count(4));
        let mut village = Village {
            before: |done, all| {
                let record = Record { digest: String::new(), values: vec![], lateness: None };
                let answers = if done == 0 { vec![Ok(record)] } else { Vec::new() };
                all.push(Returned { number: 2, answers, seconds: 0.0 });
                Ok(())
            },
            ..Village::new()
        };
        let said = go(&plan, &mut village, &Cancel::new()).unwrap_err().to_string();
        assert!(said.starts_with("a run came back with 0 metrics, expected "), "{said}");
        assert_eq!(village.taken_back, 2, "nobody need do what is left");
        village.before = |_, all| {
            all.push(Returned { number: 2, answers: Vec::new(), seconds: 0.0 });
            Ok(())
        };
        let said = go(&plan, &mut village, &Cancel::new()).unwrap_err().to_string();
        assert_eq!(said, "a task of 1 runs came back with 0");
    }

    #[test]
    fn a_run_that_fails_is_named_with_its_point_and_those_of_another_build_are_refused() {
        let plan = plan(Runs::Count(4));
        let mut village = Village {
            before: |_, all| {
                let failed = Failure { reason: "no".to_owned(), once: false };
                all.push(Returned { number: 1, answers: vec![Err(failed)], seconds: 0.0 });
                Ok(())
            },
            ..Village::new()
        };
        let said = go(&plan, &mut village, &Cancel::new()).unwrap_err().to_string();
        assert_eq!(said, "at duration=1s: seed 2: no");
        let mut other = Village { engines: Fake::of_build("other"), ..Village::new() };
        let refused = go(&plan, &mut other, &Cancel::new()).unwrap_err();
        assert!(matches!(refused, Error::OtherCell { .. }), "{refused}");
        let live = sweep_elsewhere(&plan, &Fake::live(), None, &mut other, &mut (), &Cancel::new());
        assert!(live.unwrap_err().to_string().contains("only on this machine"));
    }
}
