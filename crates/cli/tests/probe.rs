//! `truckee probe` as a user meets it: what it refuses, what it says of servers that answer badly, and that a campaign goes
//! on where it stopped. Verdicts are tested where servers have a path before them, in truckee-kernel.

#![cfg(target_os = "linux")]
#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use assert_cmd::cargo::cargo_bin;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

fn truckee(arguments: &[&str]) -> Output {
    Command::new(cargo_bin!("truckee")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Whether raw sockets can be opened here; says so if not.
fn able() -> bool {
    let may = nix_is_root();
    if !may {
        eprintln!("skipped: only root may open raw sockets");
    }
    may
}

fn nix_is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"))
}

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
fn bad_usage_is_refused_before_anybody_is_contacted() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = list(folder.path(), "example.org\nftp://example.org\n");
    let cases: [(&[&str], &str); 8] = [
        (&["probe"], "URL"),
        (&["probe", "ftp://example.org"], "expected http or https"),
        (&["probe", "http://user:secret@example.org"], "password"),
        (&["probe", "example.org", "--tests", "A,X"], "letters from A to G"),
        (&["probe", "example.org", "--repeat", "0"], "--repeat"),
        (&["probe", "example.org", "--watch", "3"], "unit"),
        (&["probe", "--list", &wrong, "--yes"], "line 2"),
        (&["probe", "example.org", "--yes"], "--list"),
    ];
    for (arguments, part) in cases {
        let output = truckee(arguments);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(part) && !text.contains("panicked"), "{arguments:?}: {text}");
    }
}

#[test]
fn a_list_is_only_announced_without_consent() {
    let folder = tempfile::tempdir().unwrap();
    let (port, asked) = server("");
    let file = list(folder.path(), &format!("# ours\nhttp://127.0.0.1:{port}/\n"));
    let output = truckee(&["probe", "--list", &file]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("22 connections each") && text.contains("nothing was done"), "{text}");
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[test]
fn faults_are_in_the_json_and_a_campaign_goes_on() {
    if !able() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (short, asked) = server("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file =
        list(folder.path(), &format!("http://127.0.0.1:{short}/\nhttp://127.0.0.1:{nobody}/ # gone\n"));
    let out = folder.path().join("campaign").display().to_string();
    let arguments = ["probe", "--list", &file, "--yes", "--out", &out, "--pause", "10ms", "--format", "json"];
    let first = truckee(&arguments);
    assert_eq!(first.status.code(), Some(1), "{}", said(&first));
    let all: serde_json::Value = serde_json::from_slice(&first.stdout).unwrap();
    let names: Vec<&str> = all["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["not_judged"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["status", "refused"], "{all:#}");
    for name in ["servers.parquet", "tests.parquet"] {
        assert!(Path::new(&out).join(name).metadata().unwrap().len() > 200, "{name}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let again = truckee(&arguments);
    assert_eq!(again.stdout, first.stdout, "{}", said(&again));
    assert_eq!(asked.load(Ordering::Relaxed), 1, "nobody is asked again");
    let other = truckee(&["probe", "--list", &file, "--yes", "--out", &out, "--repeat", "2"]);
    assert_eq!(other.status.code(), Some(1), "{}", said(&other));
    assert!(said(&other).contains("probed otherwise"), "{}", said(&other));
}

#[test]
fn a_shorter_pause_is_not_for_strangers() {
    if !able() {
        return;
    }
    let output = truckee(&["probe", "http://192.0.2.1/", "--pause", "1s"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("3 s at least"), "{}", said(&output));
}

#[test]
fn an_interrupted_probe_ends_soon_with_what_it_has() {
    if !able() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap(); // accepts, and never answers
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let child = Command::new(cargo_bin!("truckee"))
        .args(["probe", &url, "--format", "json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (_stream, _) = listener.accept().unwrap();
    let done = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(done.success());
    let asked = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("interrupted") && said(&output).contains("\"servers\": []"),
        "{}",
        said(&output)
    );
}
