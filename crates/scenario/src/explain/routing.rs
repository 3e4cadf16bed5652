//! How packets find their way over a medium, with every setting, as a file would have it.

use super::toml::{Inline, quoted, time};
use crate::model::Routing;
use truckee_routing::{BufferConfig, Config, aodv, dsdv, olsr};

/// The value of the key `routing`.
pub(super) fn routing(routing: &Routing) -> String {
    match routing {
        Routing::Static => quoted("static"),
        Routing::Protocol(config) => match &**config {
            Config::Aodv(config) => aodv(config),
            Config::Olsr(config) => olsr(config),
            Config::Dsdv(config) => dsdv(config),
        },
    }
}

fn buffer(table: Inline, buffer: &BufferConfig) -> Inline {
    table
        .with("buffer", buffer.packets.to_string())
        .with("buffer_per_destination", buffer.per_destination.to_string())
        .with("buffer_time", time(buffer.time))
}

fn aodv(config: &aodv::Config) -> String {
    let mut table = Inline::kind("aodv")
        .with("active_route_timeout", time(config.active_route_timeout))
        .with("my_route_timeout", time(config.my_route_timeout))
        .with("delete_period", time(config.delete_period))
        .with("net_diameter", config.net_diameter.to_string())
        .with("node_traversal_time", time(config.node_traversal_time))
        .with("rreq_retries", config.rreq_retries.to_string())
        .with("rreq_rate_limit", config.rreq_rate_limit.to_string())
        .with("rerr_rate_limit", config.rerr_rate_limit.to_string())
        .with("ttl_start", config.ttl_start.to_string())
        .with("ttl_increment", config.ttl_increment.to_string())
        .with("ttl_threshold", config.ttl_threshold.to_string())
        .with("timeout_buffer", config.timeout_buffer.to_string())
        .with("link_layer", config.link_layer.to_string())
        .with("hello", config.hello.is_some().to_string());
    if let Some(hello) = config.hello {
        table = table
            .with("hello_interval", time(hello.interval))
            .with("allowed_hello_loss", hello.allowed_loss.to_string());
    }
    table = table.with("local_repair", config.local_repair.is_some().to_string());
    if let Some(repair) = config.local_repair {
        table = table
            .with("max_repair_ttl", repair.max_ttl.to_string())
            .with("local_add_ttl", repair.add_ttl.to_string());
    }
    let table = table
        .with("salvage", config.salvage.to_string())
        .with("gratuitous", config.gratuitous.to_string())
        .with("destination_only", config.destination_only.to_string())
        .with("acknowledge", config.acknowledge.to_string())
        .with("jitter", time(config.jitter));
    buffer(table, &config.buffer).end()
}

fn olsr(config: &olsr::Config) -> String {
    let mut table = Inline::kind("olsr")
        .with("hello_interval", time(config.hello_interval))
        .with("tc_interval", time(config.tc_interval))
        .with("neighb_hold_time", time(config.neighbour_hold_time))
        .with("top_hold_time", time(config.topology_hold_time))
        .with("dup_hold_time", time(config.duplicate_hold_time))
        .with("jitter", time(config.jitter))
        .with("willingness", config.willingness.to_string())
        .with("hysteresis", config.hysteresis.is_some().to_string());
    if let Some(hysteresis) = config.hysteresis {
        table = table
            .with("hyst_scaling", hysteresis.scaling.to_string())
            .with("hyst_threshold_high", hysteresis.high.to_string())
            .with("hyst_threshold_low", hysteresis.low.to_string());
    }
    table.with("link_layer", config.link_layer.to_string()).end()
}

fn dsdv(config: &dsdv::Config) -> String {
    let table = Inline::kind("dsdv")
        .with("period", time(config.period))
        .with("allowed_loss", config.allowed_loss.to_string())
        .with("settling_time", time(config.settling_time))
        .with("settling_weight", config.settling_weight.to_string())
        .with("triggered_interval", time(config.triggered_interval))
        .with("spreads_breaks", config.spreads_breaks.to_string())
        .with("full_share", config.full_share.to_string())
        .with("startup", time(config.startup))
        .with("jitter", time(config.jitter))
        .with("link_layer", config.link_layer.to_string());
    buffer(table, &config.buffer).end()
}
