//! Who is told of losses while a run goes on: what an ideal predictor in charge of a live sender stands on.
//!
//! The emulator's thread tells, and before it lets another packet pass: a sender that hears of a loss by what comes through
//! the emulator, be it duplicate ACKs or none, finds its cause told. Not for: the books, which say the same at the end.

use super::Cause;

/// A stretch of bytes whose latest transmission the path has lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// Its first byte, as the number in a header.
    pub first: u32,
    /// How many.
    pub bytes: u32,
    /// What that transmission died of.
    pub cause: Cause,
}

/// Most stretches that are told at once. A sender asks for the lowest byte that is not acknowledged, and what lies beyond is
/// told when what is below has been sent again.
pub const MOST_MISSING: usize = 64;

/// One that is told.
pub trait LossListener: std::fmt::Debug + Send {
    /// Whether that flow, by its number in the scenario, is of interest.
    fn wants(&self, flow: usize) -> bool;

    /// What is missing of a connection of a flow has changed; the connection by its client's port. Lowest first, from what is
    /// acknowledged on, and at most [`MOST_MISSING`].
    fn hear(&mut self, flow: usize, client_port: u16, missing: &[Missing]);
}
