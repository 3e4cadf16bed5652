//! What lies between the endpoints: a fixed one-way delay, and a fate for each packet. Fates come by segment number
//! (a script), by order (a drawn list), or both; when the list is used up, packets get through.

use proptest::strategy::Strategy;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use truckee_tcp::segment::Segment;
use truckee_tcp::{SackBlocks, Seq, Span, flags};

/// Any span shorter than that.
pub fn below(span: Span) -> impl Strategy<Value = Span> {
    (0..span.nanos()).prop_map(Span::ns)
}

/// What happens to one packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fate {
    pub lost: bool,
    /// Arrives so much later than others: reordering, if later packets are not late.
    pub late: Span,
    /// Arrives this often besides.
    pub copies: u8,
    /// A router marks it (RFC 3168).
    pub marked: bool,
}

impl Fate {
    pub const LOST: Self = Self { lost: true, late: Span::ZERO, copies: 0, marked: false };
}

/// Both directions between a sender and a receiver.
#[derive(Debug, Clone, Default)]
pub struct Path {
    /// One way.
    pub delay: Span,
    /// Each ACK that advances is cut into so many, at most.
    pub divide: u64,
    /// Fates of the packets to the receiver and to the sender, in order of their sending.
    pub forward: VecDeque<Fate>,
    pub back: VecDeque<Fate>,
    /// How many transmissions of each segment, by number from 1, are lost.
    pub losses: BTreeMap<u64, u32>,
    /// Segments, by number, whose packets are marked.
    pub marks: BTreeSet<u64>,
    /// The number up to which ACKs were divided.
    divided: Seq,
}

impl Path {
    /// Loses nothing.
    pub fn new(delay: Span) -> Self {
        Self { delay, divide: 1, divided: Seq::FIRST, ..Self::default() }
    }

    pub fn data_fate(&mut self, segment: &Segment, number: u64) -> Fate {
        let mut fate = self.forward.pop_front().unwrap_or_default();
        if segment.len > 0 {
            if let Some(left) = self.losses.get_mut(&number).filter(|left| **left > 0) {
                *left -= 1;
                fate.lost = true;
            }
            fate.marked |= self.marks.contains(&number);
        }
        fate
    }

    pub fn ack_fate(&mut self) -> Fate {
        self.back.pop_front().unwrap_or_default()
    }

    /// ACK division: ACKs of equal parts of what `ack` newly acknowledges, the last being `ack` itself.
    pub fn divided(&mut self, ack: &Segment) -> Vec<Segment> {
        let from = self.divided;
        self.divided = from.max(ack.ack);
        let news = ack.ack.saturating_sub(from);
        let parts = self.divide.clamp(1, news.max(1));
        let part = |k| {
            let mut sub = *ack;
            sub.ack = ack.ack.earlier(news) + news * k / parts;
            sub.flags &= !flags::FIN;
            sub.sack = SackBlocks::default();
            ack.sack.iter(ack.ack).for_each(|(from, to)| sub.sack.push(sub.ack, from, to));
            sub
        };
        (1..parts).map(part).chain([*ack]).collect()
    }
}
