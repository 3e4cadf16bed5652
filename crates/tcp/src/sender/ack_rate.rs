//! The sender's side of the ACK rate request (TARR): how many segments it asks an ACK to cover, and on which segments it
//! asks.
//!
//! It asks for the rate of its stack, but never for more than half a window, so that two ACKs come in each round: fewer
//! would leave it waiting for the receiver's timer. As long as it does not know that the receiver has heard, which it does
//! when a new segment that carried the request is acknowledged, each segment carries it, retransmissions too. A segment
//! after which there is nothing left to send asks for an ACK at once, since others to share one with may never come.
//! Source: draft-ietf-tcpm-ack-rate-request (the option); the bound of half a window and the last rule are choices.

use crate::Seq;
use crate::segment::IMMEDIATE_ACK;

/// What is asked of the receiver.
#[derive(Debug, Clone, Default)]
pub(super) struct AckRate {
    /// The rate now asked for, segments per ACK.
    asked: u8,
    /// End of the first new segment that carried it.
    carried: Option<Seq>,
}

/// A data segment about to leave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaving {
    pub(super) end: Seq,
    pub(super) again: bool,
    /// Whether nothing is left to send after it.
    pub(super) last: bool,
}

impl AckRate {
    /// The request that a segment carries, as in [`crate::Segment::request`]: of `most` segments per ACK while the window
    /// is so many segments and everything below `una` is acknowledged.
    pub(super) fn request(&mut self, most: u8, window: u64, una: Seq, segment: Leaving) -> u8 {
        let rate = (window / 2).clamp(1, u64::from(most)) as u8;
        if rate != self.asked {
            *self = Self { asked: rate, carried: None };
        }
        if self.carried.is_some_and(|end| una >= end) {
            return if segment.last && rate > 1 { IMMEDIATE_ACK } else { 0 };
        }
        if !segment.again {
            self.carried.get_or_insert(segment.end);
        }
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(end: u64) -> Leaving {
        Leaving { end: Seq::at(end), again: false, last: false }
    }

    #[test]
    fn segments_carry_the_request_until_a_new_one_that_did_is_acknowledged() {
        let mut rate = AckRate::default();
        let again = Leaving { again: true, ..new(1001) };
        assert_eq!(
            rate.request(8, 40, Seq::FIRST, again),
            8,
            "it may have come without one before: no proof"
        );
        assert_eq!(rate.request(8, 40, Seq::FIRST, new(3001)), 8);
        assert_eq!(rate.request(8, 40, Seq::at(2001), new(4001)), 8);
        assert_eq!(rate.request(8, 40, Seq::at(3001), new(5001)), 0);
        assert_eq!(rate.request(8, 40, Seq::at(3001), again), 0);
    }

    #[test]
    fn it_asks_for_half_a_window_at_most_and_anew_when_that_changes() {
        let mut rate = AckRate::default();
        assert_eq!(rate.request(8, 1, Seq::FIRST, new(1001)), 1);
        assert_eq!(rate.request(8, 5, Seq::at(1001), new(2001)), 2);
        assert_eq!(rate.request(8, 5, Seq::at(2001), new(3001)), 0);
        assert_eq!(rate.request(8, 100, Seq::at(2001), new(4001)), 8);
    }

    #[test]
    fn the_last_segment_asks_for_an_ack_at_once_where_others_would_be_waited_for() {
        let last = |end| Leaving { last: true, ..new(end) };
        let mut rate = AckRate::default();
        assert_eq!(rate.request(8, 40, Seq::FIRST, last(1001)), 8, "the rate goes first");
        assert_eq!(rate.request(8, 40, Seq::at(1001), last(2001)), IMMEDIATE_ACK);
        let mut each = AckRate::default();
        assert_eq!(each.request(1, 40, Seq::FIRST, last(1001)), 1);
        assert_eq!(each.request(1, 40, Seq::at(1001), last(2001)), 0);
    }
}
