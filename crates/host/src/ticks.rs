//! How long this machine's timers have been counting, so that a simulated host's can count as they do.

use crate::punctual::clock;
use std::fs;
use std::thread;
use std::time::Duration;
use truckee_tcp::wheel::TICK;
use truckee_tcp::{Span, Time};

/// What the kernel says of its timers, to root.
const TIMERS: &str = "/proc/timer_list";
/// Between two looks: some ticks.
const PAUSE: Duration = Duration::from_millis(21);

/// The age of the timer wheel when CLOCK_MONOTONIC was 0, such that a tick begins at each multiple of a tick of that clock, as
/// kernels from 6.4 on have it; `None`: it cannot be told, or ticks are not [`TICK`] long.
pub fn age_at_zero() -> Option<Span> {
    let first = look()?;
    thread::sleep(PAUSE);
    (look()? == first).then_some(first)
}

fn look() -> Option<Span> {
    // What lies between two readings of the clock within one tick was read in that tick.
    for _ in 0..20 {
        let before = tick(clock());
        let jiffies = jiffies(&fs::read_to_string(TIMERS).ok()?)?;
        if tick(clock()) == before {
            return Some((jiffies.checked_sub(before)?) * TICK);
        }
    }
    None
}

fn tick(time: Time) -> u64 {
    time.since_start().ticks(TICK)
}

/// The number of ticks in what the kernel says.
fn jiffies(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("jiffies: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_ticks_is_read() {
        let text = "Timer List Version: v0.10\nnow at 5 nsecs\n\ncpu: 0\n  .idle_jiffies   : 17\njiffies: 4301226606\n";
        assert_eq!(jiffies(text), Some(4_301_226_606));
        assert_eq!(jiffies("jiffies: many\n"), None);
        assert_eq!(jiffies(""), None);
    }

    #[test]
    fn where_it_can_be_told_it_stays_the_same() {
        let ages: Vec<Span> = (0..3).filter_map(|_| age_at_zero()).collect();
        assert!(ages.windows(2).all(|two| two[0] == two[1]), "{ages:?}");
    }
}
