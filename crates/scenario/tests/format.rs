//! The reference of the format and the format agree: what the one promises the other takes, and what an explained
//! scenario shows is in the reference.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use std::collections::BTreeSet;
use truckee_scenario::{Document, explain};

const REFERENCE: &str = include_str!("../FORMAT.md");

/// The keys in the first column of the tables under a heading, with the heading's level: those of deeper headings that
/// are of the same subject are listed by name.
fn keys(headings: &[&str]) -> BTreeSet<&'static str> {
    let mut within = false;
    let mut keys = BTreeSet::new();
    for line in REFERENCE.lines() {
        if let Some(heading) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            within = headings.contains(&heading);
        } else if within && line.starts_with("| `") {
            let column = line.trim_start_matches("| ").split(" | ").next().unwrap();
            keys.extend(column.split('`').skip(1).step_by(2).map(|key| key.trim_matches(['[', ']'])));
        }
    }
    keys
}

#[test]
fn every_key_in_the_reference_is_known() {
    let sections = [
        ("Links", "link"),
        ("Nodes", "node"),
        ("Media", "medium"),
        ("Flows", "flow"),
        ("Traffic", "traffic"),
        ("Changes", "change"),
    ];
    for (heading, section) in sections {
        let keys = keys(&[heading]);
        assert!(keys.len() >= 6, "{heading}: {keys:?}");
        for key in keys {
            // Whatever the value is worth, the key must not be refused. Some are known beside others only.
            let beside = match (section, key) {
                ("link", "between") | ("traffic", "kind") => "",
                ("link", _) => "between = [\"a\", \"b\"]",
                ("traffic", "file") => "kind = \"trace\"",
                ("traffic", _) => "kind = \"pareto\"",
                ("change", "receiver") => "flow = \"x\"",
                ("medium", "standard") => "",
                ("medium", "preamble") => "standard = \"802.11b\"",
                ("medium", "band" | "guard_interval") => "standard = \"802.11n\"",
                ("medium", _) => "standard = \"802.11g\"",
                _ => "",
            };
            let text = format!("duration = \"1s\"\n[[{section}]]\n{key} = 2000-01-01\n{beside}\n");
            let wrong = text.replace(&format!("{key} ="), "no-such-key =");
            let refused =
                |text: &str| Document::parse("t.toml", text).unwrap().scenario().unwrap_err().to_string();
            assert!(
                key == "between"
                    || key == "kind"
                    || key == "standard"
                    || refused(&wrong).contains("no key \"no-such-key\""),
                "{wrong}"
            );
            let errors = refused(&text);
            assert!(!errors.contains(&format!("no key \"{key}\"")), "{errors}");
        }
    }
    for key in keys(&["Top level"]) {
        let errors =
            Document::parse("t.toml", &format!("{key} = 2000-01-01")).unwrap().scenario().unwrap_err();
        assert!(!errors.to_string().contains("no key"), "{errors}");
    }
}

#[test]
fn every_key_of_an_explained_scenario_is_in_the_reference() {
    let text = r#"
        duration = "10s"
        [[link]]
        between = ["a", "b"]
        rate = "1Mbit/s"
        channel_both = { kind = "bernoulli", per = 0.1 }
        [[node]]
        name = "a"
        at = ["0m", "0m"]
        power = "20dBm"
        [[node]]
        name = "b"
        move = { kind = "random-waypoint", area = ["9m", "9m"], speed = "1m/s" }
        [[medium]]
        standard = "802.11b"
        [[medium]]
        standard = "802.11g"
        access_point = "a"
        [[medium]]
        standard = "802.11n"
        [[flow]]
        from = "a"
        to = "b"
        stop = "5s"
        route = ["a", "b"]
        initial_ssthresh = "10segments"
        send_buffer = "64KiB"
        [[traffic]]
        from = "a"
        to = "b"
        kind = "pareto"
        rate = "1Mbit/s"
        on = "1s"
        off = "1s"
        stop = "5s"
        [[change]]
        at = "1s"
        link = "a-b"
        rate = "2Mbit/s"
        delay = "1ms"
        up = true
    "#;
    let explained = explain(&Document::parse("t.toml", text).unwrap().scenario().unwrap());
    let known = keys(&["Top level", "Links", "Nodes", "Media", "Flows", "Traffic", "Changes"]);
    let shown: Vec<&str> =
        explained.lines().filter_map(|line| line.split_once(" = ").map(|(key, _)| key)).collect();
    assert!(shown.len() > 40);
    for key in shown {
        assert!(known.contains(key), "{key} is not in FORMAT.md");
    }
}
