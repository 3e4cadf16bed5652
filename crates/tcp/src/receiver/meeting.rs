//! The handshake as the side sees it that was called, and what that side repeats until it is acknowledged: its SYN-ACK, its FIN.

use crate::wheel::Wheel;
use crate::{Span, Time};

/// The handshake, which tells the round-trip time if its SYN-ACK left once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Meeting {
    /// When the SYN-ACK left, until its answer comes.
    sent: Option<Time>,
    syn_acks: u32,
    /// Whether the SYN-ACK has a timer.
    pub(super) timed: bool,
    pub(super) rtt: Option<Span>,
}

impl Meeting {
    /// One whose SYN-ACK has a timer, or has not.
    pub(super) fn new(timed: bool) -> Self {
        Self { timed, ..Self::default() }
    }

    /// Whether no SYN-ACK has left yet.
    pub(super) fn is_new(&self) -> bool {
        self.syn_acks == 0
    }

    pub(super) fn greeted(&mut self, now: Time) {
        self.syn_acks += 1;
        self.sent = (self.syn_acks == 1).then_some(now);
    }

    pub(super) fn answered(&mut self, now: Time) {
        if let Some(sent) = self.sent.take() {
            self.rtt = Some(now - sent);
        }
    }
}

/// What occupies a number and is sent again as long as nothing acknowledges it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    SynAck,
    Fin,
}

impl Part {
    /// How often it is sent again before the peer is taken to be gone: a FIN as data (RFC 9293, section 3.8.3, R2), a SYN-ACK as
    /// often as Linux does (6.18, `tcp_synack_retries`), so that one that nobody wanted is soon forgotten.
    fn most_repeats(self) -> u32 {
        match self {
            Self::SynAck => 5,
            Self::Fin => 15,
        }
    }
}

/// It is on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeat {
    pub(super) part: Part,
    /// When it is sent again; [`Time::MAX`]: never.
    pub(super) at: Time,
    rto: Span,
    repeats: u32,
    /// Its time has come.
    pub(super) due: bool,
}

impl Repeat {
    /// Of what has not left yet, with its first timeout.
    pub(super) fn of(part: Part, rto: Span) -> Self {
        Self { part, at: Time::MAX, rto, repeats: 0, due: false }
    }

    /// Its time has come.
    pub(super) fn fall_due(&mut self) {
        (self.at, self.due) = (Time::MAX, true);
    }

    /// It leaves; where that is because its time had come, the next time is twice as far away.
    pub(super) fn leave(&mut self, now: Time, max_rto: Span, wheel: Option<Wheel>) {
        if std::mem::take(&mut self.due) {
            (self.rto, self.repeats) = ((2 * self.rto).min(max_rto), self.repeats + 1);
        }
        let at = wheel.map_or(now + self.rto, |wheel| wheel.goes_off(now, self.rto));
        self.at = if self.repeats < self.part.most_repeats() { at } else { Time::MAX };
    }
}
