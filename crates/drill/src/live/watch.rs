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
    threads: Vec<JoinHandle<()>>,
}

impl Watch {
    /// Of all processors that this thread may run on.
    pub fn new() -> Self {
        let (over, latest) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let may = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        let processors = (0..CpuSet::count()).filter(|&cpu| may.is_set(cpu).unwrap_or(false));
        let threads = processors.map(|cpu| {
            let (over, latest) = (over.clone(), latest.clone());
            thread::spawn(move || look(cpu, &over, &latest))
        });
        let threads = threads.collect();
        Self { over, latest, threads }
    }

    /// How late one of them was at the most so far.
    pub fn latest(&self) -> Span {
        Span::ns(self.latest.load(Ordering::Relaxed))
    }
}

fn look(cpu: usize, over: &AtomicBool, latest: &AtomicU64) {
    let mut only = CpuSet::new();
    // One that cannot be watched, as it has just been taken away, is none that a timer runs on.
    if only.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &only)).is_err() {
        return;
    }
    while !over.load(Ordering::Relaxed) {
        let wanted = Instant::now() + PERIOD;
        thread::sleep(PERIOD);
        latest.fetch_max(wanted.elapsed().as_nanos() as u64, Ordering::Relaxed);
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
