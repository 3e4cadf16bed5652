//! The clock that the live leg goes by, and threads that keep to it.

use nix::time::{ClockId, clock_gettime};
use std::time::Duration;
use truckee_tcp::Time;

/// CLOCK_MONOTONIC, ns.
pub fn clock() -> Time {
    // It cannot fail: every Linux has this clock.
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(Time::ZERO, |t| Time::ns(Duration::from(t).as_nanos() as u64))
}

/// Asks for exact timers and, if wanted, for real-time priority. Either may be refused: then it is less exact, no more.
pub fn be_punctual(priority: bool) {
    let _ = nix::sys::prctl::set_timerslack(1);
    if priority {
        let parameters = libc::sched_param { sched_priority: 1 };
        // SAFETY: 0 is the calling thread, and the parameters live until the call returns.
        unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) };
    }
}
