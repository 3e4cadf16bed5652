//! Packets at their endpoints: senders, receivers, their timers and records.

use super::{Network, kind, seconds};
use crate::agenda::Key;
use crate::connection::{Ends, NEVER};
use crate::packet::{Packet, PacketId, TRAFFIC, bits};
use truckee_scenario::outcome::{
    AckPoint, DelayPoint, LossPoint, OWN_DETECTOR, PacketContent, PacketPoint, PhasePoint, SegmentPoint,
    TRUE_PHASE, Vantage, WindowPoint,
};
use truckee_tcp::ack::AckPolicy;
use truckee_tcp::detect::Phase;
use truckee_tcp::{Cause, LossKind, Transmission};

impl Network<'_> {
    /// A packet, whose place is free already, has reached its endpoint.
    #[inline]
    pub(super) fn on_arrival(&mut self, id: PacketId) {
        let now = self.now;
        let packet = &self.packets[id];
        let segment = &packet.segment;
        self.digest.add(now, segment.seq ^ segment.ack.rotate_left(32) ^ u64::from(packet.owner) << 40);
        if packet.is_traffic() {
            let source = &self.sources[(packet.owner & !TRAFFIC) as usize];
            let book = &mut self.traffic[source.traffic];
            if self.warm {
                book.delivered += 1;
                book.bytes += u64::from(packet.wire);
                book.delays.add(now - segment.ts_val);
            }
            return;
        }
        let index = packet.owner as usize;
        if self.connections[index].generation != packet.generation {
            return;
        }
        if packet.is(bits::FORWARD) {
            self.at_receiver(index, id);
        } else {
            self.at_sender(index, id);
        }
    }

    #[inline]
    pub(super) fn at_receiver(&mut self, index: usize, id: PacketId) {
        let now = self.now;
        if self.connections[index].tapped == Some(Vantage::Receiver) {
            self.tap(index, id, true);
        }
        let packet = &self.packets[id];
        let connection = &mut self.connections[index];
        let Ends { receiver, watch, births, .. } = &mut connection.ends;
        watch.truth = if packet.is(bits::SLOW_START) { Phase::SlowStart } else { Phase::Avoidance };
        receiver.on_segment(now, &packet.segment, packet.is(bits::CONGESTION_EXPERIENCED), watch);
        let recorded = connection.recorded;
        let bytes = receiver.delivered();
        if bytes > 0 {
            while let Some(born) = births.take(receiver.rcv_nxt()) {
                let delay = now.saturating_sub(born);
                if self.warm {
                    connection.deliveries.delays.add(delay);
                }
                if recorded && let Some(series) = &mut self.flows[connection.flow].book.series {
                    series.delays.push(DelayPoint { t: seconds(now), delay: seconds(delay) });
                }
            }
            let deliveries = &mut connection.deliveries;
            if self.warm && deliveries.bytes > 0 {
                deliveries.stall = deliveries.stall.max(now - deliveries.last);
            }
            deliveries.bytes += bytes;
            deliveries.last = now;
        }
        let (flow, lane, news) = (connection.flow, connection.lane, connection.awaited && bytes > 0);
        if recorded {
            self.record_phases(index, id);
        }
        self.flush_receiver(index);
        if news && self.flows[flow].app.delivered(now, lane, bytes, &mut self.commands) {
            self.obey(flow);
        }
    }

    #[inline]
    pub(super) fn at_sender(&mut self, index: usize, id: PacketId) {
        let now = self.now;
        self.inform(index);
        let segment = &self.packets[id].segment;
        let connection = &mut self.connections[index];
        let Ends { sender, books, .. } = &mut connection.ends;
        sender.on_segment(now, segment, books);
        if connection.recorded
            && let Some(series) = &mut self.flows[connection.flow].book.series
        {
            series.acks.push(AckPoint { t: seconds(now), ack: segment.ack });
        }
        if connection.tapped == Some(Vantage::Sender) {
            self.tap(index, id, false);
        }
        self.after_sender(index);
    }

    pub(super) fn on_sender_timer(&mut self, index: usize) {
        self.agenda.pop();
        let now = self.now;
        let connection = &mut self.connections[index];
        if connection.sender_armed != now {
            return;
        }
        connection.sender_armed = NEVER;
        if connection.ends.sender.deadline().is_some_and(|d| d <= now) {
            self.inform(index);
            let Ends { sender, books, .. } = &mut self.connections[index].ends;
            sender.on_timer(now, books);
            self.after_sender(index);
        } else {
            self.arm_sender(index);
        }
    }

    pub(super) fn on_receiver_timer(&mut self, index: usize) {
        self.agenda.pop();
        let now = self.now;
        let connection = &mut self.connections[index];
        if connection.receiver_armed != now {
            return;
        }
        connection.receiver_armed = NEVER;
        if connection.ends.receiver.deadline().is_some_and(|d| d <= now) {
            connection.ends.receiver.on_timer(now);
        }
        self.flush_receiver(index);
    }

    /// After anything has happened to a sender: its record, its segments, its timer, its end.
    #[inline]
    pub(super) fn after_sender(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if connection.recorded {
            self.record(index);
        }
        self.flush_sender(index);
        if self.connections[index].finished() {
            self.on_finished(index);
        }
    }

    #[inline]
    pub(super) fn flush_sender(&mut self, index: usize) {
        let now = self.now;
        loop {
            let connection = &mut self.connections[index];
            let Ends { sender, books, births, .. } = &mut connection.ends;
            let Some(sent) = sender.poll_transmit(now, books) else { break };
            let segment = sent.segment;
            if segment.len > 0 && !sent.retransmission {
                births.on_sent(now, segment.seq, segment.end());
            }
            let packet = Packet {
                segment,
                owner: index as u32,
                generation: connection.generation,
                at: connection.forward.start,
                wire: segment.wire_bytes(),
                bits: bits::of(&sent),
                number: sent.number.unwrap_or_default(),
            };
            if segment.len > 0
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
            let tapped = connection.tapped;
            let id = self.packets.add(packet);
            if tapped == Some(Vantage::Sender) {
                self.tap(index, id, true);
            }
            self.inject(id, now);
        }
        self.arm_sender(index);
    }

    #[inline]
    pub(super) fn arm_sender(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if let Some(deadline) = connection.ends.sender.deadline()
            && deadline < connection.sender_armed
        {
            connection.sender_armed = deadline.max(self.now);
            self.agenda.push(connection.sender_armed, kind::SENDER | index as Key);
        }
        if let Some(release) = connection.ends.sender.release()
            && release < connection.pace_armed
        {
            connection.pace_armed = release.max(self.now);
            self.agenda.push(connection.pace_armed, kind::PACE | index as Key);
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
            self.after_sender(index);
        }
    }

    #[inline]
    pub(super) fn flush_receiver(&mut self, index: usize) {
        let now = self.now;
        while let Some(segment) = self.connections[index].ends.receiver.poll_transmit(now) {
            let connection = &self.connections[index];
            let packet = Packet {
                segment,
                owner: index as u32,
                generation: connection.generation,
                at: connection.back.start,
                wire: segment.wire_bytes(),
                bits: 0,
                number: Transmission::default(),
            };
            let tapped = connection.tapped;
            let id = self.packets.add(packet);
            if tapped == Some(Vantage::Receiver) {
                self.tap(index, id, false);
            }
            self.inject(id, now);
        }
        let connection = &mut self.connections[index];
        if let Some(deadline) = connection.ends.receiver.deadline()
            && deadline < connection.receiver_armed
        {
            connection.receiver_armed = deadline.max(now);
            self.agenda.push(connection.receiver_armed, kind::RECEIVER | index as Key);
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
            content: PacketContent::Segment(self.packets[id].segment),
            dropped: None,
        });
    }

    /// Notes turns of the true phase and of the detectors' verdicts, after a data segment has come.
    fn record_phases(&mut self, index: usize, id: PacketId) {
        let flow = self.connections[index].flow;
        let Ends { receiver, watch, .. } = &self.connections[index].ends;
        let own = receiver.policy().phase();
        if self.packets[id].segment.len == 0 || own.is_none() && watch.watchers().is_none() {
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
        let Ends { sender, books, .. } = &mut connection.ends;
        let window = sender.window();
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
