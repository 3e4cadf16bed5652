//! What `truckee probe` refuses, before anybody is contacted.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn truckee(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_truckee")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
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
    let cases: [(&[&str], &str); 12] = [
        (&["probe"], "URL"),
        (&["probe", "ftp://example.org"], "expected http or https"),
        (&["probe", "http://user:secret@example.org"], "password"),
        (&["probe", "example.org", "--tests", "A,X"], "a letter of A to G"),
        (&["probe", "example.org", "--repeat", "0"], "--repeat"),
        (&["probe", "example.org", "--watch", "3"], "unit"),
        (&["probe", "--list", &wrong, "--yes"], "line 2"),
        (&["probe", "example.org", "--yes"], "--list"),
        (&["probe", "example.org", "a.example", "--", "true"], "one URL"),
        (&["probe", "example.org", "--identify", "--", "true"], "--identify"),
        (&["probe", "example.org", "--out", "x", "--", "true"], "--out"),
        (&["probe", "example.org", "--turn", "2"], "PROGRAM"),
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
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let port = server.local_addr().unwrap().port();
    let file = list(folder.path(), &format!("# ours\nhttp://127.0.0.1:{port}/\n"));
    let output = truckee(&["probe", "--list", &file]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("22 connections each") && text.contains("nothing was done"), "{text}");
    assert!(server.accept().is_err(), "somebody was contacted");
}
