//! A sweep that is killed loses no finished run and does none twice: with real processes and a real SIGKILL.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Long enough in a debug build for a sweep of 120 runs to be killed in the middle.
pub const SCENARIO: &str = r#"
duration = "200s"
[[link]]
between = ["a", "b"]
rate = "10Mbit/s"
delay = "20ms"
queue = { kind = "drop-tail", size = "bdp" }
channel = { kind = "bernoulli", per = 0.001 }
[[flow]]
from = "a"
to = "b"
sender = "newreno"
"#;

/// A sweep of 120 runs that takes seconds.
pub fn sweep(scenario: &Path, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_truckee"));
    command
        .arg("sweep")
        .arg(scenario)
        .args(["--vary", "flow.sender=newreno,sack", "--vary", "channel.per=0.001,0.01", "--runs", "30"])
        .args(["--jobs", "1", "--format", "csv", "--out"])
        .arg(out)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Names of the finished parts in a sweep's directory.
pub fn parts(out: &Path) -> Vec<PathBuf> {
    let finished = |path: &PathBuf| path.extension().is_some_and(|e| e == "parquet");
    let Ok(entries) = fs::read_dir(out.join("parts")) else { return Vec::new() };
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(finished).collect()
}

/// Starts the sweep and kills it once `more` new parts are there. Whether it was still running.
fn kill_after(scenario: &Path, out: &Path, more: usize) -> bool {
    let before = parts(out).len();
    let mut child = sweep(scenario, out).stdout(Stdio::null()).spawn().expect("the sweep starts");
    let patience = Instant::now();
    while parts(out).len() < before + more && child.try_wait().expect("it can be asked").is_none() {
        assert!(patience.elapsed() < Duration::from_secs(120), "no part appeared");
        std::thread::sleep(Duration::from_millis(1));
    }
    let running = child.try_wait().expect("it can be asked").is_none();
    child.kill().expect("it can be killed"); // SIGKILL
    child.wait().expect("it ends");
    running
}

#[test]
fn a_killed_sweep_resumes_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = dir.path().join("scenario.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let (killed, whole) = (dir.path().join("killed"), dir.path().join("whole"));

    for more in [1, 2, 1] {
        assert!(kill_after(&scenario, &killed, more), "the sweep was over before it could be killed");
        for part in parts(&killed) {
            assert!(fs::metadata(&part).unwrap().len() > 0, "{} is torn", part.display());
        }
    }
    let kept: Vec<(PathBuf, Vec<u8>)> =
        parts(&killed).into_iter().map(|part| (part.clone(), fs::read(part).unwrap())).collect();
    assert!(kept.len() >= 4, "{} parts survived three kills", kept.len());

    let resumed = sweep(&scenario, &killed).output().unwrap();
    assert!(resumed.status.success());
    for (part, bytes) in kept {
        assert_eq!(fs::read(&part).unwrap(), bytes, "{} was done again", part.display());
    }
    let uninterrupted = sweep(&scenario, &whole).output().unwrap();
    assert_eq!(
        String::from_utf8(resumed.stdout).unwrap(),
        String::from_utf8(uninterrupted.stdout).unwrap(),
        "a resumed sweep and a whole one agree to the last digit"
    );
    assert_eq!(
        fs::read(killed.join("rows.parquet")).unwrap(),
        fs::read(whole.join("rows.parquet")).unwrap(),
        "each run is there once"
    );
}

/// `nohup truckee sweep …` goes on when its terminal is gone.
#[cfg(unix)]
#[test]
fn a_hangup_that_is_to_be_ignored_ends_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = dir.path().join("scenario.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let out = dir.path().join("out");
    let asked = sweep(&scenario, &out);
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$@\"", "nohup"])
        .arg(asked.get_program())
        .args(asked.get_args())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while parts(&out).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(child.try_wait().unwrap().is_none(), "the sweep was over before it could be hung up on");
    let process = child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &process]).status().unwrap().success());
    assert!(child.wait().unwrap().success(), "it was ended");
}
