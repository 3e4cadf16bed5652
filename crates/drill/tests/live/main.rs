//! The project's scripts on the running kernel's stack. Skipped, with the reason, only where the machine lacks what that needs.

#![cfg(live)]
#![allow(clippy::unwrap_used)] // a test says so by failing

use std::path::Path;
use std::time::{Duration, Instant};
use truckee_drill::{Script, on_kernel, read};
use truckee_testing::PATIENCE;

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

/// A namespace has no name, and lives as long as a thread is in it.
#[test]
fn a_call_that_waits_when_its_script_has_failed_is_ended() {
    if !truckee_testing::root() {
        return;
    }
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let before = threads();
    let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n +0 bind(3, ..., ...) = 0\n +0 listen(3, 1) = 0\n \
                +0...60 accept(3, ..., ...) = 4\n +0 > S. 0:0(0) ack 1 <...>";
    let script = truckee_drill::parse::script("waits.pkt", text).unwrap();
    assert_eq!(on_kernel(&script).unwrap().failure.unwrap().line, 5);
    let begun = Instant::now();
    while threads() > before {
        assert!(begun.elapsed() < PATIENCE, "the thread of accept() is still there");
        std::thread::sleep(Duration::from_millis(1));
    }
}
