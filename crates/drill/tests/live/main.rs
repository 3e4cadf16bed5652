//! The project's scripts on the running kernel's stack. Skipped, with the reason, only where the machine lacks what that needs.

#![cfg(live)]
#![allow(clippy::unwrap_used)] // a test says so by failing

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use truckee_drill::{Error, Script, on_kernel, on_program, read};
use truckee_testing::PATIENCE;

/// Of so many runs of a script in company one is to be in time, or of so many by itself.
const RUNS: usize = 5;
const RUNS_ALONE: usize = 20;
/// Scripts at once.
const AT_ONCE: usize = 4;

/// What came of a script in the first of so many runs in which the machine was no later than the script bears; `None`: there was none.
fn judged(script: &Script, refused: &[String], runs: usize) -> Option<Result<(), String>> {
    for _ in 0..runs {
        let report = match on_kernel(script) {
            Err(Error::Refused { why, .. }) if refused.contains(&script.name) => {
                eprintln!("{}: {why}", script.name);
                return Some(Ok(()));
            }
            other => other.unwrap(),
        };
        if report.lateness_s <= report.bears_s {
            return Some(
                report.failure.map_or(Ok(()), |failure| Err(format!("{}: {failure:?}", script.name))),
            );
        }
    }
    None
}

#[test]
fn the_kernel_does_as_the_scripts_say() {
    if !truckee_testing::root() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/drill");
    let listed = std::fs::read_to_string(folder.join("refused.txt")).unwrap();
    let names = listed.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let refused: Vec<String> =
        names.map(|(name, _)| folder.join(name).with_extension("pkt").display().to_string()).collect();
    let kinds =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut paths: Vec<_> =
        kinds.flat_map(|kind| std::fs::read_dir(kind).unwrap().map(|entry| entry.unwrap().path())).collect();
    paths.sort();
    let scripts: Vec<Script> = paths.iter().map(|path| read(path).unwrap()).collect();
    // Each is in a namespace of its own, and waits for most of its time. Where the others make it late, it runs by itself.
    let (next, faults, alone) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|threads| {
        for _ in 0..AT_ONCE {
            threads.spawn(|| {
                while let Some(script) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match judged(script, &refused, RUNS) {
                        Some(outcome) => faults.lock().unwrap().extend(outcome.err()),
                        None => alone.lock().unwrap().push(script),
                    }
                }
            });
        }
    });
    let mut faults = faults.into_inner().unwrap();
    for script in alone.into_inner().unwrap() {
        let late = || Err(format!("{}: later than it bears in all of {RUNS_ALONE} runs", script.name));
        faults.extend(judged(script, &refused, RUNS_ALONE).unwrap_or_else(late).err());
    }
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

const SERVER: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n +0 bind(3, ..., ...) = 0\n +0 listen(3, 1) = 0\n \
                      +0 < S 0:0(0) win 1000 <mss 1000>\n +0 > S. 0:0(0) ack 1 <...>";

/// What comes of a script on a stack that is a shell's few words.
fn on_shell(text: &str, words: &str) -> Result<truckee_drill::Report, Error> {
    let script = truckee_drill::parse::script("s.pkt", text).unwrap();
    on_program(&script, &["sh".into(), "-c".into(), words.into()])
}

/// It names its fault, and where in the script, and nothing of it is left.
#[test]
fn a_program_that_is_no_stack_or_ends_is_named_and_gone() {
    if !truckee_testing::root() {
        return;
    }
    for (words, part) in [
        ("exit 3", "the program has ended (exit status: 3)"),
        ("echo hello", "\"hello\"; expected an answer"),
        ("echo 0; cat >/dev/null", "expected \"ready\""),
        ("echo ready; read line; exit 7", "s.pkt:1: the program has ended (exit status: 7)"),
        ("echo ready; read line; echo 3; read line; kill -9 $$", "s.pkt:2: the program has ended (signal: 9"),
        ("echo ready; cat >/dev/null", "s.pkt:1: the program has said nothing for 2 s"),
        ("echo ready; sleep 4321 & wait", "s.pkt:1: the program has said nothing for 2 s"),
        ("echo ready; read line; echo three; cat >/dev/null", "s.pkt:1: the program has said \"three\""),
        // In one write: what comes later may be the answer to the next call.
        (
            "echo ready; read line; printf '3\\n3\\n'; cat >/dev/null",
            "s.pkt:2: the program has said \"3\"; expected nothing",
        ),
    ] {
        let error = on_shell(SERVER, words).unwrap_err();
        assert!(matches!(error, Error::Ended { .. }) && error.to_string().contains(part), "{words}: {error}");
    }
    let left = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(|process| {
        std::fs::read(process.path().join("cmdline")).is_ok_and(|line| line == b"sleep\x004321\x00")
    });
    assert!(!left, "what the program has started is still there");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    if !truckee_testing::root() {
        return;
    }
    let script = truckee_drill::parse::script("s.pkt", SERVER).unwrap();
    let error = on_program(&script, &["/nowhere/stack".into()]).unwrap_err().to_string();
    assert!(error.contains("/nowhere/stack"), "{error}");
    let error = on_program(&script, &[]).unwrap_err().to_string();
    assert!(error.contains("no program"), "{error}");
}

#[test]
fn what_a_program_does_not_do_is_refused_with_its_line() {
    if !truckee_testing::root() {
        return;
    }
    let obeys = "echo ready; while read call rest; do case $call in \
                 setting) echo refused no settings here;; info) echo refused it tells nothing;; socket) echo 3;; \
                 *) echo 0;; esac; done";
    for (text, line, part) in [
        ("`sysctl -q net.ipv4.tcp_sack=0`\n0 socket(..., 1, 2) = 3", 1, "tcp_sack=0: no settings here"),
        (
            "0 socket(..., 1, 2) = 3\n+0 connect(3, ..., ...) = 0\n+0 %{ assert tcpi_rtt == 1 }%",
            3,
            "tells nothing",
        ),
    ] {
        match on_shell(text, obeys) {
            Err(Error::Refused { line: at, why, .. }) => {
                assert!(at == line && why.contains(part), "{at}: {why}")
            }
            other => unreachable!("{text}: {other:?}"),
        }
    }
}

/// A stack that answers calls, and is silent otherwise, does otherwise than the script says.
#[test]
fn a_program_that_sends_nothing_fails_at_the_line_that_expects_something() {
    if !truckee_testing::root() {
        return;
    }
    let mute =
        "echo ready; while read call fd rest; do case $call in socket) echo $fd;; *) echo 0;; esac; done";
    let failure = on_shell(SERVER, mute).unwrap().failure.unwrap();
    assert_eq!((failure.line, failure.seen.starts_with("nothing until")), (5, true), "{failure:?}");
}
