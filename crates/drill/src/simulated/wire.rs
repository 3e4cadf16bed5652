//! Between segments of `truckee-tcp`, whose numbers have 64 bits and whose options are agreed on, and those on the wire.

use super::settings::{Agreed, MSS, Settings};
use crate::script::{Ecn, Packet, TcpOption, bits};
use std::collections::BTreeMap;
use truckee_tcp::segment::SackBlocks;
use truckee_tcp::seq::widen;
use truckee_tcp::stack::Ecn as Feedback;
use truckee_tcp::{Segment, Seq, Time, Transmit, flags};

/// Segment size where the peer names none (RFC 9293, section 3.7.1).
const DEFAULT_MSS: u16 = 536;
/// Bytes of an option of timestamps with its padding.
const STAMP_BYTES: u16 = 12;
const FLAGS: [(u8, u16); 6] = [
    (flags::SYN, bits::SYN),
    (flags::ACK, bits::ACK),
    (flags::FIN, bits::FIN),
    (flags::ECE, bits::ECE),
    (flags::CWR, bits::CWR),
    (flags::AE, bits::AE),
];

/// What a SYN offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// The largest segment it takes.
    pub mss: u16,
    /// SACK.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// By how much its windows are shifted.
    pub scale: Option<u8>,
    /// ECE and CWR of a SYN, ECE of a SYN-ACK; or that the endpoint reads and writes these flags itself.
    pub ecn: Feedback,
}

impl Offer {
    /// What a stack of these settings offers first.
    pub fn of(settings: &Settings) -> Self {
        Self {
            mss: MSS,
            sack: settings.sack,
            timestamps: settings.timestamps,
            scale: settings.scaling.then(|| settings.scale()),
            ecn: settings.ecn.0,
        }
    }

    /// What a stack of these settings answers to an offer: no more than that.
    pub fn answer(settings: &Settings, theirs: Self) -> Self {
        Self {
            mss: MSS,
            sack: settings.sack && theirs.sack,
            timestamps: settings.timestamps && theirs.timestamps,
            scale: theirs.scale.filter(|_| settings.scaling).map(|_| settings.scale()),
            ecn: match settings.ecn.1 {
                Feedback::Classic => theirs.ecn,
                other => other,
            },
        }
    }

    /// That of a SYN or SYN-ACK that came.
    pub fn read(packet: &Packet) -> Self {
        let mut offer =
            Self { mss: DEFAULT_MSS, sack: false, timestamps: false, scale: None, ecn: Feedback::Off };
        for option in packet.options() {
            match *option {
                TcpOption::Mss(mss) => offer.mss = mss,
                TcpOption::SackOk => offer.sack = true,
                TcpOption::Timestamp { .. } => offer.timestamps = true,
                TcpOption::Scale(shift) => offer.scale = Some(shift.min(14)), // RFC 7323, section 2.3
                _ => {}
            }
        }
        // RFC 3168, section 6.1.1: a SYN asks with both bits, a SYN-ACK answers with one.
        let both = packet.has(bits::ECE) && packet.has(bits::CWR);
        let classic = if packet.has(bits::ACK) { packet.has(bits::ECE) && !both } else { both };
        offer.ecn = if classic { Feedback::Classic } else { Feedback::Off };
        offer
    }

    /// What two offers come to.
    pub fn agreed(self, theirs: Self) -> Agreed {
        let timestamps = self.timestamps && theirs.timestamps;
        let mss = self.mss.min(theirs.mss.max(1));
        Agreed {
            mss: if timestamps { mss.saturating_sub(STAMP_BYTES).max(1) } else { mss },
            sack: self.sack && theirs.sack,
            timestamps,
            scaling: self.scale.is_some() && theirs.scale.is_some(),
            ecn: match (self.ecn, theirs.ecn) {
                (Feedback::Accurate, _) | (Feedback::Classic, Feedback::Classic) => self.ecn,
                _ => Feedback::Off,
            },
        }
    }
}

/// How numbers, windows and times are written in one connection.
#[derive(Debug, Clone)]
pub struct Wire {
    /// What this end's SYN says.
    pub ours: Offer,
    /// What both ends have agreed on, once the peer has spoken.
    pub agreed: Option<Agreed>,
    /// By how much the peer's windows are shifted.
    their_scale: u8,
    /// The number of the peer's SYN.
    their_first: u32,
    /// When this end said what milliseconds.
    times: BTreeMap<u32, Time>,
}

impl Wire {
    /// That of a connection which this end begins with such an offer, or answers with it.
    pub fn new(ours: Offer) -> Self {
        Self { ours, agreed: None, their_scale: 0, their_first: 0, times: BTreeMap::new() }
    }

    /// The peer's SYN or SYN-ACK has come.
    pub fn meet(&mut self, theirs: Offer, first: u32) -> Agreed {
        let agreed = self.ours.agreed(theirs);
        self.their_scale = theirs.scale.filter(|_| agreed.scaling).unwrap_or(0);
        self.their_first = first;
        self.agreed = Some(agreed);
        agreed
    }

    /// A segment that came, given the numbers that this end expects next and has sent up to.
    pub fn read(&self, packet: &Packet, expected: Seq, sent: Seq) -> Segment {
        let near = |number: u32, near: Seq| widen(number, near);
        let ack = packet.ack.map_or(Seq::ZERO, |ack| near(ack, sent));
        let syn = packet.has(bits::SYN);
        let shift = if syn { 0 } else { u32::from(self.their_scale) };
        let mut segment = Segment {
            seq: near(packet.seq.wrapping_sub(self.their_first), expected),
            ack,
            window: u32::from(packet.window.unwrap_or(0)) << shift,
            len: packet.len,
            ..Segment::default()
        };
        for (inside, wire) in FLAGS {
            // In a SYN these bits are the offer, which is settled here unless the endpoint does.
            let settled = syn && self.ours.ecn != Feedback::Accurate;
            if packet.has(wire) && !(settled && matches!(wire, bits::ECE | bits::CWR | bits::AE)) {
                segment.flags |= inside;
            }
        }
        let stamps = syn || self.agreed.is_some_and(|agreed| agreed.timestamps);
        for option in packet.options() {
            match option {
                TcpOption::Timestamp { val, ecr } if stamps => {
                    segment.ts_val = Time::ms((*val).into());
                    segment.ts_ecr = self.times.get(ecr).copied().unwrap_or(Time::ZERO);
                }
                TcpOption::Sack(blocks) if self.agreed.is_some_and(|agreed| agreed.sack) => {
                    segment.sack = self.blocks(blocks, ack);
                }
                _ => {}
            }
        }
        segment
    }

    fn blocks(&self, blocks: &[(u32, u32)], ack: Seq) -> SackBlocks {
        let mut found = SackBlocks::default();
        for &(from, to) in blocks {
            let (from, to) = (widen(from, ack), widen(to, ack));
            if from < to {
                found.push(ack, from, to);
            }
        }
        found
    }

    /// A segment that leaves; `pushed`: it ends a write.
    pub fn write(&mut self, transmit: &Transmit, pushed: bool) -> Packet {
        let segment = &transmit.segment;
        let syn = segment.has(flags::SYN);
        let mut packet = Packet {
            ecn: Some(if transmit.ecn_capable { Ecn::Ect0 } else { Ecn::Not }),
            flags: if pushed { bits::PSH } else { 0 },
            seq: segment.seq.on_wire(),
            len: segment.len,
            ack: segment.has(flags::ACK).then(|| segment.ack.on_wire().wrapping_add(self.their_first)),
            window: Some(self.window(segment, syn)),
            options: Some(self.options(segment, syn)),
        };
        for (inside, wire) in FLAGS {
            if segment.has(inside) {
                packet.flags |= wire;
            }
        }
        // One that got no answer may have been dropped for what it asked (RFC 3168, section 6.1.1.1).
        if syn && transmit.retransmission && !segment.has(flags::ACK) && self.ours.ecn == Feedback::Classic {
            self.ours.ecn = Feedback::Off;
        }
        if syn && self.ours.ecn == Feedback::Classic {
            packet.flags |= if packet.has(bits::ACK) { bits::ECE } else { bits::ECE | bits::CWR };
        }
        packet
    }

    fn window(&self, segment: &Segment, syn: bool) -> u16 {
        let scaled = !syn && self.agreed.is_some_and(|agreed| agreed.scaling);
        let shift = self.ours.scale.filter(|_| scaled).unwrap_or(0);
        (segment.window >> shift).min(65_535) as u16
    }

    /// In the order in which Linux writes them (tcp_options_write).
    fn options(&mut self, segment: &Segment, syn: bool) -> Vec<TcpOption> {
        let (sack, stamped, scale) = match (syn, self.agreed) {
            (true, _) => (self.ours.sack, self.ours.timestamps, self.ours.scale),
            (false, Some(agreed)) => (false, agreed.timestamps, None),
            (false, None) => (false, false, None),
        };
        let mut options = Vec::new();
        if syn {
            options.push(TcpOption::Mss(self.ours.mss));
        }
        if stamped {
            options.extend(if sack { vec![TcpOption::SackOk] } else { vec![TcpOption::Nop, TcpOption::Nop] });
            options.push(self.stamp(segment));
        } else if sack {
            options.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::SackOk]);
        }
        if let Some(shift) = scale {
            options.extend([TcpOption::Nop, TcpOption::Scale(shift)]);
        }
        let blocks: Vec<(u32, u32)> =
            segment.sack.iter(segment.ack).map(|(from, to)| (self.theirs(from), self.theirs(to))).collect();
        if !blocks.is_empty() {
            options.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::Sack(blocks)]);
        }
        options
    }

    /// A number of the peer's as it writes it.
    pub fn theirs(&self, seq: Seq) -> u32 {
        seq.on_wire().wrapping_add(self.their_first)
    }

    fn stamp(&mut self, segment: &Segment) -> TcpOption {
        let ms = |time: Time| (time.nanos() / 1_000_000) as u32;
        // A stamp of 0 is none; the clock begins with 1.
        let val = ms(segment.ts_val) + 1;
        self.times.insert(val, segment.ts_val);
        TcpOption::Timestamp { val, ecr: ms(segment.ts_ecr) }
    }
}
