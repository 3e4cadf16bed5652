//! One set of settings out of what several flows want.

use super::settings::{Settings, Sysctl, Terms};
use crate::Error;
use crate::netns::Metrics;
use truckee_tcp::Span;

/// Which end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Where its data comes from.
    Sender,
    /// Where its data goes.
    Receiver,
}

/// The sysctls of a namespace with these ends of these flows, each with its flow's name. Flows that want different
/// values and cannot come to terms are refused.
///
/// What is negotiated is decided where the data comes from: the other end has it on if any flow there wants it.
pub fn merge<'a>(ends: impl IntoIterator<Item = (&'a str, End, &'a Settings)>) -> Result<Vec<Sysctl>, Error> {
    let mut merged: Vec<Wish<'a>> = Vec::new();
    for (flow, end, settings) in ends {
        let sysctls = if end == End::Sender { &settings.sender } else { &settings.receiver };
        for sysctl in sysctls {
            let wish = Wish { flow, end, sysctl };
            match merged.iter_mut().find(|known| known.sysctl.name == sysctl.name) {
                None => merged.push(wish),
                Some(known) => *known = agree(*known, wish)?,
            }
        }
    }
    Ok(merged.into_iter().map(|wish| wish.sysctl.clone()).collect())
}

/// What a flow wants at one of its ends.
#[derive(Clone, Copy)]
struct Wish<'a> {
    flow: &'a str,
    end: End,
    sysctl: &'a Sysctl,
}

impl Wish<'_> {
    /// Whether it gives way: an option that the far end declines may as well be on.
    fn yields(&self) -> bool {
        self.sysctl.terms == Terms::Negotiated && self.end == End::Receiver
    }

    /// The last of its numbers.
    fn limit(&self) -> u64 {
        self.sysctl.value.split_whitespace().last().and_then(|n| n.parse().ok()).unwrap_or(0)
    }
}

/// The one of two wishes that does for both.
fn agree<'a>(a: Wish<'a>, b: Wish<'a>) -> Result<Wish<'a>, Error> {
    if a.sysctl.terms == Terms::Highest {
        return Ok(if b.limit() > a.limit() { b } else { a });
    }
    if a.sysctl.value == b.sysctl.value {
        // Who insists speaks for both.
        return Ok(if a.yields() { b } else { a });
    }
    for (one, other) in [(a, b), (b, a)] {
        if one.yields() && one.limit() == 0 {
            return Ok(other);
        }
    }
    let Sysctl { name, value, .. } = a.sysctl;
    let or = if *name == "tcp_sack" { ", or say for all: kernel = { sack = true }" } else { "" };
    Err(Error::Refused {
        place: format!("flows \"{}\" and \"{}\"", a.flow, b.flow),
        why: format!(
            "they share a node, whose net.ipv4.{name} cannot be {value} and {} at once; give them nodes of their own{or}",
            b.sysctl.value
        ),
    })
}

/// The metrics of a route that these flows share, each with its flow's name. Flows that want different values are
/// refused.
pub fn merge_metrics<'a>(flows: impl IntoIterator<Item = (&'a str, Metrics)>) -> Result<Metrics, Error> {
    let mut flows = flows.into_iter();
    let Some((first, metrics)) = flows.next() else { return Ok(Metrics::default()) };
    for (flow, other) in flows {
        if let Some((key, a, b)) = difference(&metrics, &other) {
            return Err(Error::Refused {
                place: format!("flows \"{first}\" and \"{flow}\""),
                why: format!(
                    "they share a route, whose {key} cannot be {a} and {b} at once; give them nodes of their own"
                ),
            });
        }
    }
    Ok(metrics)
}

/// The first metric in which two routes differ, and both values.
fn difference(a: &Metrics, b: &Metrics) -> Option<(&'static str, String, String)> {
    let number = |n: Option<u32>| n.map_or("the kernel's own".to_owned(), |n| n.to_string());
    let time =
        |t: Option<Span>| t.map_or("the kernel's own".to_owned(), |t| format!("{} ms", t.as_f64() / 1e6));
    let pairs = [
        ("initial window", number(a.initcwnd), number(b.initcwnd)),
        ("initial receive window", number(a.initrwnd), number(b.initrwnd)),
        ("min_rto", time(a.rto_min), time(b.rto_min)),
        ("slow-start threshold", number(a.ssthresh), number(b.ssthresh)),
        ("window", number(a.window), number(b.window)),
        ("advertised MSS", number(a.advmss), number(b.advmss)),
        ("quickack", a.quickack.to_string(), b.quickack.to_string()),
    ];
    pairs.into_iter().find(|(_, a, b)| a != b)
}
