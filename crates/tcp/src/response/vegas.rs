//! Vegas' decrease: a quarter, and at most once a round.
//!
//! Duplicate ACKs: if the segment was last sent before the last decrease, nothing: that decrease was for the same
//! trouble. Otherwise ssthresh = cwnd = max(¾·cwnd, 2 MSS), or ½ in place of ¾ for a segment that has been sent again
//! before. A timeout and an ECN echo halve, as standard TCP does. Source: Brakmo and Peterson 1995, section 3.2, who
//! forbid a second decrease for the same window; the two factors as in ns-2 (`VegasTcpAgent::recv`).

use super::{Halve, LossResponse};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Departure, Loss, LossKind, Seq, Window};

/// Decrease by a quarter.
#[derive(Debug, Clone, Default)]
pub struct Vegas {
    /// One after the highest sequence number sent so far.
    highest: Seq,
    /// The same at the last decrease.
    decreased: Seq,
    /// End of the last segment sent again: the first unacknowledged one was sent again if it lies below.
    resent: Seq,
    /// The same, of those sent again since the last decrease.
    resent_since: Seq,
}

impl Member for Vegas {
    const INFO: Info = Info {
        name: "vegas",
        summary: "takes a quarter of the window, and only for segments sent after the last decrease",
        formula: "sent after the last decrease: cwnd = ssthresh = max(¾·cwnd, 2·MSS), ½ if sent again before; else unchanged; timeout: as halve",
        source: "Brakmo and Peterson 1995, section 3.2; ns-2",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self::default())
    }
}

impl LossResponse for Vegas {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        let news = loss.seq >= self.decreased || loss.seq < self.resent_since;
        if loss.kind != LossKind::DupAcks {
            Halve.on_loss(loss, w);
        } else if news {
            let kept = if loss.seq < self.resent { 0.5 } else { 0.75 };
            w.ssthresh = (kept * w.cwnd).max(2.0 * w.mss);
            w.cwnd = w.ssthresh;
        }
        if news || loss.kind != LossKind::DupAcks {
            (self.decreased, self.resent_since) = (self.highest, Seq::ZERO);
        }
        Cause::Congestion
    }

    fn on_ack(&mut self, ack: &Ack, _: &Window) {
        self.highest = self.highest.max(ack.highest);
    }

    fn on_sent(&mut self, sent: &Departure) {
        let end = sent.seq + u64::from(sent.bytes);
        self.highest = self.highest.max(end);
        if sent.retransmission {
            self.resent = self.resent.max(end);
            self.resent_since = self.resent_since.max(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::Time;

    fn send(rule: &mut Vegas, number: u64, again: bool) {
        let sent = Departure {
            seq: Seq::at(1 + 1000 * (number - 1)),
            retransmission: again,
            ..Departure::of_bytes(Time::ZERO, 1000)
        };
        rule.on_sent(&sent);
    }

    fn lose(rule: &mut Vegas, number: u64, kind: LossKind, w: &mut Window) {
        rule.on_loss(&Loss { now: Time::ZERO, kind, seq: Seq::at(1 + 1000 * (number - 1)) }, w);
    }

    #[test]
    fn one_round_is_decreased_for_once() {
        let (mut rule, mut w) = (Vegas::default(), window(10_000));
        (1..=10).for_each(|number| send(&mut rule, number, false));
        lose(&mut rule, 3, LossKind::DupAcks, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (7500.0, 7500.0));
        lose(&mut rule, 5, LossKind::DupAcks, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (7500.0, 7500.0), "sent before the decrease");
        send(&mut rule, 11, false);
        lose(&mut rule, 11, LossKind::DupAcks, &mut w);
        assert_eq!(w.cwnd, 5625.0);
    }

    #[test]
    fn a_segment_lost_again_halves() {
        let (mut rule, mut w) = (Vegas::default(), window(8000));
        (1..=8).for_each(|number| send(&mut rule, number, false));
        lose(&mut rule, 1, LossKind::DupAcks, &mut w);
        send(&mut rule, 1, true);
        lose(&mut rule, 1, LossKind::DupAcks, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (3750.0, 3750.0));
    }

    #[test]
    fn a_timeout_halves_the_flight_and_counts_as_a_decrease() {
        let (mut rule, mut w) = (Vegas::default(), window(10_000));
        (1..=10).for_each(|number| send(&mut rule, number, false));
        lose(&mut rule, 1, LossKind::Timeout, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (1000.0, 5000.0));
        lose(&mut rule, 2, LossKind::DupAcks, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (1000.0, 5000.0));
    }
}
