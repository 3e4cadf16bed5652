//! Slow start or congestion avoidance? What a receiver can tell of the phase its sender is in.
//!
//! A detector hears of every data segment that comes ([`SlowStartDetector::on_segment`]) and says at any time which
//! phase the sender is in. It knows arrival times, sizes, order, and the receiver's own samples of the round-trip time
//! where there are any; it knows nothing of the sender. [`watch`] holds its verdicts against the truth.

mod contract;
mod inter_arrival;
mod round_growth;
pub mod watch;

pub use contract::{Floats, Phase, SlowStartDetector};
pub use inter_arrival::InterArrival;
pub use round_growth::RoundGrowth;
pub use watch::{Detected, Watch, Watchers};

use crate::Arrival;
use crate::spec::family;

family! {
    /// Any detector.
    pub enum AnyDetector: SlowStartDetector, "slow-start detector" { InterArrival, RoundGrowth }
    fn on_segment(&mut self, arrival: &Arrival);
    fn phase(&self) -> Phase;
    fn floats(&self) -> Option<Floats>;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Span, Spec, Time};

    /// The detector of that name hears of bursts of so many segments of 1000 bytes, one burst each `rtt`, its segments
    /// `gap` apart; its verdict after each burst.
    pub(crate) fn verdicts(name: &str, bursts: &[u64], rtt: Span, gap: Span) -> Vec<Phase> {
        let (mut detector, _) = AnyDetector::build(&Spec::named(name)).unwrap();
        let mut after = Vec::new();
        for (k, &segments) in bursts.iter().enumerate() {
            for n in 0..segments {
                let now = Time::at((k as u64 + 1) * rtt + n * gap);
                detector.on_segment(&Arrival { rtt: Some(rtt), ..Arrival::of_bytes(now, 1000) });
            }
            after.push(detector.phase());
        }
        after
    }

    #[test]
    fn every_member_takes_a_young_connection_to_be_in_slow_start() {
        for member in AnyDetector::MEMBERS {
            let phases = verdicts(member.name, &[2, 4, 8], Span::ms(100), Span::us(100));
            assert_eq!(phases, [Phase::SlowStart; 3], "{}", member.name);
        }
    }

    #[test]
    fn every_member_takes_an_even_stream_to_be_in_avoidance() {
        for member in AnyDetector::MEMBERS {
            let phases = verdicts(member.name, &[2000], Span::ms(100), Span::ms(1));
            assert_eq!(phases, [Phase::Avoidance], "{}", member.name);
        }
    }
}
