//! What the senders do, as tables a reviewer can read: a change of behaviour shows as a change of a table. The same in
//! every profile and on every machine.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use std::fmt::Write;
use truckee_net::{Options, run};
use truckee_scenario::{Document, Outcome};
use truckee_tcp::preset::PRESETS;

fn outcome(text: &str) -> Outcome {
    let document = Document::parse("snapshot.toml", text).unwrap();
    let scenario = document.scenario().unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    run(&scenario, &Options::default()).unwrap()
}

/// A path of 5 Mbit/s and 100 ms with a wireless last hop.
fn path(queue: &str, per: &str) -> String {
    format!(
        r#"
        duration = "300s"
        [[link]]
        between = ["server", "router"]
        rate = "5Mbit/s"
        delay = "50ms"
        queue = {{ kind = "drop-tail", size = "{queue}" }}
        [[link]]
        between = ["router", "phone"]
        rate = "10Mbit/s"
        delay = "10us"
        channel = {{ kind = "bernoulli", per = {per} }}
        "#
    )
}

fn presets() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|p| p.info.name)
}

#[test]
fn a_file_of_10_mb_against_the_loss_rate() {
    let mut table = String::from(
        "sender               loss    goodput  completion    sent  again  timeouts  fast\n\
         \x20                            Mbit/s           s\n",
    );
    for sender in presets() {
        for per in ["0.0", "0.0001", "0.001", "0.01", "0.05"] {
            let result = outcome(&format!(
                r#"{}
                [[flow]]
                from = "server"
                to = "phone"
                sender = "{sender}"
                receiver = "delayed"
                app = {{ kind = "file", size = "10MB" }}
                "#,
                path("bdp", per)
            ));
            let flow = &result.flows[0];
            let completion = flow.completion_s.map_or("-".to_owned(), |s| format!("{s:.3}"));
            writeln!(
                table,
                "{sender:<18} {per:>6} {:>10.4} {completion:>11} {:>7} {:>6} {:>9} {:>5}",
                flow.goodput_bps / 1e6,
                flow.segments_sent,
                flow.retransmitted_segments,
                flow.timeouts,
                flow.fast_retransmits,
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!("loss_rate", table);
}

#[test]
fn an_endless_flow_against_the_buffer() {
    let mut table = String::from(
        "sender               queue    goodput  utilisation  waiting   drops  timeouts  mean RTT\n\
         \x20                  packets     Mbit/s               packets                        s\n",
    );
    for sender in presets() {
        for queue in [1, 4, 16, 42, 128] {
            let result = outcome(&format!(
                r#"{}
                [[flow]]
                from = "server"
                to = "phone"
                sender = "{sender}"
                "#,
                path(&format!("{queue}packets"), "0.0")
            ));
            let (flow, link) = (&result.flows[0], &result.links[0]);
            writeln!(
                table,
                "{sender:<18} {queue:>7} {:>10.4} {:>12.4} {:>8.2} {:>7} {:>9} {:>9.4}",
                flow.goodput_bps / 1e6,
                link.utilisation,
                link.mean_queue_packets,
                link.queue_drops,
                flow.timeouts,
                flow.rtt_s.mean.unwrap(),
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!("buffer", table);
}

#[test]
fn two_flows_share_a_link() {
    let mut table = String::from(
        "first              second              first   second     Jain  utilisation\n\
         \x20                                     Mbit/s   Mbit/s\n",
    );
    for first in ["newreno", "sack", "newreno-lp"] {
        for second in presets() {
            let result = outcome(&format!(
                r#"{}
                [[flow]]
                from = "server"
                to = "phone"
                sender = "{first}"
                [[flow]]
                from = "server"
                to = "phone"
                sender = "{second}"
                start = "10s"
                "#,
                path("bdp", "0.0")
            ));
            writeln!(
                table,
                "{first:<18} {second:<18} {:>6.4} {:>8.4} {:>8.4} {:>12.4}",
                result.flows[0].goodput_bps / 1e6,
                result.flows[1].goodput_bps / 1e6,
                result.jain.unwrap(),
                result.links[0].utilisation,
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!("fairness", table);
}
