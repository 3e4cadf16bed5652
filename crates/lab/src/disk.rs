//! Files and folders as they are written: whole or not at all, and never through a link that another user has laid.
//!
//! A file is written under a name that nobody can foresee, made anew beside the one it is to have, synced, renamed, and
//! its folder synced: after a kill or a power cut there is the old file or the new one, and two who write the same file
//! do not get into each other's way. Since renaming replaces what has the name, a link there is replaced, and what it
//! leads to is left alone. A link is followed only if it belongs to whom we work for (through sudo, who typed the
//! command) or to root; only devices and pipes of theirs are written into (`/dev/stdout`), and only their links entered
//! on the way to a folder that is made. In a folder of another user all else could have been laid there for us.
//!
//! Not for: what is in the files.

use crate::Error;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What the names of unfinished files begin and end with; between them is what nobody can foresee.
const UNFINISHED: (&str, &str) = (".truckee-", ".tmp");
/// Links of links are followed so far, as far as the system itself follows them.
const MOST_LINKS: usize = 40;

/// Whether a file of this name is one of ours that has not got to its own name.
pub fn is_unfinished(name: &str) -> bool {
    let middle = name.strip_prefix(UNFINISHED.0).and_then(|rest| rest.strip_suffix(UNFINISHED.1));
    middle.is_some_and(|middle| !middle.is_empty() && middle.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// Writes a file.
///
/// # Errors
/// It cannot be written; what was there is still there then.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut begun = Begun::new(path)?;
    begun.write_all(bytes).map_err(|e| Error::write(path, e))?;
    begun.finish()
}

/// A file that is being written. It is there when it is finished; dropped before, it never was.
#[derive(Debug)]
pub struct Begun {
    /// As it was asked for.
    path: PathBuf,
    to: To,
}

#[derive(Debug)]
enum To {
    /// A file under another name, and what it will be called.
    File(NamedTempFile, PathBuf),
    /// A device or a pipe.
    Straight(File),
}

impl Begun {
    /// Begins to write a file.
    ///
    /// # Errors
    /// There can be none of that name.
    pub fn new(path: &Path) -> Result<Self, Error> {
        let to = open(path.to_owned(), MOST_LINKS).map_err(|e| Error::write(path, e))?;
        Ok(Self { path: path.to_owned(), to })
    }

    /// The same for a file that nobody but us has named: whatever is there is replaced, any link, too.
    ///
    /// # Errors
    /// There can be none of that name.
    pub fn over(path: &Path) -> Result<Self, Error> {
        let to = anew(path.to_owned()).map_err(|e| Error::write(path, e))?;
        Ok(Self { path: path.to_owned(), to })
    }

    /// Gives it its name. When this returns it is on disk for good.
    ///
    /// # Errors
    /// It cannot be; what was there is still there then.
    pub fn finish(self) -> Result<(), Error> {
        let Self { path, to } = self;
        let finish = || match to {
            To::Straight(mut file) => file.flush(),
            To::File(file, name) => {
                file.as_file().sync_all()?;
                file.persist(&name).map_err(|e| e.error)?;
                sync(above(&name))
            }
        };
        finish().map_err(|e| Error::write(&path, e))
    }
}

impl Write for Begun {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::File(file, _) => file.write(bytes),
            To::Straight(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File(file, _) => file.flush(),
            To::Straight(file) => file.flush(),
        }
    }
}

/// Finds out where the bytes of a file of that name go.
fn open(path: PathBuf, links: usize) -> io::Result<To> {
    let there = match fs::symlink_metadata(&path) {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => return anew(path),
        Err(error) => return Err(error),
    };
    if there.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if there.is_file() || !is_trusted(&there) {
        return anew(path);
    }
    if !there.is_symlink() {
        return OpenOptions::new().write(true).open(&path).map(To::Straight);
    }
    // What standard output is, say, has no name that it could be opened by but that of the link itself.
    let is_special = |m: Metadata| !m.is_file() && !m.is_dir();
    if fs::metadata(&path).is_ok_and(is_special) {
        return OpenOptions::new().write(true).open(&path).map(To::Straight);
    }
    if links == 0 {
        return Err(io::Error::other("too many links lead on to links"));
    }
    let next = above(&path).join(fs::read_link(&path)?);
    open(next, links - 1)
}

/// A file under a name of its own, with the rights that a new file has.
fn anew(name: PathBuf) -> io::Result<To> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED.0).suffix(UNFINISHED.1).rand_bytes(12);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    Ok(To::File(builder.tempfile_in(above(&name))?, name))
}

/// The folder that a file is in.
fn above(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A rename is durable only once the folder is; where folders cannot be opened (Windows) the system takes care of that.
fn sync(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(folder) if cfg!(unix) => folder.sync_all(),
        _ => Ok(()),
    }
}

/// Whether what is there is of whom we work for, or root's.
#[cfg(unix)]
fn is_trusted(there: &Metadata) -> bool {
    let (owner, ours) = (std::os::unix::fs::MetadataExt::uid(there), rustix::process::geteuid());
    owner == 0 || owner == ours.as_raw() || (ours.is_root() && caller() == Some(owner))
}

/// Who typed the command, where root works for another by sudo's word: only root may be told by its environment who it is.
#[cfg(unix)]
fn caller() -> Option<u32> {
    std::env::var("SUDO_UID").ok()?.parse().ok()
}

#[cfg(not(unix))]
fn is_trusted(_: &Metadata) -> bool {
    true
}

/// Makes a folder, and those above it, if need be.
///
/// # Errors
/// It cannot be made; it is a link that another user has laid, or one on the way to it is.
pub fn folder(path: &Path) -> Result<(), Error> {
    let laid = |place: &&Path| {
        fs::symlink_metadata(place).is_ok_and(|there| there.is_symlink() && !is_trusted(&there))
    };
    if let Some(link) = path.ancestors().find(laid) {
        let why = "it is a link that another user has laid; give the folder's own name";
        return Err(Error::write(link, io::Error::new(ErrorKind::PermissionDenied, why)));
    }
    fs::create_dir_all(path).map_err(|e| Error::write(path, e))
}

/// Locks a file for this process, making it if need be; `dir` is what it stands for. The system lets go of it when the file
/// is closed, however the process ends.
///
/// # Errors
/// Another process has it; it cannot be made, or is a link.
pub fn lock(dir: &Path, name: &str) -> Result<File, Error> {
    let path = dir.join(name);
    let file = lock_file(&path)?;
    if try_lock(&path, &file)? { Ok(file) } else { Err(Error::Locked { dir: dir.to_owned() }) }
}

/// A file to lock, made if need be.
///
/// # Errors
/// It cannot be made, or is a link.
pub(crate) fn lock_file(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    options.open(path).map_err(|e| Error::write(path, e))
}

/// Locks a file for this process alone; whether it could be, or another process has it.
///
/// # Errors
/// The system has no locks there.
pub(crate) fn try_lock(path: &Path, file: &File) -> Result<bool, Error> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(Error::write(path, e)),
    }
}

/// Removes a file, if it is there.
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::write(path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
