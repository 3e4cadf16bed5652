//! Reading ahead, where nearly all that a packet needs at its endpoint is far from the processor. A lane knows which packets
//! come next, so that all of that is on its way before they come: where there are many packets, the packets themselves; where
//! there are more connections than a cache holds, all the rest, too.

use super::{FUSED, Network};
use crate::connection::{Connection, DESTINATION, Path, SOURCE};
use crate::packet::{Packet, bits};
use truckee_tcp::cache;

/// From so many connections on all is read ahead: with fewer it costs more instructions than it saves time.
pub(super) const MANY: usize = 2_000;

/// How many packets ahead a packet is read where that is all.
const NEXT: usize = 6;

/// How many packets ahead else: the lane's own list; a packet; its connection, which the packet names; what that refers to; and
/// what that does.
const LANE: usize = 48;
const PACKET: usize = 16;
const CONNECTION: usize = 12;
const ENDPOINT: usize = 8;
const BEYOND: usize = 4;

/// Most links of an answer's path that are read ahead.
const LINKS: usize = 4;

impl Network<'_> {
    /// Has the processor fetch a packet of a lane that is about to come.
    #[inline(always)]
    pub(super) fn look_at_next(&self, lane: usize) {
        if let Some(coming) = self.lanes.after_next(lane, NEXT) {
            cache::prefetch(&self.packets[coming.packet()]);
        }
    }

    /// Has the processor fetch what the next packets of a lane, which are at the last of their links, will need.
    #[inline(never)]
    pub(super) fn look_ahead(&self, lane: usize) {
        if let Some(coming) = self.lanes.after_next(lane, LANE) {
            cache::prefetch(coming);
        }
        if let Some(coming) = self.lanes.after_next(lane, PACKET) {
            cache::prefetch(&self.packets[coming.packet()]);
        }
        let ahead = |by: usize| {
            let coming = self.lanes.after_next(lane, by)?;
            let packet = &self.packets[coming.packet()];
            // What is not of a connection has an owner that is beyond all of them.
            let connection = self.connections.get(packet.owner as usize)?;
            Some((coming.arrival, packet, connection))
        };
        if let Some((_, _, connection)) = ahead(CONNECTION) {
            cache::prefetch(connection);
        }
        if let Some((_, packet, connection)) = ahead(ENDPOINT) {
            let (end, answers) = reached(connection, packet);
            connection.ends.at[end].prefetch();
            match end {
                DESTINATION => connection.ends.forward.births.prefetch(),
                _ => connection.ends.forward.books.prefetch(),
            }
            if let Some(first) = self.paths.get(answers.start as usize) {
                cache::prefetch(first);
            }
        }
        if let Some((arrival, packet, connection)) = ahead(BEYOND) {
            let (end, answers) = reached(connection, packet);
            connection.ends.at[end].prefetch_beyond();
            if end == DESTINATION {
                let delay = arrival.saturating_sub(packet.sent);
                connection.ends.forward.deliveries.delays.prefetch(delay);
            }
            let start = answers.start as usize;
            let links = self.paths.get(start..start + LINKS.min(answers.len as usize));
            for link in links.unwrap_or_default() {
                self.links.prefetch((link & !FUSED) as usize);
            }
        }
    }
}

/// The end that a packet comes to, and the path of what answers it.
#[inline(always)]
fn reached(connection: &Connection, packet: &Packet) -> (usize, Path) {
    match packet.is(bits::FORWARD) {
        true => (DESTINATION, connection.back),
        false => (SOURCE, connection.forward),
    }
}
