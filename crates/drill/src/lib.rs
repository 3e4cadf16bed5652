//! Scripts in packetdrill's language that say, segment by segment, what a TCP does; and the stacks that they are held
//! against: the simulated one in virtual time, the running kernel's and any program's behind a TUN device.
//!
//! A script's events happen in order: a call of an application, a segment that comes, a segment that the stack is to send
//! by then, an assertion about its state. Where the stack does otherwise, [`run()`] says at which line, what was expected,
//! and what was seen.
//!
//! Not for: packetdrill's Python, shell commands, other protocols than TCP over IPv4.

mod assert;
mod error;
mod expect;
#[cfg(live)]
mod live;
pub mod parse;
mod run;
pub mod script;
pub mod simulated;
pub mod target;

pub use error::Error;
pub use run::{Failure, Refused, Report, run};
pub use script::Script;
pub use simulated::Simulated;
pub use target::Target;

use std::path::Path;

/// Runs a script against the running kernel's stack, in a network namespace that is made for it and vanishes with it. Needs
/// root, or CAP_NET_ADMIN and CAP_SYS_ADMIN.
///
/// # Errors
/// No right, no TUN device; a setting or a call that there is not; this build has no live leg.
pub fn on_kernel(script: &Script) -> Result<Report, Error> {
    #[cfg(live)]
    return live::on_kernel(script);
    #[cfg(not(live))]
    {
        let _ = script;
        Err(truckee_host::Error::NotBuilt.into())
    }
}

/// Runs a script against the stack of a program, its name and arguments, which is started for it in such a namespace and ended
/// with it: see docs/howto/drill.md for what it has and is asked. Needs the same rights.
///
/// # Errors
/// As [`on_kernel`]; the program cannot be run, has ended, says nothing or what means nothing; [`Error::Refused`], what it does
/// not do.
pub fn on_program(script: &Script, command: &[std::ffi::OsString]) -> Result<Report, Error> {
    #[cfg(live)]
    return live::on_program(script, command);
    #[cfg(not(live))]
    {
        let _ = (script, command);
        Err(truckee_host::Error::NotBuilt.into())
    }
}

/// Runs a script against the simulated stack; `overrides` are keys of a scenario's flow, such as
/// `("flow.sender", "cubic")`.
///
/// # Errors
/// A setting, a call or a key that there is not.
pub fn on_simulated(script: &Script, overrides: &[(String, String)]) -> Result<Report, Error> {
    run(script, &mut Simulated::new(script, overrides)?)
}

/// Reads a script from a file.
///
/// # Errors
/// It cannot be read, or is none.
pub fn read(path: &Path) -> Result<Script, Error> {
    let name = path.display().to_string();
    let unreadable = |source| Error::Unreadable { name: name.clone(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let most = parse::MOST_BYTES as u64 + 1;
    std::io::Read::read_to_end(&mut std::io::Read::take(file, most), &mut bytes).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count() + 1;
        Error::Script {
            name: name.clone(),
            line,
            why: "no UTF-8; expected a script, which is text".to_owned(),
        }
    })?;
    parse::script(&name, &text)
}
