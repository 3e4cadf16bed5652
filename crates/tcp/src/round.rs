//! Counts a sender's rounds for rules that act once per round-trip time. Not for: what they do then.

use crate::{Ack, Seq};

/// A round: it ends with the first ACK of something that was sent after it began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Round {
    /// SND.MAX when it began; none: the next ACK begins one.
    end: Option<Seq>,
}

impl Round {
    /// Whether a round ends with this ACK; the next one begins with it.
    pub(crate) fn over(&mut self, ack: &Ack) -> bool {
        let over = self.end.is_some_and(|end| ack.ack > end);
        if over || self.end.is_none() {
            self.end = Some(ack.highest);
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    #[test]
    fn a_round_lasts_until_something_sent_within_it_is_acknowledged() {
        let mut round = Round::default();
        let mut over = |ack, highest| {
            round.over(&Ack { ack: Seq::at(ack), highest: Seq::at(highest), ..Ack::of_bytes(Time::ZERO, 1) })
        };
        assert!(!over(1, 4), "the first ACK begins a round");
        assert!(!over(4, 7), "all that was outstanding then");
        assert!(over(5, 8));
        assert!(!over(8, 9));
        assert!(over(9, 9));
    }
}
