//! What `truckee path` refuses. Where a build has no live leg there is nothing to run.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};

fn truckee(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_truckee"));
    command.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command
}

#[test]
fn what_is_needed_stands_in_the_usage() {
    let help = truckee(&["path", "--help"]).assert().success();
    help.stdout(
        contains("--between <FIRST> <SECOND> --rate <RATE> [OPTIONS]")
            .and(contains("Rate: 10Mbit/s; needed")),
    );
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
    path(&["--rate", "1Mbit/s", "--queue", "{ ack_filter = true }"]).stderr(contains("does not filter ACKs"));
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
