//! Ports that stay loaded when the command that loaded them has ended, and the list of what the kernel has.
//!
//! The kernel keeps a registration as long as something holds its BPF link. Here that is a name in the BPF file system,
//! `/sys/fs/bpf/truckee/NAME`: a registration is ours if its link is there, and only such a one is ever removed. Not
//! for: the controls of a run, which end with it ([`super::Loaded`]).

use super::load::{Loaded, OPS};
use super::port::Port;
use super::published::{Installed, Owner, PORTS, Published, TOLD_BY_RUNS};
use crate::Error;
use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter};
use libbpf_rs::{MapCore, MapHandle, MapType};
use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};
use nix::unistd::Uid;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use truckee_host::bpf::refused;
use truckee_host::clean;
use truckee_host::rights::{Raised, in_folders};

const BPFFS: &str = "/sys/fs/bpf";
/// A folder that is always there.
const LOCKED: &str = "/sys/fs";
const FOLDER: &str = "/sys/fs/bpf/truckee";
/// What a kernel puts in by itself.
const PRELOADED: [&str; 2] = ["maps.debug", "progs.debug"];
/// What mounts call it where it was mounted here.
const OURS: &str = "truckee";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// Those of them without restrictions.
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
/// How long the kernel may take to unregister what nothing holds any more.
const PATIENCE: Duration = Duration::from_secs(2);

/// The names of all congestion controls that the running kernel has, in its order.
pub fn available() -> Result<Vec<String>, Error> {
    names(AVAILABLE)
}

/// Those of them that sockets of any namespace and any user may have.
pub fn allowed() -> Result<Vec<String>, Error> {
    names(ALLOWED)
}

fn names(path: &str) -> Result<Vec<String>, Error> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::system(format!("read {path}"), e))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// All of them, and whose they are.
pub fn list() -> Result<Vec<Installed>, Error> {
    let _rights = Raised::folders();
    let runs = registered_by_runs();
    let owner = |name: &str| match () {
        // Who is not root cannot see the pins, but nobody else uses these names.
        () if pin(name).exists() || PORTS.iter().any(|p| p.name == name) => Owner::Installed,
        // A run's names begin with tk and its number; other BPF controls may be anyone's.
        () if runs > 0 && name.starts_with("tk") => Owner::Run,
        () => Owner::Kernel,
    };
    let with_owner = |name: String| Installed { owner: owner(&name), name };
    Ok(available()?.into_iter().map(with_owner).collect())
}

/// How many registrations of our program there are.
fn registered_by_runs() -> usize {
    let ours: BTreeSet<u32> =
        MapInfoIter::default().filter(|map| map.name == OPS).map(|map| map.id).collect();
    LinkInfoIter::default()
        .filter(|link| matches!(&link.info, LinkTypeInfo::StructOps(ops) if ours.contains(&ops.map_id)))
        .count()
}

fn pin(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// Registers `port` as `name` for every program, until [`unload`] or the next boot.
pub fn load_for_all(port: &Port, name: &str) -> Result<(), Error> {
    if port.wants_truth() {
        let place = format!("congestion control \"{name}\"");
        return Err(Error::Refused { place, why: TOLD_BY_RUNS.to_owned() });
    }
    let _rights = Raised::live();
    let load = || {
        in_folders(make_folder)?; // who may not is told before anything is loaded
        let loaded = Loaded::load(port, name, false)?;
        let _alone = alone();
        // The handle is closed here; the name in the file system holds the registration.
        in_folders(|| loaded.leave(&pin(name), make_folder))
    };
    load().inspect_err(|_| {
        let _alone = alone();
        in_folders(take_back);
    })
}

/// Registers a published port under its name for every program.
pub fn load_published(published: &Published) -> Result<(), Error> {
    load_for_all(&published.port()?, published.name)
}

/// The error of a file operation, which for who is not root has one reason.
fn failed(doing: String, error: impl Into<std::io::Error>) -> Error {
    let error = error.into();
    if error.kind() == std::io::ErrorKind::PermissionDenied && !Uid::effective().is_root() {
        return Error::Missing {
            what: format!("only root may {doing}"),
            mend: "run it with sudo".to_owned(),
        };
    }
    Error::system(doing, error)
}

fn make_folder() -> Result<(), Error> {
    let bpffs = |path: &str| statfs(path).is_ok_and(|fs| fs.filesystem_type() == BPF_FS_MAGIC);
    loop {
        if !bpffs(BPFFS) {
            mount(Some(OURS), BPFFS, Some("bpf"), MsFlags::empty(), None::<&str>)
                .map_err(|e| failed(format!("mount the BPF file system at {BPFFS}"), e))?;
        }
        match std::fs::create_dir(FOLDER) {
            // Another's is as good as long as it is there, which who uses it sees.
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
            // Another has taken the file system back in between.
            Err(_) if !bpffs(BPFFS) => {}
            made => return made.map_err(|e| failed(format!("make {FOLDER}"), e)),
        }
    }
}

/// Keeps other commands from making and taking back the folder meanwhile. Anyone may hold this lock: who holds it for long is not
/// waited for.
fn alone() -> Option<Flock<File>> {
    let begun = Instant::now();
    let mut file = File::open(LOCKED).ok()?;
    while begun.elapsed() < PATIENCE {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Some(lock),
            Err((unlocked, _)) => file = unlocked,
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// Takes back what [`make_folder`] has made and nobody uses any more: others may have put something there.
fn take_back() {
    if std::fs::remove_dir(FOLDER).is_err() && Path::new(FOLDER).exists() {
        return;
    }
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let names = clean::names_in(Path::new(BPFFS));
    let empty = names.iter().all(|name| PRELOADED.contains(&name.as_str()));
    if empty && is_ours(&mounts) {
        // One that somebody is in stays.
        let _ = umount2(BPFFS, MntFlags::empty());
    }
}

/// Whether the BPF file system was mounted here, by the name that mounts have: the last one at a place is the one that is
/// seen.
fn is_ours(mounts: &str) -> bool {
    let at_place = |line: &&str| line.split(' ').nth(1) == Some(BPFFS);
    let last = mounts.lines().rfind(at_place);
    last.is_some_and(|line| line.split(' ').take(3).eq([OURS, BPFFS, "bpf"]))
}

/// Removes a control that [`load_for_all`] has registered. Connections that use it keep it until they end.
pub fn unload(name: &str) -> Result<(), Error> {
    let place = || format!("congestion control \"{name}\"");
    let path = pin(name);
    let _rights = Raised::folders();
    if name.contains('/') || !path.exists() {
        let why = if available()?.iter().any(|n| n == name) {
            "it was not loaded by truckee cc load, and is left alone"
        } else {
            "the kernel has none of that name (truckee cc list shows them)"
        };
        return Err(Error::Refused { place: place(), why: why.to_owned() });
    }
    if let Ok(plain) = MapHandle::from_pinned_path(&path)
        && plain.map_type() == MapType::StructOps
        && plain.name() == OPS
    {
        // A kernel without links for this: the registration itself has to be ended.
        plain.delete(&0u32.to_ne_bytes()).map_err(|e| refused(format!("unregister \"{name}\""), &e))?;
    }
    std::fs::remove_file(&path).map_err(|e| Error::system(format!("remove {}", path.display()), e))?;
    let begun = Instant::now();
    while available()?.iter().any(|n| n == name) {
        if begun.elapsed() > PATIENCE {
            return Err(Error::Broken(format!(
                "{} is still registered: another program holds its link",
                place()
            )));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _alone = alone();
    take_back();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_system_that_was_mounted_here_is_taken_back() {
        let own = "proc /proc proc rw 0 0\ntruckee /sys/fs/bpf bpf rw,relatime 0 0\n";
        assert!(is_ours(own));
        for other in
            ["", "bpf /sys/fs/bpf bpf rw 0 0", "truckee /mnt bpf rw 0 0", "truckee /sys/fs/bpf tmpfs rw 0 0"]
        {
            assert!(!is_ours(other), "{other}");
        }
        assert!(!is_ours(&format!("{own}bpf /sys/fs/bpf bpf rw 0 0")), "another one lies over it");
    }
}

#[cfg(test)]
mod live;
