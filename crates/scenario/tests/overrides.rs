//! What the paths of `--set` and of sweeps reach, and how they are refused.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_channel::{Effect, Span};
use truckee_scenario::model::{App, Limit, Queue};
use truckee_scenario::{Document, Errors, Scenario};

const FILE: &str = r#"
duration = "10s"

[defaults]
app = { kind = "file", size = "1MB" }

[[link]]
between = ["server", "router"]
rate    = "10Mbit/s"
delay   = "50ms"
queue   = { size = "84packets" }

[[link]]
name    = "radio.1"
between = ["router", "phone"]
rate    = "2Mbit/s"
channel = [{ kind = "bernoulli", per = 0.1 }, { kind = "gilbert", good = "1s", bad = "50ms", per_bad = 0.3 }]

[[flow]]
name     = "download"
from     = "server"
to       = "phone"
receiver = "delayed"

[[flow]]
from = "phone"
to   = "server"
"#;

fn with(path: &str, value: &str) -> Result<Scenario, Errors> {
    let mut document = Document::parse("file.toml", FILE)?;
    document.set(path, value)?;
    document.scenario()
}

fn good(path: &str, value: &str) -> Scenario {
    with(path, value).unwrap_or_else(|errors| panic!("{path}={value}\n{errors}"))
}

fn refused(path: &str, value: &str) -> String {
    with(path, value).expect_err("it was accepted").to_string()
}

#[test]
fn a_top_level_key_is_set_whether_or_not_the_file_has_it() {
    assert_eq!(good("duration", "2min").duration, Span::s(120));
    assert_eq!(good("seed", "7").seed, 7);
    assert!(!good("stop_when_done", "false").stop_when_done);
}

#[test]
fn a_link_is_reached_by_number_by_name_and_by_a_name_with_dots() {
    assert_eq!(good("link.0.rate", "1Mbit/s").links[0].forward.rate, 1_000_000);
    assert_eq!(good("link.server-router.delay", "5ms").links[0].back.delay, Span::ms(5));
    assert_eq!(good("link.radio.1.rate", "3Mbit/s").links[1].forward.rate, 3_000_000);
}

#[test]
fn without_a_name_all_entries_are_meant() {
    let scenario = good("link.rate", "4Mbit/s");
    assert!(scenario.links.iter().all(|link| link.forward.rate == 4_000_000));
    let scenario = good("flow.sender", "tahoe");
    assert!(scenario.flows.iter().all(|flow| flow.sender.label == "tahoe"));
}

#[test]
fn a_links_key_alone_reaches_the_links_that_have_it_and_no_others() {
    let scenario = good("queue.size", "7packets");
    assert_eq!(scenario.links[0].forward.queue, Queue::DropTail { limit: Limit::Packets(7) });
    assert_eq!(scenario.links[1].forward.queue, Queue::DropTail { limit: Limit::None });
    let scenario = good("delay", "1ms");
    assert_eq!(
        scenario.links.iter().map(|link| link.forward.delay).collect::<Vec<_>>(),
        [Span::ms(1), Span::ZERO]
    );
}

#[test]
fn of_several_effects_those_that_have_the_key_are_meant() {
    let scenario = good("channel.per_bad", "0.5");
    let effects = &scenario.links[1].forward.channel.effects;
    assert_eq!(effects[0], Effect::Bernoulli { per: 0.1 });
    assert!(matches!(effects[1], Effect::Gilbert { per_bad: 0.5, .. }));
    let scenario = good("link.radio.1.channel.0.per", "1e-3");
    assert_eq!(scenario.links[1].forward.channel.effects[0], Effect::Bernoulli { per: 1e-3 });
}

#[test]
fn what_no_flow_has_is_set_in_the_defaults() {
    let scenario = good("flow.app.size", "5MB");
    assert!(scenario.flows.iter().all(|flow| flow.app == App::File { size: 5_000_000 }));
}

#[test]
fn a_name_takes_arguments() {
    let scenario = good("flow.download.receiver.delayed.timeout", "100ms");
    let receiver = &scenario.flows[0].receiver;
    assert!(
        receiver.args.contains(&("timeout".to_owned(), truckee_tcp::Arg::Time(Span::ms(100)))),
        "{receiver:?}"
    );
}

#[test]
fn a_topology_is_reached_by_its_links_keys() {
    let text = r#"
        duration = "10s"
        topology = { kind = "single-link", rate = "10Mbit/s", channel = { kind = "bernoulli", per = 0.1 } }
    "#;
    let mut document = Document::parse("t.toml", text).unwrap();
    document.set("channel.per", "0.2").unwrap();
    document.set("topology.wireless_rate", "1Mbit/s").unwrap();
    let scenario = document.scenario().unwrap();
    assert_eq!(scenario.links[1].forward.channel.effects, [Effect::Bernoulli { per: 0.2 }]);
    assert_eq!(scenario.links[1].forward.rate, 1_000_000);
}

#[test]
fn tables_and_quoted_strings_are_values_too() {
    let scenario = good("flow.download.app", r#"{ kind = "file", size = "3kB" }"#);
    assert_eq!(scenario.flows[0].app, App::File { size: 3000 });
    assert_eq!(good("flow.0.name", r#""up""#).flows[0].name, "up");
}

#[test]
fn the_last_override_of_a_key_counts() {
    let mut document = Document::parse("file.toml", FILE).unwrap();
    document.set("rate", "1Mbit/s").unwrap();
    document.set("rate", "2Mbit/s").unwrap();
    assert_eq!(document.scenario().unwrap().links[0].forward.rate, 2_000_000);
}

#[test]
fn a_clone_keeps_its_own_values() {
    let base = Document::parse("file.toml", FILE).unwrap();
    let mut other = base.clone();
    other.set("seed", "9").unwrap();
    assert_eq!((base.scenario().unwrap().seed, other.scenario().unwrap().seed), (1, 9));
}

const ONE_LINK: &str = r#"
duration = "10s"
link = [{ between = ["a", "b"], rate = "1Mbit/s" }]
flow = [{ from = "a", to = "b" }]
"#;

/// With overrides of a file that has little.
fn little(settings: &[(&str, &str)]) -> Result<Scenario, Errors> {
    let mut document = Document::parse("little.toml", ONE_LINK)?;
    settings.iter().try_for_each(|(path, value)| document.set(path, value))?;
    document.scenario()
}

#[test]
fn a_key_that_is_not_in_the_file_yet_is_set_where_it_belongs() {
    let scenario =
        little(&[("channel.kind", "bernoulli"), ("channel.per", "0.3"), ("queue.size", "7packets")]);
    let forward = &scenario.unwrap().links[0].forward;
    assert_eq!(forward.channel.effects, [Effect::Bernoulli { per: 0.3 }]);
    assert_eq!(forward.queue, Queue::DropTail { limit: Limit::Packets(7) });
    assert_eq!(little(&[("delay", "5ms")]).unwrap().links[0].back.delay, Span::ms(5));
    assert_eq!(little(&[("defaults.sender", "vegas")]).unwrap().flows[0].sender.label, "vegas");
    let scenario = little(&[("flow.app.kind", "file"), ("flow.app.size", "1kB")]).unwrap();
    assert_eq!(scenario.flows[0].app, App::File { size: 1000 });
    let missing = little(&[("channel.per", "0.3")]).unwrap_err().to_string();
    assert!(missing.contains("--set channel.per=0.3") && missing.contains("without \"kind\""), "{missing}");
}

#[test]
fn a_key_that_none_of_several_links_has_asks_which_one_is_meant() {
    let message = refused("channel_back", "none");
    assert!(message.contains("say which") && message.contains("link.radio.1.channel_back"), "{message}");
    assert!(good("link.radio.1.channel_back", "{ kind = \"none\" }").links.len() == 2);
}

#[test]
fn a_number_may_begin_with_its_point() {
    assert!(matches!(
        good("channel.per_bad", ".25").links[1].forward.channel.effects[1],
        Effect::Gilbert { per_bad: 0.25, .. }
    ));
    assert_eq!(good("duration", ".2s").duration, Span::ms(200));
}

#[test]
fn a_percentage_is_refused_with_the_number_to_write() {
    let message = refused("channel.per_bad", "30%");
    assert!(message.contains("= help: write 0.3"), "{message}");
    assert!(!refused("channel.per_bad", "300%").contains("help"));
}

#[test]
fn nobody_who_sends_is_told_so_with_what_to_write() {
    assert!(good("seed", "1").need_senders().is_ok());
    let document = Document::parse(
        "n.toml",
        "duration = \"1s\"\nlink = [{ between = [\"a\", \"b\"], rate = \"1Mbit/s\" }]",
    );
    let message = document.unwrap().scenario().unwrap().need_senders().unwrap_err().to_string();
    assert!(message.contains("[[flow]], from = \"a\" and to = \"b\""), "{message}");
}

#[test]
fn a_file_that_is_not_there_is_refused_with_its_neighbour() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let message = Document::read(format!("{folder}/lossles.toml").as_ref()).unwrap_err().to_string();
    assert!(message.contains("did you mean") && message.contains("examples/lossless.toml\"?"), "{message}");
}

#[test]
fn errors_name_the_override_and_the_nearest_name() {
    let gallery = [
        ("flow.sender", "renoo"),
        ("flow.downlod.sender", "reno"),
        ("flow.snder", "reno"),
        ("durration", "5s"),
        ("duration", "5"),
        ("link.7.rate", "1Mbit/s"),
        ("link.server-ruoter.rate", "1Mbit/s"),
        ("channel.per_bda", "0.1"),
        ("channel.1.per_bad", "1.5"),
        ("link.0.rate.fast", "1"),
        ("flow.download", "x"),
        ("traffic.rate", "1Mbit/s"),
        ("flow..sender", "reno"),
        ("flow.app", "{ kind = "),
    ];
    let shown: Vec<String> = gallery
        .iter()
        .map(|(path, value)| format!("--set '{path}={value}'\n{}", refused(path, value)))
        .collect();
    for (text, (path, _)) in shown.iter().zip(gallery) {
        assert!(text.contains(&format!("--> --set {path}=")), "{text}");
    }
    insta::assert_snapshot!(shown.join("\n\n"));
}
