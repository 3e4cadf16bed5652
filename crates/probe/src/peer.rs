//! What a connection that has been taken over goes by: a clock, and segments that come and go. Not for: what is done with
//! them (see [`super::connection`], [`super::observe`]).
//!
//! The real one is [`super::open::Taken`]; tests have servers of their own, and time that passes as they say.

use super::wire::{Arrival, Departure};
use crate::Error;
use truckee_tcp::Time;

/// The other end of a connection, and the clock that all about it goes by: one that only runs forward, ns.
pub trait Peer {
    /// The time.
    fn now(&self) -> Time;

    /// The next segment of the server, waiting until `until` at most; `None`: there was none. One that waits already is
    /// had even where that time has passed.
    fn next(&mut self, until: Time) -> Result<Option<Arrival>, Error>;

    /// Sends a segment.
    fn send(&mut self, segment: &Departure<'_>) -> Result<(), Error>;

    /// Does nothing until `until`.
    fn sleep(&mut self, until: Time);
}
