//! The third filter of TCP Westwood, ABSE: samples over an adaptive time, and an adaptive gain.
//!
//! At every ACK, Δ after the one before:
//! - recent throughput R ← 0.6·R + 0.4·(bits acked in the last RTT)/RTT;
//! - sample time T = RTT·(cwnd − R·RTTmin)/cwnd, and at least Δ: where R·RTTmin ≥ cwnd nothing waits in queues;
//! - sample s = (bits acked in the last T)/T;
//! - U ← 0.6·U + 0.4·|s − s'|; τ = RTT + N·RTT·U/Umax, Umax the largest U of the last ten, N = 10;
//! - B ← p·B + (1 − p)·s, p = (2τ − Δ)/(2τ + Δ).
//!
//! Source: Wang et al., "Adaptive Bandwidth Share Estimation in TCP Westwood", 2002; lp, algorithm 3.2.3.
//!
//! Choices: RTT is the smoothed one. A span is rounded up to whole intervals between ACKs, and the rate is over the span
//! so rounded, so that counting whole ACKs adds no error of its own. The pole is at least 0. The first sample starts R
//! and B. `rtt` and `cwnd` (in segments), where given, stand for the window's RTT, RTTmin and cwnd: a bare list of
//! arrivals has none.

use super::BandwidthEstimator;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Span, Time, Window};

/// Weight of the past in R and U.
const PAST: f64 = 0.6;

/// Smallest U that counts, bit/s.
const LEAST: f64 = 1e-6;

/// Adaptive time and gain.
#[derive(Debug, Clone)]
pub struct Westwood3 {
    /// In place of the window's; 0: the window's.
    rtt: Span,
    cwnd: f64,
    gain: f64,
    history: History,
    estimate: Option<Estimate>,
}

/// What is known after the first sample.
#[derive(Debug, Clone)]
struct Estimate {
    throughput: f64,
    sample: f64,
    unsteadiness: Recent,
    rate: f64,
}

/// U, and its last ten values.
#[derive(Debug, Clone, Default)]
struct Recent {
    now: f64,
    last: [f64; 10],
    at: usize,
    max: f64,
}

impl Recent {
    fn take(&mut self, change: f64) {
        let now = PAST * self.now + (1.0 - PAST) * change;
        // What is far below a bit/s is none: left to fade it would end in numbers that processors are slow with.
        self.now = if now < LEAST { 0.0 } else { now };
        let gone = std::mem::replace(&mut self.last[self.at], self.now);
        self.at = if self.at + 1 < self.last.len() { self.at + 1 } else { 0 };
        if self.now >= self.max {
            self.max = self.now;
        } else if gone >= self.max {
            self.max = self.last.iter().fold(0.0, |max: f64, &u| max.max(u));
        }
    }

    /// U/Umax, from 0 to 1.
    fn relative(&self) -> f64 {
        if self.max > 0.0 { self.now / self.max } else { 0.0 }
    }
}

/// A time or a number of bytes, 2⁶³ − 1 at most: processors convert signed integers in fewer steps, and this is done at
/// every ACK.
fn float(n: u64) -> f64 {
    n.min(i64::MAX as u64) as i64 as f64
}

/// ACKs of about the last RTT: when, and how many bytes were acked since the first of all (wrapping).
#[derive(Debug, Clone, Default)]
struct History {
    /// Those before `first` are forgotten; they go when room is needed. A deque would do the same, but wraps every index.
    acks: Vec<(Time, u64)>,
    first: usize,
    /// Where the last span began: the next one begins near it.
    cursor: usize,
}

impl History {
    /// Adds an ACK: the time since the one before, if there was one and time has passed.
    fn add(&mut self, now: Time, bytes: u64) -> Option<Span> {
        let Some(&mut (last, ref mut acked)) = self.acks.last_mut() else {
            self.acks.push((now, 0));
            return None;
        };
        let acked_now = acked.wrapping_add(bytes);
        if now <= last {
            *acked = acked_now;
            return None;
        }
        if self.acks.len() == self.acks.capacity() {
            self.make_room();
        }
        self.acks.push((now, acked_now));
        Some(now - last)
    }

    /// Removes what is forgotten where that is half of it all: no more ACKs are moved than removed.
    fn make_room(&mut self) {
        if self.first >= self.acks.len() / 2 {
            self.acks.drain(..self.first);
            self.cursor -= self.first;
            self.first = 0;
        }
    }

    /// Bit/s over the last `span`, rounded up to whole intervals, or over all there is.
    fn rate(&mut self, span: Span) -> f64 {
        let Some(&(now, _)) = self.acks.last() else { return 0.0 };
        let start = now.earlier(span.max(Span::ns(1)));
        let later = |k: usize| self.acks.get(k).is_some_and(|ack| ack.0 > start);
        let mut cursor = self.cursor;
        if later(cursor) {
            while cursor > self.first && later(cursor) {
                cursor -= 1;
            }
        } else {
            while cursor + 1 < self.acks.len() && !later(cursor + 1) {
                cursor += 1;
            }
        }
        self.cursor = cursor;
        self.rate_since(cursor)
    }

    /// Forgets what lies before the last `span`, rounded up to whole intervals, and says the rate over it, bit/s.
    fn keep(&mut self, span: Span) -> f64 {
        let Some(&(now, _)) = self.acks.last() else { return 0.0 };
        let start = now.earlier(span.max(Span::ns(1)));
        while self.acks.get(self.first + 1).is_some_and(|ack| ack.0 <= start) {
            self.first += 1;
        }
        self.cursor = self.cursor.max(self.first);
        self.rate_since(self.first)
    }

    fn rate_since(&self, from: usize) -> f64 {
        let (Some(&(now, acked)), Some(&(since, past))) = (self.acks.last(), self.acks.get(from)) else {
            return 0.0;
        };
        float(acked.wrapping_sub(past)) * 8e9 / float((now - since).max(Span::ns(1)).nanos())
    }
}

impl Member for Westwood3 {
    const INFO: Info = Info {
        name: "westwood-3",
        summary: "samples the rate of ACKs over an adaptive time and filters it with an adaptive gain (ABSE)",
        formula: "s = bits in T / T, T = RTT·(cwnd − R·RTTmin)/cwnd; B = p·B + (1−p)·s, p = (2τ−Δ)/(2τ+Δ), τ = RTT·(1 + N·U/Umax), N = 10",
        source: "Wang et al. 2002; Martignon, NewReno-LP, algorithm 3.2.3",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self {
            rtt: args.time("rtt", Span::ZERO, Span::ZERO..=*super::SPAN.end())?,
            cwnd: args.number("cwnd", 0.0, 0.0..=1e9)?,
            gain: args.number("n", 10.0, 0.0..=1e6)?,
            history: History::default(),
            estimate: None,
        })
    }
}

impl BandwidthEstimator for Westwood3 {
    fn on_ack(&mut self, ack: &Ack, w: &Window) {
        let given = (!self.rtt.is_zero()).then_some(self.rtt);
        let interval = self.history.add(ack.now, ack.delivered);
        let (Some(rtt), Some(rtt_min)) = (given.or(w.srtt), given.or(w.rtt_min)) else { return };
        let Some(interval) = interval else { return };
        let rtt = rtt.max(Span::ns(1));
        let cwnd = if self.cwnd > 0.0 { self.cwnd * w.mss } else { w.cwnd } * 8.0;

        let recent = self.history.keep(rtt);
        let throughput =
            self.estimate.as_ref().map_or(recent, |e| PAST * e.throughput + (1.0 - PAST) * recent);
        let rtt = float(rtt.nanos());
        let in_path = throughput * float(rtt_min.nanos()) / 1e9;
        let span = rtt * (1.0 - in_path / cwnd.max(1.0)).max(0.0);
        let sample = self.history.rate(Span::ns(span as i64 as u64).max(interval));

        let Some(e) = &mut self.estimate else {
            let unsteadiness = Recent::default();
            self.estimate = Some(Estimate { throughput, sample, unsteadiness, rate: sample });
            return;
        };
        e.throughput = throughput;
        e.unsteadiness.take((sample - e.sample).abs());
        e.sample = sample;
        let tau = rtt * (1.0 + self.gain * e.unsteadiness.relative());
        let interval = float(interval.nanos());
        let pole = ((2.0 * tau - interval) / (2.0 * tau + interval)).max(0.0);
        e.rate = pole * e.rate + (1.0 - pole) * sample;
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.estimate.as_ref().map(|e| e.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{feed, window};
    use super::*;
    use crate::estimate::AnyEstimator;
    use crate::{Arg, Spec};

    const MS: Span = Span::ms(1);

    #[test]
    fn a_span_is_rounded_up_to_whole_intervals() {
        let mut history = History::default();
        for k in 0..=10 {
            history.add(Time::ms(k * 10), 1000);
        }
        for span in [Span::ns(1), 10 * MS, 11 * MS, 95 * MS, 1000 * MS] {
            assert_eq!(history.rate(span), 800e3, "{span:?}");
        }
        history.add(Time::ms(130), 1000);
        assert_eq!(history.rate(30 * MS), 8000.0 / 0.03);
        assert_eq!(history.rate(31 * MS), 16_000.0 / 0.04);
        history.keep(31 * MS);
        let kept = history.acks.len() - history.first;
        assert_eq!((kept, history.rate(31 * MS)), (3, 16_000.0 / 0.04));
    }

    #[test]
    fn what_is_forgotten_goes_and_changes_no_rate() {
        let mut history = History::default();
        for k in 0..10_000 {
            history.add(Time::ms(k * 10), 1000);
            let rate = history.keep(400 * MS);
            assert_eq!(rate, if k > 0 { 800e3 } else { 0.0 }, "{k}");
            assert_eq!(history.rate((k % 37) * 10 * MS), rate, "{k}");
        }
        assert!(history.acks.capacity() <= 128, "{}", history.acks.capacity());
    }

    #[test]
    fn an_uncongested_flow_is_sampled_ack_by_ack() {
        // cwnd is one segment and R·RTTmin far more: T is the ACK's own interval. s = 800, then 400 kbit/s;
        // U = 0.4·400 = 160 kbit/s is the largest yet: τ = 11·RTT = 1.1 s, p = (2.2 − 0.02)/(2.2 + 0.02).
        let args = [("rtt", Arg::Time(100 * MS)), ("cwnd", Arg::Number(1.0))];
        let rates =
            feed("westwood-3", &args, &[(Time::ZERO, 1000), (Time::ms(10), 1000), (Time::ms(30), 1000)]);
        assert_eq!(rates[..2], [None, Some(800e3)]);
        let pole = 2.18 / 2.22;
        let expected = pole * 800e3 + (1.0 - pole) * 400e3;
        assert!((rates[2].unwrap() - expected).abs() < 1e-6, "{rates:?} {expected}");
    }

    #[test]
    fn a_congested_flow_is_sampled_over_most_of_its_rtt() {
        // A window of 1000 segments against R·RTTmin of ten: T is 99 % of the RTT, so that each sample spans all of the
        // two unequal intervals and equals R: nothing is unsteady, and B stays.
        let args = [("rtt", Arg::Time(100 * MS)), ("cwnd", Arg::Number(1000.0))];
        let mut arrivals = vec![(Time::ZERO, 1000)];
        for k in 0..100 {
            arrivals.push((Time::ms(k * 30 + 10), 1000));
            arrivals.push((Time::ms(k * 30 + 30), 1000));
        }
        let last = feed("westwood-3", &args, &arrivals).last().copied().flatten().unwrap();
        assert!((last / (16_000.0 / 0.03) - 1.0).abs() < 0.05, "{last}");
    }

    #[test]
    fn without_a_round_trip_time_there_is_no_estimate() {
        let (mut abse, _) = AnyEstimator::build(&Spec::named("westwood-3")).unwrap();
        let blind = Window { srtt: None, rtt_min: None, ..window() };
        for k in 0..10 {
            abse.on_ack(&Ack::of_bytes(Time::ms(k), 1000), &blind);
        }
        assert_eq!(abse.bits_per_second(), None);
    }
}
