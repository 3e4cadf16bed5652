//! TCP Santa Cruz' response: a loss without a queue is noise.
//!
//! Duplicate ACKs, with N the queue by [`crate::relative_delay`]: N > n + δ, more than the sender wants it to be →
//! congestion, halve; otherwise → wireless, the window stays. Where the peer sends no timestamps every loss is
//! congestion. Timeouts and ECN echoes are as in [`super::Halve`]. n = 1.5, δ = 0.5, as in growth. (Published: the queue
//! has grown in the rounds before. One that is full does not grow, and one that is held at n jitters by a segment.)
//! Source: Parsa and Garcia-Luna-Aceves 1999.

use super::{Halve, LossResponse};
use crate::relative_delay::{Congested, RelativeDelay};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Loss, LossKind, Window};

/// Response by the queue that relative delays show.
#[derive(Debug, Clone)]
pub struct SantaCruz {
    delays: Box<RelativeDelay>,
    /// n, segments.
    target: f64,
    /// δ, segments.
    margin: f64,
}

impl Member for SantaCruz {
    const INFO: Info = Info {
        name: "santa-cruz",
        summary: "keeps the window where relative delays show no queue",
        formula: "dup ACKs: N > n + δ: as halve; else unchanged; timeout: as halve; n = 1.5, δ = 0.5",
        source: "Parsa and Garcia-Luna-Aceves 1999",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let target = args.number("n", 1.5, 0.0..=1e6)?;
        let margin = args.number("delta", 0.5, 0.0..=1e6)?;
        Ok(Self { delays: Box::default(), target, margin })
    }
}

impl SantaCruz {
    /// Which direction of the path is congested, once that can be told.
    pub fn congested(&self) -> Option<Congested> {
        self.delays.congested()
    }

    /// n and δ.
    pub(crate) fn aim(&self) -> (f64, f64) {
        (self.target, self.margin)
    }

    fn random(&self) -> bool {
        self.delays.queue().is_some_and(|queue| queue <= self.target + self.margin)
    }
}

/// What is done about a loss: nothing where duplicates show one and no queue can explain it.
pub(crate) fn spare(no_queue: bool, loss: &Loss, w: &mut Window) -> Cause {
    if loss.kind == LossKind::DupAcks && no_queue {
        return Cause::Wireless;
    }
    Halve.on_loss(loss, w)
}

impl LossResponse for SantaCruz {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        spare(self.random(), loss, w)
    }

    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        self.delays.on_ack(ack, w.mss);
    }

    fn wants_timestamps(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{loss, window};
    use super::*;
    use crate::{Seq, Span, Spec, Time};
    const MS: u64 = 1_000_000;

    /// Fed with segments sent every 10 ms through a bottleneck that takes 10 ms each, before which these many wait.
    fn fed(queued: &[u64]) -> SantaCruz {
        let mut rule = SantaCruz::build(&mut Args::new(&Spec::named("santa-cruz"))).unwrap();
        for (k, queued) in queued.iter().enumerate() {
            let sent = 10 * MS * k as u64;
            let turned = sent + (50 + 10 * queued) * MS;
            let ack = Ack {
                ack: Seq::at(1000 * (k as u64 + 1)),
                rtt: Some(Span::ns(turned + 50 * MS - sent)),
                sent: Some(Time::ns(sent)),
                peer_time: Some(Time::ns(turned)),
                highest: Seq::at(1000 * (k as u64 + 4)), // a round is four segments
                ..Ack::of_bytes(Time::ns(turned + 50 * MS), 1000)
            };
            rule.on_ack(&ack, &window(10_000));
        }
        rule
    }

    fn judged(queued: &[u64]) -> Cause {
        let mut w = window(10_000);
        let verdict = fed(queued).on_loss(&loss(LossKind::DupAcks), &mut w);
        assert_eq!(w.cwnd, if verdict == Cause::Wireless { 10_000.0 } else { 5000.0 });
        verdict
    }

    #[test]
    fn a_loss_without_a_queue_leaves_the_window() {
        assert_eq!(judged(&[0; 12]), Cause::Wireless);
        assert_eq!(
            judged(&[0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]),
            Cause::Wireless,
            "at the operating point"
        );
    }

    #[test]
    fn a_queue_beyond_the_operating_point_is_congestion() {
        assert_eq!(judged(&[0, 0, 1, 2, 3]), Cause::Congestion, "it grows");
        assert_eq!(
            judged(&[0, 3, 6, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]),
            Cause::Congestion,
            "it is full"
        );
    }

    #[test]
    fn timeouts_and_losses_of_which_nothing_is_known_are_congestion() {
        let mut w = window(10_000);
        assert_eq!(fed(&[0; 12]).on_loss(&loss(LossKind::Timeout), &mut w), Cause::Congestion);
        assert_eq!((w.cwnd, w.ssthresh), (1000.0, 5000.0));
        assert_eq!(judged(&[]), Cause::Congestion);
    }
}
