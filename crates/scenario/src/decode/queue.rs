//! Queues: the tables under `queue` and `queue_back`.

use super::diagnostics::{Diagnostics, MAX_BYTES};
use super::reader::Reader;
use crate::document::tree::Value;
use crate::model::{Limit, Queue, Red};
use crate::units::{Dimension, Quantity, parse_as};

/// No queue holds more packets than this.
pub(super) const MAX_PACKETS: f64 = 1e12;

/// A queue whose limit may still be a number of bandwidth-delay products.
#[derive(Debug, Clone)]
pub(super) struct QueueDraft {
    pub queue: Queue,
    /// Bandwidth-delay products, if the limit is to be computed from the routes.
    pub products: Option<f64>,
    /// Whether newer ACKs supersede older ones.
    pub ack_filter: bool,
    pub after_channel: bool,
}

impl QueueDraft {
    /// What a link without a queue has: drop-tail of ample size.
    pub fn unlimited() -> Self {
        Self {
            queue: Queue::DropTail { limit: Limit::None },
            products: None,
            ack_filter: false,
            after_channel: false,
        }
    }
}

/// A limit as written.
enum Size {
    Limit(Limit),
    Products(f64),
}

/// Reads a queue.
pub(super) fn read(diag: &Diagnostics<'_>, value: &Value) -> Option<QueueDraft> {
    let reader = Reader::of(diag, value, "a queue")?;
    let Some(kind) = reader.kind(&["drop-tail", "red"], Some("drop-tail")) else {
        reader.abandon();
        return None;
    };
    let (limit, products) = match reader.get("size").and_then(|value| size(diag, value)) {
        Some(Size::Limit(limit)) => (limit, None),
        Some(Size::Products(products)) => (Limit::None, Some(products)),
        None => (Limit::None, None),
    };
    let queue = match kind {
        "red" => Queue::Red(red(&reader, limit)),
        _ => Queue::DropTail { limit },
    };
    let ack_filter = reader.flag("ack_filter", false);
    let after_channel = reader.flag("after_channel", false);
    reader.finish();
    Some(QueueDraft { queue, products, ack_filter, after_channel })
}

/// Thresholds and weights as Floyd and Jacobson (1993) name them; the defaults are their later recommendations (Floyd
/// 1997: min 5 packets, max three times min, weight 0.002, probability 0.1; gentle since 2000).
fn red(reader: &Reader<'_>, limit: Limit) -> Red {
    let packets = |key| reader.get(key).and_then(|value| packets(reader.diag, value));
    let min_threshold = packets("min").unwrap_or(5.0);
    let max_threshold = packets("max").unwrap_or((3.0 * min_threshold).min(MAX_PACKETS));
    if min_threshold >= max_threshold {
        let place =
            reader.get("max").or_else(|| reader.get("min")).map_or(reader.place, |value| &value.place);
        let message = format!("max ({max_threshold} packets) is not above min ({min_threshold} packets)");
        reader.diag.report(place, message, Some("max above min".into()), None);
    }
    let weight = reader.get("weight").and_then(|value| {
        reader.diag.number(value, |w| w > 0.0 && w <= 1.0, "a weight above 0 and at most 1")
    });
    Red {
        limit,
        min_threshold,
        max_threshold,
        max_probability: reader.probability("max_probability", 0.1),
        weight: weight.unwrap_or(0.002),
        gentle: reader.flag("gentle", true),
        ecn: reader.flag("ecn", false),
    }
}

fn packets(diag: &Diagnostics<'_>, value: &Value) -> Option<f64> {
    match diag.quantity(value, &[Dimension::Packets], "packets")? {
        Quantity::Packets(n) if n > 0.0 && n <= MAX_PACKETS => Some(n),
        _ => {
            diag.refuse(value, "a number of packets above 0");
            None
        }
    }
}

fn size(diag: &Diagnostics<'_>, value: &Value) -> Option<Size> {
    const EXPECTED: &str = "\"bdp\", \"2bdp\", \"84packets\" or \"64kB\"";
    let products = value.text().and_then(|text| text.trim().strip_suffix("bdp"));
    if let Some(products) = products {
        let factor = if products.is_empty() { Some(1.0) } else { products.trim().parse::<f64>().ok() };
        return match factor {
            Some(factor) if factor > 0.0 && factor <= 1e6 => Some(Size::Products(factor)),
            _ => {
                diag.refuse(value, EXPECTED);
                None
            }
        };
    }
    let quantity = match value.text() {
        Some(text) => parse_as(text, &[Dimension::Packets, Dimension::Size], "packets"),
        None => return diag.quantity(value, &[Dimension::Packets, Dimension::Size], "packets").and(None),
    };
    match quantity {
        Ok(Quantity::Packets(0.0) | Quantity::Bytes(0)) => {
            let message = format!("{}: a queue of zero drops whatever has to wait", value.shown());
            diag.report(
                &value.place,
                message,
                Some("at least \"1packet\"".into()),
                Some(format!("write {EXPECTED}")),
            );
            None
        }
        Ok(Quantity::Packets(n)) if n.fract() == 0.0 && n <= MAX_PACKETS => {
            Some(Size::Limit(Limit::Packets(n as u64)))
        }
        Ok(Quantity::Bytes(n)) if n <= MAX_BYTES => Some(Size::Limit(Limit::Bytes(n))),
        Ok(_) => {
            diag.refuse(value, "a whole number of packets or bytes");
            None
        }
        Err(error) => {
            diag.report(&value.place, error.message, Some(EXPECTED.to_owned()), error.help);
            None
        }
    }
}
