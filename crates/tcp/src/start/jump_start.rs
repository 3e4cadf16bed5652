//! Jump start: all that is there to send goes out evenly over the first round trip.
//!
//! cwnd = min(receiver's window, data waiting), at least the initial window; it is paced over the round-trip time that
//! the handshake has shown; then congestion avoidance goes on from there (ssthresh = cwnd). Without that time, because
//! there is no handshake or its SYN was sent twice, the start is the ordinary one. Source: Liu, Allman, Jin and Wang,
//! "Congestion control without a startup phase", PFLDnet 2007. Their halving of what was carried after losses is left
//! to the sender's response.

use super::{Burst, Opening, Start};
use crate::segment::HEADER_BYTES;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Span, Window};

/// No startup phase.
#[derive(Debug, Clone, Default)]
pub struct JumpStart;

impl Member for JumpStart {
    const INFO: Info = Info {
        name: "jump-start",
        summary: "sends all that is waiting evenly over the first round trip, then avoids congestion",
        formula: "cwnd = ssthresh = min(rwnd, data waiting), paced at cwnd/RTT of the handshake",
        source: "Liu, Allman, Jin and Wang 2007",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl Start for JumpStart {
    fn on_established(&mut self, opening: &Opening, w: &mut Window) -> Option<Burst> {
        let rtt = opening.rtt?;
        let data = opening.rwnd.min(opening.queued) as f64;
        if data <= w.cwnd {
            return None;
        }
        (w.cwnd, w.ssthresh) = (data, data);
        let wire = data * (w.mss + f64::from(HEADER_BYTES)) / w.mss;
        Some(Burst { rate: wire * 1e9 / rtt.max(Span::ns(1)).as_f64(), until: opening.now + rtt })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;
    use crate::growth::tests::window;

    const RTT: u64 = 100_000_000;

    fn open(opening: Opening) -> (Option<Burst>, f64) {
        let mut w = window(2.0, 1e6);
        (JumpStart.on_established(&opening, &mut w), w.cwnd)
    }

    #[test]
    fn what_waits_goes_out_over_a_round_trip_within_the_peers_window() {
        let opening = Opening {
            now: Time::ns(5),
            rtt: Some(Span::ns(RTT)),
            queued: 50_000,
            rwnd: 1 << 20,
            granted: None,
        };
        assert_eq!(open(opening), (Some(Burst { rate: 520_000.0, until: Time::ns(5 + RTT) }), 50_000.0));
        assert_eq!(open(Opening { rwnd: 20_000, ..opening }).1, 20_000.0);
    }

    #[test]
    fn without_a_round_trip_time_or_with_little_to_send_it_starts_as_usual() {
        let opening = Opening { now: Time::ns(5), rtt: None, queued: 50_000, rwnd: 1 << 20, granted: None };
        assert_eq!(open(opening), (None, 2000.0));
        assert_eq!(open(Opening { rtt: Some(Span::ns(RTT)), queued: 1500, ..opening }), (None, 2000.0));
    }
}
