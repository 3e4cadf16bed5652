//! Packets at their endpoints: senders, receivers, their timers and records.

use super::{Network, kind, seconds};
use crate::agenda::Key;
use crate::connection::{DESTINATION, NEVER, SOURCE};
use crate::packet::{Packet, PacketId, TRAFFIC, bits};
use truckee_scenario::outcome::{
    AckPoint, DelayPoint, LossPoint, OWN_DETECTOR, PacketContent, PacketPoint, PhasePoint, SegmentPoint,
    TRUE_PHASE, Vantage, WindowPoint,
};
use truckee_tcp::ack::AckPolicy;
use truckee_tcp::detect::Phase;
use truckee_tcp::{Cause, LossKind};

impl Network<'_> {
    /// A packet, whose place is free already, has reached its endpoint.
    #[inline]
    pub(super) fn on_arrival(&mut self, id: PacketId) {
        let now = self.now;
        let packet = &self.packets[id];
        self.digest.add(now, packet.seq ^ packet.ack.rotate_left(32) ^ u64::from(packet.owner) << 40);
        if packet.is_traffic() {
            let source = &self.sources[(packet.owner & !TRAFFIC) as usize];
            let book = &mut self.traffic[source.traffic];
            if self.warm {
                book.delivered += 1;
                book.bytes += u64::from(packet.wire);
                book.delays.add(now - packet.ts_val);
            }
            return;
        }
        let index = packet.owner as usize;
        if self.connections[index].generation != packet.generation {
            return;
        }
        if packet.is(bits::FORWARD) {
            self.at_destination(index, id);
        } else {
            self.at_source(index, id);
        }
    }

    #[inline]
    fn at_destination(&mut self, index: usize, id: PacketId) {
        if self.connections[index].tapped == Some(Vantage::Receiver) {
            self.tap(index, id, true);
        }
        let (packet, segment) = (&self.packets[id], self.packets.segment(id));
        let connection = &mut self.connections[index];
        connection.ends.forward.watch.truth =
            if packet.is(bits::SLOW_START) { Phase::SlowStart } else { Phase::Avoidance };
        let marked = packet.is(bits::CONGESTION_EXPERIENCED);
        connection.ends.on_segment::<DESTINATION>(self.now, &segment, marked);
        let bytes = connection.ends.receiver().map_or(0, |receiver| receiver.delivered());
        let (two_way, recorded) = (connection.ends.back.is_some(), connection.recorded);
        if bytes > 0 {
            self.deliver(index, bytes);
        }
        if recorded {
            self.record_phases(index, id);
        }
        if two_way {
            self.after(index, DESTINATION);
        } else {
            self.flush(index, DESTINATION);
        }
        if bytes > 0 && self.connections[index].awaited[DESTINATION] {
            self.tell_application(index, DESTINATION, bytes);
        }
    }

    /// The flow's data has been handed to its application.
    #[inline]
    fn deliver(&mut self, index: usize, bytes: u64) {
        let now = self.now;
        let connection = &mut self.connections[index];
        let reached = connection.ends.at[DESTINATION].rx().map_or(0, |receiver| receiver.rcv_nxt());
        let way = &mut connection.ends.forward;
        while let Some(born) = way.births.take(reached) {
            let delay = now.saturating_sub(born);
            if self.warm {
                way.deliveries.delays.add(delay);
            }
            if connection.recorded
                && let Some(series) = &mut self.flows[connection.flow].book.series
            {
                series.delays.push(DelayPoint { t: seconds(now), delay: seconds(delay) });
            }
        }
        let deliveries = &mut way.deliveries;
        if self.warm && deliveries.bytes > 0 {
            deliveries.stall = deliveries.stall.max(now - deliveries.last);
        }
        deliveries.bytes += bytes;
        deliveries.last = now;
    }

    /// The application, which waits for that, hears of what has been delivered.
    fn tell_application(&mut self, index: usize, end: usize, bytes: u64) {
        let connection = &self.connections[index];
        let (flow, lane) = (connection.flow, connection.lane);
        if self.flows[flow].app.delivered(self.now, lane, end, bytes, &mut self.commands) {
            self.obey(flow);
        }
    }

    #[inline]
    fn at_source(&mut self, index: usize, id: PacketId) {
        let now = self.now;
        self.inform(index);
        let (packet, segment) = (&self.packets[id], self.packets.segment(id));
        let connection = &mut self.connections[index];
        connection.ends.on_segment::<SOURCE>(now, &segment, packet.is(bits::CONGESTION_EXPERIENCED));
        if connection.recorded
            && let Some(series) = &mut self.flows[connection.flow].book.series
        {
            series.acks.push(AckPoint { t: seconds(now), ack: packet.ack });
        }
        let tapped = connection.tapped;
        let reached = connection.ends.at[SOURCE].rx().map_or(0, |receiver| receiver.rcv_nxt());
        if let Some(back) = &mut connection.ends.back {
            while back.births.take(reached).is_some() {} // what a request's delay was, nobody asks
        }
        let asked = connection.ends.at[SOURCE].rx().map_or(0, |receiver| receiver.delivered());
        if tapped == Some(Vantage::Sender) {
            self.tap(index, id, false);
        }
        self.after(index, SOURCE);
        if asked > 0 && self.connections[index].awaited[SOURCE] {
            self.tell_application(index, SOURCE, asked);
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
    #[inline]
    pub(super) fn after(&mut self, index: usize, end: usize) {
        if self.connections[index].recorded && end == SOURCE {
            self.record(index);
        }
        self.flush(index, end);
        if self.connections[index].finished() {
            self.on_finished(index);
        }
    }

    /// Lets an end send what it wants to.
    pub(super) fn flush(&mut self, index: usize, end: usize) {
        match end {
            SOURCE => self.flush_at::<SOURCE>(index),
            _ => self.flush_at::<DESTINATION>(index),
        }
    }

    #[inline]
    fn flush_at<const END: usize>(&mut self, index: usize) {
        let now = self.now;
        loop {
            let connection = &mut self.connections[index];
            let sent = &mut self.scratch;
            if !connection.ends.transmit::<END>(now, sent) {
                break;
            }
            let (segment, last) = (&sent.segment, sent.last);
            let mut packet = Packet::of(segment);
            packet.owner = index as u32;
            packet.generation = connection.generation;
            packet.at = if END == SOURCE { connection.forward.start } else { connection.back.start };
            packet.bits = bits::of(sent, END == SOURCE);
            packet.number = sent.number.unwrap_or_default();
            if segment.len > 0
                && END == SOURCE
                && connection.recorded
                && let Some(series) = &mut self.flows[connection.flow].book.series
            {
                series.segments.push(SegmentPoint {
                    t: seconds(now),
                    seq: segment.seq,
                    len: segment.len,
                    retransmission: sent.retransmission,
                });
            }
            let leaves = if END == SOURCE { Vantage::Sender } else { Vantage::Receiver };
            let tapped = connection.tapped == Some(leaves);
            let id = self.packets.add_with(packet, &segment.sack);
            if tapped {
                self.tap(index, id, END == SOURCE);
            }
            self.inject(id, now);
            if last {
                break;
            }
        }
        self.arm(index, END);
    }

    /// Arms the timers of an end.
    #[inline]
    fn arm(&mut self, index: usize, end: usize) {
        let now = self.now;
        let connection = &mut self.connections[index];
        let endpoint = &connection.ends.at[end];
        let mut deadline = endpoint.deadline();
        if let Some(release) = endpoint.release() {
            if end == DESTINATION {
                deadline = deadline.into_iter().chain([release]).min();
            } else if release < connection.pace_armed {
                connection.pace_armed = release.max(now);
                self.agenda.push(connection.pace_armed, kind::PACE | index as Key);
            }
        }
        if let Some(deadline) = deadline
            && deadline < connection.armed[end]
        {
            connection.armed[end] = deadline.max(now);
            let kind = if end == SOURCE { kind::SENDER } else { kind::RECEIVER };
            self.agenda.push(connection.armed[end], kind | index as Key);
        }
    }

    /// Pacing lets the next segment out.
    pub(super) fn on_release(&mut self, index: usize) {
        self.agenda.pop();
        let now = self.now;
        let connection = &mut self.connections[index];
        if connection.pace_armed != now {
            return;
        }
        connection.pace_armed = NEVER;
        if connection.open {
            self.after(index, SOURCE);
        }
    }

    /// Notes a packet that leaves the end where packets are wanted, or reaches it.
    #[cold]
    #[inline(never)]
    fn tap(&mut self, index: usize, id: PacketId, from_sender: bool) {
        let connection = &self.connections[index];
        let Some(series) = &mut self.flows[connection.flow].book.series else { return };
        series.packets.push(PacketPoint {
            at: self.now,
            connection: connection.tap_number(),
            from_sender,
            transmission: self.packets[id].transmission(),
            content: PacketContent::Segment(self.packets.segment(id)),
            dropped: None,
        });
    }

    /// Notes turns of the true phase and of the detectors' verdicts, after a data segment has come.
    fn record_phases(&mut self, index: usize, id: PacketId) {
        let flow = self.connections[index].flow;
        let ends = &self.connections[index].ends;
        let watch = &ends.forward.watch;
        let own = ends.receiver().and_then(|receiver| receiver.policy().phase());
        if self.packets[id].len == 0 || own.is_none() && watch.watchers().is_none() {
            return;
        }
        let truth = watch.truth;
        let watching = watch.watchers().into_iter().flat_map(|w| w.phases()).map(Some);
        let names = self.scenario.flows[flow].observe.detectors.iter().map(|(name, _)| name.as_str());
        let book = &mut self.flows[flow].book;
        let Some(series) = &mut book.series else { return };
        let said = [Some(truth), own].into_iter().chain(watching);
        for (k, (who, now)) in [TRUE_PHASE, OWN_DETECTOR].into_iter().chain(names).zip(said).enumerate() {
            if k == book.phases.len() {
                book.phases.push(None);
            }
            if let Some(phase) = now
                && book.phases[k].replace(phase) != now
            {
                let slow_start = phase == Phase::SlowStart;
                series.phases.push(PhasePoint { t: seconds(self.now), who: who.to_owned(), slow_start });
            }
        }
    }

    pub(super) fn record(&mut self, index: usize) {
        let t = seconds(self.now);
        let connection = &mut self.connections[index];
        let Some(series) = &mut self.flows[connection.flow].book.series else { return };
        let Some(sender) = connection.ends.at[SOURCE].tx() else { return };
        let (window, books) = (sender.window(), &mut connection.ends.forward.books);
        series.window.push(WindowPoint {
            t,
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            flight: sender.outstanding().flight(),
            rtt: books.last_rtt().map(seconds),
        });
        if let Some(record) = books.take_loss() {
            series.losses.push(LossPoint {
                t,
                seq: record.loss.seq,
                kind: match record.loss.kind {
                    LossKind::DupAcks => "dup-acks",
                    LossKind::Timeout => "timeout",
                    LossKind::EcnEcho => "ecn",
                },
                truth: record.fate.map_or("none", Cause::as_str),
                verdict: record.verdict.as_str(),
            });
        }
    }
}
