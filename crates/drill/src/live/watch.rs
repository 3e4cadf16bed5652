//! How late the machine is: on each of its processors a thread that sleeps a millisecond at a time and looks when it wakes.
//!
//! A script's own thread sees only how late it is itself. A timer of the stack runs on the processor that it was set on, and may be
//! late while that thread is not.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use truckee_tcp::Span;

const PERIOD: Duration = Duration::from_millis(1);

/// Watches until it is dropped.
pub struct Watch {
    over: Arc<AtomicBool>,
    /// The latest that any of them woke, ns.
    latest: Arc<AtomicU64>,
    begin: Instant,
    /// When each of them is to wake, ns since the beginning: one that has not yet is as late as that. What ran on its processor first
    /// after a pause is judged before it wakes.
    due: Vec<Arc<AtomicU64>>,
    threads: Vec<JoinHandle<()>>,
}

impl Watch {
    /// Of all processors that this thread may run on.
    pub fn new() -> Self {
        let (over, latest) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let may = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        let processors = (0..CpuSet::count()).filter(|&cpu| may.is_set(cpu).unwrap_or(false));
        let begin = Instant::now();
        let threads = processors.map(|cpu| {
            let (over, latest, due) = (over.clone(), latest.clone(), Arc::new(AtomicU64::new(u64::MAX)));
            let wakes = Arc::clone(&due);
            (due, thread::spawn(move || look(cpu, &over, &latest, (begin, &wakes))))
        });
        let (due, threads) = threads.unzip();
        Self { over, latest, begin, due, threads }
    }

    /// How late one of them was at the most so far.
    pub fn latest(&self) -> Span {
        let now = since(self.begin);
        let overdue = self.due.iter().map(|due| now.saturating_sub(due.load(Ordering::Relaxed)));
        Span::ns(overdue.fold(self.latest.load(Ordering::Relaxed), u64::max))
    }
}

fn since(begin: Instant) -> u64 {
    begin.elapsed().as_nanos() as u64
}

fn look(cpu: usize, over: &AtomicBool, latest: &AtomicU64, (begin, due): (Instant, &AtomicU64)) {
    let mut only = CpuSet::new();
    // One that cannot be watched, as it has just been taken away, is none that a timer runs on.
    if only.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &only)).is_err() {
        return;
    }
    while !over.load(Ordering::Relaxed) {
        let wanted = since(begin) + PERIOD.as_nanos() as u64;
        due.store(wanted, Ordering::Relaxed);
        thread::sleep(PERIOD);
        latest.fetch_max(since(begin).saturating_sub(wanted), Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_should_have_woken_and_has_not_is_late_already() {
        let begin = Instant::now().checked_sub(Duration::from_millis(30)).unwrap();
        let of = |due: u64| Watch {
            over: Arc::default(),
            latest: Arc::new(AtomicU64::new(2)),
            begin,
            due: vec![Arc::new(AtomicU64::new(due)), Arc::new(AtomicU64::new(u64::MAX))],
            threads: Vec::new(),
        };
        assert!(of(10_000_000).latest() >= Span::ms(20));
        assert_eq!(of(u64::MAX).latest(), Span::ns(2));
    }
}
