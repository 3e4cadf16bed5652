//! Bandwidth estimators fed arrivals of equal segments: what each makes of constant, alternating or random gaps.
//!
//! Every arrival is told as a segment sent and as an ACK of it, so that estimators of either kind hear the same. Means
//! are over arrivals (after the warm-up), of the estimate just after each. With L bits an arrival and gaps T, the metrics
//! are:
//!
//! | metric | what it says |
//! |---|---|
//! | `true_bps` | L/E\[T\], by the gaps' stated mean |
//! | `samples_bps` | mean of the samples L/T as they came: what a fixed linear filter of them tends to |
//! | `second_order_bps` | L·Var\[T\]/E\[T\]³ of the gaps as they came: the first term of the samples' bias (lp, equation 3.2) |
//! | `estimate_bps` | the estimate after the last arrival |
//! | `mean_estimate_bps` | its mean |
//! | `bias_bps` | its mean less `true_bps` |
//! | `over_true` | its mean over `true_bps` |
//! | `sd_over_true` | its standard deviation over `true_bps` |
//!
//! The first three say something of the arrivals and are alike for all estimators. One that has no estimate after the
//! warm-up has no values.
//!
//! Not for: estimators in a network, which a sweep runs as observers.

use super::feed::Delivered;
use super::written::{label, spec, time};
use serde::Deserialize;
use truckee_channel::random::{self, Xoshiro256PlusPlus};
use truckee_lab::grid;
use truckee_lab::study::Data;
use truckee_tcp::estimate::{AnyEstimator, BandwidthEstimator};
use truckee_tcp::{Span, Time, Window};

/// The metrics and their units.
pub const METRICS: [(&str, &str); 8] = [
    ("true_bps", "bit/s"),
    ("samples_bps", "bit/s"),
    ("second_order_bps", "bit/s"),
    ("estimate_bps", "bit/s"),
    ("mean_estimate_bps", "bit/s"),
    ("bias_bps", "bit/s"),
    ("over_true", ""),
    ("sd_over_true", ""),
];

/// Estimators and what they are fed, as written.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Name of the random stream.
    pub stream: String,
    /// The estimators.
    pub members: Vec<toml::Value>,
    /// Bytes of each arrival.
    pub bytes: u32,
    /// Processes of gaps.
    pub gaps: Vec<Gaps>,
    /// How many arrivals there are.
    pub arrivals: u64,
    /// How many of them come before anything is measured.
    pub warm_up: u64,
    /// How often gaps that are drawn are drawn anew.
    pub seeds: Option<u64>,
    /// The round-trip time that the estimators are told.
    pub rtt: Span,
    /// The congestion window that they are told, bytes.
    pub cwnd: f64,
}

/// Gaps between arrivals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gaps {
    /// Always the same.
    Constant(Span),
    /// These in turn.
    Alternating(Vec<Span>),
    /// Independent and exponential, with this mean.
    Exponential(Span),
    /// Independent and Rayleigh, with this mean.
    Rayleigh(Span),
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Written {
    Constant { mean: String },
    Alternating { times: Vec<String> },
    Exponential { mean: String },
    Rayleigh { mean: String },
}

/// One process of gaps as written, or a list of them.
pub(super) fn gaps(value: toml::Value) -> Result<Vec<Gaps>, String> {
    let all = match value {
        toml::Value::Array(all) => all,
        one => vec![one],
    };
    let mut processes: Vec<Gaps> = Vec::new();
    for value in all {
        let written: Written = value.try_into().map_err(|e| format!("gaps: {}", e.to_string().trim_end()))?;
        let one = match written {
            Written::Constant { mean } => Gaps::Constant(time("mean", &mean)?),
            Written::Exponential { mean } => Gaps::Exponential(time("mean", &mean)?),
            Written::Rayleigh { mean } => Gaps::Rayleigh(time("mean", &mean)?),
            Written::Alternating { times } => match times.len() {
                0 => return Err("gaps that alternate need `times`".to_owned()),
                _ => Gaps::Alternating(times.iter().map(|t| time("times", t)).collect::<Result<_, _>>()?),
            },
        };
        if processes.iter().any(|other| other.name() == one.name()) {
            return Err(format!("two processes of gaps are \"{}\": write two drives", one.name()));
        }
        processes.push(one);
    }
    if processes.is_empty() {
        Err("estimators need at least one of `gaps`".to_owned())
    } else {
        Ok(processes)
    }
}

impl Gaps {
    fn name(&self) -> &'static str {
        match self {
            Self::Constant(_) => "constant",
            Self::Alternating(_) => "alternating",
            Self::Exponential(_) => "exponential",
            Self::Rayleigh(_) => "rayleigh",
        }
    }

    fn is_random(&self) -> bool {
        matches!(self, Self::Exponential(_) | Self::Rayleigh(_))
    }

    /// Mean, ns.
    fn mean(&self) -> f64 {
        match self {
            Self::Constant(mean) | Self::Exponential(mean) | Self::Rayleigh(mean) => mean.as_f64(),
            Self::Alternating(times) => times.iter().map(|&t| t.as_f64()).sum::<f64>() / times.len() as f64,
        }
    }

    /// The gap before arrival `k`.
    fn draw(&self, k: u64, rng: &mut Xoshiro256PlusPlus) -> Span {
        match self {
            Self::Constant(gap) => *gap,
            Self::Alternating(times) => times[(k % times.len() as u64) as usize],
            Self::Exponential(mean) => random::exponential(rng, *mean),
            Self::Rayleigh(mean) => random::rayleigh(rng, *mean),
        }
    }
}

/// Estimators ready to be driven.
#[derive(Debug, Clone)]
pub struct Estimators {
    setting: Setting,
    members: Vec<(String, AnyEstimator)>,
}

impl Estimators {
    /// Builds the members and checks the setting.
    pub fn new(setting: Setting) -> Result<Self, String> {
        let build = |value: &toml::Value| {
            let spec = spec(value, "bandwidth estimator", "\"ewma\" and { ewma = { weight = 0.5 } }")?;
            if spec.mentions("oracle") {
                return Err("\"oracle\" knows nothing outside a network".to_owned());
            }
            let (member, _) = AnyEstimator::build(&spec).map_err(|e| e.to_string())?;
            Ok((label(value), member))
        };
        let members: Vec<_> = setting.members.iter().map(build).collect::<Result<_, String>>()?;
        let random = setting.gaps.iter().any(Gaps::is_random);
        let refuse = |reason: &str| Err(reason.to_owned());
        match setting.seeds {
            _ if members.is_empty() => refuse("there is no estimator"),
            _ if setting.bytes == 0 => refuse("bytes is 0, expected at least 1"),
            _ if setting.warm_up >= setting.arrivals => refuse("`warm_up` leaves no arrivals to measure"),
            _ if !setting.cwnd.is_finite() || setting.cwnd < f64::from(setting.bytes) => {
                refuse("cwnd is below one segment of `bytes`")
            }
            None if random => refuse("gaps that are drawn need `seeds`: how often"),
            Some(_) if !random => refuse("`seeds` says nothing where no gaps are drawn"),
            Some(0) => refuse("seeds is 0, expected at least 1"),
            _ => Ok(Self { setting, members }),
        }
    }

    pub(super) fn run(&self, name: &str) -> Result<Data, String> {
        let gaps = &self.setting.gaps;
        let axes = vec![
            grid::names("estimator", self.members.iter().map(|(label, _)| label.clone())),
            grid::names("gaps", gaps.iter().map(|g| g.name().to_owned())),
        ];
        let mut data = Data::deterministic(name, axes);
        data.deterministic = self.setting.seeds.is_none();
        for (at, gaps) in gaps.iter().enumerate() {
            // Gaps that are not drawn are alike under every seed, so that all cells have the same seeds.
            for seed in 1..=self.setting.seeds.unwrap_or(1) {
                let arrivals = self.arrivals(gaps, seed);
                for (k, (_, member)) in self.members.iter().enumerate() {
                    let point = k * self.setting.gaps.len() + at;
                    let values = self.measure(member.clone(), &arrivals, gaps.mean());
                    for ((metric, unit), value) in METRICS.iter().zip(values) {
                        data.put_seeded(point, metric, unit, seed, value);
                    }
                }
            }
        }
        Ok(data)
    }

    /// The gaps before each arrival.
    fn arrivals(&self, gaps: &Gaps, seed: u64) -> Vec<Span> {
        let mut rng = random::stream(seed, &self.setting.stream);
        (0..self.setting.arrivals).map(|k| gaps.draw(k, &mut rng)).collect()
    }

    /// The metrics, in the order of [`METRICS`]; `mean` is the gaps' stated one, ns.
    fn measure(&self, mut member: AnyEstimator, gaps: &[Span], mean: f64) -> [Option<f64>; 8] {
        let Setting { bytes, rtt, cwnd, warm_up, .. } = self.setting;
        let mut window = Window::new(f64::from(bytes), cwnd);
        (window.flight, window.srtt, window.rtt_min) = (cwnd as u64, Some(rtt), Some(rtt));
        let bits = 8.0 * f64::from(bytes);
        let (mut now, mut delivered) = (Time::at(rtt), Delivered::new(window));
        let (mut estimates, mut samples, mut spans) =
            (Moments::default(), Moments::default(), Moments::default());
        let mut missing = false;
        for (k, &gap) in gaps.iter().enumerate() {
            now = now.saturating_add(gap);
            delivered.arrive(&mut member, now, bytes, rtt);
            if (k as u64) < warm_up {
                continue;
            }
            spans.add(gap.seconds());
            // No time at all is no sample; the clock's step is a nanosecond.
            samples.add(bits * 1e9 / gap.max(Span::ns(1)).as_f64());
            match member.bits_per_second() {
                Some(estimate) => estimates.add(estimate),
                None => missing = true,
            }
        }
        let truth = bits * 1e9 / mean;
        let second_order = bits * spans.variance() / spans.mean().powi(3);
        let known = |x: f64| (!missing).then_some(x);
        [
            Some(truth),
            Some(samples.mean()),
            Some(second_order),
            member.bits_per_second(),
            known(estimates.mean()),
            known(estimates.mean() - truth),
            known(estimates.mean() / truth),
            known(estimates.variance().sqrt() / truth),
        ]
    }
}

/// Mean and variance of what is added, by Welford's recurrence.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, x: f64) {
        self.n += 1.0;
        let from_old = x - self.mean;
        self.mean += from_old / self.n;
        self.squares += from_old * (x - self.mean);
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn variance(&self) -> f64 {
        self.squares / self.n.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Drive;
    use truckee_lab::study::Drive as _;

    const ALTERNATING: &str = "{ kind = \"alternating\", times = [\"1ms\", \"2ms\"] }";
    const RANDOM: &str =
        "[{ kind = \"exponential\", mean = \"1ms\" }, { kind = \"rayleigh\", mean = \"1ms\" }]";

    fn drive(estimators: &str, gaps: &str, more: &str) -> Result<Drive, toml::de::Error> {
        toml::from_str(&format!(
            "name = \"d\"\nbytes = 1000\nrtt = \"100ms\"\ncwnd = 10000\narrivals = 2000\nwarm_up = 1000\n\
             estimator = {estimators}\ngaps = {gaps}\n{more}"
        ))
    }

    fn value(data: &Data, point: usize, metric: &str) -> f64 {
        data.samples(point, metric)[0].1.unwrap()
    }

    #[test]
    fn alternating_gaps_show_the_bias_of_rate_samples() {
        // Gaps T and 2T with L bits each (lp, figure 3.6): true rate 2L/3T, samples 3L/4T, their bias L/12T, of which
        // the second order is 2L/27T.
        let data = drive("[\"ewma\"]", ALTERNATING, "").unwrap().run().unwrap();
        assert!(data.deterministic);
        let unit = 8000.0 / 1e-3;
        for (metric, expected) in [
            ("true_bps", 2.0 / 3.0),
            ("samples_bps", 3.0 / 4.0),
            ("second_order_bps", 2.0 / 27.0),
            ("mean_estimate_bps", 3.0 / 4.0),
            ("bias_bps", 1.0 / 12.0),
        ] {
            let measured = value(&data, 0, metric) / unit;
            assert!((measured / expected - 1.0).abs() < 1e-9, "{metric}: {measured}, expected {expected}");
        }
        assert!((value(&data, 0, "over_true") - 9.0 / 8.0).abs() < 1e-9);
    }

    #[test]
    fn a_constant_rate_has_neither_bias_nor_spread() {
        let gaps = "{ kind = \"constant\", mean = \"1ms\" }";
        let data = drive("[\"ewma\", { ewma = { weight = 0.5 } }]", gaps, "").unwrap().run().unwrap();
        assert_eq!(data.label(1), "estimator=ewma(weight=0.5), gaps=constant");
        for point in 0..2 {
            assert!((value(&data, point, "over_true") - 1.0).abs() < 1e-12);
            assert!(value(&data, point, "sd_over_true") < 1e-12);
            assert!((value(&data, point, "estimate_bps") - 8e6).abs() < 1e-3);
        }
    }

    #[test]
    fn drawn_gaps_are_common_to_all_estimators_and_differ_by_seed() {
        let data =
            drive("[\"ewma\", { ewma = { weight = 0.5 } }]", RANDOM, "seeds = 3").unwrap().run().unwrap();
        assert!(!data.deterministic);
        let samples = |point| data.samples(point, "samples_bps").to_vec();
        assert_eq!(samples(0).len(), 3);
        assert_eq!(samples(1), samples(3), "Rayleigh gaps of both estimators");
        assert_ne!(samples(0)[0].1, samples(0)[1].1);
        // Rayleigh: E[T]·E[1/T] = π/2.
        let over = value(&data, 1, "samples_bps") / value(&data, 1, "true_bps");
        assert!((over / (std::f64::consts::PI / 2.0) - 1.0).abs() < 0.1, "{over}");
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        for (estimators, gaps, more, part) in [
            ("[\"oracle\"]", ALTERNATING, "", "\"oracle\" knows nothing outside a network"),
            ("[\"emwa\"]", ALTERNATING, "", "no bandwidth estimator named \"emwa\""),
            ("[]", ALTERNATING, "", "no estimator"),
            ("[\"ewma\"]", RANDOM, "", "need `seeds`"),
            ("[\"ewma\"]", RANDOM, "seeds = 0", "expected at least 1"),
            ("[\"ewma\"]", ALTERNATING, "seeds = 2", "`seeds` says nothing"),
            ("[\"ewma\"]", "{ kind = \"pareto\", mean = \"1ms\" }", "", "unknown variant `pareto`"),
            ("[\"ewma\"]", "{ kind = \"constant\", mean = \"1\" }", "", "mean is \"1\", expected a time"),
            ("[\"ewma\"]", "{ kind = \"alternating\", times = [] }", "", "need `times`"),
            ("[\"ewma\"]", "[]", "", "at least one of `gaps`"),
            ("[\"ewma\"]", &format!("[{ALTERNATING}, {ALTERNATING}]"), "", "write two drives"),
        ] {
            let message = drive(estimators, gaps, more).unwrap_err().to_string();
            assert!(message.contains(part), "{estimators} {gaps} {more}: {message}");
        }
    }
}
