//! What links that step, links by a preset, and Cellular IP networks mean once they are resolved, and how they are refused.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_scenario::{Document, Errors, Scenario};
use truckee_tcp::Span;

fn parse(text: &str) -> Result<Scenario, Errors> {
    Document::parse("test.toml", text)?.scenario()
}

fn good(text: &str) -> Scenario {
    parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A scenario of one link with these keys.
fn one_link(keys: &str) -> Result<truckee_scenario::Scenario, truckee_scenario::Errors> {
    let text = format!("duration = \"100s\"\n[[link]]\nbetween = [\"gateway\", \"dish\"]\n{keys}\n");
    Document::parse("t.toml", &text).unwrap().scenario()
}

#[test]
fn a_preset_is_what_a_link_s_table_does_not_say() {
    let geo = one_link("preset = \"geo\"").unwrap();
    let [forward, back] = [&geo.links[0].forward, &geo.links[0].back];
    assert_eq!((forward.rate, back.rate), (100_000_000, 10_000_000));
    assert_eq!((forward.delay, back.delay), (Span::ms(279), Span::ms(279)));
    assert_eq!(geo.links[0].steps, None);
    let own = one_link("preset = \"leo\"\nrate = \"50Mbit/s\"\nqueue = { size = \"7packets\" }").unwrap();
    let link = &own.links[0];
    assert_eq!((link.forward.rate, link.back.rate), (50_000_000, 14_800_000));
    assert_eq!(link.forward.queue.limit(), truckee_scenario::model::Limit::Packets(7));
    let steps = link.steps.as_deref().unwrap();
    assert_eq!((steps.every, steps.delay), (Span::s(15), Some((Span::ms(10), Span::ms(30)))));
    assert_eq!(
        (steps.rate, steps.rate_back),
        (Some((42_000_000, 167_000_000)), Some((6_000_000, 23_600_000)))
    );
    let again = Document::parse("t.toml", &truckee_scenario::explain(&own)).unwrap().scenario().unwrap();
    assert_eq!(again.links, own.links);
}

#[test]
fn steps_that_make_no_sense_are_refused_with_their_place() {
    let said = |keys: &str| one_link(keys).unwrap_err().to_string();
    let steps = |rest: &str| said(&format!("rate = \"1Mbit/s\"\nsteps = {{ {rest} }}"));
    for (rest, expected) in [
        ("delay = [\"1ms\", \"2ms\"]", "a link's steps without \"every\""),
        ("every = \"15s\"", "steps that change nothing"),
        ("every = \"15s\", delay = \"1ms\"", "the least and the most"),
        ("every = \"15s\", delay = [\"1ms\"]", "the least and the most"),
        ("every = \"15s\", delay = [\"2ms\", \"1ms\"]", "the least is above the most"),
        ("every = \"15s\", rate = [\"0bit/s\", \"1Mbit/s\"]", "a rate above 0"),
        ("every = \"15s\", delay = [\"1ms\", \"2ms\"], rates = 1", "has no key \"rates\""),
    ] {
        let said = steps(rest);
        assert!(said.contains(expected) && said.contains("t.toml:5"), "{rest}: {said}");
    }
    assert!(said("preset = \"meo\"\nrate = \"1Mbit/s\"").contains("\"leo\""));
    let often = "duration = \"1e9s\"\nlink = [{ between = [\"a\", \"b\"], rate = \"1Mbit/s\", steps = { every = \"1ms\", delay = [\"1ms\", \"2ms\"] } }]";
    let often = Document::parse("t.toml", &often.replace("1e9s", "2000s")).unwrap().scenario().unwrap_err();
    assert!(often.to_string().contains("2000000 steps"), "{often}");
}

/// A gateway with three base stations below, and a phone that `host` says more of.
fn cells(network: &str, host: &str, rest: &str) -> String {
    format!(
        r#"
duration = "60s"
link = [
    {{ between = ["server", "gateway"], rate = "10Mbit/s" }},
    {{ between = ["gateway", "bs1"], rate = "10Mbit/s" }},
    {{ between = ["bs1", "bs2"], rate = "10Mbit/s" }},
    {{ between = ["bs1", "bs3"], rate = "10Mbit/s" }},
    {{ between = ["bs2", "phone"], rate = "2Mbit/s" }},
    {{ between = ["bs3", "phone"], rate = "2Mbit/s" }},
]
{rest}
[cells]
gateway = "gateway"
{network}
[[cells.host]]
node = "phone"
at = "bs2"
{host}
"#
    )
}

const STATIONS: &str = "stations = [\"bs1\", \"bs2\", \"bs3\"]";

#[test]
fn a_cellular_network_reads_back_from_its_explanation() {
    let hosts = [
        "",
        "moves = [[\"10s\", \"bs3\"], [\"20s\", \"bs2\"]]\ngap = \"100ms\"",
        "every = \"10s\"\namong = [\"bs2\", \"bs3\"]\ntimes = \"poisson\"\nhandoff = \"semisoft\"\nhold = \"5ms\"",
    ];
    for host in hosts {
        let scenario = good(&cells(STATIONS, host, "flow = [{ from = \"server\", to = \"phone\" }]"));
        let again = good(&truckee_scenario::explain(&scenario));
        assert_eq!(again.cells, scenario.cells);
        let cells = scenario.cells.unwrap();
        assert_eq!((cells.route_update, cells.route_timeout), (Span::s(3), Span::s(9)));
        assert_eq!(truckee_scenario::cells::uplinks(&cells, &scenario.links).len(), 3);
    }
}

#[test]
fn a_mobile_host_s_keys_are_reached_by_its_number() {
    let text = cells(STATIONS, "every = \"10s\"\namong = [\"bs2\", \"bs3\"]", "");
    let mut document = Document::parse("test.toml", &text).unwrap();
    document.set("cells.host.0.every", "3s").unwrap();
    document.set("cells.host.0.handoff", "semisoft").unwrap();
    document.set("cells.route_timeout", "2s").unwrap();
    let cells = document.scenario().unwrap().cells.unwrap();
    assert_eq!(cells.route_timeout, Span::s(2));
    let moves = &cells.hosts[0].moves;
    assert!(matches!(moves, truckee_scenario::model::Moves::Round { every, .. } if *every == Span::s(3)));
}

#[test]
fn a_cellular_network_that_makes_no_sense_is_refused_with_its_place() {
    let said = |text: &str| parse(text).unwrap_err().to_string();
    let host = |host: &str| said(&cells(STATIONS, host, ""));
    let no_such = host("moves = [[\"10s\", \"bs4\"]]");
    assert!(
        no_such.contains("there is no base station \"bs4\"") && no_such.contains("test.toml:18:18"),
        "{no_such}"
    );
    for (keys, expected) in [
        ("moves = [[\"10s\", \"bs1\"]]", "no link joins the mobile host and \"bs1\""),
        ("moves = [[\"10s\", \"server\"]]", "there is no base station \"server\""),
        ("moves = [[\"10s\", \"bs3\"], [\"9s\", \"bs2\"]]", "begins before the one in front of it has ended"),
        ("moves = [\"10s\"]", "a list of times and base stations"),
        ("moves = [[\"70s\", \"bs3\"]]", "a time of at most 60s"),
        ("every = \"1s\"", "without \"among\""),
        ("every = \"1s\"\namong = [\"bs2\"]", "two base stations at least"),
        ("every = \"1s\"\namong = [\"bs2\", \"bs9\"]", "there is no base station \"bs9\""),
        ("every = \"50ms\"\namong = [\"bs2\", \"bs3\"]\nhandoff = \"semisoft\"", "a time from 100ms"),
        ("handoff = \"softest\"", "\"semisoft\""),
    ] {
        let said = host(keys);
        assert!(said.contains(expected) && said.contains("test.toml:"), "{keys}: {said}");
    }
    for (network, expected) in [
        ("stations = [\"bs1\", \"bs2\", \"bs2\"]", "stands there twice"),
        ("stations = [\"bs2\", \"bs3\"]", "no links lead from \"bs2\" to the gateway"),
        ("stations = [\"bs1\", \"bs2\", \"bs3\", \"bs7\"]", "\"bs7\""),
        ("stations = [\"bs1\", \"bs2\", \"bs3\"]\nroute_timeout = \"0s\"", "a time from 1ms"),
    ] {
        let said = said(&cells(network, "", ""));
        assert!(said.contains(expected), "{network}: {said}");
    }
    for (rest, expected) in [
        ("flow = [{ from = \"bs1\", to = \"phone\" }]", "other end is a base station"),
        (
            "flow = [{ from = \"server\", to = \"phone\", route = [\"server\", \"gateway\", \"bs1\", \"bs2\", \"phone\"] }]",
            "no route and no processing",
        ),
        ("change = [{ at = \"1s\", link = \"bs2-phone\", up = false }]", "handoffs alone decide"),
    ] {
        let said = said(&cells(STATIONS, "", rest));
        assert!(said.contains(expected), "{rest}: {said}");
    }
    let ring = cells(STATIONS, "", "")
        .replace("link = [", "link = [{ between = [\"bs2\", \"bs3\"], rate = \"1Mbit/s\" },");
    assert!(said(&ring).contains("4 links among 3 base stations"));
    let back_door = cells(STATIONS, "", "")
        .replace("link = [", "link = [{ between = [\"bs2\", \"server\"], rate = \"1Mbit/s\" },");
    assert!(said(&back_door).contains("past the gateway"));
}
