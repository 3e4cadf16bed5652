//! Real stacks are named: this kernel's own senders, and those of ours, behind a path with delay.
//!
//! A round is complete for the prober when half a round trip was quiet. So the round trip is three times as long as a
//! machine stands still, and what comes late is still of its round.

use super::*;
use crate::cc;
use std::time::Duration;
use truckee_host::doctor::Capability;
use truckee_host::testing::able;
use truckee_scenario::{Cancel, Document, Scenario};

fn scenario(sender: &str, window: u32) -> Scenario {
    let text = format!(
        r#"
        duration = "60s"
        [[link]]
        between = ["server", "probe"]
        rate = "100Mbit/s"
        delay = "150ms"
        [[flow]]
        from = "server"
        to = "probe"
        sender = "{sender}"
        initial_window = "{window}segments"
        "#
    );
    Document::parse("probe.toml", &text).unwrap().scenario().unwrap()
}

/// Each test three times: what is judged are medians, so that one in which the machine stood still decides nothing (of two,
/// a median is the mean).
fn options() -> Options {
    Options {
        pause: Duration::from_millis(20),
        watch: Duration::from_millis(900),
        repeat: 3,
        ..Options::default()
    }
}

/// Probes each sender with that first window, all at once: most of the time they wait.
fn verdicts(senders: &[(&str, u32)]) -> Vec<Verdict> {
    let verdict = |sender: &str, window| {
        let report = probe_flow(&scenario(sender, window), &options(), &Cancel::new()).unwrap();
        match report.conclusion {
            Conclusion::Verdict(v) => {
                assert_eq!(v.initial_window, window, "{sender}: {v:#?}");
                assert_eq!(u64::from(v.initial_window * v.mss), v.initial_window_bytes, "{sender}: {v:#?}");
                v
            }
            Conclusion::NotJudged(fault) => panic!("{sender}: {fault}: {:#?}", report.faults),
        }
    };
    std::thread::scope(|scope| {
        let probes: Vec<_> =
            senders.iter().map(|&(sender, window)| scope.spawn(move || verdict(sender, window))).collect();
        probes.into_iter().map(|probe| probe.join().unwrap()).collect()
    })
}

#[test]
fn the_senders_of_this_kernel_count_bytes() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let there = cc::available().unwrap();
    let mut senders = vec![("kernel:reno", 3)];
    for (name, sender) in [("reno", "kernel:reno"), ("cubic", "kernel:cubic"), ("bbr", "kernel:bbr")] {
        if there.iter().any(|control| control == name) {
            senders.push((sender, 10));
        }
    }
    for (v, (sender, _)) in verdicts(&senders).into_iter().zip(senders) {
        assert_eq!(v.reaction, Reaction::CountsBytes, "{sender}: {v:#?}");
    }
}

#[test]
fn the_senders_that_division_opens_are_named_and_so_is_their_bound() {
    if !able(&[Capability::Namespaces, Capability::Tun, Capability::StructOps]) {
        return;
    }
    let [per_ack, more_per_ack, capped, more_capped] =
        verdicts(&[("rfc2581", 3), ("rfc2581", 10), ("capped", 3), ("capped", 10)]).try_into().unwrap();
    for v in [per_ack, more_per_ack] {
        assert_eq!(v.reaction, Reaction::PerAck, "{v:#?}");
    }
    for v in [capped, more_capped] {
        assert_eq!(v.reaction, Reaction::Capped, "{v:#?}");
        assert!(v.cap.is_some_and(|cap| (2.8..=3.2).contains(&cap)), "{v:#?}");
    }
}

#[test]
fn a_path_that_loses_is_not_taken_for_a_server_that_harms() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let mut text = Document::parse(
        "probe.toml",
        "duration = \"60s\"\n[[link]]\nbetween = [\"server\", \"probe\"]\nrate = \"100Mbit/s\"\ndelay = \"150ms\"\n[[flow]]\nfrom = \"server\"\nto = \"probe\"\nsender = \"kernel:reno\"\n",
    )
    .unwrap();
    // One in fourteen: of ten segments of a first round and the dozen and more behind them at least one.
    let lost: Vec<_> = (1..200).map(|k| format!("\"{0}..{0}\"", 14 * k)).collect();
    text.set("link.0.channel", &format!("{{ kind = \"scripted\", packets = [{}] }}", lost.join(", ")))
        .unwrap();
    let scenario = text.scenario().unwrap();
    let tests = vec![Test::A, Test::C, Test::E, Test::F];
    let options = Options { patience: Duration::from_secs(20), repeat: 1, tests, ..options() };
    let report = probe_flow(&scenario, &options, &Cancel::new()).unwrap();
    if let Conclusion::Verdict(v) = &report.conclusion {
        assert_eq!(v.confidence, Confidence::Low, "{v:#?}");
        assert_ne!(v.reaction, Reaction::Harmed, "{v:#?}");
    }
    assert!(report.tests.iter().any(|t| t.missing_bytes > 0) || !report.faults.is_empty(), "{report:#?}");
}
