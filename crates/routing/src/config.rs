//! Which protocol, and its settings.

use crate::{ConfigError, NodeId, Router, aodv, dsdv, olsr};
use truckee_channel::random::stream;

/// A protocol and its settings. The default of each has the values of its RFC, or of its paper.
#[derive(Debug, Clone, PartialEq)]
pub enum Config {
    /// RFC 3561.
    Aodv(aodv::Config),
    /// RFC 3626.
    Olsr(olsr::Config),
    /// Perkins and Bhagwat 1994.
    Dsdv(dsdv::Config),
}

impl Config {
    /// The protocol of this name, `aodv`, `olsr` or `dsdv`, with its default settings.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "aodv" => Some(Config::Aodv(aodv::Config::default())),
            "olsr" => Some(Config::Olsr(olsr::Config::default())),
            "dsdv" => Some(Config::Dsdv(dsdv::Config::default())),
            _ => None,
        }
    }

    /// The protocol's name.
    pub fn name(&self) -> &'static str {
        match self {
            Config::Aodv(_) => "aodv",
            Config::Olsr(_) => "olsr",
            Config::Dsdv(_) => "dsdv",
        }
    }

    /// Whether all settings can be.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Config::Aodv(config) => config.check(),
            Config::Olsr(config) => config.check(),
            Config::Dsdv(config) => config.check(),
        }
    }

    /// The router of a node, with so many interfaces, from 0 on, in the run of this seed. Its random stream is the
    /// node's own.
    pub fn router(&self, node: NodeId, interfaces: u8, seed: u64) -> Result<Box<dyn Router>, ConfigError> {
        self.check()?;
        let rng = stream(seed, &format!("router {}", node.0));
        Ok(match self {
            Config::Aodv(config) => Box::new(aodv::Aodv::new(config, node, interfaces, rng)),
            Config::Olsr(config) => Box::new(olsr::Olsr::new(config, node, interfaces, rng)),
            Config::Dsdv(config) => Box::new(dsdv::Dsdv::new(config, node, interfaces, rng)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_channel::Span;

    #[test]
    fn settings_that_cannot_be_are_named_with_what_may_be() {
        let why = |config: Config| config.check().map_err(|error| error.to_string());
        for name in ["aodv", "olsr", "dsdv"] {
            assert_eq!(Config::named(name).map(why), Some(Ok(())));
        }
        assert_eq!(Config::named("rip"), None);
        let far = aodv::Config { ttl_start: 40, ..aodv::Config::default() };
        assert_eq!(why(Config::Aodv(far)), Err("ttl_start: 40 is not between 1 and 35".to_owned()));
        let hasty = olsr::Config { neighbour_hold_time: Span::s(1), ..olsr::Config::default() };
        let expected = "neighbour_hold_time: 1 s is not between 2 s and 3968 s";
        assert_eq!(why(Config::Olsr(hasty)), Err(expected.to_owned()));
        let odd = dsdv::Config { sequence: 1, ..dsdv::Config::default() };
        assert_eq!(why(Config::Dsdv(odd)), Err("sequence: 1 is not even".to_owned()));
        let share = dsdv::Config { full_share: f64::NAN, ..dsdv::Config::default() };
        assert_eq!(why(Config::Dsdv(share)), Err("full_share: NaN is not between 0 and 1".to_owned()));
    }
}
