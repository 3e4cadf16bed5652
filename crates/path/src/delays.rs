//! Delays as they come: exact moments, percentiles within a tenth of a per cent.

use hdrhistogram::Histogram;
use truckee_channel::Span;
use truckee_scenario::outcome::Delay;

/// Significant figures of the percentiles.
const FIGURES: u8 = 3;

/// The delays of something.
#[derive(Debug, Clone)]
pub(super) struct Delays {
    /// In units of 100 ns.
    histogram: Option<Histogram<u64>>,
    sum: f64,
    squares: f64,
}

impl Default for Delays {
    fn default() -> Self {
        Self { histogram: Histogram::new(FIGURES).ok(), sum: 0.0, squares: 0.0 }
    }
}

impl Delays {
    /// Takes in one delay.
    pub fn add(&mut self, delay: Span) {
        let real = delay.as_f64();
        self.sum += real;
        self.squares += real * real;
        if let Some(histogram) = &mut self.histogram {
            // It grows with what it is given; only memory could fail it.
            let _ = histogram.record(delay.ticks(Span::ns(100)));
        }
    }

    /// The distribution in seconds.
    pub fn outcome(&self) -> Delay {
        let Some(histogram) = self.histogram.as_ref().filter(|h| !h.is_empty()) else {
            return Delay::default();
        };
        let n = histogram.len() as f64;
        let mean = self.sum / n;
        let variance = (self.squares / n - mean * mean).max(0.0);
        let quantile = |share| Some(histogram.value_at_quantile(share) as f64 / 1e7);
        Delay {
            mean: Some(mean / 1e9),
            sd: Some(variance.sqrt() / 1e9),
            p50: quantile(0.5),
            p99: quantile(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_that_of_what_was_added() {
        let mut delays = Delays::default();
        (1..=1000).for_each(|k| delays.add(Span::ms(k)));
        let outcome = delays.outcome();
        let near = |x: Option<f64>, expected: f64| (x.unwrap() / expected - 1.0).abs() < 0.001;
        assert!(near(outcome.mean, 0.5005) && near(outcome.sd, (1e6f64 - 1.0).sqrt() / 12f64.sqrt() / 1e3));
        assert!(near(outcome.p50, 0.5) && near(outcome.p99, 0.99), "{outcome:?}");
        assert_eq!(Delays::default().outcome(), Delay::default());
    }
}
