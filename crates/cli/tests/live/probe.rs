//! `truckee probe` of servers on the loopback that answer badly: what is said of them, and that a campaign goes on where it
//! stopped. Verdicts are tested where servers have a path before them, in truckee-kernel.

use crate::{run, said, signal, start};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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
