//! `truckee cc` against the running kernel.

use crate::able;
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use truckee_kernel::doctor::Capability;

fn truckee(args: &[&str]) -> assert_cmd::assert::Assert {
    Command::new(env!("CARGO_BIN_EXE_truckee")).args(args).assert()
}

fn kernel_has(name: &str) -> bool {
    const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = std::fs::read_to_string(AVAILABLE).expect("every Linux has this file");
    names.split_whitespace().any(|n| n == name)
}

/// One that nothing else loads.
const PRESET: &str = "newreno-lp(always-congested)";
const NAME: &str = "tk_lp_congested";

#[test]
fn a_control_is_loaded_listed_and_unloaded() {
    if !able(&[Capability::StructOps]) {
        return;
    }
    let _one = truckee_testing::alone("cc");
    truckee(&["cc", "load", PRESET]).success().stdout(contains(NAME));
    assert!(kernel_has(NAME));
    truckee(&["cc", "list"]).success().stdout(contains("in the kernel").and(contains("loaded")));
    truckee(&["cc", "load", NAME]).code(1).stderr(contains(NAME));
    truckee(&["cc", "load", "newreno-lp(ideal)"]).code(2).stderr(contains("only the path of a run knows"));
    let listed = truckee(&["cc", "list", "--format", "json"]).success().get_output().stdout.clone();
    let listed: serde_json::Value = serde_json::from_slice(&listed).unwrap();
    let state = |name: &str| {
        listed.as_array().unwrap().iter().find(|c| c["name"] == name).map(|c| c["state"].clone())
    };
    assert_eq!(state(NAME).unwrap(), "loaded");
    assert_eq!(state("reno").unwrap(), "in the kernel");
    truckee(&["cc", "unload", PRESET]).success();
    assert!(!kernel_has(NAME));
}

#[test]
fn the_file_system_that_loading_mounts_is_gone_after_unloading() {
    if !able(&[Capability::StructOps]) {
        return;
    }
    // In a place of its own where none is mounted.
    let script = format!(
        "while umount /sys/fs/bpf 2>/dev/null; do :; done; set -e
         {0} cc load {NAME} >/dev/null; grep /sys/fs/bpf /proc/self/mounts; {0} cc unload {NAME}
         ! grep /sys/fs/bpf /proc/self/mounts",
        env!("CARGO_BIN_EXE_truckee")
    );
    let _one = truckee_testing::alone("cc");
    Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .assert()
        .success()
        .stdout(contains("truckee /sys/fs/bpf bpf"));
}

#[test]
fn what_is_not_ours_and_what_there_is_not_is_refused() {
    if !able(&[Capability::StructOps]) {
        return;
    }
    truckee(&["cc", "unload", "reno"]).code(2).stderr(contains("left alone"));
    truckee(&["cc", "unload", "tk_nothing"]).code(2).stderr(contains("truckee cc list"));
    truckee(&["cc", "load", "newreno-lq"]).code(2).stderr(contains("did you mean \"newreno-lp\"?"));
}
