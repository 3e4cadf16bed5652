//! Linux's pacing: a share above one of cwnd/SRTT, worked out anew at each ACK.
//!
//! rate = gain·max(cwnd, outstanding)/SRTT in bytes of payload a second; the gain is `slow_start` 2 while cwnd < ssthresh/2 and
//! `avoidance` 1.2 from there on, so that a slow start about to end slows down; outstanding is all that is not acknowledged,
//! reported or not, so that a window that a timeout has closed does not stop what it finds in the air. Before the first ACK the
//! rate follows the window as it is, and without a round-trip time there is none. Each segment is followed by its payload's time
//! at that rate, from the tenth on, half made good where it was late ([`Spacing::Linux`]).
//!
//! Linux goes by this rate where the queue discipline `fq` or the algorithm asks for pacing; without either the rate still says
//! how many segments leave as one burst ([`crate::Stack::tso`]). `most` is an application's bound (SO_MAX_PACING_RATE), none by default. Source: Linux 6.18, `tcp_update_pacing_rate`,
//! `tcp_update_skb_after_send`; net.ipv4.tcp_pacing_ss_ratio (200), net.ipv4.tcp_pacing_ca_ratio (120).

use super::{Pacing, Spacing};
use crate::arithmetic::real;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Span, Window};

/// The gains of `net.ipv4.tcp_pacing_ss_ratio` and `net.ipv4.tcp_pacing_ca_ratio`.
const SLOW_START: f64 = 2.0;
const AVOIDANCE: f64 = 1.2;
/// As good as no bound, bytes per second: 1 Tbit/s.
const UNBOUND: f64 = 125e9;

/// The most that one burst holds: 64 KiB less room for the largest headers (`sk_gso_max_size`: 65,536 − 1 − MAX_TCP_HEADER, 320).
pub const GSO_BYTES: f64 = 65_215.0;

/// The least that one burst holds where an algorithm does not say otherwise, segments (tcp_min_tso_segs).
pub const LEAST_BURST: u64 = 2;

/// `sk_pacing_rate` as it follows from the window.
#[derive(Debug, Clone)]
pub struct Linux {
    slow_start: f64,
    avoidance: f64,
    /// What the application allows at the most.
    most: f64,
    /// As of the last ACK.
    told: Option<Told>,
}

/// What a rate follows from; nearly no ACK's is asked for.
#[derive(Debug, Clone, Copy)]
struct Told {
    gain: f64,
    bytes: f64,
    srtt: Span,
}

impl Default for Linux {
    fn default() -> Self {
        Self { slow_start: SLOW_START, avoidance: AVOIDANCE, most: UNBOUND, told: None }
    }
}

impl Member for Linux {
    const INFO: Info = Info {
        name: "linux",
        summary: "spreads a window over a round as Linux does",
        formula: "rate = gain·max(cwnd, outstanding)/SRTT at each ACK; gain 2 while cwnd < ssthresh/2, then 1.2",
        source: "Linux 6.18, tcp_update_pacing_rate, tcp_update_skb_after_send",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self {
            slow_start: args.number("slow_start", SLOW_START, 0.1..=100.0)?,
            avoidance: args.number("avoidance", AVOIDANCE, 0.1..=100.0)?,
            most: args.rate("most", 8.0 * UNBOUND, 8.0..=8.0 * UNBOUND)? / 8.0,
            told: None,
        })
    }
}

impl Linux {
    /// An ACK has come that has so many bytes outstanding behind it.
    #[inline]
    pub(crate) fn note(&mut self, outstanding: u64, w: &Window) {
        self.told = self.over_a_round(real(outstanding), w);
    }

    #[inline]
    fn over_a_round(&self, outstanding: f64, w: &Window) -> Option<Told> {
        let srtt = w.srtt.filter(|&t| t > Span::ZERO)?;
        let gain = if w.cwnd < w.ssthresh / 2.0 { self.slow_start } else { self.avoidance };
        Some(Told { gain, bytes: w.cwnd.max(outstanding), srtt })
    }
}

impl Pacing for Linux {
    fn rate(&self, w: &Window) -> Option<f64> {
        let Told { gain, bytes, srtt } = self.told.or_else(|| self.over_a_round(0.0, w))?;
        Some((gain * bytes * 1e9 / srtt.as_f64()).min(self.most))
    }

    fn after_ack(&mut self, ack: &Ack, w: &Window) {
        self.note(ack.highest - ack.ack, w);
    }

    fn listens(&self) -> bool {
        true
    }

    fn spacing(&self) -> Spacing {
        Spacing::Linux
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seq, Time};

    /// So many segments of 1000 bytes over 100 ms.
    fn window(cwnd: f64, ssthresh: f64) -> Window {
        let srtt = Some(Span::ms(100));
        Window { srtt, ssthresh: 1000.0 * ssthresh, ..Window::new(1000.0, 1000.0 * cwnd) }
    }

    /// The rate after an ACK with so many segments outstanding behind it.
    fn rate(cwnd: f64, ssthresh: f64, outstanding: u64) -> f64 {
        let (mut pacing, w) = (Linux::default(), window(cwnd, ssthresh));
        let highest = Seq::at(1001 + 1000 * outstanding);
        pacing.after_ack(&Ack { ack: Seq::at(1001), highest, ..Ack::of_bytes(Time::s(1), 1000) }, &w);
        pacing.rate(&w).unwrap()
    }

    #[test]
    fn a_window_goes_at_twice_its_pace_until_half_of_ssthresh_and_then_a_fifth_faster_than_it_has_to() {
        // 10 segments of 1000 bytes over 100 ms are 100,000 bytes a second.
        assert_eq!(rate(10.0, 21.0, 10), 200_000.0);
        assert_eq!(rate(10.0, 20.0, 10), 120_000.0);
        assert_eq!(rate(10.0, 5.0, 10), 120_000.0);
    }

    #[test]
    fn an_applications_bound_holds_where_it_is_less() {
        let pacing = Linux { most: 150_000.0, ..Linux::default() };
        assert_eq!(pacing.rate(&window(10.0, 1000.0)), Some(150_000.0));
        assert_eq!(pacing.rate(&window(5.0, 1000.0)), Some(100_000.0));
    }

    #[test]
    fn what_is_outstanding_counts_where_the_window_is_smaller() {
        assert_eq!(rate(1.0, 50.0, 40), 800_000.0);
    }

    #[test]
    fn the_rate_is_that_of_the_last_ack_and_before_it_that_of_the_window() {
        let mut pacing = Linux::default();
        assert_eq!(pacing.rate(&window(10.0, 1000.0)), Some(200_000.0));
        assert_eq!(pacing.rate(&Window { srtt: None, ..window(10.0, 1000.0) }), None);
        let ack = Ack::of_bytes(Time::s(1), 1000);
        pacing.after_ack(&ack, &window(20.0, 1000.0));
        assert_eq!(pacing.rate(&window(1.0, 1000.0)), Some(400_000.0));
    }
}
