//! Whole runs on this machine's kernel, as a user makes them: that they end, what they say, and that they leave nothing,
//! however they end. Skipped, with the reason, only where the machine lacks something that they need.

#![cfg(target_os = "linux")]
#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use assert_cmd::cargo::cargo_bin;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A noisy link; ten seconds, unless a test wants less.
const SCENARIO: &str = r#"
duration = "10s"
topology = { kind = "single-link", rate = "10Mbit/s", delay = "20ms", queue = { size = "bdp" }, channel = { kind = "bernoulli", per = 0.01 } }
[[flow]]
name     = "download"
from     = "src"
to       = "dst"
sender   = "newreno-lp"
receiver = "every"
min_rto  = "200ms"
"#;

/// Whether live runs are possible here; says why if they are not.
fn possible() -> bool {
    let missing = truckee_kernel::check().err();
    if let Some(why) = &missing {
        eprintln!("skipped: {why}");
    }
    missing.is_none()
}

fn scenario(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("live.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn truckee(arguments: &[&str]) -> Output {
    Command::new(cargo_bin!("truckee")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(cargo_bin!("truckee"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The identities of the runs of this process, by what their files in /run/truckee say.
fn identities(process: u32) -> BTreeSet<String> {
    let Ok(folder) = std::fs::read_dir("/run/truckee") else { return BTreeSet::new() };
    let names = folder.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let is_ours = |name: &String| {
        let said = std::fs::read_to_string(Path::new("/run/truckee").join(name)).unwrap_or_default();
        said.split_whitespace().next() == Some(&process.to_string())
    };
    names.filter(is_ours).collect()
}

/// Whatever carries this identity: files, namespaces, congestion controls, control groups.
fn left(identity: &str) -> Vec<String> {
    let mut left = Vec::new();
    for folder in
        ["/run/truckee", "/run/netns", "/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/bpf/truckee"]
    {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        left.extend(names.filter(|name| name.contains(identity)).map(|name| format!("{folder}/{name}")));
    }
    let controls = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    left.extend(controls.split_whitespace().filter(|name| name.contains(identity)).map(str::to_owned));
    left
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_run_shows_what_a_simulation_shows_and_holds_the_port_against_its_definition() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path(), SCENARIO);
    let out = folder.path().join("out");
    let figure = folder.path().join("window.svg");
    let arguments = ["--engine", "kernel", "--set", "duration=6s", "--format", "json"];
    let mut all = vec!["run", file.to_str().unwrap()];
    all.extend(arguments);
    all.extend(["--out", out.to_str().unwrap(), "--figure", figure.to_str().unwrap()]);
    let output = truckee(&all);
    assert!(output.status.success(), "{}", said(&output));
    let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let flow = &outcome["flows"][0];
    assert_eq!((&outcome["engine"], &outcome["digest"]), (&"kernel".into(), &"".into()));
    let goodput = flow["goodput_bps"].as_f64().unwrap();
    assert!((1e6..10e6).contains(&goodput), "{flow:#}");
    // Every drop is the channel's, every loss event that was noticed is one of them, and the base RTT is the path's.
    let (drops, events) = (&flow["drops"], &flow["loss_events"]);
    assert_eq!((&drops["queue"], &drops["outage"]), (&0.into(), &0.into()), "{flow:#}");
    let (lost, noticed) = (drops["channel"].as_u64().unwrap(), events["wireless"].as_u64().unwrap());
    assert!(lost > 5 && noticed > 3 && noticed <= lost, "{flow:#}");
    assert!((0.040..0.046).contains(&flow["rtt_s"]["min"].as_f64().unwrap()), "{flow:#}");
    assert!((0.99..1.05).contains(&flow["acks_per_segment"].as_f64().unwrap()), "{flow:#}");
    let port = &outcome["ports"][0];
    assert_eq!(
        (&port["port"], &port["within"], &port["unrecorded"]),
        (&"tk_lp_vegas".into(), &true.into(), &0.into())
    );
    assert!(port["acks"].as_u64().unwrap() > 500 && port["verdicts"].as_u64().unwrap() > 500, "{port:#}");
    for file in ["result.json", "flows.parquet", "series.parquet"] {
        assert!(out.join(file).metadata().unwrap().len() > 500, "{file}");
    }
    assert!(std::fs::read_to_string(figure).unwrap().contains("</svg>"));
}

#[test]
fn every_application_does_what_it_has_to() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let head =
        "duration = \"20s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"50Mbit/s\"\ndelay = \"5ms\"\n";
    let apps = [
        ("file", "{ kind = \"file\", size = \"1MB\" }", 1_000_000, 1),
        ("separate", "{ kind = \"files\", size = \"50kB\", count = 4, pause = \"20ms\" }", 200_000, 4),
        (
            "parallel",
            "{ kind = \"files\", size = \"50kB\", count = 7, connections = \"parallel:3\" }",
            350_000,
            7,
        ),
        ("one", "{ kind = \"files\", size = \"50kB\", count = 4, connections = \"one\" }", 200_000, 1),
        (
            "ask",
            "{ kind = \"request-response\", request = \"200B\", response = \"10kB\", count = 5, think = \"10ms\" }",
            50_000,
            1,
        ),
        (
            "drip",
            "{ kind = \"segments\", arrivals = { kind = \"cbr\", rate = \"4Mbit/s\" }, size = \"1000B\", count = 100 }",
            100_000,
            1,
        ),
        ("page", "{ kind = \"web-page\", objects = 10, size = \"20kB\", connections = 2 }", 0, 0),
    ];
    let flows: Vec<String> = apps
        .iter()
        .map(|(name, app, ..)| {
            // Cubic may be only the init namespace's, which the server of a page is not in.
            let sender = if *name == "page" { "newreno" } else { "kernel:cubic" };
            format!(
                "[[flow]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\nsender = \"{sender}\"\napp = {app}\n"
            )
        })
        .collect();
    let file = scenario(folder.path(), &format!("{head}{}", flows.concat()));
    let output = truckee(&["run", file.to_str().unwrap(), "--engine", "kernel", "--format", "json"]);
    assert!(output.status.success(), "{}", said(&output));
    let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (k, (name, _, bytes, connections)) in apps.into_iter().enumerate() {
        let flow = &outcome["flows"][k];
        assert_eq!(flow["name"], name);
        assert!(flow["completion_s"].as_f64().is_some_and(|s| s > 0.01 && s < 10.0), "{flow:#}");
        let delivered = flow["bytes_delivered"].as_u64().unwrap();
        if name == "page" {
            // Ten objects of 20 kB in the mean, and their headers.
            assert!((20_000..1_000_000).contains(&delivered), "{flow:#}");
        } else {
            assert_eq!((delivered, &flow["connections"]), (bytes, &connections.into()), "{flow:#}");
        }
    }
    assert!(outcome["simulated_s"].as_f64().unwrap() < 10.0, "it ends when all are done");
}

#[test]
fn what_a_kernel_run_cannot_express_is_refused_by_name_and_nothing_is_made() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path(), SCENARIO);
    let cases = [
        ("flow.sender=tahoe", "flow \"download\""),
        ("flow.sender=kernel:nosuch", "no congestion control \"nosuch\""),
        ("flow.receiver=optimistic", "ACK policy \"optimistic\""),
        ("flow.clock=10ms", "clock"),
        ("flow.handshake=false", "handshake"),
        ("flow.observe={ predictors = [\"spike\"] }", "observe"),
        ("topology.queue={ kind = \"red\", size = \"50packets\" }", "link \"src-router\""),
    ];
    for (set, named) in cases {
        let output = truckee(&["run", file.to_str().unwrap(), "--engine", "kernel", "--set", set]);
        let text = said(&output);
        assert!(!output.status.success() && text.contains(named), "{set}: {text}");
        assert!(!text.contains("panicked"), "{text}");
    }
}

#[test]
fn an_interrupted_run_says_so_and_leaves_nothing() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path(), SCENARIO);
    let child = start(&["run", file.to_str().unwrap(), "--engine", "kernel"]);
    let process = child.id();
    let begun = Instant::now();
    let identity = loop {
        if let Some(identity) = identities(process).pop_first() {
            break identity;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "the run never began");
        std::thread::sleep(Duration::from_millis(10));
    };
    std::thread::sleep(Duration::from_millis(800));
    nix_kill(process, "INT");
    let asked = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(3), "it ended {:?} after Ctrl-C", asked.elapsed());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("interrupted") || said(&output).contains("stopped"), "{}", said(&output));
    assert_eq!(left(&identity), Vec::<String>::new());
}

#[test]
fn whenever_a_run_is_killed_clean_removes_what_it_left_and_nothing_else() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let page = "app = { kind = \"web-page\", size = \"200kB\" }\n";
    let file = scenario(
        folder.path(),
        &format!(
            "{SCENARIO}[[flow]]\nname = \"page\"\nfrom = \"src\"\nto = \"dst\"\nmin_rto = \"200ms\"\n{page}"
        ),
    );
    // A namespace of somebody else that is called nearly as ours are.
    let other = format!("truckee-user-{}", std::process::id());
    assert!(Command::new("ip").args(["netns", "add", &other]).status().unwrap().success());
    let mut found = 0;
    let mut dice = 12_345_u64;
    for round in 0..50 {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let after = Duration::from_micros((dice >> 33) % 900_000);
        let mut child = start(&["run", file.to_str().unwrap(), "--engine", "kernel"]);
        std::thread::sleep(after);
        child.kill().unwrap();
        child.wait().unwrap();
        let identities = identities(child.id());
        found += identities.len();
        let output = truckee(&["clean"]);
        assert!(output.status.success(), "round {round}, killed after {after:?}: {}", said(&output));
        for identity in identities {
            assert_eq!(left(&identity), Vec::<String>::new(), "round {round}, killed after {after:?}");
        }
    }
    assert!(Path::new("/run/netns").join(&other).exists(), "what is not ours is left alone");
    assert!(Command::new("ip").args(["netns", "delete", &other]).status().unwrap().success());
    assert!(found > 25, "only {found} of 50 runs were killed after they had made something");
}

#[test]
fn a_kernel_without_bpf_still_runs_its_own_algorithms_and_says_what_is_missing() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path(), SCENARIO);
    // A kernel whose type information nobody can read: no program of ours can be loaded.
    let blind = |sender: &str| {
        let command = format!(
            "mount -t tmpfs none /sys/kernel/btf && exec {} run {} --engine kernel --set duration=2s --set flow.sender={sender}",
            cargo_bin!("truckee").display(),
            file.display()
        );
        Command::new("unshare").args(["--mount", "sh", "-c", &command]).output().unwrap()
    };
    let own = blind("kernel:cubic");
    assert!(own.status.success(), "{}", said(&own));
    assert!(said(&own).contains("nothing is known of windows and loss events"), "{}", said(&own));
    let ours = blind("newreno-lp");
    assert_eq!(ours.status.code(), Some(1), "{}", said(&ours));
    assert!(said(&ours).contains("BTF") && said(&ours).contains("truckee doctor"), "{}", said(&ours));
}

/// Sends a signal by its name.
fn nix_kill(process: u32, signal: &str) {
    let done = Command::new("kill").args([format!("-{signal}"), process.to_string()]).status().unwrap();
    assert!(done.success());
}
