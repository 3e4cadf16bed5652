//! How packets find their way over a medium: a word, or a table with the settings of a protocol.

use super::super::reader::Reader;
use crate::model::Routing;
use std::ops::RangeInclusive;
use truckee_routing::{BufferConfig, Config, aodv, dsdv, olsr};
use truckee_tcp::Span;

const KINDS: [&str; 4] = ["static", "aodv", "olsr", "dsdv"];
/// The protocols themselves say what lies beyond what they can be told.
const TIMES: RangeInclusive<Span> = Span::ZERO..=Span::s(86_400);

/// The key `routing`. What cannot be is reported, and goes by the defaults.
pub(super) fn read(medium: &Reader<'_>) -> Routing {
    let diag = medium.diag;
    let Some(value) = medium.get("routing") else { return Routing::Static };
    if value.table().is_none() {
        let word = diag.choice(value, "routing", &KINDS);
        return word
            .and_then(Config::named)
            .map_or(Routing::Static, |config| Routing::Protocol(Box::new(config)));
    }
    let Some(reader) = Reader::of(diag, value, "routing") else { return Routing::Static };
    let Some(config) = reader.kind(&KINDS, None).map(Config::named) else {
        reader.abandon();
        return Routing::Static;
    };
    let config = config.map(|config| match config {
        Config::Aodv(default) => Config::Aodv(aodv(&reader, default)),
        Config::Olsr(default) => Config::Olsr(olsr(&reader, default)),
        Config::Dsdv(default) => Config::Dsdv(dsdv(&reader, default)),
    });
    reader.finish();
    if let Some(Err(error)) = config.as_ref().map(Config::check) {
        diag.report(&value.place, format!("{} {}", error.place, error.value), Some(error.expected), None);
        return Routing::Static;
    }
    config.map_or(Routing::Static, |config| Routing::Protocol(Box::new(config)))
}

fn time(reader: &Reader<'_>, key: &'static str, default: Span) -> Span {
    reader.time(key, default, TIMES, "s")
}

fn small(reader: &Reader<'_>, key: &'static str, default: u8) -> u8 {
    reader.count(key, default.into(), 0..=255) as u8
}

fn count(reader: &Reader<'_>, key: &'static str, default: u32) -> u32 {
    reader.count(key, default.into(), 0..=u64::from(u32::MAX)) as u32
}

fn share(reader: &Reader<'_>, key: &'static str, default: f64) -> f64 {
    let value = reader.get(key);
    let number =
        value.and_then(|v| reader.diag.number(v, |x| (0.0..=1.0).contains(&x), "a number from 0 to 1"));
    number.unwrap_or(default)
}

fn buffer(reader: &Reader<'_>, default: BufferConfig) -> BufferConfig {
    BufferConfig {
        packets: count(reader, "buffer", default.packets),
        per_destination: count(reader, "buffer_per_destination", default.per_destination),
        time: time(reader, "buffer_time", default.time),
    }
}

fn aodv(reader: &Reader<'_>, default: aodv::Config) -> aodv::Config {
    let hellos = aodv::Hello::default();
    let hello = aodv::Hello {
        interval: time(reader, "hello_interval", hellos.interval),
        allowed_loss: count(reader, "allowed_hello_loss", hellos.allowed_loss),
    };
    let repairs = aodv::Repair::default();
    let repair = aodv::Repair {
        max_ttl: small(reader, "max_repair_ttl", repairs.max_ttl),
        add_ttl: small(reader, "local_add_ttl", repairs.add_ttl),
    };
    aodv::Config {
        active_route_timeout: time(reader, "active_route_timeout", default.active_route_timeout),
        my_route_timeout: time(reader, "my_route_timeout", default.my_route_timeout),
        delete_period: time(reader, "delete_period", default.delete_period),
        net_diameter: small(reader, "net_diameter", default.net_diameter),
        node_traversal_time: time(reader, "node_traversal_time", default.node_traversal_time),
        rreq_retries: count(reader, "rreq_retries", default.rreq_retries),
        rreq_rate_limit: count(reader, "rreq_rate_limit", default.rreq_rate_limit),
        rerr_rate_limit: count(reader, "rerr_rate_limit", default.rerr_rate_limit),
        ttl_start: small(reader, "ttl_start", default.ttl_start),
        ttl_increment: small(reader, "ttl_increment", default.ttl_increment),
        ttl_threshold: small(reader, "ttl_threshold", default.ttl_threshold),
        timeout_buffer: count(reader, "timeout_buffer", default.timeout_buffer),
        link_layer: reader.flag("link_layer", default.link_layer),
        hello: reader.flag("hello", default.hello.is_some()).then_some(hello),
        local_repair: reader.flag("local_repair", default.local_repair.is_some()).then_some(repair),
        salvage: reader.flag("salvage", default.salvage),
        gratuitous: reader.flag("gratuitous", default.gratuitous),
        destination_only: reader.flag("destination_only", default.destination_only),
        acknowledge: reader.flag("acknowledge", default.acknowledge),
        jitter: time(reader, "jitter", default.jitter),
        buffer: buffer(reader, default.buffer),
        ..default
    }
}

fn olsr(reader: &Reader<'_>, default: olsr::Config) -> olsr::Config {
    let hysteresis = olsr::Hysteresis::default();
    let hysteresis = olsr::Hysteresis {
        scaling: share(reader, "hyst_scaling", hysteresis.scaling),
        high: share(reader, "hyst_threshold_high", hysteresis.high),
        low: share(reader, "hyst_threshold_low", hysteresis.low),
    };
    olsr::Config {
        hello_interval: time(reader, "hello_interval", default.hello_interval),
        tc_interval: time(reader, "tc_interval", default.tc_interval),
        neighbour_hold_time: time(reader, "neighb_hold_time", default.neighbour_hold_time),
        topology_hold_time: time(reader, "top_hold_time", default.topology_hold_time),
        duplicate_hold_time: time(reader, "dup_hold_time", default.duplicate_hold_time),
        jitter: time(reader, "jitter", default.jitter),
        willingness: small(reader, "willingness", default.willingness),
        hysteresis: reader.flag("hysteresis", default.hysteresis.is_some()).then_some(hysteresis),
        link_layer: reader.flag("link_layer", default.link_layer),
    }
}

fn dsdv(reader: &Reader<'_>, default: dsdv::Config) -> dsdv::Config {
    dsdv::Config {
        period: time(reader, "period", default.period),
        allowed_loss: count(reader, "allowed_loss", default.allowed_loss),
        settling_time: time(reader, "settling_time", default.settling_time),
        settling_weight: share(reader, "settling_weight", default.settling_weight),
        triggered_interval: time(reader, "triggered_interval", default.triggered_interval),
        spreads_breaks: reader.flag("spreads_breaks", default.spreads_breaks),
        full_share: share(reader, "full_share", default.full_share),
        startup: time(reader, "startup", default.startup),
        jitter: time(reader, "jitter", default.jitter),
        link_layer: reader.flag("link_layer", default.link_layer),
        buffer: buffer(reader, default.buffer),
        ..default
    }
}
