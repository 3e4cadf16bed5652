//! `truckee exec`, `truckee shape` and `truckee ack` on real programs, between two namespaces.

use crate::{able, ip, left, run, said, signal, text, truckee};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use truckee_kernel::doctor::Capability;
use truckee_testing::{until, wait_for};

/// Bytes of what is downloaded: at 8 Mbit/s, two seconds.
const SIZE: u64 = 2_000_000;

/// Whether ACKs can be shaped here; skips the test if not.
fn possible() -> bool {
    able(&[Capability::Namespaces, Capability::Cgroup, Capability::Shaping])
}

/// A client's namespace and a server's, with a web server in it; removed again.
struct Place {
    names: [String; 2],
    folder: TempDir,
    server: Option<Child>,
}

impl Place {
    fn new(test: &str) -> Self {
        let names = ["a", "b"].map(|end| format!("tkcli-{}-{test}{end}", std::process::id()));
        names.iter().for_each(|name| ip(&["netns", "add", name]));
        let [a, b] = &names;
        ip(&["-n", a, "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", b]);
        for (name, host) in [(a, 1), (b, 2)] {
            ip(&["-n", name, "addr", "add", &format!("10.77.0.{host}/24"), "dev", "v0"]);
            ip(&["-n", name, "addr", "add", &format!("fd77::{host}/64"), "dev", "v0", "nodad"]);
            ip(&["-n", name, "link", "set", "v0", "up"]);
        }
        Self { names, folder: tempfile::tempdir().unwrap(), server: None }
    }

    fn client(&self) -> &str {
        &self.names[0]
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A server of files of [`SIZE`]: /fast as fast as it goes, /slow at 8 Mbit/s.
    fn with_server(test: &str) -> Self {
        let mut place = Self::new(test);
        for name in ["fast", "slow"] {
            fs::write(place.file(name), vec![b'x'; SIZE as usize]).unwrap();
        }
        let folder = place.folder.path().display();
        let text = format!(
            "daemon off; master_process off; pid {folder}/pid; user root; error_log stderr;
            events {{}}
            http {{ access_log off; server {{ listen 10.77.0.2:80; listen [fd77::2]:80; root {folder};
                location /slow {{ limit_rate 1000000; }} }} }}"
        );
        fs::write(place.file("nginx.conf"), text).unwrap();
        let mut nginx = Command::new("ip");
        nginx.args(["netns", "exec", &place.names[1], "nginx", "-e", "stderr", "-c"]);
        nginx.arg(place.file("nginx.conf")).stdout(Stdio::null()).stderr(Stdio::null());
        place.server = Some(nginx.spawn().unwrap());
        let fetch = ["netns", "exec", place.client(), "curl", "-sf", "http://10.77.0.2/fast"];
        until("nginx", || output("ip", &fetch).0);
        place
    }

    /// Packets that the client has sent.
    fn sent(&self) -> u64 {
        let [a, _] = &self.names;
        let (_, text) = output("ip", &["-n", a, "-s", "-j", "link", "show", "v0"]);
        let all: Value = serde_json::from_str(&text).unwrap();
        all[0]["stats64"]["tx"]["packets"].as_u64().unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
        self.names.iter().for_each(|name| ip(&["netns", "del", name]));
    }
}

/// Whether a program succeeded, and what it said.
fn output(program: &str, arguments: &[&str]) -> (bool, String) {
    let done = Command::new(program).args(arguments).output().unwrap();
    (done.status.success(), String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The identity under which a process shapes, once it can be asked.
fn identity(process: u32) -> String {
    wait_for("a shaper", || {
        crate::identities(process).into_iter().find(|name| run(&["ack", name]).status.success())
    })
}

fn report(place: &Place, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(place.file(name)).unwrap()).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    if !possible() {
        return;
    }
    let done = run(&["shape", "--ack", "every", "--dev", "noeth0"]);
    assert_eq!(done.status.code(), Some(2), "{}", said(&done));
    assert!(said(&done).contains("interface \"noeth0\""), "{}", said(&done));
}

#[test]
fn the_exit_status_is_the_programs() {
    if !possible() {
        return;
    }
    let exec = |command: &[&str]| {
        let done = run(&[&["exec", "--ack", "every", "--quiet", "--"], command].concat());
        (done.status.code().unwrap(), said(&done))
    };
    assert_eq!(exec(&["true"]), (0, String::new()));
    assert_eq!(exec(&["sh", "-c", "echo out; exit 7"]), (7, "out\n".into()));
    assert_eq!(exec(&["sh", "-c", "kill -KILL $$"]).0, 137);
    let (status, said) = exec(&["no-such-program"]);
    assert!(status == 127 && said.contains("no-such-program: there is no such program"), "{said}");
    let (status, said) = exec(&["/etc/passwd"]);
    assert!(status == 126 && said.contains("/etc/passwd: it cannot be run"), "{said}");
    // Words are words: no shell reads them.
    assert_eq!(exec(&["echo", "$HOME; false", "*"]), (0, "$HOME; false *\n".into()));
}

#[test]
fn a_download_is_shaped_and_nothing_beside_it() {
    if !possible() {
        return;
    }
    let place = Place::with_server("s");
    let client = place.client();
    let path = place.file("report.json").display().to_string();
    for url in ["http://10.77.0.2/slow", "http://[fd77::2]/slow"] {
        // Another program beside it, over the same interface, of the same size.
        let mut beside = Command::new("ip");
        beside.args(["netns", "exec", client, "curl", "-sf", "-o", "/dev/null", url]);
        let mut beside = beside.spawn().unwrap();
        let exec = ["exec", "--ack", "division:4", "--ns", client, "--report", &path, "--"];
        let done =
            run(&[&exec[..], &["curl", "-sf", "-w", "%{size_download}", "-o", "/dev/null", url]].concat());
        assert!(done.status.success() && text(&done) == SIZE.to_string(), "{}", said(&done));
        assert!(beside.wait().unwrap().success());
        let report = report(&place, "report.json");
        let counts = &report["counts"];
        assert_eq!((&report["policy"], &report["status"]), (&"division:4".into(), &0.into()));
        // Its own bytes, with the header of the answer; not those of both. The FIN may acknowledge the last of them.
        let bytes = number(&counts["bytes"]);
        assert!((SIZE * 9 / 10..SIZE + 2000).contains(&bytes) && counts["flows"] == 1, "{report:#}");
        let [seen, sent, divided, pieces] =
            ["seen", "sent", "divided", "pieces"].map(|key| number(&counts[key]));
        assert!(divided > 20 && pieces == 4 * divided, "{report:#}");
        assert_eq!(sent, seen + pieces - divided, "{report:#}");
        assert!(counts["time_s"]["divided"].as_f64().unwrap() > 0.5, "{report:#}");
    }
}

#[test]
fn the_policy_is_changed_while_the_program_runs() {
    if !possible() {
        return;
    }
    let place = Place::with_server("c");
    let path = place.file("report.json").display().to_string();
    let exec = ["exec", "--ack", "every", "--ns", place.client(), "--report", &path, "--"];
    // It downloads before the change, and after it, whenever that is.
    let changed = place.file("changed");
    let curl = "curl -sf -o /dev/null http://10.77.0.2";
    let script = format!("{curl}/fast; until [ -e {} ]; do sleep 0.02; done; {curl}/slow", changed.display());
    let child =
        truckee(&[&exec[..], &["sh", "-c", &script]].concat()).stderr(Stdio::piped()).spawn().unwrap();
    let id = identity(child.id());
    let listed = said(&run(&["ack"]));
    assert!(listed.lines().any(|line| line.starts_with(&id) && line.contains("every")), "{listed}");
    let wrong = run(&["ack", &id, "divison:2"]);
    assert!(wrong.status.code() == Some(2) && said(&wrong).contains("did you mean"), "{}", said(&wrong));
    let other = truckee(&["ack", &id, "division:2"]);
    let other = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(other.get_program())
        .args(other.get_args())
        .output()
        .unwrap();
    assert_ne!(other.status.code(), Some(0), "another user may not change it");
    let done = run(&["ack", &id, "division:2"]);
    assert!(done.status.success() && text(&done) == "division:2", "{}", said(&done));
    let shown = run(&["ack", &id, "--format", "json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown[0]["policy"], &shown[0]["changes"]), (&"division:2".into(), &1.into()));
    fs::write(changed, "").unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    assert!(said(&done).contains(&format!("truckee ack {id} POLICY")), "{}", said(&done));
    let report = report(&place, "report.json");
    assert!(number(&report["counts"]["divided"]) > 10 && report["changes"] == 1, "{report:#}");
    assert_eq!(left(&id), Vec::<String>::new());
}

#[test]
fn the_program_is_its_users_and_we_keep_next_to_no_rights() {
    if !possible() {
        return;
    }
    let place = Place::new("u");
    let script = "id -u; id -g; id -G; grep CapEff /proc/self/status; grep SigBlk /proc/self/status";
    let dropped = |options: &[&str]| {
        let mut exec = truckee(&["exec", "--ack", "every", "--quiet"]);
        exec.args(options).args(["--", "sh", "-c", script]).env("SUDO_UID", "65534").env("SUDO_GID", "65534");
        exec.output().unwrap()
    };
    let done = dropped(&[]);
    let lines = text(&done);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[..3], ["65534", "65534", "65534"], "{}", said(&done));
    assert!(lines[3].ends_with("\t0000000000000000") && lines[4].ends_with("0000000000000000"), "{lines:?}");
    assert!(text(&dropped(&["--user", "root"])).starts_with("0\n0\n"));
    // A report is written with the rights of who typed the command.
    let path = place.file("report").display().to_string();
    let denied = dropped(&["--report", &path]);
    assert!(denied.status.code() == Some(1) && said(&denied).contains(&path), "{}", said(&denied));

    let child = truckee(&["exec", "--ack", "every", "-q", "--", "sleep", "60"]).spawn().unwrap();
    let id = identity(child.id());
    for task in fs::read_dir(format!("/proc/{}/task", child.id())).unwrap() {
        let status = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let value = |key: &str| status.lines().find_map(|l| l.strip_prefix(key)).unwrap().trim().to_owned();
        let rights = u64::from_str_radix(&value("CapPrm:"), 16).unwrap();
        // Bit 1 is CAP_DAC_OVERRIDE, to sweep up.
        assert_eq!(rights & !0b10, 0, "{status}");
        assert_eq!((value("NoNewPrivs:"), value("CapInh:").trim_matches('0')), ("1".into(), ""), "{status}");
    }
    signal(child.id(), "TERM");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    assert_eq!(left(&id), Vec::<String>::new());
}

#[test]
fn signals_reach_the_program() {
    if !possible() {
        return;
    }
    let script =
        "trap 'echo term; exit 42' TERM; trap 'echo hup' HUP; echo ready; while :; do sleep 0.02; done";
    let mut exec = truckee(&["exec", "--ack", "every", "-q", "--", "sh", "-c", script]);
    let mut child = exec.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut says = || lines.next().unwrap().unwrap();
    assert_eq!(says(), "ready");
    signal(child.id(), "HUP");
    assert_eq!(says(), "hup");
    signal(child.id(), "TERM");
    assert_eq!(says(), "term");
    assert_eq!(child.wait().unwrap().code(), Some(42));
}

#[test]
fn killed_it_leaves_the_program_its_connection_and_nothing_attached() {
    if !possible() {
        return;
    }
    let _alone = truckee_testing::alone("clean");
    let place = Place::with_server("k");
    let (done, pid) =
        (place.file("done").display().to_string(), place.file("pid-of-sh").display().to_string());
    let script = format!(
        "echo $$ > {pid}; curl -sf -w '%{{size_download}}' -o /dev/null http://10.77.0.2/slow > {done}"
    );
    let exec = ["exec", "--ack", "division:8", "--ns", place.client(), "-q", "--", "sh", "-c", &script];
    let mut child = truckee(&exec).spawn().unwrap();
    let id = identity(child.id());
    // As soon as some of the download has been acknowledged, which then takes two seconds more.
    let begun = place.sent();
    until("the download's beginning", || place.sent() > begun + 50);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = place.sent();
    // The program is not ours to kill.
    let swept = run(&["clean"]);
    assert!(swept.status.success() && said(&swept).contains(&format!("{id} is dead")), "{}", said(&swept));
    assert_eq!(left(&id), Vec::<String>::new());
    until("the download's end", || fs::read_to_string(&done).unwrap_or_default() == SIZE.to_string());
    // A second or more at 8 Mbit/s and eight ACKs for one would be many times this.
    let acks = place.sent() - before;
    assert!(acks < 2 * SIZE / 1448 / 2, "{acks} packets after the end");
}

#[test]
fn what_the_program_leaves_behind_goes_on_outside_its_group() {
    if !possible() {
        return;
    }
    let place = Place::new("b");
    let pid = place.file("pid").display().to_string();
    let script = format!("sleep 60 >/dev/null 2>&1 & echo $! > {pid}");
    let done = run(&["exec", "--ack", "every", "-q", "--", "sh", "-c", &script]);
    assert!(done.status.success(), "{}", said(&done));
    let process: u32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    let group = fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap();
    assert!(!group.contains("truckee-"), "{group}");
    signal(process, "KILL");
}

#[test]
fn a_standing_shaper_shapes_whatever_leaves_and_says_what_it_did() {
    if !possible() {
        return;
    }
    let place = Place::with_server("g");
    let shape = ["shape", "--ns", place.client(), "--ack", "division:3", "--format", "json"];
    let child = truckee(&shape).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = identity(child.id());
    for _ in 0..2 {
        let (fetched, _) =
            output("ip", &["netns", "exec", place.client(), "curl", "-sf", "http://10.77.0.2/fast"]);
        assert!(fetched);
    }
    signal(child.id(), "INT");
    let done = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let counts = &report["counts"];
    assert!(done.status.success() && counts["flows"] == 2, "{report:#}");
    assert!(number(&counts["bytes"]) >= 2 * SIZE * 9 / 10 && number(&counts["divided"]) > 4, "{report:#}");
    assert_eq!(left(&id), Vec::<String>::new());

    // For a time, on interfaces by name.
    let shape = ["shape", "--ns", place.client(), "--dev", "v0", "--ack", "delayed:4", "--for", "1s"];
    let done = run(&shape);
    assert!(done.status.success() && text(&done).starts_with("ACK policy delayed:4"), "{}", said(&done));
    let report: Value =
        serde_json::from_slice(&run(&[&shape[..], &["--format", "json"]].concat()).stdout).unwrap();
    assert!(report["lasted_s"].as_f64().unwrap() >= 1.0, "{report:#}");
}

/// `nohup truckee shape …` stands when its terminal is gone.
#[test]
fn a_standing_shaper_minds_no_hangup_that_is_to_be_ignored() {
    if !possible() {
        return;
    }
    let place = Place::with_server("h");
    let shape = truckee(&["shape", "--ns", place.client(), "--ack", "every", "--format", "json"]);
    let mut ignoring = Command::new("sh");
    ignoring
        .args(["-c", "trap '' HUP; exec \"$@\"", "nohup"])
        .arg(shape.get_program())
        .args(shape.get_args());
    ignoring.env_remove("SUDO_UID").env_remove("SUDO_GID").stdin(Stdio::null());
    let child = ignoring.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = identity(child.id());
    signal(child.id(), "HUP");
    let fetch = ["netns", "exec", place.client(), "curl", "-sf", "http://10.77.0.2/fast"];
    assert!(output("ip", &fetch).0);
    signal(child.id(), "INT");
    let done = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(done.status.success() && report["counts"]["flows"] == 1, "{report:#}");
    assert_eq!(left(&id), Vec::<String>::new());
}
