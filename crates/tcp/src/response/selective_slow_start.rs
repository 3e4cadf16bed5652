//! Selective slow start: a timeout is congestion only where many segments have been lost of late.
//!
//! A handoff kills at most LIMIT = K·C·T_h/Seg segments: C bit/s sent on average, T_h seconds of the mean handoff, Seg
//! bits of a segment, K for peaks. At a timeout, if of the last S attempts to send a segment more were repetitions (each
//! of a segment taken to be lost, the one that has timed out now included) than LIMIT, ssthresh = max(flight/2, 2 MSS)
//! and slow start, as standard TCP. Otherwise the sender goes on: ssthresh = cwnd = max(flight, 2 MSS), or the window
//! if that is smaller; the segments in flight go out again, as one burst of at most that window unless the sender is
//! paced. A segment that times out a second time always brings slow start: that is the sender's rule, whatever the
//! response. Duplicate ACKs and ECN echoes halve. The publication leaves S, K, C and T_h open; here S = 100, K = 2, C =
//! 1 Mb/s, T_h = 100 ms. Source: Varshney, "Selective Slow Start", 1997, by wstudy, chapter 2.

use super::{Halve, LossResponse};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Departure, Loss, LossKind, Span, Window};
use std::collections::VecDeque;

/// Slow start only where congestion is likely.
#[derive(Debug, Clone)]
pub struct SelectiveSlowStart {
    /// S.
    attempts: u64,
    /// K·C·T_h, bits.
    handoff: f64,
    /// Segments sent so far.
    sent: u64,
    /// Ordinals of the repetitions among the last S.
    repeated: VecDeque<u64>,
}

impl Member for SelectiveSlowStart {
    const INFO: Info = Info {
        name: "selective-slow-start",
        summary: "goes on after a timeout at the present window unless more was lost than a handoff can account for",
        formula: "timeout: losses in the last S attempts > K·C·T_h/Seg: as halve; else ssthresh = cwnd = max(flight, 2·MSS); dup ACKs: as halve",
        source: "Varshney 1997",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let attempts = args.count("attempts", 100, 1..=1_000_000)?;
        let safety = args.number("safety", 2.0, 0.0..=1e6)?;
        let rate = args.rate("rate", 1e6, 1.0..=1e15)?;
        let handoff = args.time("handoff", Span::ms(100), Span::ZERO..=Span::s(3600))?.seconds();
        Ok(Self { attempts, handoff: safety * rate * handoff, sent: 0, repeated: VecDeque::new() })
    }
}

impl SelectiveSlowStart {
    /// Drops what lies before the last S attempts.
    fn forget(&mut self) {
        while self.repeated.front().is_some_and(|&first| first + self.attempts < self.sent) {
            self.repeated.pop_front();
        }
    }
}

impl LossResponse for SelectiveSlowStart {
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        let lost = self.repeated.len() as f64 + 1.0;
        if loss.kind != LossKind::Timeout || lost > self.handoff / (8.0 * w.mss) {
            return Halve.on_loss(loss, w);
        }
        w.ssthresh = w.cwnd.min(w.flight as f64).max(2.0 * w.mss);
        w.cwnd = w.ssthresh;
        Cause::Wireless
    }

    fn on_sent(&mut self, sent: &Departure) {
        self.sent += 1;
        if sent.retransmission {
            self.repeated.push_back(self.sent - 1);
        }
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{loss, window};
    use super::*;
    use crate::{Arg, Spec, Time};

    /// LIMIT = 1·800 kb/s·50 ms/8000 bit = 5 segments, over the last 10 attempts.
    fn rule() -> SelectiveSlowStart {
        let spec = Spec::named("selective-slow-start")
            .with("attempts", Arg::Number(10.0))
            .with("safety", Arg::Number(1.0))
            .with("rate", Arg::Rate(800e3))
            .with("handoff", Arg::Time(Span::ms(50)));
        SelectiveSlowStart::build(&mut Args::new(&spec)).unwrap()
    }

    fn send(rule: &mut SelectiveSlowStart, segments: u64, retransmission: bool) {
        (0..segments).for_each(|_| {
            rule.on_sent(&Departure { retransmission, ..Departure::of_bytes(Time::ZERO, 1000) })
        });
    }

    /// Whether a timeout now starts slow start.
    fn starts(rule: &mut SelectiveSlowStart) -> bool {
        let mut w = window(8000);
        rule.on_loss(&loss(LossKind::Timeout), &mut w);
        assert!(
            (w.cwnd, w.ssthresh) == (1000.0, 4000.0) || (w.cwnd, w.ssthresh) == (8000.0, 8000.0),
            "{w:?}"
        );
        w.cwnd == 1000.0
    }

    #[test]
    fn a_timeout_starts_slow_start_only_beyond_the_limit() {
        let mut rule = rule();
        send(&mut rule, 20, false);
        send(&mut rule, 4, true);
        assert!(!starts(&mut rule), "four repeated and the one that timed out: five");
        send(&mut rule, 1, true);
        assert!(starts(&mut rule));
    }

    #[test]
    fn losses_before_the_last_attempts_are_forgotten() {
        let mut rule = rule();
        send(&mut rule, 5, true);
        send(&mut rule, 5, false);
        assert!(starts(&mut rule));
        send(&mut rule, 1, false);
        assert!(!starts(&mut rule));
    }

    #[test]
    fn duplicate_acks_halve() {
        let mut w = window(8000);
        assert_eq!(rule().on_loss(&loss(LossKind::DupAcks), &mut w), Cause::Congestion);
        assert_eq!((w.cwnd, w.ssthresh), (4000.0, 4000.0));
    }

    #[test]
    fn the_window_it_goes_on_with_is_no_larger_than_what_was_in_flight() {
        let mut w = window(3000);
        assert_eq!(rule().on_loss(&loss(LossKind::Timeout), &mut w), Cause::Wireless);
        assert_eq!((w.cwnd, w.ssthresh), (3000.0, 3000.0));
    }
}
