//! What a live run owns: its identity, and the names of everything it makes.
//!
//! A run is four hex digits and a file of that name in [`FOLDER`], locked (`flock`) for as long as the process lives: the
//! kernel lets go of the lock however the process ends. What carries the digits of a file without a lock is left over
//! from a crash, and [`crate::clean`] removes it; what carries digits without a file was never ours.
//!
//! Not for: making what is named here (see [`crate::netns`]).

use crate::identity::{FOLDER, id_of_control, id_of_namespace, lock, path};
use crate::rights::in_folders;
use crate::{Error, clean};
use nix::fcntl::Flock;
use nix::unistd::geteuid;
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, lchown};
use std::path::Path;

/// Longest name of a file, bytes.
const NAME_MAX: usize = 255;
/// So many taken identities in a row mean that something else is wrong.
const ATTEMPTS: usize = 1000;

/// The identity of a live run. Dropped, it removes whatever of the run is still there.
#[derive(Debug)]
pub struct Session {
    id: String,
    /// Locked from the beginning to the end.
    file: Option<Flock<File>>,
}

impl Session {
    /// Takes an identity that nothing on this machine carries. Needs to write to [`FOLDER`], which root may.
    pub fn begin() -> Result<Self, Error> {
        in_folders(|| prepare(Path::new(FOLDER))).map_err(|e| refused(FOLDER, e))?;
        let random = RandomState::new();
        for attempt in 0..ATTEMPTS {
            let id = format!("{:04x}", random.hash_one(attempt) as u16);
            if taken(&id) {
                continue;
            }
            if let Some(file) = enter(&id)? {
                return Ok(Self { id, file: Some(file) });
            }
        }
        Err(Error::Broken(format!(
            "{FOLDER}: {ATTEMPTS} identities in a row are taken; truckee clean frees some"
        )))
    }

    /// Its four hex digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of a node's network namespace: `truckee-ID-NODE`. What a file's name should not hold becomes `-`, with
    /// a number at the end that keeps such names apart.
    pub fn namespace(&self, node: &str) -> String {
        let prefix = format!("truckee-{}-", self.id);
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if !node.is_empty() && node.chars().all(plain) && prefix.len() + node.len() <= NAME_MAX {
            return prefix + node;
        }
        // No plain name holds a tilde.
        let number = format!("~{:016x}", fnv(node));
        let room = NAME_MAX - prefix.len() - number.len();
        let name: String = node.chars().map(|c| if plain(c) { c } else { '-' }).take(room).collect();
        prefix + &name + &number
    }

    /// The name of the k-th congestion control: `tkID_K`, at most 15 bytes (`TCP_CA_NAME_MAX`) for any k below 10⁷.
    pub fn control(&self, k: usize) -> String {
        format!("tk{}_{k}", self.id)
    }

    /// The name of a control group: `truckee-ID`.
    pub fn cgroup(&self) -> String {
        format!("truckee-{}", self.id)
    }

    /// The name of the control group of a program that is not the session's own, which [`crate::clean`] never kills.
    pub fn cgroup_of_a_program(&self) -> String {
        format!("truckee-{}-exec", self.id)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // What cannot be removed now keeps its file, by which `truckee clean` finds it later.
        if clean::sweep(&self.id, false).is_ok_and(|swept| swept.failed.is_empty()) {
            let _ = in_folders(|| fs::remove_file(path(&self.id)));
        }
        self.file.take();
    }
}

/// Makes the folder of runs. What is in another user's could be anything: root takes it over.
fn prepare(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let there = fs::symlink_metadata(folder)?;
    let own = geteuid();
    match there.uid() {
        _ if !there.is_dir() => Err(std::io::Error::other("it is no folder")),
        0 => Ok(()),
        owner if owner == own.as_raw() => Ok(()),
        _ if own.is_root() => {
            lchown(folder, Some(0), Some(0))?;
            fs::set_permissions(folder, Permissions::from_mode(0o755))
        }
        owner => Err(std::io::Error::other(format!("it is another user's, of number {owner}"))),
    }
}

/// Makes and locks the file of a run; `None` if somebody else has it.
fn enter(id: &str) -> Result<Option<Flock<File>>, Error> {
    let path = path(id);
    let new = || OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path);
    let file = match in_folders(new) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(refused(&path.to_string_lossy(), error)),
    };
    let Some(mut file) = lock(file, id) else { return Ok(None) };
    let command: Vec<String> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    // For people only: whose it is.
    let text = format!("{} {}\n", std::process::id(), command.join(" ").replace('\n', " "));
    file.write_all(text.as_bytes()).map_err(|e| Error::system(format!("write {}", path.display()), e))?;
    Ok(Some(file))
}

fn refused(path: &str, error: std::io::Error) -> Error {
    if error.kind() == ErrorKind::PermissionDenied {
        return Error::Missing {
            what: format!("what is made on this machine is listed in {path}, which this user may not write"),
            mend: "run it as root (sudo)".into(),
        };
    }
    Error::system(format!("make {path}"), error)
}

/// Whether anything carries these digits: a run, or what was never ours.
fn taken(id: &str) -> bool {
    let namespaces = clean::names_in(Path::new(crate::netns::FOLDER));
    let controls =
        fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let taken: HashSet<&str> = (namespaces.iter().filter_map(|n| id_of_namespace(n)))
        .chain(controls.split_whitespace().filter_map(id_of_control))
        .collect();
    taken.contains(id) || path(id).exists()
}

/// Fowler–Noll–Vo 1a: the same number for the same name on every machine.
fn fnv(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unbegun(id: &str) -> std::mem::ManuallyDrop<Session> {
        std::mem::ManuallyDrop::new(Session { id: id.into(), file: None })
    }

    #[test]
    fn names_carry_the_identity() {
        let session = unbegun("3fa2");
        assert_eq!(session.namespace("phone"), "truckee-3fa2-phone");
        assert_eq!(session.control(12), "tk3fa2_12");
        assert!(session.control(9_999_999).len() <= 15);
        assert_eq!(session.cgroup(), "truckee-3fa2");
    }

    #[test]
    fn nodes_that_no_file_could_be_named_after_stay_apart() {
        let session = unbegun("3fa2");
        let odd = ["a b", "a/b", "a-b", "", "..", "\u{e9}", &"x".repeat(300), &"x".repeat(301)]
            .map(|n| session.namespace(n));
        assert_eq!(odd.iter().collect::<HashSet<_>>().len(), odd.len(), "{odd:?}");
    }

    #[test]
    fn only_names_that_a_run_gives_carry_an_identity() {
        assert_eq!(id_of_namespace("truckee-3fa2-phone"), Some("3fa2"));
        assert_eq!(id_of_control("tk3fa2_0"), Some("3fa2"));
        for name in [
            "truckee-3fa2",
            "truckee-3fa2-",
            "truckee-3FA2-x",
            "truckee-phone-1",
            "truckee",
            "xtruckee-3fa2-x",
        ] {
            assert_eq!(id_of_namespace(name), None, "{name}");
        }
        for name in ["tk3fa2", "tk3fa2_", "tk3fa2_x", "tkubic_1", "cubic"] {
            assert_eq!(id_of_control(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_node_has_a_name_a_file_can_have(node in ".*") {
            let name = unbegun("0a1b").namespace(&node);
            prop_assert!(name.len() <= NAME_MAX && !name.contains(['/', '\0']));
            prop_assert_eq!(id_of_namespace(&name), Some("0a1b"));
        }
    }

    mod live {
        use super::*;
        use crate::doctor::Capability;
        use crate::identity::is_id;
        use crate::testing::able;

        #[test]
        fn a_session_holds_its_file_and_takes_it_along() {
            if !able(&[Capability::Namespaces]) {
                return;
            }
            let session = Session::begin().unwrap();
            let path = path(session.id());
            assert!(is_id(session.id()));
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.starts_with(&format!("{} ", std::process::id())), "{text}");
            assert!(lock(File::open(&path).unwrap(), session.id()).is_none(), "nobody else may lock it");
            drop(session);
            assert!(!path.exists());
        }

        #[test]
        fn root_takes_over_a_folder_of_runs_that_is_another_users_and_follows_no_link() {
            if !truckee_testing::root() {
                return;
            }
            let dir = tempfile::tempdir().unwrap();
            let folder = dir.path().join("truckee");
            fs::create_dir(&folder).unwrap();
            lchown(&folder, Some(65_534), Some(65_534)).unwrap();
            fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
            prepare(&folder).unwrap();
            let there = fs::metadata(&folder).unwrap();
            assert_eq!((there.uid(), there.mode() & 0o777), (0, 0o755));
            let link = dir.path().join("link");
            std::os::unix::fs::symlink(&folder, &link).unwrap();
            assert!(prepare(&link).is_err());
        }

        #[test]
        fn sessions_at_the_same_time_differ() {
            if !able(&[Capability::Namespaces]) {
                return;
            }
            let sessions: Vec<Session> = (0..20).map(|_| Session::begin().unwrap()).collect();
            let ids: HashSet<&str> = sessions.iter().map(Session::id).collect();
            assert_eq!(ids.len(), sessions.len());
        }
    }
}
