//! What a user asks for, and is told.

use crate::{Counts, Error, Policy};
use serde::Serialize;
use std::ffi::OsString;
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

/// What can be asked of one who shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask<'a> {
    /// What it did so far: a [`Report`] as JSON.
    Show,
    /// Another policy, from now on: the words of one.
    Ack(&'a str),
}
