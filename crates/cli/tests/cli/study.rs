//! Studies that are written, and how old what they claim is.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::path::Path;
use tempfile::TempDir;

fn truckee(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_truckee"));
    command.args(arguments).current_dir(folder);
    command
}

#[test]
fn a_new_study_runs_as_it_is_written_and_overwrites_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    truckee(here, &["study", "new", "my-study"])
        .assert()
        .success()
        .stdout(contains("study run my-study.toml --quick"));
    let written = std::fs::read_to_string(here.join("my-study.toml")).unwrap();
    for habit in
        ["Stated:", "Left open:", "Chosen:", "rival", "cause", "[[figure]]", "id    = \"my-study\"", "verify"]
    {
        assert!(written.contains(habit), "{habit}");
    }
    truckee(here, &["study", "run", "my-study.toml", "--quick"])
        .assert()
        .success()
        .stdout(contains("(rival: Tahoe itself)").and(contains("1, fails   pass")))
        .stdout(contains("3 pass, 0 fail, 0 differ, 0 undecided"));
    std::fs::write(here.join("my-study.toml"), "mine").unwrap();
    truckee(here, &["study", "new", "my-study"])
        .assert()
        .code(1)
        .stderr(contains("cannot write my-study.toml"));
    assert_eq!(std::fs::read_to_string(here.join("my-study.toml")).unwrap(), "mine");
    truckee(here, &["study", "new", "papers/other.toml"])
        .assert()
        .code(1)
        .stderr(contains("papers/other.toml"));
    for id in ["My Study", "", "-x"] {
        truckee(here, &["study", "new", "--", id])
            .assert()
            .code(2)
            .stderr(contains("is no id").or(contains("value")));
    }
}

/// A repository with one committed study; `None`: this machine has no git.
fn repository() -> Option<TempDir> {
    let dir = tempfile::tempdir().unwrap();
    if std::process::Command::new("git").arg("--version").output().is_err() {
        truckee_testing::skip("git is not installed");
        return None;
    }
    git(dir.path(), &["init", "-q"]);
    std::fs::create_dir_all(dir.path().join("studies/mine")).unwrap();
    std::fs::create_dir_all(dir.path().join("docs/studies/results")).unwrap();
    truckee(dir.path(), &["study", "new", "studies/mine/my-study.toml"]).assert().success();
    commit(dir.path());
    Some(dir)
}

fn git(folder: &Path, words: &[&str]) -> String {
    let identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"];
    let done =
        std::process::Command::new("git").arg("-C").arg(folder).args(identity).args(words).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

fn commit(folder: &Path) {
    git(folder, &["add", "studies"]);
    git(folder, &["commit", "-q", "-m", "m"]);
}

#[test]
fn claims_are_verified_against_the_repository_s_history() {
    let Some(dir) = repository() else { return };
    let here = dir.path();
    let verify = || truckee(here, &["study", "verify"]).assert();
    verify().code(3).stdout(contains("no stored results")).stderr(contains("1 study: no stored results"));

    let head = git(here, &["rev-parse", "--short=12", "HEAD"]);
    let result = format!(r#"{{"date": "2040-01-01T00:00:00Z", "commit": "{head}+", "report": {{}}}}"#);
    std::fs::write(here.join("docs/studies/results/my-study.json"), result).unwrap();
    verify()
        .success()
        .stdout(
            contains("bounds are older than the results")
                .and(contains(&head[..8]).and(contains("2040-01-01"))),
        )
        .stdout(contains("+: the results were made of this commit and of changes beside it"));

    let file = here.join("studies/mine/my-study.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("above  = 1.05", "above  = 1.0")).unwrap();
    let changed = "my-study: changed: NewReno is ahead of Tahoe at every error rate";
    verify().code(1).stdout(contains("changed and not committed").and(contains(changed)));
    commit(here);
    verify().code(1).stdout(contains("run it again").and(contains(changed)));

    let asked = ["study", "verify", "my-study", "--format", "json"];
    let said = truckee(here, &asked).assert().code(1).get_output().stdout.clone();
    let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
    assert_eq!((&said[0]["study"], &said[0]["age"]), (&"my-study".into(), &"newer".into()));
    assert_eq!(said[0]["changed"].as_array().unwrap().len(), 1);
    // From elsewhere, by path.
    let elsewhere = tempfile::tempdir().unwrap();
    truckee(elsewhere.path(), &["study", "verify"])
        .arg(&file)
        .assert()
        .code(1)
        .stdout(contains("run it again"));
}

#[test]
fn what_cannot_be_verified_is_refused_in_words() {
    let Some(dir) = repository() else { return };
    let bare = tempfile::tempdir().unwrap();
    truckee(bare.path(), &["study", "verify"])
        .assert()
        .failure()
        .stderr(contains("it is in no git repository"));
    truckee(dir.path(), &["study", "verify", "nothing"])
        .assert()
        .code(2)
        .stderr(contains("no study \"nothing\""));
    truckee(dir.path(), &["study", "verify", "no.toml"]).assert().failure().stderr(contains("no.toml"));
}
