//! A node that goes from one access point to another, each on a medium of its own.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::{Document, Outcome};

/// A server behind a switch, two access points 200 m apart, and a phone. `phone`: what its table has.
fn text(phone: &str) -> String {
    format!(
        r#"
        seed = 3
        duration = "30s"
        link = [
            {{ between = ["server", "switch"], rate = "100Mbit/s", delay = "10ms" }},
            {{ between = ["switch", "ap1"], rate = "100Mbit/s", delay = "1ms" }},
            {{ between = ["switch", "ap2"], rate = "100Mbit/s", delay = "1ms" }},
        ]
        node = [
            {{ name = "ap1", at = ["0m", "0m"] }},
            {{ name = "ap2", at = ["200m", "0m"] }},
            {{ name = "phone", {phone} }},
        ]
        medium = [
            {{ name = "one", standard = "802.11g", stations = ["ap1", "phone"], access_point = "ap1", propagation = {{ kind = "log-distance", exponent = 3 }} }},
            {{ name = "two", standard = "802.11g", stations = ["ap2", "phone"], access_point = "ap2", propagation = {{ kind = "log-distance", exponent = 3 }} }},
        ]
        flow = [{{ name = "download", from = "server", to = "phone", min_rto = "200ms" }}]
        "#
    )
}

fn outcome(phone: &str) -> Outcome {
    let scenario = Document::parse("t.toml", &text(phone)).unwrap().scenario().unwrap();
    run(&scenario, &Options::default()).unwrap()
}

/// Nearer to the first, in reach of both.
const BETWEEN: &str = r#"at = ["90m", "0m"]"#;

/// Packets that a station had to send.
fn packets(outcome: &Outcome, name: &str) -> u64 {
    let stations = outcome.media.iter().flat_map(|medium| &medium.stations);
    stations.filter(|station| station.name == name).map(|station| station.packets).sum()
}

const WALK: &str =
    r#"at = ["10m", "0m"], move = { kind = "path", points = [["5s", "10m", "0m"], ["25s", "190m", "0m"]] }"#;

#[test]
fn a_phone_that_roams_is_served_by_the_access_point_that_it_hears_best() {
    let roams = outcome(&format!("{WALK}, roam = {{ hysteresis = \"6dB\" }}"));
    let stays = outcome(WALK);
    let (first, second) = (packets(&roams, "ap1@one"), packets(&roams, "ap2@two"));
    assert!(first > 1000 && second > 1000, "{first} {second}");
    assert_eq!(packets(&stays, "ap2@two"), 0);
    let [one, other] = [&roams, &stays].map(|o| o.flows[0].goodput_bps);
    assert!(one > 1.2 * other, "{one} {other}");
    // What waited at the old access point, and what came there meanwhile, is not heard.
    let drops = &roams.flows[0].drops;
    assert!(drops.handoff > 0, "{drops:?}");
    assert_eq!(drops.outage, 0);
}

#[test]
fn hysteresis_decides_where_it_goes_over() {
    // At 100 m it hears both alike; 12 dB ahead is the other one at 143 m, and 38 dB at the end of the walk.
    let early = outcome(&format!("{WALK}, roam = {{ hysteresis = \"0dB\" }}"));
    let late = outcome(&format!("{WALK}, roam = {{ hysteresis = \"12dB\" }}"));
    assert!(packets(&early, "ap2@two") > packets(&late, "ap2@two") + 1000);
    let never = outcome(&format!("{WALK}, roam = {{ hysteresis = \"60dB\" }}"));
    assert_eq!(packets(&never, "ap2@two"), 0);
}

#[test]
fn it_is_silent_for_the_gap_and_no_longer() {
    let at = |gap: &str| {
        outcome(&format!(
            "{BETWEEN}, roam = {{ to = [[\"10s\", \"ap2\"], [\"20s\", \"ap1\"]], gap = \"{gap}\" }}"
        ))
    };
    let [short, long] = ["0ms", "2s"].map(|gap| at(gap).flows[0].clone());
    assert!(long.longest_stall_s > Some(2.0) && short.longest_stall_s < Some(2.0), "{long:?} {short:?}");
    assert!(long.drops.handoff > 0 && long.timeouts > 0);
    assert!(short.goodput_bps > 1.1 * long.goodput_bps);
}

#[test]
fn a_node_roams_among_access_points_that_are_there() {
    let error = |phone: &str| match Document::parse("t.toml", &text(&format!("{BETWEEN}, {phone}")))
        .unwrap()
        .scenario()
    {
        Ok(_) => String::new(),
        Err(errors) => errors.to_string(),
    };
    let unknown = error("roam = { to = [[\"10s\", \"ap3\"]] }");
    assert!(unknown.contains("access point of this node") && unknown.contains("\"ap2\""), "{unknown}");
    let both = error("roam = { hysteresis = \"6dB\", to = [[\"10s\", \"ap2\"]] }");
    assert!(both.contains("not both"), "{both}");
    let early = error("roam = { to = [[\"10s\", \"ap2\"], [\"10s\", \"ap1\"]], gap = \"1s\" }");
    assert!(early.contains("before the one in front of it has ended"), "{early}");
    let alone = text(&format!("{BETWEEN}, roam = {{}}"))
        .replace("stations = [\"ap2\", \"phone\"]", "stations = [\"ap2\", \"ap1\"]");
    let alone = Document::parse("t.toml", &alone).unwrap().scenario().unwrap_err().to_string();
    assert!(alone.contains("roams among 1 access points"), "{alone}");
}

#[test]
fn what_is_explained_of_it_is_read_again() {
    for phone in ["roam = { hysteresis = \"3dB\" }", "roam = { to = [[\"10s\", \"ap2\"]], gap = \"20ms\" }"] {
        let text = text(&format!("{BETWEEN}, {phone}"));
        let scenario = Document::parse("t.toml", &text).unwrap().scenario().unwrap();
        let again =
            Document::parse("t.toml", &truckee_scenario::explain(&scenario)).unwrap().scenario().unwrap();
        assert_eq!(scenario.places, again.places);
    }
}

#[test]
fn every_packet_arrives_or_has_its_cause() {
    let phone = format!("{WALK}, roam = {{ hysteresis = \"3dB\", gap = \"200ms\" }}");
    let flow = "flow = [{ name = \"download\", from = \"server\", to = \"phone\", min_rto = \"200ms\" }]";
    let both = "traffic = [\
        { name = \"down\", from = \"server\", to = \"phone\", kind = \"cbr\", rate = \"4Mbit/s\", stop = \"28s\" },\
        { name = \"up\", from = \"phone\", to = \"server\", kind = \"cbr\", rate = \"4Mbit/s\", stop = \"28s\" }]";
    let text = text(&phone);
    assert!(text.contains(flow));
    let scenario = Document::parse("t.toml", &text.replace(flow, both)).unwrap().scenario().unwrap();
    let outcome = run(&scenario, &Options::default()).unwrap();
    for traffic in &outcome.traffic {
        let drops = &traffic.drops;
        let lost = drops.queue + drops.channel + drops.outage + drops.collision + drops.reach + drops.handoff;
        assert_eq!(traffic.packets_delivered + lost, traffic.packets_sent, "{traffic:?}");
        assert!(drops.handoff > 0 && drops.outage == 0, "{traffic:?}");
    }
}
