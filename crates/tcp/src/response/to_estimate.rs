//! ssthresh from an estimate of the bandwidth: the response of TCP Westwood and TIBET.
//!
//! ssthresh = B·RTTmin, at least 2 MSS; cwnd = min(cwnd, ssthresh), or 1 MSS on a timeout. The estimate is read at loss
//! events only; before there is one the response halves. `n_cong` and `gamma` guess an RTTmin below the granularity of a
//! coarse clock ([`CoarseRttMin`]): with the paper's `n_cong` = 5 it is halved at every fifth loss event. Off by
//! default. Source: lp, section 3.3; Mascolo et al., "TCP Westwood", 2001.

use super::{Halve, LossResponse};
use crate::estimate::{AnyEstimator, BandwidthEstimator, CoarseRttMin};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Cause, Departure, Loss, LossKind, Span, Truth, Window};

/// Window to the estimated bandwidth–delay product.
#[derive(Debug, Clone)]
pub struct ToEstimate {
    estimator: Box<AnyEstimator>,
    coarse: CoarseRttMin,
}

impl Member for ToEstimate {
    const INFO: Info = Info {
        name: "to-estimate",
        summary: "sets the window to the estimated bandwidth times the smallest round-trip time",
        formula: "ssthresh = max(B·RTTmin, 2·MSS); cwnd = min(cwnd, ssthresh) (timeout: 1 MSS)",
        source: "Mascolo et al. 2001; Capone, Fratta and Martignon 2004",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let n_cong = args.count("n_cong", 0, 0..=1_000_000)?;
        let gamma = args.number("gamma", 0.5, 0.0..=1.0)?;
        let estimator = args.member("estimator", "ewma", AnyEstimator::build_among)?;
        Ok(Self { estimator: Box::new(estimator), coarse: CoarseRttMin::new(n_cong, gamma) })
    }
}

impl ToEstimate {
    /// What it takes the bandwidth-delay product to be, 2 MSS at least, bytes; of a coarse clock nothing is guessed here.
    pub(super) fn bandwidth_delay(&self, w: &Window) -> Option<f64> {
        let rtt = self.estimator.rtt_min().or(w.rtt_min)?;
        self.estimator.bits_per_second().map(|rate| product(rate, rtt, w))
    }
}

fn product(rate: f64, rtt: Span, w: &Window) -> f64 {
    (rate / 8.0 * rtt.as_f64() / 1e9).max(2.0 * w.mss)
}

impl LossResponse for ToEstimate {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        self.estimator.advance(loss.now);
        let measured = w.rtt_min.map(|rtt| self.coarse.on_congestion(rtt, w.clock));
        let rtt = self.estimator.rtt_min().or(measured);
        if loss.kind == LossKind::Timeout {
            self.estimator.on_timeout();
        }
        let (Some(rate), Some(rtt)) = (self.estimator.bits_per_second(), rtt) else {
            return Halve.on_loss(loss, w);
        };
        w.ssthresh = product(rate, rtt, w);
        w.cwnd = if loss.kind == LossKind::Timeout { w.mss } else { w.cwnd.min(w.ssthresh) };
        Cause::Congestion
    }

    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        self.estimator.on_ack(ack, w);
    }

    fn on_sent(&mut self, sent: &Departure) {
        self.estimator.on_sent(sent);
    }

    fn reveal(&mut self, truth: Truth) {
        self.estimator.reveal(truth);
    }

    fn wants_truth(&self) -> bool {
        self.estimator.wants_truth()
    }

    fn estimate(&self) -> Option<f64> {
        self.estimator.bits_per_second()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arg, PathTruth, Seq, Spec, Time};

    const MS: Span = Span::ms(1);

    /// A response of these arguments that has heard 1000 bytes a millisecond for a second: 8 Mbit/s.
    fn response(args: &[(&str, Arg)]) -> (ToEstimate, Window) {
        let spec = args.iter().fold(Spec::named("to-estimate"), |spec, (n, arg)| spec.with(n, arg.clone()));
        let mut args = Args::new(&spec);
        let mut response = ToEstimate::build(&mut args).unwrap();
        let w = crate::growth::tests::window(200.0, 500.0);
        for k in 0..1000 {
            response.on_sent(&Departure::of_bytes(Time::ms(k), 1000));
            response.on_ack(&Ack::of_bytes(Time::ms(k), 1000), &w);
        }
        (response, w)
    }

    fn loss(now: Time, kind: LossKind) -> Loss {
        Loss { now, kind, seq: Seq::FIRST }
    }

    #[test]
    fn the_window_falls_to_the_bandwidth_delay_product_and_never_rises() {
        // 8 Mbit/s times 100 ms are 100 segments.
        let (mut response, mut w) = response(&[]);
        response.on_loss(&loss(Time::s(1), LossKind::DupAcks), &mut w);
        assert!((w.ssthresh - 100e3).abs() < 1.0 && w.cwnd == w.ssthresh, "{w:?}");
        w.cwnd = 50e3;
        response.on_loss(&loss(Time::s(1), LossKind::DupAcks), &mut w);
        assert!((w.ssthresh - 100e3).abs() < 1.0 && w.cwnd == 50e3, "{w:?}");
        response.on_loss(&loss(Time::s(1), LossKind::Timeout), &mut w);
        assert!((w.ssthresh - 100e3).abs() < 1.0 && w.cwnd == w.mss, "{w:?}");
    }

    #[test]
    fn a_timeout_after_a_silence_finds_less_where_the_filter_counts_silence() {
        let after_a_second_of_silence = |estimator: &str| {
            let (mut response, mut w) = response(&[("estimator", Arg::Name(estimator.into()))]);
            response.on_loss(&loss(Time::s(2), LossKind::Timeout), &mut w);
            w.ssthresh
        };
        assert!((after_a_second_of_silence("westwood-1") - 100e3).abs() < 1.0);
        // Four virtual samples: 100 segments · (0.6 + 0.2) · 0.6³ = 17.3, the last of them just before the timeout.
        assert!((after_a_second_of_silence("westwood-2") - 17_280.0).abs() < 1.0);
    }

    #[test]
    fn on_a_coarse_clock_every_fifth_loss_halves_the_smallest_rtt_where_asked() {
        for (n_cong, expected) in
            [(0.0, [100.0; 11]), (5.0, [100., 100., 100., 100., 50., 50., 50., 50., 50., 25., 25.])]
        {
            let (mut response, mut w) = response(&[("n_cong", Arg::Number(n_cong))]);
            w.clock = 100 * MS;
            let ssthresh = expected.map(|_| {
                response.on_loss(&loss(Time::s(1), LossKind::DupAcks), &mut w);
                (w.ssthresh / 100.0).round() / 10.0
            });
            assert_eq!(ssthresh, expected);
        }
    }

    #[test]
    fn the_oracle_brings_its_own_round_trip_time() {
        let (mut response, mut w) = response(&[("estimator", Arg::Name("oracle".into()))]);
        response.reveal(Truth::Path(PathTruth { available: 4e6, rtt: 20 * MS }));
        response.on_ack(&Ack::of_bytes(Time::ms(1001), 1000), &w);
        response.on_loss(&loss(Time::ms(1001), LossKind::DupAcks), &mut w);
        assert_eq!(w.ssthresh, 10e3);
    }
}
