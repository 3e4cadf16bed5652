//! Linux's Reno: every segment that is acknowledged counts, however few ACKs tell of it.
//!
//! Slow start adds what an ACK shows to have come, without a limit, up to ssthresh; what is left of it counts in congestion avoidance,
//! which adds a segment for each window of segments; a loss forgets what has been counted. RFC 3465 has a limit of two segments
//! an ACK in slow start, of one after a timeout, and so has [`super::ByteCounting`]. Source: Linux 6.18, `tcp_reno_cong_avoid`,
//! `tcp_slow_start`, `tcp_cong_avoid_ai`.

use super::Growth;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Loss, Window};

/// One step per bytes acknowledged, however many.
#[derive(Debug, Clone)]
pub struct Linux {
    /// Bytes acknowledged towards the next step of congestion avoidance.
    acked: f64,
}

impl Member for Linux {
    const INFO: Info = Info {
        name: "linux",
        summary: "opens by the bytes acknowledged without a limit an ACK, and in slow start not beyond ssthresh",
        formula: "slow start: cwnd += min(acked, ssthresh − cwnd); congestion avoidance: cwnd += MSS per cwnd bytes acked",
        source: "Linux 6.18, tcp_reno_cong_avoid; RFC 3465, section 2, without L",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { acked: 0.0 })
    }
}

impl Growth for Linux {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let mut left = ack.newly_delivered as f64;
        if w.in_slow_start() {
            let step = left.min(w.ssthresh - w.cwnd);
            w.cwnd += step;
            left -= step;
            if left <= 0.0 {
                return;
            }
        }
        // A window that came down since needs less than was counted already.
        if self.acked >= w.cwnd {
            self.acked = 0.0;
            w.cwnd += w.mss;
        }
        self.acked += left;
        if self.acked >= w.cwnd {
            let windows = (self.acked / w.cwnd).floor();
            self.acked -= windows * w.cwnd;
            w.cwnd += windows * w.mss;
        }
    }

    fn on_report(&mut self, ack: &Ack, w: &mut Window) {
        self.on_ack(ack, w);
    }

    fn on_loss(&mut self, _: &Loss, _: f64, _: &mut Window) {
        self.acked = 0.0; // `tcp_init_cwnd_reduction`, `tcp_enter_loss`
    }

    fn listens(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, window};
    use super::*;
    use crate::{LossKind, Seq, Time};

    fn rule() -> Linux {
        Linux { acked: 0.0 }
    }

    #[test]
    fn an_ack_opens_the_window_by_all_that_it_covers() {
        let mut w = window(10.0, 100.0);
        rule().on_ack(&ack(10_000), &mut w);
        assert_eq!(w.cwnd, 20_000.0);
    }

    #[test]
    fn slow_start_ends_at_ssthresh_and_the_rest_of_the_ack_counts_beyond_it() {
        let (mut w, mut growth) = (window(1.0, 5.0), rule());
        growth.on_ack(&ack(8000), &mut w);
        assert_eq!(w.cwnd, 5000.0, "four of eight");
        growth.on_ack(&ack(1000), &mut w);
        assert_eq!(w.cwnd, 6000.0, "and the other four and one are a window");
    }

    #[test]
    fn a_loss_forgets_what_was_counted_towards_the_next_segment() {
        let (mut w, mut growth) = (window(5.0, 2.0), rule());
        growth.on_ack(&ack(4000), &mut w);
        let loss = Loss { now: Time::s(2), kind: LossKind::DupAcks, seq: Seq::FIRST };
        growth.on_loss(&loss, w.cwnd, &mut w);
        growth.on_ack(&ack(4000), &mut w);
        assert_eq!(w.cwnd, 5000.0);
        growth.on_ack(&ack(1000), &mut w);
        assert_eq!(w.cwnd, 6000.0);
    }

    #[test]
    fn an_ack_of_two_windows_is_two_steps() {
        let mut w = window(5.0, 2.0);
        rule().on_ack(&ack(10_000), &mut w);
        assert_eq!(w.cwnd, 7000.0);
    }
}
