//! One link between two ends: what is wanted, and what is told of it.

use crate::{Error, LaneCounters, PortCounters};
use std::net::IpAddr;
use std::str::FromStr;
use truckee_scenario::outcome::{Delay, LinkOutcome};
use truckee_scenario::{Document, Scenario};

/// Where one end of the link is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// A namespace by its name under /run/netns: a TUN device is made in it.
    Namespace(String),
    /// An interface that is there, in the present namespace or in one by name: its frames are forwarded.
    Interface {
        /// The namespace; `None`: the present one.
        namespace: Option<String>,
        /// The interface.
        name: String,
    },
}

impl FromStr for End {
    type Err = Error;

    /// Reads `ns:NAME`, `INTERFACE`, or `NAME/INTERFACE`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let whole = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('/');
        let end = match (text.strip_prefix("ns:"), text.split_once('/')) {
            (Some(name), _) => whole(name).then(|| Self::Namespace(name.to_owned())),
            (None, Some((namespace, name))) => (whole(namespace) && whole(name))
                .then(|| Self::Interface { namespace: Some(namespace.to_owned()), name: name.to_owned() }),
            (None, None) => whole(text).then(|| Self::Interface { namespace: None, name: text.to_owned() }),
        };
        end.ok_or_else(|| Error::Refused {
            place: format!("\"{text}\""),
            why: "an end of a path is ns:NAMESPACE, INTERFACE, or NAMESPACE/INTERFACE".into(),
        })
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Namespace(name) => write!(f, "ns:{name}"),
            Self::Interface { namespace: Some(namespace), name } => write!(f, "{namespace}/{name}"),
            Self::Interface { namespace: None, name } => f.write_str(name),
        }
    }
}

/// An address with the length of its network's prefix: `192.0.2.1/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefixed {
    /// The address.
    pub address: IpAddr,
    /// Bits of the prefix.
    pub prefix: u8,
}

impl FromStr for Prefixed {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let read = || {
            let (address, prefix) = text.split_once('/')?;
            let (address, prefix): (IpAddr, u8) = (address.parse().ok()?, prefix.parse().ok()?);
            (prefix <= if address.is_ipv4() { 32 } else { 128 }).then_some(Self { address, prefix })
        };
        read().ok_or_else(|| Error::Refused {
            place: format!("address \"{text}\""),
            why: "expected an address with its prefix, such as 192.0.2.1/24 or fd00::1/64".into(),
        })
    }
}

impl std::fmt::Display for Prefixed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The link's first end and its second.
    pub ends: [End; 2],
    /// Addresses of the TUN devices; none at either end: 10.77.0.1/24 and fd77::1/64, 10.77.0.2/24 and fd77::2/64.
    pub addresses: [Vec<Prefixed>; 2],
    /// Largest IP packet of the TUN devices, bytes.
    pub mtu: u32,
    /// The scenario that has the link, its duration and its seed.
    pub scenario: &'a Scenario,
    /// What it was made of: what is turned by hand meanwhile is set there.
    pub document: &'a Document,
    /// Index of the link.
    pub link: usize,
    /// Whether to look at the clock again and again shortly before something is due.
    pub busy: bool,
}

/// One end as it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The device.
    pub device: String,
    /// What it got; none at an interface that was there.
    pub addresses: Vec<Prefixed>,
}

/// What the link did.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// How long it ran, s.
    pub lasted_s: f64,
    /// First to second, then back.
    pub links: Vec<LinkOutcome>,
    /// Likewise, everything since it began.
    pub lanes: Vec<LaneCounters>,
    /// Its ends.
    pub ports: Vec<PortCounters>,
    /// How late packets left, s: what this machine added to what the link asked for.
    pub late_s: Delay,
}

/// What is added to a direction's channel by hand.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Hand {
    /// Share of packets that are lost.
    pub loss: f64,
    /// Share of packets that are held back, so that others overtake them.
    pub reorder: f64,
    /// For how long, s.
    pub reorder_by_s: f64,
}

/// How a direction is set. What changes in mid run by the scenario is not seen here: the lanes show it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Setting {
    /// Bit/s.
    pub rate_bps: u64,
    /// Propagation delay, s.
    pub delay_s: f64,
    /// Beside its channel.
    pub by_hand: Hand,
}

/// What a running link shows of itself.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Showing {
    /// Its identity: four hex digits.
    pub id: String,
    /// Its ends.
    pub ends: [String; 2],
    /// For how long it has run, s.
    pub lasted_s: f64,
    /// How often it was turned by hand.
    pub turns: u64,
    /// How it is set: from the first end to the second, and back.
    pub settings: [Setting; 2],
    /// What its lanes show, likewise.
    pub lanes: Vec<LaneCounters>,
}

/// Who is told how it goes.
pub trait Watch {
    /// Both ends are there, and packets pass from now on. `id`: by which the link can be asked and turned meanwhile.
    fn begun(&mut self, ends: &[Made; 2], id: Option<&str>);
    /// Something is not as it should be, and the link goes on.
    fn warned(&mut self, message: &str);
    /// Somebody has set this.
    fn turned(&mut self, settings: &[String]);
    /// Comes by every second.
    fn counters(&mut self, lanes: &[LaneCounters]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_read_and_what_is_none_refused() {
        let end = |text: &str| text.parse::<End>().ok();
        let interface = |namespace: Option<&str>, name: &str| {
            Some(End::Interface { namespace: namespace.map(str::to_owned), name: name.into() })
        };
        assert_eq!(end("ns:left"), Some(End::Namespace("left".into())));
        assert_eq!(end("eth1"), interface(None, "eth1"));
        assert_eq!(end("left/eth1"), interface(Some("left"), "eth1"));
        for wrong in ["", "ns:", "ns:a/b", "a/b/c", "/eth0", "left/", "../x", "ns:.."] {
            assert_eq!(end(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn addresses_have_prefixes() {
        let read = |text: &str| text.parse::<Prefixed>().map(|p| p.to_string()).ok();
        assert_eq!(read("192.0.2.1/24").as_deref(), Some("192.0.2.1/24"));
        assert_eq!(read("fd00::1/64").as_deref(), Some("fd00::1/64"));
        for wrong in ["192.0.2.1", "192.0.2.1/33", "fd00::/129", "left/24", "/"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
