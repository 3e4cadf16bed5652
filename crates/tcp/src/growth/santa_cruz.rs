//! TCP Santa Cruz: the window holds the bottleneck's queue at an operating point.
//!
//! Once a round, with N the segments waiting by [`crate::relative_delay`]: N < n − δ → cwnd + 1 MSS, N > n + δ → cwnd −
//! 1 MSS, not below 2; n = 1.5, δ = 0.5. A round in which the window never limited the sender says nothing. Slow start
//! as per ACK until N > n + δ at the end of a round. Where the peer sends no timestamps N stays unknown, and the window
//! opens by one segment a round. Source: Parsa and Garcia-Luna-Aceves 1999.

use super::Growth;
use crate::relative_delay::{Congested, CongestedRounds, RelativeDelay};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Window};

/// Growth by the queue that relative delays show.
#[derive(Debug, Clone)]
pub struct SantaCruz {
    delays: Box<RelativeDelay>,
    /// n, segments.
    target: f64,
    /// δ, segments.
    margin: f64,
    /// Whether the window has limited the sender in this round.
    limited: bool,
}

impl Member for SantaCruz {
    const INFO: Info = Info {
        name: "santa-cruz",
        summary: "holds the bottleneck's queue, which relative delays show, at an operating point",
        formula: "once a round: N < n − δ: +1 MSS; N > n + δ: −1 MSS; slow start: per ACK until N > n + δ; N = Σ D/T, n = 1.5, δ = 0.5",
        source: "Parsa and Garcia-Luna-Aceves 1999",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let target = args.number("n", 1.5, 0.0..=1e6)?;
        let margin = args.number("delta", 0.5, 0.0..=1e6)?;
        Ok(Self { delays: Box::default(), target, margin, limited: false })
    }
}

impl SantaCruz {
    /// Which direction of the path is congested, once that can be told.
    pub fn congested(&self) -> Option<Congested> {
        self.delays.congested()
    }

    /// Whether the response has the same operating point.
    pub(crate) fn aims_as(&self, response: &crate::response::SantaCruz) -> bool {
        (self.target, self.margin) == response.aim()
    }

    /// Takes the delay that an ACK shows; whether it ends a round.
    pub(crate) fn hear(&mut self, ack: &Ack, mss: f64) -> bool {
        self.delays.on_ack(ack, mss)
    }

    /// A round has ended: the window moves, if it is what limited the sender.
    pub(crate) fn end_round(&mut self, air: &Air, w: &mut Window) {
        if std::mem::take(&mut self.limited) && !air.repairing {
            self.adjust(w);
        }
    }

    /// Whether there is known to be no queue beyond the operating point.
    pub(crate) fn finds_no_queue(&self) -> bool {
        self.delays.queue().is_some_and(|queue| queue <= self.target + self.margin)
    }

    fn adjust(&self, w: &mut Window) {
        let queue = self.delays.queue().unwrap_or(0.0);
        if queue > self.target + self.margin {
            if !w.in_slow_start() {
                w.cwnd = (w.cwnd - w.mss).max(2.0 * w.mss).min(w.cwnd);
            }
            w.ssthresh = w.ssthresh.min(w.cwnd);
        } else if queue < self.target - self.margin && !w.in_slow_start() {
            w.cwnd += w.mss;
        }
    }
}

impl Growth for SantaCruz {
    fn on_ack(&mut self, _: &Ack, w: &mut Window) {
        self.limited = true;
        if w.in_slow_start() {
            w.cwnd += w.mss;
        }
    }

    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        if self.hear(ack, w.mss) {
            self.end_round(air, w);
        }
    }

    fn congested_rounds(&self) -> Option<CongestedRounds> {
        Some(self.delays.congested_rounds())
    }

    fn wants_timestamps(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::{Seq, Span, Spec, Time};
    const MS: u64 = 1_000_000;

    /// A bottleneck that takes 10 ms a segment, 100 ms away and back without queueing, and a round of `segments` sent
    /// at its pace, before each of which `queued` others wait.
    struct Rounds {
        growth: SantaCruz,
        w: Window,
        sent: u64,
        number: u64,
    }

    impl Rounds {
        fn new(w: Window) -> Self {
            let growth = SantaCruz::build(&mut Args::new(&Spec::named("santa-cruz"))).unwrap();
            Self { growth, w, sent: 0, number: 0 }
        }

        fn round(&mut self, segments: u64, queued: u64) -> f64 {
            let highest = 1000 * (self.number + segments);
            self.sent += 100 * MS; // what waited has left
            for _ in 0..segments {
                self.number += 1;
                self.sent += 10 * MS;
                let turned = self.sent + (50 + 10 * queued) * MS;
                let ack = Ack {
                    ack: Seq::at(1000 * self.number),
                    rtt: Some(Span::ns(turned + 50 * MS - self.sent)),
                    sent: Some(Time::ns(self.sent)),
                    peer_time: Some(Time::ns(turned)),
                    highest: Seq::at(highest),
                    ..Ack::of_bytes(Time::ns(turned + 50 * MS), 1000)
                };
                self.growth.on_ack(&ack, &mut self.w);
                self.growth.after_ack(&ack, &Air::default(), &mut self.w);
            }
            self.w.cwnd / self.w.mss
        }
    }

    #[test]
    fn the_window_moves_by_one_a_round_towards_the_operating_point() {
        let mut rounds = Rounds::new(window(10.0, 5.0));
        rounds.round(10, 0); // begins the first round, which the next ACK ends
        assert_eq!(rounds.round(10, 0), 11.0, "nothing waits");
        assert_eq!(rounds.round(10, 1), 11.0, "1 is within 1.5 ± 0.5");
        assert_eq!(rounds.round(10, 2), 11.0, "so is 2");
        assert_eq!(rounds.round(10, 3), 10.0);
        assert_eq!(rounds.growth.congested(), Some(Congested::Forward), "the queue has grown");
        assert_eq!(rounds.round(10, 3), 9.0);
        assert_eq!(rounds.round(10, 0), 10.0);
        assert_eq!(rounds.growth.congested(), Some(Congested::Neither));
        let counted = rounds.growth.congested_rounds().unwrap();
        assert_eq!((counted.reverse, counted.both), (0, 0), "{counted:?}");
        assert!(counted.forward >= 2 && counted.neither >= 2, "{counted:?}");
    }

    #[test]
    fn slow_start_ends_with_a_round_that_leaves_a_queue() {
        let mut rounds = Rounds::new(window(4.0, 100.0));
        assert_eq!(rounds.round(4, 0), 8.0);
        assert_eq!(rounds.round(8, 1), 16.0);
        assert!(rounds.w.in_slow_start());
        assert_eq!(rounds.round(1, 3), 17.0);
        assert!(!rounds.w.in_slow_start());
        assert_eq!(rounds.w.ssthresh, 17_000.0);
    }

    #[test]
    fn without_the_peers_clock_it_opens_by_one_segment_a_round() {
        let mut rounds = Rounds::new(window(10.0, 5.0));
        let mut ack = Ack { highest: Seq::at(5000), ..Ack::of_bytes(Time::ZERO, 1000) };
        for number in [1, 6] {
            ack.ack = Seq::at(1000 * number);
            rounds.growth.on_ack(&ack, &mut rounds.w);
            rounds.growth.after_ack(&ack, &Air::default(), &mut rounds.w);
        }
        assert_eq!(rounds.w.cwnd, 11_000.0);
        assert_eq!(rounds.growth.congested(), None);
    }
}
