//! Signals as events of a loop, so that none ends us before what we made is undone, and each reaches the program that it
//! is meant for. Not for: what to do about one.

use crate::Error;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use nix::unistd::Pid;
use std::os::fd::{AsFd, BorrowedFd};

/// Those that are taken.
const TAKEN: [Signal; 9] = [
    Signal::SIGCHLD,
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGTSTP,
    Signal::SIGCONT,
];

/// The signals of this process, from now on; as they were, when dropped.
pub(super) struct Signals {
    file: SignalFd,
    before: SigSet,
}

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Came {
    pub(super) signal: Signal,
    /// Who sent it; `None`: the kernel, for a terminal, which has told the program of the foreground itself.
    pub(super) sender: Option<Pid>,
}

impl Signals {
    /// Blocks them in this thread and in those that it starts from now on.
    pub(super) fn block() -> Result<Self, Error> {
        let taken: SigSet = TAKEN.into_iter().collect();
        let doing = |e| Error::system("take signals", e);
        let before = taken.thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(doing)?;
        let file =
            SignalFd::with_flags(&taken, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map_err(doing)?;
        Ok(Self { file, before })
    }

    /// Those that were blocked before.
    pub(super) fn before(&self) -> SigSet {
        self.before
    }

    /// Readable when one has come.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The next one that has come.
    pub(super) fn next(&self) -> Option<Came> {
        let came: siginfo = self.file.read_signal().ok().flatten()?;
        let signal = Signal::try_from(came.ssi_signo as i32).ok()?;
        let sender = (came.ssi_code != libc::SI_KERNEL).then(|| Pid::from_raw(came.ssi_pid as i32));
        Some(Came { signal, sender })
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let _ = self.before.thread_set_mask();
    }
}

impl Came {
    /// Passes it on to a process, unless that has it already or has sent it.
    pub(super) fn pass_on(self, process: Pid) {
        if self.sender.is_some_and(|sender| sender != process) {
            // It may have ended.
            let _ = kill(process, self.signal);
        }
    }
}

/// Stops this process, as the terminal's Ctrl-Z would have; returns when it goes on.
pub(super) fn stop_here() {
    let _ = raise(Signal::SIGSTOP);
}
