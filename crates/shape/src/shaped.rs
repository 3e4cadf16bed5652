//! ACKs shaped as a user asks for it: those of one program, while it runs ([`exec`]), or all that leave some interfaces
//! ([`stand`]); and word with those who shape at present, to see what they do and to change it ([`running`], [`ask`]).
//!
//! Not for: shaping itself (see the root of this crate); arguments and tables.

#[cfg(live)]
mod apart;
mod asked;
#[cfg(live)]
mod attend;
#[cfg(live)]
mod child;
#[cfg(live)]
mod control;
#[cfg(live)]
mod file;
#[cfg(live)]
mod program;
#[cfg(live)]
mod signals;
#[cfg(live)]
mod standing;

pub use asked::{Ask, Ended, Program, Report, Standing, Unwanted, Wanted, Watch};

use crate::Error;
use std::fs::File;
use std::path::PathBuf;

/// Runs a program and shapes its ACKs until it ends. What was made is gone then. The calling thread gives up its rights for
/// good, and no other may have been started: those would take the signals that are passed on.
///
/// # Errors
/// Nothing was run: the program is not there, rights are missing, this build has no live leg. Once the program runs
/// nothing is an error: what breaks is told, and the program goes on unshaped.
pub fn exec(program: Program<'_>, watch: &mut dyn Watch) -> Result<Ended, Error> {
    #[cfg(live)]
    {
        let _rights = truckee_host::rights::Raised::live();
        program::run(program, watch)
    }
    #[cfg(not(live))]
    {
        let _ = (program, watch);
        Err(Error::NotBuilt)
    }
}

/// Shapes the ACKs that leave interfaces, until the time is over or a signal comes. The same goes for rights and signals.
///
/// # Errors
/// An interface does not exist; rights are missing; this build has no live leg.
pub fn stand(standing: Standing<'_>, watch: &mut dyn Watch) -> Result<Report, Error> {
    #[cfg(live)]
    {
        let _rights = truckee_host::rights::Raised::live();
        standing::run(standing, watch)
    }
    #[cfg(not(live))]
    {
        let _ = (standing, watch);
        Err(Error::NotBuilt)
    }
}

/// The identities of those who shape at present and can be asked, in order.
pub fn running() -> Vec<String> {
    #[cfg(live)]
    return truckee_host::control::running(&control::KIND);
    #[cfg(not(live))]
    Vec::new()
}

/// Asks one who shapes, by its identity; what it answered.
///
/// # Errors
/// There is none of this identity, it is somebody else's, or it refuses.
pub fn ask(id: &str, ask: Ask<'_>) -> Result<String, Error> {
    #[cfg(live)]
    return control::ask(id, ask);
    #[cfg(not(live))]
    {
        let _ = (id, ask);
        Err(Error::NotBuilt)
    }
}

/// Makes a file as the one who typed the command could have made it, whatever rights we have besides.
///
/// # Errors
/// The file cannot be made.
pub fn create_file(path: PathBuf) -> Result<File, Error> {
    #[cfg(live)]
    return file::create_file(&path);
    #[cfg(not(live))]
    File::create(&path).map_err(|e| Error::system(format!("write {}", path.display()), e))
}
