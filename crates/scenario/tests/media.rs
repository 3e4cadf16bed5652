//! Nodes with places and media: what a file says of them, read and written out again.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_scenario::model::{Limit, Movement, Queue};
use truckee_scenario::route::{Hop, Routes};
use truckee_scenario::{Document, Scenario, Time, explain};
use truckee_wireless::phy::{Band, GuardInterval, Ofdm, Rate, Standard};
use truckee_wireless::{Position, RateControl};

fn read(text: &str) -> Scenario {
    let text = format!("duration = \"10s\"\n{text}");
    Document::parse("t.toml", &text).unwrap().scenario().unwrap_or_else(|errors| panic!("{errors}"))
}

/// Reads it, and reads again what explains it.
fn round_trip(text: &str) -> Scenario {
    let scenario = read(text);
    let written = explain(&scenario);
    let again = Document::parse("t.toml", &written).and_then(|document| document.scenario());
    assert_eq!(again.unwrap_or_else(|errors| panic!("{errors}\n{written}")), scenario, "{written}");
    scenario
}

const PAIR: &str = r#"
    node = [{ name = "a", at = ["0m", "0m"] }, { name = "b", at = ["-3m", "4m"], power = "20dBm" }]
"#;

#[test]
fn a_medium_in_two_lines_has_the_values_of_its_standard() {
    let scenario = round_trip(&format!("{PAIR}\n[[medium]]\nstandard = \"802.11g\""));
    let medium = &scenario.media[0];
    assert_eq!((medium.name.as_str(), medium.stations.len(), medium.access_point), ("medium-1", 2, None));
    assert_eq!([0, 1].map(|k| medium.stations[k].power), [15.0, 20.0]);
    assert_eq!(medium.rate, RateControl::Arf);
    assert_eq!(medium.queue, Queue::DropTail { limit: Limit::Packets(50) });
    assert_eq!(scenario.places[1].movement, Movement::Still(Position::on_ground(-3.0, 4.0)));
    assert_eq!(medium.config, truckee_wireless::MediumConfig::of(medium.config.standard));
}

#[test]
fn what_a_medium_says_is_read_back_from_its_explanation() {
    let media = [
        r#"standard = "802.11b"
           preamble = "short"
           basic_rates = ["1Mbit/s"]
           propagation = { kind = "two-ray", shadowing = { sigma = "4dB", correlation = "100ms" } }
           frequency = "914MHz"
           carrier_sense = "-78.1dBm"
           receive_threshold = "-64.4dBm"
           capture = "none"
           rts_threshold = "0B"
           short_retries = "unlimited"
           queue = { kind = "red", size = "100packets" }"#,
        r#"standard = "802.11n"
           band = "5GHz"
           guard_interval = "short"
           rate = "mcs7"
           aggregation = { frames = 16, bytes = "8kB" }
           queue = { kind = "fq-codel" }
           propagation = { kind = "log-distance", exponent = 3.5, fading = { kind = "rice", k = 2.5 } }
           access_point = "b""#,
        r#"standard = "802.11g"
           slot = "long"
           rate = "54Mbit/s"
           protection = "cts-to-self"
           cw_min = 31
           delay = "1us""#,
        r#"standard = "802.11n"
           rate = "minstrel"
           aggregation = false
           propagation = { fading = { coherence = "3ms" } }"#,
    ];
    for text in media {
        round_trip(&format!("{PAIR}\n[[medium]]\n{text}"));
    }
    let n = round_trip(&format!("{PAIR}\n[[medium]]\n{}", media[1]));
    assert_eq!(n.media[0].config.standard, Standard::N(Band::Ghz5, GuardInterval::Short));
    let g = round_trip(&format!("{PAIR}\n[[medium]]\n{}", media[2]));
    assert_eq!(g.media[0].rate, RateControl::Fixed(Rate::Ofdm(Ofdm::R54)));
}

#[test]
fn nodes_move_as_they_are_told() {
    let folder = format!("{}/tests/bad", env!("CARGO_MANIFEST_DIR"));
    let text = r#"
        duration = "10s"
        [[node]]
        name = "n*"
        count = 3
        at = ["0m", "10m"]
        step = ["200m", "0m"]
        [[node]]
        name = "phone"
        at = ["0m", "0m"]
        height = "2m"
        move = { kind = "path", points = [["5s", "10m", "0m"], ["9s", "0m", "0m"]] }
        [[node]]
        name = "r*"
        count = 2
        move = { kind = "random-waypoint", area = ["100m", "50m"], speed = ["1m/s", "2m/s"], pause = "1s" }
        [[node]]
        name = "t"
        move = { kind = "setdest", file = "two-nodes.tcl", number = 1 }
        [[medium]]
        standard = "802.11b"
        propagation = { kind = "two-ray" }
    "#;
    let name = format!("{folder}/t.toml");
    let scenario = Document::parse(&name, text).unwrap().scenario().unwrap_or_else(|e| panic!("{e}"));
    let written = explain(&scenario);
    let again = Document::parse(&name, &written).and_then(|document| document.scenario()).unwrap();
    assert_eq!(again, scenario);
    assert_eq!(scenario.nodes, ["n1", "n2", "n3", "phone", "r1", "r2", "t"]);
    let at = |node: usize, seconds: u64| {
        let mobility = scenario.places[node].movement.mobility(1, &scenario.nodes[node]);
        let place = mobility.unwrap().leg(Time::s(seconds)).at(Time::s(seconds));
        (place.x, place.y)
    };
    assert_eq!(
        [at(0, 0), at(2, 7), at(3, 0), at(3, 5), at(3, 7), at(6, 3)],
        [(0.0, 10.0), (400.0, 10.0), (0.0, 0.0), (10.0, 0.0), (5.0, 0.0), (9.0, 0.0)]
    );
    assert_ne!(at(4, 0), at(5, 0), "each has a stream of its own");
    assert!(written.contains("# range at 15dBm, 1500 bytes, one frame in ten lost: 1Mbit/s "), "{written}");
}

#[test]
fn ways_lead_over_stations_in_reach_of_each_other() {
    let scenario = read(
        r#"
        [[link]]
        between = ["server", "n1"]
        rate = "10Mbit/s"
        delay = "5ms"
        [[node]]
        name = "n*"
        count = 4
        at = ["0m", "0m"]
        step = ["200m", "0m"]
        [[medium]]
        standard = "802.11b"
        rate = "2Mbit/s"
        receive_threshold = "-73dBm"
        propagation = { kind = "two-ray" }
    "#,
    );
    let places = (scenario.media.as_slice(), scenario.places.as_slice());
    let routes = Routes::with_media(&scenario.nodes, &scenario.links, places, Some(1));
    let path = routes.unwrap().path(0, 4).unwrap();
    let hop = |from, to| Hop::Medium { medium: 0, from, to };
    assert_eq!(path, [Hop::Link { link: 0, forward: true }, hop(0, 1), hop(1, 2), hop(2, 3)]);
    assert_eq!(path[2].reversed(), hop(2, 1));
}

#[test]
fn who_cannot_be_read_does_not_leave_the_others_out_of_reach_or_without_a_route() {
    let said = |keys: &str, medium: &str| {
        let text = format!(
            "duration = \"5s\"\n[[node]]\nname = \"a\"\nat = [\"0m\", \"0m\"]\n\
             [[node]]\nname = \"b\"\nat = [\"20m\", \"0m\"]\n{keys}\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\n\
             [[medium]]\nstandard = \"802.11b\"\n{medium}"
        );
        Document::parse("t.toml", &text).unwrap().scenario().unwrap_err().to_string()
    };
    let still = said("move = { kind = \"flies\" }", "");
    assert!(still.contains("no kind of movement") && !still.contains("out of reach"), "{still}");
    let alone = said("", "stations = [\"a\"]");
    assert!(alone.contains("a medium of 1 stations") && !alone.contains("out of reach"), "{alone}");
    let slow = said("", "rate = \"3Mbit/s\"");
    assert!(slow.contains("no rate") && !slow.contains("no route"), "{slow}");
}

#[test]
fn clients_send_to_their_access_point_alone() {
    let scenario = read(
        r#"
        node = [
            { name = "ap", at = ["0m", "0m"] },
            { name = "a", at = ["5m", "0m"] },
            { name = "b", at = ["6m", "0m"] },
        ]
        [[medium]]
        standard = "802.11g"
        access_point = "ap"
        [[flow]]
        from = "a"
        to = "b"
    "#,
    );
    let places = (scenario.media.as_slice(), scenario.places.as_slice());
    let mut routes = Routes::with_media(&scenario.nodes, &scenario.links, places, Some(1)).unwrap();
    assert_eq!(routes.path(1, 2).unwrap().len(), 2);
    assert_eq!(routes.along(&[1, 2]), Err(0));
}

#[test]
fn a_routing_protocol_and_its_settings_are_read_back() {
    use truckee_routing::{Config, aodv, dsdv, olsr};
    use truckee_scenario::model::Routing;
    let of = |routing: &str| {
        let text = format!("{PAIR}\n[[medium]]\nstandard = \"802.11b\"\nrouting = {routing}");
        round_trip(&text).media[0].routing.clone()
    };
    assert_eq!(of("\"static\""), Routing::Static);
    assert_eq!(of("\"olsr\""), Routing::Protocol(Box::new(Config::Olsr(olsr::Config::default()))));
    let hello = aodv::Hello { allowed_loss: 3, ..aodv::Hello::default() };
    let aodv =
        aodv::Config { hello: Some(hello), local_repair: None, ttl_start: 5, ..aodv::Config::default() };
    let routing =
        of("{ kind = \"aodv\", hello = true, allowed_hello_loss = 3, local_repair = false, ttl_start = 5 }");
    assert_eq!(routing, Routing::Protocol(Box::new(Config::Aodv(aodv))));
    let dsdv = dsdv::Config { link_layer: false, settling_weight: 0.5, ..dsdv::Config::default() };
    let routing = of("{ kind = \"dsdv\", link_layer = false, settling_weight = 0.5 }");
    assert_eq!(routing, Routing::Protocol(Box::new(Config::Dsdv(dsdv))));
    let hysteresis = Some(olsr::Hysteresis { high: 0.9, ..olsr::Hysteresis::default() });
    let routing = of("{ kind = \"olsr\", hysteresis = true, hyst_threshold_high = 0.9 }");
    let olsr = olsr::Config { hysteresis, ..olsr::Config::default() };
    assert_eq!(routing, Routing::Protocol(Box::new(Config::Olsr(olsr))));
}

#[test]
fn routing_that_cannot_be_is_named() {
    let why = |medium: &str, more: &str| {
        let text =
            format!("duration = \"10s\"\n{PAIR}\n{more}\n[[medium]]\nstandard = \"802.11b\"\n{medium}");
        Document::parse("t.toml", &text).unwrap().scenario().unwrap_err().to_string()
    };
    let setting = why("routing = { kind = \"aodv\", ttl_start = 40 }", "");
    assert!(setting.contains("ttl_start 40") && setting.contains("between 1 and 35"), "{setting}");
    let unknown = why("routing = { kind = \"olsr\", hello = true }", "");
    assert!(unknown.contains("has no key \"hello\""), "{unknown}");
    let infrastructure = why("routing = \"dsdv\"\naccess_point = \"a\"", "");
    assert!(infrastructure.contains("a routing protocol where there is an access point"), "{infrastructure}");
    let more = "link = [{ name = \"l\", between = [\"b\", \"c\"], rate = \"1Mbit/s\" }]\n\
                change = [{ at = \"5s\", link = \"l\", rate = \"2Mbit/s\" }]";
    let changing = why("routing = \"aodv\"", more);
    assert!(changing.contains("links change in mid run"), "{changing}");
}
