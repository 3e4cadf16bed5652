//! Removing what a crashed run left behind, and nothing else.
//!
//! A run is dead if nobody holds the lock of its file (see [`crate::session`]). What carries its digits is then removed:
//! control groups with the processes in them, congestion controls, interfaces, namespaces, pinned BPF objects, and last
//! the file. Names without such a file are a user's own, whatever they look like.
//!
//! Not for: the ordinary end of a run, where each part removes what it made.

mod cgroup;
mod control;
mod device;

pub(crate) use cgroup::mount as cgroup_mount;
pub(crate) use control::registered_with;

use crate::session::{self, FOLDER, id_of_control, id_of_namespace, is_id};
use crate::{Error, netns};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where BPF objects may be pinned.
pub(crate) const PINS: &str = "/sys/fs/bpf";

/// A sort of thing that a run makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A control group with the processes in it.
    Cgroup,
    /// A congestion control in the kernel.
    CongestionControl,
    /// A network interface outside the run's namespaces.
    Interface,
    /// A network namespace with all that is in it.
    Namespace,
    /// A pinned BPF object.
    Pin,
    /// A file in [`FOLDER`].
    File,
}

impl Kind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Cgroup => "control group",
            Self::CongestionControl => "congestion control",
            Self::Interface => "interface",
            Self::Namespace => "network namespace",
            Self::Pin => "pinned BPF object",
            Self::File => "file",
        }
    }
}

/// Something a run has made.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its name or path.
    pub name: String,
}

/// What became of one run.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Run {
    /// Its four hex digits.
    pub id: String,
    /// Whether its process lives: then nothing of it is touched.
    pub alive: bool,
    /// Its process and command line, as it wrote them down.
    pub command: String,
    /// What of it was there.
    #[serde(flatten)]
    pub swept: Swept,
}

/// What was done about the things of a run.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Swept {
    /// Removed; or there, if nothing was to be removed.
    pub found: Vec<Item>,
    /// Could not be removed, and why.
    pub failed: Vec<(Item, String)>,
}

/// Removes what dead runs left behind, and lists what there is of those alive. With `dry`, nothing is removed. Runs are
/// in order of their digits.
pub fn clean(dry: bool) -> Result<Vec<Run>, Error> {
    let mut ids: Vec<String> = names_in(Path::new(FOLDER)).into_iter().filter(|n| is_id(n)).collect();
    ids.sort();
    ids.into_iter().filter_map(|id| one(id, dry).transpose()).collect()
}

/// `None`: it ended while we looked.
fn one(id: String, dry: bool) -> Result<Option<Run>, Error> {
    let path = session::path(&id);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::system(format!("read {}", path.display()), error)),
    };
    let command = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
    let Some(lock) = session::lock(file, &id) else {
        let gone = !path.exists();
        let swept = sweep(&id, true)?;
        return Ok((!gone).then_some(Run { id, alive: true, command, swept }));
    };
    let mut swept = sweep(&id, dry)?;
    // The file goes last, and only if nothing is left that it would be needed to find.
    let item = Item { kind: Kind::File, name: path.display().to_string() };
    match fs::remove_file(&path) {
        _ if dry => swept.found.push(item),
        _ if !swept.failed.is_empty() => {}
        Ok(()) => swept.found.push(item),
        Err(error) => swept.failed.push((item, error.to_string())),
    }
    drop(lock);
    Ok(Some(Run { id, alive: false, command, swept }))
}

/// Removes, or with `dry` lists, what carries these digits, but for the run's file. The caller knows that the run is
/// over, or is the run.
pub(crate) fn sweep(id: &str, dry: bool) -> Result<Swept, Error> {
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

/// Names of what is in a folder, in order; none if there is no such folder.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests;
