//! The program whose ACKs are shaped: started in its control group, as its user, without a shell; signals passed on to it;
//! how it ended. Not for: shaping.

use crate::Error;
use nix::sys::signal::SigSet;
use nix::unistd::{pipe2, read, write};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use truckee_host::program::not_run;
use truckee_host::rights::in_folders;
use truckee_host::user::User;

/// How a program is to be started.
pub(super) struct Start<'a> {
    /// The program and its arguments, at least one word.
    pub(super) command: &'a [OsString],
    pub(super) user: &'a User,
    /// Its control group.
    pub(super) group: &'a Path,
    /// The signals that it has blocked.
    pub(super) mask: SigSet,
}

/// What a program does before it is one, in words that follow "cannot".
const STEPS: [&str; 3] = ["join its control group", "become its user", "unblock its signals"];

/// Starts it, in the network namespace of this thread. It has our standard input, output and error, and nothing else of
/// ours.
pub(super) fn spawn(start: &Start<'_>) -> Result<Child, Error> {
    let Some((program, arguments)) = start.command.split_first() else {
        return Err(Error::Refused { place: "the command".into(), why: "expected a program".into() });
    };
    let name = program.to_string_lossy().into_owned();
    let procs = start.group.join("cgroup.procs");
    let group = in_folders(|| OpenOptions::new().write(true).open(&procs));
    let group = group.map_err(|e| Error::system(format!("write {}", procs.display()), e))?;
    let (said, say) = pipe2(nix::fcntl::OFlag::O_CLOEXEC | nix::fcntl::OFlag::O_NONBLOCK)
        .map_err(|e| Error::system("make a pipe", e))?;
    let mut command = Command::new(program);
    command.args(arguments);
    start.user.tell(&mut command);
    let (user, mask) = (start.user.clone(), start.mask);
    let prepare = move || prepare(&group, &user, &mask, &say);
    // SAFETY: between fork and exec it makes system calls only, takes no memory and no lock.
    unsafe { command.pre_exec(prepare) };
    command.spawn().map_err(|error| match failed_step(&said) {
        Some(step) => Error::system(format!("start {name}: {step}"), error),
        None => not_run(name, &error),
    })
}

/// Runs in the new process. What fails is said by a byte, since an error of exec looks the same.
fn prepare(group: &File, user: &User, mask: &SigSet, say: &OwnedFd) -> io::Result<()> {
    let step = |k: u8, done: io::Result<()>| {
        done.inspect_err(|_| {
            let _ = write(say, &[k]);
        })
    };
    // 0: the process that writes it.
    step(0, write(group, b"0").map(drop).map_err(io::Error::from))?;
    step(1, user.become_it())?;
    step(2, mask.thread_set_mask().map_err(io::Error::from))
}

fn failed_step(said: &OwnedFd) -> Option<&'static str> {
    let mut byte = [0];
    let said = read(said.as_fd(), &mut byte).ok().filter(|n| *n == 1)?;
    STEPS.get(usize::from(byte[said - 1])).copied()
}

/// A shell's number for how a program ended: its own, or 128 and the signal that ended it.
pub(super) fn status(ended: ExitStatus) -> u8 {
    let number = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
}
