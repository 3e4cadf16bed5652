//! ACKs shaped as a user asks for it: those of one program, while it runs ([`exec`]), or all that leave some interfaces
//! ([`stand`]); and word with those who shape at present, to see what they do and to change it ([`running`], [`ask`]).
//!
//! Not for: shaping itself (see the root of this crate); arguments and tables.

#[cfg(live)]
mod apart;
#[cfg(live)]
mod attend;
#[cfg(live)]
mod child;
#[cfg(live)]
mod control;
#[cfg(live)]
mod program;
#[cfg(live)]
mod signals;
#[cfg(live)]
mod standing;
#[cfg(live)]
mod user;

use crate::Error;
use crate::{Counts, Policy};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;
use truckee_scenario::Errors;

/// An ACK policy as it was asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The words: `division:4`.
    pub text: String,
    /// What they mean.
    pub policy: Policy,
}

/// Why the words of an ACK policy will not do.
#[derive(Debug, thiserror::Error)]
pub enum Unwanted {
    /// They mean nothing.
    #[error(transparent)]
    Text(#[from] Errors),
    /// The live leg does not do it.
    #[error(transparent)]
    Policy(#[from] Error),
}

impl Wanted {
    /// Reads the words that were given to an option of the command, `--ack`.
    ///
    /// # Errors
    /// There is no such policy, or the live leg cannot carry it out.
    pub fn read(option: &str, text: &str) -> Result<Self, Unwanted> {
        let spec = truckee_scenario::ack_policy(option, text)?;
        Ok(Self { text: text.trim().to_owned(), policy: Policy::of(&spec)? })
    }
}

/// A program, and how its ACKs are to be shaped.
#[derive(Debug)]
pub struct Program<'a> {
    /// The program and its arguments, at least one word; no shell reads them.
    pub command: &'a [OsString],
    /// The policy.
    pub wanted: Wanted,
    /// Whom it runs as, by name or number; `None`: whoever typed the command, also through sudo.
    pub user: Option<&'a str>,
    /// The network namespace that it runs in; `None`: ours.
    pub namespace: Option<&'a str>,
}

/// Interfaces, and how the ACKs that leave them are to be shaped.
#[derive(Debug)]
pub struct Standing<'a> {
    /// Their names; none: all, also those that appear later.
    pub devices: &'a [String],
    /// The network namespace that they are in; `None`: ours.
    pub namespace: Option<&'a str>,
    /// The policy.
    pub wanted: Wanted,
    /// For how long; `None`: until a signal.
    pub lasting: Option<Duration>,
}

/// What shaping did.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Four hex digits, as long as it ran.
    pub id: String,
    /// The policy at the end.
    pub policy: String,
    /// How often it was changed.
    pub changes: u64,
    /// How long it ran, s.
    pub lasted_s: f64,
    /// Why it ended early, if it did: from then on ACKs went as they were.
    pub broken: Option<String>,
    /// What it did.
    pub counts: Counts,
}

/// How a program ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Its exit status, or 128 and the signal that ended it.
    pub status: u8,
    /// What was done to its ACKs.
    pub report: Report,
}

/// Who is told how it goes.
pub trait Watch: Send {
    /// ACKs are shaped from now on, under this identity.
    fn begun(&mut self, id: &str);
    /// Comes by every second, where nobody else writes to the terminal.
    fn counts(&mut self, counts: &Counts);
    /// Something of note happened.
    fn told(&mut self, what: &str);
    /// Something is not as it should be.
    fn warned(&mut self, what: &str);
}

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
    return control::running();
    #[cfg(not(live))]
    Vec::new()
}

/// What can be asked of one who shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask<'a> {
    /// What it did so far: a [`Report`] as JSON.
    Show,
    /// Another policy, from now on: the words of one.
    Ack(&'a str),
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
    return user::create_file(&path);
    #[cfg(not(live))]
    File::create(&path).map_err(|e| Error::system(format!("write {}", path.display()), e))
}
