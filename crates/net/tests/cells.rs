//! Cellular IP: handoffs and what they lose, copies where two ways meet, caches that time out, and what it costs.

#![allow(clippy::unwrap_used, clippy::panic)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::{Document, Outcome};

/// A server behind the gateway, and bs2 and bs3 below bs1, where their ways meet: 10 ms from bs1 to bs2, `shorter` to bs3, and
/// hardly anything by radio. A packet of 125 B each millisecond goes to the phone, which is at bs2.
fn scenario(shorter: &str, host: &str, rest: &str) -> String {
    format!(
        r#"
        duration = "30s"
        link = [
            {{ between = ["server", "gateway"], rate = "1Gbit/s", delay = "5ms" }},
            {{ between = ["gateway", "bs1"], rate = "1Gbit/s", delay = "5ms" }},
            {{ between = ["bs1", "bs2"], rate = "1Gbit/s", delay = "10ms" }},
            {{ between = ["bs1", "bs3"], rate = "1Gbit/s", delay = "{shorter}" }},
            {{ between = ["bs2", "phone"], rate = "1Gbit/s", delay = "10us" }},
            {{ between = ["bs3", "phone"], rate = "1Gbit/s", delay = "10us" }},
        ]
        {rest}
        [cells]
        gateway = "gateway"
        stations = ["bs1", "bs2", "bs3"]
        [[cells.host]]
        node = "phone"
        at = "bs2"
        {host}
        "#
    )
}

const EACH_MS: &str =
    r#"traffic = [{ from = "server", to = "phone", kind = "cbr", rate = "1Mbit/s", packet = "125B" }]"#;

fn outcome(text: &str) -> Outcome {
    let scenario = Document::parse("cells.toml", text).unwrap().scenario().unwrap_or_else(|e| panic!("{e}"));
    run(&scenario, &Options::default()).unwrap()
}

/// Lost in handoffs, and what did not arrive though it was not lost: on its way at the end.
fn lost(outcome: &Outcome) -> (u64, u64) {
    let traffic = &outcome.traffic[0];
    let drops = &traffic.drops;
    assert_eq!((drops.queue, drops.channel, drops.outage), (0, 0, 0));
    (drops.handoff, traffic.packets_sent - traffic.packets_delivered - drops.handoff)
}

#[test]
fn a_hard_handoff_loses_the_round_trip_between_the_host_and_where_the_ways_meet() {
    let done = outcome(&scenario("10ms", "moves = [[\"10s\", \"bs3\"]]", EACH_MS));
    let (handoff, under_way) = lost(&done);
    // 10 ms up with the route-update packet, and 10 ms down for what had passed bs1 before.
    assert!((19..=21).contains(&handoff), "{handoff}");
    assert!((19..=21).contains(&under_way), "{under_way}: 20 ms from the server");
    let host = &done.hosts[0];
    assert_eq!(host.handoffs, 1);
    // Until the old mapping times out bs1 sends copies to the old station, which nobody hears: 9 s, no losses.
    assert!(host.copies > 5_900 && host.copies <= 9_000, "{host:?}");
    assert!(host.copies - host.copies_lost < 12, "{host:?}");
    // It hears, and sends nothing itself: a route-update packet each 3 s, and one for the handoff.
    assert!((9..=11).contains(&host.route_updates), "{host:?}");
    assert_eq!(host.update_bytes, 52 * (host.route_updates + host.paging_updates));
}

#[test]
fn a_host_that_comes_back_soon_finds_its_old_way_unless_that_was_replaced() {
    // It is back after a second: bs1 still sends to bs2, too, and goes on doing so.
    let host = "moves = [[\"10s\", \"bs3\"], [\"11s\", \"bs2\"], [\"12s\", \"bs3\"]]";
    let expire = outcome(&scenario("10ms", host, EACH_MS));
    assert!((19..=21).contains(&lost(&expire).0), "{:?}: the first time only", lost(&expire));
    let text = scenario("10ms", host, EACH_MS).replace("[cells]\n", "[cells]\nold_ways = \"replaced\"\n");
    let replaced = outcome(&text);
    assert!((57..=63).contains(&lost(&replaced).0), "{:?}: each time", lost(&replaced));
    assert_eq!(replaced.hosts[0].copies, 0);
}

#[test]
fn tuning_in_for_a_while_loses_as_much_more() {
    let done = outcome(&scenario("10ms", "moves = [[\"10s\", \"bs3\"]]\ngap = \"100ms\"", EACH_MS));
    assert!((119..=121).contains(&lost(&done).0), "{:?}", lost(&done));
}

#[test]
fn a_semisoft_handoff_between_ways_of_one_length_loses_nothing() {
    let host =
        "moves = [[\"10s\", \"bs3\"], [\"20s\", \"bs2\"]]\nhandoff = \"semisoft\"\nsemisoft_delay = \"50ms\"";
    let done = outcome(&scenario("10ms", host, EACH_MS));
    assert_eq!(lost(&done).0, 0);
    assert_eq!(done.hosts[0].handoffs, 2);
    // Too short a delay is none: the semisoft packet has not come to bs1 yet.
    let hasty = host.replace("50ms", "1ms");
    assert!(lost(&outcome(&scenario("10ms", &hasty, EACH_MS))).0 > 30);
}

#[test]
fn a_host_that_has_announced_itself_does_not_take_that_back() {
    // Its next update would be due at 12 s, between the semisoft packet and the handoff.
    let host = "moves = [[\"11950ms\", \"bs3\"]]\nhandoff = \"semisoft\"\nsemisoft_delay = \"100ms\"";
    let text = scenario("10ms", host, EACH_MS).replace("[cells]\n", "[cells]\nold_ways = \"replaced\"\n");
    assert_eq!(lost(&outcome(&text)).0, 0);
}

#[test]
fn where_the_new_way_is_shorter_packets_are_missed_unless_they_are_held_back() {
    let host = |hold: &str| {
        format!(
            "moves = [[\"10s\", \"bs3\"]]\nhandoff = \"semisoft\"\nsemisoft_delay = \"50ms\"\nhold = \"{hold}\""
        )
    };
    let ahead = lost(&outcome(&scenario("2ms", &host("0ms"), EACH_MS))).0;
    assert!((7..=9).contains(&ahead), "{ahead}: 8 ms");
    let held = outcome(&scenario("2ms", &host("8ms"), EACH_MS));
    assert_eq!(lost(&held).0, 0);
}

#[test]
fn where_the_new_way_is_longer_packets_come_twice() {
    let host = "moves = [[\"10s\", \"bs3\"]]\nhandoff = \"semisoft\"\nsemisoft_delay = \"80ms\"";
    let done = outcome(&scenario("30ms", host, EACH_MS));
    let traffic = &done.traffic[0];
    assert_eq!(traffic.drops.handoff, 0);
    let twice = traffic.packets_delivered + 40 - traffic.packets_sent; // 40 ms are under way at the end
    assert!((19..=21).contains(&twice), "{twice}: 20 ms");
}

#[test]
fn a_host_that_was_idle_is_found_by_its_paging_mappings_and_says_where_it_is() {
    let calls = r#"
        traffic = [
            { from = "server", to = "phone", kind = "cbr", rate = "1Mbit/s", packet = "125B", stop = "1s" },
            { from = "server", to = "phone", kind = "cbr", rate = "1Mbit/s", packet = "125B", start = "25s", stop = "26s" },
        ]
    "#;
    let host = "[cells]\n";
    let text = scenario("10ms", "", calls)
        .replace(host, "[cells]\npaging_update = \"4s\"\npaging_timeout = \"12s\"\n");
    let done = outcome(&text);
    assert!(
        done.traffic.iter().all(|t| t.packets_sent == t.packets_delivered && t.packets_sent >= 999),
        "{:?}",
        done.traffic
    );
    let host = &done.hosts[0];
    assert!((3..=6).contains(&host.paging_updates), "{host:?}: active for 6 s, then idle until 25 s");
    // Without those it is lost once its mappings have timed out.
    let silent = text.replace("paging_update = \"4s\"", "paging_update = \"1000s\"");
    let done = outcome(&silent);
    assert_eq!(
        (done.traffic[1].packets_delivered, done.traffic[1].drops.handoff),
        (0, done.traffic[1].packets_sent)
    );
}

#[test]
fn tcp_goes_on_through_handoffs_both_ways_and_every_packet_has_an_end() {
    let flows = r#"
        flow = [
            { name = "down", from = "server", to = "phone", sender = "sack", app = { kind = "file", size = "8MB" } },
            { name = "up", from = "phone", to = "server", sender = "newreno", app = { kind = "file", size = "2MB" } },
            { name = "across", from = "phone", to = "pad", sender = "newreno", app = { kind = "file", size = "1MB" } },
        ]
    "#;
    let mut lost = [0, 0];
    for (seed, handoff) in (1..=4).flat_map(|seed| [(seed, "hard"), (seed, "semisoft")]) {
        let host = format!(
            "every = \"700ms\"\namong = [\"bs2\", \"bs3\"]\ntimes = \"poisson\"\nhandoff = \"{handoff}\"\ngap = \"5ms\"\n\
             [[cells.host]]\nnode = \"pad\"\nat = \"bs3\"\nevery = \"3s\"\namong = [\"bs3\", \"bs2\"]"
        );
        let pad = "{ between = [\"bs2\", \"pad\"], rate = \"10Mbit/s\", delay = \"1ms\", queue = { size = \"20packets\" } },\n\
                   { between = [\"bs3\", \"pad\"], rate = \"10Mbit/s\", delay = \"2ms\" },\n]\nflow";
        let text = scenario("10ms", &host, flows)
            .replacen("]\n        \n        flow", pad, 1)
            .replace("\"phone\"], rate = \"1Gbit/s\"", "\"phone\"], rate = \"10Mbit/s\"")
            .replace("duration = \"30s\"", &format!("duration = \"300s\"\nseed = {seed}"));
        let done = outcome(&text);
        for flow in &done.flows {
            assert!(flow.completion_s.is_some(), "{seed}, {handoff}: {flow:?}");
        }
        assert!(done.hosts[0].handoffs > 3, "{seed}, {handoff}: {:?}", done.hosts);
        lost[usize::from(handoff == "semisoft")] +=
            done.flows.iter().map(|flow| flow.drops.handoff + flow.ack_drops.handoff).sum::<u64>();
        assert_eq!(done.digest, outcome(&text).digest);
    }
    assert!(lost[0] > 0 && lost[1] > 0, "{lost:?}");
}

#[test]
fn an_oracle_is_told_of_the_way_by_the_host_s_station() {
    let slow = scenario(
        "10ms",
        "moves = [[\"15s\", \"bs3\"]]",
        r#"flow = [{ from = "server", to = "phone", sender = "reno", rwnd = "20segments", observe = { estimators = ["oracle"] } }]"#,
    )
    .replace("[\"bs3\", \"phone\"], rate = \"1Gbit/s\"", "[\"bs3\", \"phone\"], rate = \"10Mbit/s\"");
    let done = outcome(&slow);
    let available = done.flows[0].observers.estimators[0].available_bps.unwrap();
    let (fast, slow) = (1e9 * 1460.0 / 1500.0, 1e7 * 1460.0 / 1500.0);
    assert!((available - (fast + slow) / 2.0).abs() < 0.01 * fast, "{available}");
}
