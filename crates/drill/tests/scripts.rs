//! The project's scripts on the simulated stack. Those on which it does otherwise than the kernel are listed with the reason
//! in `known.txt`; one that is listed and passes fails the test, too.

#![allow(clippy::unwrap_used)] // a test says so by failing

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use truckee_drill::script::{Call, Packet};
use truckee_drill::target::{Answer, Info, Refusal, Seen};
use truckee_drill::{Error, Simulated, Target, on_simulated, read, run};
use truckee_tcp::{Span, Time};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/drill")
}

fn scripts() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .flat_map(|path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()))
        .collect();
    found.sort();
    found
}

/// Scripts by name, and why the simulated stack does otherwise.
fn known() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder().join("known.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, why)| (name.to_owned(), why.to_owned()))
        .collect()
}

#[test]
fn the_simulated_stack_does_as_the_scripts_say() {
    let mut known = known();
    let mut faults = Vec::new();
    for path in scripts() {
        let name = path.strip_prefix(folder()).unwrap().with_extension("").display().to_string();
        let otherwise = match on_simulated(&read(&path).unwrap(), &[]) {
            Ok(report) => report.failure.map(|failure| format!("{failure:?}")),
            Err(error) => Some(error.to_string()),
        };
        match (otherwise, known.remove(&name)) {
            (None, None) | (Some(_), Some(_)) => {}
            (Some(otherwise), None) => faults.push(format!("{name}: {otherwise}")),
            (None, Some(why)) => faults.push(format!("{name} passes, and is listed in known.txt: {why}")),
        }
    }
    faults.extend(
        known.into_keys().map(|name| format!("{name} is listed in known.txt, and there is no such script")),
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A stack on a machine that does what is to be done late, each time by something up to `late`.
struct Late {
    stack: Simulated,
    late: Span,
    rng: Xoshiro256PlusPlus,
}

impl Target for Late {
    fn name(&self) -> &'static str {
        self.stack.name()
    }
    fn now(&self) -> Time {
        self.stack.now()
    }
    fn wait(&mut self, until: Time) -> Result<(), Error> {
        // The ends tell most.
        let late = match self.rng.random_range(0..3) {
            0 => Span::ZERO,
            1 => self.late,
            _ => Span::ns(self.rng.random_range(0..=self.late.nanos())),
        };
        self.stack.wait(until + late)
    }
    fn inject(&mut self, packet: &Packet) -> Result<Result<(), Refusal>, Error> {
        self.stack.inject(packet)
    }
    fn sent(&mut self, until: Time) -> Result<Option<Seen>, Error> {
        self.stack.sent(until)
    }
    fn call(&mut self, call: &Call) -> Result<Result<Answer, Refusal>, Error> {
        self.stack.call(call)
    }
    fn waiting(&mut self) -> Result<Option<(Time, Answer)>, Error> {
        self.stack.waiting()
    }
    fn info(&mut self) -> Result<Result<Info, Refusal>, Error> {
        self.stack.info()
    }
    fn lateness(&self) -> Span {
        self.late
    }
}

/// On the kernel a run says something where the machine was no later than the script bears: what the script asks for may not
/// hang on how late it was.
#[test]
fn scripts_hold_on_a_machine_that_is_as_late_as_they_bear() {
    let known = known();
    let mut faults = Vec::new();
    for path in scripts() {
        let name = path.strip_prefix(folder()).unwrap().with_extension("").display().to_string();
        let script = read(&path).unwrap();
        if known.contains_key(&name) {
            continue;
        }
        let mut failed = Vec::new();
        for seed in 0..32 {
            let stack = Simulated::new(&script, &[]).unwrap();
            let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            failed.extend(run(&script, &mut Late { stack, late: script.lateness, rng }).unwrap().failure);
        }
        if let Some(failure) = failed.first() {
            faults.push(format!("{name}: {} of 32, such as {failure:?}", failed.len()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Repairs in which one rule is another.
const AT_ONCE: &str = "{ rack = { reduction = \"proportional\", count = \"segments\" } }";
const BYTES: &str =
    "{ rack = { reduction = \"proportional\", echo = \"proportional\", last_ack = \"grows\" } }";

/// The simplest wrong rivals: a stack that is a little different in one rule fails the scripts about that rule.
#[test]
fn a_stack_with_another_rule_fails_the_scripts_about_it() {
    for (script, key, value) in [
        ("congestion/initial-window", "flow.initial_window", "4segments"),
        ("congestion/slow-start", "flow.initial_ssthresh", "5segments"),
        ("congestion/slow-start-stretched", "flow.sender.growth", "per-ack"),
        ("recovery/limited-transmit", "flow.limited_transmit", "false"),
        ("recovery/tail-probe", "flow.sender.recovery", "sack"),
        ("recovery/rack-timer", "flow.sender.recovery", "sack"),
        ("timeout/first", "flow.min_rto", "1s"),
        ("receiver/dsack", "flow.dsack", "false"),
        ("receiver/quick-acks", "flow.receiver", "delayed"),
        ("congestion/application-limited", "flow.window_validation", "flight"),
        ("congestion/ecn-timeout", "flow.reduce_in_repair", "true"),
        ("recovery/newreno-timeout", "flow.reduce_in_repair", "true"),
        ("congestion/ecn-no-growth", "flow.sender.recovery", AT_ONCE),
        ("recovery/last-ack-opens", "flow.sender.recovery", AT_ONCE),
        ("recovery/prr-without-sack", "flow.sender.recovery", "newreno"),
        ("recovery/prr-prior-window", "flow.sender.recovery", BYTES),
        ("pacing/first-ten", "flow.sender.pacing", "none"),
        ("pacing/spaced", "flow.sender.pacing", "{ linux = { most = \"800kbit/s\" } }"),
        ("offload/pairs", "flow.tso", "false"),
        ("offload/off", "flow.tso", "true"),
        ("offload/deferred", "flow.tso", "false"),
        ("bbr/full", "flow.sender", "{ preset = \"bbr\", growth = \"bbr\" }"),
        ("window/autotuned", "flow.rwnd_autotuning", "off"),
        ("window/autotuned-off", "flow.rwnd_autotuning", "linux"),
        ("congestion/hystart-train", "flow.sender.growth", "cubic"),
        ("accurate/server", "flow.ecn", "true"),
        ("accurate/first-mark", "flow.ecn", "false"),
    ] {
        let script = read(&folder().join(format!("{script}.pkt"))).unwrap();
        let mut overrides = vec![(key.to_owned(), value.to_owned())];
        if value == "linux" {
            overrides.push(("flow.rwnd".to_owned(), "3MiB".to_owned()));
        }
        if key == "flow.dsack" {
            overrides.push(("flow.undo".to_owned(), "never".to_owned()));
        }
        let report = on_simulated(&script, &overrides);
        assert!(report.unwrap().failure.is_some(), "{} passes with {key}={value}", script.name);
    }
}

#[test]
fn what_a_kernel_may_refuse_is_a_script() {
    let text = std::fs::read_to_string(folder().join("refused.txt")).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, why) = line.split_once(": ").unwrap();
        assert!(folder().join(name).with_extension("pkt").is_file() && !why.is_empty(), "{line}");
    }
}

#[test]
fn a_script_that_waits_for_what_never_comes_ends() {
    let text =
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n +0 listen(3, 1) = 0\n * > S. 0:0(0) ack 1 <...>";
    let script = truckee_drill::parse::script("waits.pkt", text).unwrap();
    let failure = on_simulated(&script, &[]).unwrap().failure.unwrap();
    assert_eq!((failure.line, failure.seen.starts_with("nothing until 120")), (3, true), "{failure:?}");
}

#[test]
fn what_a_target_has_not_is_refused_with_its_line() {
    for (text, part) in [
        (
            "`sysctl -q net.ipv4.tcp_frobnicate=1`\n+0 socket(..., 1, 2) = 3",
            "1: the simulated stack has no setting",
        ),
        ("`sysctl -q net.ipv4.tcp_sack=yes`\n+0 socket(..., 1, 2) = 3", "expected 0 or 1"),
        (
            "+0 socket(..., 1, 2) = 3\n+0 setsockopt(3, SOL_TCP, TCP_MAGIC, [1], 4) = 0",
            "2: the simulated stack has no option TCP_MAGIC",
        ),
        ("+0 %{ assert tcpi_rtt == 1 }%", "1: there is no connection"),
        ("+.1 socket(..., 1, 2) = 3\n0 socket(..., 1, 2) = 4", "2: 0 s, which is before"),
    ] {
        let script = truckee_drill::parse::script("t.pkt", text).unwrap();
        let error = on_simulated(&script, &[]).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
}

/// A segment of any flags, numbers and options, whether they go together or not.
fn any_segment() -> impl Strategy<Value = String> {
    let near = prop_oneof![0..30_000u32, any::<u32>()];
    let option = prop_oneof![
        Just("nop".to_owned()),
        Just("sackOK".to_owned()),
        any::<u16>().prop_map(|mss| format!("mss {mss}")),
        any::<u8>().prop_map(|shift| format!("wscale {shift}")),
        (0..30_000u32, 0..30_000u32).prop_map(|(from, to)| format!("sack {from}:{to}")),
        (0..30_000u32, 0..30_000u32).prop_map(|(ect, ce)| format!("ECN e0b {ect} ceb {ce}")),
        any::<(u32, u32)>().prop_map(|(val, ecr)| format!("TS val {val} ecr {ecr}")),
    ];
    let options = prop::collection::vec(option, 0..4);
    let ecn = prop::sample::select(vec!["", "[ce] ", "[ect0] "]);
    (0..256u16, near.clone(), 0..3000u32, near, any::<u16>(), options, ecn).prop_map(
        |(flags, seq, len, ack, window, options, ecn)| {
            let letters: String =
                "SFRPUEWA".chars().enumerate().filter(|(n, _)| flags & 1 << n != 0).map(|(_, c)| c).collect();
            let end = seq.wrapping_add(len);
            format!("< {ecn}{letters}. {seq}:{end}({len}) ack {ack} win {window} <{}>", options.join(","))
        },
    )
}

proptest! {
    /// The peer may send what contradicts itself, or all that went before: the run ends, whatever the stack makes of it.
    #[test]
    fn no_segment_makes_the_simulated_stack_panic_or_hang(segments in prop::collection::vec((any_segment(), 0..400u32), 1..20)) {
        let mut text = "`sysctl -q net.ipv4.tcp_ecn=5`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 listen(3, 1) = 0\n\
            +0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>\n+0 > S. 0:0(0) ack 1 <...>\n\
            +.1 < . 1:1(0) ack 1 win 1000\n+0 accept(3, ..., ...) = 4\n+0 write(4, ..., 20000) = 20000\n".to_owned();
        for (segment, ms) in &segments {
            text += &format!("+{}.{:03} {segment}\n", ms / 1000, ms % 1000);
        }
        // One that is said twice is no script; all others run to their end.
        if let Ok(script) = truckee_drill::parse::script("any.pkt", &text) {
            let report = on_simulated(&script, &[]);
            prop_assert!(report.is_ok(), "{report:?}");
        }
    }
}
