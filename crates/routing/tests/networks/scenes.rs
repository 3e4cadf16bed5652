//! Small networks in which what has to happen can be told by hand.

use crate::net::{End, Net};
use truckee_routing::{Cause, Config, Kind, NodeId, Span, Time, aodv, dsdv, olsr};

fn aodv() -> Config {
    Config::Aodv(aodv::Config::default())
}

fn olsr() -> Config {
    Config::Olsr(olsr::Config::default())
}

fn dsdv() -> Config {
    Config::Dsdv(dsdv::Config::default())
}

fn sum(net: &Net, kind: Kind) -> u64 {
    net.counters().iter().map(|counters| counters.of(kind).0).sum()
}

#[test]
fn aodv_finds_a_route_in_growing_rings() {
    let mut net = Net::new(&aodv(), 5, 1);
    net.row();
    let first = net.offer_at(Time::s(1), 0, 4);
    net.run(Time::s(2));
    assert_eq!(net.ended(first), End::Delivered { hops: 4 });
    // Rings of 1 and 3 hops find nobody; of 5, the destination. Requests: 1, 3, and 4 of the last, which who is asked for
    // does not pass on.
    assert_eq!(sum(&net, Kind::Rreq), 1 + 3 + 4);
    assert_eq!(sum(&net, Kind::Rrep), 4);
    assert_eq!(net.counters()[0].bytes, 3 * (28 + 24));
    // The second goes at once, and a route that is not used ends.
    let second = net.offer_at(Time::s(3), 0, 4);
    net.run(Time::s(4));
    assert_eq!(net.ended(second), End::Delivered { hops: 4 });
    assert_eq!(sum(&net, Kind::Rreq), 8);
    net.run(Time::s(12));
    assert_eq!(net.routers[0].next_hop(net.now, NodeId(4)), None);
}

#[test]
fn aodv_gives_packets_up_that_nobody_can_reach() {
    let mut net = Net::new(&aodv(), 3, 1);
    net.link(0, 1, true);
    let packet = net.offer_at(Time::s(1), 0, 2);
    // Rings of 1, 3, 5 and 7 hops are waited for 240, 400, 560 and 720 ms, the network 2.8, 5.6 and 11.2 s.
    let end = Time::s(1) + Span::ms(240 + 400 + 560 + 720 + 2_800 + 5_600 + 11_200);
    net.run(end - Span::ms(1));
    assert_eq!(net.routers[0].held(), 1);
    net.run(end);
    assert_eq!(net.ended(packet), End::Dropped(Cause::NotFound));
    assert_eq!(net.counters()[0].of(Kind::Rreq).0, 7);
}

/// A row of five, and a way around the link between 2 and 3, which breaks.
fn with_a_way_around(config: &aodv::Config) -> Net {
    let mut net = Net::new(&Config::Aodv(config.clone()), 6, 1);
    (1..5).for_each(|i| net.link(i - 1, i, true));
    net.link(2, 5, true);
    net.link(5, 3, true);
    net.offer_at(Time::s(1), 0, 4);
    net.run(Time::s(2));
    net.link(2, 3, false);
    net
}

#[test]
fn aodv_repairs_a_link_that_breaks() {
    let mut net = with_a_way_around(&aodv::Config::default());
    let (before, packet) = (net.counters(), net.offer_at(Time::ms(2_100), 0, 4));
    net.run(Time::s(3));
    assert_eq!(net.ended(packet), End::Delivered { hops: 5 });
    // The source hears of the longer way, but has not searched itself: it passes the one search of 2 on.
    let searches = |i: usize| net.counters()[i].of(Kind::Rreq).0 - before[i].of(Kind::Rreq).0;
    assert_eq!((searches(0), searches(2)), (1, 1));
    // 2 tells of the neighbour 3, which is gone, and then of the longer way to 4.
    assert_eq!(net.counters()[2].of(Kind::Rerr).0, 2);
}

#[test]
fn without_repair_aodv_tells_the_source_who_searches_again() {
    let mut net = with_a_way_around(&aodv::Config { local_repair: None, ..aodv::Config::default() });
    let lost = net.offer_at(Time::ms(2_100), 0, 4);
    let next = net.offer_at(Time::ms(2_200), 0, 4);
    net.run(Time::s(4));
    assert_eq!(net.ended(lost), End::Dropped(Cause::LinkBroken));
    assert_eq!(net.ended(next), End::Delivered { hops: 5 });
    // From 2, who noticed, to 1 to 0, one each.
    let told: Vec<_> = net.counters().iter().map(|counters| counters.of(Kind::Rerr).0).collect();
    assert_eq!(told, [0, 1, 1, 0, 0, 0]);
}

#[test]
fn hellos_notice_a_neighbour_that_is_gone_without_the_link_layer() {
    let config = aodv::Config {
        hello: Some(aodv::Hello::default()),
        link_layer: false,
        local_repair: None,
        ..aodv::Config::default()
    };
    let mut net = Net::new(&Config::Aodv(config), 3, 1);
    net.feedback = false;
    net.row();
    for i in 0..100 {
        net.offer_at(Time::ms(1_000 + 100 * i), 0, 2);
    }
    net.link_at(Time::s(5), 1, 2, false);
    net.run(Time::ms(4_900));
    assert_eq!(net.routers[1].next_hop(net.now, NodeId(2)).map(|(_, hops)| hops), Some(1));
    // Two intervals after the last hello; node 0 is told.
    net.run(Time::ms(7_500));
    assert_eq!(net.routers[1].next_hop(net.now, NodeId(2)), None);
    assert_eq!(net.routers[0].next_hop(net.now, NodeId(2)), None);
}

#[test]
fn a_gratuitous_reply_tells_the_destination_the_way_back() {
    for gratuitous in [false, true] {
        let config = aodv::Config { gratuitous, ..aodv::Config::default() };
        let mut net = Net::new(&Config::Aodv(config), 4, 1);
        net.row();
        // 1 learns a route to 3, by which it answers 0 for 3.
        net.offer_at(Time::s(1), 1, 3);
        net.offer_at(Time::s(2), 0, 3);
        net.run(Time::ms(2_100));
        let replies = net.counters()[1].of(Kind::Rrep).0;
        assert_eq!(replies, if gratuitous { 2 } else { 1 });
        assert_eq!(net.routers[3].next_hop(net.now, NodeId(0)).is_some(), gratuitous);
    }
}

#[test]
fn olsr_floods_by_relays_only() {
    // A star: everybody is two hops from everybody, by the middle.
    let mut net = Net::new(&olsr(), 6, 1);
    (1..6).for_each(|i| net.link(0, i, true));
    net.run(Time::s(30));
    let tcs: Vec<_> = net.counters().iter().map(|counters| counters.of(Kind::Tc).0).collect();
    assert!(tcs[0] >= 4 && tcs[1..].iter().all(|&n| n == 0), "{tcs:?}");
    let packet = net.offer_at(Time::s(30), 2, 4);
    net.run(Time::s(31));
    assert_eq!(net.ended(packet), End::Delivered { hops: 2 });
}

#[test]
fn a_link_with_hysteresis_counts_after_several_hellos() {
    let config = olsr::Config { hysteresis: Some(olsr::Hysteresis::default()), ..olsr::Config::default() };
    let known = |config: &olsr::Config| {
        let mut net = Net::new(&Config::Olsr(config.clone()), 2, 1);
        net.row();
        let mut at = Time::ZERO;
        while net.routers[0].next_hop(at, NodeId(1)).is_none() {
            at += Span::ms(100);
            net.run(at);
        }
        at
    };
    let (with, without) = (known(&config), known(&olsr::Config::default()));
    assert!(with > without && with < Time::s(12), "{with:?}, {without:?}");
}

#[test]
fn dsdv_waits_with_news_until_they_have_settled_but_tells_at_once_what_broke() {
    let mut net = Net::new(&dsdv(), 4, 1);
    net.row();
    // A first full update within 2 s; twice 6 s of settling for each hop on.
    net.run(Time::s(3));
    assert!(net.routers[0].next_hop(net.now, NodeId(1)).is_some());
    assert_eq!(net.routers[0].next_hop(net.now, NodeId(2)), None);
    net.run(Time::s(60));
    assert_eq!(net.routers[0].next_hop(net.now, NodeId(3)).map(|(_, hops)| hops), Some(3));
    net.link(2, 3, false);
    let noticed = net.offer_at(Time::s(61), 0, 3);
    net.run(Time::s(65));
    assert_eq!(net.routers[0].next_hop(net.now, NodeId(3)), None);
    net.link(2, 3, true);
    net.run(Time::s(100));
    assert_eq!(net.ended(noticed), End::Delivered { hops: 3 });
}

#[test]
fn a_link_with_hysteresis_that_was_lost_counts_again() {
    let config = olsr::Config { hysteresis: Some(olsr::Hysteresis::default()), ..olsr::Config::default() };
    for down in 0..20 {
        let mut net = Net::new(&Config::Olsr(config.clone()), 2, 1);
        net.row();
        net.link_at(Time::s(40), 0, 1, false);
        net.link_at(Time::s(40 + down), 0, 1, true);
        net.run(Time::s(75));
        assert!((0..2).all(|i| net.routers[i].next_hop(net.now, NodeId(1 - i as u32)).is_some()), "{down} s");
    }
}
