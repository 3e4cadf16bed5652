//! Packets at their endpoints: senders, receivers, their timers and records.

use super::{Network, kind};
use crate::agenda::Key;
use crate::connection::{DESTINATION, NEVER, SOURCE};
use crate::packet::{Body, Packet, PacketId, bits};
use truckee_scenario::outcome::{AckPoint, DelayPoint, Vantage};
use truckee_tcp::detect::Phase;
use truckee_tcp::segment::flags;
use truckee_tcp::{Receiver, Sender, Seq, Time, Transmit};

/// A packet that is about to leave: its first position in the table of paths, and its bytes on the wire.
struct Leaves {
    id: PacketId,
    start: u32,
    wire: u32,
}

impl Network<'_> {
    /// A packet, whose place is free already, has reached its endpoint.
    #[inline(always)]
    pub(super) fn on_arrival(&mut self, id: PacketId) {
        let packet = &self.packets[id];
        self.digest.add(
            self.now.nanos(),
            packet.seq.number() ^ packet.ack.number().rotate_left(32) ^ u64::from(packet.owner) << 40,
        );
        let index = match packet.body() {
            Body::Segment(index) => index,
            Body::Datagram(source) => return self.on_datagram(source, id),
            // Routers have messages from the medium; a gateway keeps what hosts say of where they are to itself.
            Body::Message(_) | Body::Control(_) => return,
        };
        let connection = &self.connections[index];
        if connection.generation != packet.generation {
            return;
        }
        match (connection.plain, packet.is(bits::FORWARD)) {
            (true, true) => self.at_destination::<true>(index, id),
            (true, false) => self.at_source::<true>(index, id),
            (false, forward) => self.on_watched(index, id, forward),
        }
    }

    /// The same where it is reached seldom.
    #[inline(never)]
    pub(super) fn on_rare_arrival(&mut self, id: PacketId) {
        self.on_arrival(id);
    }

    #[inline(never)]
    fn on_watched(&mut self, index: usize, id: PacketId, forward: bool) {
        match forward {
            true => self.at_destination::<false>(index, id),
            false => self.at_source::<false>(index, id),
        }
    }

    /// The same of cross traffic.
    #[inline(never)]
    fn on_datagram(&mut self, source: usize, id: PacketId) {
        let packet = &self.packets[id];
        let book = &mut self.traffic[self.sources[source].traffic];
        if self.warm {
            book.delivered += 1;
            book.bytes += u64::from(packet.wire);
            book.delays.add(self.now - packet.sent);
        }
    }

    /// At the destination; `PLAIN`: of a [`crate::connection::Connection::plain`], as in what follows.
    #[inline(always)]
    fn at_destination<const PLAIN: bool>(&mut self, index: usize, id: PacketId) {
        if !PLAIN && self.connections[index].tapped == Some(Vantage::Receiver) {
            self.tap(index, id, true);
        }
        let packet = &self.packets[id];
        let connection = &mut self.connections[index];
        connection.ends.forward.watch.truth =
            if packet.is(bits::SLOW_START) { Phase::SlowStart } else { Phase::Avoidance };
        if !PLAIN {
            let marked = packet.is(bits::CONGESTION_EXPERIENCED);
            connection.ends.on_segment(DESTINATION, self.now, &self.packets.segment(id), marked);
        } else if !connection.ends.destination_takes(self.now, &packet.head()) {
            return self.on_watched(index, id, true);
        }
        let bytes = connection.ends.receiver().map_or(0, |receiver| receiver.delivered());
        if !PLAIN && bytes == 0 {
            let reached = connection.ends.receiver().map_or(Seq::ZERO, |receiver| receiver.rcv_nxt());
            if packet.len > 0 && packet.end() > reached {
                connection.ends.forward.births.arrived(packet);
            }
        }
        if bytes > 0 {
            let way = &mut connection.ends.forward;
            way.deliveries.note(self.now, bytes, self.warm);
            if !PLAIN || !way.births.is_of(packet) {
                self.note_delays(index, id);
            } else if self.warm {
                way.deliveries.delays.add(self.now - packet.sent);
            }
        }
        if PLAIN {
            return self.flush_at::<DESTINATION>(index);
        }
        let connection = &self.connections[index];
        if connection.plain {
            return self.flush_at::<DESTINATION>(index); // a hole need not make its ACKs more than that
        }
        if connection.recorded {
            self.record_phases(index, id);
        }
        self.end_with(index, DESTINATION, bytes);
    }

    /// Notes the delays of what this packet has brought, and of what has waited for it.
    #[inline(never)]
    fn note_delays(&mut self, index: usize, id: PacketId) {
        let now = self.now;
        let connection = &mut self.connections[index];
        let reached = connection.ends.at[DESTINATION].rx().map_or(Seq::ZERO, |receiver| receiver.rcv_nxt());
        let way = &mut connection.ends.forward;
        way.births.arrived(&self.packets[id]);
        while let Some(born) = way.births.take(reached) {
            let delay = now.saturating_sub(born);
            if self.warm {
                way.deliveries.delays.add(delay);
            }
            if connection.recorded
                && let Some(series) = &mut self.flows[connection.flow as usize].book.series
            {
                series.delays.push(DelayPoint { t: now.seconds(), delay: delay.seconds() });
            }
        }
    }

    /// The application, which waits for that, hears of what has been delivered.
    fn tell_application(&mut self, index: usize, end: usize, bytes: u64) {
        let connection = &self.connections[index];
        let (flow, lane) = (connection.flow(), connection.lane());
        if self.flows[flow].app.delivered(self.now, lane, end, bytes, &mut self.commands) {
            self.obey(flow);
        }
    }

    #[inline(always)]
    fn at_source<const PLAIN: bool>(&mut self, index: usize, id: PacketId) {
        let now = self.now;
        if !PLAIN {
            self.inform(index);
        }
        let packet = &self.packets[id];
        let connection = &mut self.connections[index];
        if PLAIN {
            if packet.sack || !connection.ends.source_takes(now, &packet.head()) {
                return self.on_watched(index, id, false);
            }
            return self.flush_at::<SOURCE>(index);
        }
        let marked = packet.is(bits::CONGESTION_EXPERIENCED);
        let segment = self.packets.segment(id);
        connection.ends.on_segment(SOURCE, now, &segment, marked);
        if connection.recorded
            && let Some(series) = &mut self.flows[connection.flow()].book.series
        {
            series.acks.push(AckPoint { t: now.seconds(), ack: packet.ack.number() });
        }
        let tapped = connection.tapped;
        let asked = connection.ends.at[SOURCE].rx().map_or(0, |receiver| receiver.delivered());
        if tapped == Some(Vantage::Sender) {
            self.tap(index, id, false);
        }
        self.end_with(index, SOURCE, asked);
        if segment.has(flags::SYN) && self.note_opened(index) {
            self.obey(self.connections[index].flow());
        }
    }

    /// The last thing that comes of a segment, which has brought an end so many bytes.
    #[inline(always)]
    fn end_with(&mut self, index: usize, end: usize, bytes: u64) {
        if bytes > 0 && self.connections[index].awaited[end] {
            self.after(index, end);
            self.tell_application(index, end, bytes);
        } else {
            self.after_all(index, end);
        }
    }

    /// The timer of an end.
    pub(super) fn on_end_timer(&mut self, index: usize, end: usize) {
        self.agenda.pop();
        let now = self.now;
        let connection = &mut self.connections[index];
        if connection.armed[end] != now {
            return;
        }
        connection.armed[end] = NEVER;
        let due = connection.ends.at[end].deadline().is_some_and(|d| d <= now);
        if due && end == SOURCE {
            self.inform(index);
        }
        let ends = &mut self.connections[index].ends;
        if due {
            ends.on_timer(end, now);
        }
        if ends.at[end].tx().is_none() {
            self.flush(index, end);
        } else if due || ends.at[end].release().is_some_and(|release| release <= now) {
            self.after(index, end);
        } else {
            self.arm(index, end);
        }
    }

    /// After anything has happened to an end that sends: its record, its segments, its timer, the connection's end.
    #[inline(never)]
    pub(super) fn after(&mut self, index: usize, end: usize) {
        if self.connections[index].recorded && end == SOURCE {
            self.record(index);
        }
        self.flush(index, end);
        self.check_finished(index);
    }

    /// The same as the last thing that an event does.
    #[inline(never)]
    fn after_all(&mut self, index: usize, end: usize) {
        if self.connections[index].recorded && end == SOURCE {
            self.record(index);
        }
        let last = self.flush_but_last(index, end);
        if self.connections[index].finished() {
            self.send(last);
            self.on_finished(index);
        } else if let Some(Leaves { id, start, wire }) = last {
            self.lead_on(id, start, wire);
        }
    }

    fn check_finished(&mut self, index: usize) {
        if self.connections[index].finished() {
            self.on_finished(index);
        }
    }

    /// Lets an end send what it wants to.
    pub(super) fn flush(&mut self, index: usize, end: usize) {
        let last = self.flush_but_last(index, end);
        self.send(last);
    }

    /// Sends what leaves an end last.
    fn send(&mut self, last: Option<Leaves>) {
        if let Some(Leaves { id, start, wire }) = last {
            self.inject(id, start, wire, self.now);
        }
    }

    /// Lets an end send what it wants to, but for a last packet, which is the caller's to send.
    #[inline(never)]
    fn flush_but_last(&mut self, index: usize, end: usize) -> Option<Leaves> {
        let (now, forward) = (self.now, end == SOURCE);
        let mut sent = Transmit::default();
        let last = loop {
            let connection = &mut self.connections[index];
            if !connection.ends.transmit(end, now, &mut sent) {
                break None;
            }
            let start = if forward { connection.forward.start } else { connection.back.start };
            let packet = Packet::of(now, &sent, index as u32, connection.generation, start, forward);
            let id = self.packets.add_with(packet, &sent.segment.sack);
            self.note_leaving(index, id, &sent);
            let minds_queue = self.connections[index].ends.at[end].tx().is_some_and(Sender::minds_queue);
            if sent.last && !minds_queue {
                break Some(Leaves { id, start, wire: packet.wire });
            }
            self.inject(id, start, packet.wire, now);
            if minds_queue {
                self.tell_queue((index, end), start, packet.wire);
            }
            if sent.last {
                break None;
            }
        };
        self.arm(index, end);
        last
    }

    /// Tells a sender when what has just left, so many bytes, leaves its host's queue.
    fn tell_queue(&mut self, (index, end): (usize, usize), start: u32, wire: u32) {
        let leaves = self.leaves_host_at(start);
        if let Some(tx) = self.connections[index].ends.at[end].tx_mut() {
            tx.note_queued(wire, leaves);
        }
    }

    /// The same of an end of a plain connection, and what [`Self::after`] does.
    #[inline(always)]
    fn flush_at<const END: usize>(&mut self, index: usize) {
        self.flush_plain::<END, false>(index);
    }

    /// The same where it is not all plain: maybe but for bursts.
    #[inline(never)]
    fn flush_otherwise(&mut self, index: usize, end: usize) {
        match end {
            SOURCE => self.flush_plain::<SOURCE, true>(index),
            _ => self.after_all(index, end),
        }
    }

    #[inline(always)]
    fn flush_plain<const END: usize, const BURSTS: bool>(&mut self, index: usize) {
        let now = self.now;
        let (connection, last) = loop {
            let connection = &mut self.connections[index];
            let mut sent = Transmit::default();
            match connection.ends.transmit_plainly::<END, BURSTS>(now, &mut sent) {
                Some(true) => {}
                Some(false) => break (connection, None),
                None if BURSTS => return self.after_all(index, END),
                None => return self.flush_otherwise(index, END),
            }
            let forward = END == SOURCE;
            let start = if forward { connection.forward.start } else { connection.back.start };
            let packet = Packet::of(now, &sent, index as u32, connection.generation, start, forward);
            let id = self.packets.add(packet);
            if sent.last {
                break (connection, Some(Leaves { id, start, wire: packet.wire }));
            }
            self.inject(id, start, packet.wire, now);
        };
        let endpoint = &connection.ends.at[END];
        let armed = connection.armed[END];
        let (due, release) = match END {
            DESTINATION => (endpoint.rx().and_then(Receiver::deadline).is_some_and(|at| at < armed), None),
            _ => match endpoint.tx() {
                Some(tx) => (tx.is_due_before(armed), tx.release()),
                None => (false, None),
            },
        };
        if due || END == SOURCE && connection.finished() {
            self.send(last);
            return self.settle(index, END);
        }
        if let Some(release) = release
            && release < connection.pace_armed
        {
            self.arm_pace(index, release);
        }
        if let Some(Leaves { id, start, wire }) = last {
            self.lead_on(id, start, wire);
        }
    }

    /// Arms the timers of an end that has sent, and sees to the connection's end.
    #[inline(never)]
    fn settle(&mut self, index: usize, end: usize) {
        self.arm(index, end);
        self.check_finished(index);
    }

    /// Arms the timers of an end.
    fn arm(&mut self, index: usize, end: usize) {
        let connection = &self.connections[index];
        let endpoint = &connection.ends.at[end];
        let mut deadline = match endpoint.is_due_before(connection.armed[end]) {
            true => endpoint.deadline(),
            false => None,
        };
        if let Some(release) = endpoint.release() {
            if end == DESTINATION {
                deadline = deadline.into_iter().chain([release]).min();
            } else if release < connection.pace_armed {
                self.arm_pace(index, release);
            }
        }
        self.arm_until(index, end, deadline);
    }

    #[inline(always)]
    fn arm_until(&mut self, index: usize, end: usize, deadline: Option<Time>) {
        if let Some(deadline) = deadline
            && deadline < self.connections[index].armed[end]
        {
            self.arm_timer(index, end, deadline);
        }
    }

    #[inline(always)]
    fn arm_pace(&mut self, index: usize, release: Time) {
        let at = release.max(self.now);
        self.connections[index].pace_armed = at;
        self.agenda.push(at, kind::PACE | index as Key);
    }

    #[inline(never)]
    fn arm_timer(&mut self, index: usize, end: usize, deadline: Time) {
        let at = deadline.max(self.now);
        self.connections[index].armed[end] = at;
        self.agenda.push(at, if end == SOURCE { kind::SENDER } else { kind::RECEIVER } | index as Key);
    }

    /// Pacing lets the next segment out.
    #[inline(never)]
    pub(super) fn on_release(&mut self, index: usize) {
        self.agenda.vacate(); // nearly always the next release takes its place
        let connection = &mut self.connections[index];
        if connection.pace_armed == self.now {
            connection.pace_armed = NEVER;
            if connection.open && connection.plain {
                self.flush_at::<SOURCE>(index);
            } else if connection.open {
                self.after(index, SOURCE);
            }
        }
        self.agenda.settle();
    }
}
