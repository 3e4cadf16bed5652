//! The command on the running machine, as a user meets it: runs on the kernel, shaped programs, emulated paths, probes,
//! loaded controls; that they do what they say, end, and leave nothing, however they end. Skipped, with the reason, only
//! where the machine lacks something that they need.
//!
//! What happened is asserted, and not how long it took: these tests hold on a machine that stands still now and then
//! (`tools/stalls.py`). What a test needs is made certain instead: losses by a script, ends by amounts.

#![cfg(target_os = "linux")]
#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

mod capture;
mod cc;
mod exec;
mod lab;
mod path;
mod probe;
mod rights;
mod run;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use truckee_kernel::doctor::{self, Capability};

const TRUCKEE: &str = env!("CARGO_BIN_EXE_truckee");

/// Whether live runs are possible here; skips the test if not.
fn possible() -> bool {
    truckee_testing::given(truckee_kernel::check()).is_some()
}

/// Whether this can be done here; skips the test if not.
fn able(needs: &[Capability]) -> bool {
    truckee_testing::given(doctor::check(&[&[Capability::Privileges], needs].concat())).is_some()
}

/// A download over a link of 10 Mbit/s and 20 ms each way that loses each eightieth packet and no other: it has room for
/// whatever comes at once after the machine has stood still.
fn lossy(app: &str, sender: &str) -> String {
    let lost: Vec<_> = (1..=30).map(|k| format!("\"{0}..{0}\"", 80 * k)).collect();
    format!(
        r#"
duration = "100s"
topology = {{ kind = "single-link", rate = "10Mbit/s", delay = "20ms", queue = {{ size = "1000packets" }}, channel = {{ kind = "scripted", packets = [{}] }} }}
[[flow]]
name     = "download"
from     = "src"
to       = "dst"
sender   = "{sender}"
receiver = "every"
min_rto  = "200ms"
app      = {app}
"#,
        lost.join(", ")
    )
}

/// 1,028 full segments, of which a dozen are lost.
const FILE: &str = "{ kind = \"file\", size = \"1.5MB\" }";
/// More than a test waits for.
const ENDLESS: &str = "{ kind = \"file\", size = \"1GB\" }";

fn scenario(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("live.toml");
    fs::write(&path, text).unwrap();
    path
}

fn truckee(arguments: &[&str]) -> Command {
    let mut command = Command::new(TRUCKEE);
    // Whoever runs the tests through sudo is not to be dropped to, where a test does not say so.
    command.args(arguments).env_remove("SUDO_UID").env_remove("SUDO_GID").stdin(Stdio::null());
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command
}

fn run(arguments: &[&str]) -> Output {
    truckee(arguments).output().unwrap()
}

fn start(arguments: &[&str]) -> Child {
    truckee(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// What a command that succeeds says in JSON.
fn json(arguments: &[&str]) -> serde_json::Value {
    let done = run(arguments);
    assert!(done.status.success(), "{arguments:?}: {}", said(&done));
    serde_json::from_slice(&done.stdout).unwrap()
}

fn ip(arguments: &[&str]) {
    assert!(Command::new("ip").args(arguments).status().unwrap().success(), "ip {arguments:?}");
}

/// Sends a signal by its name.
fn signal(process: u32, name: &str) {
    let done = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap();
    assert!(done.success());
}

/// The identities of the runs of this process, by what their files in /run/truckee say.
fn identities(process: u32) -> BTreeSet<String> {
    let Ok(folder) = fs::read_dir("/run/truckee") else { return BTreeSet::new() };
    let names = folder.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let is_ours = |name: &String| {
        let said = fs::read_to_string(Path::new("/run/truckee").join(name)).unwrap_or_default();
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
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        left.extend(names.filter(|name| name.contains(identity)).map(|name| format!("{folder}/{name}")));
    }
    let controls = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    left.extend(controls.split_whitespace().filter(|name| name.contains(identity)).map(str::to_owned));
    left
}
