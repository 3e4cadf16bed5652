//! Time series against the outcome of the same run.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::outcome::FlowSeries;
use truckee_scenario::{Document, Outcome};

fn recorded(app: &str, extra: &str) -> Outcome {
    let text = format!(
        r#"
        duration = "60s"
        [[link]]
        between = ["a", "r"]
        rate = "5Mbit/s"
        delay = "20ms"
        queue = {{ kind = "drop-tail", size = "20packets" }}
        [[link]]
        between = ["r", "b"]
        rate = "10Mbit/s"
        channel_both = [
            {{ kind = "bernoulli", per = 0.01 }},
            {{ kind = "outages", at = [["5s", "500ms"], ["9s", "3s"]] }},
        ]
        [[flow]]
        from = "a"
        to = "b"
        app = {app}
        {extra}
        "#
    );
    let document = Document::parse("series.toml", &text).unwrap();
    let scenario = document.scenario().unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    run(&scenario, &Options { series: true, ..Default::default() }).unwrap()
}

/// Runs of every kind of application and of recovery.
fn runs() -> Vec<Outcome> {
    let apps = [
        r#"{ kind = "bulk" }"#,
        r#"{ kind = "file", size = "2MB" }"#,
        r#"{ kind = "files", size = "100kB", count = 20, connections = "separate" }"#,
        r#"{ kind = "files", size = "100kB", count = 20, connections = "parallel:4" }"#,
        r#"{ kind = "request-response", request = "300B", response = "60kB", think = "50ms" }"#,
        r#"{ kind = "segments", arrivals = { kind = "poisson", rate = "1Mbit/s" } }"#,
    ];
    let senders = ["tahoe", "reno", "newreno", "sack", "newreno-lp"];
    let run = |app| senders.map(|sender| recorded(app, &format!("sender = \"{sender}\"")));
    apps.iter().flat_map(|app| run(*app)).collect()
}

fn times(series: &FlowSeries) -> [Vec<f64>; 5] {
    [
        series.window.iter().map(|p| p.t).collect(),
        series.segments.iter().map(|p| p.t).collect(),
        series.acks.iter().map(|p| p.t).collect(),
        series.drops.iter().map(|p| p.t).collect(),
        series.losses.iter().map(|p| p.t).collect(),
    ]
}

#[test]
fn times_rise_from_the_start_to_the_end() {
    for result in runs() {
        for times in times(&result.series[0]) {
            assert!(!times.is_empty());
            assert!(times.windows(2).all(|w| w[0] <= w[1]));
            assert!(times[0] >= 0.0);
        }
        // A drop is known when the packet is accepted, so the last ones may lie a queue's length beyond the end.
        let [window, segments, acks, ..] = times(&result.series[0]);
        for last in [window, segments, acks].iter().filter_map(|t| t.last()) {
            assert!(*last <= result.simulated_s);
        }
    }
}

#[test]
fn counts_are_those_of_the_outcome() {
    let mut timeouts = 0;
    for result in runs() {
        let (flow, series) = (&result.flows[0], &result.series[0]);
        let count = |n: usize| n as u64;
        assert_eq!(count(series.segments.len()), flow.segments_sent);
        let again = series.segments.iter().filter(|s| s.retransmission);
        assert_eq!(count(again.count()), flow.retransmitted_segments);
        let acks_lost = flow.ack_drops.queue + flow.ack_drops.channel + flow.ack_drops.outage;
        assert_eq!(count(series.drops.iter().filter(|d| d.ack).count()), acks_lost);
        for (cause, data, acks) in [
            ("queue", flow.drops.queue, flow.ack_drops.queue),
            ("channel", flow.drops.channel, flow.ack_drops.channel),
            ("outage", flow.drops.outage, flow.ack_drops.outage),
        ] {
            let dropped = count(series.drops.iter().filter(|d| d.cause == cause).count());
            // SYN and FIN alone are neither data nor ACKs.
            assert!(dropped >= data + acks && dropped <= data + acks + 2 * flow.connections + 20, "{cause}");
        }
        let by_dup_acks = series.losses.iter().filter(|l| l.kind == "dup-acks");
        assert_eq!(count(by_dup_acks.count()), flow.fast_retransmits);
        let by_timeout = count(series.losses.iter().filter(|l| l.kind == "timeout").count());
        // A SYN that times out is no loss event, nor is a segment that times out again.
        assert!(by_timeout <= flow.timeouts);
        timeouts += by_timeout;
        for (truth, expected) in [
            ("congestion", flow.loss_events.congestion),
            ("wireless", flow.loss_events.wireless),
            ("none", flow.loss_events.spurious),
        ] {
            let seen = series.losses.iter().filter(|l| l.truth == truth).count();
            assert_eq!(count(seen), expected, "{truth}");
        }
        let right = series.losses.iter().filter(|l| l.truth == l.verdict).count();
        let judged = flow.loss_events.congestion_judged_right + flow.loss_events.wireless_judged_right;
        assert_eq!(count(right), judged);
        // Each ACK that reaches the sender leaves a point of its window.
        assert!(series.window.len() >= series.acks.len());
    }
    assert!(timeouts > 100, "{timeouts}: the outages should see to that");
}

#[test]
fn the_smallest_round_trip_seen_is_the_outcome_s() {
    for result in runs() {
        let seen = result.series[0].window.iter().filter_map(|p| p.rtt).fold(f64::INFINITY, f64::min);
        // The handshake's sample is none of an ACK.
        assert!(seen >= result.flows[0].rtt_s.min.unwrap());
        assert!(seen < 1.1 * result.flows[0].rtt_s.min.unwrap() + 0.02);
    }
}

#[test]
fn a_queue_s_length_over_time_has_the_mean_of_the_outcome() {
    let mut waited = 0;
    for result in runs() {
        assert_eq!(result.queues.len(), result.links.len());
        for (queue, link) in result.queues.iter().zip(&result.links) {
            assert_eq!(queue.link, link.name);
            let points = &queue.points;
            assert!(points.windows(2).all(|w| w[0].t < w[1].t && w[0].packets.abs_diff(w[1].packets) <= 20));
            let ends = points.iter().skip(1).map(|p| p.t).chain([result.simulated_s]);
            let area: f64 = points.iter().zip(ends).map(|(p, end)| f64::from(p.packets) * (end - p.t)).sum();
            // What waits when a run ends before its time has been counted to the end of its service.
            let (ours, theirs) = (area / result.simulated_s, link.mean_queue_packets);
            assert!((ours - theirs).abs() <= 0.01 * theirs + 0.01, "{}: {ours}, {theirs}", link.name);
            waited += usize::from(theirs > 0.5);
        }
    }
    assert!(waited > 10, "{waited}: some queues should have grown");
}

#[test]
fn the_delays_seen_have_the_mean_of_the_outcome() {
    for result in runs() {
        let seen = &result.series[0].delays;
        let mean = seen.iter().map(|p| p.delay).sum::<f64>() / seen.len() as f64;
        let outcome = result.flows[0].delay_s.mean.unwrap();
        assert!((mean - outcome).abs() <= 1e-9 * outcome, "{mean}, {outcome}");
    }
}

#[test]
fn recording_changes_nothing() {
    let text = |series| {
        let document = Document::parse(
            "series.toml",
            r#"
            duration = "20s"
            topology = { kind = "single-link", rate = "5Mbit/s", delay = "20ms", channel = { kind = "bernoulli", per = 0.01 } }
            flow = [{ from = "src", to = "dst" }]
            "#,
        )
        .unwrap();
        run(&document.scenario().unwrap(), &Options { series, ..Default::default() }).unwrap()
    };
    let (plain, recorded) = (text(false), text(true));
    assert_eq!(plain.digest, recorded.digest);
    assert_eq!(plain.flows, recorded.flows);
    assert!(plain.series.is_empty() && recorded.series.len() == 1);
    assert!(plain.queues.is_empty() && recorded.queues.len() == recorded.links.len());
}

/// A flow whose segments come at those times, ms.
fn written(times_ms: &[u64], stack: &str) -> FlowSeries {
    let text = format!(
        r#"
        duration = "2s"
        [[link]]
        between = ["a", "b"]
        rate = "5Mbit/s"
        delay = "50ms"
        [[flow]]
        from = "a"
        to = "b"
        app = {{ kind = "segments", arrivals = {{ kind = "trace", times_ms = {times_ms:?} }}, count = {} }}
        {stack}
        "#,
        times_ms.len()
    );
    let scenario = Document::parse("writes.toml", &text).unwrap().scenario().unwrap();
    run(&scenario, &Options { series: true, ..Default::default() }).unwrap().series.remove(0)
}

/// When they left, ns.
fn left(series: &FlowSeries) -> Vec<f64> {
    series.segments.iter().map(|segment| (1e9 * segment.t).round()).collect()
}

#[test]
fn writes_of_one_moment_leave_one_after_the_other() {
    assert_eq!(left(&written(&[200, 200, 700], "")), [200_000_000.0, 200_001_000.0, 700_000_000.0]);
}

#[test]
fn what_comes_before_the_connection_is_open_is_written_once_it_is() {
    let series = written(&[0, 0, 30, 400], "initial_window = \"10segments\"");
    let left = left(&series);
    assert!(left[0] > 100e6 && left[0] < 101e6, "{left:?}");
    assert_eq!(left[1..], [left[0] + 1e3, left[0] + 2e3, 400e6]);
    // Delays count from when it came.
    let longest = series.delays.iter().map(|point| point.delay).fold(0.0, f64::max);
    assert!(longest > 0.15, "{longest}");
}

#[test]
fn gaps_are_noted_where_a_detector_looks_at_them_and_nowhere_else() {
    let text = |observe: &str| {
        format!(
            "duration = \"3s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"5Mbit/s\"\ndelay = \"50ms\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n{observe}"
        )
    };
    let gaps = |observe: &str| {
        let scenario = Document::parse("gaps.toml", &text(observe)).unwrap().scenario().unwrap();
        run(&scenario, &Options { series: true, ..Options::default() }).unwrap().series[0].clone()
    };
    let seen = gaps("observe = { detectors = [\"round-growth\", \"inter-arrival\"] }");
    assert!(seen.gaps.len() > 100);
    let round_trip = seen.gaps.iter().map(|p| p.gap).fold(0.0, f64::max);
    assert!((0.08..0.11).contains(&round_trip), "the first windows are a round trip apart: {round_trip}");
    for block in seen.gaps.windows(20) {
        let of = |pick: fn(f64, f64) -> f64| block.iter().map(|p| p.gap).reduce(pick).unwrap();
        assert_eq!((block[19].min, block[19].max), (of(f64::min), of(f64::max)));
    }
    assert!(gaps("observe = { detectors = [\"round-growth\"] }").gaps.is_empty() && gaps("").gaps.is_empty());
}
