//! Whether a segment belongs to a connection at all, and what is said to one that does not: the tests that come before a
//! segment's ACK and data are looked at (RFC 9293, section 3.10.7), with the bounds that RFC 5961 sets to RST and SYN and PAWS
//! (RFC 7323, section 5.3).
//!
//! The simulator's networks deliver no such segments but ACKs that are too old, of which a sender asks whether it answers
//! them; who drives an endpoint with segments from elsewhere asks it all. Not for: what a segment acknowledges, which is the sender's.

use crate::{Seq, Span, Time};

/// What of a segment is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arriving {
    /// Its first number.
    pub seq: Seq,
    /// Numbers that it occupies.
    pub len: u64,
    /// Whether it is a SYN.
    pub syn: bool,
    /// Whether it is a RST.
    pub rst: bool,
    /// The timestamp it was sent with, where it has one.
    pub stamp: Option<Time>,
}

/// What the connection expects, once it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// RCV.NXT.
    pub next: Seq,
    /// RCV.WND, bytes.
    pub window: u64,
    /// TS.Recent, where timestamps were agreed on.
    pub stamp: Option<Time>,
}

/// What is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is taken in.
    Taken,
    /// It is dropped.
    Dropped,
    /// It is dropped, and an ACK goes back.
    Answered,
    /// It ends the connection.
    Ends,
}

impl Expected {
    /// What is done about a segment. Data that has come before is taken, since the receiver reports it.
    pub fn verdict(&self, segment: &Arriving) -> Verdict {
        let old = |stamp: Time| self.stamp.is_some_and(|recent| stamp < recent);
        if !segment.rst && segment.stamp.is_some_and(old) {
            return Verdict::Answered; // RFC 7323, section 5.3, R1
        }
        let beyond = segment.seq > self.next.saturating_add(self.window);
        let before = segment.seq < self.next && segment.len == 0;
        if beyond || before {
            return if segment.rst { Verdict::Dropped } else { Verdict::Answered };
        }
        match (segment.rst, segment.syn) {
            (true, _) if segment.seq == self.next => Verdict::Ends,
            // The challenge ACK of RFC 5961, sections 3.2 and 4.2.
            (true, _) | (_, true) => Verdict::Answered,
            _ => Verdict::Taken,
        }
    }
}

/// Answers to segments without data are so far apart (`net.ipv4.tcp_invalid_ratelimit`).
const APART: Span = Span::ms(500);

/// Segments without data that belong to no window or are too old, each of which may be answered by an ACK: once in half a second,
/// or two hosts that each find the other's out of order would never be still (Linux 6.18, `tcp_oow_rate_limited`).
#[derive(Debug, Clone, Copy, Default)]
pub struct Strays(Option<Time>);

impl Strays {
    /// One has come: whether an ACK answers it.
    pub fn answers(&mut self, now: Time) -> bool {
        let answers = self.0.is_none_or(|last| now.saturating_sub(last) >= APART);
        if answers {
            self.0 = Some(now);
        }
        answers
    }
}

/// What is said to a segment of a connection that there is not (RFC 9293, section 3.5.2, groups 1 and 2): the number of the RST,
/// and what it acknowledges where the segment acknowledges nothing. Numbers are those on the wire; `len`: those that the segment
/// occupies. `None`: a RST is not answered.
pub fn refusal(seq: u32, len: u32, ack: Option<u32>, rst: bool) -> Option<(u32, Option<u32>)> {
    match ack {
        _ if rst => None,
        Some(ack) => Some((ack, None)),
        None => Some((0, Some(seq.wrapping_add(len)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Expected = Expected { next: Seq::at(1001), window: 5000, stamp: Some(Time::ms(700)) };

    fn data(seq: u64, len: u64) -> Arriving {
        Arriving { seq: Seq::at(seq), len, syn: false, rst: false, stamp: Some(Time::ms(700)) }
    }

    #[test]
    fn one_stray_in_half_a_second_is_answered() {
        let mut strays = Strays::default();
        let answered = [0, 100, 499, 500, 999, 1000].map(|ms| strays.answers(Time::ms(ms)));
        assert_eq!(answered, [true, false, false, true, false, true]);
    }

    #[test]
    fn what_lies_within_the_window_or_was_there_before_is_taken() {
        for (seq, len) in [(1001, 0), (1001, 1000), (1, 1000), (501, 1000), (6001, 1000), (6001, 0)] {
            assert_eq!(EXPECTED.verdict(&data(seq, len)), Verdict::Taken, "{seq} {len}");
        }
    }

    #[test]
    fn what_lies_beyond_it_or_says_an_old_number_again_is_answered() {
        for (seq, len) in [(6002, 1000), (6002, 0), (1000, 0)] {
            assert_eq!(EXPECTED.verdict(&data(seq, len)), Verdict::Answered, "{seq} {len}");
        }
    }

    #[test]
    fn a_reset_counts_with_the_expected_number_only() {
        for (seq, verdict) in [
            (1001, Verdict::Ends),
            (1002, Verdict::Answered),
            (7000, Verdict::Dropped),
            (1, Verdict::Dropped),
        ] {
            let reset = Arriving { rst: true, stamp: None, ..data(seq, 0) };
            assert_eq!(EXPECTED.verdict(&reset), verdict, "{seq}");
        }
    }

    #[test]
    fn a_syn_within_a_connection_is_answered() {
        assert_eq!(EXPECTED.verdict(&Arriving { syn: true, ..data(1001, 1) }), Verdict::Answered);
    }

    #[test]
    fn what_belongs_to_no_connection_is_refused_by_the_number_it_expects() {
        assert_eq!(refusal(7, 1, None, false), Some((0, Some(8))), "a SYN");
        assert_eq!(refusal(7, 100, Some(500), false), Some((500, None)));
        assert_eq!(refusal(7, 0, Some(500), true), None);
    }

    #[test]
    fn an_old_timestamp_makes_it_a_stray_but_not_a_reset() {
        let stray = Arriving { stamp: Some(Time::ms(699)), ..data(1001, 1000) };
        assert_eq!(EXPECTED.verdict(&stray), Verdict::Answered);
        assert_eq!(EXPECTED.verdict(&Arriving { rst: true, ..stray }), Verdict::Ends);
        assert_eq!(Expected { stamp: None, ..EXPECTED }.verdict(&stray), Verdict::Taken);
    }
}
