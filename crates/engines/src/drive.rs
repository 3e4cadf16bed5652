//! One algorithm fed a list of events, without a network: for published tables of single steps, and for what a filter
//! makes of a stream of arrivals.
//!
//! A drive names the members of a family and the events, and gives a few numbers each: growth rules fed ACKs,
//! bandwidth estimators, slow-start detectors and ACK policies fed arrivals. Another family is another module below this one and
//! another group of keys.

mod detector;
mod estimator;
pub mod feed;
mod growth;
mod policy;
mod written;

use serde::Deserialize;
use std::sync::Arc;
use truckee_lab::Error;
use truckee_lab::study::{self, Data};
use truckee_scenario::units::{Quantity, parse};
use truckee_tcp::{Span, Time};
pub use written::spec;
use written::time;

/// The algorithms of `truckee-tcp`, for the drives of studies.
#[derive(Debug, Clone, Copy, Default)]
pub struct Algorithms;

/// What this module reads of a study's file.
#[derive(Deserialize)]
struct Tables {
    #[serde(default, rename = "drive")]
    drives: Vec<Drive>,
}

impl study::Drives for Algorithms {
    fn read(&self, study: &str) -> Result<Vec<Arc<dyn study::Drive>>, String> {
        let tables: Tables = toml::from_str(study).map_err(|e| e.to_string())?;
        Ok(tables.drives.into_iter().map(|drive| Arc::new(drive) as Arc<dyn study::Drive>).collect())
    }

    fn is_metric(&self, name: &str) -> bool {
        name == growth::METRIC
            || estimator::METRICS.iter().any(|(metric, _)| *metric == name)
            || detector::METRICS.contains(&name)
            || name == policy::METRIC
    }
}

/// A drive of a study.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Keys")]
pub struct Drive {
    name: String,
    family: Family,
}

#[derive(Debug, Clone)]
enum Family {
    Growth(growth::Growths),
    Estimator(estimator::Estimators),
    Detector(detector::Detectors),
    Policy(policy::Policies),
}

/// A drive as written: the keys of one family. Members are names, or `{ name = { argument = value } }`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    name: String,
    /// The growth rules; the values of the axis `growth`.
    growth: Option<Vec<toml::Value>>,
    /// Maximum segment size, bytes.
    mss: Option<u32>,
    /// Growth: congestion window at the start, bytes. Estimators: the window throughout, bytes.
    cwnd: Option<f64>,
    /// Slow-start threshold, bytes; unbounded by default.
    ssthresh: Option<f64>,
    /// Bytes newly acknowledged by each ACK.
    acks: Option<Vec<u64>>,
    /// The bandwidth estimators; the values of the axis `estimator`.
    estimator: Option<Vec<toml::Value>>,
    /// Bytes of each arrival.
    bytes: Option<u32>,
    /// Gaps between arrivals, one process or several; the values of the axis `gaps`.
    gaps: Option<toml::Value>,
    /// How many arrivals there are.
    arrivals: Option<u64>,
    /// How many of them come before anything is measured.
    warm_up: Option<u64>,
    /// How often gaps that are drawn are drawn anew.
    seeds: Option<u64>,
    /// Round-trip time that the members are told. Detectors: also the time from burst to burst.
    rtt: Option<String>,
    /// The slow-start detectors; the values of the axis `detector`.
    detector: Option<Vec<toml::Value>>,
    /// When each segment comes, in rising order.
    arrivals_at: Option<Vec<String>>,
    /// Or: segments of each burst; a burst each round-trip time.
    bursts: Option<Vec<u64>>,
    /// Time between the segments of a burst; none by default.
    gap: Option<String>,
    /// Which arrivals tell a detector the round-trip time; all by default.
    samples: Option<detector::Samples>,
    /// The ACK policies; the values of the axis `policy`.
    policy: Option<Vec<toml::Value>>,
    /// Bytes of each segment that comes, in order.
    segments: Option<Vec<u32>>,
}

impl TryFrom<Keys> for Drive {
    type Error = String;

    fn try_from(mut keys: Keys) -> Result<Self, String> {
        let name = std::mem::take(&mut keys.name);
        let driven = [&keys.growth, &keys.estimator, &keys.detector, &keys.policy].map(Option::is_some);
        let family = match driven {
            [true, false, false, false] => keys.growth().map(Family::Growth),
            [false, true, false, false] => keys.estimators(&name).map(Family::Estimator),
            [false, false, true, false] => keys.detectors().map(Family::Detector),
            [false, false, false, true] => keys.policies().map(Family::Policy),
            [false, false, false, false] => {
                Err("it needs `growth`, `estimator`, `detector` or `policy`: what is driven".to_owned())
            }
            _ => Err("`growth`, `estimator`, `detector` and `policy` exclude each other".to_owned()),
        };
        let family = family.map_err(|reason| format!("drive \"{name}\": {reason}"))?;
        Ok(Self { name, family })
    }
}

impl Keys {
    /// The keys of detectors alone, and whether they are there.
    fn of_detectors(&self) -> [(&'static str, bool); 4] {
        [
            ("arrivals_at", self.arrivals_at.is_some()),
            ("bursts", self.bursts.is_some()),
            ("gap", self.gap.is_some()),
            ("samples", self.samples.is_some()),
        ]
    }

    /// Those of growth rules alone.
    fn of_growth(&self) -> [(&'static str, bool); 3] {
        [("mss", self.mss.is_some()), ("ssthresh", self.ssthresh.is_some()), ("acks", self.acks.is_some())]
    }

    /// Those of estimators, some of which others have, too.
    fn of_estimators(&self) -> [(&'static str, bool); 4] {
        [
            ("gaps", self.gaps.is_some()),
            ("arrivals", self.arrivals.is_some()),
            ("warm_up", self.warm_up.is_some()),
            ("seeds", self.seeds.is_some()),
        ]
    }

    /// Those that estimators and detectors have.
    fn of_arrivals(&self) -> [(&'static str, bool); 2] {
        [("bytes", self.bytes.is_some()), ("rtt", self.rtt.is_some())]
    }

    /// That of ACK policies alone.
    fn of_policies(&self) -> [(&'static str, bool); 1] {
        [("segments", self.segments.is_some())]
    }

    fn growth(self) -> Result<growth::Growths, String> {
        let family = "growth rules";
        self.only(family, &self.of_detectors())?;
        self.only(family, &self.of_estimators())?;
        self.only(family, &self.of_arrivals())?;
        self.only(family, &self.of_policies())?;
        let needs = |key: &str| format!("growth rules need `{key}`");
        growth::Growths::new(
            &self.growth.unwrap_or_default(),
            self.mss.ok_or_else(|| needs("mss"))?,
            self.cwnd.ok_or_else(|| needs("cwnd"))?,
            self.ssthresh,
            self.acks.ok_or_else(|| needs("acks"))?,
        )
    }

    fn estimators(self, name: &str) -> Result<estimator::Estimators, String> {
        let family = "estimators";
        self.only(family, &self.of_detectors())?;
        self.only(family, &self.of_growth())?;
        self.only(family, &self.of_policies())?;
        let needs = |key: &str| format!("estimators need `{key}`");
        let gaps = self.gaps.ok_or_else(|| needs("gaps"))?;
        estimator::Estimators::new(estimator::Setting {
            stream: format!("drive {name}"),
            members: self.estimator.unwrap_or_default(),
            bytes: self.bytes.ok_or_else(|| needs("bytes"))?,
            gaps: estimator::gaps(gaps)?,
            arrivals: self.arrivals.ok_or_else(|| needs("arrivals"))?,
            warm_up: self.warm_up.unwrap_or(0),
            seeds: self.seeds,
            rtt: time("rtt", &self.rtt.ok_or_else(|| needs("rtt"))?)?,
            cwnd: self.cwnd.ok_or_else(|| needs("cwnd"))?,
        })
    }

    fn detectors(self) -> Result<detector::Detectors, String> {
        let family = "detectors";
        self.only(family, &[("cwnd", self.cwnd.is_some())])?;
        self.only(family, &self.of_growth())?;
        self.only(family, &self.of_estimators())?;
        self.only(family, &self.of_policies())?;
        let needs = |key: &str| format!("detectors need `{key}`");
        let arrivals = match (self.arrivals_at, self.bursts) {
            (Some(_), Some(_)) => return Err("`arrivals_at` and `bursts` exclude each other".to_owned()),
            (None, None) => return Err("detectors need `arrivals_at` or `bursts`".to_owned()),
            (Some(_), None) if self.gap.is_some() => {
                return Err("`gap` says nothing beside `arrivals_at`".to_owned());
            }
            (Some(times), None) => {
                let instant = |text: &String| match parse(text) {
                    Some(Quantity::Time(time)) => Ok(Time::at(time)),
                    _ => Err(format!("arrivals_at is \"{text}\", expected a time, such as \"1ms\"")),
                };
                detector::Arrivals::At(times.iter().map(instant).collect::<Result<_, _>>()?)
            }
            (None, Some(bursts)) => {
                let gap = self.gap.map_or(Ok(Span::ZERO), |gap| time("gap", &gap))?;
                detector::Arrivals::Bursts(bursts, gap)
            }
        };
        detector::Detectors::new(
            &self.detector.unwrap_or_default(),
            self.bytes.ok_or_else(|| needs("bytes"))?,
            &arrivals,
            time("rtt", &self.rtt.ok_or_else(|| needs("rtt"))?)?,
            self.samples.unwrap_or_default(),
        )
    }

    fn policies(self) -> Result<policy::Policies, String> {
        let family = "ACK policies";
        self.only(family, &[("cwnd", self.cwnd.is_some())])?;
        self.only(family, &self.of_growth())?;
        self.only(family, &self.of_estimators())?;
        self.only(family, &self.of_detectors())?;
        self.only(family, &self.of_arrivals())?;
        policy::Policies::new(
            &self.policy.unwrap_or_default(),
            self.segments.ok_or("ACK policies need `segments`")?,
        )
    }

    /// Refuses keys of another family.
    fn only(&self, family: &str, others: &[(&str, bool)]) -> Result<(), String> {
        match others.iter().find(|(_, there)| *there) {
            Some((key, _)) => Err(format!("`{key}` says nothing where {family} are driven")),
            None => Ok(()),
        }
    }
}

impl study::Drive for Drive {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self) -> Result<Data, Error> {
        let data = match &self.family {
            Family::Growth(growths) => growths.run(&self.name),
            Family::Estimator(estimators) => estimators.run(&self.name),
            Family::Detector(detectors) => detectors.run(&self.name),
            Family::Policy(policies) => policies.run(&self.name),
        };
        data.map_err(|reason| Error::Study { file: format!("drive \"{}\"", self.name), reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(keys: &str) -> String {
        toml::from_str::<Drive>(&format!("name = \"d\"\n{keys}")).unwrap_err().to_string()
    }

    #[test]
    fn a_drive_is_of_one_family_and_has_its_keys() {
        for (keys, part) in [
            ("", "needs `growth`, `estimator`, `detector` or `policy`"),
            ("growth = [\"per-ack\"]\nestimator = [\"ewma\"]", "exclude each other"),
            ("growth = [\"per-ack\"]\nmss = 1\ncwnd = 1", "growth rules need `acks`"),
            ("growth = [\"per-ack\"]\nrtt = \"1ms\"", "`rtt` says nothing where growth rules are driven"),
            ("growth = [\"per-ack\"]\nbursts = [1]", "`bursts` says nothing where growth rules are driven"),
            ("estimator = [\"ewma\"]", "estimators need `gaps`"),
            ("estimator = [\"ewma\"]\ngap = \"1ms\"", "`gap` says nothing where estimators are driven"),
            ("detector = [\"inter-arrival\"]\nbursts = [1]", "detectors need `bytes`"),
            ("detector = [\"inter-arrival\"]\nseeds = 2", "`seeds` says nothing where detectors are driven"),
            ("estimator = [\"ewma\"]\nmss = 1", "`mss` says nothing where estimators are driven"),
            ("growht = [\"per-ack\"]", "unknown field `growht`"),
        ] {
            let message = refusal(keys);
            assert!(message.contains(part), "{keys}: {message}");
        }
    }
}
