//! The end of a frame: who has read it, and what it brings.

use super::Medium;
use super::air::Transmission;
use super::radio::Reading;
use crate::config::{NodeId, Role};
use crate::mac::{EVERYONE, Frame, Inbox, Pending, in_aggregate};
use crate::phy::bytes;
use crate::report::{Failure, FrameReport, Kind, Report};
use truckee_channel::random::uniform;

/// What a receiver made of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    /// It was read: of an aggregate, at least one of the frames in it.
    Yes,
    /// It was not, because of this.
    No(Failure),
}

/// What is known at the end of a frame about the packets in it.
struct End {
    /// How many have not been read by whom they are for.
    lost: u32,
    /// Those have been told, each with its own cause.
    told: bool,
    /// Why whom it is for has not read it.
    missed: Option<Failure>,
}

impl Medium {
    /// A frame has ended wherever it is heard.
    pub(super) fn on_arrived(&mut self, slot: u32) {
        let Some(sent) = self.air.take(slot) else { return };
        let (now, carrier_sense) = (self.now, self.levels.carrier_sense);
        let mut end = End { lost: sent.frame.packets, told: false, missed: sent.missed };
        for &(number, power) in &sent.heard {
            let node = &mut self.nodes[number as usize];
            node.radio.remove(power);
            let is_read = node.radio.lock.as_ref().is_some_and(|lock| lock.slot == slot);
            if is_read {
                self.read(&sent, number, &mut end);
                let node = &mut self.nodes[number as usize];
                node.radio.lock = None;
                node.sense(now, carrier_sense, &self.rules);
                self.deadlines.set(number, node.station.deadline());
                continue;
            }
            node.radio.note(now);
            if node.sense(now, carrier_sense, &self.rules) {
                self.deadlines.set(number, node.station.deadline());
            }
        }
        end.missed = end.missed.filter(|_| sent.frame.to != EVERYONE);
        self.note_end(&sent, &end);
        if self.tell_frames {
            self.tell_frame(&sent, &end);
        }
        self.air.free(slot, sent);
    }

    #[cold]
    fn tell_frame(&mut self, sent: &Transmission, end: &End) {
        let Frame { airtime, kind, rate, bytes, packets, from, to, .. } = sent.frame;
        let to = (to != EVERYONE).then_some(NodeId(to));
        let lost = if to.is_some() { end.lost } else { 0 };
        let (start, from, failure) = (sent.start, NodeId(from), end.missed);
        let report = FrameReport { start, airtime, from, to, kind, rate, bytes, packets, lost, failure };
        self.reports.push_back(Report::Frame(report));
    }

    /// Enters into the laboratory's books why a frame was not received.
    fn note_end(&mut self, sent: &Transmission, end: &End) {
        let Some(failure) = end.missed else { return };
        let Transmission { frame, packets, .. } = sent;
        let sender = frame.from as usize;
        if end.told {
            return;
        }
        if packets.is_empty() {
            self.nodes[sender].station.counters.failures[failure as usize] += 1;
        }
        for packet in packets {
            self.tell_missed(frame, packet, failure);
        }
        match frame.kind {
            Kind::Rts | Kind::Data | Kind::Aggregate => self.nodes[sender].station.note_failure(failure),
            Kind::Cts | Kind::Ack | Kind::BlockAck => {
                self.nodes[frame.to as usize].station.note_failure(failure)
            }
            Kind::CtsToSelf | Kind::BlockAckRequest => {}
        }
    }

    /// Counts that whom a packet was sent to did not get it this time, and reports it where that is asked for.
    fn tell_missed(&mut self, frame: &Frame, packet: &Pending, failure: Failure) {
        self.nodes[frame.from as usize].station.counters.failures[failure as usize] += 1;
        if self.tell_frames {
            let (at, node) = (self.now, NodeId(frame.from));
            self.reports.push_back(Report::Missed { at, packet: packet.id, node, failure });
        }
    }

    /// A station has heard a frame to its end, which is never in error so far above all else.
    #[inline(never)]
    fn read(&mut self, sent: &Transmission, node: u32, end: &mut End) {
        let Transmission { frame, packets, .. } = sent;
        let (now, i) = (self.now, node as usize);
        let clean = self.nodes[i].radio.has_read_clean(sent.clean * self.levels.noise);
        let mut missing = None;
        let read = match frame.kind {
            Kind::Aggregate => {
                let (read, last) = self.read_aggregate(frame, packets, node, clean, end);
                missing = last;
                read
            }
            _ if clean => Read::Yes,
            _ => self.read_single(frame, node, sent.clean),
        };
        let is_for_it = frame.to == node;
        if is_for_it {
            end.missed = match read {
                Read::Yes => missing,
                Read::No(failure) => Some(failure),
            };
        }
        if read != Read::Yes {
            return self.nodes[i].station.on_garbled(now, &self.rules, &mut self.reports);
        }
        if !is_for_it && (frame.to != EVERYONE || frame.kind == Kind::CtsToSelf) {
            return self.nodes[i].station.on_overheard(now, frame, &self.rules, &mut self.reports);
        }
        if frame.kind == Kind::Data
            && let Some(packet) = packets.first()
        {
            end.lost = 0;
            if frame.to == EVERYONE {
                self.deliver(node, packet);
            } else {
                self.note_arrived(frame.from, 0);
                self.accept(frame.from, node, packet);
            }
        }
        let inbox = match frame.kind {
            Kind::BlockAckRequest => {
                self.skip(frame, node);
                self.inbox_state(frame, node)
            }
            Kind::Aggregate => self.inbox_state(frame, node),
            _ => (0, 0),
        };
        let reserved = self.nodes[i].station.on_frame(now, frame, inbox, &self.rules, &mut self.reports);
        if let Some(failure) = reserved {
            end.missed = Some(failure);
        }
    }

    /// The receiver's reading of a frame.
    fn reading(&self, node: u32) -> Option<Reading<'_>> {
        let radio = &self.nodes[node as usize].radio;
        let lock = radio.lock?;
        Some(Reading {
            tables: &self.tables,
            phy: &self.rules.phy,
            noise: self.levels.noise,
            power: lock.power,
            interference: &radio.interference,
            since: lock.since,
        })
    }

    /// `clean`: how far above all else the frame is never in error.
    fn read_single(&mut self, frame: &Frame, node: u32, clean: f64) -> Read {
        if self.nodes[node as usize].radio.has_read_strong(clean, self.levels.noise) {
            // No error is drawn, but drawn it is: what the receiver's luck is next does not hang on how this was worked out.
            uniform(&mut self.nodes[node as usize].luck);
            return Read::Yes;
        }
        let Some(reading) = self.reading(node) else { return Read::No(Failure::Collision) };
        let (header, data) = (reading.header(frame), reading.bytes(frame, 0, frame.bytes));
        self.draw(node, header.all + data.all, header.noise + data.noise)
    }

    /// Whether something was read, for all the errors of noise and interference, or had there been noise alone.
    fn draw(&mut self, node: u32, all: f64, noise: f64) -> Read {
        let luck = uniform(&mut self.nodes[node as usize].luck);
        // e^−x is 1 − x or more, which is all that has to be known of most.
        if luck < 1.0 - all || luck < libm::exp(-all) {
            Read::Yes
        } else if luck < libm::exp(-noise) {
            Read::No(Failure::Collision)
        } else {
            Read::No(Failure::Noise)
        }
    }

    /// Reads an aggregate frame by frame. A station that it is not for needs one of them, to know how long to keep quiet.
    /// Whether anything was read, and what ended the last packet that was not.
    fn read_aggregate(
        &mut self,
        frame: &Frame,
        packets: &[Pending],
        node: u32,
        clean: bool,
        end: &mut End,
    ) -> (Read, Option<Failure>) {
        let is_for_it = frame.to == node;
        if clean && !is_for_it {
            return (Read::Yes, None);
        }
        if !clean {
            let Some(reading) = self.reading(node) else { return (Read::No(Failure::Collision), None) };
            let header = reading.header(frame);
            let read = self.draw(node, header.all, header.noise);
            if read != Read::Yes {
                return (read, None);
            }
        }
        end.told |= is_for_it;
        let (mut at, mut result) = (0, Read::No(Failure::Noise));
        let mut last = None;
        if frame.request {
            let size = in_aggregate(bytes::BLOCK_ACK_REQUEST);
            if self.read_part(frame, node, clean, at, size) == Read::Yes {
                result = Read::Yes;
                if is_for_it {
                    self.skip(frame, node);
                }
            }
            at += size;
        }
        for (i, packet) in packets.iter().enumerate() {
            let size = in_aggregate(self.rules.overhead + packet.bytes);
            let read = self.read_part(frame, node, clean, at, size);
            at += size;
            if result != Read::Yes {
                result = read;
            }
            if is_for_it {
                if let Read::No(failure) = read {
                    let flight = self.nodes[frame.from as usize].station.flight_mut();
                    flight[i].failure = failure;
                    self.tell_missed(frame, packet, failure);
                    last = Some(failure);
                    continue;
                }
                end.lost -= 1;
                self.note_arrived(frame.from, i);
                self.accept(frame.from, node, packet);
            } else if result == Read::Yes {
                break;
            }
        }
        (result, last)
    }

    /// Reads `size` bytes from `at` on.
    fn read_part(&mut self, frame: &Frame, node: u32, clean: bool, at: u32, size: u32) -> Read {
        if clean {
            return Read::Yes;
        }
        match self.reading(node) {
            None => Read::No(Failure::Collision),
            Some(reading) => {
                let part = reading.bytes(frame, at, (at + size).min(frame.bytes));
                self.draw(node, part.all, part.noise)
            }
        }
    }

    /// The laboratory notes at its sender that a packet has arrived.
    fn note_arrived(&mut self, sender: u32, i: usize) {
        if let Some(packet) = self.nodes[sender as usize].station.flight_mut().get_mut(i) {
            packet.arrived = true;
        }
    }

    #[inline]
    fn inbox(&mut self, from: u32, node: u32) -> &mut Inbox {
        let ordered = self.rules.aggregation.is_some();
        let inboxes = &mut self.nodes[node as usize].inboxes;
        let i = match inboxes.binary_search_by_key(&from, |inbox| inbox.0) {
            Ok(i) => i,
            Err(i) => {
                inboxes.insert(i, (from, if ordered { Inbox::ordered() } else { Inbox::plain() }));
                i
            }
        };
        &mut inboxes[i].1
    }

    /// The bitmap that answers a frame, and where the window begins.
    fn inbox_state(&mut self, frame: &Frame, node: u32) -> (u64, u64) {
        let inbox = self.inbox(frame.from, node);
        (inbox.bitmap(frame.first), inbox.next())
    }

    /// What a sender gave up is no longer waited for.
    fn skip(&mut self, frame: &Frame, node: u32) {
        let mut ready = std::mem::take(&mut self.ready);
        self.inbox(frame.from, node).skip_to(frame.first, |p| ready.push(*p));
        self.hand_up(node, ready);
    }

    /// A packet has arrived at the station that its frame was for.
    #[inline]
    fn accept(&mut self, from: u32, node: u32, packet: &Pending) {
        if self.rules.aggregation.is_none() {
            // Nothing waits to be put in order: it goes up, or has done so before.
            return match self.inbox(from, node).accept(packet, packet.tried, |_| ()) {
                true => self.deliver(node, packet),
                false => self.nodes[node as usize].station.counters.duplicates += 1,
            };
        }
        let mut ready = std::mem::take(&mut self.ready);
        if !self.inbox(from, node).accept(packet, packet.tried, |p| ready.push(*p)) {
            self.nodes[node as usize].station.counters.duplicates += 1;
        }
        self.hand_up(node, ready);
    }

    fn hand_up(&mut self, node: u32, mut ready: Vec<Pending>) {
        for packet in ready.drain(..) {
            self.deliver(node, &packet);
        }
        self.ready = ready;
    }

    /// A packet goes up, or on: an access point sends on what its clients send to each other and to everyone.
    fn deliver(&mut self, node: u32, packet: &Pending) {
        let Pending { id, bytes, source, dest, next, tells_sent, .. } = *packet;
        let goes_on = self.nodes[node as usize].role == Role::AccessPoint && next == node && dest != node;
        if dest == node || dest == EVERYONE && source != node {
            let (at, from) = (self.now, NodeId(source));
            self.reports.push_back(Report::Delivered { at, packet: id, node: NodeId(node), from });
        }
        if goes_on {
            self.enqueue(node, Pending { tells_sent, ..Pending::new(id, bytes, source, dest, dest) });
        }
    }
}
