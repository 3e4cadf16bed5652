//! When a source sends its next packet: CBR, Poisson, ON/OFF, recorded times.

use truckee_channel::random::{Xoshiro256PlusPlus, chance, exponential, pareto};
use truckee_scenario::model::{Arrivals, Periods};
use truckee_tcp::{Nanos, Time};

/// An arrival process in operation.
#[derive(Debug)]
pub struct Process {
    arrivals: Arrivals,
    /// Time of one packet at the source's rate.
    gap: f64,
    rng: Xoshiro256PlusPlus,
    /// Exact time of the last arrival, ns, with its fraction.
    last: f64,
    /// End of the present ON period.
    on_until: f64,
    /// Position in a trace.
    position: u64,
    start: Time,
}

impl Process {
    /// A process that starts at `start`, for packets of `bytes`.
    pub fn new(arrivals: &Arrivals, bytes: u32, start: Time, mut rng: Xoshiro256PlusPlus) -> Self {
        let rate = match arrivals {
            Arrivals::Cbr { rate } | Arrivals::Poisson { rate } | Arrivals::OnOff { rate, .. } => *rate,
            Arrivals::Trace(_) => 1.0,
        };
        let gap = f64::from(bytes) * 8.0 / rate * 1e9;
        let mut last = start as f64;
        let mut on_until = 0.0;
        if let Arrivals::OnOff { on, off, periods, .. } = arrivals {
            // In the middle of things: ON with the probability that a passer-by finds it so.
            if !chance(&mut rng, *on as f64 / (*on as f64 + *off as f64)) {
                last += period(&mut rng, *off, *periods);
            }
            on_until = last + period(&mut rng, *on, *periods);
        }
        Self { arrivals: arrivals.clone(), gap, rng, last, on_until, position: 0, start }
    }

    /// Time of the next arrival.
    pub fn next(&mut self) -> Time {
        match &self.arrivals {
            Arrivals::Cbr { .. } => self.last += self.gap,
            Arrivals::Poisson { .. } => {
                self.last += exponential(&mut self.rng, self.gap as Nanos) as f64;
            }
            Arrivals::OnOff { on, off, periods, .. } => {
                self.last += self.gap;
                while self.last > self.on_until {
                    self.last = self.on_until + period(&mut self.rng, *off, *periods);
                    self.on_until = self.last + period(&mut self.rng, *on, *periods);
                    self.last += self.gap;
                }
            }
            Arrivals::Trace(trace) => {
                let times = &trace.opportunities_ms;
                let n = times.len() as u64;
                let ms = times[(self.position % n) as usize];
                let rounds = self.position / n;
                self.position += 1;
                return self.start + rounds * trace.duration() + u64::from(ms) * 1_000_000;
            }
        }
        self.last as Time
    }
}

fn period(rng: &mut Xoshiro256PlusPlus, mean: Nanos, periods: Periods) -> f64 {
    match periods {
        Periods::Exponential => exponential(rng, mean) as f64,
        Periods::Pareto { shape } => {
            let scale = mean as f64 * (shape - 1.0) / shape;
            pareto(rng, scale as Nanos, shape) as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_channel::random::stream;

    fn count(arrivals: &Arrivals, seconds: u64) -> f64 {
        let mut process = Process::new(arrivals, 1500, 0, stream(7, "test"));
        let end = seconds * 1_000_000_000;
        std::iter::from_fn(|| Some(process.next())).take_while(|&t| t < end).count() as f64
    }

    #[test]
    fn rates_come_out_as_asked() {
        let packets = |rate: f64, seconds: f64| rate / 12_000.0 * seconds;
        assert_eq!(count(&Arrivals::Cbr { rate: 1.2e6 }, 100), packets(1.2e6, 100.0) - 1.0);
        let poisson = count(&Arrivals::Poisson { rate: 1.2e6 }, 1000);
        assert!((poisson / packets(1.2e6, 1000.0) - 1.0).abs() < 0.02, "{poisson}");
        for periods in [Periods::Exponential, Periods::Pareto { shape: 1.9 }] {
            let on_off = Arrivals::OnOff { rate: 12e6, on: 100_000_000, off: 200_000_000, periods };
            let n = count(&on_off, 20_000);
            assert!((n / packets(4e6, 20_000.0) - 1.0).abs() < 0.05, "{periods:?}: {n}");
        }
    }

    #[test]
    fn poisson_gaps_vary_as_exponentials_do() {
        let mut process = Process::new(&Arrivals::Poisson { rate: 12e6 }, 1500, 0, stream(7, "gaps"));
        let times: Vec<f64> = (0..100_000).map(|_| process.next() as f64).collect();
        let gaps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02);
    }
}
