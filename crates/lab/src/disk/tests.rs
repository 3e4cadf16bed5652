use super::*;
use std::collections::BTreeSet;

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_file_is_there_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.svg");
    let mut begun = Begun::new(&path).unwrap();
    begun.write_all(b"half").unwrap();
    assert!(!path.exists());
    drop(begun);
    assert!(names(dir.path()).is_empty(), "what was not finished is gone");
    write(&path, b"whole").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(names(dir.path()).len(), 1);
    let mut begun = Begun::new(&path).unwrap();
    begun.write_all(b"newer").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    begun.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"newer");
}

#[test]
fn two_who_write_the_same_file_do_not_share_another() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.json");
    let mut both = [Begun::new(&path).unwrap(), Begun::new(&path).unwrap()];
    assert_eq!(names(dir.path()).len(), 2);
    assert!(names(dir.path()).iter().all(|name| is_unfinished(name)));
    both[0].write_all(b"first").unwrap();
    both[1].write_all(b"the other").unwrap();
    let [first, second] = both;
    first.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first");
    second.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"the other");
}

#[test]
fn only_our_own_names_are_those_of_unfinished_files() {
    assert!(is_unfinished(".truckee-a1B2c3.tmp"));
    for other in [".truckee-.tmp", "a.tmp", "part-00000009-0.tmp", ".truckee-a.b.tmp", ".truckee-a1B2c3"] {
        assert!(!is_unfinished(other), "{other}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_and_a_folder_is_no_file() {
    let message = write(Path::new("/dev/full"), b"bytes").unwrap_err().to_string();
    assert!(message.contains("/dev/full") && message.contains("what was finished is kept"), "{message}");
    let dir = tempfile::tempdir().unwrap();
    let message = write(dir.path(), b"bytes").unwrap_err().to_string();
    assert!(message.contains("directory"), "{message}");
}

#[test]
#[cfg(unix)]
fn ones_own_links_lead_where_they_lead() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("figures")).unwrap();
    symlink("figures/a.svg", at("latest.svg")).unwrap();
    symlink("latest.svg", at("again.svg")).unwrap();
    write(&at("again.svg"), b"drawn").unwrap();
    assert_eq!(fs::read(at("figures/a.svg")).unwrap(), b"drawn");
    assert!(at("latest.svg").is_symlink() && at("again.svg").is_symlink());
    symlink("round.svg", at("round.svg")).unwrap();
    assert!(write(&at("round.svg"), b"drawn").is_err());
    write(Path::new("/dev/null"), b"to nobody").unwrap();
    assert!(!fs::symlink_metadata("/dev/null").unwrap().is_file(), "a device stays one");
    symlink("figures", at("same")).unwrap();
    folder(&at("same")).unwrap();
    folder(&at("same/below")).unwrap();
    assert!(at("figures/below").is_dir());
}

#[test]
#[cfg(unix)]
fn a_lock_is_no_link() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join("sweep.lock")).unwrap();
    assert!(matches!(lock(dir.path(), "sweep.lock"), Err(Error::Write { .. })));
    assert!(!dir.path().join("elsewhere").exists());
}

/// As root in another user's folder.
#[cfg(unix)]
mod live {
    use super::*;
    use std::os::unix::fs::{lchown, symlink};

    const NOBODY: u32 = 65_534;

    /// A file of root's, and a folder of nobody's with a link of that name that leads to it.
    fn planted(name: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let (victim, theirs) = (dir.path().join("victim"), dir.path().join("theirs"));
        fs::write(&victim, "root's").unwrap();
        fs::create_dir(&theirs).unwrap();
        let link = theirs.join(name);
        symlink(&victim, &link).unwrap();
        lchown(&link, Some(NOBODY), None).unwrap();
        lchown(&theirs, Some(NOBODY), None).unwrap();
        (dir, victim, link)
    }

    #[test]
    fn a_link_that_another_user_has_laid_is_replaced_and_not_followed() {
        if !truckee_testing::root() {
            return;
        }
        let (_dir, victim, link) = planted("result.json");
        // The names that earlier versions wrote under could be foreseen.
        symlink(&victim, link.with_extension("tmp")).unwrap();
        write(&link, b"ours").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "root's");
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        assert_eq!(fs::read_to_string(&link).unwrap(), "ours");
    }

    #[test]
    fn no_folder_is_entered_through_another_users_link() {
        if !truckee_testing::root() {
            return;
        }
        let (dir, _, link) = planted("parts");
        fs::remove_file(&link).unwrap();
        symlink(dir.path(), &link).unwrap();
        lchown(&link, Some(NOBODY), None).unwrap();
        for path in [link.clone(), link.join("below/and below")] {
            let message = folder(&path).unwrap_err().to_string();
            let said = format!("cannot write {}: it is a link that another user has laid", link.display());
            assert!(message.starts_with(&said), "{message}");
        }
        assert!(!dir.path().join("below").exists());
    }
}
