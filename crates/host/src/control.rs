//! The socket of one that runs, `/run/truckee/ID.ENDING`: who typed the command, and root, may ask it and change it. A line
//! in, `ok` or `no` and an answer out. Lines are short, and nobody is waited for longer than a moment. Not for: what is
//! asked, and what the answers are.

use crate::Error;
use crate::clean::names_in;
use crate::identity::{self, FOLDER, is_id};
use crate::rights::in_folders;
use crate::session::Session;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::{getgid, getuid};
use std::fs::{self, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest question, bytes, and longest answer.
const LONGEST: usize = 1100;
const LONGEST_ANSWER: u64 = 1 << 20;
/// How long one who asks may take for the question, and one who is asked for the answer.
const PATIENCE: Duration = Duration::from_millis(300);
const PATIENCE_OF_CLIENT: Duration = Duration::from_secs(5);

/// What can be asked: the ending of its socket's name, and the words for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Behind the digits and a dot: `ctl`.
    pub ending: &'static str,
    /// What one does: `shapes ACKs`.
    pub does: &'static str,
    /// The command that lists them: `truckee ack`.
    pub list: &'static str,
}

impl Kind {
    fn file(&self, id: &str) -> std::path::PathBuf {
        identity::path(&format!("{id}.{}", self.ending))
    }

    fn connect(&self, id: &str) -> std::io::Result<UnixStream> {
        UnixStream::connect(self.file(id))
    }
}

/// Who typed the command, by sudo's word where we are root through it: numbers of the user and, if it says so, of the
/// group.
///
/// # Errors
/// What it says is no number.
pub fn by_sudo() -> Result<Option<(u32, Option<u32>)>, Error> {
    // Only root may be told by its environment who it is.
    let sudo = |key: &str| getuid().is_root().then(|| std::env::var(key).ok()).flatten();
    let number = |key: &str, text: String| {
        text.parse().map_err(|_| Error::Refused {
            place: format!("{key}={text}"),
            why: "expected a user's number".into(),
        })
    };
    let Some(uid) = sudo("SUDO_UID") else { return Ok(None) };
    let gid = sudo("SUDO_GID").map(|text| number("SUDO_GID", text)).transpose()?;
    Ok(Some((number("SUDO_UID", uid)?, gid)))
}

/// Who typed the command: by sudo's word, or else the real user; numbers of the user and the group.
///
/// # Errors
/// As above.
pub fn invoking() -> Result<(u32, u32), Error> {
    let real = (getuid().as_raw(), getgid().as_raw());
    Ok(by_sudo()?.map_or(real, |(uid, gid)| (uid, gid.unwrap_or(uid))))
}

/// The side of the one who is asked.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    /// Number of the user who may ask.
    owner: u32,
}

impl Control {
    /// Opens it for a user and its group; the session's end removes it.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn open(session: &Session, kind: &Kind, (owner, group): (u32, u32)) -> Result<Self, Error> {
        let path = kind.file(session.id());
        let doing = |e| Error::system(format!("listen at {}", path.display()), e);
        let listener = in_folders(|| UnixListener::bind(&path)).map_err(doing)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(doing)?;
        chown(&path, Some(owner), Some(group)).map_err(doing)?;
        listener.set_nonblocking(true).map_err(doing)?;
        Ok(Self { listener, owner })
    }

    /// Readable when somebody has come.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Answers one who has come, if one has; `Err` of an answer is a refusal.
    pub fn serve(&self, answer: impl FnOnce(&str) -> Result<String, String>) {
        let Ok((mut stream, _)) = self.listener.accept() else { return };
        let mut line = Vec::new();
        let text = match self.hear(&mut stream, &mut line).and_then(answer) {
            Ok(text) => format!("ok\n{text}"),
            Err(why) => format!("no\n{why}"),
        };
        // Who does not wait for the answer does not want it.
        let _ = stream.set_write_timeout(Some(PATIENCE));
        let _ = stream.write_all(text.as_bytes());
    }

    /// The question, up to the end of its line.
    fn hear<'l>(&self, stream: &mut UnixStream, line: &'l mut Vec<u8>) -> Result<&'l str, String> {
        let peer = getsockopt(stream, PeerCredentials).map_err(|e| e.to_string())?;
        if peer.uid() != 0 && peer.uid() != self.owner {
            return Err("it is another user's".to_owned());
        }
        let until = Instant::now() + PATIENCE;
        let mut part = [0; 256];
        while !line.contains(&b'\n') {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || line.len() > LONGEST {
                return Err("the question is too long, or took too long".to_owned());
            }
            let got = stream.set_nonblocking(false).and_then(|()| {
                stream.set_read_timeout(Some(left))?;
                stream.read(&mut part)
            });
            match got {
                Ok(0) => return Err("the question has no end".to_owned()),
                Ok(n) => line.extend_from_slice(&part[..n]),
                // The time may be over: that is seen above.
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        let end = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
        std::str::from_utf8(&line[..end]).map(str::trim).map_err(|_| "the question is not UTF-8".to_owned())
    }
}

/// The identities of those that run. One whose process is dead does not count.
pub fn running(kind: &Kind) -> Vec<String> {
    let ids = names_in(Path::new(FOLDER)).into_iter();
    let own = |name: String| {
        let id = name.strip_suffix(kind.ending)?.strip_suffix('.').filter(|id| is_id(id))?;
        Some(id.to_owned())
    };
    let gone = |id: &String| matches!(kind.connect(id), Err(e) if e.kind() == ErrorKind::ConnectionRefused);
    ids.filter_map(own).filter(|id| !gone(id)).collect()
}

/// Asks one that runs, by its identity; what it answered.
///
/// # Errors
/// Nothing of that identity runs, or it is another user's; it refused, or ended before it answered.
pub fn ask(id: &str, kind: &Kind, line: &str) -> Result<String, Error> {
    let place = || format!("run \"{id}\"");
    let refused = |why: String| Error::Refused { place: place(), why };
    let Kind { does, list, .. } = kind;
    if !is_id(id) {
        return Err(refused(format!("expected the four hex digits of one that runs ({list} lists them)")));
    }
    let mut stream = kind.connect(id).map_err(|e| match e.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
            refused(format!("nothing of this identity {does} ({list} lists what does)"))
        }
        ErrorKind::PermissionDenied => refused("it is another user's: sudo truckee …".to_owned()),
        _ => Error::system(format!("ask {}", place()), e),
    })?;
    let doing = |e| Error::system(format!("ask {}", place()), e);
    let mut answer = String::new();
    stream.set_read_timeout(Some(PATIENCE_OF_CLIENT)).map_err(doing)?;
    stream.set_write_timeout(Some(PATIENCE_OF_CLIENT)).map_err(doing)?;
    let line = format!("{}\n", line.replace('\n', " "));
    // One who refuses may do so before it has heard everything.
    let _ = stream.write_all(line.as_bytes()).and_then(|()| stream.shutdown(Shutdown::Write));
    stream.take(LONGEST_ANSWER).read_to_string(&mut answer).map_err(doing)?;
    match answer.split_once('\n') {
        Some(("ok", text)) => Ok(text.to_owned()),
        Some(("no", why)) => Err(Error::Refused { place: place(), why: why.to_owned() }),
        _ => Err(Error::Broken(format!("{}: it ended before it answered", place()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { ending: "test", does: "is asked", list: "truckee test" };

    #[test]
    fn who_is_not_there_is_not_asked() {
        for id in ["", "zz", "../1", "12345"] {
            assert!(matches!(ask(id, &KIND, "show"), Err(Error::Refused { .. })), "{id}");
        }
    }

    mod live {
        use super::*;
        use crate::doctor::Capability;
        use crate::testing::able;

        /// What one hears who says this, and what was asked by it.
        fn heard(says: &[u8], owner: u32) -> (String, Option<String>) {
            let session = Session::begin().unwrap();
            let control = Control::open(&session, &KIND, (owner, owner)).unwrap();
            let mut stream = KIND.connect(session.id()).unwrap();
            stream.write_all(says).unwrap();
            let mut asked = None;
            control.serve(|line| {
                asked = Some(line.to_owned());
                if line == "show" { Ok("answer".into()) } else { Err("expected show".into()) }
            });
            drop(control);
            let mut answer = String::new();
            // It may have hung up on what it did not want to hear.
            let _ = stream.read_to_string(&mut answer);
            (answer, asked)
        }

        #[test]
        fn a_question_is_a_short_line() {
            if !able(&[Capability::Namespaces]) {
                return;
            }
            let me = getuid().as_raw();
            assert_eq!(heard(b"show\nack\n", me), ("ok\nanswer".into(), Some("show".into())));
            assert_eq!(heard(b"ask me\n", me), ("no\nexpected show".into(), Some("ask me".into())));
            let long = [b"ack ".as_slice(), &[b'x'; 3000]].concat();
            for (says, why) in
                [(b"show".as_slice(), "took too long"), (b"ack \xff\n", "not UTF-8"), (&long, "too long")]
            {
                let (answer, asked) = heard(says, me);
                assert!(asked.is_none(), "{says:?}: {asked:?}");
                assert!(
                    answer.starts_with("no\n") && answer.contains(why) || says.len() > 1000,
                    "{says:?}: {answer}"
                );
            }
        }

        #[test]
        fn only_its_owner_and_root_are_answered() {
            if !able(&[Capability::Namespaces]) {
                return;
            }
            let session = Session::begin().unwrap();
            let control = Control::open(&session, &KIND, (65534, 65534)).unwrap();
            let there = fs::metadata(KIND.file(session.id())).unwrap();
            assert_eq!(there.permissions().mode() & 0o777, 0o600);
            assert!(running(&KIND).contains(&session.id().to_owned()));
            // Who got in as 65534 where 65533 is the owner: the credentials are the kernel's word.
            let control = Control { owner: 65533, ..control };
            let path = KIND.file(session.id());
            let asking = std::thread::spawn(move || {
                // SAFETY: plain numbers. The bare system call changes this thread alone, which ends with the test.
                assert_eq!(unsafe { nix::libc::syscall(nix::libc::SYS_setresuid, -1, 65534, -1) }, 0);
                let mut stream = UnixStream::connect(path).unwrap();
                stream.write_all(b"show\n").unwrap();
                let mut answer = String::new();
                let _ = stream.read_to_string(&mut answer);
                answer
            });
            while !asking.is_finished() {
                control.serve(|_| Ok("answer".into()));
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(asking.join().unwrap(), "no\nit is another user's");
        }
    }
}
