//! The contract of pacing. Its members have files of their own, and [`super`] lists them.

use crate::{Ack, Window};

/// How departures keep to a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spacing {
    /// A segment is followed by the time that its bytes on the wire take, headers included.
    #[default]
    Wire,
    /// A segment is followed by the time that its payload takes, from the tenth segment of a connection on; where it left later
    /// than it might have, that is made good, by half of that time at the most (Linux 6.18, `tcp_update_skb_after_send`).
    Linux,
}

/// The contract of pacing.
pub trait Pacing: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// Bytes per second; `None`: as fast as the windows allow.
    fn rate(&self, w: &Window) -> Option<f64>;
    /// Any ACK, after everything else that it brings.
    fn after_ack(&mut self, _ack: &Ack, _w: &Window) {}
    /// Whether it wants to hear through [`Pacing::after_ack`]. One that does not spares every ACK the trouble.
    fn listens(&self) -> bool {
        false
    }
    /// What of a segment counts towards the rate, and when.
    fn spacing(&self) -> Spacing {
        Spacing::Wire
    }
}
