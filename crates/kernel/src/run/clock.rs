//! The clock of a live run: CLOCK_MONOTONIC, which the kernel's BPF programs read, too.

use nix::time::{ClockId, clock_gettime};
use truckee_tcp::Time;

/// Now, ns.
pub fn now() -> Time {
    // The clock of every Linux; nothing can be wrong with asking for it.
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |t| t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64)
}
