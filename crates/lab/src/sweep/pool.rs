//! Cells over threads, their results back to one thread in small groups.

use super::Cell;
use crate::Error;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A group has at most so many rows. It is handed on as soon as whoever keeps them has time for it: a run on its own
/// where runs are long, and where they are short those that finished while the group before was written.
const GROUP_ROWS: usize = 256;

pub(crate) struct Pool(rayon::ThreadPool);

impl Pool {
    /// Runs so many cells at once, one at least.
    pub(crate) fn new(at_once: usize) -> Result<Self, Error> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(at_once.max(1)).build();
        pool.map(Self).map_err(|e| Error::Internal(format!("cannot start threads: {e}")))
    }

    /// Runs `cells` by `run_one` and hands what finishes to `keep`, on the calling thread. Ends early when `cancel` is
    /// set, when a cell fails (but for one that fails because of `cancel`), or when `keep` does; whatever finished until
    /// then has gone through `keep`.
    pub(crate) fn run<T: Send>(
        &self,
        cells: &[Cell],
        cancel: &AtomicBool,
        run_one: impl Fn(Cell) -> Result<T, Error> + Sync,
        mut keep: impl FnMut(Vec<T>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stop = AtomicBool::new(false);
        let stopped = || cancel.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed);
        let (sender, receiver) = channel();
        let work = |sender: &mut Sender<_>, cell: &Cell| {
            if stopped() {
                return;
            }
            let done = run_one(*cell);
            // A live run ends at the same Ctrl-C that set `cancel`: it has not failed, it has not been run.
            if done.is_ok() || !cancel.load(Ordering::Relaxed) {
                // The receiver outlives the workers.
                let _ = sender.send(done);
            }
        };
        // One cell at a time a thread: cells may differ in length by orders of magnitude.
        let all = || cells.par_iter().with_max_len(1).for_each_with(sender, work);
        std::thread::scope(|scope| {
            scope.spawn(|| self.0.install(all));
            let mut failure = None;
            while let Some((rows, error)) = next_group(&receiver) {
                // After a failed write nothing more is written: the disk is full or gone.
                let kept = if matches!(failure, Some(Error::Write { .. })) { Ok(()) } else { keep(rows) };
                if let Some(error) = kept.err().or(error) {
                    stop.store(true, Ordering::Relaxed);
                    failure.get_or_insert(error);
                }
            }
            failure.map_or(Ok(()), Err)
        })
    }
}

/// What has finished by now, at least one; `None` once all workers are gone.
fn next_group<T>(results: &Receiver<Result<T, Error>>) -> Option<(Vec<T>, Option<Error>)> {
    let first = results.recv().ok()?;
    let mut rows = Vec::new();
    for one in std::iter::once(first).chain(results.try_iter()) {
        match one {
            Ok(row) => rows.push(row),
            Err(error) => return Some((rows, Some(error))),
        }
        if rows.len() == GROUP_ROWS {
            break;
        }
    }
    Some((rows, None))
}
