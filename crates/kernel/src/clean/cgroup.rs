//! Control groups of a run: `truckee-ID` and `truckee-ID-SOMETHING`, directly under the mount of cgroup v2.

use super::names_in;
use crate::Error;
use crate::session::id_of_namespace;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long killed processes may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where cgroup v2 is mounted, if it is.
pub(crate) fn mount() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mut mounts = mounts.lines().map(|line| line.split(' '));
    mounts.find_map(|mut fields| {
        let (_, place, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(place))
    })
}

/// The groups of a run, as paths.
pub(super) fn of(id: &str) -> Vec<String> {
    let Some(mount) = mount() else { return Vec::new() };
    let whole = format!("truckee-{id}");
    let ours = |name: &String| *name == whole || id_of_namespace(name) == Some(id);
    names_in(&mount).into_iter().filter(ours).map(|name| mount.join(name).display().to_string()).collect()
}

/// Kills the processes in a group and removes it with the groups below it.
pub(super) fn remove(path: &str) -> Result<(), Error> {
    let path = Path::new(path);
    // cgroup.kill is there since Linux 5.14.
    if fs::write(path.join("cgroup.kill"), "1").is_err() {
        kill_each(path);
    }
    let until = Instant::now() + PATIENCE;
    loop {
        match remove_tree(path) {
            Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            done => {
                return done
                    .map_err(|e| Error::system(format!("remove the control group {}", path.display()), e));
            }
        }
    }
}

fn kill_each(path: &Path) {
    let processes = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    for process in processes.lines().filter_map(|p| p.parse().ok()) {
        let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    }
    for below in folders_in(path) {
        kill_each(&below);
    }
}

fn remove_tree(path: &Path) -> std::io::Result<()> {
    for below in folders_in(path) {
        remove_tree(&below)?;
    }
    fs::remove_dir(path)
}

fn folders_in(path: &Path) -> Vec<PathBuf> {
    names_in(path).into_iter().map(|name| path.join(name)).filter(|path| path.is_dir()).collect()
}
