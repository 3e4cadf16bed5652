//! A run that goes on step by step: where it stops makes no difference, and its senders do what they are told.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Error, Options, Stepped, run};
use truckee_scenario::{Document, Scenario};
use truckee_tcp::controller::Order;
use truckee_tcp::{Span, Time};

fn scenario(text: &str) -> Scenario {
    Document::parse("stepped.toml", text).unwrap().scenario().unwrap()
}

/// A path of 10 Mbit/s and 40 ms, 50 kB or 33 segments, whose queue holds three times as many.
fn link(channel: &str) -> Scenario {
    scenario(&format!(
        r#"
        duration = "20s"
        topology = {{ kind = "single-link", rate = "10Mbit/s", delay = "20ms", queue = {{ size = "100packets" }}{channel} }}
        flow = [{{ from = "src", to = "dst", sender = "newreno" }}]
        "#
    ))
}

/// Files one after the other over two links, with cross traffic that makes a queue: each kind of event there is over links.
const FILES: &str = r#"
    duration = "30s"
    [[link]]
    between = ["a", "r"]
    rate = "10Mbit/s"
    delay = "5ms"
    [[link]]
    between = ["r", "b"]
    rate = "2Mbit/s"
    delay = "20ms"
    queue = { size = "15packets" }
    channel = { kind = "bernoulli", per = 0.01 }
    [[flow]]
    from = "a"
    to = "b"
    sender = "sack"
    receiver = "delayed"
    handshake = true
    app = { kind = "files", size = "100kB", count = 5 }
    [[flow]]
    from = "a"
    to = "b"
    sender = "bbr"
    [[traffic]]
    from = "a"
    to = "b"
    kind = "pareto"
    rate = "500kbit/s"
    on = "200ms"
    off = "400ms"
"#;

/// A transfer over three stations of which the outer two do not hear each other, and a datagram now and then.
const RADIO: &str = r#"
    duration = "20s"
    [[node]]
    name = "n*"
    count = 3
    at = ["0m", "0m"]
    step = ["200m", "0m"]
    [[medium]]
    standard = "802.11b"
    rate = "2Mbit/s"
    frequency = "914MHz"
    power = "24.5dBm"
    propagation = { kind = "two-ray" }
    receive_threshold = "-64.375dBm"
    carrier_sense = "-78.07dBm"
    routing = "aodv"
    [[flow]]
    from = "n1"
    to = "n3"
    sender = "newreno"
    [[traffic]]
    from = "n3"
    to = "n2"
    kind = "cbr"
    rate = "8kbit/s"
    packet = "500B"
"#;

#[test]
fn what_is_known_where_it_stops_is_what_has_happened_by_then() {
    for end in (0..40).map(|i| Span::ms(1_000) + Span::us(1_300) * i) {
        let (mut stops, mut ends) = (scenario(RADIO), scenario(RADIO));
        ends.duration = end;
        stops.duration = end + Span::s(1);
        let standing = |scenario| {
            let mut stepped = Stepped::new(scenario, &[]).unwrap();
            stepped.advance(Time::at(end)).unwrap();
            stepped.standing(0)
        };
        assert_eq!(standing(stops), standing(ends), "at {} s", end.seconds());
    }
}

#[test]
fn where_it_stops_on_the_way_makes_no_difference() {
    let noisy = link(", channel = { kind = \"bernoulli\", per = 0.01 }");
    for scenario in [noisy, scenario(FILES), scenario(RADIO)] {
        let whole = run(&scenario, &Options::default()).unwrap();
        for step in [Span::us(317), Span::ms(10), Span::s(7)] {
            let mut stepped = Stepped::new(scenario.clone(), &[]).unwrap();
            while !stepped.advance(stepped.now() + step).unwrap() {}
            let mut outcome = stepped.outcome().unwrap();
            outcome.wall_s = whole.wall_s;
            assert_eq!(outcome.digest, whole.digest, "steps of {} s", step.seconds());
            let json = |outcome| serde_json::to_string(outcome).unwrap();
            assert_eq!(json(&outcome), json(&whole), "steps of {} s", step.seconds());
        }
    }
}

#[test]
fn a_window_that_is_told_is_kept_whatever_is_lost() {
    let mut stepped = Stepped::new(link(", channel = { kind = \"bernoulli\", per = 0.02 }"), &[0]).unwrap();
    let known = stepped.known(0).unwrap();
    assert_eq!((known.rate, known.mss), (10e6, 1460));
    // Twice 20 ms, and a segment and its ACK at 10 Mbit/s twice: the topology has a node between the ends.
    assert!((known.rtt.seconds() - 0.0425).abs() < 1e-4, "{known:?}");
    let half = 17.0 * 1460.0;
    stepped.steer(0, Order { window: Some(half), pace: None }).unwrap();
    stepped.advance(Time::s(10)).unwrap();
    let standing = stepped.standing(0);
    assert_eq!(standing.window, half);
    assert!(standing.resent > 0 && standing.in_flight <= half as u64, "{standing:?}");
    assert!(standing.rtt_min.unwrap() >= known.rtt);
    stepped.steer(0, Order { window: Some(5.0 * half), pace: None }).unwrap();
    assert!(stepped.standing(0).in_flight > 4 * half as u64, "what the window lets out leaves at once");
    assert!(stepped.advance(Time::MAX).unwrap());
    assert_eq!(stepped.now(), stepped.end());
}

#[test]
fn half_of_what_the_path_holds_is_half_of_what_it_carries() {
    let mut stepped = Stepped::new(link(""), &[0]).unwrap();
    let window = 17.0 * 1460.0;
    stepped.steer(0, Order { window: Some(window), pace: None }).unwrap();
    stepped.advance(Time::s(10)).unwrap();
    let (standing, rtt) = (stepped.standing(0), stepped.known(0).unwrap().rtt);
    let expected = window / rtt.seconds() * 10.0;
    assert!((standing.acked as f64 / expected - 1.0).abs() < 0.01, "{standing:?}, expected {expected}");
}

#[test]
fn a_pace_that_is_told_is_kept_and_a_slow_one_holds_nothing_back_afterwards() {
    let mut stepped = Stepped::new(link(""), &[0]).unwrap();
    let pace = |bits: f64| Order { window: None, pace: Some(bits / 8.0) };
    stepped.steer(0, pace(4e6)).unwrap();
    stepped.advance(Time::s(5)).unwrap();
    let sent = stepped.standing(0).sent as f64 * 8.0 * 1500.0 / 1460.0 / 5.0;
    assert!((sent / 4e6 - 1.0).abs() < 0.01, "{sent}");
    // The next segment would wait for two minutes.
    stepped.steer(0, pace(100.0)).unwrap();
    stepped.advance(Time::s(6)).unwrap();
    let slow = stepped.standing(0).sent;
    stepped.steer(0, pace(8e6)).unwrap();
    stepped.advance(Time::s(7)).unwrap();
    let sent = (stepped.standing(0).sent - slow) as f64 * 8.0 * 1500.0 / 1460.0;
    assert!((sent / 8e6 - 1.0).abs() < 0.02, "{sent}");
}

#[test]
fn connections_that_are_opened_later_hear_of_what_was_told_before() {
    let mut scenario = scenario(FILES);
    scenario.flows.truncate(1);
    let mut stepped = Stepped::new(scenario, &[0]).unwrap();
    stepped.steer(0, Order { window: Some(4.0 * 1460.0), pace: None }).unwrap();
    let mut over = false;
    while !over {
        over = stepped.advance(stepped.now() + Span::ms(50)).unwrap();
        let in_flight = stepped.standing(0).in_flight;
        assert!(in_flight <= 4 * 1460, "{in_flight} at {} s", stepped.now().seconds());
    }
    let outcome = stepped.outcome().unwrap();
    assert_eq!((outcome.flows[0].connections, outcome.flows[0].sender.as_str()), (5, "steered"));
    assert!(outcome.simulated_s < 30.0 && stepped.outcome().is_none());
    assert_eq!(stepped.standing(0).sent, 0, "what has ended is gone");
}

#[test]
fn what_is_no_window_is_refused_by_name() {
    let mut stepped = Stepped::new(link(""), &[0]).unwrap();
    for (window, pace) in [(Some(f64::NAN), None), (Some(-1.0), None), (None, Some(f64::INFINITY))] {
        let error = stepped.steer(0, Order { window, pace }).unwrap_err();
        assert!(matches!(&error, Error::Order { flow, .. } if flow == "flow-1"), "{error}");
    }
}

/// Where there are thousands of connections, what packets will need is read ahead: here all but a few of them begin after the
/// run's end.
#[test]
fn flows_among_thousands_that_never_begin_do_as_by_themselves() {
    const IDLE: &str = r#"
    [[flow]]
    from = "a"
    to = "b"
    sender = "sack"
    count = 2500
    start = "40s"
    "#;
    let digest = |text: &str| run(&scenario(text), &Options::default()).unwrap().digest;
    assert_eq!(digest(FILES), digest(&format!("{FILES}{IDLE}")));
}
