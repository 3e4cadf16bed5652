//! What has been sent and not been acknowledged, piece by piece; where bytes are missing; what SACK has reported.
//!
//! A piece is a segment as it was captured: of the size on the wire, or larger by the machine's offloads. Memory is
//! bounded: beyond [`MOST_PIECES`] the oldest are forgotten, and counted.

use super::memory::room;
use super::segment::{Ack, Data};
use std::collections::VecDeque;
use truckee_tcp::seq::Ranges;
use truckee_tcp::{Seq, Span, Time};

/// What stands for 0 where the beginning was not captured: there is room below the first number seen.
pub const ORIGIN: Seq = Seq::at(1 << 32);
/// The largest window there is (RFC 7323, section 2.3): no sender is further ahead of what is acknowledged.
const LARGEST_WINDOW: u64 = 1 << 30;
/// Pieces that are kept: 10 Gbit/s over 70 ms in segments of 1460 bytes.
pub const MOST_PIECES: usize = 1 << 16;
/// Holes, and ranges of selective acknowledgement, that are kept.
const MOST_RANGES: usize = 1 << 10;
/// Pieces for which there is room without asking.
const ROOM: usize = 64;
/// Packets of which a second one is known as a copy, acknowledged or not.
const RECENT: usize = 64;
/// The network makes a copy at once. What comes this much later with the same identification, the least that timers of
/// today's systems wait, was sent again by a system that does not count its packets.
pub(super) const COPIED_WITHIN: Span = Span::ms(200);

/// A segment in the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// First sequence number.
    pub seq: Seq,
    /// The one after the last.
    pub end: Seq,
    /// When it first passed.
    pub first: Time,
    /// When it last passed.
    pub last: Time,
    /// Its time stamp when it first passed.
    pub stamp: Option<u32>,
    /// Whether it has passed more than once.
    pub resent: bool,
    /// Whether a SACK block has covered it.
    pub sacked: bool,
}

/// Bytes that have not passed although bytes after them have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hole {
    from: Seq,
    to: Seq,
    since: Time,
    /// Identification of the packet that left it open.
    id: Option<u16>,
    /// Whether what is missing may have passed before the capture began.
    before: bool,
}

/// How things stood before a segment was sorted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    /// Bytes in the air.
    pub flight: u64,
    /// First byte not acknowledged.
    pub una: Seq,
    /// One after the highest byte sent.
    pub highest: Seq,
}

/// What a segment turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// Bytes above all that had passed.
    pub new: u64,
    /// Bytes below them that had not passed: late, or sent again after they were lost on the way here.
    pub filled: u64,
    /// Of them, those that may have passed before the capture began.
    pub before: u64,
    /// Bytes that had passed before.
    pub again: u64,
    /// Bytes left out between what had passed and this, since the capture began.
    pub skipped: u64,
    /// Where it fills a hole: how long that has been open.
    pub open: Option<Span>,
    /// Whether it fills a hole so soon after that opened that no sender can have heard of it, and by its identification
    /// left before the packet that opened it: it was overtaken.
    pub late: bool,
    /// Whether, by the identifications, it left after the packet that opened the hole it fills.
    pub left_later: bool,
    /// Whether it is the same packet once more, which the network or the capture has doubled.
    pub copy: bool,
    /// Whether all of it had been acknowledged.
    pub needless: bool,
    /// Whether it belongs to a time before the capture began.
    pub earlier: bool,
    /// When what it repeats first passed, and with which time stamp.
    pub original: Option<(Time, Option<u32>)>,
    /// Where what it repeats had passed more than once: when it last did.
    pub repeated: Option<Time>,
}

impl Sent {
    /// Whether the sender has sent it again: not new, not overtaken, not doubled.
    pub fn is_again(&self) -> bool {
        !self.copy && !self.earlier && (self.again > 0 || (self.filled > 0 && !self.late))
    }
}

/// What an ACK turned out to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Acked {
    /// Bytes newly acknowledged cumulatively.
    pub newly: u64,
    /// Bytes newly reported by SACK.
    pub sacked: u64,
    /// The last piece it covers whole, if nothing it covers was resent or passed later, and SACK had not reported it: what
    /// it answers.
    pub newest: Option<Piece>,
    /// The first piece it covers whole.
    pub oldest: Option<Piece>,
    /// Whether any piece it covers has passed more than once.
    pub resent: bool,
    /// Bytes in the air, beyond those reported by SACK, before it.
    pub flight: u64,
    /// Bytes sent and not acknowledged cumulatively, before it.
    pub outstanding: u64,
    /// Whether it ends amid a piece, and at which byte of that.
    pub within: Option<u64>,
    /// Bytes it acknowledges that have not been captured.
    pub unseen: u64,
    /// Whether it is older than one that has passed.
    pub old: bool,
    /// Whether it does nothing but repeat the number before while data is outstanding: a duplicate, if the window says so
    /// too (RFC 5681, section 2).
    pub repeats: bool,
}

/// What is in the air.
#[derive(Debug, Clone)]
pub struct Book {
    origin: Seq,
    first: Seq,
    /// The beginning was not captured, and no data has passed yet.
    no_data: bool,
    /// The beginning was not captured, and no ACK has passed yet.
    no_ack: bool,
    una: Seq,
    highest: Seq,
    pieces: VecDeque<Piece>,
    holes: VecDeque<Hole>,
    sacked: Ranges,
    sacked_bytes: u64,
    forgotten: u64,
    /// First number and identification of the packets that passed last, and when.
    recent: VecDeque<(Seq, u16, Time)>,
}

impl Book {
    /// Nothing has been sent; the first number is `first`.
    pub fn new(first: Seq) -> Self {
        Self {
            origin: Seq::ZERO,
            first,
            no_data: false,
            no_ack: false,
            una: first,
            highest: first,
            pieces: VecDeque::new(),
            holes: VecDeque::new(),
            sacked: Ranges::default(),
            sacked_bytes: 0,
            forgotten: 0,
            recent: VecDeque::new(),
        }
    }

    /// The beginning was not captured; the first number seen, at `now`, is one after [`ORIGIN`]. Anything below may have
    /// been sent, and may be sent again.
    pub fn amid(now: Time, id: Option<u16>) -> Self {
        let all = Hole { from: Seq::FIRST, to: ORIGIN + 1, since: now, id, before: true };
        let book = Self::new(ORIGIN + 1);
        Self { origin: ORIGIN, first: Seq::FIRST, no_data: true, no_ack: true, holes: [all].into(), ..book }
    }

    /// What stands for 0.
    pub fn origin(&self) -> Seq {
        self.origin
    }

    /// First byte not acknowledged.
    pub fn una(&self) -> Seq {
        self.una
    }

    /// One after the highest byte sent.
    pub fn highest(&self) -> Seq {
        self.highest
    }

    /// Bytes in the air: sent, not acknowledged, and not reported by SACK.
    pub fn flight(&self) -> u64 {
        (self.highest - self.una).saturating_sub(self.sacked_bytes)
    }

    /// Bytes above `seq` that SACK has reported.
    pub fn sacked_above(&self, seq: Seq) -> u64 {
        self.sacked.as_slice().iter().map(|&(from, to)| to.saturating_sub(from.max(seq))).sum()
    }

    /// Pieces that had to be forgotten.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Bytes that it takes, beside its own.
    pub(super) fn size(&self) -> usize {
        room::<Piece>(self.pieces.capacity())
            + room::<Hole>(self.holes.capacity())
            + room::<(Seq, Seq)>(self.sacked.as_slice().len())
            + room::<(Seq, u16, Time)>(self.recent.capacity())
    }

    /// The pieces in the air, in rising order.
    pub fn pieces(&self) -> impl DoubleEndedIterator<Item = &Piece> {
        self.pieces.iter()
    }

    /// Sorts a segment in. `reordering`: a hole filled sooner than this after it opened was reordered.
    pub(super) fn sent(&mut self, data: &Data, reordering: Span) -> Sent {
        let (seq, end) = (data.seq, data.end);
        let mut sent = Sent { needless: end <= self.una, ..Sent::default() };
        if let Some(id) = data.id.filter(|&id| id != 0) {
            let is_it = |&(s, i, at): &(Seq, u16, Time)| {
                s == seq && i == id && data.now.saturating_sub(at) < COPIED_WITHIN
            };
            sent.copy = seq < self.highest && self.recent.iter().any(is_it);
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back((seq, id, data.now));
        }
        if end <= self.first || seq < self.first {
            sent.earlier = true;
            return sent;
        }
        if seq >= self.highest {
            self.append(data, &mut sent);
            return sent;
        }
        let below = end.min(self.highest);
        self.fill(data, seq, below, reordering, &mut sent);
        if end > self.highest {
            self.append(&Data { seq: self.highest, ..*data }, &mut sent);
        }
        sent
    }

    /// A segment above all others.
    #[inline]
    fn append(&mut self, data: &Data, sent: &mut Sent) {
        sent.new = data.end - data.seq;
        let before = std::mem::take(&mut self.no_data);
        if data.seq > self.highest {
            sent.skipped = if before { 0 } else { data.seq - self.highest };
            self.open_hole(data.seq, data.now, data.id, before);
        }
        self.highest = data.end;
        if self.pieces.len() == MOST_PIECES {
            self.pieces.pop_front();
            self.forgotten += 1;
        }
        self.pieces.push_back(piece(data, data.seq, data.end));
    }

    /// Bytes from the highest on up to `to` have been left out.
    fn open_hole(&mut self, to: Seq, since: Time, id: Option<u16>, before: bool) {
        if self.holes.len() >= MOST_RANGES {
            self.holes.pop_front();
        }
        self.holes.push_back(Hole { from: self.highest, to, since, id, before });
    }

    /// A segment, or the part `[seq, end)` of one, below the highest byte sent.
    fn fill(&mut self, data: &Data, seq: Seq, end: Seq, reordering: Span, sent: &mut Sent) {
        let first = self.pieces.partition_point(|p| p.end <= seq);
        let last = self.pieces.partition_point(|p| p.seq < end);
        for piece in self.pieces.range_mut(first..last) {
            sent.original.get_or_insert((piece.first, piece.stamp));
            if piece.resent {
                sent.repeated.get_or_insert(piece.last);
            }
            (piece.resent, piece.last) = (true, data.now);
        }
        let filled = self.close_holes(data, seq, end, sent);
        sent.filled += filled;
        sent.again += (end - seq) - filled;
        sent.late = filled > 0
            && sent.again == 0
            && !sent.left_later
            && sent.open.is_some_and(|open| open < reordering);
        if filled > 0 && self.pieces.len() < MOST_PIECES && end > self.una {
            self.insert(data, seq.max(self.una), end);
        }
    }

    /// Enters the parts of `[seq, end)` that no piece covers.
    fn insert(&mut self, data: &Data, mut seq: Seq, end: Seq) {
        while seq < end {
            let at = self.pieces.partition_point(|p| p.end <= seq);
            let next = self.pieces.get(at).copied();
            match next {
                Some(p) if p.seq <= seq => seq = p.end,
                _ => {
                    let to = next.map_or(end, |p| p.seq.min(end));
                    self.pieces.insert(at, piece(data, seq, to));
                    seq = to;
                }
            }
        }
    }

    /// Bytes of holes in `[seq, end)`, which are closed.
    fn close_holes(&mut self, data: &Data, seq: Seq, end: Seq, sent: &mut Sent) -> u64 {
        let mut filled = 0;
        let mut at = self.holes.partition_point(|h| h.to <= seq);
        while let Some(&hole) = self.holes.get(at)
            && hole.from < end
        {
            let (from, to) = (hole.from.max(seq), hole.to.min(end));
            filled += to - from;
            sent.before += if hole.before { to - from } else { 0 };
            let open = data.now.saturating_sub(hole.since);
            sent.left_later |= hole.id.zip(data.id).is_some_and(|(opened, this)| left_after(this, opened));
            sent.open = Some(sent.open.map_or(open, |o| o.max(open)));
            match (hole.from < from, to < hole.to) {
                (false, false) => {
                    self.holes.remove(at);
                    continue;
                }
                (true, false) => self.holes[at].to = from,
                (false, true) => self.holes[at].from = to,
                (true, true) => {
                    self.holes[at].to = from;
                    self.holes.insert(at + 1, Hole { from: to, ..hole });
                }
            }
            at += 1;
        }
        self.holes.truncate(2 * MOST_RANGES);
        filled
    }

    /// Sorts an ACK in.
    pub(super) fn acked(&mut self, ack: &Ack) -> Acked {
        if std::mem::take(&mut self.no_ack)
            && (1..=LARGEST_WINDOW).contains(&self.una.saturating_sub(ack.ack))
        {
            self.una = ack.ack; // what was in the air when the capture began
        }
        let mut acked = Acked {
            flight: self.flight(),
            outstanding: self.highest - self.una,
            old: ack.ack < self.una,
            repeats: ack.pure && ack.ack == self.una && self.highest > self.una,
            ..Acked::default()
        };
        if ack.ack > self.una {
            self.advance(ack.now, ack.ack, &mut acked);
        }
        for &(from, to) in ack.sack.as_slice() {
            acked.sacked += self.sack(from.max(self.una), to.min(self.highest));
        }
        self.sacked_bytes += acked.sacked;
        acked
    }

    fn advance(&mut self, now: Time, to: Seq, acked: &mut Acked) {
        if to > self.highest {
            acked.unseen = to - self.highest;
            // Data may be captured after its ACK: it is then not taken to be sent again.
            self.open_hole(to, now, None, self.no_data);
            self.highest = to;
        }
        acked.newly = to - self.una;
        self.una = to;
        let (mut newest, mut latest) = (None, Time::ZERO);
        while let Some(&piece) = self.pieces.front()
            && piece.end <= to
        {
            self.pieces.pop_front();
            acked.oldest.get_or_insert(piece);
            acked.resent |= piece.resent;
            latest = latest.max(piece.last);
            newest = Some(piece);
        }
        if self.pieces.capacity() > ROOM.max(8 * self.pieces.len()) {
            self.pieces.shrink_to(2 * self.pieces.len());
        }
        // What passed before another that it covers has waited for that one: a hole was filled.
        acked.newest = newest.filter(|p| !p.sacked && !acked.resent && p.last == latest);
        acked.within = self.pieces.front().filter(|p| p.seq < to).map(|p| to - p.seq);
        if !self.sacked.is_empty() {
            let below = |&(from, end): &(Seq, Seq)| end.min(to).saturating_sub(from);
            let gone: u64 = self.sacked.as_slice().iter().take_while(|r| r.0 < to).map(below).sum();
            self.sacked_bytes -= gone.min(self.sacked_bytes);
            self.sacked.trim_below(to);
        }
    }

    /// Marks what SACK reports of `[from, to)`; bytes that are news.
    fn sack(&mut self, from: Seq, to: Seq) -> u64 {
        let (mut at, mut news) = (from, 0);
        while at < to {
            if let Some((_, end)) = self.sacked.containing(at) {
                at = end;
                continue;
            }
            let ranges = self.sacked.as_slice();
            if ranges.len() >= MOST_RANGES {
                break;
            }
            let next = ranges.partition_point(|r| r.1 <= at);
            let until = ranges.get(next).map_or(to, |r| r.0.min(to));
            self.mark(at, until);
            news += until - at;
            self.sacked.insert(at, until);
            at = until;
        }
        news
    }

    fn mark(&mut self, from: Seq, to: Seq) {
        let first = self.pieces.partition_point(|p| p.end <= from);
        let last = self.pieces.partition_point(|p| p.seq < to);
        self.pieces.range_mut(first..last).filter(|p| p.end <= to).for_each(|p| p.sacked = true);
    }
}

/// Whether a packet left its host after another, by identifications that count up; ones far apart say nothing.
fn left_after(this: u16, other: u16) -> bool {
    const FAR: u16 = 1000;
    (1..FAR).contains(&this.wrapping_sub(other))
}

fn piece(data: &Data, seq: Seq, end: Seq) -> Piece {
    Piece {
        seq,
        end,
        first: data.now,
        last: data.now,
        stamp: data.stamps.map(|(stamp, _)| stamp),
        resent: false,
        sacked: false,
    }
}
