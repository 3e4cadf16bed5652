//! Quick-Start: the SYN asks the routers on the path for a rate, and what all of them grant is used at once.
//!
//! The request is 40 kbit/s · 2^k for k from 1 to 15, at most `rate`; each router may lower or refuse it, and one that
//! does not know the option refuses by that (the RFC tells by the TTL). Granted R, the window becomes R·RTT / (MSS + H)
//! segments, H the headers, if that is more than the initial window, and is paced at R for one round trip. The first
//! ACK after that takes back what was not used: cwnd = flight. A loss among the segments of that round trip has the
//! sender go on as if nothing had been granted: from the initial window, by slow start up to what its response made
//! ssthresh (once the repair is over, as recoveries end at ssthresh). Refused, or without the handshake's round-trip
//! time, the start is the ordinary one. Source: RFC 4782, sections 3.1 (rates), 4.4 and 4.6.

use super::{Burst, Opening, Start};
use crate::segment::HEADER_BYTES;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Seq, Time, Window};

const UNIT: f64 = 40e3;

/// The option for a wanted rate in bit/s: the largest that does not exceed it; 0 if that is below the least.
pub fn request(bits_per_second: f64) -> u8 {
    (1..=15).rev().find(|&k| rate(k) <= bits_per_second).unwrap_or(0)
}

/// The rate of an option that came back, bit/s; none where nothing was granted.
pub fn granted(option: u8) -> Option<f64> {
    (1..=15).contains(&option).then(|| rate(option))
}

fn rate(k: u8) -> f64 {
    UNIT * f64::from(1u32 << k)
}

/// What has come of the request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Progress {
    /// Nothing, or it is over.
    Ordinary,
    /// The granted window is paced out.
    Paced { until: Time, initial: f64 },
    /// It is out; its last byte is before `end`.
    Sent { end: Seq, initial: f64 },
    /// Some of it was lost, when `end` was the next to send; then slow start goes up to `ssthresh`.
    Repaired { end: Seq, ssthresh: f64 },
}

/// Asks the path.
#[derive(Debug, Clone)]
pub struct QuickStart {
    rate: f64,
    progress: Progress,
    highest: Seq,
}

impl Member for QuickStart {
    const INFO: Info = Info {
        name: "quick-start",
        summary: "asks the routers on the path for a rate and starts with what they grant",
        formula: "cwnd = R·RTT·MSS/(MSS + 40 B), paced at R for one RTT; R: the least that any router grants of rate",
        source: "RFC 4782",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let rate = args.rate("rate", 10e6, 80e3..=1.310_72e9)?;
        Ok(Self { rate, progress: Progress::Ordinary, highest: Seq::ZERO })
    }
}

impl Start for QuickStart {
    fn request(&self) -> Option<f64> {
        Some(self.rate)
    }

    fn on_established(&mut self, opening: &Opening, w: &mut Window) -> Option<Burst> {
        let (rtt, rate) = (opening.rtt?, opening.granted? / 8.0);
        let window = rate * rtt.as_f64() / 1e9 * w.mss / (w.mss + f64::from(HEADER_BYTES));
        if window <= w.cwnd {
            return None;
        }
        self.progress = Progress::Paced { until: opening.now + rtt, initial: w.cwnd };
        w.cwnd = window;
        Some(Burst { rate, until: opening.now + rtt })
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) -> bool {
        self.highest = ack.highest;
        match self.progress {
            Progress::Paced { until, initial } if ack.now >= until => {
                w.cwnd = w.cwnd.min((w.flight as f64).max(initial));
                self.progress = Progress::Sent { end: ack.highest, initial };
            }
            Progress::Sent { end, .. } if ack.ack >= end => self.progress = Progress::Ordinary,
            // An ACK beyond the repair: the one that ends it is still the recovery's.
            Progress::Repaired { end, ssthresh } if ack.ack > end => {
                w.ssthresh = w.ssthresh.max(ssthresh);
                self.progress = Progress::Ordinary;
            }
            _ => {}
        }
        self.progress != Progress::Ordinary
    }

    fn on_loss(&mut self, w: &mut Window) -> bool {
        match self.progress {
            Progress::Paced { initial, .. } | Progress::Sent { initial, .. } => {
                self.progress = Progress::Repaired { end: self.highest, ssthresh: w.ssthresh };
                w.cwnd = w.cwnd.min(initial);
                w.ssthresh = w.ssthresh.min(initial.max(2.0 * w.mss));
                true
            }
            // A second loss, of the repair itself: its response holds.
            Progress::Repaired { .. } | Progress::Ordinary => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::tests::window;
    use crate::{Arg, Span, Spec};

    const RTT: u64 = 100_000_000;

    fn start() -> QuickStart {
        QuickStart::build(&mut Args::new(&Spec::named("quick-start"))).unwrap()
    }

    fn opening(granted: Option<f64>) -> Opening {
        Opening { now: Time::ZERO, rtt: Some(Span::ns(RTT)), queued: 1 << 30, rwnd: 1 << 30, granted }
    }

    #[test]
    fn rates_are_powers_of_two_of_40_kbit_s() {
        assert_eq!([80e3, 10e6, 79e3, 1e12].map(request), [1, 7, 0, 15]);
        assert_eq!((granted(7), granted(0), granted(16)), (Some(5.12e6), None, None));
    }

    #[test]
    fn what_was_granted_is_the_first_window_paced_over_a_round_trip() {
        let mut w = window(2.0, 1e6);
        let burst = start().on_established(&opening(Some(5.12e6)), &mut w);
        assert_eq!(burst, Some(Burst { rate: 640_000.0, until: Time::ns(RTT) }));
        assert!((w.cwnd - 64_000.0 / 1.04).abs() < 1e-6, "{}", w.cwnd);
    }

    #[test]
    fn a_refusal_or_a_grant_below_the_initial_window_changes_nothing() {
        for granted in [None, Some(80e3)] {
            let (mut w, mut start) = (window(2.0, 1e6), start());
            assert_eq!((start.on_established(&opening(granted), &mut w), w.cwnd), (None, 2000.0));
            assert!(!start.on_ack(&Ack::of_bytes(Time::ns(RTT), 1000), &mut w));
        }
    }

    #[test]
    fn what_was_granted_and_not_used_is_taken_back() {
        let (mut w, mut start) = (window(2.0, 1e6), start());
        start.on_established(&opening(Some(5.12e6)), &mut w);
        w.flight = 20_000;
        assert!(
            start.on_ack(&Ack { highest: Seq::at(20_001), ..Ack::of_bytes(Time::ns(RTT), 1000) }, &mut w)
        );
        assert_eq!(w.cwnd, 20_000.0);
        assert!(
            !start.on_ack(&Ack { ack: Seq::at(20_001), ..Ack::of_bytes(Time::ns(RTT), 1000) }, &mut w),
            "all of it has come"
        );
    }

    #[test]
    fn a_loss_of_it_goes_back_to_the_initial_window_and_to_slow_start() {
        let (mut w, mut start) = (window(2.0, 1e6), start());
        start.on_established(&opening(Some(5.12e6)), &mut w);
        w.flight = 60_000;
        start.on_ack(&Ack { highest: Seq::at(60_001), ..Ack::of_bytes(Time::ns(RTT), 1000) }, &mut w);
        (w.cwnd, w.ssthresh) = (30_000.0, 30_000.0); // the response
        assert!(start.on_loss(&mut w));
        assert_eq!((w.cwnd, w.ssthresh), (2000.0, 2000.0));
        assert!(
            start.on_ack(&Ack { ack: Seq::at(60_001), ..Ack::of_bytes(Time::ns(2 * RTT), 1000) }, &mut w)
        );
        assert!(
            !start.on_ack(&Ack { ack: Seq::at(61_001), ..Ack::of_bytes(Time::ns(2 * RTT), 1000) }, &mut w)
        );
        assert_eq!((w.cwnd, w.ssthresh), (2000.0, 30_000.0));
    }

    #[test]
    fn the_wanted_rate_is_a_rate() {
        let spec = Spec::named("quick-start").with("rate", Arg::Rate(1e6));
        let start = QuickStart::build(&mut Args::new(&spec)).unwrap();
        assert_eq!(start.request(), Some(1e6));
    }
}
