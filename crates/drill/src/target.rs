//! What a script is held against: a stack with sockets above and segments below, and its time.

use crate::error::Error;
use crate::script::{Call, Packet};
use std::collections::BTreeMap;
use truckee_tcp::{Span, Time};

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It returned this, or -1 and the error's name.
    Returned(i64, Option<String>),
    /// It waits.
    Waits,
}

impl Answer {
    /// It has done what it was to.
    pub const DONE: Self = Self::Returned(0, None);

    /// It returned -1.
    pub fn failed(error: &str) -> Self {
        Self::Returned(-1, Some(error.to_owned()))
    }
}

/// A segment that the stack has sent, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Since the beginning of the script.
    pub at: Time,
    /// The segment, its numbers less the first that the stack drew.
    pub packet: Packet,
}

/// What a target cannot do: a call, an argument, a setting.
pub type Refusal = String;

/// A value of `tcp_info` or of a constant by its name.
pub type Info = BTreeMap<&'static str, i64>;

/// A stack that a script is held against. Times are since the beginning of the script.
pub trait Target {
    /// What results call it.
    fn name(&self) -> &'static str;

    /// The time.
    fn now(&self) -> Time;

    /// Lets time pass until `until`.
    ///
    /// # Errors
    /// The target is gone.
    fn wait(&mut self, until: Time) -> Result<(), Error>;

    /// Gives it a segment.
    ///
    /// # Errors
    /// The target is gone.
    fn inject(&mut self, packet: &Packet) -> Result<Result<(), Refusal>, Error>;

    /// The next segment that it has sent or sends by `until`; `None`: none.
    ///
    /// # Errors
    /// The target is gone.
    fn sent(&mut self, until: Time) -> Result<Option<Seen>, Error>;

    /// Makes a call. File descriptors among the arguments are the script's.
    ///
    /// # Errors
    /// The target is gone.
    fn call(&mut self, call: &Call) -> Result<Result<Answer, Refusal>, Error>;

    /// The call that waits: whether it has returned by now, with what.
    ///
    /// # Errors
    /// The target is gone.
    fn waiting(&mut self) -> Result<Option<(Time, Answer)>, Error>;

    /// What `tcp_info` says of the connection used last.
    ///
    /// # Errors
    /// The target is gone.
    fn info(&mut self) -> Result<Result<Info, Refusal>, Error>;

    /// How late the machine has been at most, which widens every tolerance.
    fn lateness(&self) -> Span;
}
