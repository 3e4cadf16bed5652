//! Real stacks are named: this kernel's own senders, and those of ours, behind a path with delay.

use super::*;
use crate::cc;
use crate::doctor::{Capability, able};
use truckee_scenario::{Document, Scenario};

fn scenario(sender: &str, window: u32) -> Scenario {
    let text = format!(
        r#"
        duration = "60s"
        [[link]]
        between = ["server", "probe"]
        rate = "100Mbit/s"
        delay = "20ms"
        [[flow]]
        from = "server"
        to = "probe"
        sender = "{sender}"
        initial_window = "{window}segments"
        "#
    );
    Document::parse("probe.toml", &text).unwrap().scenario().unwrap()
}

fn options() -> Options {
    Options {
        pause: Duration::from_millis(20),
        watch: Duration::from_millis(600),
        repeat: 2,
        ..Options::default()
    }
}

fn verdict(sender: &str, window: u32) -> Verdict {
    let report = probe_flow(&scenario(sender, window), &options(), &AtomicBool::new(false)).unwrap();
    match report.conclusion {
        Conclusion::Verdict(verdict) => verdict,
        Conclusion::NotJudged(fault) => panic!("{sender}: {fault}: {:#?}", report.faults),
    }
}

/// Whether it is named rightly, growth and initial window.
fn named(sender: &str, window: u32, reaction: Reaction) {
    let v = verdict(sender, window);
    assert_eq!((v.reaction, v.initial_window), (reaction, window), "{sender}: {v:#?}");
    assert_eq!(u64::from(v.initial_window * v.mss), v.initial_window_bytes, "{sender}: {v:#?}");
}

#[test]
fn the_senders_of_this_kernel_count_bytes() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let there = cc::available().unwrap();
    for name in ["reno", "cubic", "bbr"] {
        if there.iter().any(|control| control == name) {
            named(&format!("kernel:{name}"), 10, Reaction::CountsBytes);
        }
    }
    named("kernel:reno", 3, Reaction::CountsBytes);
}

#[test]
fn the_senders_that_division_opens_are_named_and_so_is_their_bound() {
    if !able(&[Capability::Namespaces, Capability::Tun, Capability::StructOps]) {
        return;
    }
    for window in [3, 10] {
        named("rfc2581", window, Reaction::PerAck);
        let v = verdict("capped", window);
        assert_eq!((v.reaction, v.initial_window), (Reaction::Capped, window), "{v:#?}");
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
        "duration = \"60s\"\n[[link]]\nbetween = [\"server\", \"probe\"]\nrate = \"100Mbit/s\"\ndelay = \"10ms\"\n[[flow]]\nfrom = \"server\"\nto = \"probe\"\nsender = \"kernel:reno\"\n",
    )
    .unwrap();
    text.set("link.0.channel", "{ kind = \"bernoulli\", per = 0.06 }").unwrap();
    let scenario = text.scenario().unwrap();
    let options = Options {
        patience: Duration::from_secs(20),
        watch: Duration::from_millis(200),
        repeat: 1,
        ..options()
    };
    let report = probe_flow(&scenario, &options, &AtomicBool::new(false)).unwrap();
    if let Conclusion::Verdict(v) = &report.conclusion {
        assert_eq!(v.confidence, Confidence::Low, "{v:#?}");
        assert_ne!(v.reaction, Reaction::Harmed, "{v:#?}");
    }
    assert!(report.tests.iter().any(|t| t.missing_bytes > 0) || !report.faults.is_empty(), "{report:#?}");
}
