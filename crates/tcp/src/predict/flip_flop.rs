//! The Flip-Flop predictor: do round-trip times leave the limits that their own spread sets?
//!
//! An RTT above est + 3·MR/1.128 is an outlier: est ← 0.9·est + 0.1·RTT. Any other: est ← 0.1·est + 0.9·RTT and
//! MR ← 7/8·MR + 1/8·|RTT − RTT before|. More than η outliers among the last l ACKs → congestion, otherwise wireless.
//! l = 8, η = 6; the paper also has 2 and 4. The first sample: est = RTT, MR = est/2, no outliers. Source: lp, section
//! 4.1.4, after Barman and Matta 2002; Kim and Noble 2001.

use super::LossPredictor;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Loss, Window};

/// Smallest MR that counts, ns.
const LEAST: f64 = 1e-6;

/// The standard deviation of a sample of two is its range over this (lp, equation 4.6).
const D2: f64 = 1.128;

/// Outliers among the last ACKs.
#[derive(Debug, Clone)]
pub struct FlipFlop {
    /// Lowest l bits set.
    mask: u64,
    eta: u32,
    filter: Option<Filter>,
}

/// What is known after the first sample; times in ns.
#[derive(Debug, Clone)]
struct Filter {
    estimate: f64,
    range: f64,
    last: f64,
    /// One bit an ACK, the newest lowest: whether it was an outlier.
    outliers: u64,
}

impl Filter {
    fn take(&mut self, rtt: f64) {
        let outlier = rtt > self.estimate + 3.0 * self.range / D2;
        self.outliers = self.outliers << 1 | u64::from(outlier);
        if outlier {
            self.estimate = 0.9 * self.estimate + 0.1 * rtt;
        } else {
            self.estimate = 0.1 * self.estimate + 0.9 * rtt;
            let range = 7.0 / 8.0 * self.range + 1.0 / 8.0 * (rtt - self.last).abs();
            // Left to fade it would end in numbers that processors are slow with.
            self.range = if range < LEAST { 0.0 } else { range };
        }
        self.last = rtt;
    }
}

impl Member for FlipFlop {
    const INFO: Info = Info {
        name: "flip-flop",
        summary: "judges by how many of the last round-trip times were outliers",
        formula: "more than η of the last l RTTs above est + 3·MR/1.128: congestion; otherwise: wireless; l = 8, η = 6",
        source: "Martignon, NewReno-LP, section 4.1.4; Barman and Matta 2002",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let l = args.count("l", 8, 1..=64)?;
        let eta = args.count("eta", 6, 0..=64)?;
        if eta > l {
            return Err(args.bad("eta", &eta, &format!("a whole number from 0 to l, which is {l}")));
        }
        Ok(Self { mask: u64::MAX >> (64 - l), eta: eta as u32, filter: None })
    }
}

impl LossPredictor for FlipFlop {
    fn on_ack(&mut self, ack: &Ack, _: &Window) {
        let Some(rtt) = ack.rtt else { return };
        let rtt = rtt.as_f64();
        match &mut self.filter {
            None => self.filter = Some(Filter { estimate: rtt, range: rtt / 2.0, last: rtt, outliers: 0 }),
            Some(filter) => filter.take(rtt),
        }
    }

    fn verdict(&self, _: &Loss) -> Cause {
        match &self.filter {
            Some(filter) if (filter.outliers & self.mask).count_ones() <= self.eta => Cause::Wireless,
            _ => Cause::Congestion,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::judge;
    use super::*;
    use crate::Arg;
    use crate::Cause::{Congestion, Wireless};

    #[test]
    fn the_two_filters_by_hand() {
        let mut filter = Filter { estimate: 100.0, range: 50.0, last: 100.0, outliers: 0 };
        filter.take(110.0); // limit 100 + 3·50/1.128 = 232.98: inside
        assert!((filter.estimate - 109.0).abs() < 1e-9 && (filter.range - 45.0).abs() < 1e-9, "{filter:?}");
        filter.take(229.0); // limit 109 + 3·45/1.128 = 228.68: outside
        assert!((filter.estimate - 121.0).abs() < 1e-9 && (filter.range - 45.0).abs() < 1e-9, "{filter:?}");
        filter.take(221.0); // limit 240.68: inside; the range is from the sample before, outlier or not
        assert!((filter.estimate - 211.0).abs() < 1e-9 && (filter.range - 40.375).abs() < 1e-9, "{filter:?}");
        assert_eq!(filter.outliers, 0b010);
    }

    #[test]
    fn congestion_is_more_than_eta_outliers_in_the_register() {
        // After many equal RTTs the range is next to nothing and each larger RTT, growing, is an outlier.
        let mut rtts = vec![100; 100];
        rtts.extend([200, 400, 800, 1600, 3200, 6400, 12_800, 25_600]);
        let judged = judge("flip-flop", &[], 100, &rtts);
        assert!(judged[..106].iter().all(|&cause| cause == Wireless), "six outliers are not more than six");
        assert_eq!(judged[106..], [Congestion, Congestion]);
        let judged = judge("flip-flop", &[("eta", Arg::Number(2.0))], 100, &rtts);
        assert_eq!(judged.iter().position(|&cause| cause == Congestion), Some(102));
    }

    #[test]
    fn outliers_leave_the_register_after_l_acks() {
        let args = [("l", Arg::Number(3.0)), ("eta", Arg::Number(0.0))];
        let mut rtts = vec![100; 100];
        rtts.extend([200, 100, 100, 100]);
        assert_eq!(
            judge("flip-flop", &args, 100, &rtts)[99..],
            [Wireless, Congestion, Congestion, Congestion, Wireless]
        );
    }
}
