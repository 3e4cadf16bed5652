//! The rates that Vegas compares: the window over the round-trip time.
//!
//! actual = cwnd/RTT, expected = cwnd/RTTmin. `rate` says which of the two is the estimate. At a loss, expected·RTTmin is
//! cwnd itself: with it the response to-estimate does not respond. Source: Brakmo and Peterson 1995; lp, section 3.2.2.
//!
//! It needs ACKs with RTT samples and a window: on a bare list of arrivals it has no estimate.

use super::BandwidthEstimator;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Span, Window};

/// Window over time.
#[derive(Debug, Clone)]
pub struct VegasRate {
    expected: bool,
    rate: Option<f64>,
}

impl Member for VegasRate {
    const INFO: Info = Info {
        name: "vegas-rate",
        summary: "takes the window over the round-trip time for the bandwidth",
        formula: "actual: B = cwnd/RTT; expected: B = cwnd/RTTmin",
        source: "Brakmo and Peterson 1995; Martignon, NewReno-LP, section 3.2.2",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { expected: args.choice("rate", &["actual", "expected"])? == "expected", rate: None })
    }
}

impl BandwidthEstimator for VegasRate {
    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        let rate = |rtt: Span| w.cwnd * 8.0 / (rtt.max(Span::ns(1)).seconds());
        let rtt = if self.expected { w.rtt_min } else { ack.rtt };
        self.rate = rtt.map(rate).or(self.rate);
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::estimate::AnyEstimator;
    use crate::{Arg, Spec, Time};

    #[test]
    fn the_actual_rate_falls_with_the_rtt_and_the_expected_one_does_not() {
        for (rate, then) in [("actual", 400e3), ("expected", 800e3)] {
            let spec = Spec::named("vegas-rate").with("rate", Arg::Name(rate.into()));
            let (mut vegas, _) = AnyEstimator::build(&spec).unwrap();
            // Ten segments of 1000 bytes in 100 ms, then in 200 ms.
            vegas.on_ack(&Ack { rtt: Some(Span::ms(100)), ..Ack::of_bytes(Time::ns(1), 1000) }, &window());
            assert_eq!(vegas.bits_per_second(), Some(800e3));
            vegas.on_ack(&Ack { rtt: Some(Span::ms(200)), ..Ack::of_bytes(Time::ns(2), 1000) }, &window());
            assert_eq!(vegas.bits_per_second(), Some(then));
            vegas.on_ack(&Ack::of_bytes(Time::ns(3), 1000), &window());
            assert_eq!(vegas.bits_per_second(), Some(then), "an ACK without a sample says nothing");
        }
    }
}
