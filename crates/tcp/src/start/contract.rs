//! The contract of a start, and what it is told. Its members have files of their own, and [`super`] lists them.

use crate::{Ack, Span, Time, Window};

/// What is known when the connection is established.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Opening {
    /// When.
    pub now: Time,
    /// Round-trip time of the handshake; none without handshake, or if its SYN was sent twice.
    pub rtt: Option<Span>,
    /// Bytes that the application has written already.
    pub queued: u64,
    /// The peer's window, bytes.
    pub rwnd: u64,
    /// The rate that the path has granted, bit/s (RFC 4782); none if it was not asked or did not.
    pub granted: Option<f64>,
}

/// A first window to be sent evenly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// Bytes per second.
    pub rate: f64,
    /// When the pacing ends.
    pub until: Time,
}

/// The contract of a start.
pub trait Start: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// The rate to ask of the path with the SYN, bit/s (RFC 4782).
    fn request(&self) -> Option<f64> {
        None
    }
    /// The connection is established; `w` holds the initial window.
    fn on_established(&mut self, _opening: &Opening, _w: &mut Window) -> Option<Burst> {
        None
    }
    /// An ACK, before the window changes. True: the start is still under way and wants to hear of the next one too.
    fn on_ack(&mut self, _ack: &Ack, _w: &mut Window) -> bool {
        false
    }
    /// A loss event, while the start is under way; the response has set the window. True: it still is under way.
    fn on_loss(&mut self, _w: &mut Window) -> bool {
        false
    }
}
