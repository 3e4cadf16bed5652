//! Control groups of a run: `truckee-ID` and `truckee-ID-SOMETHING`, directly under the mount of cgroup v2, and
//! `truckee-ID-exec`, wherever the run's note says. The latter is a program's that is not ours: it goes on, in the group
//! above.

use super::names::names_in;
use crate::Error;
use crate::identity::{self, id_of_namespace};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// How long killed processes may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the name of the note ends with, beside the file of the run.
pub const NOTE: &str = ".cgroup";
/// What the name of a program's group ends with.
const PROGRAM: &str = "-exec";

/// Where cgroup v2 is mounted, if it is.
pub fn mount() -> Option<PathBuf> {
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
    let mut groups: Vec<PathBuf> =
        names_in(&mount).into_iter().filter(ours).map(|name| mount.join(name)).collect();
    let noted = noted(id, &mount).filter(|noted| !groups.contains(noted));
    groups.extend(noted);
    groups.into_iter().map(|path| path.display().to_string()).collect()
}

/// The group of a program that the run has made a note of, if it is there.
fn noted(id: &str, mount: &Path) -> Option<PathBuf> {
    let path = PathBuf::from(fs::read_to_string(identity::path(&format!("{id}{NOTE}"))).ok()?.trim());
    let ours = path.file_name()?.to_str()? == format!("truckee-{id}{PROGRAM}");
    // A note may be another user's, who leads elsewhere by it.
    let within = path.starts_with(mount) && !path.components().any(|part| part == Component::ParentDir);
    (ours && within && path.is_dir()).then_some(path)
}

/// Removes a group with the groups below it, after killing the processes in it or, where they are not ours, moving them to
/// the group above.
pub(super) fn remove(path: &str) -> Result<(), Error> {
    let path = Path::new(path);
    let program = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(PROGRAM));
    // cgroup.kill is there since Linux 5.14.
    if !program && fs::write(path.join("cgroup.kill"), "1").is_err() {
        kill_each(path);
    }
    let until = Instant::now() + PATIENCE;
    loop {
        if program {
            release_each(path, path.parent().unwrap_or(path));
        }
        match remove_tree(path) {
            Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            done => {
                return done
                    .map_err(|e| Error::system(format!("remove the control group {}", path.display()), e));
            }
        }
    }
}

/// Moves the processes of a group, and of those below it, to another.
fn release_each(path: &Path, to: &Path) {
    let processes = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    for process in processes.lines() {
        // One that ends meanwhile is out of it, too. Nothing is to be truncated: that would take another right.
        let list = OpenOptions::new().write(true).open(to.join("cgroup.procs"));
        let _ = list.and_then(|mut list| list.write_all(process.as_bytes()));
    }
    for below in folders_in(path) {
        release_each(&below, to);
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
