//! Network namespaces: made as `ip netns` makes them, so that a user can look into one with `ip netns exec`.
//!
//! A namespace is a file in [`FOLDER`] with the kernel's handle mounted on it. Threads go in, not processes:
//! [`Netns::enter`] runs a closure on a thread of its own inside; but a program that is run goes in by itself
//! ([`Netns::takes`]). [`interface`] sets up what is in it.
//!
//! Not for: sysctls (see [`crate::stack`]); TUN devices.

pub mod interface;

pub use interface::{Address, Interface, Metrics, Route, configure, configure_here};

use crate::Error;
use crate::rights::{Raised, in_folders};
use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where namespaces have their names.
pub const FOLDER: &str = "/run/netns";
const NOTHING: Option<&str> = None;

/// A network namespace that has a name. Dropped, one that was created here is removed, one that was opened is not.
#[derive(Debug)]
pub struct Netns {
    name: String,
    handle: File,
    inode: u64,
    created: bool,
}

impl Netns {
    /// Makes a namespace. A name that exists already is refused, and what it names is left alone. Needs
    /// `CAP_SYS_ADMIN`.
    pub fn create(name: &str) -> Result<Self, Error> {
        let path = path_of(name)?;
        prepare_folder()?;
        let new = || OpenOptions::new().write(true).create_new(true).mode(0o444).open(&path);
        let made = in_folders(new);
        match made {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let why = "a network namespace of that name exists already, and is left alone";
                return Err(Error::Refused { place: name.to_owned(), why: why.into() });
            }
            Err(error) => return Err(Error::system(format!("make {}", path.display()), error)),
        }
        let opened = on_a_thread(|| new_namespace_at(&path)).and_then(|()| Self::open(name));
        match opened {
            Ok(mut ns) => {
                ns.created = true;
                Ok(ns)
            }
            Err(error) => {
                let _ = remove(name);
                Err(error)
            }
        }
    }

    /// Opens a namespace that has this name.
    pub fn open(name: &str) -> Result<Self, Error> {
        let path = path_of(name)?;
        let doing = || format!("open the network namespace {name}");
        let handle = File::open(&path).map_err(|e| match e.kind() {
            ErrorKind::NotFound => Error::Refused {
                place: format!("namespace \"{name}\""),
                why: format!(
                    "there is none of this name (ip netns list shows those there are, ip netns add {name} makes it)"
                ),
            },
            ErrorKind::PermissionDenied => Error::without_right(&doing()),
            _ => Error::system(doing(), e),
        })?;
        let inode = handle.metadata().map_err(|e| Error::system(doing(), e))?.ino();
        Ok(Self { name: name.to_owned(), handle, inode, created: false })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number the kernel knows it by: that of its file, as `ls -i` shows it.
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// This thread goes in, for good.
    pub fn join(&self) -> Result<(), Error> {
        let doing = || format!("enter the network namespace {}", self.name);
        setns(&self.handle, CloneFlags::CLONE_NEWNET).map_err(|e| match e {
            nix::Error::EPERM => Error::without_right(&doing()),
            e => Error::system(doing(), e),
        })
    }

    /// Runs `f` inside, on a thread of its own, and waits for it. Sockets and devices made there stay inside.
    pub fn enter<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<T, Error> {
        on_a_thread(|| {
            self.join()?;
            Ok(f())
        })
    }

    /// Has a program go inside when it is started, by whichever thread. One that [`Self::enter`] started would have a parent
    /// that ends at once.
    pub fn takes(&self, command: &mut Command) -> Result<(), Error> {
        let handle = self.handle.try_clone();
        let handle =
            handle.map_err(|e| Error::system(format!("enter the network namespace {}", self.name), e))?;
        let join = move || setns(&handle, CloneFlags::CLONE_NEWNET).map_err(io::Error::from);
        // SAFETY: between fork and exec it makes one system call, takes no memory and no lock.
        unsafe { command.pre_exec(join) };
        Ok(())
    }
}

impl Drop for Netns {
    fn drop(&mut self) {
        if self.created {
            let path = Path::new(FOLDER).join(&self.name);
            // Somebody may have deleted it, and made another of that name.
            if fs::metadata(&path).is_ok_and(|there| there.ino() == self.inode) {
                let _ = remove(&self.name);
            }
        }
    }
}

/// Takes a namespace's name away, as `ip netns delete` does. It vanishes, with its devices, when its last process,
/// thread, socket and open handle are gone.
pub fn remove(name: &str) -> Result<(), Error> {
    let path = path_of(name)?;
    let doing = || format!("remove the network namespace {name}");
    match umount2(&path, MntFlags::MNT_DETACH) {
        // A run killed between making the file and mounting on it leaves the bare file.
        Ok(()) | Err(nix::Error::EINVAL) => {}
        Err(nix::Error::ENOENT) => return Ok(()),
        Err(error) => return Err(Error::system(doing(), error)),
    }
    match in_folders(|| fs::remove_file(&path)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::system(doing(), error)),
        _ => Ok(()),
    }
}

fn path_of(name: &str) -> Result<PathBuf, Error> {
    if name.is_empty() || name.contains(['/', '\0']) || [".", ".."].contains(&name) || name.len() > 255 {
        let why = "no network namespace can have this name: it must do as the name of a file";
        return Err(Error::Refused { place: format!("{name:?}"), why: why.into() });
    }
    Ok(Path::new(FOLDER).join(name))
}

/// Makes the folder a shared mount, as `ip netns` does, so that a name removed here is removed in every mount namespace.
fn prepare_folder() -> Result<(), Error> {
    let doing = || format!("prepare {FOLDER} for network namespaces");
    in_folders(|| fs::create_dir_all(FOLDER)).map_err(|e| Error::system(doing(), e))?;
    let folder = File::open(FOLDER).map_err(|e| Error::system(doing(), e))?;
    // Of two that mount it on itself at once, one would mount it over the other; iproute2 takes this lock too.
    let _lock = Flock::lock(folder, FlockArg::LockExclusive).map_err(|(_, e)| Error::system(doing(), e))?;
    let share = || mount(NOTHING, FOLDER, NOTHING, MsFlags::MS_SHARED | MsFlags::MS_REC, NOTHING);
    match share() {
        // It is not a mount of its own yet.
        Err(nix::Error::EINVAL) => {
            mount(Some(FOLDER), FOLDER, NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING)
                .and_then(|()| share())
                .map_err(|e| Error::system(doing(), e))
        }
        other => other.map_err(|e| Error::system(doing(), e)),
    }
}

/// Moves this thread into a new namespace and gives that its name.
fn new_namespace_at(path: &Path) -> Result<(), Error> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|e| Error::system("make a network namespace", e))?;
    mount(Some("/proc/thread-self/ns/net"), path, NOTHING, MsFlags::MS_BIND, NOTHING)
        .map_err(|e| Error::system(format!("mount a network namespace on {}", path.display()), e))
}

/// Runs `f` on a thread of its own inside a new namespace that has no name, and waits for it. The namespace vanishes with
/// its last thread and socket, however the process ends.
///
/// # Errors
/// No right to make one (CAP_SYS_ADMIN).
pub fn nameless<T: Send>(f: impl FnOnce() -> T + Send) -> Result<T, Error> {
    on_a_thread(|| {
        let raised = Raised::live();
        unshare(CloneFlags::CLONE_NEWNET).map_err(|e| match e {
            nix::Error::EPERM => Error::without_right("make a network namespace"),
            e => Error::system("make a network namespace", e),
        })?;
        drop(raised);
        Ok(f())
    })
}

/// Runs `f` on a thread that ends with it: a namespace belongs to a thread, and none of ours is to be left in another.
fn on_a_thread<T: Send>(f: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .spawn_scoped(scope, f)
            .map_err(|e| Error::system("start a thread", e))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod live;
