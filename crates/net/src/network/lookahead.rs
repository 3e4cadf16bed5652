//! Reading ahead, where there are more connections than a cache holds: then nearly all that a packet needs at its endpoint is
//! far from the processor. A lane knows which packets come next, so that all of that is on its way before they come.

use super::{FUSED, Network};
use crate::connection::{DESTINATION, SOURCE};
use crate::packet::bits;
use truckee_tcp::cache;

/// From so many connections on: with fewer it costs more instructions than it saves time.
pub(super) const MANY: usize = 2_000;

/// How many packets ahead a packet is read; its connection, which the packet names; and what that refers to.
const PACKET: usize = 16;
const CONNECTION: usize = 10;
const ENDPOINT: usize = 5;

impl Network<'_> {
    /// Has the processor fetch what the next packets of a lane, which are at the last of their links, will need.
    #[inline(never)]
    pub(super) fn look_ahead(&self, lane: usize) {
        if let Some(id) = self.lanes.after_next(lane, PACKET) {
            cache::prefetch(&self.packets[id]);
        }
        // What is not of a connection has an owner that is beyond all of them.
        if let Some(id) = self.lanes.after_next(lane, CONNECTION)
            && let Some(connection) = self.connections.get(self.packets[id].owner as usize)
        {
            cache::prefetch(connection);
        }
        if let Some(id) = self.lanes.after_next(lane, ENDPOINT)
            && let packet = &self.packets[id]
            && let Some(connection) = self.connections.get(packet.owner as usize)
        {
            let (end, answers) = match packet.is(bits::FORWARD) {
                true => (DESTINATION, connection.back),
                false => (SOURCE, connection.forward),
            };
            connection.ends.at[end].prefetch();
            if let Some(first) = self.paths.get(answers.start as usize) {
                self.links.prefetch((first & !FUSED) as usize);
            }
        }
    }
}
