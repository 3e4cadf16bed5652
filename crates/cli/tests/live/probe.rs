//! `truckee probe` of servers on the loopback that answer badly: what is said of them, and that a campaign goes on where it
//! stopped. Verdicts are tested where servers have a path before them, in truckee-kernel.

use crate::{able, ip, run, said, signal, start, truckee};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use truckee_kernel::doctor::Capability;
use truckee_testing::{until, wait_for};

/// A server on the loopback that says this to every request; its port, and how many have asked.
fn server(text: &'static str) -> (u16, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = stream.read(&mut [0; 2048]);
            let _ = stream.write_all(text.as_bytes());
        }
    });
    (port, asked)
}

fn list(folder: &Path, text: &str) -> String {
    let path = folder.join("list.txt");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn faults_are_in_the_json_and_a_campaign_goes_on() {
    if !truckee_testing::root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (short, asked) = server("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file =
        list(folder.path(), &format!("http://127.0.0.1:{short}/\nhttp://127.0.0.1:{nobody}/ # gone\n"));
    let out = folder.path().join("campaign").display().to_string();
    let arguments = ["probe", "--list", &file, "--yes", "--out", &out, "--pause", "10ms", "--format", "json"];
    let first = run(&arguments);
    assert_eq!(first.status.code(), Some(1), "{}", said(&first));
    let all: serde_json::Value = serde_json::from_slice(&first.stdout).unwrap();
    let names: Vec<&str> = all["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["not_judged"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["status", "refused"], "{all:#}");
    for name in ["servers.parquet", "tests.parquet", "sites.parquet"] {
        assert!(Path::new(&out).join(name).metadata().unwrap().len() > 200, "{name}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let again = run(&arguments);
    assert_eq!(again.stdout, first.stdout, "{}", said(&again));
    assert_eq!(asked.load(Ordering::Relaxed), 1, "nobody is asked again");
    let other = run(&["probe", "--list", &file, "--yes", "--out", &out, "--repeat", "2"]);
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    assert!(said(&other).contains("probed otherwise"), "{}", said(&other));
}

#[test]
fn a_campaign_over_servers_of_ones_own_ends_with_the_histograms_and_the_tables() {
    if !truckee_testing::root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let body: &'static str =
        Box::leak(format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(400_000)).into_boxed_str());
    let urls = [server(body).0, server(body).0].map(|port| format!("http://127.0.0.1:{port}/"));
    let file = list(folder.path(), &urls.join("\n"));
    let out = folder.path().join("campaign").display().to_string();
    let how = ["--tests", "A,C", "--repeat", "2", "--mss", "1000", "--pause", "10ms", "--watch", "50ms"];
    let output = run(&[&["probe", "--list", &file, "--yes", "--out", &out][..], &how].concat());
    let read = |name: &str| {
        std::fs::read_to_string(Path::new(&out).join(name))
            .unwrap_or_else(|e| panic!("{name}: {e}; {}", said(&output)))
    };
    let (figure, tables) = (read("histograms.svg"), read("tables.md"));
    for title in ["Data packets, one ACK a segment (A)", "All packets, four ACKs a segment (C)", "2 servers"]
    {
        assert!(figure.contains(title), "{title}: {}", said(&output));
    }
    for url in &urls {
        assert!(tables.contains(&format!("## {url}\n")), "{tables}");
    }
    assert_eq!(tables.matches("| A, 2 times |").count(), 2, "{tables}");
    assert_eq!(tables.matches("| C, 2 times |").count(), 2, "{tables}");
}

#[test]
fn a_shorter_pause_is_not_for_strangers() {
    if !truckee_testing::root() {
        return;
    }
    let output = run(&["probe", "http://192.0.2.1/", "--pause", "1s"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("3 s at least"), "{}", said(&output));
}

#[test]
fn an_interrupted_probe_ends_soon_with_what_it_has() {
    if !truckee_testing::root() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap(); // accepts, and never answers
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let child = start(&["probe", &url, "--format", "json", "--patience", "600s"]);
    let (_stream, _) = listener.accept().unwrap();
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("interrupted") && said(&output).contains("\"servers\": []"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_program_under_the_probe_is_who_typed_the_command_without_rights_and_dies_with_a_prober_that_is_killed() {
    if !truckee_testing::root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let file = folder.path().join("status");
    // It is there whole or not at all.
    let script = format!("cat /proc/$$/status > {0}.new; mv {0}.new {0}; exec sleep 1000", file.display());
    let mut command =
        truckee(&["probe", "http://127.0.0.1:9/", "--patience", "600s", "--", "bash", "-c", &script]);
    let mut prober = command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").spawn().unwrap();
    let status = wait_for("the program", || std::fs::read_to_string(&file).ok());
    let line = |status: &str, key: &str| {
        let found = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        found.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(line(&status, "Uid:"), ["65534"; 4], "{status}");
    for key in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(line(&status, key), ["0000000000000000"], "{status}");
    }
    assert_eq!(
        (line(&status, "NoNewPrivs:"), line(&status, "Seccomp:")),
        (vec!["1".into()], vec!["2".into()])
    );
    let ours = std::fs::read_to_string(format!("/proc/{}/status", prober.id())).unwrap();
    assert_eq!(line(&ours, "Uid:"), ["65534"; 4], "{ours}");
    assert_eq!(line(&ours, "CapPrm:"), ["0000000000001000"], "CAP_NET_ADMIN alone: {ours}");
    let program = line(&status, "Pid:").remove(0);
    signal(prober.id(), "KILL");
    prober.wait().unwrap();
    until("the program's end", || !Path::new(&format!("/proc/{program}")).exists());
}

#[test]
fn the_way_to_a_server_is_told_router_by_router() {
    if !able(&[Capability::Namespaces]) {
        return;
    }
    // A client, two routers, a server: each a namespace.
    let names = [0, 1, 2, 3].map(|k| format!("tkcli-{}-w{k}", std::process::id()));
    struct Gone<'a>(&'a [String]);
    impl Drop for Gone<'_> {
        fn drop(&mut self) {
            self.0.iter().for_each(|name| ip(&["netns", "del", name]));
        }
    }
    names.iter().for_each(|name| ip(&["netns", "add", name]));
    let _gone = Gone(&names);
    for (k, pair) in names.windows(2).enumerate() {
        ip(&[
            "-n", &pair[0], "link", "add", "right", "type", "veth", "peer", "name", "left", "netns", &pair[1],
        ]);
        for (name, device, end) in [(&pair[0], "right", 1), (&pair[1], "left", 2)] {
            ip(&["-n", name, "address", "add", &format!("10.91.{k}.{end}/24"), "dev", device]);
            ip(&["-n", name, "link", "set", device, "up"]);
        }
    }
    let inside = |name: &str, script: &str| {
        let done =
            std::process::Command::new("ip").args(["netns", "exec", name, "bash", "-c", script]).status();
        assert!(done.unwrap().success(), "{script}");
    };
    for name in &names[1..3] {
        inside(name, "echo 1 > /proc/sys/net/ipv4/ip_forward; echo 0 > /proc/sys/net/ipv4/icmp_ratelimit");
    }
    ip(&["-n", &names[0], "route", "add", "10.91.0.0/16", "via", "10.91.0.2"]);
    ip(&["-n", &names[1], "route", "add", "10.91.2.0/24", "via", "10.91.1.2"]);
    ip(&["-n", &names[2], "route", "add", "10.91.0.0/24", "via", "10.91.1.1"]);
    ip(&["-n", &names[3], "route", "add", "10.91.0.0/16", "via", "10.91.2.1"]);
    let mut web = std::process::Command::new("ip");
    web.args([
        "netns",
        "exec",
        &names[3],
        "python3",
        "-m",
        "http.server",
        "80",
        "--directory",
        "/usr/share/common-licenses",
    ]);
    let mut web = web.stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut asked = std::process::Command::new("ip");
    asked.args(["netns", "exec", &names[0], crate::TRUCKEE, "probe", "http://10.91.2.2/GPL-3", "--route"]);
    asked.args(["--tests", "1", "--pause", "10ms", "--watch", "50ms", "--format", "json", "--mss", "536"]);
    until("the server", || {
        let script = "exec 3<>/dev/tcp/10.91.2.2/80";
        let mut there = std::process::Command::new("ip");
        there.args(["netns", "exec", &names[0], "bash", "-c", script]).stderr(std::process::Stdio::null());
        there.status().unwrap().success()
    });
    let output = asked.output().unwrap();
    let _ = web.kill();
    let _ = web.wait();
    let all: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let server = &all["servers"][0];
    let addresses: Vec<&str> = server["route"]["hops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hop| hop["address"].as_str().unwrap())
        .collect();
    assert_eq!(addresses, ["10.91.0.2", "10.91.1.2", "10.91.2.2"], "{server:#}");
    assert_eq!((&server["route"]["reached"], &server["hops"]), (&true.into(), &2.into()), "{server:#}");
}
