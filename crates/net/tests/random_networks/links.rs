//! Random links: what joins nodes, its queues, and what its channels do.

use crate::dice::Dice;
use std::sync::Arc;
use truckee_channel::queue::{ActiveConfig, CoDelConfig, FqCoDelConfig, PieConfig, RedConfig};
use truckee_channel::{CapacityTrace, ChannelConfig, Effect, JitterDistribution, ReorderWhich, Script};
use truckee_scenario::model::*;
use truckee_tcp::{Span, Time};

const NS: Span = Span::ns(1);
const MS: Span = Span::ms(1);
const S: Span = Span::s(1);

/// A tree, so that all nodes are joined, and some links more.
pub fn links(dice: &mut Dice, nodes: usize, patient: bool) -> Vec<Link> {
    let more = dice.whole(0, 3) as usize;
    let mut links = Vec::new();
    for k in 1..nodes + more {
        let (first, second) = if k < nodes {
            (dice.whole(0, k as u64 - 1) as usize, k)
        } else {
            let first = dice.whole(0, nodes as u64 - 1) as usize;
            (first, (first + dice.whole(1, nodes as u64 - 1) as usize) % nodes)
        };
        let forward = Arc::new(direction(dice, patient));
        let back = if dice.chance(0.5) { forward.clone() } else { Arc::new(direction(dice, patient)) };
        // A name of its own for every link: two may join the same nodes.
        links.push(Link {
            name: Some(format!("link{k}").into()),
            first,
            second,
            forward,
            back,
            quick_start: true,
            steps: None,
        });
    }
    links
}

fn direction(dice: &mut Dice, patient: bool) -> Direction {
    let rate = match dice.whole(0, 19) {
        0 if patient => 1_000_000_000_000_000,
        0 => dice.whole(1, 1000),
        _ => dice.spread(5e4, if patient { 1e9 } else { 3e7 }) as u64,
    };
    let delay = match dice.whole(0, 9) {
        0..3 => Span::ZERO,
        3 => dice.span(NS, 2 * S),
        _ => Span::truncated(dice.spread(1e3, 2e8)),
    };
    let mut effects = Vec::new();
    if dice.chance(if patient { 0.3 } else { 0.6 }) {
        (0..dice.whole(1, 2)).for_each(|_| effects.push(effect(dice, patient)));
    }
    if dice.chance(0.1) {
        effects.push(Effect::Trace(trace(dice)));
    }
    let queue = queue(dice);
    Direction {
        rate,
        delay,
        queue,
        ack_filter: dice.chance(0.3),
        after_channel: false,
        channel: ChannelConfig { effects },
    }
}

pub fn trace(dice: &mut Dice) -> Arc<CapacityTrace> {
    let mut at = 0;
    let opportunities_ms = (0..dice.whole(1, 20))
        .map(|_| {
            at += dice.whole(0, 30) as u32;
            at
        })
        .collect();
    Arc::new(CapacityTrace { name: "random".into(), opportunities_ms })
}

fn limit(dice: &mut Dice) -> Limit {
    match dice.whole(0, 5) {
        0 => Limit::None,
        1 | 2 => Limit::Bytes(dice.spread(1.0, 1e5) as u64),
        _ => Limit::Packets(dice.spread(1.0, 200.0) as u64),
    }
}

fn queue(dice: &mut Dice) -> Queue {
    if dice.chance(0.8) {
        return Queue::DropTail { limit: limit(dice) };
    }
    let min_threshold = dice.spread(0.5, 20.0);
    Queue::Red(RedConfig {
        limit: limit(dice),
        min_threshold,
        max_threshold: min_threshold * dice.spread(1.5, 4.0),
        max_probability: dice.spread(0.01, 0.9),
        weight: dice.spread(0.001, 0.5),
        gentle: dice.chance(0.5),
        ecn: dice.chance(0.5),
    })
}

/// Puts queues that decide at departures in the place of RED's, without a draw: what follows stays as it was before there
/// were any.
pub fn activate(links: &mut [Link], seed: u64) {
    let directions = links.iter_mut().flat_map(|link| [&mut link.forward, &mut link.back]);
    for (k, direction) in directions.enumerate() {
        let Queue::Red(RedConfig { limit, ecn, .. }) = direction.queue else { continue };
        // In a queue of a packet or two that drops at the head one flow can starve another for ever.
        let limit = match limit {
            Limit::Packets(n) => Limit::Packets(n.max(20)),
            _ => Limit::None,
        };
        let direction = Arc::make_mut(direction);
        direction.ack_filter = false;
        direction.queue = Queue::Active(match (seed + k as u64) % 3 {
            0 => ActiveConfig::CoDel(CoDelConfig { limit, ecn, ..CoDelConfig::default() }),
            1 => ActiveConfig::FqCoDel(FqCoDelConfig { limit, ecn, queues: 4, ..FqCoDelConfig::default() }),
            _ => ActiveConfig::Pie(PieConfig { limit, ecn, ..PieConfig::default() }),
        });
    }
}

fn effect(dice: &mut Dice, patient: bool) -> Effect {
    let per = dice.spread(1e-4, if patient { 0.15 } else { 1.0 });
    match dice.whole(0, 11) {
        0 | 1 => Effect::Bernoulli { per },
        2 => Effect::BitErrors { ber: dice.spread(1e-8, 2e-5) },
        3 => Effect::Gilbert {
            good: Span::truncated(dice.spread(if patient { 1e8 } else { 1e6 }, 5e9)),
            bad: Span::truncated(dice.spread(1e6, if patient { 2e8 } else { 5e9 })),
            per_good: if dice.chance(0.5) { 0.0 } else { per / 10.0 },
            per_bad: dice.spread(0.1, 1.0),
        },
        4 => Effect::Bursts {
            every: dice.span(500 * MS, 5 * S),
            lasting: dice.span(NS, if patient { 100 } else { 500 } * MS),
            until: if dice.chance(0.5) { Some(Time::at(dice.within(10 * S))) } else { None },
            phase: if dice.chance(0.5) { Some(dice.within(499 * MS)) } else { None },
        },
        5 => Effect::Outages {
            at: vec![(Time::at(dice.within(2 * S)), dice.span(NS, 3 * S)), (Time::s(10), S)],
        },
        6 => Effect::PoissonOutages { every: dice.span(S, 9 * S), lasting: dice.span(NS, S) },
        7 => {
            let first = dice.whole(1, 30);
            Effect::Scripted(Script {
                flow: if dice.chance(0.5) { Some(0) } else { None },
                packets: vec![(first, first + dice.whole(0, 9)), (60, 60)],
                during: if dice.chance(0.3) {
                    vec![(Time::s(1), Time::s(1) + dice.span(NS, S))]
                } else {
                    Vec::new()
                },
                ..Script::default()
            })
        }
        8 => Effect::Correlated { per, correlation: dice.whole(0, 90) as f64 / 100.0 },
        9 => {
            let distribution = match dice.whole(0, 2) {
                0 => JitterDistribution::Uniform { max: Span::truncated(dice.spread(1e3, 5e8)) },
                1 => JitterDistribution::Normal { mean: dice.within(50 * MS), sd: dice.within(50 * MS) },
                _ => JitterDistribution::Pareto { scale: dice.span(NS, MS), shape: dice.spread(0.8, 4.0) },
            };
            Effect::Jitter { distribution, correlation_time: Span::ZERO, keep_order: dice.chance(0.5) }
        }
        10 => Effect::Duplicate {
            probability: dice.spread(0.001, 1.0),
            after: if dice.chance(0.5) { Span::ZERO } else { dice.within(100 * MS) },
        },
        _ => {
            let n = dice.whole(1, 50);
            let which = if dice.chance(0.5) {
                ReorderWhich::Every(n)
            } else {
                ReorderWhich::Probability(1.0 / n as f64)
            };
            Effect::Reorder { which, delay: dice.span(NS, 300 * MS) }
        }
    }
}
