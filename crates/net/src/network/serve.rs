//! Links whose queues decide when packets leave them.

use super::{Network, kind};
use crate::connection::{DESTINATION, SOURCE};
use crate::link::Left;
use crate::packet::{Body, DropCause, PacketId, bits};
use truckee_tcp::Time;

impl Network<'_> {
    /// A packet comes to such a link; `flow` is its flow's number for the channel.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, id: PacketId, index: usize, time: Time, flow: u32) {
        let key = self.flow_key(id);
        let mut lost = std::mem::take(&mut self.lost);
        let wake = self.links.enqueue(index, time, id, &mut self.packets[id], (flow, key), &mut lost);
        self.lose(lost, index, time);
        match wake {
            // The transmitter is idle: what came does not wait, and takes no place.
            Some(wake) if wake == self.now => self.serve(index),
            Some(wake) => self.agenda.push(wake, kind::SERVE | index as u64),
            None => {}
        }
    }

    /// The transmitter of such a link may be free.
    #[inline(never)]
    pub(super) fn on_serve(&mut self, index: usize) {
        self.agenda.pop();
        self.serve(index);
    }

    fn serve(&mut self, index: usize) {
        let mut lost = std::mem::take(&mut self.lost);
        let (left, again) = self.links.serve(index, self.now, &mut self.packets, &mut lost);
        self.lose(lost, index, self.now);
        if let Some(Left { packet, became }) = left {
            self.go_on(packet, index, became);
        }
        if let Some(again) = again {
            self.agenda.push(again, kind::SERVE | index as u64);
        }
    }

    #[inline]
    pub(super) fn lose(&mut self, mut lost: Vec<(PacketId, DropCause)>, index: usize, when: Time) {
        if !lost.is_empty() {
            self.lose_some(&mut lost, index, when);
        }
        self.lost = lost;
    }

    #[cold]
    fn lose_some(&mut self, lost: &mut Vec<(PacketId, DropCause)>, index: usize, when: Time) {
        for (id, cause) in lost.drain(..) {
            self.packets.remove(id);
            self.on_drop(id, index, cause, when);
        }
    }

    /// What a queue for each flow tells flows apart by: connection and direction, or the source of datagrams.
    pub(super) fn flow_key(&self, id: PacketId) -> u64 {
        let packet = &self.packets[id];
        match packet.body() {
            Body::Segment(index) => {
                let from = if packet.is(bits::FORWARD) { SOURCE } else { DESTINATION };
                // Each connection is a flow of its own, also where one takes the place of another.
                u64::from(packet.generation) << 40 | (index as u64) << 1 | from as u64
            }
            Body::Datagram(source) => 1 << 63 | source as u64,
            // What routers say is a flow of its own.
            Body::Message(_) => u64::MAX,
            Body::Control(host) => 3 << 62 | host as u64,
        }
    }
}
