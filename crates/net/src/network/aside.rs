//! The packet that waits outside lanes and agenda, since it may well be the next event of all.

use super::kind;
use crate::agenda::Key;
use crate::lanes::UnderWay;
use truckee_tcp::Time;

/// Room for a packet that is the next of its lane, and neither there nor in the agenda.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aside {
    pub is_there: bool,
    pub lane: u32,
    pub packet: UnderWay,
}

impl Aside {
    /// Nothing waits there.
    pub fn empty() -> Self {
        Self { is_there: false, lane: 0, packet: UnderWay::new(Time::ZERO, 0, 0, false) }
    }

    /// The key of its arrival.
    #[inline(always)]
    pub fn key(&self) -> Key {
        kind::arrival(self.packet.link, self.lane as usize)
    }
}
