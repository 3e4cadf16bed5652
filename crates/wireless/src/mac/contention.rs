//! Physical and virtual carrier sense and the backoff (10.3.2.1, 10.3.4.3).
//!
//! Slots are counted off only while the medium is idle, from an interframe space after it became so; a slot in which it
//! became busy does not count. Nothing happens in a slot, so that none is an event: the time of the last one is known as
//! long as the medium stays idle, and what was counted is worked out when it does not.

use crate::phy::Timing;
use crate::{Span, Time};

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
        let (idle_since, nav, drawn) = (Time::ZERO, Time::ZERO, Time::ZERO);
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
    pub fn reserve(&mut self, now: Time, nav: Span) {
        self.nav = self.nav.max(now + nav);
    }

    /// The same of a request to send: void if the medium is still idle `patience` later (10.3.2.4).
    pub fn reserve_unless_idle(&mut self, now: Time, nav: Span, patience: Span) {
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
        let read = self.garbled.map_or(Time::ZERO, |end| end + timing.eifs);
        idle.max(read).max(self.drawn)
    }

    /// Slots left at `now`.
    fn left(&self, now: Time, timing: &Timing) -> u32 {
        if self.busy || self.slots == 0 {
            return self.slots;
        }
        let counting = now.saturating_sub(self.start(timing));
        if counting < timing.slot {
            return self.slots;
        }
        self.slots.saturating_sub(u32::try_from(counting.ticks(timing.slot)).unwrap_or(u32::MAX))
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
        (self.start(timing) + u64::from(self.slots) * timing.slot).max(now)
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

    /// 802.11b: slots of 20 µs, DIFS 50 µs, EIFS 364 µs.
    fn timing() -> Timing {
        Timing::of(Standard::B(Preamble::Long))
    }

    #[test]
    fn slots_are_counted_from_a_difs_on_and_kept_while_busy() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        c.on_busy(Time::ZERO, &t);
        c.draw(Time::ZERO, 5);
        assert_eq!(c.access(Time::ZERO, &t), NEVER);
        c.on_idle(Time::us(1_000));
        assert_eq!(c.access(Time::us(1_000), &t), Time::us(1_000 + 50 + 100));
        // Busy in the third slot: two have passed.
        c.on_busy(Time::us(1_050 + 59), &t);
        c.on_idle(Time::us(2_000));
        assert_eq!(c.access(Time::us(2_000), &t), Time::us(2_000 + 50 + 60));
        // Busy within the DIFS: none has.
        c.on_busy(Time::us(2_049), &t);
        c.on_idle(Time::us(3_000));
        assert_eq!(c.access(Time::us(3_000), &t), Time::us(3_000 + 50 + 60));
        // Busy at the very end of the last slot but one.
        c.on_busy(Time::us(3_050 + 40), &t);
        c.on_idle(Time::us(4_000));
        assert_eq!(c.access(Time::us(4_000), &t), Time::us(4_000 + 50 + 20));
    }

    #[test]
    fn the_allocation_vector_puts_the_count_off() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        c.on_busy(Time::ZERO, &t);
        c.draw(Time::ZERO, 1);
        c.reserve(Time::us(100), Span::us(300));
        c.reserve(Time::us(100), Span::us(200));
        c.on_idle(Time::us(100));
        assert!(!c.is_free(Time::us(399)) && c.is_free(Time::us(400)));
        assert_eq!(c.access(Time::us(100), &t), Time::us(400 + 50 + 20));
    }

    #[test]
    fn a_request_that_nothing_follows_is_void_after_a_while() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        c.on_busy(Time::ZERO, &t);
        c.draw(Time::ZERO, 2);
        c.reserve_unless_idle(Time::us(100), Span::us(2_000), Span::us(500));
        c.on_idle(Time::us(100));
        assert!(!c.is_free(Time::us(599)) && c.is_free(Time::us(600)));
        assert_eq!(c.access(Time::us(100), &t), Time::us(600 + 50 + 40));
        // One slot has been counted when the medium is busy, and it stays void.
        c.on_busy(Time::us(670), &t);
        assert!(c.is_free(Time::us(670)));
        c.on_idle(Time::us(700));
        assert_eq!(c.access(Time::us(700), &t), Time::us(700 + 50 + 20));
        // Where something follows in time the request holds.
        for busy in [101, 599] {
            let mut c = Contention::new(&t);
            c.on_busy(Time::ZERO, &t);
            c.reserve_unless_idle(Time::us(100), Span::us(2_000), Span::us(500));
            c.on_idle(Time::us(100));
            c.on_busy(Time::us(busy), &t);
            c.on_idle(Time::us(700));
            assert_eq!(c.access(Time::us(700), &t), Time::us(2_100 + 50));
        }
        // And where something was on the air already when it ended.
        c.on_busy(Time::us(3_000), &t);
        c.reserve_unless_idle(Time::us(3_100), Span::us(2_000), Span::us(500));
        c.on_idle(Time::us(3_200));
        assert!(!c.is_free(Time::us(4_000)));
    }

    #[test]
    fn what_could_not_be_read_costs_an_eifs_until_something_is_read() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        c.on_busy(Time::ZERO, &t);
        c.on_garbled(Time::us(100));
        c.on_idle(Time::us(100));
        assert_eq!(c.access(Time::us(100), &t), Time::us(100 + 364));
        c.on_busy(Time::us(200), &t);
        c.on_read();
        c.on_idle(Time::us(300));
        assert_eq!(c.access(Time::us(300), &t), Time::us(300 + 50));
    }

    #[test]
    fn who_finds_the_medium_idle_goes_at_once_and_who_does_not_draws() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        assert!(!c.must_draw(Time::us(1_000), &t));
        assert_eq!(c.access(Time::us(1_000), &t), Time::us(1_000));
        c.on_busy(Time::us(2_000), &t);
        assert!(c.must_draw(Time::us(2_500), &t));
        c.draw(Time::us(2_500), 3);
        assert!(!c.must_draw(Time::us(2_600), &t), "there is one already");
        c.on_idle(Time::us(3_000));
        // Idle for less than a DIFS: it waits for that and no longer.
        c.draw(Time::us(3_010), 0);
        assert!(!c.must_draw(Time::us(3_020), &t));
        assert_eq!(c.access(Time::us(3_020), &t), Time::us(3_050));
    }

    #[test]
    fn slots_of_a_backoff_are_not_counted_before_it_was_drawn() {
        let (t, mut c) = (timing(), Contention::new(&timing()));
        c.on_busy(Time::ZERO, &t);
        c.on_idle(Time::us(100));
        c.draw(Time::us(322), 2);
        assert_eq!(c.access(Time::us(322), &t), Time::us(322 + 40));
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
