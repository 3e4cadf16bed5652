//! One algorithm fed a list of events, without a network: for published tables of single steps.
//!
//! A drive names the members of a family and the events, and gives one number each. So far: growth rules fed ACKs.
//! Another family is another optional group of keys in [`Drive`] and another arm in [`Drive::run`].

use crate::study::Data;
use crate::study::file::plain;
use crate::{Error, grid};
use serde::Deserialize;
use truckee_tcp::growth::{AnyGrowth, Growth};
use truckee_tcp::{Ack, Arg, Spec, Window};

/// The metric that a drive of growth rules gives: the congestion window after the last ACK, bytes.
pub const METRIC: &str = "cwnd_bytes";

/// A drive as written in a study.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// What checks and figures call it.
    pub name: String,
    /// The growth rules: names, or `{ name = { argument = number } }`. They are the values of the axis `growth`.
    pub growth: Vec<toml::Value>,
    /// Maximum segment size, bytes.
    pub mss: u32,
    /// Congestion window at the start, bytes.
    pub cwnd: f64,
    /// Slow-start threshold, bytes; unbounded by default.
    #[serde(default = "unbounded")]
    pub ssthresh: f64,
    /// Bytes newly acknowledged by each ACK.
    pub acks: Vec<u64>,
}

fn unbounded() -> f64 {
    f64::MAX
}

impl Drive {
    /// Feeds the events to each member.
    pub fn run(&self) -> Result<Data, Error> {
        let labels: Vec<String> = self.growth.iter().map(plain).collect();
        let mut data = Data::deterministic(&self.name, vec![grid::names("growth", labels)]);
        for (point, growth) in self.growth.iter().enumerate() {
            let spec = spec(growth).map_err(|reason| self.fail(reason))?;
            let (mut rule, _) = AnyGrowth::build(&spec).map_err(|e| self.fail(e.to_string()))?;
            data.put(point, METRIC, "B", self.cwnd_after(&mut rule));
        }
        Ok(data)
    }

    fn fail(&self, reason: String) -> Error {
        Error::Study { file: format!("drive \"{}\"", self.name), reason }
    }

    fn cwnd_after(&self, rule: &mut AnyGrowth) -> f64 {
        let mut w = Window {
            mss: f64::from(self.mss),
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            flight: self.acks.iter().sum(),
            rwnd: u64::from(u32::MAX),
            srtt: None,
            rtt_min: None,
        };
        let mut acked = 1;
        for (k, &bytes) in self.acks.iter().enumerate() {
            acked += bytes;
            let ack = Ack {
                now: k as u64,
                ack: acked,
                newly_acked: bytes,
                delivered: bytes,
                duplicate: false,
                rtt: None,
                sent: None,
            };
            rule.on_ack(&ack, &mut w);
            w.flight -= bytes;
        }
        w.cwnd
    }
}

/// `"name"`, or `{ name = { argument = value } }` with numbers, switches and names as arguments.
fn spec(value: &toml::Value) -> Result<Spec, String> {
    let wrong =
        || format!("{value} names no growth rule; \"per-ack\" and {{ byte-counting = {{ limit = 1 }} }} do");
    match value {
        toml::Value::String(name) => Ok(Spec::named(name)),
        toml::Value::Table(table) => {
            let mut entries = table.iter();
            let (Some((name, toml::Value::Table(args))), None) = (entries.next(), entries.next()) else {
                return Err(wrong());
            };
            args.iter().try_fold(Spec::named(name), |spec, (key, value)| {
                let arg = match value {
                    toml::Value::Integer(n) => Arg::Number(*n as f64),
                    toml::Value::Float(x) => Arg::Number(*x),
                    toml::Value::Boolean(on) => Arg::Flag(*on),
                    toml::Value::String(name) => Arg::Name(name.clone()),
                    other => return Err(format!("{key} = {other} is no argument here")),
                };
                Ok(spec.with(key, arg))
            })
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(growth: &str) -> Drive {
        let text = format!("name = \"d\"\nmss = 1460\ncwnd = 1000\nacks = [730, 730]\ngrowth = {growth}");
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn rules_are_fed_the_same_acks() {
        let data =
            drive("[\"byte-counting\", \"per-ack\", { byte-counting = { limit = 1 } }]").run().unwrap();
        let cwnd = |point| data.samples(point, METRIC)[0].1;
        assert_eq!((cwnd(0), cwnd(1), cwnd(2)), (Some(2460.0), Some(3920.0), Some(2460.0)));
    }

    #[test]
    fn unknown_rules_and_arguments_are_refused() {
        let message = |growth| drive(growth).run().unwrap_err().to_string();
        assert!(message("[\"per-acc\"]").contains("no growth rule named \"per-acc\""));
        assert!(message("[{ per-ack = { x = 1 } }]").contains("no parameter \"x\""));
        assert!(message("[3]").contains("names no growth rule"));
    }
}
