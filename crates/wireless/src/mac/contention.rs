//! Physical and virtual carrier sense and the backoff (10.3.2.1, 10.3.4.3).
//!
//! Slots are counted off only while the medium is idle, from an interframe space after it became so; a slot in which it
//! became busy does not count. Nothing happens in a slot, so that none is an event: the time of the last one is known as
//! long as the medium stays idle, and what was counted is worked out when it does not.

use crate::phy::Timing;
use crate::{Nanos, Time};

/// Later than everything.
pub(crate) const NEVER: Time = Time::MAX;

#[derive(Debug, Clone)]
pub(crate) struct Contention {
    pub busy: bool,
    /// When the medium became idle.
    idle_since: Time,
    /// The medium is somebody's until then: the network allocation vector.
    nav: Time,
    /// It was set by a request to send, at the first time, and is void if the medium is still idle at the second.
    unless: Option<(Time, Time)>,
    /// When the last frame that could not be read ended, if none was read since.
    garbled: Option<Time>,
    /// Slots are not counted before: when the backoff was drawn.
    drawn: Time,
    /// Slots left when the medium became idle.
    slots: u32,
    /// The window: slots are drawn from 0 to this.
    pub window: u32,
}

impl Contention {
    pub fn new(timing: &Timing) -> Self {
        let (idle_since, nav, drawn) = (0, 0, 0);
        let (unless, garbled) = (None, None);
        Self { busy: false, idle_since, nav, unless, garbled, drawn, slots: 0, window: timing.cw_min }
    }

    /// The medium became busy.
    #[inline]
    pub fn on_busy(&mut self, now: Time, timing: &Timing) {
        if !self.busy {
            self.slots = self.left(now, timing);
            self.busy = true;
            if self.unless.is_some_and(|(_, void)| now >= void) {
                self.nav = self.allocated();
            }
            self.unless = None;
        }
    }

    /// The medium became idle.
    #[inline]
    pub fn on_idle(&mut self, now: Time) {
        self.busy = false;
        self.idle_since = now;
        // It did not become idle when the request ended: something else is on the air.
        self.unless = self.unless.filter(|(set, _)| *set == now);
    }

    /// A frame was read, which is for somebody else and announces `nav` more.
    #[inline]
    pub fn reserve(&mut self, now: Time, nav: Nanos) {
        self.nav = self.nav.max(now + nav);
    }

    /// The same of a request to send: void if the medium is still idle `patience` later (10.3.2.4).
    pub fn reserve_unless_idle(&mut self, now: Time, nav: Nanos, patience: Nanos) {
        if now + nav > self.nav {
            self.nav = now + nav;
            self.unless = Some((now, now + patience));
        }
    }

    /// Until when the medium is somebody's, as long as it stays idle.
    #[inline]
    fn allocated(&self) -> Time {
        self.unless.map_or(self.nav, |(_, void)| self.nav.min(void))
    }

    /// Whether virtual carrier sense lets an answer be given.
    pub fn is_free(&self, now: Time) -> bool {
        self.nav <= now || self.unless.is_some_and(|(_, void)| now >= void)
    }

    /// A frame was read: whatever could not be read before it, stations are in step again (10.3.2.3.7).
    #[inline]
    pub fn on_read(&mut self) {
        self.garbled = None;
    }

    /// A frame ended that could not be read.
    pub fn on_garbled(&mut self, now: Time) {
        self.garbled = Some(now);
    }

    /// When slots begin to be counted, as long as the medium is idle.
    #[inline]
    fn start(&self, timing: &Timing) -> Time {
        let idle = self.idle_since.max(self.allocated()) + timing.difs();
        let read = self.garbled.map_or(0, |end| end + timing.eifs);
        idle.max(read).max(self.drawn)
    }

    /// Slots left at `now`.
    fn left(&self, now: Time, timing: &Timing) -> u32 {
        if self.busy {
            return self.slots;
        }
        let counted = now.saturating_sub(self.start(timing)) / timing.slot;
        self.slots.saturating_sub(u32::try_from(counted).unwrap_or(u32::MAX))
    }

    /// A new backoff of so many slots.
    pub fn draw(&mut self, now: Time, slots: u32) {
        self.slots = slots;
        self.drawn = now;
    }

    /// Whether a frame that comes up now has to draw a backoff: the medium is in use, and none is left of an earlier one
    /// (10.3.4.2).
    pub fn must_draw(&self, now: Time, timing: &Timing) -> bool {
        (self.busy || !self.is_free(now)) && self.left(now, timing) == 0
    }

    /// When a station that has something to send may do so, unless the medium becomes busy before.
    #[inline]
    pub fn access(&self, now: Time, timing: &Timing) -> Time {
        if self.busy {
            return NEVER;
        }
        (self.start(timing) + Nanos::from(self.slots) * timing.slot).max(now)
    }

    /// After a failure: twice the window (10.3.3).
    pub fn widen(&mut self, timing: &Timing) {
        self.window = (2 * self.window + 1).min(timing.cw_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Preamble, Standard};

    const US: Nanos = 1_000;

    /// 802.11b: slots of 20 µs, DIFS 50 µs, EIFS 364 µs.
    fn timing() -> Timing {
        Timing::of(Standard::B(Preamble::Long))
    }

    #[test]
    fn slots_are_counted_from_a_difs_on_and_kept_while_busy() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        c.on_busy(0, &t);
        c.draw(0, 5);
        assert_eq!(c.access(0, &t), NEVER);
        c.on_idle(1_000 * US);
        assert_eq!(c.access(1_000 * US, &t), (1_000 + 50 + 100) * US);
        // Busy in the third slot: two have passed.
        c.on_busy((1_050 + 59) * US, &t);
        c.on_idle(2_000 * US);
        assert_eq!(c.access(2_000 * US, &t), (2_000 + 50 + 60) * US);
        // Busy within the DIFS: none has.
        c.on_busy(2_049 * US, &t);
        c.on_idle(3_000 * US);
        assert_eq!(c.access(3_000 * US, &t), (3_000 + 50 + 60) * US);
        // Busy at the very end of the last slot but one.
        c.on_busy((3_050 + 40) * US, &t);
        c.on_idle(4_000 * US);
        assert_eq!(c.access(4_000 * US, &t), (4_000 + 50 + 20) * US);
    }

    #[test]
    fn the_allocation_vector_puts_the_count_off() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        c.on_busy(0, &t);
        c.draw(0, 1);
        c.reserve(100 * US, 300 * US);
        c.reserve(100 * US, 200 * US);
        c.on_idle(100 * US);
        assert!(!c.is_free(399 * US) && c.is_free(400 * US));
        assert_eq!(c.access(100 * US, &t), (400 + 50 + 20) * US);
    }

    #[test]
    fn a_request_that_nothing_follows_is_void_after_a_while() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        c.on_busy(0, &t);
        c.draw(0, 2);
        c.reserve_unless_idle(100 * US, 2_000 * US, 500 * US);
        c.on_idle(100 * US);
        assert!(!c.is_free(599 * US) && c.is_free(600 * US));
        assert_eq!(c.access(100 * US, &t), (600 + 50 + 40) * US);
        // One slot has been counted when the medium is busy, and it stays void.
        c.on_busy(670 * US, &t);
        assert!(c.is_free(670 * US));
        c.on_idle(700 * US);
        assert_eq!(c.access(700 * US, &t), (700 + 50 + 20) * US);
        // Where something follows in time the request holds.
        for busy in [101, 599] {
            let mut c = Contention::new(&t);
            c.on_busy(0, &t);
            c.reserve_unless_idle(100 * US, 2_000 * US, 500 * US);
            c.on_idle(100 * US);
            c.on_busy(busy * US, &t);
            c.on_idle(700 * US);
            assert_eq!(c.access(700 * US, &t), (2_100 + 50) * US);
        }
        // And where something was on the air already when it ended.
        c.on_busy(3_000 * US, &t);
        c.reserve_unless_idle(3_100 * US, 2_000 * US, 500 * US);
        c.on_idle(3_200 * US);
        assert!(!c.is_free(4_000 * US));
    }

    #[test]
    fn what_could_not_be_read_costs_an_eifs_until_something_is_read() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        c.on_busy(0, &t);
        c.on_garbled(100 * US);
        c.on_idle(100 * US);
        assert_eq!(c.access(100 * US, &t), (100 + 364) * US);
        c.on_busy(200 * US, &t);
        c.on_read();
        c.on_idle(300 * US);
        assert_eq!(c.access(300 * US, &t), (300 + 50) * US);
    }

    #[test]
    fn who_finds_the_medium_idle_goes_at_once_and_who_does_not_draws() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        assert!(!c.must_draw(1_000 * US, &t));
        assert_eq!(c.access(1_000 * US, &t), 1_000 * US);
        c.on_busy(2_000 * US, &t);
        assert!(c.must_draw(2_500 * US, &t));
        c.draw(2_500 * US, 3);
        assert!(!c.must_draw(2_600 * US, &t), "there is one already");
        c.on_idle(3_000 * US);
        // Idle for less than a DIFS: it waits for that and no longer.
        c.draw(3_010 * US, 0);
        assert!(!c.must_draw(3_020 * US, &t));
        assert_eq!(c.access(3_020 * US, &t), 3_050 * US);
    }

    #[test]
    fn slots_of_a_backoff_are_not_counted_before_it_was_drawn() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        c.on_busy(0, &t);
        c.on_idle(100 * US);
        c.draw(322 * US, 2);
        assert_eq!(c.access(322 * US, &t), (322 + 40) * US);
    }

    #[test]
    fn windows_double_up_to_the_largest() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        let windows: Vec<u32> = (0..7)
            .map(|_| {
                c.widen(&t);
                c.window
            })
            .collect();
        assert_eq!(windows, [63, 127, 255, 511, 1023, 1023, 1023]);
    }
}
