//! The clock of a probe, which only runs forward; and the kernel's times of packets put on it. Those are the wall clock's,
//! which may be set at any moment: what a server does is not to look otherwise for it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use truckee_tcp::{Span, Time};

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
        Time::at(self.began.elapsed().into())
    }

    /// Nothing waits to be read at this moment: what will be read came later.
    pub fn nothing_waits(&self) {
        self.with(|known, now, wall| known.nothing_waits(now, wall));
    }

    /// When a packet came that is being read, by the wall clock's time of that, since the epoch.
    pub fn came(&self, stamp: Duration) -> Time {
        self.with(|known, now, wall| known.came(since_epoch(stamp), now, wall))
    }

    fn with<T>(&self, say: impl FnOnce(&mut Known, Time, Time) -> T) -> T {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(Time::ZERO, since_epoch);
        say(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner), self.now(), wall)
    }
}

/// The wall clock's time.
fn since_epoch(span: Duration) -> Time {
    Time::at(span.into())
}

/// By how much the wall clock is ahead of ours, ns.
fn ahead(wall: Time, now: Time) -> i128 {
    i128::from(wall.nanos()) - i128::from(now.nanos())
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
    fn nothing_waits(&mut self, now: Time, wall: Time) {
        self.since = now;
        self.ahead = ahead(wall, now);
    }

    fn came(&mut self, stamp: Time, now: Time, wall: Time) -> Time {
        let ahead = ahead(wall, now);
        let set = (ahead - self.ahead).unsigned_abs() > STEERED.into();
        let age = if set { Span::ZERO } else { wall.saturating_sub(stamp) };
        self.ahead = ahead;
        self.since = now.earlier(age).max(self.since);
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: Time = Time::s(1_700_000_000);
    const HOUR: Span = Span::s(3600);
    const MS: Span = Span::ms(1);

    #[test]
    fn packets_have_the_times_at_which_they_came_and_not_those_at_which_they_are_read() {
        let mut known = Known::default();
        known.nothing_waits(Time::ms(10), EPOCH + 10 * MS);
        let read =
            |known: &mut Known, came: Span, now: Span| known.came(EPOCH + came, Time::at(now), EPOCH + now);
        assert_eq!(read(&mut known, 12 * MS, 30 * MS), Time::ms(12));
        assert_eq!(read(&mut known, 13 * MS, 31 * MS), Time::ms(13));
    }

    #[test]
    fn a_wall_clock_that_is_set_moves_no_packet_out_of_its_order() {
        for forward in [true, false] {
            let set = |wall: Time| if forward { wall + HOUR } else { wall - HOUR };
            let mut known = Known::default();
            known.nothing_waits(Time::ms(10), EPOCH + 10 * MS);
            // Two came before it was set, and are read after it; then one comes, and is read 4 ms later.
            let wall = |now: Span| set(EPOCH + now);
            let first = known.came(EPOCH + 11 * MS, Time::ms(14), wall(14 * MS));
            let second = known.came(EPOCH + 12 * MS, Time::ms(15), wall(15 * MS));
            known.nothing_waits(Time::ms(16), wall(16 * MS));
            let third = known.came(wall(17 * MS), Time::ms(21), wall(21 * MS));
            assert!((Time::ms(10)..=Time::ms(14)).contains(&first), "{first:?}");
            assert!((first..=Time::ms(15)).contains(&second), "{second:?}");
            assert_eq!(third, Time::ms(17));
        }
    }
}
