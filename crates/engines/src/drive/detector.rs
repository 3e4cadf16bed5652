//! Slow-start detectors fed a list of arrivals, or bursts a round-trip time apart: what each takes the sender's phase to
//! be.
//!
//! The metrics, over the verdicts just after each arrival:
//!
//! | metric | what it says |
//! |---|---|
//! | `slow_start_share` | share of arrivals on which the verdict was slow start |
//! | `turns` | how often the verdict was another than on the arrival before |
//! | `last_slow_start` | ordinal, from 1, of the last arrival on which the verdict was slow start; 0: none |
//!
//! Not for: detectors in a network, held against the sender's true phase, which a sweep runs as observers.

use super::written::{label, spec};
use serde::Deserialize;
use truckee_lab::grid;
use truckee_lab::study::Data;
use truckee_tcp::Arrival;
use truckee_tcp::detect::{AnyDetector, Phase, SlowStartDetector};
use truckee_tcp::{Seq, Span, Time};

/// The metrics; all are pure numbers.
pub const METRICS: [&str; 3] = ["slow_start_share", "turns", "last_slow_start"];

/// Most arrivals of a drive.
const MOST: u64 = 1_000_000;

/// Which arrivals bring a sample of the round-trip time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Samples {
    /// All: the connection has timestamps.
    #[default]
    Every,
    /// The first: only the handshake told.
    First,
    /// None.
    None,
}

/// When the segments come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrivals {
    /// At these times.
    At(Vec<Time>),
    /// So many segments in each burst, `gap` apart; a burst each round-trip time.
    Bursts(Vec<u64>, Span),
}

/// Detectors ready to be driven.
#[derive(Debug, Clone)]
pub struct Detectors {
    members: Vec<(String, AnyDetector)>,
    arrivals: Vec<Arrival>,
}

impl Detectors {
    /// Detectors as written, and segments of `bytes` that come in order; `rtt`: the round-trip time, ns. An error says
    /// which key does not do.
    pub fn new(
        members: &[toml::Value],
        bytes: u32,
        arrivals: &Arrivals,
        rtt: Span,
        samples: Samples,
    ) -> Result<Self, String> {
        let build = |value: &toml::Value| {
            let spec = spec(
                value,
                "slow-start detector",
                "\"inter-arrival\" and { inter-arrival = { beta = 0.5 } }",
            )?;
            let (member, _) = AnyDetector::build(&spec).map_err(|e| e.to_string())?;
            Ok((label(value), member))
        };
        let members: Vec<_> = members.iter().map(build).collect::<Result<_, String>>()?;
        if members.is_empty() {
            return Err("there is no detector".to_owned());
        }
        if bytes == 0 {
            return Err("bytes is 0, expected at least 1".to_owned());
        }
        let mut end = Seq::FIRST;
        let arrivals = arrivals.times(rtt)?.into_iter().enumerate().map(|(k, at)| {
            end += u64::from(bytes);
            let told = samples == Samples::Every || (samples == Samples::First && k == 0);
            // A round-trip time later, so that the first sample does not reach back before the beginning.
            let now = at.saturating_add(rtt);
            let mut arrival = Arrival::of_bytes(now, bytes);
            (arrival.end, arrival.rcv_nxt, arrival.rtt) = (end, end, told.then_some(rtt));
            arrival
        });
        Ok(Self { members, arrivals: arrivals.collect() })
    }

    pub(super) fn run(&self, name: &str) -> Result<Data, String> {
        let labels = self.members.iter().map(|(label, _)| label.clone());
        let mut data = Data::deterministic(name, vec![grid::names("detector", labels)]);
        for (point, (_, member)) in self.members.iter().enumerate() {
            for (metric, value) in METRICS.iter().zip(self.measure(member.clone())) {
                data.put(point, metric, "", value);
            }
        }
        Ok(data)
    }

    /// The metrics, in the order of [`METRICS`].
    fn measure(&self, mut detector: AnyDetector) -> [f64; 3] {
        let (mut slow_start, mut turns, mut last) = (0u64, 0u64, 0);
        let mut before = None;
        for (k, arrival) in self.arrivals.iter().enumerate() {
            detector.on_segment(arrival);
            let phase = detector.phase();
            if phase == Phase::SlowStart {
                slow_start += 1;
                last = k + 1;
            }
            turns += u64::from(before.is_some_and(|before| before != phase));
            before = Some(phase);
        }
        [slow_start as f64 / self.arrivals.len() as f64, turns as f64, last as f64]
    }
}

impl Arrivals {
    /// When each segment comes.
    fn times(&self, rtt: Span) -> Result<Vec<Time>, String> {
        match self {
            Self::At(times) if times.is_empty() => Err("`arrivals_at` is empty".to_owned()),
            Self::At(times) => match times.windows(2).position(|pair| pair[1] < pair[0]) {
                Some(k) => Err(format!("arrivals_at: number {} comes before number {}", k + 2, k + 1)),
                None => Ok(times.clone()),
            },
            Self::Bursts(bursts, gap) => {
                if bursts.is_empty() || bursts.contains(&0) {
                    return Err("`bursts` needs at least one segment in each burst".to_owned());
                }
                if bursts.iter().try_fold(0u64, |sum, &n| sum.checked_add(n)).is_none_or(|sum| sum > MOST) {
                    return Err(format!("`bursts` has more than {MOST} segments"));
                }
                if let Some(n) = bursts.iter().find(|&&n| gap.saturating_mul(n - 1) >= rtt) {
                    return Err(format!("a burst of {n} segments, `gap` apart, lasts as long as `rtt`"));
                }
                let starts = bursts.iter().zip(0u64..);
                Ok(starts
                    .flat_map(|(&n, k)| {
                        (0..n).map(move |s| Time::at(rtt.saturating_mul(k).saturating_add(s * *gap)))
                    })
                    .collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Drive;
    use truckee_lab::study::Drive as _;

    fn drive(keys: &str) -> Result<Drive, toml::de::Error> {
        toml::from_str(&format!("name = \"d\"\nbytes = 1000\nrtt = \"100ms\"\n{keys}"))
    }

    fn values(data: &Data, point: usize) -> [Option<f64>; 3] {
        METRICS.map(|metric| data.samples(point, metric)[0].1)
    }

    #[test]
    fn bursts_come_a_round_trip_apart() {
        // Doubling, then standing still. By 20 gaps the pause is in every block; by rounds the 8 against 8 and again
        // 8 against 8 are judged with the first segment of the sixth and of the seventh burst.
        let keys =
            "bursts = [1, 2, 4, 8, 8, 8, 8]\ngap = \"1ms\"\ndetector = [\"inter-arrival\", \"round-growth\"]";
        let data = drive(keys).unwrap().run().unwrap();
        assert!(data.deterministic);
        assert_eq!(data.label(1), "detector=round-growth");
        assert_eq!(values(&data, 0), [Some(38.0 / 39.0), Some(1.0), Some(39.0)], "all but the very first");
        assert_eq!(values(&data, 1), [Some(31.0 / 39.0), Some(1.0), Some(31.0)]);
    }

    #[test]
    fn a_list_of_times_is_fed_as_it_is() {
        let detector = "detector = [{ inter-arrival = { block = 2 } }]";
        let at = "arrivals_at = [\"0ms\", \"1ms\", \"61ms\", \"62ms\", \"63ms\"]";
        let data = drive(&format!("{detector}\n{at}")).unwrap().run().unwrap();
        assert_eq!(data.label(0), "detector=inter-arrival(block=2)");
        assert_eq!(values(&data, 0), [Some(0.6), Some(2.0), Some(4.0)], "the second to the fourth");
        let data = drive(&format!("{detector}\n{at}\nsamples = \"none\"")).unwrap().run().unwrap();
        assert_eq!(values(&data, 0), [Some(0.2), Some(2.0), Some(2.0)], "no gap is long by itself");
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        for (keys, part) in [
            ("detector = []\nbursts = [1]", "there is no detector"),
            ("detector = [\"inter-arival\"]\nbursts = [1]", "no slow-start detector named \"inter-arival\""),
            ("detector = [\"inter-arrival\"]", "detectors need `arrivals_at` or `bursts`"),
            ("detector = [\"inter-arrival\"]\nbursts = [1]\narrivals_at = [\"0ms\"]", "exclude each other"),
            ("detector = [\"inter-arrival\"]\nbursts = []", "at least one segment"),
            ("detector = [\"inter-arrival\"]\nbursts = [3, 0]", "at least one segment"),
            ("detector = [\"inter-arrival\"]\nbursts = [5, 101]\ngap = \"1ms\"", "a burst of 101 segments"),
            ("detector = [\"inter-arrival\"]\nbursts = [99000000]", "more than 1000000 segments"),
            ("detector = [\"inter-arrival\"]\narrivals_at = []", "`arrivals_at` is empty"),
            (
                "detector = [\"inter-arrival\"]\narrivals_at = [\"2ms\", \"1ms\"]",
                "number 2 comes before number 1",
            ),
            (
                "detector = [\"inter-arrival\"]\narrivals_at = [\"2kB\"]",
                "arrivals_at is \"2kB\", expected a time",
            ),
            ("detector = [\"inter-arrival\"]\narrivals_at = [\"0ms\"]\ngap = \"1ms\"", "`gap` says nothing"),
            ("detector = [\"inter-arrival\"]\nbursts = [1]\nsamples = \"some\"", "unknown variant `some`"),
        ] {
            let message = drive(keys).unwrap_err().to_string();
            assert!(message.contains(part), "{keys}: {message}");
        }
    }
}
