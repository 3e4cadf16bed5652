//! `truckee doctor` and `truckee clean`, as a user runs them: with root or without, in a build with the live leg or not.

use assert_cmd::Command;
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

fn truckee(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_truckee")).args(arguments).output().expect("the command runs")
}

#[test]
fn the_doctor_says_the_same_in_json_in_the_table_and_by_the_exit_status() {
    let json = truckee(&["doctor", "--format", "json"]);
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    let works = report["works"].as_bool().unwrap();
    assert_eq!(json.status.code(), Some(if works { 0 } else { 1 }));
    let checks = report["checks"].as_array().unwrap();
    let failed = checks.iter().filter(|c| c["needed"] == true && c["state"] != "works").count();
    assert_eq!(works, failed == 0);

    let table = truckee(&["doctor"]);
    assert_eq!(table.status.code(), json.status.code());
    let text = String::from_utf8(table.stdout).unwrap();
    for line in ["Linux", "network namespaces", "TUN devices", "BPF congestion control", "clang"] {
        assert!(text.lines().any(|l| l.starts_with(line)), "{line}: {text}");
    }
    assert_eq!(text.contains("All that the live leg needs works here."), works);
}

/// The file of a run that is dead, if this user may make one: nobody holds its lock.
fn dead_run() -> Option<(String, PathBuf)> {
    fs::create_dir_all("/run/truckee").ok()?;
    (0..0x1_0000).find_map(|id: u32| {
        let id = format!("{:04x}", (id + std::process::id()) & 0xffff);
        let path = PathBuf::from("/run/truckee").join(&id);
        let mut file = File::create_new(&path).ok()?;
        file.write_all(b"1 a test").ok()?;
        Some((id, path))
    })
}

#[test]
fn a_rehearsal_of_cleaning_tells_and_removes_nothing() {
    let _alone = truckee_testing::alone("clean");
    let made = truckee(&["doctor"]).status.success().then(dead_run).flatten();
    let output = truckee(&["clean", "--dry-run"]);
    if String::from_utf8_lossy(&output.stderr).contains("built without its live leg") {
        assert_eq!(output.status.code(), Some(1));
        return;
    }
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("  removed"), "{text}");
    if let Some((id, path)) = made {
        assert!(text.contains(&format!(
            "run {id} is dead (it was 1 a test)\n  would remove the file {}",
            path.display()
        )));
        assert!(path.exists());
        fs::remove_file(path).unwrap();
    }
}
