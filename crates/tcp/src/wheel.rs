//! When a kernel's timers go off: on ticks, never early, and on the coarser ticks the longer they were to wait.
//!
//! Linux keeps timers in a wheel of levels of 64 slots, and each level's slots are eight times as long as those before: up to 62
//! ticks ahead a timer goes off on the tick after the one that it expires at, up to 503 on the next multiple of 8 ticks after
//! it, up to 4031 of 64, and so on. So a timeout of 300 ms comes between 300 and 336 ms later. Source: Linux 6.18,
//! `calc_wheel_index`, kernel/time/timer.c; ticks of CONFIG_HZ = 250, as most distributions have it.
//!
//! Not for: what waits for a timer of high resolution: pacing, and ACKs that are summed up.

use crate::{Span, Time};

/// How long a tick is.
pub const TICK: Span = Span::ms(4);
/// Slots of a level; ticks of a level's slot are 8 to the power of it.
const SLOTS: u64 = 64;
const SHIFT: u32 = 3;
const LEVELS: u32 = 9;

/// Which timers a host has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timers {
    /// They go off when they are due.
    #[default]
    Exact,
    /// Those of Linux' timer wheel.
    Linux,
}

impl Timers {
    /// All of them, the default first.
    pub const ALL: [Self; 2] = [Self::Exact, Self::Linux];

    /// Its name in a scenario.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Linux => "linux",
        }
    }
}

/// A timer wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wheel {
    /// How long it had turned when the run began.
    age: Span,
}

impl Wheel {
    /// One that had turned so long when the run began.
    pub fn aged(age: Span) -> Self {
        Self { age }
    }

    /// The number of the tick at a time.
    pub fn tick(self, now: Time) -> u64 {
        now.since_start().saturating_add(self.age).nanos() / TICK.nanos()
    }

    /// When the tick began that a time lies in, or the run, where that is later.
    pub fn tick_began(self, now: Time) -> Time {
        Time::at((self.tick(now) * TICK).saturating_sub(self.age))
    }

    /// When a timer goes off that is set to expire so many ticks later. While a tick's timers go off the wheel stands at the next one
    /// already, so that what they arm has a tick less to wait when its level is chosen (`__run_timers`).
    fn goes_off_after(self, now: Time, ticks: u64) -> Time {
        let turned = now.since_start().saturating_add(self.age);
        let ahead = u64::from(turned.nanos().is_multiple_of(TICK.nanos()));
        let level =
            (1..LEVELS).take_while(|level| ticks >= ahead + ((SLOTS - 1) << (SHIFT * (level - 1)))).count();
        let shift = SHIFT * level as u32;
        let expires = self.tick(now).saturating_add(ticks);
        let at = ((expires >> shift) + 1).checked_mul(TICK.nanos() << shift);
        at.map_or(Time::MAX, |at| Time::at(Span::ns(at).saturating_sub(self.age)))
    }

    /// When a timer goes off that is armed to wait so long.
    pub fn goes_off(self, now: Time, wait: Span) -> Time {
        self.goes_off_after(now, ticks(wait))
    }
}

/// How many ticks a time takes, a part of one counting as one (`usecs_to_jiffies`).
pub fn ticks(span: Span) -> u64 {
    span.nanos().div_ceil(TICK.nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHEEL: Wheel = Wheel { age: Span::ZERO };

    fn at(now_us: u64, wait_ms: u64) -> f64 {
        WHEEL.goes_off(Time::us(now_us), Span::ms(wait_ms)).seconds() * 1e3
    }

    #[test]
    fn a_short_timer_goes_off_on_the_tick_after_the_one_that_it_expires_at() {
        assert_eq!(at(0, 40), 44.0);
        assert_eq!(at(3_999, 40), 44.0, "the tick that it was armed in counts from its beginning");
        assert_eq!(at(4_000, 40), 48.0);
        assert_eq!(at(0, 1), 8.0, "a part of a tick is one");
        assert_eq!(at(0, 62 * 4), 63.0 * 4.0);
    }

    #[test]
    fn a_longer_one_goes_off_on_a_coarser_tick() {
        assert_eq!(at(0, 63 * 4), 64.0 * 4.0);
        assert_eq!(at(0, 64 * 4), 72.0 * 4.0);
        assert_eq!(at(4_001, 63 * 4), 72.0 * 4.0);
        assert_eq!(at(4_000, 63 * 4), 65.0 * 4.0, "armed by a timer that went off at that tick");
        assert_eq!(at(0, 503 * 4), 504.0 * 4.0);
        assert_eq!(at(0, 504 * 4), 512.0 * 4.0);
        assert_eq!(at(0, 512 * 4), 576.0 * 4.0);
    }

    #[test]
    fn the_age_of_the_wheel_says_where_its_ticks_lie() {
        let wheel = Wheel { age: Span::ms(4 * 63 + 1) };
        assert_eq!(wheel.tick(Time::ms(2)), 63);
        assert_eq!(wheel.goes_off(Time::ms(2), Span::ms(8)), Time::ms(4 * 3 - 1));
        // Tick 127 expires in the slot from 120 on, and goes off at 128.
        assert_eq!(wheel.goes_off(Time::ms(2), Span::ms(4 * 64)), Time::ms(4 * 65 - 1));
    }

    #[test]
    fn it_is_never_early_and_at_most_a_slot_late() {
        for age in [0, 1_234_567, 17_000_000_000_000_001] {
            let wheel = Wheel { age: Span::ns(age) };
            for (now, wait) in (0..40_000u64).map(|k| (k * 777_777, k * k * 3_001 % 70_000_000_000)) {
                let late = wheel.goes_off(Time::ns(now), Span::ns(wait)) - (Time::ns(now) + Span::ns(wait));
                assert!(late <= Span::ns(wait / 7) + 2 * TICK, "{now} {wait}: {late:?}");
            }
        }
    }

    #[test]
    fn what_lies_beyond_all_time_never_goes_off() {
        assert_eq!(WHEEL.goes_off(Time::MAX, Span::s(1)), Time::MAX);
        assert_eq!(WHEEL.goes_off_after(Time::ZERO, u64::MAX), Time::MAX);
    }
}
