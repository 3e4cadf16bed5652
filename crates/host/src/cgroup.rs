//! Control groups: of a run, for the programs it has started, so that [`crate::clean`] finds them after a crash; and of a
//! program whose ACKs are shaped, so that its packets are told from others.

use crate::identity;
use crate::rights::in_folders;
use crate::session::Session;
use crate::{Error, clean};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

/// The list of the processes of the run's control group, which is made if need be: whoever writes 0 to it joins the group.
pub fn of_a_run(session: &Session) -> Result<File, Error> {
    let group = mount("a run that starts programs")?.join(session.cgroup());
    let list = || {
        fs::create_dir_all(&group)?;
        OpenOptions::new().write(true).open(group.join("cgroup.procs"))
    };
    in_folders(list).map_err(|e| Error::system(format!("make the control group {}", group.display()), e))
}

/// Makes the control group of a program that is not the session's own: it lives on if the session dies. It is made in the
/// group that we are in, so that the program stays within the limits it would have had.
pub fn of_a_program(session: &Session) -> Result<PathBuf, Error> {
    let mount = mount("to tell a program's packets from others")?;
    let ours = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = within(&mount, &ours).join(session.cgroup_of_a_program());
    let doing = || format!("make the control group {}", group.display());
    // First the note of where it is: by that it is found after a crash.
    let note = identity::path(&format!("{}{}", session.id(), clean::CGROUP_NOTE));
    let make = || {
        let mut note = OpenOptions::new().write(true).create_new(true).open(&note)?;
        note.write_all(format!("{}\n", group.display()).as_bytes())?;
        fs::create_dir(&group)
    };
    in_folders(make).map_err(|e| Error::system(doing(), e))?;
    Ok(group)
}

fn mount(who: &str) -> Result<PathBuf, Error> {
    clean::cgroup_mount().ok_or_else(|| Error::Missing {
        what: format!("{who} needs cgroup v2, which is not mounted here"),
        mend: "mount -t cgroup2 none /sys/fs/cgroup/unified; inside `ip netns exec NAME` nothing is mounted there, so use --ns NAME instead".to_owned(),
    })
}

/// The folder of our own group, by the text of /proc/self/cgroup; the mount itself where that is outside.
fn within(mount: &Path, ours: &str) -> PathBuf {
    let path = ours.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if plain && mount.join(path).is_dir() { mount.join(path) } else { mount.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_group_is_found_where_it_is_within_the_mount() {
        let folder = tempfile::tempdir().unwrap();
        let mount = folder.path();
        fs::create_dir_all(mount.join("user.slice/a.scope")).unwrap();
        assert_eq!(within(mount, "3:cpu:/x\n0::/user.slice/a.scope\n"), mount.join("user.slice/a.scope"));
        for other in ["", "0::/\n", "0::/../..\n", "0::/gone\n", "3:cpu:/user.slice\n"] {
            assert_eq!(within(mount, other), mount, "{other}");
        }
    }
}
