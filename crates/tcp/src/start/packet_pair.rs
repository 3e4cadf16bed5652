//! Packet pair: slow start ends at the bandwidth-delay product that the first pair of segments shows.
//!
//! ssthresh = B·RTTmin, at least 2 MSS, B by [`crate::estimate::PacketPair`]; once. A loss before the first pair ends
//! the attempt. Source: Hoe 1996; lp, section 3.2.1. The parameters are the estimator's.

use super::Start;
use crate::estimate::{BandwidthEstimator, PacketPair};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Window};

/// Measures where slow start should end.
#[derive(Debug, Clone)]
pub struct FromPair(Box<PacketPair>);

impl Member for FromPair {
    const INFO: Info = Info {
        name: "packet-pair",
        summary: "ends slow start at the bandwidth-delay product that the first pair of segments shows",
        formula: "ssthresh = max(B·RTTmin, 2·MSS), once; B: bits of a pair's second ACK / time between the two",
        source: "Hoe 1996; Martignon, NewReno-LP, section 3.2.1",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self(Box::new(PacketPair::build(args)?)))
    }
}

impl Start for FromPair {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) -> bool {
        self.0.on_ack(ack, w);
        let (Some(rate), Some(rtt)) = (self.0.bits_per_second(), w.rtt_min) else { return true };
        w.ssthresh = (rate / 8.0 * rtt.as_f64() / 1e9).max(2.0 * w.mss);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::tests::window;
    use crate::{Span, Spec, Time};

    const MS: Span = Span::ms(1);

    /// An ACK of what was sent so long after the start, so long after the start.
    fn ack(now: Span, sent: Span) -> Ack {
        Ack { sent: Some(Time::at(sent)), rtt: Some(now - sent), ..Ack::of_bytes(Time::at(now), 1000) }
    }

    #[test]
    fn the_first_pair_sets_the_threshold_and_that_is_all() {
        let mut start = FromPair::build(&mut Args::new(&Spec::named("packet-pair"))).unwrap();
        let mut w = window(2.0, 1e6);
        assert!(start.on_ack(&ack(100 * MS, Span::ZERO), &mut w));
        assert_eq!(w.ssthresh, 1e9, "one ACK is no pair");
        assert!(!start.on_ack(&ack(110 * MS, Span::ZERO), &mut w));
        assert_eq!(w.ssthresh, 10_000.0, "1000 B in 10 ms over 100 ms");
    }
}
