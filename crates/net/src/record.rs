//! What a flow or a source counts while a run goes on, and how it becomes part of the outcome.

use crate::packet::DropCause;
use hdrhistogram::Histogram;
use truckee_scenario::outcome::{Delay, Drops, FlowSeries};
use truckee_tcp::sender::Counts;
use truckee_tcp::{Nanos, Time};

/// Delays: exact moments, percentiles within 1 %.
#[derive(Debug)]
pub struct Delays {
    /// `None` could only be if two digits were not allowed.
    histogram: Option<Histogram<u32>>,
    sum: u128,
    squares: f64,
    count: u64,
}

impl Default for Delays {
    fn default() -> Self {
        // Two significant digits, from 1 µs on, growing as needed.
        Self { histogram: Histogram::new(2).ok(), sum: 0, squares: 0.0, count: 0 }
    }
}

impl Delays {
    /// Takes in one delay.
    #[inline]
    pub fn add(&mut self, delay: Nanos) {
        self.count += 1;
        self.sum += u128::from(delay);
        self.squares += delay as f64 * delay as f64;
        if let Some(histogram) = &mut self.histogram {
            // Grows as needed, which its saturating form does not; a range that grows refuses nothing.
            let _ = histogram.record((delay / 1000).clamp(1, 10_000_000_000));
        }
    }

    /// The distribution in seconds.
    pub fn outcome(&self) -> Delay {
        if self.count == 0 {
            return Delay::default();
        }
        let n = self.count as f64;
        let mean = self.sum as f64 / n;
        let variance = (self.squares / n - mean * mean).max(0.0);
        let quantile = |q| self.histogram.as_ref().map(|h| h.value_at_quantile(q) as f64 / 1e6);
        Delay {
            mean: Some(mean / 1e9),
            sd: Some(libm::sqrt(variance) / 1e9),
            p50: quantile(0.5),
            p99: quantile(0.99),
        }
    }
}

/// Adds a drop to its cause.
pub fn count_drop(drops: &mut Drops, cause: DropCause) {
    match cause {
        DropCause::Queue => drops.queue += 1,
        DropCause::Channel => drops.channel += 1,
        DropCause::Outage => drops.outage += 1,
    }
}

fn less(a: Drops, b: Drops) -> Drops {
    Drops { queue: a.queue - b.queue, channel: a.channel - b.channel, outage: a.outage - b.outage }
}

/// Sums over a flow's connections, at some moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    pub counts: Counts,
    pub bytes_delivered: u64,
    pub segments_received: u64,
    pub acks: u64,
    pub connections: u64,
    pub drops: Drops,
    pub ack_drops: Drops,
    pub rtt_min: Option<Nanos>,
}

impl Totals {
    /// Takes in a connection's sender and receiver.
    pub fn add(&mut self, c: &Counts, rtt_min: Option<Nanos>, segments_received: u64, acks: u64) {
        let t = &mut self.counts;
        t.segments += c.segments;
        t.retransmitted_segments += c.retransmitted_segments;
        t.retransmitted_bytes += c.retransmitted_bytes;
        t.timeouts += c.timeouts;
        t.fast_retransmits += c.fast_retransmits;
        t.ecn_reductions += c.ecn_reductions;
        t.congestion += c.congestion;
        t.wireless += c.wireless;
        t.spurious += c.spurious;
        t.congestion_right += c.congestion_right;
        t.wireless_right += c.wireless_right;
        t.rtt_samples += c.rtt_samples;
        t.rtt_sum += c.rtt_sum;
        t.cwnd_time += c.cwnd_time;
        t.rounds += c.rounds;
        t.slow_start_end = t.slow_start_end.or(c.slow_start_end);
        self.segments_received += segments_received;
        self.acks += acks;
        self.rtt_min = self.rtt_min.into_iter().chain(rtt_min).min();
    }

    /// What has been added since an earlier moment. The smallest RTT and the end of slow start are of the whole run.
    pub fn since(mut self, past: &Totals) -> Totals {
        let (t, p) = (&mut self.counts, &past.counts);
        t.segments -= p.segments;
        t.retransmitted_segments -= p.retransmitted_segments;
        t.retransmitted_bytes -= p.retransmitted_bytes;
        t.timeouts -= p.timeouts;
        t.fast_retransmits -= p.fast_retransmits;
        t.ecn_reductions -= p.ecn_reductions;
        t.congestion -= p.congestion;
        t.wireless -= p.wireless;
        t.spurious -= p.spurious;
        t.congestion_right -= p.congestion_right;
        t.wireless_right -= p.wireless_right;
        t.rtt_samples -= p.rtt_samples;
        t.rtt_sum -= p.rtt_sum;
        t.cwnd_time -= p.cwnd_time;
        t.rounds -= p.rounds;
        self.bytes_delivered -= past.bytes_delivered;
        self.segments_received -= past.segments_received;
        self.acks -= past.acks;
        self.connections -= past.connections;
        self.drops = less(self.drops, past.drops);
        self.ack_drops = less(self.ack_drops, past.ack_drops);
        self
    }
}

/// The books of one flow.
#[derive(Debug, Default)]
pub struct FlowBook {
    /// Of the connections that have ended, and what does not belong to one.
    pub ended: Totals,
    /// At the end of the warm-up.
    pub warm: Totals,
    pub delays: Delays,
    pub started: Option<Time>,
    pub last_delivery: Time,
    pub finished: Option<Time>,
    /// Time series, where they are wanted.
    pub series: Option<Box<FlowSeries>>,
}

/// The books of one traffic entry.
#[derive(Debug, Default)]
pub struct TrafficBook {
    pub sent: u64,
    pub delivered: u64,
    pub bytes: u64,
    pub drops: Drops,
    pub delays: Delays,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_one_percent_and_moments_exact() {
        let mut delays = Delays::default();
        (1..=1000).for_each(|ms| delays.add(ms * 1_000_000));
        let outcome = delays.outcome();
        let near = |x: Option<f64>, expected: f64| (x.unwrap() / expected - 1.0).abs() < 0.01;
        assert_eq!(outcome.mean, Some(0.5005));
        assert!(near(outcome.p50, 0.5) && near(outcome.p99, 0.99), "{outcome:?}");
        assert!(near(outcome.sd, 1.0 / 12f64.sqrt()), "{outcome:?}");
    }

    #[test]
    fn without_samples_there_is_no_delay() {
        assert_eq!(Delays::default().outcome(), Delay::default());
    }
}
