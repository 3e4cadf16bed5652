//! Queues that decide when packets leave them, in a network.

#![allow(clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::{Document, Outcome};

/// A minute over 10 Mbit/s and 40 ms behind a queue; `rest` adds flows.
fn outcome(queue: &str, rest: &str) -> Outcome {
    outcome_over("10Mbit/s", "", queue, rest)
}

fn outcome_over(rate: &str, link: &str, queue: &str, rest: &str) -> Outcome {
    let text = format!(
        r#"
        duration = "60s"
        warmup = "10s"
        [[link]]
        between = ["server", "router"]
        rate = "{rate}"
        delay = "20ms"
        queue = {queue}
        {link}
        [[link]]
        between = ["router", "client"]
        rate = "1Gbit/s"
        {rest}
        "#
    );
    let scenario = Document::parse("queues.toml", &text).unwrap().scenario().unwrap();
    run(&scenario, &Options { series: true, ..Options::default() }).unwrap()
}

/// A download.
fn download(name: &str, more: &str) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\nfrom = \"server\"\nto = \"client\"\nsender = \"cubic\"\nreceiver = \"every\"\nrwnd = \"1000segments\"\n{more}\n"
    )
}

/// The mean wait at the bottleneck, ms.
fn mean_wait(outcome: &Outcome) -> f64 {
    1e3 * outcome.links[0].mean_wait_s
}

const AMPLE: &str = r#"size = "1000packets""#;

#[test]
fn small_queues_keep_the_senders_own_short_and_its_link_busy() {
    let deep = outcome(&format!("{{ {AMPLE} }}"), &download("d", ""));
    for more in ["small_queues = true", "small_queues = true\ntso = true"] {
        let small = outcome(&format!("{{ {AMPLE} }}"), &download("d", more));
        // Two bursts of one or two segments, each of which takes 1.2 ms.
        assert!(mean_wait(&small) < 6.0, "{more}: {} ms", mean_wait(&small));
        let goodput = small.flows[0].goodput_bps;
        assert!(goodput > 0.99 * deep.flows[0].goodput_bps, "{more}: {goodput} bit/s");
    }
}

#[test]
fn they_hold_a_download_s_queue_short_and_its_goodput_up() {
    let deep = outcome(&format!("{{ {AMPLE} }}"), &download("d", ""));
    assert!(mean_wait(&deep) > 300.0, "{} ms in a queue without a rule", mean_wait(&deep));
    for (kind, most) in [("codel", 20.0), ("fq-codel", 20.0), ("pie", 30.0)] {
        let held = outcome(&format!(r#"{{ kind = "{kind}", {AMPLE} }}"#), &download("d", ""));
        let (wait, goodput) = (mean_wait(&held), held.flows[0].goodput_bps);
        assert!(wait < most, "{kind}: a mean wait of {wait} ms");
        assert!(goodput > 0.9 * deep.flows[0].goodput_bps, "{kind}: {goodput} bit/s");
        assert!(held.links[0].queue_drops > 0);
    }
}

#[test]
fn with_ecn_they_mark_and_lose_nothing_of_a_sender_that_listens() {
    for kind in ["codel", "fq-codel", "pie"] {
        let queue = format!(r#"{{ kind = "{kind}", {AMPLE}, ecn = true }}"#);
        let held = outcome(&queue, &download("d", "ecn = true"));
        let link = &held.links[0];
        assert!(
            link.ecn_marks > 10 && (link.queue_drops == 0 || kind == "pie"), // beyond a chance of a tenth PIE drops
            "{kind}: {} marks, {} drops",
            link.ecn_marks,
            link.queue_drops
        );
        assert!(held.flows[0].ecn_reductions > 10, "{kind}");
        let deaf = outcome(&queue, &download("d", ""));
        assert!(deaf.links[0].ecn_marks == 0 && deaf.links[0].queue_drops > 0, "{kind}");
    }
}

#[test]
fn fq_codel_keeps_a_sparse_flow_s_delay_apart_from_a_download_s_queue() {
    let sparse = r#"
        [[traffic]]
        from = "server"
        to = "client"
        kind = "cbr"
        rate = "100kbit/s"
        packet = "200B"
    "#;
    let p99 = |queue: &str| {
        let outcome = outcome(queue, &format!("{}{sparse}", download("d", "")));
        1e3 * outcome.traffic[0].delay_s.p99.unwrap()
    };
    // 20 ms of propagation and a full packet that is on the line already, 1.2 ms.
    let apart = p99(&format!(r#"{{ kind = "fq-codel", {AMPLE} }}"#));
    assert!(apart < 22.0, "{apart} ms");
    let together = p99(&format!(r#"{{ kind = "codel", {AMPLE} }}"#));
    assert!(together > 25.0, "{together} ms in one queue for all");
}

#[test]
fn fq_codel_gives_two_downloads_the_same_whatever_their_senders() {
    let share = |queue: &str| {
        let flows = format!(
            "{}{}",
            download("a", ""),
            download("b", "sender = \"newreno\"").replace("sender = \"cubic\"\n", "")
        );
        let outcome = outcome(queue, &flows);
        outcome.flows[0].goodput_bps / outcome.flows[1].goodput_bps
    };
    let fair = share(&format!(r#"{{ kind = "fq-codel", {AMPLE} }}"#));
    assert!((fair - 1.0).abs() < 0.15, "{fair}");
    let plain = share(r#"{ size = "1000packets" }"#);
    assert!((plain - 1.0).abs() > 0.5, "{plain} in one queue for all");
}

/// Each change of the number of packets that wait at the bottleneck.
fn changes_of(outcome: &Outcome) -> Vec<(f64, u32)> {
    let mut changes: Vec<_> = outcome.queues[0].points.iter().map(|point| (point.t, point.packets)).collect();
    changes.insert(0, (-1.0, 0));
    changes.dedup_by_key(|(_, packets)| *packets);
    changes
}

/// A queue that never acts is the drop-tail queue of its size, packet by packet: departures that are known when they come
/// and departures that are promised when a packet is accepted are the same.
#[test]
fn a_queue_that_never_acts_is_drop_tail() {
    let traffic = r#"
        [[traffic]]
        from = "server"
        to = "client"
        kind = "pareto"
        sources = 5
        rate = "1Mbit/s"
        on = "100ms"
        off = "200ms"
        shape = 1.5
    "#;
    let never = r#"kind = "codel", target = "3600s", interval = "3600s""#;
    let noise = r#"channel = [{ kind = "gilbert", good = "1s", bad = "50ms", per_bad = 0.3 }, { kind = "jitter", distribution = "uniform", max = "3ms", keep_order = false }, { kind = "duplicate", probability = 0.01, after = "1ms" }]"#;
    let changes = r#"
        [[change]]
        at = "20s"
        link = "server-router"
        rate = "4Mbit/s"
        [[change]]
        at = "30s"
        link = "server-router"
        up = false
        [[change]]
        at = "33s"
        link = "server-router"
        up = true
    "#;
    for size in ["30packets", "20kB", "1packet"] {
        // What noise does is decided at departure, which a change moves where it was promised before.
        for (link, change) in [("", ""), ("", changes), (noise, "")] {
            let flows = format!("{}{traffic}{change}", download("a", ""));
            let of = |kind: &str| {
                let queue = format!(r#"{{ {kind}size = "{size}" }}"#);
                // Some packets end between two nanoseconds.
                outcome_over("7Mbit/s", link, &queue, &flows)
            };
            let (plain, held) = (of(""), of(&format!("{never}, ")));
            assert_eq!(plain.flows, held.flows, "{size}, {link}, {change}");
            if link.is_empty() {
                // Elsewhere what noise takes is in the digest when it is known, which is another time.
                assert_eq!(plain.digest, held.digest, "{size}, {change}");
            }
            let (a, b) = (&plain.links[0], &held.links[0]);
            assert_eq!(
                (a.queue_drops, a.channel_drops, a.outage_drops),
                (b.queue_drops, b.channel_drops, b.outage_drops)
            );
            assert!((a.mean_queue_packets - b.mean_queue_packets).abs() < 1e-9);
            assert!((a.utilisation - b.utilisation).abs() < 1e-12);
            assert_eq!(changes_of(&plain), changes_of(&held));
        }
    }
}
