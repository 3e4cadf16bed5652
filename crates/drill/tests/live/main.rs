//! The project's scripts on the running kernel's stack. Skipped, with the reason, only where the machine lacks what that needs.

#![cfg(live)]
#![allow(clippy::unwrap_used)] // a test says so by failing

use std::path::Path;
use truckee_drill::{Script, on_kernel, read};

/// A run in which the machine was later than this says nothing of the stack, whatever came of it, s.
const TOO_LATE: f64 = 0.01;
/// Of so many runs of a script one is to be in time.
const RUNS: usize = 5;

fn judged(script: &Script) -> Result<(), String> {
    for _ in 0..RUNS {
        let report = on_kernel(script).unwrap();
        if report.lateness_s <= TOO_LATE {
            return report.failure.map_or(Ok(()), |failure| Err(format!("{}: {failure:?}", script.name)));
        }
    }
    Err(format!("{}: the machine was more than {TOO_LATE} s late in each of {RUNS} runs", script.name))
}

#[test]
fn the_kernel_does_as_the_scripts_say() {
    if !truckee_testing::root() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/drill");
    let kinds =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut scripts: Vec<_> =
        kinds.flat_map(|kind| std::fs::read_dir(kind).unwrap().map(|entry| entry.unwrap().path())).collect();
    scripts.sort();
    let faults: Vec<String> = scripts.iter().filter_map(|path| judged(&read(path).unwrap()).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_namespace_is_left_by_nobody() {
    if !truckee_testing::root() {
        return;
    }
    let names = || std::fs::read_dir("/run/netns").map_or(0, Iterator::count);
    let before = names();
    let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n +0...60 accept(3, ..., ...) = 4\n +0 %{ assert 1 == 0 }%";
    let script = truckee_drill::parse::script("broken.pkt", text).unwrap();
    assert!(on_kernel(&script).is_ok_and(|report| report.failure.is_some()) || on_kernel(&script).is_err());
    assert!(names() <= before);
}
