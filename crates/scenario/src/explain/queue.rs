//! Queues, those of links and of stations.

use super::toml::{Inline, bytes, number, quoted, time};
use crate::model::{Direction, Limit, Queue};
use truckee_channel::queue::ActiveConfig;

fn limit(limit: Limit) -> Option<String> {
    match limit {
        Limit::None => None,
        Limit::Packets(n) => Some(quoted(&format!("{n}packets"))),
        Limit::Bytes(n) => Some(bytes(n)),
    }
}

pub(super) fn queue_text(direction: &Direction) -> String {
    let on = |flag: bool| flag.then(|| "true".to_owned());
    queue_table(&direction.queue)
        .with_some("ack_filter", on(direction.ack_filter))
        .with_some("after_channel", on(direction.after_channel))
        .end()
}

pub(super) fn queue_table(queue: &Queue) -> Inline {
    match queue {
        Queue::DropTail { limit: l } => Inline::kind("drop-tail").with_some("size", limit(*l)),
        Queue::Red(red) => Inline::kind("red")
            .with_some("size", limit(red.limit))
            .with("min", quoted(&format!("{}packets", red.min_threshold)))
            .with("max", quoted(&format!("{}packets", red.max_threshold)))
            .with("max_probability", number(red.max_probability))
            .with("weight", number(red.weight))
            .with("gentle", red.gentle.to_string())
            .with("ecn", red.ecn.to_string()),
        Queue::Active(config) => active(config),
    }
}

fn active(config: &ActiveConfig) -> Inline {
    let begun = |kind| Inline::kind(kind).with_some("size", limit(config.limit()));
    match config {
        ActiveConfig::CoDel(c) => begun("codel")
            .with("target", time(c.target))
            .with("interval", time(c.interval))
            .with("ecn", c.ecn.to_string()),
        ActiveConfig::FqCoDel(c) => begun("fq-codel")
            .with("target", time(c.target))
            .with("interval", time(c.interval))
            .with("queues", c.queues.to_string())
            .with("quantum", c.quantum.to_string())
            .with("ecn", c.ecn.to_string()),
        ActiveConfig::Pie(c) => begun("pie")
            .with("target", time(c.target))
            .with("update", time(c.update))
            .with("burst", time(c.burst))
            .with("alpha", number(c.alpha))
            .with("beta", number(c.beta))
            .with("ecn", c.ecn.to_string()),
    }
}
