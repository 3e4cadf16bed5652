//! Programs that are run: how they end with us, and what is said of one that cannot be run. Not for: whom they run as (see
//! [`crate::user`]).

use crate::Error;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{getpid, getppid};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Has the kernel kill a program when the thread that starts it is gone: one that was killed cannot do so.
pub fn dies_with_us(command: &mut Command) {
    let us = getpid();
    let tie = move || {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // Who was killed before that was said has left this to somebody else.
        if getppid() == us { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: between fork and exec it makes system calls only, takes no memory and no lock.
    unsafe { command.pre_exec(tie) };
}

/// Why a program did not start, with the number that a shell gives it: 127 for what is not there, 126 for what cannot be run.
pub fn not_run(name: String, error: &io::Error) -> Error {
    let (status, why) = match error.raw_os_error() {
        Some(libc::ENOENT) if name.contains('/') && Path::new(&name).exists() => {
            (126, "the interpreter that it names is not there".to_owned())
        }
        Some(libc::ENOENT) => (127, "there is no such program".to_owned()),
        Some(libc::EACCES) => (126, "it cannot be run: it is no program, or its user may not".to_owned()),
        _ => (126, error.to_string()),
    };
    Error::NotRun { command: name, status, why }
}
