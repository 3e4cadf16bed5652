//! ACK filters in whole runs: what they save, what they cost, and what they must not touch.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::outcome::{FlowOutcome, FlowSeries, LinkOutcome};
use truckee_scenario::{Document, Outcome};

const MSS: u64 = 1460;

fn outcome(text: &str) -> Outcome {
    let document = Document::parse("ack-filter.toml", text).unwrap();
    let scenario = document.scenario().unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    run(&scenario, &Options { series: true, ..Default::default() }).unwrap()
}

/// A download over an access line of 10 Mbit/s, and of 100 kbit/s on the way back: that takes 312 ACKs a second where
/// 833 segments come. `back`: keys of the queue there; `link` and `flow`: further keys.
fn download(back: &str, link: &str, flow: &str) -> Outcome {
    outcome(&format!(
        r#"
        duration = "100s"
        [[link]]
        between = ["server", "modem"]
        rate = "100Mbit/s"
        delay = "10ms"
        [[link]]
        between = ["modem", "home"]
        rate = "10Mbit/s"
        delay = "10ms"
        rate_back = "100kbit/s"
        queue_back = {{ {back} }}
        {link}
        [[flow]]
        from = "server"
        to = "home"
        {flow}
        "#
    ))
}

fn parts(outcome: &Outcome) -> (&FlowOutcome, &FlowSeries, &LinkOutcome) {
    let back = outcome.links.iter().find(|l| l.name == "home-modem").unwrap();
    (&outcome.flows[0], &outcome.series[0], back)
}

#[test]
fn a_slow_way_back_no_longer_bounds_the_way_there() {
    let flow = "rwnd = \"100segments\"";
    let (without, with) = (download("", "", flow), download("ack_filter = true", "", flow));
    let (slow, _, unfiltered) = parts(&without);
    let (fast, _, filtered) = parts(&with);
    assert_eq!(unfiltered.acks_filtered, 0);
    // A segment for each of 312.5 ACKs a second; the whole line but for its headers.
    assert!((slow.goodput_bps / (312.5 * 8.0 * MSS as f64) - 1.0).abs() < 0.02, "{}", slow.goodput_bps);
    assert!((fast.goodput_bps / (10e6 * 1460.0 / 1500.0) - 1.0).abs() < 0.02, "{}", fast.goodput_bps);
    // What the line back cannot take is filtered, and nothing else.
    let share = filtered.acks_filtered as f64 / fast.acks_sent as f64;
    assert!((share - (1.0 - 312.5 / 833.3)).abs() < 0.01, "{share}");
    assert_eq!((fast.timeouts, fast.retransmitted_segments, filtered.queue_drops), (0, 0, 0));
    // At most one ACK waits.
    assert!(filtered.mean_queue_packets <= 1.0 && unfiltered.mean_queue_packets > 10.0);
}

#[test]
fn every_ack_arrives_or_is_filtered() {
    let file = "app = { kind = \"file\", size = \"3MB\" }\nrwnd = \"100segments\"";
    let change =
        "[[change]]\nat = \"700ms\"\nlink = \"modem-home\"\ndirection = \"back\"\nrate = \"30kbit/s\"";
    for link in ["", change] {
        let outcome = download("ack_filter = true", link, file);
        let (flow, series, back) = parts(&outcome);
        assert_eq!(flow.bytes_delivered, 3_000_000);
        assert!(back.acks_filtered > 100);
        // The SYN-ACK arrives too, and is none of the policy's ACKs.
        assert_eq!(series.acks.len() as u64, flow.acks_sent + 1 - back.acks_filtered, "{link}");
        assert!(series.acks.windows(2).all(|pair| pair[0].ack < pair[1].ack), "{link}");
        assert_eq!(series.acks.last().unwrap().ack, 3_000_002, "SYN, data, FIN");
    }
}

#[test]
fn what_waits_when_a_link_goes_down_is_lost_and_superseded_by_nothing() {
    let down = "[[change]]\nat = \"1s\"\nlink = \"modem-home\"\nup = false\n\
                [[change]]\nat = \"1500ms\"\nlink = \"modem-home\"\nup = true";
    let outcome = download(
        "ack_filter = true",
        down,
        "app = { kind = \"file\", size = \"3MB\" }\nrwnd = \"100segments\"",
    );
    let (flow, series, back) = parts(&outcome);
    assert_eq!(flow.bytes_delivered, 3_000_000);
    assert!(flow.ack_drops.outage > 1 && back.acks_filtered > 100);
    let accounted = series.acks.len() as u64 + flow.ack_drops.outage + back.acks_filtered;
    assert_eq!(accounted, flow.acks_sent + 1);
}

#[test]
fn each_duplicate_ack_arrives() {
    for (queue, sender) in [("", "newreno"), ("size = \"50packets\"", "reno")] {
        let queue = format!("{queue}{}ack_filter = true", if queue.is_empty() { "" } else { ", " });
        let link = "channel = { kind = \"scripted\", packets = [300] }";
        let flow = format!(
            "sender = \"{sender}\"\nrwnd = \"60segments\"\napp = {{ kind = \"file\", size = \"2MB\" }}"
        );
        let outcome = download(&queue, link, &flow);
        let (flow, series, back) = parts(&outcome);
        assert_eq!(flow.bytes_delivered, 2_000_000);
        assert_eq!((flow.fast_retransmits, flow.timeouts, flow.drops.channel), (1, 0, 1));
        assert!(back.acks_filtered > 100, "{}", back.acks_filtered);
        // Whatever left between the lost segment and its repair has come out of order, and told so.
        let lost = series.drops[0].seq;
        let sent = series.segments.iter().position(|s| s.seq == lost).unwrap();
        let repaired = series.segments.iter().position(|s| s.seq == lost && s.retransmission).unwrap();
        let repeats = series.acks.iter().filter(|a| a.ack == lost).count();
        assert_eq!(repeats, repaired - sent, "the first of that number, and one for each of those behind it");
    }
}

#[test]
fn a_sender_that_counts_acks_opens_by_what_is_left_of_them() {
    // In slow start: ACKs that have come, segments that they acknowledge, and cwnd, once 500 segments are.
    let at_500 = |filter: bool, growth: &str| {
        let flow = format!(
            "sender = {{ growth = {growth} }}\nhandshake = false\n\
             app = {{ kind = \"file\", size = \"2000segments\" }}"
        );
        let outcome = download(&format!("ack_filter = {filter}"), "", &flow);
        let (_, series, _) = parts(&outcome);
        let acks = series.acks.iter().position(|a| a.ack > 500 * MSS).unwrap() + 1;
        let acked = (series.acks[acks - 1].ack - 1) / MSS;
        let cwnd = series.window.iter().find(|w| w.t == series.acks[acks - 1].t).unwrap().cwnd;
        (acks as u64, acked, cwnd as u64 / MSS)
    };
    let (per_ack, counting) = ("\"per-ack\"", "{ byte-counting = { limit = 100 } }");
    for growth in [per_ack, counting] {
        assert_eq!(at_500(false, growth), (500, 500, 2 + 500));
    }
    let (acks, acked, cwnd) = at_500(true, per_ack);
    assert!(acks < 400 && acked >= 500, "{acks}, {acked}");
    assert_eq!(cwnd, 2 + acks, "a segment for each ACK");
    let (fewer, acked_by_fewer, cwnd) = at_500(true, counting);
    assert!(fewer < 350 && acked > 500, "{fewer}");
    assert_eq!(cwnd, 2 + acked_by_fewer, "a segment for each that is acknowledged");
}

#[test]
fn a_place_in_the_queue_keeps_the_fate_that_it_has_drawn() {
    // Lost ACKs and doubled ones: what a filter takes away must not bring back the one nor split the other.
    let link = "channel_back = [{ kind = \"bernoulli\", per = 0.2 }, { kind = \"duplicate\", probability = 0.3, after = \"5ms\" }]";
    let flow = "rwnd = \"100segments\"\napp = { kind = \"file\", size = \"3MB\" }";
    let outcome = download("ack_filter = true", link, flow);
    let (flow, series, back) = parts(&outcome);
    assert_eq!(flow.bytes_delivered, 3_000_000);
    assert!(back.acks_filtered > 100 && back.channel_drops > 20);
    let arrived = series.acks.len() as f64 / (back.packets - back.channel_drops) as f64;
    assert!((arrived - 1.3).abs() < 0.1, "{arrived}");
}

#[test]
fn red_sees_no_queue_where_all_that_waits_is_filtered() {
    let flow = "rwnd = \"100segments\"\napp = { kind = \"file\", size = \"3MB\" }";
    let outcome = download("kind = \"red\", size = \"50packets\", ack_filter = true", "", flow);
    let (flow, _, back) = parts(&outcome);
    // One ACK at most waits.
    assert_eq!((flow.bytes_delivered, back.queue_drops), (3_000_000, 0));
    assert!(back.acks_filtered > 100);
}
