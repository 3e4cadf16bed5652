//! `truckee path` between namespaces.

use crate::{able, ip, said, signal, start, truckee};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Command;
use truckee_kernel::doctor::Capability;

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

#[test]
fn a_link_lasts_its_time_says_what_it_did_and_leaves_nothing() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let spaces = Spaces::new("t");
    let [first, second] = spaces.ends();
    let link = ["--rate", "10Mbit/s", "--delay", "5ms", "--duration", "300ms"];
    let mut command = truckee(&["path", "--between", &first, &second]);
    command.args(link).args(["--address", "192.0.2.1/24", "192.0.2.2/24"]).args(["--format", "json"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("truckee0, 192.0.2.1/24") && said.contains("truckee0, 192.0.2.2/24"), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in "truckee between seed lasted_s links lanes ports late_s".split(' ') {
        assert!(report.get(key).is_some(), "{key} is missing in {report}");
    }
    assert_eq!(report["links"][0]["name"], "first-second");
    assert!(report["lasted_s"].as_f64().unwrap() >= 0.3, "{report}");
    for name in &spaces.0 {
        let devices = Command::new("ip").args(["-n", name, "-o", "link"]).output().unwrap().stdout;
        assert!(!String::from_utf8_lossy(&devices).contains("truckee"), "a device is left in {name}");
    }
}

#[test]
fn an_interrupt_ends_it_with_its_table() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let spaces = Spaces::new("i");
    let [first, second] = spaces.ends();
    let mut process = start(&["path", "--between", &first, &second, "--rate", "10Mbit/s"]);
    let said = BufReader::new(process.stderr.take().unwrap());
    assert!(said.lines().map_while(Result::ok).any(|line| line.starts_with("forwarding")));
    signal(process.id(), "INT");
    let done = process.wait_with_output().unwrap();
    let table = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && table.contains("second-first") && table.contains("in real time"),
        "{table}"
    );
}

/// A link of 10 Mbit/s that runs, and the digits by which it is turned.
fn running(spaces: &Spaces) -> (std::process::Child, String) {
    let [first, second] = spaces.ends();
    let mut process =
        start(&["path", "--between", &first, &second, "--rate", "10Mbit/s", "--format", "json"]);
    let said = BufReader::new(process.stderr.take().unwrap());
    let mut id = None;
    for line in said.lines().map_while(Result::ok) {
        if let Some((_, rest)) = line.split_once("truckee path set ") {
            id = rest.split(' ').next().map(str::to_owned);
        }
        if line.starts_with("forwarding") {
            break;
        }
    }
    (process, id.unwrap())
}

#[test]
fn a_link_is_turned_while_traffic_flows() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let spaces = Spaces::new("s");
    let (process, id) = running(&spaces);
    // Nobody listens: that the other stack says so is what comes back.
    let send = || {
        let script = "for k in 1 2 3 4 5; do echo $k > /dev/udp/10.77.0.2/9; done";
        let done = Command::new("ip").args(["netns", "exec", &spaces.0[0], "bash", "-c", script]).status();
        assert!(done.unwrap().success());
    };
    let shown = || crate::json(&["path", "show", &id, "--format", "json"])[0].clone();
    let lane = |k: usize, key: &str| shown()["lanes"][k][key].as_u64().unwrap();
    send();
    truckee_testing::until("five packets to arrive", || lane(0, "delivered") >= 5);
    let set = crate::run(&["path", "set", &id, "loss=100%", "delay=1ms", "rate=5Mbit/s"]);
    assert!(set.status.success() && crate::text(&set).contains("5 Mbit/s"), "{}", said(&set));
    let before = lane(0, "delivered");
    send();
    truckee_testing::until("five packets to be lost", || lane(0, "channel_drops") >= 5);
    assert_eq!(lane(0, "delivered"), before, "{}", shown());
    let refused = crate::run(&["path", "set", &id, "loss=0", "delay=20"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert_eq!(shown()["settings"][0]["by_hand"]["loss"], 1.0, "all of the settings, or none");
    assert_eq!((lane(0, "rate_bps"), &shown()["turns"]), (5_000_000, &1.into()));
    assert!(crate::run(&["path", "set", &id, "loss=0", "up_back=false"]).status.success());
    send();
    truckee_testing::until("five more to arrive", || lane(0, "delivered") >= before + 5);
    truckee_testing::until("an answer to be lost", || lane(1, "outage_drops") >= 1);
    signal(process.id(), "INT");
    let done = process.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(!report["lanes"][1]["up"].as_bool().unwrap(), "{report}");
    assert!(!std::path::Path::new(&format!("/run/truckee/{id}.path")).exists());
    let gone = crate::run(&["path", "show", &id]);
    assert!(String::from_utf8_lossy(&gone.stderr).contains("nothing of this identity emulates a path"));
}
