//! What holds in any network.

use crate::net::{End, Net};
use proptest::prelude::*;
use truckee_routing::{Config, NodeId, Span, Time, aodv, dsdv, olsr};

/// A network, what changes in it, and what is sent.
#[derive(Debug, Clone)]
struct Plan {
    nodes: usize,
    seed: u64,
    loss: f64,
    feedback: bool,
    links: Vec<(usize, usize)>,
    /// In milliseconds from the start.
    changes: Vec<(u64, usize, usize, bool)>,
    packets: Vec<(u64, usize, usize)>,
}

/// All that happens happens within so many milliseconds.
const BUSY: u64 = 60_000;

fn plans() -> impl Strategy<Value = Plan> {
    (3..9usize).prop_flat_map(|nodes| {
        let pair = (0..nodes, 0..nodes).prop_filter("two nodes", |(a, b)| a != b);
        (
            Just(nodes),
            any::<u64>(),
            prop_oneof![Just(0.0), 0.0..0.5],
            any::<bool>(),
            prop::collection::vec(pair.clone(), 2..3 * nodes),
            prop::collection::vec((0..BUSY, pair.clone(), any::<bool>()), 0..40),
            prop::collection::vec((0..BUSY, pair), 1..60),
        )
            .prop_map(|(nodes, seed, loss, feedback, links, changes, packets)| Plan {
                nodes,
                seed,
                loss,
                feedback,
                links,
                changes: changes.into_iter().map(|(at, (a, b), up)| (at, a, b, up)).collect(),
                packets: packets.into_iter().map(|(at, (a, b))| (at, a, b)).collect(),
            })
    })
}

fn net(config: &Config, plan: &Plan) -> Net {
    let mut net = Net::new(config, plan.nodes, plan.seed);
    (net.loss, net.feedback) = (plan.loss, plan.feedback);
    for &(a, b) in &plan.links {
        net.link(a, b, true);
    }
    for &(at, a, b, up) in &plan.changes {
        net.link_at(Time::ms(at), a, b, up);
    }
    for &(at, from, to) in &plan.packets {
        net.offer_at(Time::ms(at), from, to);
    }
    net
}

/// All settings that change what the protocol does, drawn.
fn aodvs() -> impl Strategy<Value = aodv::Config> {
    (any::<[bool; 7]>(), prop_oneof![Just(0), Just(u32::MAX - 3), Just(i32::MAX as u32 - 3)]).prop_map(
        |([hello, repair, salvage, gratuitous, only, acknowledge, ring], sequence)| {
            let default = aodv::Config::default();
            aodv::Config {
                hello: hello.then(aodv::Hello::default),
                local_repair: repair.then(aodv::Repair::default),
                salvage,
                gratuitous,
                destination_only: only,
                acknowledge,
                ttl_start: if ring { 1 } else { default.net_diameter },
                sequence: aodv::SequenceNumber(sequence),
                ..default
            }
        },
    )
}

fn olsrs() -> impl Strategy<Value = olsr::Config> {
    any::<[bool; 2]>().prop_map(|[hysteresis, link_layer]| olsr::Config {
        hysteresis: hysteresis.then(olsr::Hysteresis::default),
        link_layer,
        ..olsr::Config::default()
    })
}

fn dsdvs() -> impl Strategy<Value = dsdv::Config> {
    (any::<bool>(), prop_oneof![Just(0), Just(u32::MAX - 5), Just(i32::MAX as u32 - 5)])
        .prop_map(|(link_layer, sequence)| dsdv::Config { link_layer, sequence, ..dsdv::Config::default() })
}

fn any_protocol() -> impl Strategy<Value = Config> {
    prop_oneof![
        aodvs().prop_map(Config::Aodv),
        olsrs().prop_map(Config::Olsr),
        dsdvs().prop_map(Config::Dsdv)
    ]
}

proptest! {
    #[test]
    fn every_packet_ends_once(config in any_protocol(), plan in plans()) {
        let mut net = net(&config, &plan);
        // A buffer keeps a packet for at most 30 s at each node; a packet passes few.
        net.run(Time::ms(BUSY) + Span::s(600));
        net.ends.keys().for_each(|&packet| { net.ended(packet); });
        prop_assert!(net.routers.iter().all(|router| router.held() == 0));
    }

    #[test]
    fn next_hops_of_aodv_never_lead_in_a_circle(config in aodvs(), plan in plans()) {
        let mut net = net(&Config::Aodv(config), &plan);
        net.watches = true;
        net.run(Time::ms(BUSY) + Span::s(10));
    }

    #[test]
    fn next_hops_of_dsdv_never_lead_in_a_circle(config in dsdvs(), plan in plans()) {
        let mut net = net(&Config::Dsdv(config), &plan);
        net.watches = true;
        net.run(Time::ms(BUSY) + Span::s(60));
    }

    #[test]
    fn in_a_network_that_stays_as_it_is_every_packet_arrives(config in any_protocol(), plan in plans()) {
        let mut net = net(&config, &Plan { loss: 0.0, ..plan });
        // Longer than routes are remembered, links believed in, and four rounds of full updates.
        let calm = Time::ms(BUSY) + Span::s(150);
        net.run(calm);
        let nodes = net.routers.len();
        let pairs = (0..nodes).flat_map(|a| (0..nodes).filter(move |&b| a != b).map(move |b| (a, b)));
        // Two each: where a node in between answers with a route that ends while the first packet is under way, AODV loses
        // that one. The second comes when every ring has been searched.
        let packets: Vec<_> = pairs
            .enumerate()
            .map(|(i, (a, b))| {
                let at = calm + Span::ms(500) * i as u64;
                ([net.offer_at(at, a, b), net.offer_at(at + Span::s(4), a, b)], a, b)
            })
            .collect();
        let ends = calm + Span::s(5) + Span::ms(500) * packets.len() as u64;
        if !matches!(config, Config::Aodv(_)) {
            net.watches = true;
        }
        net.run(ends);
        for (a, b) in packets.iter().map(|&(_, a, b)| (a, b)) {
            let hops = net.routers[a].next_hop(net.now, NodeId(b as u32)).map(|(_, hops)| hops);
            let least = net.distance(a, b);
            match config {
                // Routes end that are not used.
                Config::Aodv(_) => {}
                Config::Olsr(_) => prop_assert_eq!(hops, least, "from {} to {}", a, b),
                // A newer number may have come by a longer way first: the best way is used only for part of the time
                // (Perkins and Bhagwat 1994, "damping fluctuations").
                Config::Dsdv(_) => prop_assert!(hops.is_some() == least.is_some() && hops >= least),
            }
        }
        net.run(ends + Span::s(100));
        let aodv = matches!(config, Config::Aodv(_));
        for &(two, a, b) in &packets {
            let arrived = two.iter().filter(|&&packet| matches!(net.ended(packet), End::Delivered { .. })).count();
            match net.distance(a, b) {
                Some(_) => prop_assert!(arrived == 2 || aodv && arrived == 1, "from {} to {}: {:?}", a, b, two.map(|packet| net.ended(packet))),
                None => prop_assert_eq!(arrived, 0, "from {} to {}", a, b),
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_run(config in any_protocol(), plan in plans()) {
        let run = || {
            let mut net = net(&config, &plan);
            net.run(Time::ms(BUSY));
            (net.counters(), net.ends)
        };
        prop_assert_eq!(run(), run());
    }
}
