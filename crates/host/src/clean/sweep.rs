//! The runs of this machine, and what carries the digits of one.

use super::found::{Item, Kind, Run, Swept};
use super::names::names_in;
use super::{cgroup, control, device};
use crate::identity::{self, FOLDER, id_of_control, id_of_namespace, is_id};
use crate::rights::{Raised, in_folders};
use crate::{Error, netns};
use nix::fcntl::Flock;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where BPF objects may be pinned.
pub const PINS: &str = "/sys/fs/bpf";

/// Sweeps after the dead, and lists what there is of those alive.
pub(super) fn runs(dry: bool) -> Result<Vec<Run>, Error> {
    let mut ids: Vec<String> = names_in(Path::new(FOLDER)).into_iter().filter(|n| is_id(n)).collect();
    ids.sort();
    ids.into_iter().filter_map(|id| one(id, dry).transpose()).collect()
}

/// `None`: it ended while we looked.
pub(super) fn one(id: String, dry: bool) -> Result<Option<Run>, Error> {
    let path = identity::path(&id);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::system(format!("read {}", path.display()), error)),
    };
    let command = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
    let lock =
        identity::lock(file, &id).or_else(|| has_ended(&command).then(|| inherit(&path, &id)).flatten());
    let Some(lock) = lock else {
        let gone = !path.exists();
        let swept = sweep(&id, true)?;
        return Ok((!gone).then_some(Run { id, alive: true, command, swept }));
    };
    let mut swept = sweep(&id, dry)?;
    let item = Item { kind: Kind::File, name: path.display().to_string() };
    if dry {
        swept.found.push(item);
    } else if swept.failed.is_empty() {
        // The file goes last: what is left could not be found without it.
        match in_folders(|| fs::remove_file(&path)) {
            Ok(()) => swept.found.push(item),
            Err(error) => swept.failed.push((item, error.to_string())),
        }
    }
    drop(lock);
    Ok(Some(Run { id, alive: false, command, swept }))
}

/// How long what a dead run had only just forked may hold its lock: until it has become a program, or has ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the process that a run's file names is no more. One that nobody has waited for yet is none.
fn has_ended(command: &str) -> bool {
    let Some(process) = command.split(' ').next().filter(|word| word.parse::<u32>().is_ok()) else {
        return false;
    };
    match fs::read_to_string(Path::new("/proc").join(process).join("stat")) {
        Ok(stat) => stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z')),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// The lock of a run whose process has ended, from a child of it that has not become a program yet.
fn inherit(path: &Path, id: &str) -> Option<Flock<File>> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
        if let Some(lock) = identity::lock(File::open(path).ok()?, id) {
            return Some(lock);
        }
    }
    None
}

/// Removes, or with `dry` lists, what carries these digits, but for the run's file. The caller knows that the run is
/// over, or is the run.
pub fn sweep(id: &str, dry: bool) -> Result<Swept, Error> {
    let _rights = Raised::folders();
    let mut swept = Swept::default();
    let mut step = |kind: Kind, names: Vec<String>, remove: &dyn Fn(&str) -> Result<(), Error>| {
        for name in names {
            let item = Item { kind, name };
            match if dry { Ok(()) } else { remove(&item.name) } {
                Ok(()) => swept.found.push(item),
                Err(error) => swept.failed.push((item, error.to_string())),
            }
        }
    };
    // Processes first: they hold the rest.
    step(Kind::Cgroup, cgroup::of(id), &cgroup::remove);
    step(Kind::CongestionControl, control::of(id), &control::remove);
    step(Kind::Interface, device::of(id), &device::remove);
    step(Kind::Namespace, namespaces(id), &netns::remove);
    step(Kind::Pin, pins(id), &remove_path);
    step(Kind::File, files(id), &remove_path);
    Ok(swept)
}

fn namespaces(id: &str) -> Vec<String> {
    let names = names_in(Path::new(netns::FOLDER));
    names.into_iter().filter(|n| id_of_namespace(n) == Some(id)).collect()
}

fn pins(id: &str) -> Vec<String> {
    let ours = |name: &String| id_of_namespace(name) == Some(id) || id_of_control(name) == Some(id);
    let path = |name: String| Path::new(PINS).join(name).display().to_string();
    names_in(Path::new(PINS)).into_iter().filter(ours).map(path).collect()
}

/// Files of a run beside the one that lists it: `ID.SOMETHING`.
fn files(id: &str) -> Vec<String> {
    let ours = |name: &String| name.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'));
    let path = |name: String| Path::new(FOLDER).join(name).display().to_string();
    names_in(Path::new(FOLDER)).into_iter().filter(ours).map(path).collect()
}

fn remove_path(path: &str) -> Result<(), Error> {
    let path = PathBuf::from(path);
    let done = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    done.map_err(|e| Error::system(format!("remove {}", path.display()), e))
}
