//! What a TCP sender and a TCP receiver decide.
//!
//! Endpoints are sans-IO: they are fed segments and times, and asked what to send and when to be called again. The
//! simulator, a test, a replay and a user's own program drive them alike. A sender is a product of four choices,
//! each a family of its own: [`recovery`], [`growth`], [`response`] and the [`rtt`] timer's settings; [`estimate`] and
//! [`predict`] serve the responses, [`ack`] is the receiver's side.
//!
//! Not for: clocks, sockets, networks. Nothing here knows where it runs.

pub mod segment;
pub mod spec;
pub mod stack;

/// A point in time: nanoseconds since the start of the run.
pub type Time = u64;
/// A span of time in nanoseconds.
pub type Nanos = u64;

pub use segment::{SackBlocks, Segment, flags};
pub use spec::{Arg, Info, Spec, SpecError};
pub use stack::{Size, Stack};
