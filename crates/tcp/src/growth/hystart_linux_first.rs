//! Linux's Reno with HyStart before it, which Linux has in CUBIC only.
//!
//! Slow start opens by what is acknowledged and ends where a train of ACKs or a delay says so ([`HyStartLinux`]), with ssthresh =
//! cwnd; from then on as [`Linux`]. A timeout begins anew, with trains, delays and the least round-trip time. Source: Linux 6.18,
//! `hystart_update`, `tcp_reno_cong_avoid`.

use super::hystart_linux::HyStartLinux;
use super::{Growth, Linux};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Loss, LossKind, Span, Window};

/// HyStart, then congestion avoidance.
#[derive(Debug, Clone)]
pub struct HyStartLinuxFirst {
    start: HyStartLinux,
    delay_min: Option<Span>,
    /// Whether the ACK at hand has been heard.
    heard: bool,
    then: Linux,
}

impl Member for HyStartLinuxFirst {
    const INFO: Info = Info {
        name: "hystart-linux",
        summary: "opens by the bytes acknowledged, and leaves slow start at a long train of ACKs or a risen delay, as Linux's CUBIC",
        formula: "ssthresh = cwnd where ACKs ≤ 2 ms apart last > (RTTmin + ≤ 1 ms)/2, or RTT > RTTmin + RTTmin/8 (4…16 ms); cwnd ≥ 16",
        source: "Linux 6.18, hystart_update; Ha and Rhee 2011",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self {
            start: HyStartLinux::new(args.flag("paced", false)?),
            delay_min: None,
            heard: false,
            then: Linux::build(args)?,
        })
    }
}

impl HyStartLinuxFirst {
    fn hear(&mut self, ack: &Ack, w: &mut Window) {
        let Some(rtt) = ack.rtt else { return };
        let delay_min = *self.delay_min.insert(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        if w.in_slow_start() && self.start.ends(ack, rtt, delay_min, w) {
            w.ssthresh = w.cwnd;
        }
    }
}

impl Growth for HyStartLinuxFirst {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.hear(ack, w);
        self.heard = true;
        self.then.on_ack(ack, w);
    }

    fn after_ack(&mut self, ack: &Ack, _: &Air, w: &mut Window) {
        if !std::mem::take(&mut self.heard) {
            self.hear(ack, w);
        }
    }

    fn on_loss(&mut self, loss: &Loss, before: f64, w: &mut Window) {
        if loss.kind == LossKind::Timeout {
            self.start.reset();
            self.delay_min = None;
        }
        self.then.on_loss(loss, before, w);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::spec::Spec;
    use crate::{Seq, Time};

    fn rule() -> HyStartLinuxFirst {
        HyStartLinuxFirst::build(&mut Args::new(&Spec::named("hystart-linux"))).unwrap()
    }

    /// A round of ACKs of a segment each, 3 ms apart, with this round-trip time in ms.
    fn round(growth: &mut HyStartLinuxFirst, w: &mut Window, una: &mut Seq, now: &mut Time, rtt: u64) {
        let end = *una + w.cwnd as u64;
        while *una < end {
            *una += 1000;
            *now += Span::ms(3);
            let ack = Ack { ack: *una, highest: end, rtt: Some(Span::ms(rtt)), ..Ack::of_bytes(*now, 1000) };
            growth.on_ack(&ack, w);
            growth.after_ack(&ack, &Air::default(), w);
        }
    }

    #[test]
    fn it_doubles_until_the_delay_rises_and_adds_a_segment_a_round_from_then_on() {
        let (mut growth, mut w) = (rule(), window(20.0, 1e6));
        let (mut una, mut now) = (Seq::FIRST, Time::s(1));
        round(&mut growth, &mut w, &mut una, &mut now, 100);
        assert_eq!(w.cwnd, 40_000.0);
        // Eight are counted, and with the ninth slow start ends.
        round(&mut growth, &mut w, &mut una, &mut now, 120);
        assert_eq!(w.ssthresh, 48_000.0);
        assert!(w.cwnd <= 49_000.0, "{}", w.cwnd);
        let before = w.cwnd;
        round(&mut growth, &mut w, &mut una, &mut now, 120);
        assert!(w.cwnd - before <= 1000.0 && !w.in_slow_start());
    }

    #[test]
    fn a_timeout_begins_anew_with_another_least_delay() {
        let (mut growth, mut w) = (rule(), window(20.0, 1e6));
        let (mut una, mut now) = (Seq::FIRST, Time::s(1));
        round(&mut growth, &mut w, &mut una, &mut now, 100);
        growth.on_loss(&Loss { now, kind: LossKind::Timeout, seq: una }, w.cwnd, &mut w);
        (w.cwnd, w.ssthresh) = (20_000.0, 1e9);
        round(&mut growth, &mut w, &mut una, &mut now, 150);
        round(&mut growth, &mut w, &mut una, &mut now, 150);
        assert_eq!(w.cwnd, 80_000.0);
    }
}
