//! TLP: where nothing comes back, one segment goes out after two round trips, so that an ACK tells what is missing before the
//! retransmission timer goes off. Not for: what is missing, which the ACK's blocks tell.

use crate::sender::Transfer;
use crate::{Ack, Seq, Span, Time};

/// TLP.max_ack_delay: what a receiver may keep the ACK of a single segment back for. Linux 6.18 takes its least timeout
/// (`tcp_schedule_loss_probe`).
const MAX_ACK_DELAY: Span = Span::ms(200);
/// The probe's timeout as long as there is no round-trip time (RFC 8985, section 7.2).
const INITIAL: Span = Span::s(1);

/// How long the path is silent before a probe (RFC 8985, section 7.2); `single`: only one segment is in the air; else it is
/// later by `slack`.
fn patience(srtt: Option<Span>, single: bool, slack: Span) -> Span {
    // On a path without delay an ACK is on its way at the same instant still.
    let round_trips = |srtt: Span| (2 * srtt).max(Span::ns(1));
    srtt.map_or(INITIAL, |srtt| round_trips(srtt) + if single { MAX_ACK_DELAY } else { slack })
}

/// How long it is to the timeout as Linux counts it there: from a departure on, from when the oldest segment left; without end
/// where that has passed (6.18, `tcp_schedule_loss_probe`).
fn timeout_left(since: Time, told: Time, t: &Transfer) -> Span {
    let oldest = t.out.get(0).filter(|_| t.last_sent() >= told);
    let left = oldest.map_or(t.rto(), |oldest| (oldest.sent + t.rto()).saturating_sub(since));
    if left.is_zero() { Span::MAX } else { left }
}

/// What an ACK says of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing, or nothing was lost.
    Nothing,
    /// It has repaired the one loss at the end.
    Repaired,
}

/// A probe that is out.
#[derive(Debug, Clone, Copy)]
struct Out {
    /// TLP.end_seq.
    end: Seq,
    /// TLP.is_retrans.
    again: bool,
}

/// What TLP keeps.
#[derive(Debug, Clone, Default)]
pub(super) struct Probe {
    /// The last ACK or departure that it waits after; none: it does not. Departures that it is not told are later.
    since: Option<Time>,
    /// One is to go out.
    going: bool,
    out: Option<Out>,
    /// Whether no round-trip time was taken since the last one.
    blind: bool,
    /// How much later one goes out.
    slack: Span,
}

impl Probe {
    /// Whose timer goes off so much later.
    pub(super) fn with(slack: Span) -> Self {
        Self { slack, ..Self::default() }
    }

    /// New data has left, or an ACK has advanced, and nothing hints at a loss: a probe is due later.
    #[inline]
    pub(super) fn arm(&mut self, now: Time) {
        self.since = (self.out.is_none() && !self.blind).then_some(now);
        self.going = false;
    }

    /// Whether one is due if nothing more is heard.
    pub(super) fn is_armed(&self) -> bool {
        self.since.is_some()
    }

    /// None is due.
    pub(super) fn disarm(&mut self) {
        (self.since, self.going) = (None, false);
    }

    /// Neither is one due, nor does one matter that is out: a loss is being repaired.
    pub(super) fn forget(&mut self) {
        *self = Self { blind: self.blind, ..Self::with(self.slack) };
    }

    /// When one is due, if nothing more is heard: no later than the retransmission timer goes off.
    pub(super) fn due(&self, t: &Transfer) -> Option<Time> {
        let told = self.since.filter(|_| !t.out.is_empty())?;
        let since = told.max(t.last_sent());
        let wait = patience(t.window.srtt, t.out.len() == 1, self.slack);
        match t.wheel() {
            None => Some((since + wait).min(t.timeout(since))),
            Some(wheel) => Some(wheel.goes_off(since, wait.min(timeout_left(since, told, t)))),
        }
    }

    /// Whether one is out.
    #[inline]
    pub(super) fn is_out(&self) -> bool {
        self.out.is_some()
    }

    /// Whether an ACK reports one that is out to have come twice.
    pub(super) fn has_come_twice(&self, ack: &Ack) -> bool {
        let end = self.out.map(|out| out.end);
        ack.dsack.is_some_and(|(_, to)| end == Some(to))
    }

    /// When one that was armed at `now` has its time, whether or not another is out, so that nothing will be sent.
    #[inline(never)]
    pub(super) fn passes(&self, now: Time, t: &Transfer) -> Time {
        let wait = patience(t.window.srtt, t.out.len() == 1, self.slack);
        let left = t.out.get(0).map(|oldest| (oldest.sent + t.rto()).saturating_sub(now));
        let wait = left.filter(|left| !left.is_zero()).map_or(wait, |left| left.min(wait));
        t.wheel().map_or(now + wait, |wheel| wheel.goes_off(now, wait))
    }

    /// Its time has come.
    pub(super) fn go(&mut self) {
        (self.since, self.going) = (None, true);
    }

    /// Whether the next segment to leave is one.
    pub(super) fn is_going(&self) -> bool {
        self.going
    }

    /// Whether one is out that was sent before.
    pub(super) fn is_out_again(&self) -> bool {
        self.out.is_some_and(|out| out.again)
    }

    /// It has left; `nxt`: one after the highest number sent.
    pub(super) fn on_sent(&mut self, again: bool, nxt: Seq) {
        let (out, slack) = (Some(Out { end: nxt, again }), self.slack);
        *self = Self { since: None, going: false, out, blind: true, slack };
    }

    /// An ACK has come (RFC 8985, section 7.4.2); `sack`: whether it has blocks.
    pub(super) fn on_ack(&mut self, ack: &Ack, sack: bool) -> Outcome {
        self.blind &= ack.rtt.is_none();
        let Some(Out { end, again }) = self.out.filter(|out| ack.ack >= out.end) else {
            return Outcome::Nothing;
        };
        let twice = ack.dsack.is_some_and(|(_, to)| to == end);
        let repaired = again && !twice && ack.ack > end;
        if !again || twice || repaired || ack.duplicate && !sack {
            self.out = None;
        }
        if repaired { Outcome::Repaired } else { Outcome::Nothing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Span = Span::ms(1);

    fn ack(number: u64) -> Ack {
        Ack { ack: Seq::at(number), rtt: Some(100 * MS), ..Ack::of_bytes(Time::ms(0), 1) }
    }

    #[test]
    fn it_waits_two_round_trips_and_for_one_segment_a_delayed_ack_more() {
        assert_eq!(patience(Some(100 * MS), false, 2 * MS), 202 * MS);
        assert_eq!(patience(Some(100 * MS), true, 2 * MS), 400 * MS);
        assert_eq!(patience(None, true, 2 * MS), 1000 * MS);
        assert_eq!(patience(Some(Span::ZERO), false, Span::ZERO), Span::ns(1), "never at once");
    }

    #[test]
    fn there_is_one_at_a_time_and_none_without_a_round_trip_time_since() {
        let mut probe = Probe::default();
        probe.on_sent(false, Seq::at(5001));
        probe.arm(Time::ms(1));
        assert!(!probe.is_armed(), "one is out");
        probe.on_ack(&Ack { rtt: None, ..ack(5001) }, false);
        probe.arm(Time::ms(1));
        assert!(!probe.is_armed(), "nothing was timed");
        probe.on_ack(&ack(5001), false);
        probe.arm(Time::ms(1));
        assert!(probe.is_armed());
    }

    /// A probe that sent the segment before 5001 again, and what an ACK says of it; whether it is still out then.
    fn told(ack: &Ack, sack: bool) -> (Outcome, bool) {
        let mut probe = Probe::default();
        probe.on_sent(true, Seq::at(5001));
        (probe.on_ack(ack, sack), probe.out.is_some())
    }

    #[test]
    fn a_retransmission_that_ends_a_hole_has_repaired_a_loss_and_one_that_comes_twice_has_not() {
        assert_eq!(told(&ack(4001), false), (Outcome::Nothing, true));
        assert_eq!(
            told(&ack(5001), false),
            (Outcome::Nothing, true),
            "of which of them it is cannot be told"
        );
        assert_eq!(told(&ack(6001), false), (Outcome::Repaired, false));
        let twice = Ack { dsack: Some((Seq::at(4001), Seq::at(5001))), ..ack(6001) };
        assert_eq!(told(&twice, true), (Outcome::Nothing, false));
        let duplicate = Ack { duplicate: true, ..ack(5001) };
        assert_eq!(told(&duplicate, false), (Outcome::Nothing, false), "both have come, without D-SACK");
    }

    #[test]
    fn new_data_as_a_probe_repairs_nothing() {
        let mut probe = Probe::default();
        probe.on_sent(false, Seq::at(5001));
        assert_eq!((probe.on_ack(&ack(6001), false), probe.out.is_some()), (Outcome::Nothing, false));
    }
}
