//! Proportional rate reduction: how much a sender may send at each ACK while it repairs a loss, so that what is in the air has
//! come to the response's window by the end of the repair, evenly, and without a burst.
//!
//! While more is in the air than the target, what is sent is to what is delivered as the target is to the flight at the
//! beginning: sndcnt = ⌈delivered · target / RecoverFS⌉ − out. Once there is less, because much was lost or the application
//! had paused, it may catch up within a bound: as much as was delivered since the beginning and not sent yet, or in this ACK
//! ("conservative"); one MSS more ("slow-start"); or that much more only where the ACK advances and shows no further loss
//! ("safe-ack", RFC 9937). The first ACK lets a segment out at least. All is counted in bytes, and a segment leaves
//! when a whole one may; or in segments, where a part of one that may leave is one, and out of the window before and not of the
//! flight (Linux 6.18, `tcp_cwnd_reduction`, `prior_cwnd`; the tables of RFC 6937). Source: RFC 9937, section 6; the first two
//! bounds by themselves are RFC 6937's (section 3), whose conservative one knew no "or in this ACK".
//!
//! Not for: noticing a loss, or choosing what is sent.

/// What FIN counts in the sequence space, a number and no byte of any window.
pub(super) const FIN: f64 = 1.0;

/// What may be sent beyond what is delivered, where less is in the air than the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bound {
    /// An MSS where the ACK advances and shows no further loss.
    #[default]
    SafeAck,
    /// Nothing (PRR-CRB).
    Conservative,
    /// An MSS (PRR-SSRB).
    SlowStart,
}

impl Bound {
    /// Their names in a scenario, the default first.
    pub const NAMES: [&str; 3] = ["safe-ack", "conservative", "slow-start"];

    /// The one of this name, or the default.
    pub fn named(name: &str) -> Self {
        match name {
            "conservative" => Self::Conservative,
            "slow-start" => Self::SlowStart,
            _ => Self::SafeAck,
        }
    }
}

/// What an ACK tells, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// DeliveredData: bytes that it newly acknowledges or reports, or without SACK those that a duplicate stands for.
    pub bytes: u64,
    /// Bytes in the air after it, without what it shows to be lost.
    pub in_flight: u64,
    /// SafeACK: whether it advances and shows no further loss.
    pub safe: bool,
}

/// One repair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prr {
    bound: Bound,
    mss: f64,
    /// What the proportion is rounded up to, bytes: one, or a segment.
    unit: f64,
    /// The window that the repair is to end with, bytes.
    target: f64,
    /// RecoverFS.
    flight: u64,
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    out: u64,
}

impl Prr {
    /// A repair begins that is to end with a window of `target` bytes, in segments of `mss`. `flight` is RecoverFS: what was in
    /// the air before the ACK that began it, without what SACK had reported by then, bytes.
    pub fn begin(bound: Bound, mss: f64, target: f64, flight: u64) -> Self {
        Self { bound, mss, unit: 1.0, target, flight: flight.max(1), delivered: 0, out: 0 }
    }

    /// The same, counted in segments.
    pub fn in_segments(self) -> Self {
        Self { unit: self.mss, ..self }
    }

    /// The window that the repair is to end with, bytes.
    pub fn target(&self) -> f64 {
        self.target
    }

    /// An ACK has come, the one that began the repair or one during it. The window until the next one: what is in the air and
    /// what may be sent; none if it has delivered nothing, which changes nothing.
    pub fn on_ack(&mut self, ack: &Delivery) -> Option<f64> {
        if ack.bytes == 0 {
            return None;
        }
        self.delivered += ack.bytes;
        let in_flight = ack.in_flight as f64;
        let unsent = self.delivered as f64 - self.out as f64;
        let mut allowed = if in_flight > self.target + FIN {
            let share = self.delivered as f64 * self.target / self.flight as f64;
            libm::ceil(share / self.unit) * self.unit - self.out as f64
        } else {
            let more = match self.bound {
                Bound::SafeAck => ack.safe,
                Bound::Conservative => false,
                Bound::SlowStart => true,
            };
            let bound = unsent.max(ack.bytes as f64) + if more { self.mss } else { 0.0 };
            bound.min(self.target - in_flight)
        };
        if self.out == 0 {
            allowed = allowed.max(self.mss); // a fast retransmit
        }
        Some(in_flight + allowed.max(0.0))
    }

    /// So many bytes leave, for the first time or again.
    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// The repair of RFC 6937, section 3.1: twenty segments were in the air and the target is ten; limited transmit has let out
    /// two on the first two duplicates, and the third begins it. `lost` segments have not come; the others' ACKs do.
    /// What is in the air when an ACK has come, and how many segments leave on it, from the third ACK on.
    fn first_round(bound: Bound, lost: u64) -> Vec<(u64, u64)> {
        let acks = 20 - lost;
        let mut prr = Prr::begin(bound, MSS as f64, 10.0 * MSS as f64, 20 * MSS);
        let mut in_flight = (22 - 3 - lost) * MSS;
        (3..=acks)
            .map(|_| {
                let seen = in_flight;
                let ack = Delivery { bytes: MSS, in_flight, safe: false };
                let cwnd = prr.on_ack(&ack).unwrap();
                let mut sent = 0;
                while (in_flight + MSS) as f64 <= cwnd {
                    prr.on_sent(MSS);
                    in_flight += MSS;
                    sent += 1;
                }
                in_flight -= MSS;
                (seen / MSS, sent)
            })
            .collect()
    }

    #[test]
    fn after_a_single_loss_every_other_ack_lets_a_segment_out_and_the_flight_comes_to_the_target() {
        for bound in [Bound::SafeAck, Bound::Conservative, Bound::SlowStart] {
            let round = first_round(bound, 1);
            let sent: Vec<_> = round.iter().map(|ack| ack.1).collect();
            assert_eq!(sent, [1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1], "{bound:?}");
            assert_eq!((round[0].0, round.last()), (18, Some(&(9, 1))), "{bound:?}");
        }
    }

    #[test]
    fn counted_in_segments_a_part_of_one_lets_one_out() {
        for (in_segments, sent) in [(false, [1, 0, 0, 1, 0, 1]), (true, [1, 0, 1, 0, 1, 0])] {
            let prr = Prr::begin(Bound::SafeAck, 1000.0, 5000.0, 10_000);
            let mut prr = if in_segments { prr.in_segments() } else { prr };
            let left = sent.map(|_| {
                let cwnd = prr.on_ack(&Delivery { bytes: MSS, in_flight: 8000, safe: false }).unwrap();
                let left = ((cwnd - 8000.0) / 1000.0) as u64;
                prr.on_sent(left * MSS);
                left
            });
            assert_eq!(left, sent, "{in_segments}");
        }
    }

    #[test]
    fn after_a_burst_of_fifteen_losses_no_ack_brings_a_burst() {
        // The tables of RFC 6937, section 3.1: pipe 4, 4, 4 and one segment each, or 4, 5, 6 and two.
        assert_eq!(first_round(Bound::Conservative, 15), [(4, 1), (4, 1), (4, 1)]);
        assert_eq!(first_round(Bound::SlowStart, 15), [(4, 2), (5, 2), (6, 2)]);
        assert_eq!(first_round(Bound::SafeAck, 15), [(4, 1), (4, 1), (4, 1)], "as long as no ACK advances");
    }

    #[test]
    fn acks_that_advance_and_show_no_loss_open_the_window_to_the_target_and_no_further() {
        let mut prr = Prr::begin(Bound::SafeAck, 1000.0, 10_000.0, 20_000);
        prr.on_ack(&Delivery { bytes: 1000, in_flight: 4000, safe: false });
        prr.on_sent(1000);
        let mut safe = |bytes, in_flight| prr.on_ack(&Delivery { bytes, in_flight, safe: true });
        assert_eq!(safe(1000, 4000), Some(6000.0));
        assert_eq!(safe(1000, 9500), Some(10_000.0));
    }

    #[test]
    fn what_an_application_has_not_sent_for_want_of_data_it_may_send_later() {
        let mut prr = Prr::begin(Bound::Conservative, 1000.0, 10_000.0, 20_000);
        for in_flight in (5..15).rev() {
            prr.on_ack(&Delivery { bytes: 1000, in_flight: 1000 * in_flight, safe: false });
        }
        // Ten have been delivered and none was sent.
        let cwnd = prr.on_ack(&Delivery { bytes: 1000, in_flight: 4000, safe: false });
        assert_eq!(cwnd, Some(10_000.0));
    }

    #[test]
    fn an_ack_that_delivers_nothing_changes_nothing_and_the_first_that_does_lets_a_segment_out() {
        let mut prr = Prr::begin(Bound::Conservative, 1000.0, 2000.0, 100_000);
        let before = prr;
        assert_eq!((prr.on_ack(&Delivery { bytes: 0, in_flight: 9000, safe: true }), prr), (None, before));
        let of_one_byte = Delivery { bytes: 1, in_flight: 2000, safe: false };
        assert_eq!(prr.on_ack(&of_one_byte), Some(3000.0), "there is no room below the target");
        prr.on_sent(1000);
        assert_eq!(prr.on_ack(&of_one_byte), Some(2000.0));
    }
}
