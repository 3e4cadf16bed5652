//! Those who watch a flow: they change nothing, agree with their like in charge, and are held against the truth.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::{Document, Outcome};

const NOISY: &str = r#"
    duration = "60s"
    warmup = "5s"
    topology = { kind = "single-link", rate = "5Mbit/s", delay = "40ms", queue = { size = "bdp" }, channel = { kind = "bernoulli", per = 0.005 } }
    flow     = [{ from = "src", to = "dst", sender = "newreno-lp", app = { kind = "files", size = "3MB", count = 20, connections = "separate" } }]
"#;

/// 2 Mbit/s of cross traffic from 20 to 40 s on a link of 10 Mbit/s.
const STEP: &str = r#"
    duration = "60s"
    [[link]]
    between = ["a", "b"]
    rate = "10Mbit/s"
    delay = "20ms"
    queue = { size = "bdp" }
    [[traffic]]
    from = "a"
    to = "b"
    kind = "cbr"
    rate = "2Mbit/s"
    packet = "500B"
    start = "20s"
    stop = "40s"
    [[flow]]
    name = "first"
    from = "a"
    to = "b"
    mss = 1460
    observe = { estimators = ["oracle"], every = "500ms" }
    [[flow]]
    name = "second"
    from = "a"
    to = "b"
    start = "50s"
"#;

fn outcome(text: &str, settings: &[(&str, &str)], series: bool) -> Outcome {
    let mut document = Document::parse("observers.toml", text).unwrap();
    for (path, value) in settings {
        document.set(path, value).unwrap();
    }
    run(&document.scenario().unwrap(), &Options { series, ..Default::default() }).unwrap()
}

#[test]
fn watching_changes_nothing() {
    let all = r#"{ predictors = ["vegas", "ncpld", "spike", "flip-flop", "random"], estimators = ["tibet", "westwood-3", "oracle"] }"#;
    let alone = outcome(NOISY, &[], false);
    let watched = outcome(NOISY, &[("flow.observe", all)], false);
    assert_eq!(alone.digest, watched.digest);
    assert_eq!(alone.flows[0].loss_events, watched.flows[0].loss_events);
}

#[test]
fn a_watcher_judges_as_its_like_in_charge_over_all_connections_of_a_flow() {
    let run = outcome(
        NOISY,
        &[("flow.observe", r#"{ predictors = ["always-congested", "vegas", "ideal"] }"#)],
        false,
    );
    let flow = &run.flows[0];
    assert!(flow.connections > 3, "files, each over a connection of its own: {}", flow.connections);
    let [congested, vegas, ideal] = flow.observers.predictors.as_slice() else { panic!() };
    assert_eq!((vegas.loss_events, vegas.accuracy), (flow.loss_events, flow.accuracy));
    assert!(flow.loss_events.wireless > 20 && flow.loss_events.congestion > 5, "{:?}", flow.loss_events);
    assert_eq!(ideal.accuracy.all, Some(1.0));
    assert_eq!((congested.accuracy.congestion, congested.accuracy.wireless), (Some(1.0), Some(0.0)));
}

#[test]
fn an_oracle_knows_what_cross_traffic_and_other_flows_leave() {
    let run = outcome(STEP, &[], true);
    let payload = 1460.0 / 1500.0;
    for point in &run.series[0].estimates {
        let expected = match point.t {
            t if t < 20.01 => 10e6,
            t if t < 40.01 => 8e6,
            t if t < 50.1 => 10e6,
            _ => 5e6,
        };
        let near = |x: f64| (x / (expected * payload) - 1.0).abs() < 1e-9;
        assert!(near(point.available), "{point:?}");
        // The oracle is told with each ACK.
        let edge = [20.0, 40.0, 50.0].iter().any(|e| (point.t - e).abs() < 0.3);
        assert!(edge || point.t < 1.0 || point.estimate.is_some_and(near), "{point:?}");
    }
    let summary = &run.flows[0].observers.estimators[0];
    assert!(summary.tracking_error.unwrap() < 0.01, "{summary:?}");
    assert!(summary.over_used.unwrap() > 0.99, "{summary:?}");
}

#[test]
fn a_sender_that_goes_by_an_estimate_shows_it() {
    let run = outcome(
        STEP,
        &[("flow.first.sender", "tibet"), ("flow.first.observe", r#"{ estimators = ["tibet"] }"#)],
        false,
    );
    let [own, other] = run.flows[0].observers.estimators.as_slice() else { panic!() };
    assert_eq!((own.name.as_str(), other.name.as_str()), ("sender", "tibet"));
    assert_eq!(own.mean_bps, other.mean_bps, "alike in charge and watching");
    assert!((own.over_used.unwrap() - 1.0).abs() < 0.05, "{own:?}");
}

#[test]
fn paced_segments_need_less_of_a_queue() {
    let text = STEP.replace(r#"queue = { size = "bdp" }"#, r#"queue = { size = "10packets" }"#);
    let alone = [
        ("duration", "15s"),
        ("traffic.0.start", "14s"),
        ("traffic.0.stop", "15s"),
        ("flow.second.start", "14s"),
    ];
    let burst = outcome(&text, &alone, false);
    let paced = outcome(&text, &[&alone[..], &[("flow.first.sender", "newreno-paced")]].concat(), false);
    let rounds = |o: &Outcome| o.flows[0].slow_start_rounds;
    assert!(rounds(&paced) > rounds(&burst), "slow start gets farther before the queue overflows");
}
