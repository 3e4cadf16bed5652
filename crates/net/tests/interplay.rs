//! Every receiver serves every sender, in whole runs: a file over a path that loses data and ACKs, for each preset and
//! each ACK policy, with the receiver changed to another policy and back while it runs.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::Document;
use truckee_scenario::model::Changed;
use truckee_tcp::ack::{AckPolicy, AnyAckPolicy, Honesty};
use truckee_tcp::preset::PRESETS;
use truckee_tcp::{Arg, Spec};

const SIZE: u64 = 100_000;

fn scenario(sender: &str, receiver: &str, other: &str) -> String {
    format!(
        r#"
        duration = "3000s"
        [[link]]
        between = ["server", "client"]
        rate = "2Mbit/s"
        delay = "30ms"
        queue = {{ kind = "drop-tail", size = "10packets" }}
        channel_both = {{ kind = "bernoulli", per = 0.03 }}
        [[flow]]
        name = "file"
        from = "server"
        to = "client"
        sender = "{sender}"
        receiver = "{receiver}"
        app = {{ kind = "file", size = "{SIZE}B" }}
        [[change]]
        at = "300ms"
        flow = "file"
        receiver = "{other}"
        [[change]]
        at = "600ms"
        flow = "file"
        receiver = "{receiver}"
        "#
    )
}

fn keeps_every_byte(policy: &str) -> bool {
    AnyAckPolicy::build(&Spec::named(policy)).unwrap().0.honesty() != Honesty::FeignsArrival
}

#[test]
fn every_receiver_serves_every_sender_and_may_change() {
    // Who has acknowledged what has not come cannot go back to telling the truth: those do not change.
    let (honest, liars): (Vec<_>, Vec<_>) =
        AnyAckPolicy::MEMBERS.iter().map(|member| member.name).partition(|name| keeps_every_byte(name));
    let next = |k: usize| honest[(k + 1) % honest.len()];
    let pairs = honest.iter().enumerate().map(|(k, name)| (*name, next(k)));
    let pairs: Vec<_> = pairs.chain(liars.iter().map(|name| (*name, *name))).collect();
    for preset in PRESETS {
        for (receiver, other) in &pairs {
            let text = scenario(preset.info.name, receiver, other);
            let scenario = Document::parse("interplay.toml", &text).unwrap().scenario().unwrap();
            let flow = run(&scenario, &Options::default()).unwrap().flows.remove(0);
            let what = format!("{} and {receiver}, then {other}", preset.info.name);
            assert!(flow.completion_s.is_some(), "{what}: {flow:?}");
            // Who acknowledges what has not come may never get it.
            let honest = [*receiver, other].iter().all(|name| *name != "optimistic");
            assert!(
                flow.bytes_delivered <= SIZE && (!honest || flow.bytes_delivered == SIZE),
                "{what}: {flow:?}"
            );
        }
    }
}

#[test]
fn a_policy_that_cannot_be_is_refused_before_the_run_not_at_the_change() {
    let text = scenario("newreno", "every", "delayed");
    let mut scenario = Document::parse("interplay.toml", &text).unwrap().scenario().unwrap();
    let wrong = Spec::named("division").with("n", Arg::Number(0.0));
    scenario.changes[1].what = Changed::Receiver { flow: 0, policy: wrong };
    let error = run(&scenario, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("\"file\"") && error.contains("division"), "{error}");
}

#[test]
fn requests_and_responses_share_a_connection_and_carry_each_others_acks() {
    let text = r#"
        duration = "60s"
        topology = { kind = "single-link", rate = "10Mbit/s", delay = "20ms" }
        flow = [{ from = "src", to = "dst", receiver = "delayed", app = { kind = "request-response", request = "200B", response = "1000B", count = 50, think = "300ms" } }]
    "#;
    let scenario = Document::parse("t.toml", text).unwrap().scenario().unwrap();
    let flow = &run(&scenario, &Options::default()).unwrap().flows[0];
    assert_eq!((flow.connections, flow.bytes_delivered, flow.timeouts), (1, 50_000, 0));
    // The client thinks for longer than it delays an ACK, so each response has one of its own; the server answers at once, so
    // each response carries the ACK of its request, and nothing else goes that way: 50 responses, and the FIN's ACK.
    assert!((50..=52).contains(&flow.acks_sent), "{}", flow.acks_sent);
    assert_eq!(flow.segments_sent, 50);
    // The handshake, then for each the round trip and 2.1 ms of transmission over two hops, and the thinking between them.
    let expected = 0.04 + 50.0 * 0.0421 + 49.0 * 0.3;
    assert!((flow.delivered_s.unwrap() - expected).abs() < 0.01, "{:?} {expected}", flow.delivered_s);
}
