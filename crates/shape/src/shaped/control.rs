//! The socket of one who shapes, `/run/truckee/ID.ctl`: who typed the command, and root, may ask what it does and change
//! it. A line in (`show`, `ack POLICY`), `ok` or `no` and an answer out. Lines are short, and nobody is waited for longer
//! than a moment. Not for: what the answers are.

use super::asked::Ask;
use crate::Error;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use std::fs::{self, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};
use truckee_host::clean::names_in;
use truckee_host::identity::{self, FOLDER, is_id};
use truckee_host::rights::in_folders;
use truckee_host::session::Session;

/// What its file's name ends with.
const ENDING: &str = ".ctl";
/// Longest question, bytes, and longest answer.
const LONGEST: usize = 1100;
const LONGEST_ANSWER: u64 = 1 << 20;
/// How long one who asks may take for the question, and one who is asked for the answer.
const PATIENCE: Duration = Duration::from_millis(300);
const PATIENCE_OF_CLIENT: Duration = Duration::from_secs(5);

/// The side of the one who is asked.
pub(super) struct Control {
    listener: UnixListener,
    /// Number of the user who may ask.
    owner: u32,
}

impl Control {
    /// Opens it for a user and its group; the session's end removes it.
    pub(super) fn open(session: &Session, (owner, group): (u32, u32)) -> Result<Self, Error> {
        let path = identity::path(&format!("{}{ENDING}", session.id()));
        let doing = |e| Error::system(format!("listen at {}", path.display()), e);
        let listener = in_folders(|| UnixListener::bind(&path)).map_err(doing)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(doing)?;
        chown(&path, Some(owner), Some(group)).map_err(doing)?;
        listener.set_nonblocking(true).map_err(doing)?;
        Ok(Self { listener, owner })
    }

    /// Readable when somebody has come.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Answers one who has come; `Err` of an answer is a refusal.
    pub(super) fn serve(&self, answer: impl FnOnce(Ask<'_>) -> Result<String, String>) {
        let Ok((mut stream, _)) = self.listener.accept() else { return };
        let mut line = Vec::new();
        let said = match self.hear(&mut stream, &mut line) {
            Err(why) => Err(why),
            Ok(line) => match line.split_once(' ').unwrap_or((line, "")) {
                ("show", "") => answer(Ask::Show),
                ("ack", text) if !text.is_empty() => answer(Ask::Ack(text)),
                _ => Err("expected show, or ack and a policy".to_owned()),
            },
        };
        let text = match said {
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

/// See [`super::running`]. One whose process is dead does not count.
pub(super) fn running() -> Vec<String> {
    let ids = names_in(Path::new(FOLDER)).into_iter();
    let ids = ids.filter_map(|name| name.strip_suffix(ENDING).filter(|id| is_id(id)).map(str::to_owned));
    ids.filter(|id| !matches!(connect(id), Err(e) if e.kind() == ErrorKind::ConnectionRefused)).collect()
}

fn connect(id: &str) -> std::io::Result<UnixStream> {
    UnixStream::connect(identity::path(&format!("{id}{ENDING}")))
}

/// See [`super::ask`].
pub(super) fn ask(id: &str, ask: Ask<'_>) -> Result<String, Error> {
    let place = || format!("run \"{id}\"");
    let refused = |why: &str| Error::Refused { place: place(), why: why.to_owned() };
    if !is_id(id) {
        return Err(refused("expected the four hex digits of one that runs (truckee ack lists them)"));
    }
    let mut stream = connect(id).map_err(|e| match e.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
            refused("nothing of this identity shapes ACKs (truckee ack lists what does)")
        }
        ErrorKind::PermissionDenied => refused("it is another user's: sudo truckee …"),
        _ => Error::system(format!("ask {}", place()), e),
    })?;
    let doing = |e| Error::system(format!("ask {}", place()), e);
    let line = match ask {
        Ask::Show => "show\n".to_owned(),
        Ask::Ack(text) => format!("ack {}\n", text.replace('\n', " ")),
    };
    let mut answer = String::new();
    stream.set_read_timeout(Some(PATIENCE_OF_CLIENT)).map_err(doing)?;
    stream.set_write_timeout(Some(PATIENCE_OF_CLIENT)).map_err(doing)?;
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

    #[test]
    fn who_is_not_there_is_not_asked() {
        for id in ["", "zz", "../1", "12345"] {
            assert!(matches!(ask(id, Ask::Show), Err(Error::Refused { .. })), "{id}");
        }
    }

    mod live {
        use super::*;
        use nix::unistd::getuid;
        use truckee_host::doctor::Capability;
        use truckee_host::testing::able;

        /// What one hears who says this, and what was asked by it.
        fn heard(says: &[u8], owner: u32) -> (String, Option<String>) {
            let session = Session::begin().unwrap();
            let control = Control::open(&session, (owner, owner)).unwrap();
            let mut stream = connect(session.id()).unwrap();
            stream.write_all(says).unwrap();
            let mut asked = None;
            control.serve(|ask| {
                asked = Some(format!("{ask:?}"));
                Ok("answer".into())
            });
            drop(control);
            let mut answer = String::new();
            // It may have hung up on what it did not want to hear.
            let _ = stream.read_to_string(&mut answer);
            (answer, asked)
        }

        #[test]
        fn a_question_is_a_short_line_that_is_known() {
            if !able(&[Capability::Namespaces]) {
                return;
            }
            let me = getuid().as_raw();
            assert_eq!(heard(b"show\n", me), ("ok\nanswer".into(), Some("Show".into())));
            let (answer, asked) = heard(b"ack division:4:first=3\nshow\n", me);
            assert_eq!(
                (answer.as_str(), asked.as_deref()),
                ("ok\nanswer", Some("Ack(\"division:4:first=3\")"))
            );
            let long = [b"ack ".as_slice(), &[b'x'; 3000]].concat();
            for (says, why) in [
                (b"show".as_slice(), "took too long"),
                (b"\n", "expected show"),
                (b"ack\n", "expected show"),
                (b"show all\n", "expected show"),
                (b"ack \xff\n", "not UTF-8"),
                (&long, "too long"),
            ] {
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
            let control = Control::open(&session, (65534, 65534)).unwrap();
            let there = fs::metadata(identity::path(&format!("{}{ENDING}", session.id()))).unwrap();
            assert_eq!(there.permissions().mode() & 0o777, 0o600);
            assert!(running().contains(&session.id().to_owned()));
            // Who got in as 65534 where 65533 is the owner: the credentials are the kernel's word.
            let control = Control { owner: 65533, ..control };
            let path = identity::path(&format!("{}{ENDING}", session.id()));
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
