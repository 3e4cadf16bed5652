//! Cells over threads, their results back to one thread in groups.

use crate::cell::Cell;
use crate::{Cancel, Error};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A thread keeps what it has finished for so long at most, where runs are short: each handing over wakes another one.
const HANDED_ON: Duration = Duration::from_millis(10);
/// So often the thread that keeps results looks after them, whether or not there are any.
const LOOKED_AFTER: Duration = Duration::from_millis(100);

pub(crate) struct Pool {
    at_once: usize,
}

/// Where cells come from, and where what comes of them goes. All of it is called on the thread that waits for the pool.
pub(crate) trait Work<T> {
    /// More cells to run; none for now.
    fn more(&mut self) -> Result<Vec<Cell>, Error>;

    /// Keeps what has finished.
    fn keep(&mut self, finished: Vec<T>) -> Result<(), Error>;

    /// Hands on what the user should read.
    fn say(&mut self, _what: &str) {}

    /// Called now and then.
    fn look_after(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// A list of cells, and a closure that keeps what comes of them.
struct Listed<F> {
    cells: Vec<Cell>,
    keep: F,
}

impl<T, F: FnMut(Vec<T>) -> Result<(), Error>> Work<T> for Listed<F> {
    fn more(&mut self) -> Result<Vec<Cell>, Error> {
        Ok(std::mem::take(&mut self.cells))
    }

    fn keep(&mut self, finished: Vec<T>) -> Result<(), Error> {
        (self.keep)(finished)
    }
}

/// What threads take cells from.
#[derive(Default)]
struct Queue {
    state: Mutex<(VecDeque<Cell>, bool)>,
    changed: Condvar,
    /// How many wait there.
    waiting: AtomicUsize,
}

impl Queue {
    /// The next one. `None`: there will be no more. Where none is there yet, `idle` is called before it is waited for.
    fn take(&self, mut idle: impl FnMut()) -> Option<Cell> {
        // A thread that has panicked has not left the queue half changed.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(cell) = state.0.pop_front() {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                return Some(cell);
            }
            if state.1 {
                return None;
            }
            idle();
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn put(&self, cells: Vec<Cell>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_add(cells.len(), Ordering::Relaxed);
        state.0.extend(cells);
        self.changed.notify_all();
    }

    /// No more come, and those that wait are forgotten; how many.
    fn close(&self) -> usize {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 = true;
        let forgotten = state.0.len();
        state.0.clear();
        self.waiting.store(0, Ordering::Relaxed);
        self.changed.notify_all();
        forgotten
    }
}

impl Pool {
    /// Runs so many cells at once, one at least.
    pub(crate) fn new(at_once: usize) -> Self {
        Self { at_once: at_once.max(1) }
    }

    /// Runs `cells` by `run_one` and hands what finishes to `keep`, as [`Self::work`] does.
    pub(crate) fn run<T: Send>(
        &self,
        cells: &[Cell],
        cancel: &Cancel,
        run_one: impl Fn(Cell) -> Result<T, Error> + Sync,
        keep: impl FnMut(Vec<T>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.work(cancel, run_one, &mut Listed { cells: cells.to_vec(), keep })
    }

    /// Runs cells as long as there are more. Ends early when `cancel` is wished, when a cell fails (but for one that fails
    /// because of `cancel`), or when keeping does; whatever finished until then has gone through `keep`.
    pub(crate) fn work<T: Send>(
        &self,
        cancel: &Cancel,
        run_one: impl Fn(Cell) -> Result<T, Error> + Sync,
        work: &mut dyn Work<T>,
    ) -> Result<(), Error> {
        let queue = Queue::default();
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            for _ in 0..self.at_once {
                let (sender, queue, run_one) = (sender.clone(), &queue, &run_one);
                scope.spawn(move || run_cells(queue, cancel, run_one, &sender));
            }
            drop(sender);
            let done = self.hand_out(&queue, cancel, &receiver, work);
            queue.close();
            done
        })
    }

    fn hand_out<T>(
        &self,
        queue: &Queue,
        cancel: &Cancel,
        receiver: &Receiver<Vec<Result<T, Option<Error>>>>,
        work: &mut dyn Work<T>,
    ) -> Result<(), Error> {
        let (mut out, mut failure) = (0, None);
        let mut looked = Instant::now();
        loop {
            let stopped = cancel.is_cancelled() || failure.is_some();
            if stopped {
                out -= queue.close();
            }
            while !stopped && queue.waiting.load(Ordering::Relaxed) <= self.at_once {
                match work.more() {
                    Ok(more) if more.is_empty() => break,
                    Ok(more) => {
                        out += more.len();
                        queue.put(more);
                    }
                    // What runs just now is still kept.
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                }
            }
            if out == 0 {
                return failure.map_or(Ok(()), Err);
            }
            let first = match receiver.recv_timeout(LOOKED_AFTER) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                // A thread has panicked; the scope hands that on.
                Err(RecvTimeoutError::Disconnected) => return failure.map_or(Ok(()), Err),
            };
            let mut finished = Vec::new();
            for one in std::iter::once(first).chain(receiver.try_iter()).flatten() {
                out -= 1;
                match one {
                    Ok(one) => finished.push(one),
                    Err(error) => failure = failure.or(error),
                }
            }
            // After a failed write nothing more is written: the disk is full or gone.
            if matches!(failure, Some(Error::Write { .. })) {
                continue;
            }
            let mut kept = if finished.is_empty() { Ok(()) } else { work.keep(finished) };
            if looked.elapsed() >= LOOKED_AFTER {
                kept = kept.and(work.look_after());
                looked = Instant::now();
            }
            if let Err(error) = kept {
                failure.get_or_insert(error);
            }
        }
    }
}

/// What one thread does. A cell that is not run, or that fails since all is cancelled, comes back as an error of none.
fn run_cells<T>(
    queue: &Queue,
    cancel: &Cancel,
    run_one: &(impl Fn(Cell) -> Result<T, Error> + Sync),
    sender: &Sender<Vec<Result<T, Option<Error>>>>,
) {
    let (mut finished, mut since) = (Vec::new(), Instant::now());
    // The receiver outlives the threads, unless keeping has failed.
    let hand_on = |finished: &mut Vec<_>| {
        if !finished.is_empty() {
            let _ = sender.send(std::mem::take(finished));
        }
    };
    while let Some(cell) = queue.take(|| hand_on(&mut finished)) {
        let done = match cancel.is_cancelled() {
            true => Err(None),
            // A live run ends at the same Ctrl-C that wished `cancel`: it has not failed, it has not been run.
            false => run_one(cell).map_err(|error| Some(error).filter(|_| !cancel.is_cancelled())),
        };
        let failed = done.is_err();
        finished.push(done);
        if failed || since.elapsed() >= HANDED_ON {
            hand_on(&mut finished);
            since = Instant::now();
        }
    }
    hand_on(&mut finished);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of which there are no more after the first few, since they cannot be found out.
    struct Failing<'t> {
        asked: usize,
        begun: &'t AtomicUsize,
        kept: usize,
    }

    impl Work<u64> for Failing<'_> {
        fn more(&mut self) -> Result<Vec<Cell>, Error> {
            self.asked += 1;
            if self.asked == 1 {
                return Ok((0..3).map(|seed| Cell { point: 0, seed }).collect());
            }
            while self.begun.load(Ordering::Relaxed) < 3 {
                std::thread::yield_now(); // all of them are under way when it fails
            }
            Err(Error::Internal("it cannot be read".to_owned()))
        }

        fn keep(&mut self, finished: Vec<u64>) -> Result<(), Error> {
            self.kept += finished.len();
            Ok(())
        }
    }

    #[test]
    fn what_has_been_run_is_kept_although_no_more_can_be_found() {
        let begun = AtomicUsize::new(0);
        let mut work = Failing { asked: 0, begun: &begun, kept: 0 };
        let cancel = Cancel::new();
        let run = |cell: Cell| {
            begun.fetch_add(1, Ordering::Relaxed);
            Ok(cell.seed)
        };
        let ended = Pool::new(4).work(&cancel, run, &mut work);
        assert!(matches!(ended, Err(Error::Internal(_))), "{ended:?}");
        assert_eq!(work.kept, 3);
    }
}
