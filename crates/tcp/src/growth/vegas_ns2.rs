//! Vegas' growth as ns-2 has it, in whole segments.
//!
//! A round ends with the first ACK of something sent after it began; RTT is the mean of its samples, those of segments that
//! waited for a repair included. δ = (in transit + 1) − sent·base/RTT, rounded to a whole number, where `in transit` is what
//! the ACK has left in flight, and `sent` what went out in the round; base is the smallest RTT, or the RTT of a round in which
//! at most one segment went out. In slow start every other round decides: δ > γ → cwnd falls by an eighth and slow start is over,
//! else each ACK of this round opens by a segment. Then δ > β → cwnd − 1; δ < α → cwnd + 1/cwnd for each ACK of the next
//! round. No ACK opens a window that what is in transit leaves three segments of. A loss changes none of this. Not for: a
//! sender of one's own; it is what the papers' Vegas ran. Source: ns-2, `VegasTcpAgent::recv`; after Brakmo and Peterson 1995.

use super::Growth;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Departure, Seq, Span, Time, Window};

/// The window may be larger than what is in transit by so many segments and still open.
const SLACK: f64 = 2.0;

/// Growth by the backlog in whole segments.
#[derive(Debug, Clone)]
pub struct VegasNs2 {
    alpha: i64,
    beta: i64,
    gamma: i64,
    /// Where and when the round began; none before anything was sent.
    begun: Option<(Seq, Time)>,
    /// RTT samples of the round: their sum, and number.
    sum: Span,
    samples: u32,
    base: Span,
    /// Segments by which an ACK opens the window in this round.
    step: f64,
    /// Whether this round of slow start has decided.
    deciding: bool,
}

impl Member for VegasNs2 {
    const INFO: Info = Info {
        name: "vegas-ns2",
        summary: "Vegas' growth as in ns-2: backlog in whole segments, whatever is being repaired",
        formula: "once a round: δ = ⌊in transit + 1 − sent·base/RTT + ½⌋; δ < α: +1 MSS over the next; δ > β: −1 MSS; slow start every other round until δ > γ",
        source: "ns-2, VegasTcpAgent; Brakmo and Peterson 1995, section 3",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let alpha = args.count("alpha", 1, 0..=1_000_000)? as i64;
        let beta = args.count("beta", 3, 0..=1_000_000)? as i64;
        if alpha > beta {
            return Err(args.bad("alpha", &alpha, &format!("at most beta, which is {beta}")));
        }
        let gamma = args.count("gamma", 1, 0..=1_000_000)? as i64;
        let (sum, samples, base) = (Span::ZERO, 0, Span::MAX);
        Ok(Self { alpha, beta, gamma, begun: None, sum, samples, base, step: 0.0, deciding: false })
    }
}

impl VegasNs2 {
    /// A round is over: `sent` segments went out in it, and so many are `in_transit` now.
    fn decide(&mut self, rtt: f64, sent: f64, in_transit: f64, w: &mut Window) {
        if rtt < self.base.as_f64() || sent <= 1.0 {
            self.base = Span::truncated(rtt);
        }
        let delta = libm::trunc(in_transit - sent * self.base.as_f64() / rtt + 0.5) as i64;
        let least = 2.0 * w.mss;
        if w.in_slow_start() {
            self.deciding = !self.deciding;
            self.step = if self.deciding { 1.0 } else { 0.0 };
            if self.deciding && delta > self.gamma {
                w.ssthresh = least;
                w.cwnd = (w.cwnd * 0.875).max(least);
                self.step = 0.0;
            }
        } else if delta > self.beta {
            w.cwnd = (w.cwnd - w.mss).max(least);
            self.step = 0.0;
        } else {
            self.step = if delta < self.alpha { w.mss / w.cwnd } else { 0.0 };
        }
    }
}

impl Growth for VegasNs2 {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {} // all is done after the ACK, for those of a repair, too

    fn on_sent(&mut self, sent: &Departure, _: &Window) {
        self.begun.get_or_insert((sent.seq, sent.now));
    }

    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        if ack.newly_acked == 0 {
            return;
        }
        let end = ack.ack + air.in_flight;
        let in_transit = air.in_flight as f64 / w.mss + 1.0;
        if let Some((from, at)) = self.begun.filter(|(from, _)| ack.ack > *from) {
            let rtt = match self.samples {
                0 => (ack.now - at).as_f64(),
                n => self.sum.as_f64() / f64::from(n),
            };
            (self.sum, self.samples) = (Span::ZERO, 0);
            if rtt > 0.0 {
                let sent = end.offset_from(from) as f64 / w.mss; // after a go-back less than nothing
                self.decide(rtt, sent, in_transit, w);
            }
            self.begun = Some((end, ack.now));
        }
        if self.step == 1.0 && !w.in_slow_start() {
            self.step = 0.0;
        }
        if w.cwnd / w.mss - in_transit <= SLACK {
            // In segments, so that n steps of 1/n come to what they come to in ns-2: often to a little less than one, and then
            // the window lets its next segment out a round later.
            w.cwnd = (w.cwnd / w.mss + self.step) * w.mss;
        }
        if let Some(rtt) = air.last_rtt {
            self.sum = self.sum.saturating_add(rtt);
            self.samples += 1;
            self.base = self.base.min(rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::Spec;

    /// Each round acknowledges what is in the window, one segment an ACK, after `rtt` ms; an ACK lets out what the window allows.
    fn rounds(rtts: &[u64], cwnd: f64, ssthresh: f64) -> Vec<f64> {
        let mut growth = VegasNs2::build(&mut Args::new(&Spec::named("vegas-ns2"))).unwrap();
        let mut w = window(cwnd, ssthresh);
        let (mut now, mut una, mut nxt) = (Time::ZERO, Seq::FIRST, Seq::FIRST);
        let mut send = |growth: &mut VegasNs2, now, una: Seq, w: &Window| {
            while nxt + 1000 <= una + w.cwnd as u64 {
                growth.on_sent(&Departure { seq: nxt, ..Departure::of_bytes(now, 1000) }, w);
                nxt += 1000;
            }
            nxt
        };
        let mut out = send(&mut growth, now, una, &w);
        let mut seen = Vec::new();
        for rtt in rtts.iter().copied().map(Span::ms) {
            now += rtt;
            for _ in 0..(out - una) / 1000 {
                una += 1000;
                let ack = Ack { ack: una, ..Ack::of_bytes(now, 1000) };
                let air = Air { in_flight: out - una, last_rtt: Some(rtt), ..Air::default() };
                growth.after_ack(&ack, &air, &mut w);
                out = send(&mut growth, now, una, &w);
            }
            seen.push(w.cwnd / w.mss);
        }
        seen
    }

    #[test]
    fn slow_start_doubles_every_other_round() {
        assert_eq!(rounds(&[100; 5], 2.0, 1000.0), [4.0, 4.0, 8.0, 8.0, 16.0]);
    }

    #[test]
    fn it_ends_by_an_eighth_when_two_segments_and_a_half_wait() {
        // 16 segments of which 16·(1 − 100/118) = 2.44 wait: δ is 2 or more where a half is rounded up.
        let seen = rounds(&[100, 100, 100, 100, 100, 118, 118], 2.0, 1000.0);
        assert_eq!(seen[4], 16.0);
        assert_eq!(seen[6], 14.0);
    }

    #[test]
    fn later_it_takes_a_segment_a_round_up_and_down() {
        let up = rounds(&[100; 4], 10.0, 2.0);
        assert!(up.windows(2).all(|w| w[1] > w[0] + 0.9), "{up:?}");
        let down = rounds(&[100, 100, 180, 180, 180], 10.0, 2.0);
        assert!(down[4] < down[2], "{down:?}");
    }
}
