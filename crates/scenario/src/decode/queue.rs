//! Queues: the tables under `queue` and `queue_back`.

use super::diagnostics::{Diagnostics, MAX_BYTES};
use super::reader::Reader;
use crate::document::tree::Value;
use crate::model::{Limit, Queue};
use crate::units::{Dimension, Quantity, parse_as};
use std::ops::RangeInclusive;
use truckee_channel::queue::{ActiveConfig, CoDelConfig, FqCoDelConfig, PieConfig, RedConfig};
use truckee_tcp::Span;

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

/// The kinds of queues.
const KINDS: [&str; 5] = ["drop-tail", "red", "codel", "fq-codel", "pie"];

/// Targets, intervals and updates: shorter ones are noise of the clock, and longer ones no rule.
const TIMES: RangeInclusive<Span> = Span::us(1)..=Span::s(3600);

/// A limit as written.
enum Size {
    Limit(Limit),
    Products(f64),
}

/// Reads a queue.
pub(super) fn read(diag: &Diagnostics<'_>, value: &Value) -> Option<QueueDraft> {
    let reader = Reader::of(diag, value, "a queue")?;
    let Some(kind) = reader.kind(&KINDS, Some("drop-tail")) else {
        reader.abandon();
        return None;
    };
    let (given, products) = match reader.get("size").and_then(|value| size(diag, value)) {
        Some(Size::Limit(limit)) => (Some(limit), None),
        Some(Size::Products(products)) => (None, Some(products)),
        None => (None, None),
    };
    let limit = given.unwrap_or(Limit::None);
    let mut queue = match kind {
        "red" => Queue::Red(red(&reader, limit)),
        "codel" => Queue::Active(ActiveConfig::CoDel(codel(&reader))),
        "fq-codel" => Queue::Active(ActiveConfig::FqCoDel(fq_codel(&reader))),
        "pie" => Queue::Active(ActiveConfig::Pie(pie(&reader))),
        _ => Queue::DropTail { limit },
    };
    if let (Queue::Active(config), Some(limit)) = (&mut queue, given) {
        *config.limit_mut() = limit;
    }
    let ack_filter = reader.flag("ack_filter", false);
    if ack_filter && matches!(queue, Queue::Active(_)) {
        let place = reader.get("ack_filter").map_or(reader.place, |value| &value.place);
        let message =
            format!("an ACK filter keeps places of a queue that is served in order, which {kind} is not");
        diag.report(place, message, Some("a drop-tail or red queue".into()), None);
    }
    let after_channel = reader.flag("after_channel", false);
    reader.finish();
    Some(QueueDraft { queue, products, ack_filter, after_channel })
}

/// Thresholds and weights as Floyd and Jacobson (1993) name them; the defaults are their later recommendations (Floyd
/// 1997: min 5 packets, max three times min, weight 0.002, probability 0.1; gentle since 2000).
fn red(reader: &Reader<'_>, limit: Limit) -> RedConfig {
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
    RedConfig {
        limit,
        min_threshold,
        max_threshold,
        max_probability: reader.probability("max_probability", 0.1),
        weight: weight.unwrap_or(0.002),
        gentle: reader.flag("gentle", true),
        ecn: reader.flag("ecn", false),
    }
}

/// Defaults are those of RFC 8289.
fn codel(reader: &Reader<'_>) -> CoDelConfig {
    let default = CoDelConfig::default();
    let (target, interval) = target_and_interval(reader, default.target, default.interval);
    CoDelConfig { target, interval, ecn: reader.flag("ecn", default.ecn), ..default }
}

/// Defaults are those of RFC 8290.
fn fq_codel(reader: &Reader<'_>) -> FqCoDelConfig {
    let default = FqCoDelConfig::default();
    let (target, interval) = target_and_interval(reader, default.target, default.interval);
    FqCoDelConfig {
        target,
        interval,
        queues: reader.count("queues", u64::from(default.queues), 1..=65_536) as u32,
        quantum: reader.count("quantum", u64::from(default.quantum), 64..=1_000_000) as u32,
        ecn: reader.flag("ecn", default.ecn),
        ..default
    }
}

/// The wait that is acceptable, and for how long it may be exceeded, which cannot be shorter.
fn target_and_interval(reader: &Reader<'_>, target: Span, interval: Span) -> (Span, Span) {
    let target = reader.time("target", target, TIMES, "ms");
    let interval = reader.time("interval", interval.max(target), TIMES, "ms");
    if interval < target {
        let place = reader.get("interval").map_or(reader.place, |value| &value.place);
        let ms = |time: Span| 1e3 * time.seconds();
        let message =
            format!("an interval of {} ms is shorter than the target of {} ms", ms(interval), ms(target));
        reader.diag.report(
            place,
            message,
            Some("an interval of some round trips, the target a tenth of it".into()),
            None,
        );
    }
    (target, interval)
}

/// Defaults are those of RFC 8033.
fn pie(reader: &Reader<'_>) -> PieConfig {
    let default = PieConfig::default();
    let weight = |key, default| {
        let value = reader.get(key).and_then(|value| {
            reader.diag.number(
                value,
                |w| w > 0.0 && w <= 1000.0,
                "a weight above 0 and at most 1000 a second",
            )
        });
        value.unwrap_or(default)
    };
    PieConfig {
        target: reader.time("target", default.target, TIMES, "ms"),
        update: reader.time("update", default.update, TIMES, "ms"),
        burst: reader.time("burst", default.burst, Span::ZERO..=*TIMES.end(), "ms"),
        alpha: weight("alpha", default.alpha),
        beta: weight("beta", default.beta),
        ecn: reader.flag("ecn", default.ecn),
        ..default
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
