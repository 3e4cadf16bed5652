//! Packets that go by routing protocols over radio media: that they find their way, that each has its end in the books, and
//! what the protocol's share of the medium is.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::Document;
use truckee_scenario::outcome::{Outcome, RoutingOutcome};

fn outcome(text: &str) -> Outcome {
    let document = Document::parse("t.toml", text).unwrap();
    let scenario = document.scenario().unwrap_or_else(|errors| panic!("{errors}"));
    run(&scenario, &Options::default()).unwrap()
}

fn routing(outcome: &Outcome) -> &RoutingOutcome {
    outcome.media[0].routing.as_ref().unwrap()
}

/// Stations 200 m apart, of which each hears those beside it: received to 250 m, sensed to 550 m.
fn row(nodes: usize, protocol: &str, more: &str) -> String {
    let node = |i| format!("{{ name = \"n{i}\", at = [\"{}m\", \"0m\"] }}", 200 * i);
    let nodes = (0..nodes).map(node).collect::<Vec<_>>().join(", ");
    format!(
        r#"
        duration = "140s"
        node = [{nodes}]
        [[medium]]
        standard = "802.11b"
        rate = "2Mbit/s"
        basic_rates = ["1Mbit/s"]
        power = "24.5dBm"
        frequency = "914MHz"
        propagation = {{ kind = "two-ray" }}
        receive_threshold = "-64.375dBm"
        carrier_sense = "-78.07dBm"
        routing = {protocol}
        {more}
        "#
    )
}

/// A packet each 250 ms from one end of the row to the other, when every protocol knows the network.
fn packets(to: usize) -> String {
    format!(
        "[[traffic]]\nfrom = \"n0\"\nto = \"n{to}\"\nkind = \"cbr\"\nrate = \"17280bit/s\"\npacket = \"540B\"\nstart = \"100s\""
    )
}

#[test]
fn every_protocol_finds_the_way_along_a_row() {
    for protocol in ["aodv", "olsr", "dsdv"] {
        let outcome = outcome(&row(5, &format!("\"{protocol}\""), &packets(4)));
        let (traffic, routing) = (&outcome.traffic[0], routing(&outcome));
        assert!(traffic.packets_sent >= 159, "{protocol}: {traffic:?}");
        assert!(
            traffic.packets_delivered + 3 >= traffic.packets_sent,
            "{protocol}: {traffic:?}, {routing:?}"
        );
        assert_eq!((routing.mean_hops, routing.protocol.as_str()), (4.0, protocol));
        assert_eq!(routing.crossed, traffic.packets_delivered);
        assert!(routing.packets > 0 && routing.bytes >= 30 * routing.packets, "{routing:?}");
    }
}

#[test]
fn tcp_goes_both_ways_over_routes_that_a_protocol_finds() {
    for protocol in ["aodv", "olsr", "dsdv"] {
        let flow = "[[flow]]\nfrom = \"n0\"\nto = \"n2\"\nstart = \"100s\"\nrwnd = \"8segments\"";
        let outcome = outcome(&row(3, &format!("\"{protocol}\""), flow));
        // Of 2 Mbit/s, of which two hops in turn leave somewhat less than half.
        assert!(outcome.flows[0].bytes_delivered > 2_000_000, "{protocol}: {:?}", outcome.flows[0]);
    }
}

#[test]
fn who_is_behind_a_link_is_reached_through_the_station_there() {
    let wired = "[[link]]\nbetween = [\"n2\", \"server\"]\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\n[[flow]]\nfrom = \"server\"\nto = \"n0\"\nrwnd = \"8segments\"";
    let outcome = outcome(&row(3, "\"aodv\"", wired));
    assert!(outcome.flows[0].bytes_delivered > 4_000_000, "{:?}", outcome.flows[0]);
}

#[test]
fn what_finds_no_way_ends_with_that_cause() {
    // n3 is out of reach of n1.
    let text = row(3, "\"aodv\"", "").replace("] \n", "]\n").replace(
        "{ name = \"n2\", at = [\"400m\", \"0m\"] }",
        "{ name = \"n2\", at = [\"5000m\", \"0m\"] }, { name = \"n3\", at = [\"5100m\", \"0m\"] }",
    );
    let outcome = outcome(&format!("{text}\n{}", packets(2)));
    let (traffic, routing) = (&outcome.traffic[0], routing(&outcome));
    assert_eq!(traffic.packets_delivered, 0);
    assert!(traffic.drops.route > 60, "{traffic:?}");
    assert_eq!(traffic.packets_sent, traffic.drops.total() + routing.held);
    assert_eq!(routing.lost.iter().map(|(_, count)| count).sum::<u64>(), traffic.drops.route);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for protocol in ["aodv", "olsr", "dsdv"] {
        let text = row(5, &format!("\"{protocol}\""), &packets(4));
        let (one, other) = (outcome(&text), outcome(&text));
        assert_eq!((one.digest, &one.media), (other.digest, &other.media));
    }
}
