//! One set of settings out of what several flows want.

use super::{Settings, Sysctl};
use crate::Error;
use crate::netns::Metrics;

/// Which end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Where its data comes from.
    Sender,
    /// Where its data goes.
    Receiver,
}

/// The sysctls of a namespace with these ends of these flows, each with its flow's name. Flows that want different
/// values are refused.
///
/// What is negotiated is decided where the data comes from: the other end has it on if any flow there wants it.
pub fn merge<'a>(ends: impl IntoIterator<Item = (&'a str, End, &'a Settings)>) -> Result<Vec<Sysctl>, Error> {
    // Whose wish it is, whether it only gives way, and what it is.
    let mut merged: Vec<(&str, bool, Sysctl)> = Vec::new();
    for (flow, end, settings) in ends {
        let wishes = if end == End::Sender { &settings.sender } else { &settings.receiver };
        for wish in wishes {
            let yields = wish.negotiated && end == End::Receiver;
            let Some(known) = merged.iter_mut().find(|(_, _, known)| known.name == wish.name) else {
                merged.push((flow, yields, wish.clone()));
                continue;
            };
            if known.2.value == wish.value {
                // Who insists speaks for both.
                if known.1 && !yields {
                    *known = (flow, yields, wish.clone());
                }
            } else if outdone(known.1, known.2.value, wish.value) {
                *known = (flow, yields, wish.clone());
            } else if !outdone(yields, wish.value, known.2.value) {
                return Err(conflict(wish.name, (known.0, known.2.value), (flow, wish.value)));
            }
        }
    }
    Ok(merged.into_iter().map(|(_, _, sysctl)| sysctl).collect())
}

/// Whether a wish gives way to another: an option that the far end can decline may as well be on.
fn outdone(yields: bool, value: u64, other: u64) -> bool {
    yields && value == 0 && other != 0
}

fn conflict(what: &str, first: (&str, u64), second: (&str, u64)) -> Error {
    Error::Refused {
        place: format!("flows \"{}\" and \"{}\"", first.0, second.0),
        why: format!(
            "they share a node, whose net.ipv4.{what} cannot be {} and {} at once; give them nodes of their own",
            first.1, second.1
        ),
    }
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
    let time = |t: Option<u64>| t.map_or("the kernel's own".to_owned(), |t| format!("{} ms", t as f64 / 1e6));
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
