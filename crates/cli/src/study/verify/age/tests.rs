use super::*;
use std::process::Command;

const STUDY: &str = r#"
id = "x"
title = "a title"
scenario = '''
duration = "10s"
'''
[[sweep]]
name = "main"
runs = 3
[[check]]
name = "gains"
kind = "bound"
metric = "goodput_bps"
above = 1
[[check]]
name = "loses"
kind = "bound"
metric = "goodput_bps"
below = 5
"#;

/// A repository with a study, on disk.
struct Here {
    dir: tempfile::TempDir,
}

impl Here {
    /// Nothing committed yet; `None`: this machine has no git.
    fn new() -> Option<Self> {
        let here = Self { dir: tempfile::tempdir().unwrap() };
        match Command::new("git").arg("--version").output() {
            Ok(_) => here.git(&["init", "-q"], 0),
            Err(_) => {
                truckee_testing::skip("git is not installed");
                return None;
            }
        }
        std::fs::create_dir_all(here.dir.path().join("results")).unwrap();
        Some(here)
    }

    fn git(&self, words: &[&str], day: u32) {
        let date = format!("2026-01-{:02}T12:00:00+02:00", day + 1);
        let done = Command::new("git")
            .arg("-C")
            .arg(self.dir.path())
            .args(["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"])
            .args(words)
            .envs([("GIT_AUTHOR_DATE", &date), ("GIT_COMMITTER_DATE", &date)])
            .output()
            .unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("x.toml")
    }

    fn write(&self, text: &str) -> &Self {
        std::fs::write(self.file(), text).unwrap();
        self
    }

    fn commit(&self, day: u32) -> String {
        self.git(&["add", "x.toml"], day);
        self.git(&["commit", "-q", "--allow-empty", "-m", "m"], day);
        let mut head = Command::new("git");
        let done = head.arg("-C").arg(self.dir.path()).args(["rev-parse", "HEAD"]).output().unwrap();
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    /// A result that was made of this commit on this day.
    fn store(&self, commit: &str, day: u32) {
        let text = format!(
            r#"{{"command": "c", "date": "2026-01-{:02}T15:00:00Z", "commit": "{commit}", "build": "b", "report": {{}}}}"#,
            day + 1
        );
        std::fs::write(self.dir.path().join("results/x.json"), text).unwrap();
    }

    fn verify(&self) -> Verified {
        let repository = Repository::of(self.dir.path()).unwrap();
        verify(&repository, &self.file(), &self.dir.path().join("results")).unwrap()
    }
}

#[test]
fn bounds_that_were_committed_before_the_results_are_older() {
    let Some(here) = Here::new() else { return };
    let bounds = here.write(STUDY).commit(0);
    here.write(&STUDY.replace("a title", "another")).commit(1);
    let run = here.commit(2);
    here.store(&run[..12], 2);
    let found = here.verify();
    assert_eq!((found.age, found.study.as_str()), (Age::Older, "x"));
    let committed = found.committed.unwrap();
    assert_eq!((committed.hash, committed.date.as_str()), (bounds, "2026-01-01T10:00:00Z"), "in UTC");
    // What decides nothing may change afterwards, and where the file stands.
    let note = STUDY.replace("below = 5", "below = 5\nnote = \"n\"\nfull_only = true");
    here.write(&note.replace("\nduration", "\n# as published\nduration").replace("above = 1", "above = 1.0"));
    here.commit(3);
    assert_eq!(here.verify().age, Age::Older);
    // Changes beside the commit are said, and nothing more is known of them.
    here.store(&format!("{}+", &run[..12]), 2);
    let found = here.verify();
    assert_eq!((found.age, found.results.unwrap().commit.ends_with('+')), (Age::Older, true));
}

#[test]
fn bounds_that_changed_after_the_results_are_newer_and_named() {
    let Some(here) = Here::new() else { return };
    let run = here.write(STUDY).commit(0);
    here.store(&run, 1);
    let third = "[[check]]\nname = \"new\"\nkind = \"bound\"\nmetric = \"goodput_bps\"\nabove = 0\n";
    let loosened =
        format!("{}{third}", STUDY.replace("above = 1", "above = 0.5").replace("\"loses\"", "\"falls\""));
    // A commit that is dated back is after the result all the same.
    let changed = here.write(&loosened).commit(0);
    let found = here.verify();
    assert_eq!((found.age, found.setup_changed), (Age::Newer, false));
    assert_eq!(found.committed.unwrap().hash, changed);
    assert_eq!((found.changed, found.gone), (vec!["gains".to_owned()], vec!["loses".to_owned()]));
    assert_eq!(found.new, ["falls", "new"]);
    for setup in [("10s", "20s"), ("runs = 3", "runs = 4"), ("id = \"x\"", "id = \"x\"\nengine = \"kernel\"")]
    {
        here.write(&STUDY.replace(setup.0, setup.1)).commit(2);
        let found = here.verify();
        assert_eq!((found.age, found.setup_changed, found.changed), (Age::Newer, true, vec![]), "{setup:?}");
    }
    // The old bounds again: what they decided stands.
    here.write(STUDY).commit(3);
    let found = here.verify();
    assert_eq!((found.age, found.committed.unwrap().hash), (Age::Older, run));
}

#[test]
fn what_is_not_committed_or_has_no_result_is_said() {
    let Some(here) = Here::new() else { return };
    here.write(STUDY);
    assert_eq!(here.verify().age, Age::Uncommitted, "in a repository without a commit");
    let run = here.commit(0);
    let found = here.verify();
    assert_eq!((found.age, found.results, found.changed), (Age::NoResults, None, vec![]));
    here.write(&STUDY.replace("above = 1", "above = 2"));
    let found = here.verify();
    assert_eq!(
        (found.age, found.committed, found.changed),
        (Age::Uncommitted, None, vec!["gains".to_owned()])
    );
    here.store(&run, 1);
    assert_eq!(here.verify().age, Age::Uncommitted);
    here.write(STUDY);
    assert_eq!(here.verify().age, Age::Older);
}

#[test]
fn where_the_result_s_commit_is_not_in_the_repository_its_date_decides() {
    let Some(here) = Here::new() else { return };
    here.write(STUDY).commit(4);
    for (commit, day, age) in
        [("0123456789ab", 5, Age::Older), ("0123456789ab", 3, Age::Newer), ("--all", 5, Age::Older)]
    {
        here.store(commit, day);
        assert_eq!(here.verify().age, age, "{commit} on day {day}");
    }
    assert_eq!(here.verify().new, Vec::<String>::new());
}

#[test]
fn a_study_keeps_its_history_when_its_file_is_moved() {
    let Some(here) = Here::new() else { return };
    let run = here.write(STUDY).commit(0);
    here.store(&run, 1);
    here.git(&["mv", "x.toml", "y.toml"], 2);
    here.git(&["commit", "-q", "-m", "move"], 2);
    let repository = Repository::of(here.dir.path()).unwrap();
    let found =
        verify(&repository, &here.dir.path().join("y.toml"), &here.dir.path().join("results")).unwrap();
    assert_eq!((found.age, found.committed.unwrap().hash), (Age::Older, run));
}

#[test]
fn a_folder_without_a_repository_and_a_damaged_result_are_refused_in_words() {
    let Some(here) = Here::new() else { return };
    let bare = tempfile::tempdir().unwrap();
    let refused = Repository::of(bare.path()).unwrap_err().to_string();
    assert!(refused.contains("it is in no git repository"), "{refused}");
    here.write(STUDY).commit(0);
    std::fs::write(here.dir.path().join("results/x.json"), "{").unwrap();
    let repository = Repository::of(here.dir.path()).unwrap();
    let results = here.dir.path().join("results");
    let refused = verify(&repository, &here.file(), &results).unwrap_err().to_string();
    assert!(refused.contains("x.json"), "{refused}");
    here.write("no = \"id\"");
    assert!(verify(&repository, &here.file(), &results).unwrap_err().to_string().contains("no study"));
}

#[test]
fn a_history_that_is_cut_off_is_refused() {
    let Some(here) = Here::new() else { return };
    here.write(STUDY).commit(0);
    here.commit(1);
    let from = format!("file://{}", here.dir.path().display());
    here.git(&["clone", "-q", "--depth", "1", &from, "shallow"], 2);
    let refused = Repository::of(&here.dir.path().join("shallow")).unwrap_err().to_string();
    assert!(refused.contains("git fetch --unshallow"), "{refused}");
}

#[test]
fn a_rival_s_values_are_claims_and_its_name_is_not() {
    let with = |rival: &str| {
        Claims::read(&STUDY.replace("above = 1", &format!("above = 1\nrival = {rival}"))).unwrap()
    };
    let rival = with("{ name = \"a\", where = { s = \"reno\" } }");
    assert_eq!(rival, with("{ name = \"b\", where = { s = \"reno\" } }"));
    assert_ne!(rival, with("{ name = \"a\", where = { s = \"tahoe\" } }"));
    assert_eq!(rival.since(Claims::read(STUDY).as_ref()).changed, ["gains"]);
}
