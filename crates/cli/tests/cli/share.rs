//! Sweeps that are more than a process's: two real ones that share the work in one directory, and what takes a cluster.

use crate::kill::{SCENARIO, parts, sweep};
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use truckee_lab::store::for_each_batch;

#[test]
fn two_processes_share_a_sweep_and_no_run_is_made_twice() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = dir.path().join("scenario.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let (shared, alone) = (dir.path().join("shared"), dir.path().join("alone"));
    let both = [(); 2].map(|()| sweep(&scenario, &shared).stdout(Stdio::piped()).spawn().unwrap());
    let [one, other] = both.map(|process| process.wait_with_output().unwrap());
    assert!(one.status.success() && other.status.success());
    assert_eq!(one.stdout, other.stdout, "both have all of it");
    assert_eq!(one.stdout, sweep(&scenario, &alone).output().unwrap().stdout, "as one alone");
    assert_eq!(
        fs::read(shared.join("rows.parquet")).unwrap(),
        fs::read(alone.join("rows.parquet")).unwrap(),
        "each run is there once"
    );
    let (mut runs, mut writers) = (0, BTreeSet::new());
    for part in parts(&shared) {
        let name = part.file_name().unwrap().to_string_lossy().into_owned();
        writers.insert(name.split('-').nth(1).unwrap().to_owned());
        for_each_batch(
            fs::read(&part).unwrap(),
            |_| true,
            |batch| {
                runs += batch.num_rows();
                Ok(())
            },
        )
        .unwrap();
    }
    assert_eq!((runs, writers.len()), (120, 2), "no run was made twice, and both have made some");
}

#[test]
fn what_takes_the_python_package_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = dir.path().join("scenario.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    for words in [&["--scheduler", "tcp://127.0.0.1:8786"][..], &["--out", "s3://bucket/name"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_truckee"));
        let done = command.arg("sweep").arg(&scenario).args(words).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.code() == Some(1) && said.contains("pip install 'truckee[dask]'"), "{said}");
    }
}
