//! The clock of a probe, which only runs forward; and the kernel's times of packets put on it. Those are the wall clock's,
//! which may be set at any moment: what a server does is not to look otherwise for it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use truckee_tcp::Time;

/// The wall clock is steered by 500 ppm at most, and looked at ten times a second and more. What it is off by besides,
/// somebody has set it by, ns.
const STEERED: u64 = 1_000_000;

/// A clock.
#[derive(Debug)]
pub struct Clock {
    began: Instant,
    known: Mutex<Known>,
}

impl Clock {
    /// One that begins now.
    pub fn new() -> Self {
        Self { began: Instant::now(), known: Mutex::default() }
    }

    /// The time.
    pub fn now(&self) -> Time {
        nanos(self.began.elapsed())
    }

    /// Nothing waits to be read at this moment: what will be read came later.
    pub fn nothing_waits(&self) {
        self.with(|known, now, wall| known.nothing_waits(now, wall));
    }

    /// When a packet came that is being read, by the wall clock's time of that, since the epoch.
    pub fn came(&self, stamp: Duration) -> Time {
        self.with(|known, now, wall| known.came(nanos(stamp), now, wall))
    }

    fn with<T>(&self, say: impl FnOnce(&mut Known, Time, u64) -> T) -> T {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanos);
        say(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner), self.now(), wall)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What is known of both clocks.
#[derive(Debug, Default)]
struct Known {
    /// What is read next came after this.
    since: Time,
    /// By how much the wall clock was ahead then.
    ahead: i128,
}

impl Known {
    fn nothing_waits(&mut self, now: Time, wall: u64) {
        self.since = now;
        self.ahead = i128::from(wall) - i128::from(now);
    }

    fn came(&mut self, stamp: u64, now: Time, wall: u64) -> Time {
        let ahead = i128::from(wall) - i128::from(now);
        let set = (ahead - self.ahead).unsigned_abs() > STEERED.into();
        let age = if set { 0 } else { wall.saturating_sub(stamp) };
        self.ahead = ahead;
        self.since = now.saturating_sub(age).max(self.since);
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: u64 = 1_700_000_000_000_000_000;
    const HOUR: u64 = 3_600_000_000_000;
    const MS: u64 = 1_000_000;

    #[test]
    fn packets_have_the_times_at_which_they_came_and_not_those_at_which_they_are_read() {
        let mut known = Known::default();
        known.nothing_waits(10 * MS, EPOCH + 10 * MS);
        let read = |known: &mut Known, came: u64, now: u64| known.came(EPOCH + came, now, EPOCH + now);
        assert_eq!(read(&mut known, 12 * MS, 30 * MS), 12 * MS);
        assert_eq!(read(&mut known, 13 * MS, 31 * MS), 13 * MS);
    }

    #[test]
    fn a_wall_clock_that_is_set_moves_no_packet_out_of_its_order() {
        for forward in [true, false] {
            let set = |wall: u64| if forward { wall + HOUR } else { wall - HOUR };
            let mut known = Known::default();
            known.nothing_waits(10 * MS, EPOCH + 10 * MS);
            // Two came before it was set, and are read after it; then one comes, and is read 4 ms later.
            let wall = |now: u64| set(EPOCH + now);
            let first = known.came(EPOCH + 11 * MS, 14 * MS, wall(14 * MS));
            let second = known.came(EPOCH + 12 * MS, 15 * MS, wall(15 * MS));
            known.nothing_waits(16 * MS, wall(16 * MS));
            let third = known.came(wall(17 * MS), 21 * MS, wall(21 * MS));
            assert!((10 * MS..=14 * MS).contains(&first), "{first}");
            assert!((first..=15 * MS).contains(&second), "{second}");
            assert_eq!(third, 17 * MS);
        }
    }
}
