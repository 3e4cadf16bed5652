//! Sweeps of two folders that become one.

use crate::kill::{SCENARIO, parts};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A short form of the same.
fn scenario(dir: &Path) -> std::path::PathBuf {
    let path = dir.join("scenario.toml");
    fs::write(&path, SCENARIO.replace("200s", "2s")).unwrap();
    path
}

fn truckee(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_truckee")).args(arguments).output().unwrap()
}

fn sweep(scenario: &Path, seeds: &str, out: &Path) -> Output {
    let [scenario, out] = [scenario, out].map(|path| path.to_str().unwrap());
    let vary = format!("seed={seeds}");
    let done = truckee(&[
        "sweep",
        scenario,
        "--vary",
        "flow.sender=newreno,sack",
        "--vary",
        &vary,
        "--format",
        "csv",
        "--out",
        out,
    ]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    done
}

fn import(from: &Path, out: &Path) -> (Option<i32>, String, String) {
    let done = truckee(&["import", from.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

#[test]
fn what_another_folder_has_run_is_not_run_again() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = scenario(dir.path());
    let [here, there, alone] = ["here", "there", "alone"].map(|name| dir.path().join(name));
    sweep(&scenario, "1..4", &here);
    sweep(&scenario, "3..9", &there);
    let (status, out, error) = import(&there, &here);
    assert_eq!((status, error.as_str()), (Some(0), ""));
    assert_eq!(out, format!("{}: 10 runs taken over, 4 were there already\n", there.display()));
    let before = parts(&here).len();
    let all = sweep(&scenario, "1..9", &here);
    assert_eq!(all.stdout, sweep(&scenario, "1..9", &alone).stdout);
    assert_eq!(parts(&here).len(), before, "nothing was run");
    let (_, out, _) = import(&there, &here);
    assert_eq!(out, format!("{}: 0 runs taken over, 14 were there already\n", there.display()));
}

#[test]
fn what_cannot_be_taken_in_is_said_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = scenario(dir.path());
    let [here, there, nothing] = ["here", "there", "nothing"].map(|name| dir.path().join(name));
    sweep(&scenario, "1..2", &here);
    sweep(&scenario, "3..4", &there);
    fs::create_dir(&nothing).unwrap();
    let (status, _, error) = import(&nothing, &here);
    assert_eq!(status, Some(2));
    assert!(error.contains("nothing holds no sweep: there is no sweep.json in it"), "{error}");
    assert_eq!(import(&here, &nothing).0, Some(2), "nor is one begun");

    let part = parts(&there).remove(0);
    fs::write(&part, b"PAR1").unwrap();
    let (status, out, error) = import(&there, &here);
    assert!(status == Some(0) && out.ends_with(" taken over\n"), "{out}");
    let name = part.file_name().unwrap().to_string_lossy().into_owned();
    assert!(error.contains(&name) && error.contains("all its runs are not taken over"), "{error}");

    let file = there.join("sweep.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"engine\": \"sim\"", "\"engine\": \"kernel\"")).unwrap();
    let (status, _, error) = import(&there, &here);
    assert_eq!(status, Some(2));
    assert!(
        error.contains("there holds a different sweep: its engine is \"kernel\", not \"sim\""),
        "{error}"
    );
    fs::write(&file, text.replace("\"format\": 2", "\"format\": 9")).unwrap();
    assert!(import(&there, &here).2.contains("a later version of truckee"));
}
