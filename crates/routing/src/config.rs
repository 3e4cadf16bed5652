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
