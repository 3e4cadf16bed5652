//! Round-trip times and the retransmission timeout (RFC 6298), with a clock of any granularity.

mod deviation;

use crate::stack::RtoVariance;
use crate::wheel::{self, Wheel};
use crate::{Seq, Span, Stack, Time};
use deviation::Deviation;

/// Numbers unacknowledged and sent, of none.
const NO_ROUND: (Seq, Seq) = (Seq::FIRST, Seq::FIRST);
/// What a timestamp of today's stacks counts (Linux, `TCP_TS_HZ`; RFC 7323, section 5.4, allows 1 ms to 1 s).
pub(crate) const TIMESTAMP: Span = Span::ms(1);
/// The time from `sent` to `now` as timestamps tell it, in whole [`TIMESTAMP`]s.
pub(crate) fn timestamps_apart(sent: Time, now: Time) -> Span {
    now.ticks(TIMESTAMP).saturating_sub(sent.ticks(TIMESTAMP)) * TIMESTAMP
}

/// Doublings that take any timeout, a nanosecond even, to any bound.
const MAX_BACKOFF: u32 = 62;

/// Smoothed round-trip time, its variation, and the timeout that follows from them.
#[derive(Debug, Clone)]
pub struct Rtt {
    smoothed: Option<Span>,
    variation: Span,
    /// The smallest sample; of the handshake, as long as data has brought none.
    min: Option<Span>,
    of_handshake: bool,
    /// The handshake's sample; 0: none.
    handshake: Span,
    backoff: u32,
    initial_rto: Span,
    min_rto: Span,
    max_rto: Span,
    least_rto: Span,
    clock: Span,
    wheel: Option<Wheel>,
    /// Whether timers go off when they are due: neither is there.
    exact: bool,
    ticks: Option<Box<Ticks>>,
    deviation: Option<Box<Deviation>>,
}

/// The estimator of 4.3BSD in ticks, as in ns-2 (`TcpAgent::rtt_update`, `rtt_backoff`).
#[derive(Debug, Clone)]
struct Ticks {
    /// Of this length.
    length: Span,
    /// SRTT in eighths; 0: none.
    eighths: i64,
    /// RTTVAR in quarters.
    quarters: i64,
    /// SRTT + 4·RTTVAR when last computed; none before the first sample.
    rto: Option<i64>,
}

impl Ticks {
    /// A segment sent then was acknowledged now.
    fn sample(&mut self, sent: Time, now: Time) {
        let rtt = now.ticks(self.length).saturating_sub(sent.ticks(self.length)).max(1) as i64;
        if self.eighths == 0 {
            (self.eighths, self.quarters) = (rtt << 3, rtt << 1);
        } else {
            let off = rtt - (self.eighths >> 3);
            self.eighths = (self.eighths + off).max(1);
            self.quarters = (self.quarters + off.abs() - (self.quarters >> 2)).max(1);
        }
        self.rto = Some(((self.quarters << 3) + self.eighths) >> 3);
    }

    /// The timeout was doubled so often that SRTT must be wrong: it goes into the variation, and the next sample begins anew.
    fn doubt(&mut self) {
        self.quarters += self.eighths >> 3;
        self.eighths = 0;
    }
}

/// Doublings after which [`Ticks`] no longer trusts SRTT.
const DOUBTED: u32 = 4;

impl Rtt {
    /// Without samples yet.
    pub fn new(stack: &Stack) -> Self {
        Self {
            smoothed: None,
            variation: Span::ZERO,
            min: None,
            of_handshake: true,
            handshake: Span::ZERO,
            backoff: 0,
            initial_rto: stack.initial_rto,
            min_rto: stack.min_rto,
            max_rto: stack.max_rto,
            least_rto: stack.initial_rto.min(stack.min_rto).min(stack.max_rto),
            clock: stack.clock,
            wheel: stack.wheel(),
            exact: stack.clock.is_zero() && stack.wheel().is_none(),
            ticks: (!stack.rto_tick.is_zero())
                .then(|| Box::new(Ticks { length: stack.rto_tick, eighths: 0, quarters: 0, rto: None })),
            deviation: (stack.rto_variance == RtoVariance::Linux)
                .then(|| Box::new(Deviation::new(stack.min_rto))),
        }
    }

    /// What the endpoint's clock shows of the time from `sent` to `now`: whole ticks, at least one. An echoed timestamp
    /// may lie ahead of `now`, where the peer has invented it; that counts as no time at all.
    #[inline]
    pub fn measure(&self, sent: Time, now: Time) -> Span {
        match self.clock {
            Span::ZERO => now.saturating_sub(sent),
            g => now.ticks(g).saturating_sub(sent.ticks(g)).max(1) * g,
        }
    }

    /// Takes a sample (RFC 6298, rules 2.2 and 2.3) and ends any back-off (rule 5.7, Karn), where no estimator counts rounds.
    pub fn sample(&mut self, rtt: Span) {
        self.sample_apart(rtt, rtt, NO_ROUND);
    }

    /// Takes a sample whose minimum is that of another segment; `sent` numbers are those unacknowledged and sent, [una, nxt).
    /// Returns what [`Self::smoothed`] and [`Self::min`] are now: read where they have just been written, they would be waited for.
    #[inline(always)]
    pub fn sample_apart(&mut self, rtt: Span, least: Span, sent: (Seq, Seq)) -> (Span, Span) {
        let min = self.note_min(least);
        (self.smooth(rtt, sent), min)
    }

    /// Has the estimator in ticks, if there is one, take what was sent then and acknowledged now.
    #[inline]
    pub fn tick(&mut self, sent: Time, now: Time) {
        if let Some(ticks) = &mut self.ticks {
            ticks.sample(sent, now);
        }
    }

    /// Takes a sample for the minimum alone, which it returns.
    #[inline]
    pub fn note_min(&mut self, rtt: Span) -> Span {
        let known = self.min.filter(|_| !self.of_handshake);
        let min = known.map_or(rtt, |m| m.min(rtt));
        (self.min, self.of_handshake) = (Some(min), false);
        min
    }

    /// Takes what was sent then and acknowledged now as a sample for the timeout alone; `numbers` as in [`Self::sample_apart`].
    pub fn time(&mut self, sent: Time, now: Time, numbers: (Seq, Seq)) {
        self.smooth(self.measure(sent, now), numbers);
        self.tick(sent, now);
    }

    /// Takes the handshake's sample. It is a sample as any (RFC 6298, section 3) but no minimum: a SYN has no payload to
    /// be serialised, and is back sooner than any segment of data can be.
    pub fn sample_of_handshake(&mut self, sent: Time, now: Time) -> Span {
        self.time(sent, now, NO_ROUND);
        let rtt = self.measure(sent, now);
        if self.of_handshake {
            self.min = Some(rtt);
        }
        self.handshake = rtt;
        rtt
    }

    /// The handshake's sample.
    pub fn handshake(&self) -> Option<Span> {
        (!self.handshake.is_zero()).then_some(self.handshake)
    }

    #[inline(always)]
    fn smooth(&mut self, rtt: Span, sent: (Seq, Seq)) -> Span {
        self.backoff = 0;
        if let Some(deviation) = &mut self.deviation {
            deviation.sample(self.smoothed, rtt, sent);
        }
        let (smoothed, variation) = match self.smoothed {
            None => (rtt, rtt / 2),
            Some(srtt) => ((7 * srtt + rtt) / 8, (3 * self.variation + srtt.abs_diff(rtt)) / 4),
        };
        (self.smoothed, self.variation) = (Some(smoothed), variation);
        smoothed
    }

    /// The timeout in force: SRTT + max(G, 4·RTTVAR) within its bounds, doubled by each back-off.
    #[inline(always)]
    pub fn rto(&self) -> Span {
        let base = match (self.smoothed, &self.ticks) {
            (None, _) => self.initial_rto,
            (Some(_), Some(ticks)) => self.in_ticks(ticks),
            (Some(_), None) if self.deviation.is_some() => self.by_deviation(),
            (Some(srtt), None) => (srtt + self.clock.max(4 * self.variation)).max(self.min_rto),
        };
        // Without any floor a path without delay would make a timer that goes off for ever without time passing.
        base.max(Span::ns(1)).saturating_mul(1 << self.backoff).min(self.max_rto)
    }

    #[inline(never)]
    fn by_deviation(&self) -> Span {
        let timeout =
            self.deviation.as_ref().zip(self.smoothed).map(|(deviation, srtt)| srtt + deviation.variation());
        match (timeout, self.wheel) {
            (Some(timeout), Some(_)) => wheel::ticks(timeout) * wheel::TICK, // `__tcp_set_rto`, before any doubling
            (timeout, _) => timeout.unwrap_or(self.initial_rto),
        }
    }

    /// No timeout is shorter.
    #[inline(always)]
    pub fn least_rto(&self) -> Span {
        self.least_rto
    }

    /// No timeout is shorter as long as the round trips are what they are.
    #[inline(always)]
    pub fn least_rto_now(&self) -> Span {
        match (&self.deviation, self.smoothed) {
            (Some(_), Some(srtt)) => (srtt + self.least_rto).min(self.max_rto),
            _ => self.least_rto,
        }
    }

    /// At least two ticks, as in ns-2.
    fn in_ticks(&self, ticks: &Ticks) -> Span {
        let rto = ticks.rto.map_or(self.initial_rto, |rto| rto as u64 * ticks.length);
        rto.max(self.min_rto).max(2 * ticks.length)
    }

    /// SRTT + 4·RTTVAR, without bounds and doubling, once there was a sample.
    pub fn fine_rto(&self) -> Option<Span> {
        self.smoothed.map(|srtt| srtt + 4 * self.variation)
    }

    /// When a timer armed at `now` for `span` goes off: on a tick of the clock, or of the host's timers.
    #[inline]
    pub fn deadline(&self, now: Time, span: Span) -> Time {
        if self.exact { now + span } else { self.on_tick(now, span) }
    }

    #[inline(never)]
    fn on_tick(&self, now: Time, span: Span) -> Time {
        match self.wheel {
            Some(wheel) => wheel.goes_off(now, span),
            None => (now + span).up_to_tick(self.clock),
        }
    }

    /// The wheel that the host's timers are in, if they are.
    pub fn wheel(&self) -> Option<Wheel> {
        self.wheel
    }

    /// Doubles the timeout (rule 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
        if let Some(ticks) = self.ticks.as_mut().filter(|_| self.backoff >= DOUBTED) {
            ticks.doubt();
        }
    }

    /// Ends any back-off: something sent only once was acknowledged, whether or not it was timed.
    pub fn end_back_off(&mut self) {
        self.backoff = 0;
    }

    /// Starts anew with another initial timeout (rule 5.7: 3 s after a lost SYN).
    pub fn restart(&mut self, initial_rto: Span) {
        self.smoothed = None;
        if let Some(deviation) = &mut self.deviation {
            deviation.restart();
        }
        self.backoff = 0;
        self.initial_rto = self.initial_rto.max(initial_rto);
    }

    /// SRTT, once there was a sample.
    pub fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// The smallest sample of data; before there is one, the handshake's.
    pub fn min(&self) -> Option<Span> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const MS: Span = Span::ms(1);

    fn exact() -> Rtt {
        Rtt::new(&Stack { min_rto: Span::ZERO, ..Stack::default() })
    }

    #[test]
    fn follows_the_rules_of_rfc_6298() {
        let mut rtt = exact();
        assert_eq!(rtt.rto(), 1000 * MS);
        rtt.sample(100 * MS);
        assert_eq!(rtt.rto(), 300 * MS); // 100 + 4·50
        rtt.sample(140 * MS);
        // RTTVAR = 3/4·50 + 1/4·|100 − 140| = 47.5, before SRTT = 7/8·100 + 1/8·140 = 105 changes
        assert_eq!(rtt.rto(), 105 * MS + Span::ns(4 * 47_500_000));
        assert_eq!(rtt.min(), Some(100 * MS));
    }

    #[test]
    fn doubles_up_to_its_bound_and_recovers_with_a_sample() {
        let mut rtt = Rtt::new(&Stack::default());
        rtt.sample(100 * MS);
        assert_eq!(rtt.rto(), 1000 * MS, "floor");
        rtt.back_off();
        assert_eq!(rtt.rto(), 2000 * MS);
        (0..40).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), 64_000 * MS, "cap");
        rtt.sample(100 * MS);
        assert_eq!(rtt.rto(), 1000 * MS);
    }

    #[test]
    fn a_path_without_delay_leaves_a_timeout_that_can_grow() {
        let mut rtt = exact();
        rtt.sample(Span::ZERO);
        assert_eq!(rtt.rto(), Span::ns(1));
        (0..40).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), 64_000 * MS);
    }

    #[test]
    fn a_coarse_clock_counts_ticks() {
        let rtt = Rtt::new(&Stack { clock: 500 * MS, ..Stack::default() });
        assert_eq!(rtt.measure(Time::ms(10), Time::ms(60)), 500 * MS, "at least one tick");
        assert_eq!(rtt.measure(Time::ms(499), Time::ms(1001)), 1000 * MS, "two edges crossed");
        assert_eq!(rtt.deadline(Time::ms(10), 1000 * MS), Time::ms(1500));
    }
}
