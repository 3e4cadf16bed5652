//! The published senders as products of the families' members. Anything a preset is can also be written in parts.

use crate::{Info, Spec};

/// A named product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Name, what it is, source.
    pub info: Info,
    recovery: &'static str,
    growth: &'static str,
    response: &'static str,
    /// The predictor or estimator inside the response.
    inside: Option<(&'static str, &'static str)>,
}

impl Preset {
    /// Its recovery.
    pub fn recovery(&self) -> Spec {
        Spec::named(self.recovery)
    }

    /// Its growth rule.
    pub fn growth(&self) -> Spec {
        Spec::named(self.growth)
    }

    /// Its loss response.
    pub fn response(&self) -> Spec {
        let response = Spec::named(self.response);
        match self.inside {
            None => response,
            Some((param, member)) => response.with(param, crate::Arg::Name(member.to_owned())),
        }
    }
}

const fn preset(
    name: &'static str,
    parts: [&'static str; 3],
    inside: Option<(&'static str, &'static str)>,
    formula: &'static str,
    [summary, source]: [&'static str; 2],
) -> Preset {
    let [recovery, growth, response] = parts;
    Preset { info: Info { name, summary, formula, source }, recovery, growth, response, inside }
}

/// Every preset.
#[rustfmt::skip]
pub const PRESETS: &[Preset] = &[
    preset("tahoe", ["tahoe", "per-ack", "halve"], None, "tahoe + per-ack + halve",
        ["fast retransmit, then slow start", "Jacobson 1988"]),
    preset("tahoe-nofr", ["tahoe-nofr", "per-ack", "halve"], None, "tahoe-nofr + per-ack + halve",
        ["Tahoe without fast retransmit", "RFC 5681 without section 3.2"]),
    preset("reno", ["reno", "per-ack", "halve"], None, "reno + per-ack + halve",
        ["fast recovery until the first new ACK", "RFC 2581"]),
    preset("newreno", ["newreno", "per-ack", "halve"], None, "newreno + per-ack + halve",
        ["fast recovery until all is repaired", "RFC 6582"]),
    preset("sack", ["sack", "per-ack", "halve"], None, "sack + per-ack + halve",
        ["recovery by selective acknowledgements", "RFC 2018, RFC 6675"]),
    preset("sack-abc", ["sack", "byte-counting", "halve"], None, "sack + byte-counting(2) + halve",
        ["what stacks without CUBIC do today", "RFC 6675, RFC 3465"]),
    preset("newreno-lp", ["newreno", "per-ack", "by-cause"], Some(("predictor", "vegas")),
        "newreno + per-ack + by-cause(vegas, α = 1, β = 3)",
        ["NewReno that asks the Vegas predictor about each loss", "Martignon, NewReno-LP, chapter 4"]),
    preset("newreno-lp(spike)", ["newreno", "per-ack", "by-cause"], Some(("predictor", "spike")),
        "newreno + per-ack + by-cause(spike, α = 0.5, β = 0.4)",
        ["NewReno-LP with the Spike predictor", "Martignon, NewReno-LP, chapter 4"]),
    preset("newreno-lp(ideal)", ["newreno", "per-ack", "by-cause"], Some(("predictor", "ideal")),
        "newreno + per-ack + by-cause(ideal)",
        ["NewReno-LP told the truth: the upper bound", "Martignon, NewReno-LP, section 6.2"]),
];

/// The preset of that name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|p| p.info.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{growth::AnyGrowth, recovery::AnyRecovery, response::AnyResponse};

    #[test]
    fn every_preset_can_be_built() {
        for preset in PRESETS {
            AnyRecovery::build(&preset.recovery()).unwrap();
            AnyGrowth::build(&preset.growth()).unwrap();
            AnyResponse::build(&preset.response()).unwrap();
            assert_eq!(find(preset.info.name), Some(preset));
        }
    }
}
