//! Random scenarios, a function of their seed. Small: a run takes milliseconds.

use crate::dice::Dice;
use crate::links::{activate, links, trace};
use std::sync::Arc;
use truckee_channel::random::stream;
use truckee_scenario::Scenario;
use truckee_scenario::model::*;
use truckee_tcp::ack::{AckPolicy, AnyAckPolicy, Honesty};
use truckee_tcp::detect::AnyDetector;
use truckee_tcp::estimate::AnyEstimator;
use truckee_tcp::predict::AnyPredictor;
use truckee_tcp::preset::PRESETS;
use truckee_tcp::stack::{Ecn, ReduceFrom, RtoSamples};
use truckee_tcp::{Arg, Info, Profile, Size, Span, Spec, Stack, Time};

const NS: Span = Span::ns(1);
const MS: Span = Span::ms(1);
const S: Span = Span::s(1);

/// A network and what may be asked of it.
pub struct Case {
    pub scenario: Scenario,
    /// Whether every flow over files must complete: nothing is lost for good and there is time enough.
    pub must_complete: bool,
}

/// The network of a seed.
pub fn network(seed: u64) -> Case {
    let mut dice = Dice(stream(seed, "random network"));
    let kind = dice.whole(0, 99);
    // Most have all the time that they may need, some of them years; the others are cut off.
    let patient = kind < 60;
    let duration = if kind < 3 {
        315_360_000 * S
    } else if patient {
        2_000_000 * S
    } else {
        Span::truncated(dice.spread(5e7, 5e9))
    };
    let nodes = dice.whole(2, 8) as usize;
    let mut links = links(&mut dice, nodes, patient);
    if seed % 2 == 1 {
        activate(&mut links, seed);
    }
    let flows: Vec<Flow> =
        (0..dice.whole(1, 3)).map(|k| flow(&mut dice, k, nodes, &links, patient, duration)).collect();
    let traffic = (0..dice.whole(0, 2)).map(|k| traffic(&mut dice, k, nodes, &links, duration)).collect();
    let changes = changes(&mut dice, &links, flows.len(), duration);
    let warmup = if dice.chance(0.2) { dice.within((duration - NS).min(3 * S)) } else { Span::ZERO };
    let scenario = Scenario {
        name: format!("network-{seed}"),
        duration,
        warmup,
        seed,
        stop_when_done: dice.chance(0.9) || patient,
        nodes: (0..nodes).map(|n| format!("n{n}")).collect(),
        links,
        places: Vec::new(),
        media: Vec::new(),
        flows,
        traffic,
        changes,
        cells: None,
        kernel: Default::default(),
    };
    let must_complete = patient && scenario.flows.iter().all(is_done_in_time);
    Case { scenario, must_complete }
}

/// Whether a file would be there in half of a patient run even if each window of it took a timeout: a buffer of a few
/// bytes and a queue that loses the second ACK of every pair make that happen.
fn is_done_in_time(flow: &Flow) -> bool {
    let stack = &flow.stack;
    let buffer = stack.send_buffer.map_or(u64::MAX, |size| size.bytes(stack.mss));
    let window = buffer.min(stack.rwnd.bytes(stack.mss)).min(u64::from(stack.mss)).max(1);
    let bytes = match flow.app {
        App::File { size } => size,
        App::Files { size, count, .. } => size.saturating_mul(count),
        App::RequestResponse { request, response, count, .. } => {
            (request + response).saturating_mul(count.unwrap_or(1))
        }
        _ => 0,
    };
    stack.max_rto.saturating_mul(bytes / window) <= 1_000_000 * S
}

fn two_nodes(dice: &mut Dice, nodes: usize) -> (NodeId, NodeId) {
    let from = dice.whole(0, nodes as u64 - 1) as usize;
    (from, (from + dice.whole(1, nodes as u64 - 1) as usize) % nodes)
}

fn sender(dice: &mut Dice) -> Sender {
    let preset = dice.one(PRESETS);
    let profile = if dice.chance(0.2) { Profile::Ns2 } else { Profile::Rfc };
    Sender {
        label: preset.info.name.to_owned(),
        recovery: profile.part(preset.recovery()),
        growth: profile.growth(preset.growth()),
        response: profile.part(preset.response()),
        start: preset.start(),
        pacing: if dice.chance(0.1) { Spec::named("per-window") } else { preset.pacing() },
        controller: None,
        native: None,
    }
}

/// Now and then all predictors and all estimators watch.
fn observe(dice: &mut Dice) -> Observe {
    let all = |members: &[Info]| -> Vec<(String, Spec)> {
        members.iter().map(|m| (m.name.to_owned(), Spec::named(m.name))).collect()
    };
    let watched = dice.chance(0.2);
    Observe {
        predictors: if watched { all(AnyPredictor::MEMBERS) } else { Vec::new() },
        estimators: if watched { all(AnyEstimator::MEMBERS) } else { Vec::new() },
        detectors: if watched { all(AnyDetector::MEMBERS) } else { Vec::new() },
        every: dice.whole(10, 1000) * MS,
    }
}

/// Ends and, now and then, a written route between them: a walk along links that meets no node twice.
fn way(dice: &mut Dice, nodes: usize, links: &[Link]) -> (NodeId, NodeId, Option<Vec<NodeId>>) {
    if dice.chance(0.8) {
        let (from, to) = two_nodes(dice, nodes);
        return (from, to, None);
    }
    let mut walk = vec![dice.whole(0, nodes as u64 - 1) as usize];
    loop {
        let here = walk[walk.len() - 1];
        let beyond = links.iter().filter_map(|l| match here {
            n if n == l.first => Some(l.second),
            n if n == l.second => Some(l.first),
            _ => None,
        });
        let open: Vec<NodeId> = beyond.filter(|n| !walk.contains(n)).collect();
        if open.is_empty() || (walk.len() > 1 && dice.chance(0.2)) {
            return (walk[0], here, Some(walk));
        }
        walk.push(dice.one(&open));
    }
}

fn flow(dice: &mut Dice, number: u64, nodes: usize, links: &[Link], patient: bool, duration: Span) -> Flow {
    let (from, to, route) = way(dice, nodes, links);
    let receiver = receiver(dice);
    let stack = stack(dice);
    let start = match dice.whole(0, 9) {
        0..6 => Time::ZERO,
        6 if !patient => Time::at(dice.within(2 * duration)),
        _ => Time::at(dice.within(2 * S)),
    };
    let settings = Arc::new(FlowSettings {
        sender: sender(dice),
        receiver,
        observe: observe(dice),
        app: app(dice, &stack, patient),
        stop: if dice.chance(0.1) { Some(start + dice.span(NS, 5 * S)) } else { None },
        stack,
        processing: Span::ZERO,
    });
    Flow { name: format!("f{number}"), from, to, start, route, settings }
}

fn receiver(dice: &mut Dice) -> Spec {
    match dice.whole(0, 5) {
        0 | 1 => Spec::named("every"),
        2 => Spec::named("delayed"),
        3 => Spec::named("delayed").with("timeout", Arg::Time(dice.whole(1, 500) * MS)),
        _ => Spec::named(dice.one(&reliable_policies())),
    }
}

/// Every sender with a published name.
pub fn senders() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.info.name).collect()
}

/// Every ACK policy.
pub fn receivers() -> Vec<&'static str> {
    AnyAckPolicy::MEMBERS.iter().map(|member| member.name).collect()
}

/// All ACK policies but those that acknowledge what has not come.
fn reliable_policies() -> Vec<&'static str> {
    let reliable = |name: &&str| {
        AnyAckPolicy::build(&Spec::named(name)).is_ok_and(|(p, _)| p.honesty() != Honesty::FeignsArrival)
    };
    receivers().into_iter().filter(reliable).collect()
}

fn stack(dice: &mut Dice) -> Stack {
    let mss = dice.one(&[1460, 1460, 1460, 536, 9000, 100]);
    let window = |dice: &mut Dice, most: f64| {
        if dice.chance(0.8) {
            Size::Segments(dice.spread(0.5, most))
        } else {
            Size::Bytes(dice.spread(1.0, most * f64::from(mss)) as u64)
        }
    };
    let min_rto = dice.one(&[S, S, 200 * MS, 500 * MS, MS, NS]);
    let ns2 = |dice: &mut Dice| dice.chance(0.2);
    Stack {
        limited_resends: ns2(dice),
        rto_samples: if ns2(dice) { RtoSamples::OneAWindow } else { RtoSamples::EveryAck },
        rto_tick: if ns2(dice) { dice.one(&[NS, MS, 10 * MS, 500 * MS]) } else { Span::ZERO },
        reduce_from: if ns2(dice) { ReduceFrom::Window } else { ReduceFrom::Flight },
        whole_ssthresh: ns2(dice),
        repeated_reduction: ns2(dice),
        validate_window: !ns2(dice),
        mss,
        initial_window: window(dice, 30.0),
        initial_ssthresh: if dice.chance(0.3) { Some(window(dice, 100.0)) } else { None },
        min_rto,
        max_rto: dice.one(&[64 * S, 64 * S, 3 * S]).max(min_rto),
        initial_rto: dice.one(&[S, S, 3 * S, 100 * MS]),
        clock: dice.one(&[Span::ZERO, Span::ZERO, Span::ZERO, MS, 10 * MS, 500 * MS]),
        timestamps: dice.chance(0.3),
        rwnd: if dice.chance(0.5) { Size::Bytes(16 << 20) } else { window(dice, 100.0) },
        window_scaling: dice.chance(0.8),
        send_buffer: if dice.chance(0.2) { Some(window(dice, 100.0)) } else { None },
        limited_transmit: dice.chance(0.3),
        ecn: dice.one(&[Ecn::Off, Ecn::Off, Ecn::Off, Ecn::Classic, Ecn::Accurate]),
        handshake: dice.chance(0.8),
        segment_from_acks: dice.chance(0.1),
        ack_rate_request: dice.one(&[0, 0, 0, 1, 4, 100]),
        ..Stack::default()
    }
}

fn app(dice: &mut Dice, stack: &Stack, patient: bool) -> App {
    let mss = u64::from(stack.mss);
    let bytes = |dice: &mut Dice, segments: f64| dice.spread(1.0, segments * mss as f64) as u64;
    let pause = |dice: &mut Dice| if dice.chance(0.5) { Span::ZERO } else { dice.span(NS, S) };
    match dice.whole(0, 9) {
        0..4 => App::File { size: bytes(dice, 600.0) },
        4..7 => App::Files {
            size: bytes(dice, 60.0),
            count: dice.whole(1, 8),
            connections: match dice.whole(0, 2) {
                0 => Connections::One,
                1 => Connections::Separate,
                _ => Connections::Parallel(dice.whole(1, 4) as u32),
            },
            pause: pause(dice),
        },
        7 => App::RequestResponse {
            request: bytes(dice, 2.0),
            response: bytes(dice, 10.0),
            count: Some(dice.whole(1, 8)),
            think: pause(dice),
        },
        8 if !patient => App::Bulk,
        _ => App::Segments {
            arrivals: arrivals(dice, 1e4, 1e6),
            size: dice.whole(1, mss) as u32,
            count: Some(dice.whole(1, 60)),
        },
    }
}

fn arrivals(dice: &mut Dice, low: f64, high: f64) -> Arrivals {
    let rate = dice.spread(low, high);
    match dice.whole(0, 3) {
        0 => Arrivals::Cbr { rate },
        1 => Arrivals::Poisson { rate },
        2 => Arrivals::OnOff {
            whole_packets: dice.chance(0.3),
            rate,
            on: dice.span(MS, S),
            off: dice.within(S),
            periods: if dice.chance(0.5) { Periods::Exponential } else { Periods::Pareto { shape: 1.5 } },
        },
        _ => Arrivals::Trace(trace(dice)),
    }
}

fn traffic(dice: &mut Dice, number: u64, nodes: usize, links: &[Link], duration: Span) -> Traffic {
    let (from, to, route) = way(dice, nodes, links);
    let start = if dice.chance(0.5) { Time::ZERO } else { Time::at(dice.within(3 * S)) };
    Traffic {
        name: format!("t{number}"),
        from,
        to,
        sources: dice.whole(1, 2) as u32,
        arrivals: arrivals(dice, 1e4, 3e6),
        packet: dice.one(&[40, 500, 1500, 1500, 65_535]),
        start,
        stop: if duration < 8 * S && dice.chance(0.5) { None } else { Some(start + dice.span(NS, 8 * S)) },
        route,
    }
}

/// Changes in order of time; whatever goes down comes up again.
fn changes(dice: &mut Dice, links: &[Link], flows: usize, duration: Span) -> Vec<Change> {
    if dice.chance(0.5) {
        return Vec::new();
    }
    let mut changes = Vec::new();
    for _ in 0..dice.whole(1, 5) {
        let at = Time::at(dice.within(duration.min(8 * S)));
        if dice.chance(0.2) {
            let (flow, policy) = (dice.whole(0, flows as u64 - 1) as usize, receiver(dice));
            changes.push(Change { at, what: Changed::Receiver { flow, policy } });
            continue;
        }
        let change = LinkChange {
            link: dice.whole(0, links.len() as u64 - 1) as usize,
            direction: dice.one(&[Which::Both, Which::Both, Which::Forward, Which::Back]),
            rate: None,
            delay: None,
            up: None,
        };
        let of_link = |at, change| Change { at, what: Changed::Link(change) };
        if dice.chance(0.4) {
            let again = (at + dice.within(3 * S)).min(Time::at(duration));
            changes.push(of_link(
                again,
                LinkChange { up: Some(true), direction: Which::Both, ..change.clone() },
            ));
            changes.push(of_link(at, LinkChange { up: Some(false), ..change }));
        } else {
            let rate = dice.chance(0.6).then(|| dice.spread(5e4, 1e9) as u64);
            let delay = (rate.is_none() || dice.chance(0.3)).then(|| dice.within(200 * MS));
            changes.push(of_link(at, LinkChange { rate, delay, ..change }));
        }
    }
    // Stable, and of one instant the fall goes before the rise.
    changes.sort_by_key(|c| (c.at, c.of_link().is_some_and(|of| of.up == Some(true))));
    changes
}
