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
/// Looks, where they do not agree at first.
const MOST_LOOKS: usize = 7;

/// The age of the timer wheel when CLOCK_MONOTONIC was 0, such that a tick begins at each multiple of a tick of that clock, as
/// kernels from 6.4 on have it; `None`: it cannot be told, or ticks are not [`TICK`] long.
pub fn age_at_zero() -> Option<Span> {
    let mut looks = vec![look()?];
    while looks.len() < MOST_LOOKS {
        thread::sleep(PAUSE);
        looks.push(look()?);
        match agreed(&looks) {
            Agreed::On(age) => return Some(age),
            Agreed::Never => return None,
            Agreed::NotYet => {}
        }
    }
    None
}

/// What some looks say together.
#[derive(Debug, PartialEq, Eq)]
enum Agreed {
    On(Span),
    NotYet,
    Never,
}

/// A tick that has begun by the clock may not have been counted yet, as its interrupt is still to come: then a look tells one too
/// few, and never too many. Ticks of another length are told ever further apart.
fn agreed(looks: &[Span]) -> Agreed {
    let (most, least) = (looks.iter().max(), looks.iter().min());
    match (most, least) {
        (Some(&most), Some(&least)) if most - least <= TICK => {
            let of_most = looks.iter().filter(|&&look| look == most).count();
            if 2 * of_most > looks.len() { Agreed::On(most) } else { Agreed::NotYet }
        }
        _ => Agreed::Never,
    }
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
    fn a_tick_that_is_counted_late_is_outvoted_and_ticks_of_another_length_never_agree() {
        let of = |ticks: &[u64]| agreed(&ticks.iter().map(|&n| n * TICK).collect::<Vec<_>>());
        assert_eq!(of(&[7, 7]), Agreed::On(7 * TICK));
        assert_eq!([of(&[6, 7]), of(&[7, 6])], [Agreed::NotYet, Agreed::NotYet]);
        assert_eq!([of(&[6, 7, 7]), of(&[7, 6, 7])], [Agreed::On(7 * TICK), Agreed::On(7 * TICK)]);
        assert_eq!([of(&[7, 6, 6]), of(&[7, 6, 6, 6])], [Agreed::NotYet, Agreed::NotYet]);
        assert_eq!([of(&[7, 9]), of(&[7, 6, 5])], [Agreed::Never, Agreed::Never]);
    }

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
