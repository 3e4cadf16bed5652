//! What `truckee exec`, `truckee shape` and `truckee ack` refuse.

use std::process::{Command, Stdio};

#[test]
fn what_cannot_be_done_is_named_before_anything_runs() {
    let refused = |arguments: &[&str], status: i32, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_truckee"));
        let done = command.args(arguments).stdin(Stdio::null()).output().unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert_eq!(done.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
        assert!(!said.contains("panicked") && !said.contains("it ran"), "{said}");
    };
    let echo = ["--", "echo", "it ran"];
    let exec = |options: &[&'static str]| [&["exec"], options, &echo].concat();
    refused(&exec(&["--ack", "divison:4"]), 2, &["did you mean \"division\"?"]);
    refused(&exec(&["--ack", "division:64"]), 2, &["\"division\"", "32"]);
    refused(&exec(&["--ack", "optimistic"]), 2, &["not true"]);
    refused(&exec(&["--ack", "spoofed-duplicates"]), 2, &["not true"]);
    refused(&exec(&[]), 2, &["--ack"]);
    refused(&["exec", "--ack", "every"], 2, &["COMMAND"]);
    refused(&exec(&["--ack", "every", "--user", "nobody-here"]), 2, &["user \"nobody-here\""]);
    refused(&exec(&["--ack", "every", "--ns", "nobody-here"]), 2, &["namespace \"nobody-here\""]);
    refused(&exec(&["--ack", "every", "--report", "/no/such/place"]), 1, &["/no/such/place"]);
    refused(&["shape", "--ack", "every"], 2, &["--dev"]);
    refused(&["shape", "--ack", "every", "--dev", "lo", "--for", "5"], 2, &["5s"]);
    refused(&["ack", "zz"], 2, &["four hex digits"]);
}
