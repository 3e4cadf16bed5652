//! `truckee path` as a user meets it. What runs needs root, and namespaces of its own; where a build has no live leg there
//! is nothing to run.

#![cfg(target_os = "linux")]

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command as Process, Stdio};

fn truckee(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_truckee"));
    command.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command
}

/// Two namespaces, removed again.
struct Spaces([String; 2]);

impl Spaces {
    fn new(test: &str) -> Self {
        let names = ["a", "b"].map(|end| format!("tkcli-{}-{test}{end}", std::process::id()));
        names.iter().for_each(|name| ip(&["netns", "add", name]));
        Self(names)
    }

    fn ends(&self) -> [String; 2] {
        self.0.each_ref().map(|name| format!("ns:{name}"))
    }
}

impl Drop for Spaces {
    fn drop(&mut self) {
        self.0.iter().for_each(|name| ip(&["netns", "del", name]));
    }
}

fn ip(arguments: &[&str]) {
    let done = Process::new("ip").args(arguments).status().expect("ip runs");
    assert!(done.success(), "ip {arguments:?}");
}

#[test]
fn a_link_that_makes_no_sense_is_refused_as_in_a_scenario() {
    let path = |more: &[&str]| {
        let mut command = truckee(&["path", "--between", "ns:nobody-here", "ns:nobody-there"]);
        command.args(more);
        command.assert().code(2).stdout(is_empty())
    };
    path(&[]).stderr(contains("the link has no rate: give one, such as --rate 10Mbit/s"));
    path(&["--rate", "10Mb"]).stderr(contains("\"Mb\" is no unit").and(contains("expected a rate")));
    path(&["--rate", "1Mbit/s", "--channel", "{ kind = \"gilber\" }"])
        .stderr(contains("did you mean \"gilbert\"?"));
    path(&["--rate", "1Mbit/s", "--queue", "{ kind = \"red\" }"]).stderr(contains("it has no RED"));
    path(&["--scenario", "examples/wireless.toml"])
        .stderr(contains("which link?").and(contains("router-phone")));
    path(&["--scenario", "examples/wireless.toml", "--link", "x"])
        .stderr(contains("--link x: the scenario's links are"));
    path(&["--rate", "1Mbit/s", "--address", "192.0.2.1", "192.0.2.2/24"])
        .stderr(contains("address \"192.0.2.1\": expected an address with its prefix"));
}

#[test]
fn an_end_that_is_not_there_is_named() {
    let path = |ends: [&str; 2]| {
        let arguments = ["path", "--rate", "1Mbit/s", "--between", ends[0], ends[1]];
        truckee(&arguments).assert().code(2).stdout(is_empty())
    };
    path(["ns:nobody-here", "ns:nobody-there"])
        .stderr(starts_with("error: namespace \"nobody-here\": there is none of this name"));
    path(["noeth0", "noeth1"]).stderr(starts_with("error: interface \"noeth0\": there is none"));
    path(["ns:a", "eth1"]).stderr(contains("give two namespaces or two interfaces"));
    path(["ns:", "ns:b"])
        .stderr(contains("an end of a path is ns:NAMESPACE, INTERFACE, or NAMESPACE/INTERFACE"));
}

#[test]
fn a_link_lasts_its_time_says_what_it_did_and_leaves_nothing() {
    let spaces = Spaces::new("t");
    let [first, second] = spaces.ends();
    let link = ["--rate", "10Mbit/s", "--delay", "5ms", "--duration", "300ms"];
    let mut command = truckee(&["path", "--between", &first, &second]);
    command.args(link).args(["--address", "192.0.2.1/24", "192.0.2.2/24"]).args(["--format", "json"]);
    let done = command.assert().success();
    let output = done.get_output();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("truckee0, 192.0.2.1/24") && said.contains("truckee0, 192.0.2.2/24"), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in "truckee between seed lasted_s links lanes ports late_s".split(' ') {
        assert!(report.get(key).is_some(), "{key} is missing in {report}");
    }
    assert_eq!(report["links"][0]["name"], "first-second");
    let lasted = report["lasted_s"].as_f64().unwrap();
    assert!((0.3..2.0).contains(&lasted), "{lasted}");
    for name in &spaces.0 {
        let devices = Process::new("ip").args(["-n", name, "-o", "link"]).output().unwrap().stdout;
        assert!(!String::from_utf8_lossy(&devices).contains("truckee"), "a device is left in {name}");
    }
}

#[test]
fn an_interrupt_ends_it_with_its_table() {
    let spaces = Spaces::new("i");
    let [first, second] = spaces.ends();
    let mut process = Process::new(env!("CARGO_BIN_EXE_truckee"))
        .args(["path", "--between", &first, &second, "--rate", "10Mbit/s"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(process.stderr.take().unwrap());
    assert!(said.lines().map_while(Result::ok).any(|line| line.starts_with("forwarding")));
    assert!(Process::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap().success());
    let done = process.wait_with_output().unwrap();
    let table = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && table.contains("second-first") && table.contains("in real time"),
        "{table}"
    );
}
