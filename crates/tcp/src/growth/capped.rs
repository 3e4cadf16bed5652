//! Growth per ACK that lets the window at most triple in a round: what Windows XP SP2 was seen to do.
//!
//! As per ACK, and cwnd ≤ `factor`·(cwnd when the round began), from the connection's second round on. A round lasts
//! until something is acknowledged that was sent after its first ACK. Source: Cheskis 2006 (TCP Taba), table 3.2, whose third windows of
//! 18, 22, 28 and 36 segments follow windows of 6, 8, 10 and 12. The rule is ours: a factor of 3 gives 18, 24, 30 and
//! 36. The first round goes uncapped, since its windows are 3, 4, 5 and 6 times the initial one.

use super::{Growth, PerAck};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Loss, Seq, Window};

/// One step an ACK, to a multiple of the round's first window.
#[derive(Debug, Clone)]
pub struct Capped {
    factor: f64,
    /// What the round may open the window to, bytes.
    cap: f64,
    /// SND.NXT when the round began; none: the first round has not.
    end: Option<Seq>,
}

impl Member for Capped {
    const INFO: Info = Info {
        name: "capped",
        summary: "opens per ACK, but at most threefold a round: bounds what ACK division can gain",
        formula: "as per ACK; cwnd ≤ factor·cwnd at the round's start, from the second round on",
        source: "Cheskis 2006 (TCP Taba), table 3.2 (Windows XP SP2)",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let factor = args.number("factor", 3.0, 1.1..=1000.0)?;
        Ok(Self { factor, cap: f64::INFINITY, end: None })
    }
}

impl Growth for Capped {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if self.end.is_none_or(|end| ack.ack > end) {
            if self.end.is_some() {
                self.cap = self.factor * w.cwnd;
            }
            // SND.MAX would not do: after a go-back it is many rounds away.
            self.end = Some(ack.ack.earlier(ack.newly_acked) + w.flight);
        }
        let before = w.cwnd;
        PerAck.on_ack(ack, w);
        w.cwnd = w.cwnd.min(self.cap.max(before));
    }

    fn on_loss(&mut self, _: &Loss, _: f64, _: &mut Window) {
        self.end = Some(Seq::ZERO); // the next ACK begins a round from what is left of the window
    }

    fn listens(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::{LossKind, Time};

    fn rule() -> Capped {
        Capped { factor: 3.0, cap: f64::INFINITY, end: None }
    }

    /// What stands between a sender and its growth rule: windows of segments sent and acknowledged in so many parts.
    struct Rounds {
        growth: Capped,
        w: Window,
        una: Seq,
    }

    impl Rounds {
        fn from(segments: f64) -> Self {
            Self { growth: rule(), w: window(segments, 1e6), una: Seq::FIRST }
        }

        /// A window in segments after each of `parts`' rounds.
        fn run(&mut self, parts: u64, rounds: usize) -> Vec<f64> {
            let mut windows = Vec::new();
            for _ in 0..rounds {
                let end = self.una + self.w.cwnd as u64;
                while self.una < end {
                    let bytes = (1000 / parts).min(end - self.una);
                    self.w.flight = self.w.cwnd as u64; // each ACK is answered at once
                    self.una += bytes;
                    let ack = Ack { ack: self.una, ..Ack::of_bytes(Time::ns(1), bytes) };
                    self.growth.on_ack(&ack, &mut self.w);
                }
                windows.push(self.w.cwnd / self.w.mss);
            }
            windows
        }
    }

    #[test]
    fn one_ack_a_segment_is_slow_start_as_ever() {
        assert_eq!(Rounds::from(2.0).run(1, 4), [4.0, 8.0, 16.0, 32.0]);
    }

    #[test]
    fn divided_acks_at_most_triple_the_window_after_the_first_round() {
        assert_eq!(Rounds::from(2.0).run(2, 3), [6.0, 18.0, 54.0]);
        assert_eq!(Rounds::from(2.0).run(4, 3), [10.0, 30.0, 90.0]);
        assert_eq!(Rounds::from(2.0).run(5, 3), [12.0, 36.0, 108.0]);
    }

    #[test]
    fn a_loss_begins_a_capped_round() {
        let mut rounds = Rounds::from(2.0);
        rounds.run(4, 2);
        let loss = Loss { now: Time::ns(1), kind: LossKind::Timeout, seq: Seq::FIRST };
        rounds.w.cwnd = 1000.0;
        rounds.growth.on_loss(&loss, 30_000.0, &mut rounds.w);
        assert_eq!(rounds.run(10, 3), [3.0, 9.0, 27.0]);
    }

    #[test]
    fn a_window_above_the_cap_is_left_where_it_is() {
        let mut growth = Capped { cap: 3000.0, end: Some(Seq::at(1 << 40)), ..rule() };
        let mut w = window(10.0, 100.0);
        growth.on_ack(&Ack::of_bytes(Time::ns(1), 1000), &mut w);
        assert_eq!(w.cwnd, 10_000.0);
    }
}
