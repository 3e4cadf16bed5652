//! A connection: two ends, and a [`Flow`] each way. Turns the numbers on the wire into 64-bit ones.
//!
//! They are counted from the SYN's, as long as nothing else has passed from the last of several, never from a RST's, which
//! may say 0. Where no SYN was captured they are counted from the first number seen, with room below it: what was sent
//! before the capture began may be sent again. Once a connection is closed, numbers that are not its own begin another.

use crate::flow::retransmissions::Verdict;
use crate::flow::{Ack, Acked, Blocks, Book, Data, Flow, ORIGIN, Sent};
use crate::handshake::Handshake;
use crate::wire::{Packet, Tcp, flags};
use std::net::IpAddr;
use truckee_tcp::seq::widen;
use truckee_tcp::{Cause, Seq, Time};

/// Segment size where nothing tells: Ethernet's, with time stamps.
const USUAL_SEGMENT: u32 = 1448;

/// An address and a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct End {
    /// The address.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::net::SocketAddr::new(self.address, self.port).fmt(f)
    }
}

/// What data goes from the client to the server, or back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the client.
    ToServer,
    /// From the server.
    ToClient,
}

impl Way {
    fn index(self) -> usize {
        match self {
            Self::ToServer => 0,
            Self::ToClient => 1,
        }
    }

    /// The other way.
    pub fn back(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }
}

/// What an end's numbers are counted from.
#[derive(Debug, Clone, Copy, Default)]
struct Numbers {
    /// The 32-bit number that is 0 here.
    base: Option<u32>,
    /// The highest 64-bit number that has passed.
    near: Seq,
}

impl Numbers {
    /// The 64-bit number of `wire`.
    fn of(&self, wire: u32) -> Seq {
        widen(wire.wrapping_sub(self.base.unwrap_or(wire.wrapping_sub(1))), self.near)
    }

    /// Whether `wire` may be a number of a connection that has ended: one that was used, or little more.
    fn may_have(&self, wire: u32) -> bool {
        const LITTLE: u64 = 1 << 20;
        let used = if self.near >= ORIGIN { self.near - ORIGIN } else { self.near - Seq::ZERO };
        self.base.is_none_or(|base| used >= 1 << 31 || u64::from(wire.wrapping_sub(base)) <= used + LITTLE)
    }
}

/// A connection as it is followed.
#[derive(Debug, Clone)]
pub struct Connection {
    /// Its ordinal in the capture, from 1.
    pub number: u64,
    /// Who opened it or, where that was not captured, who spoke first.
    pub client: End,
    /// The other end.
    pub server: End,
    /// How it was opened.
    pub handshake: Handshake,
    /// When its first packet passed.
    pub began: Time,
    /// When its last packet passed.
    pub last: Time,
    /// Packets to the server, and to the client.
    pub packets: [u64; 2],
    /// Packets that a router has marked (CE), either way.
    pub marked: [u64; 2],
    /// Who has sent FIN.
    pub fin: [bool; 2],
    /// Who has sent RST.
    pub reset: [bool; 2],
    /// Packets of which the options were cut off.
    pub cut_short: u64,
    /// Packets whose time was before that of the one before.
    pub backwards: u64,
    flows: [Flow; 2],
    numbers: [Numbers; 2],
}

/// What a packet turned out to be: the data in it, and the ACK of the other direction's data.
#[derive(Debug, Clone, Copy, Default)]
pub struct Step {
    /// Its ACK.
    pub ack: Option<(Ack, Acked)>,
    /// Its data or FIN.
    pub data: Option<(Data, Sent)>,
    /// Which way its data goes.
    pub way: Option<Way>,
    /// What its data was sent again for, if it was, and the loss event that begins with that.
    pub again: Option<Verdict>,
}

impl Connection {
    /// A connection that begins with this packet.
    pub(crate) fn new(number: u64, now: Time, packet: &Packet) -> Self {
        let source = End { address: packet.ip.source, port: packet.tcp.source };
        let destination = End { address: packet.ip.destination, port: packet.tcp.destination };
        // The SYN-ACK tells who is who even where the SYN was not captured.
        let answer = packet.tcp.has(flags::SYN) && packet.tcp.has(flags::ACK);
        let (client, server) = if answer { (destination, source) } else { (source, destination) };
        Self {
            number,
            client,
            server,
            handshake: Handshake::default(),
            began: now,
            last: now,
            packets: [0; 2],
            marked: [0; 2],
            fin: [false; 2],
            reset: [false; 2],
            cut_short: 0,
            backwards: 0,
            flows: [Flow::new(Seq::FIRST), Flow::new(Seq::FIRST)],
            numbers: [Numbers::default(); 2],
        }
    }

    /// The direction of data that goes this way.
    pub fn flow(&self, way: Way) -> &Flow {
        &self.flows[way.index()]
    }

    /// Which way a packet goes.
    pub(crate) fn way(&self, packet: &Packet) -> Way {
        let from_client = packet.ip.source == self.client.address && packet.tcp.source == self.client.port;
        if from_client { Way::ToServer } else { Way::ToClient }
    }

    /// Whether a packet that comes now opens another connection between the same ends, or belongs to one whose beginning
    /// was not captured.
    pub(crate) fn is_over_with(&self, packet: &Packet) -> bool {
        let (tcp, index) = (&packet.tcp, self.way(packet).index());
        if !tcp.has(flags::SYN) {
            let closed = self.fin == [true; 2] || self.reset.contains(&true);
            return closed && !tcp.has(flags::RST) && !self.numbers[index].may_have(tcp.seq);
        }
        let others = self.numbers[index].base.is_some_and(|base| base != tcp.seq);
        if !tcp.has(flags::ACK) {
            // Nothing but a stray RST has passed where neither end has a number.
            return others || self.numbers.iter().all(|numbers| numbers.base.is_none());
        }
        // A SYN-ACK with another number may be an old one, or the second that answers one SYN.
        let carried = self.flows.iter().any(|flow| !flow.is_untouched());
        others && carried && !self.answers_syn(1 - index, tcp)
    }

    /// Whether a SYN-ACK answers the SYN that the numbers of end `index` begin with: it may acknowledge data of it too
    /// (RFC 7413).
    fn answers_syn(&self, index: usize, tcp: &Tcp) -> bool {
        const MOST_DATA: u32 = 1 << 16;
        let base = self.numbers[index].base;
        base.is_none_or(|base| (1..=MOST_DATA).contains(&tcp.ack.wrapping_sub(base)))
    }

    /// Bytes that both its directions take, beside their own.
    pub(crate) fn size(&self) -> usize {
        self.flows.iter().map(Flow::size).sum()
    }

    /// Bytes of a full segment that way: as agreed on or, if that was not captured, the largest seen, and not more than
    /// Ethernet's where offloads have made larger ones.
    pub fn segment_size(&self, way: Way) -> u32 {
        let largest = self.flow(way).throughput.largest;
        let agreed = self.handshake.segment_size(way == Way::ToClient);
        match agreed {
            Some(agreed) if largest > agreed || largest == 0 => agreed,
            Some(_) => largest,
            None if largest == 0 || largest > USUAL_SEGMENT + 12 => USUAL_SEGMENT,
            None => largest,
        }
    }

    /// A packet of it has passed.
    pub(crate) fn on_packet(&mut self, time: Time, packet: &Packet, dropped: Option<Cause>) -> Step {
        let way = self.way(packet);
        let (index, tcp) = (way.index(), &packet.tcp);
        self.backwards += u64::from(time < self.last);
        let now = time.max(self.last);
        self.last = now;
        self.packets[index] += 1;
        self.marked[index] += u64::from(packet.ip.congestion_experienced);
        self.cut_short += u64::from(tcp.options.cut_short);
        self.reset[index] |= tcp.has(flags::RST);
        self.learn_handshake(now, way, tcp);
        self.note_base(now, index, packet);
        let mut step = Step { way: Some(way), ..Step::default() };
        if tcp.has(flags::ACK) && !tcp.has(flags::RST) {
            step.ack = self.on_ack(now, way.back(), packet);
        }
        if !tcp.has(flags::RST) {
            self.on_data(now, way, packet, dropped, &mut step);
        }
        step
    }

    fn learn_handshake(&mut self, now: Time, way: Way, tcp: &Tcp) {
        let known = self.handshake.to_client().is_some();
        self.handshake.on_segment(now, way == Way::ToServer, tcp);
        if tcp.has(flags::SYN) && self.handshake.agrees_on_sack() {
            self.flows.iter_mut().for_each(|flow| flow.retransmissions.agree_on_sack());
        }
        if !known && let Some(span) = self.handshake.to_client() {
            let to_server = self.handshake.to_server();
            self.flows[Way::ToServer.index()].rtt.on_handshake(span, to_server);
            if let Some(to_server) = to_server {
                self.flows[Way::ToClient.index()].rtt.on_handshake(to_server, Some(span));
            }
        }
    }

    fn note_base(&mut self, now: Time, index: usize, packet: &Packet) {
        let tcp = &packet.tcp;
        if tcp.has(flags::RST) {
            return;
        }
        if !tcp.has(flags::SYN) {
            self.begin_amid(now, index, tcp.seq, packet.ip.id);
        } else if self.flows[index].is_untouched()
            && (!tcp.has(flags::ACK) || !self.handshake.has_syn() || self.answers_syn(1 - index, tcp))
        {
            self.numbers[index] = Numbers { base: Some(tcp.seq), near: Seq::FIRST };
            self.flows[index].book = Book::new(Seq::FIRST);
        }
        if tcp.has(flags::ACK) {
            self.begin_amid(now, 1 - index, tcp.ack, None);
        }
    }

    /// The first number of an end whose SYN was not captured.
    fn begin_amid(&mut self, now: Time, index: usize, wire: u32, id: Option<u16>) {
        if self.numbers[index].base.is_none() {
            self.numbers[index] = Numbers { base: Some(wire.wrapping_sub(1)), near: ORIGIN + 1 };
            self.flows[index].book = Book::amid(now, id);
        }
    }

    fn on_data(&mut self, now: Time, way: Way, packet: &Packet, dropped: Option<Cause>, step: &mut Step) {
        let (index, tcp) = (way.index(), &packet.tcp);
        let size = self.segment_size(way);
        let numbers = &mut self.numbers[index];
        let at = numbers.of(tcp.seq);
        let fin = u64::from(tcp.has(flags::FIN));
        self.fin[index] |= fin > 0;
        if tcp.len == 0 && fin == 0 {
            return;
        }
        self.flows[1 - index].acks.forget_id();
        // The data of a SYN (Fast Open) comes after the SYN's own number.
        let seq = at + u64::from(tcp.has(flags::SYN));
        let end = seq + u64::from(tcp.len) + fin;
        numbers.near = numbers.near.max(end);
        let data = Data {
            now,
            seq,
            end,
            len: tcp.len,
            flags: tcp.flags,
            stamps: tcp.options.timestamps,
            id: packet.ip.id,
            dropped,
        };
        let (sent, again) = self.flows[index].on_data(&data, size);
        (step.data, step.again) = (Some((data, sent)), again);
    }

    /// The ACK of data that goes `way`.
    fn on_ack(&mut self, now: Time, way: Way, packet: &Packet) -> Option<(Ack, Acked)> {
        let (index, tcp) = (way.index(), &packet.tcp);
        let size = self.segment_size(way);
        let scale =
            if tcp.has(flags::SYN) { 0 } else { self.handshake.scale(way == Way::ToClient).unwrap_or(0) };
        let numbers = &mut self.numbers[index];
        let number = numbers.of(tcp.ack);
        if tcp.has(flags::SYN) {
            if let Some((stamp, _)) = tcp.options.timestamps {
                self.flows[index].rtt.note_stamp(stamp, now);
            }
            return None;
        }
        let mut ack = Ack {
            now,
            ack: number.max(Seq::FIRST),
            window: u64::from(tcp.window) << scale,
            pure: tcp.len == 0 && !tcp.has(flags::FIN),
            stamps: tcp.options.timestamps,
            sack: Blocks::default(),
            duplicate: None,
            id: packet.ip.id,
        };
        self.read_sack(index, tcp, &mut ack);
        let numbers = &mut self.numbers[index];
        numbers.near = numbers.near.max(ack.ack);
        let acked = self.flows[index].on_ack(&ack, size);
        Some((ack, acked))
    }

    /// SACK blocks as 64-bit numbers; one below the ACK, or within the block after it, reports a duplicate (RFC 2883).
    fn read_sack(&self, index: usize, tcp: &Tcp, ack: &mut Ack) {
        let numbers = &self.numbers[index];
        let wide = |&(from, to): &(u32, u32)| (numbers.of(from), numbers.of(to));
        let blocks = tcp.options.sack.blocks();
        for (k, block) in blocks.iter().enumerate() {
            let (from, to) = wide(block);
            if from >= to {
                continue;
            }
            let within =
                k == 0 && blocks.get(1).map(wide).is_some_and(|(first, last)| first <= from && to <= last);
            if k == 0 && (to <= ack.ack || within) {
                ack.duplicate = Some((from, to));
            } else if to > ack.ack {
                ack.sack.push(from, to);
            }
        }
    }
}
