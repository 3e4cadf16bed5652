//! What a capture file says of the TCP connections in it.
//!
//! A [`source`] gives bytes, unpacked; a [`file`](mod@file) gives packets of them, one at a time; [`wire`] reads the
//! headers of a packet; a [`table`] sorts packets into [`connection`]s, and each [`flow`] answers what can be asked of
//! one direction of a connection; a [`report`] is what is written of it. A [`replay`] runs estimators, predictors and
//! detectors over a connection, a [`trace`] keeps what it did over time. Everything streams: memory is bounded by
//! [`Limits`], whatever the input.
//!
//! Not for: how numbers are shown, and payload, which is never looked at.

pub mod connection;
mod error;
pub mod file;
pub mod flow;
pub mod handshake;
pub mod portrait;
pub mod replay;
pub mod report;
pub mod source;
pub mod table;
pub mod trace;
pub mod truth;
pub mod wire;
pub mod write;
pub mod xplot;

pub use connection::{Connection, Way};
pub use error::Error;
pub use table::{Capture, Each, Limits, Watch, read};
