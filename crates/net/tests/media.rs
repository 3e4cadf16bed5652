//! Packets over radio media: what the medium's own arithmetic says of them, where they are lost, and that none is lost
//! without a cause.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::outcome::{Drops, Outcome};
use truckee_scenario::{Document, Scenario};

fn scenario(text: &str) -> Scenario {
    let document = Document::parse("t.toml", text).unwrap();
    document.scenario().unwrap_or_else(|errors| panic!("{errors}"))
}

fn outcome(text: &str) -> Outcome {
    run(&scenario(text), &Options::default()).unwrap()
}

fn near(value: f64, expected: f64, within: f64) {
    assert!((value / expected - 1.0).abs() < within, "{value}, expected {expected}");
}

/// Two stations of 802.11b with the long preamble, near each other.
const PAIR: &str = r#"
    duration = "20s"
    node = [{ name = "a", at = ["0m", "0m"] }, { name = "b", at = ["20m", "0m"] }]
    medium = [{ standard = "802.11b", rate = "11Mbit/s" }]
"#;

#[test]
fn a_lone_station_sends_as_fast_as_the_standard_lets_it() {
    let outcome = outcome(&format!(
        "{PAIR}\ntraffic = [{{ from = \"a\", to = \"b\", kind = \"cbr\", rate = \"10Mbit/s\", packet = \"1500B\" }}]"
    ));
    // DIFS, 15.5 slots, preamble and 1536 bytes at 11 Mbit/s, SIFS, preamble and 14 bytes at 2 Mbit/s: in microseconds.
    let cycle = 50.0 + 15.5 * 20.0 + (192.0 + 1118.0) + 10.0 + (192.0 + 56.0);
    let packets = 20e6 / cycle;
    near(outcome.traffic[0].packets_delivered as f64, packets, 0.003);
    let [a, b] = &*outcome.media[0].stations else { panic!() };
    near(a.airtime, (192.0 + 1118.0) / cycle, 0.003);
    near(b.airtime, (192.0 + 56.0) / cycle, 0.003);
    // Both hear all there is; nothing overlaps.
    let medium = &outcome.media[0];
    assert_eq!([a.busy, b.busy], [medium.busy; 2]);
    near(medium.busy, a.airtime + b.airtime, 1e-4);
    assert_eq!((a.attempts, a.collisions, a.noise, a.weak), (a.frames, 0, 0, 0));
    // 50 in the queue, one of which the station holds ready.
    assert!((48.0..50.0).contains(&a.mean_queue_packets), "{}", a.mean_queue_packets);
    assert_eq!(a.drops.queue, outcome.traffic[0].drops.queue);
}

#[test]
fn a_packet_that_waits_for_nobody_takes_one_exchange() {
    let outcome = outcome(&format!(
        "{PAIR}\ntraffic = [{{ from = \"a\", to = \"b\", kind = \"cbr\", rate = \"120kbit/s\", packet = \"1500B\" }}]"
    ));
    // The medium has been idle for long: no backoff, and the sender's own DIFS has passed.
    let delay = outcome.traffic[0].delay_s.mean.unwrap() * 1e6;
    assert!((1310.0..=1360.0).contains(&delay), "{delay}");
}

#[test]
fn tcp_shares_the_medium_with_its_own_acks() {
    let outcome = outcome(&format!("{PAIR}\nflow = [{{ from = \"a\", to = \"b\", rwnd = \"20segments\" }}]"));
    // Data and its ACK, each with 15.5 slots of backoff of its own at most, which run down together at best.
    let (data, ack) = (50.0 + 1310.0 + 10.0 + 248.0, 50.0 + (192.0 + 56.0) + 10.0 + 248.0);
    let of = |slots: f64| 1460.0 * 8.0 / (data + ack + slots * 20.0) * 1e6;
    let goodput = outcome.flows[0].goodput_bps;
    assert!((of(31.0)..of(13.0)).contains(&goodput), "{goodput}, {} … {}", of(31.0), of(13.0));
    // Who begins in the slot in which the other does is sending when that arrives.
    let at_once: u64 = outcome.media[0].stations.iter().map(|s| s.receiver_sending).sum();
    assert!(at_once > 0, "two stations with something to send collide now and then");
    assert_eq!(outcome.flows[0].drops, Drops::default());
}

#[test]
fn a_wired_server_is_reached_over_the_access_point_and_all_losses_have_their_cause() {
    let text = r#"
        duration = "20s"
        link = [{ between = ["server", "ap"], rate = "100Mbit/s", delay = "20ms" }]
        [[node]]
        name = "ap"
        at = ["0m", "0m"]
        [[node]]
        name = "phone"
        at = ["100m", "0m"]
        move = { kind = "path", points = [["5s", "100m", "0m"], ["10s", "900m", "0m"], ["15s", "100m", "0m"]] }
        [[medium]]
        standard = "802.11g"
        access_point = "ap"
        propagation = { kind = "log-distance", exponent = 3 }
        [[flow]]
        from = "server"
        to = "phone"
        max_rto = "2s"
        rwnd = "20segments"
        [[traffic]]
        from = "phone"
        to = "server"
        kind = "cbr"
        rate = "200kbit/s"
        packet = "500B"
    "#;
    let scenario = scenario(text);
    let plain = run(&scenario, &Options::default()).unwrap();
    let told = run(&scenario, &Options { series: true, ..Options::default() }).unwrap();
    assert_eq!((&plain.digest, plain.events), (&told.digest, told.events), "watching changes nothing");
    let [ap, phone] = &*told.media[0].stations else { panic!() };
    let (flow, traffic) = (&told.flows[0], &told.traffic[0]);
    assert!(flow.drops.reach > 0 && traffic.drops.reach > 0, "{:?} {:?}", flow.drops, traffic.drops);
    // What stations have given up is what flows and traffic have lost, and perhaps a SYN, which is nobody's.
    assert!((flow.drops.total()..=flow.drops.total() + 1).contains(&ap.drops.total()), "{:?}", ap.drops);
    assert_eq!(phone.drops.total(), flow.ack_drops.total() + traffic.drops.total());
    let of_series = told.series[0].drops.iter().filter(|drop| drop.link == "ap@medium-1").count() as u64;
    assert_eq!(of_series, ap.drops.total());
    let lost = told.series[0].drops.iter().filter(|drop| drop.cause == "reach");
    assert!(lost.clone().all(|drop| (5.0..16.0).contains(&drop.t)), "{:?}", lost.collect::<Vec<_>>());
    assert_eq!((flow.drops.queue, flow.loss_events.congestion), (0, 0));
    assert!(flow.bytes_delivered > 4_000_000, "before and after it is in reach: {}", flow.bytes_delivered);
}

#[test]
fn who_hears_the_access_point_only_when_shadows_let_him_is_served_then() {
    let phone = |medium: &str| {
        format!(
            r#"
        duration = "20s"
        node = [{{ name = "ap", at = ["0m", "0m"] }}, {{ name = "phone", at = ["90m", "0m"] }}]
        [[medium]]
        standard = "802.11b"
        rate = "11Mbit/s"
        power = "24.5dBm"
        frequency = "914MHz"
        receive_threshold = "-64.4dBm"
        {medium}
        [[flow]]
        from = "phone"
        to = "ap"
        max_rto = "2s"
    "#
        )
    };
    let shadow = |sigma| {
        format!(
            "{{ kind = \"log-distance\", exponent = 3, shadowing = {{ sigma = \"{sigma}\", correlation = \"2s\" }} }}"
        )
    };
    for routing in ["access_point = \"ap\"", "routing = \"aodv\""] {
        let outcome = outcome(&phone(&format!("propagation = {}\n{routing}", shadow("4dB"))));
        let flow = &outcome.flows[0];
        assert!(flow.bytes_delivered > 100_000, "{routing}: {flow:?}");
        // A router takes back what its link has not brought over.
        assert_eq!(flow.drops.reach > 0, routing.starts_with("access"), "{routing}: {flow:?}");
    }
    // Four deviations do not bring it there.
    let far = phone(&format!("propagation = {}", shadow("0.2dB")));
    let refused =
        truckee_scenario::Document::parse("t.toml", &far).unwrap().scenario().unwrap_err().to_string();
    assert!(refused.contains("out of reach"), "{refused}");
}

#[test]
fn what_a_station_gives_up_is_a_wireless_loss_to_whoever_judges_it() {
    let outcome = outcome(
        r#"
        duration = "20s"
        node = [{ name = "a", at = ["0m", "0m"] }, { name = "b", at = ["1100m", "0m"] }]
        medium = [{ standard = "802.11b", rate = "11Mbit/s", short_retries = 1, long_retries = 1 }]
        flow = [{ from = "a", to = "b", rwnd = "20segments" }]
    "#,
    );
    let (flow, station) = (&outcome.flows[0], &outcome.media[0].stations[0]);
    assert!(flow.drops.channel > 20, "{:?}", flow.drops);
    assert_eq!(flow.drops.channel, flow.drops.total() - flow.drops.collision);
    assert!(station.noise >= flow.drops.channel, "{station:?}");
    assert_eq!(flow.loss_events.congestion, 0);
    assert!(flow.loss_events.wireless > 10, "{:?}", flow.loss_events);
}

/// Two stations that do not hear each other send to one between them.
fn hidden(rts: &str) -> Outcome {
    outcome(&format!(
        r#"
        duration = "20s"
        node = [
            {{ name = "a", at = ["0m", "0m"] }},
            {{ name = "middle", at = ["200m", "0m"] }},
            {{ name = "b", at = ["400m", "0m"] }},
        ]
        [[medium]]
        standard = "802.11b"
        rate = "2Mbit/s"
        receive_threshold = "-73dBm"
        carrier_sense = "-73dBm"
        propagation = {{ kind = "two-ray" }}
        rts_threshold = "{rts}"
        [[traffic]]
        from = "a"
        to = "middle"
        kind = "cbr"
        rate = "1Mbit/s"
        packet = "1000B"
        [[traffic]]
        from = "b"
        to = "middle"
        kind = "cbr"
        rate = "1Mbit/s"
        packet = "1000B"
    "#
    ))
}

#[test]
fn hidden_stations_collide_and_reservations_help() {
    let [with, without] = ["0B", "never"].map(|rts| {
        let outcome = hidden(rts);
        let lost: u64 = outcome.traffic.iter().map(|t| t.drops.collision).sum();
        let stations = &outcome.media[0].stations;
        assert!(lost <= stations.iter().map(|s| s.collisions + s.reserved).sum());
        assert!(outcome.traffic.iter().all(|t| t.drops.channel + t.drops.reach == 0));
        lost
    });
    assert!(without > 5 * with.max(1), "{without} without, {with} with");
}

#[test]
fn a_chain_carries_what_its_middle_can_send() {
    let chain = |hops: u32| {
        let outcome = outcome(&format!(
            r#"
            duration = "10s"
            [[node]]
            name = "n*"
            count = {}
            at = ["0m", "0m"]
            step = ["200m", "0m"]
            [[medium]]
            standard = "802.11b"
            rate = "2Mbit/s"
            receive_threshold = "-73dBm"
            carrier_sense = "-85dBm"
            propagation = {{ kind = "two-ray" }}
            [[flow]]
            from = "n1"
            to = "n{}"
            rwnd = "4segments"
        "#,
            hops + 1,
            hops + 1
        ));
        let relayed: Vec<u64> = outcome.media[0].stations.iter().map(|s| s.packets).collect();
        assert!(relayed.iter().all(|packets| *packets > 0), "{relayed:?}");
        outcome.flows[0].goodput_bps
    };
    let [one, two, four] = [1, 2, 4].map(chain);
    near(two, one / 2.0, 0.15);
    assert!(four < 0.4 * one && four > 0.1 * one, "{one}, {two}, {four}");
}

#[test]
fn stations_have_the_queues_of_links() {
    for queue in [
        "{ kind = \"drop-tail\", size = \"5packets\" }",
        "{ kind = \"red\", min = \"2packets\", max = \"6packets\", size = \"20packets\" }",
        "{ kind = \"codel\", target = \"5ms\" }",
        "{ kind = \"fq-codel\" }",
        "{ kind = \"pie\" }",
    ] {
        let text = format!(
            "{}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\necn = true\n[[traffic]]\nfrom = \"a\"\nto = \"b\"\nkind = \
             \"poisson\"\nrate = \"1Mbit/s\"\n",
            PAIR.replace("rate = \"11Mbit/s\"", &format!("rate = \"11Mbit/s\", queue = {queue}"))
        );
        let outcome = outcome(&text);
        let station = &outcome.media[0].stations[0];
        let of_ends = outcome.flows[0].drops.queue + outcome.traffic[0].drops.queue;
        assert!(of_ends + station.ecn_marks > 0, "{queue}: {station:?}");
        assert_eq!(station.drops.queue, of_ends, "{queue}");
        assert!(station.mean_queue_packets < 60.0, "{queue}: {}", station.mean_queue_packets);
    }
}

#[test]
fn aggregates_are_made_of_what_waits() {
    let goodput = |aggregation: bool| {
        outcome(&format!(
            r#"
            duration = "5s"
            node = [{{ name = "a", at = ["0m", "0m"] }}, {{ name = "b", at = ["5m", "0m"] }}]
            medium = [{{ standard = "802.11n", rate = "mcs7", aggregation = {aggregation} }}]
            flow = [{{ from = "a", to = "b" }}]
        "#
        ))
        .flows[0]
            .goodput_bps
    };
    let (without, with) = (goodput(false), goodput(true));
    assert!(with > 1.8 * without && with > 40e6, "{with} with, {without} without");
}

#[test]
fn places_and_frames_over_time_are_those_of_the_counters() {
    let text = format!(
        "{}\nflow = [{{ from = \"a\", to = \"b\", app = {{ kind = \"file\", size = \"200kB\" }} }}]",
        PAIR.replace(
            "{ name = \"b\", at = [\"20m\", \"0m\"] }",
            "{ name = \"b\", at = [\"20m\", \"0m\"], move = { kind = \"path\", points = [[\"1s\", \"20m\", \"0m\"], [\"3s\", \
             \"20m\", \"30m\"]] } }"
        )
    );
    let told = run(&scenario(&text), &Options { series: true, ..Options::default() }).unwrap();
    assert!(run(&scenario(&text), &Options::default()).unwrap().air.is_empty());
    let [air] = &*told.air else { panic!() };
    assert_eq!((air.medium.as_str(), &*air.stations), ("medium-1", &["a".to_owned(), "b".to_owned()][..]));
    for (station, counted) in told.media[0].stations.iter().enumerate() {
        let frames = || air.frames.iter().filter(|frame| frame.from == station as u32);
        assert_eq!(frames().count() as u64, counted.frames);
        let airtime: f64 = frames().map(|frame| frame.airtime).sum();
        near(airtime / told.simulated_s, counted.airtime, 1e-9);
    }
    let failed = air.frames.iter().filter(|frame| frame.failure == Some("receiver-sending")).count() as u64;
    assert_eq!(failed, told.media[0].stations.iter().map(|s| s.receiver_sending).sum::<u64>());
    // It rests, sets off at 1 s, and the run is over before it arrives.
    let places: Vec<_> = air.places.iter().filter(|place| place.station == 1).map(|p| (p.t, p.y)).collect();
    assert_eq!(places[0], (0.0, 0.0));
    assert_eq!(places.last().unwrap().0, told.simulated_s);
    assert!(air.places.windows(2).all(|pair| pair[0].t <= pair[1].t), "{:?}", air.places);
}
