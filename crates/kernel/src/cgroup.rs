//! The control group of a run: the programs it has started, so that [`crate::clean`] finds them after a crash.

use crate::session::Session;
use crate::{Error, clean};
use std::fs;

/// Puts a process into the run's control group.
pub fn add(session: &Session, process: u32) -> Result<(), Error> {
    let doing = || format!("put process {process} into the run's control group");
    let Some(mount) = clean::cgroup_mount() else {
        let what = "a run that starts programs needs cgroup v2, which is not mounted".to_owned();
        let mend = "mount -t cgroup2 none /sys/fs/cgroup/unified".to_owned();
        return Err(Error::Missing { what, mend });
    };
    let group = mount.join(session.cgroup());
    fs::create_dir_all(&group).map_err(|e| Error::system(doing(), e))?;
    fs::write(group.join("cgroup.procs"), process.to_string()).map_err(|e| Error::system(doing(), e))
}
