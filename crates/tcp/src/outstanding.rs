//! What a sender has in the air: one record a segment from the first unacknowledged byte to the highest sent.

mod slot;

use crate::{Seq, Time, Transmission, cache};
use slot::Slot;
pub use slot::{Sent, marks};
use std::collections::VecDeque;

/// What an advance of the first unacknowledged number covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Covered {
    /// Sequence numbers.
    pub bytes: u64,
    /// Of the segments covered whole that no SACK block had reported before, when the newest was last sent: those came
    /// long ago.
    pub newest_sent: Option<Time>,
    /// Whether any segment covered that was not reported was sent more than once, so that an RTT sample would be ambiguous
    /// (Karn).
    pub resent: bool,
    /// When the first and the last left of those that were sent once and had not been reported, if none was sent again.
    pub once: Option<(Time, Time)>,
}

/// The segments between `una` and `max`.
#[derive(Debug, Clone)]
pub struct Outstanding {
    /// First unacknowledged sequence number (SND.UNA).
    una: Seq,
    /// Next one to send (SND.NXT); below `max` after a go-back.
    nxt: Seq,
    /// One after the highest ever sent.
    max: Seq,
    segments: VecDeque<Slot>,
    /// Index of the segment at `nxt`.
    cursor: usize,
    sacked: u64,
    lost: u64,
    /// All that was ever marked lost.
    lost_ever: u64,
    /// How much of it [`Self::take_newly_lost`] has told of.
    lost_told: u64,
    /// When the newest segment marked lost since the last [`Self::take_newest_lost`] was sent.
    newest_lost: Option<Time>,
    repairs: u64,
    /// When the last segment was sent that the last advance covered whole, if it was sent only once.
    last_covered: Option<Time>,
    /// How many transmissions there were.
    transmissions: u32,
}

impl Outstanding {
    /// Nothing sent; the first byte will have number `first`.
    pub fn new(first: Seq) -> Self {
        Self {
            una: first,
            nxt: first,
            max: first,
            segments: VecDeque::new(),
            cursor: 0,
            sacked: 0,
            lost: 0,
            lost_ever: 0,
            lost_told: 0,
            newest_lost: None,
            repairs: 0,
            last_covered: None,
            transmissions: 0,
        }
    }

    /// When the last segment was sent that the last advance covered whole, if it was sent only once.
    pub fn last_covered_once(&self) -> Option<Time> {
        self.last_covered
    }

    /// First unacknowledged sequence number.
    pub fn una(&self) -> Seq {
        self.una
    }

    /// Next sequence number to send.
    pub fn nxt(&self) -> Seq {
        self.nxt
    }

    /// One after the highest sequence number ever sent.
    pub fn max(&self) -> Seq {
        self.max
    }

    /// Whether nothing is unacknowledged.
    pub fn is_empty(&self) -> bool {
        self.una == self.max
    }

    /// FlightSize: bytes sent (since a go-back: sent again) and not acknowledged.
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// RFC 6675's pipe: what SACK and loss marks leave of the flight, retransmissions counted.
    pub fn pipe(&self) -> u64 {
        (self.flight() + self.repairs).saturating_sub(self.sacked + self.lost)
    }

    /// The same where packets of `mss` bytes are counted: FIN is one where it left alone, and nothing where data did with it.
    pub fn packets_in_air(&self, mss: f64) -> u64 {
        let flies = |sent: &Sent| {
            sent.is(marks::FIN)
                && !sent.is(marks::SACKED)
                && (sent.is(marks::REPAIR) || !sent.is(marks::LOST))
        };
        let fin = self.len().checked_sub(1).and_then(|at| self.get(at)).filter(flies);
        let without = self.pipe().saturating_sub(u64::from(fin.is_some()));
        let alone = fin.is_some_and(|fin| fin.span() == 1);
        without + if alone { mss as u64 } else { 0 }
    }

    /// Number of segments.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Segment number `at`.
    pub fn get(&self, at: usize) -> Option<Sent> {
        let slot = *self.segments.get(at)?;
        let before = at.checked_sub(1).and_then(|before| self.segments.get(before));
        let seq = before.map_or(self.una, |before| self.end_of(*before));
        Some(Sent {
            seq,
            end: self.end_of(slot),
            sent: slot.sent(),
            number: slot.number,
            marks: slot.marks(),
            first: None,
        })
    }

    /// Index of the segment that holds `seq` (or the first after it).
    pub fn index_of(&self, seq: Seq) -> usize {
        self.segments.partition_point(|slot| self.end_of(*slot) <= seq)
    }

    /// The number before that of the first segment, or the last one of all.
    pub fn number_below(&self) -> Transmission {
        let first = self.segments.front().map_or(self.transmissions, |slot| slot.number.0);
        Transmission(first.wrapping_sub(1))
    }

    /// That of what is sent next.
    pub fn next_number(&self) -> Transmission {
        Transmission(self.transmissions)
    }

    /// Above the first unacknowledged number, by at most 2³².
    #[inline(always)]
    fn end_of(&self, slot: Slot) -> Seq {
        self.una + 1 + u64::from(slot.end.wrapping_sub(self.una.on_wire()).wrapping_sub(1))
    }

    /// Sequence numbers that segment `at` occupies.
    fn span(&self, at: usize) -> u64 {
        self.get(at).map_or(0, |sent| sent.span())
    }

    #[inline]
    fn next_transmission(&mut self) -> Transmission {
        let number = Transmission(self.transmissions);
        self.transmissions = self.transmissions.wrapping_add(1);
        number
    }

    /// Records a new segment at `nxt` = `max`.
    #[inline(always)]
    pub fn push(&mut self, now: Time, len: u64, fin: bool) -> Sent {
        debug_assert!(self.nxt == self.max && len > 0 && self.max + len - self.una <= 1 << 32);
        let marks = if fin { marks::FIN } else { 0 };
        let number = self.next_transmission();
        let sent = Sent { seq: self.max, end: self.max + len, sent: now, number, marks, first: None };
        if self.segments.len() == self.segments.capacity() {
            self.make_room();
        }
        self.segments.push_back(Slot::new(sent.end, number, now, marks));
        self.max += len;
        self.nxt = self.max;
        self.cursor = self.segments.len();
        sent
    }

    /// The segment at `nxt` where that is below `max`: what a go-back sends again.
    #[inline(always)]
    pub fn to_resend(&self) -> Option<Sent> {
        if self.nxt == self.max { None } else { self.get(self.cursor) }
    }

    /// Records that the segment at `nxt` below `max` was sent again.
    pub fn resend(&mut self, now: Time) -> Option<Sent> {
        let at = self.cursor;
        let number = self.next_transmission();
        let first = self.segments.get_mut(at)?.sent_again(now, number);
        let sent = Sent { first, ..self.get(at)? };
        self.nxt = sent.end;
        self.cursor += 1;
        Some(sent)
    }

    /// Records that segment `at` was retransmitted out of turn.
    pub fn repair(&mut self, at: usize, now: Time) -> Option<Sent> {
        self.send_again(at, now, true)
    }

    /// As [`Self::repair`], but what is not lost is in the air but once, unless it `counts`.
    pub fn send_again(&mut self, at: usize, now: Time, counts: bool) -> Option<Sent> {
        let number = self.next_transmission();
        let slot = self.segments.get_mut(at)?;
        let first = slot.sent_again(now, number);
        if !slot.is(marks::REPAIR | marks::SACKED) && (counts || slot.is(marks::LOST)) {
            slot.mark(marks::REPAIR);
            self.repairs += self.span(at);
        }
        let sent = Sent { first, ..self.get(at)? };
        // A repair right at `nxt` after a go-back need not be sent a second time.
        if at == self.cursor {
            self.nxt = sent.end;
            self.cursor += 1;
        }
        Some(sent)
    }

    /// Has the processor fetch what the next ACK and the next departure will need.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        if let (Some(first), Some(last)) = (self.segments.front(), self.segments.back()) {
            cache::prefetch(first);
            cache::prefetch(last);
        }
    }

    /// Makes room for a quarter more: of many flows the room that doubling leaves unused is much.
    #[cold]
    fn make_room(&mut self) {
        self.segments.reserve_exact((self.segments.len() / 4).max(4));
    }

    /// Everything below `ack` is acknowledged. `ack` is within (una, max].
    #[inline(always)]
    pub fn advance(&mut self, ack: Seq) -> Covered {
        debug_assert!(ack > self.una && ack <= self.max);
        // Nearly always it is the first segment, sent once: nothing is counted of that.
        let first = self.segments.front();
        let covered =
            match first.filter(|first| first.end == ack.on_wire() && first.marks() & !marks::FIN == 0) {
                Some(first) => {
                    let sent = Some(first.sent());
                    self.segments.pop_front();
                    self.cursor = self.cursor.saturating_sub(1);
                    self.last_covered = sent;
                    let once = sent.map(|sent| (sent, sent));
                    Covered { bytes: ack - self.una, newest_sent: sent, resent: false, once }
                }
                None => {
                    let Covered { bytes, newest_sent, resent, once } = self.pass(ack);
                    Covered { bytes, newest_sent, resent, once }
                }
            };
        self.una = ack;
        if self.nxt < ack {
            self.nxt = ack;
            self.cursor = 0;
        }
        covered
    }

    /// Takes out what lies below `ack`.
    #[inline(never)]
    fn pass(&mut self, ack: Seq) -> Covered {
        let mut covered = Covered { bytes: ack - self.una, ..Covered::default() };
        let (mut seq, mut last, mut any_resent) = (self.una, None, false);
        while let Some(&slot) = self.segments.front() {
            let end = self.end_of(slot);
            if end > ack {
                if seq < ack {
                    covered.resent |= slot.is(marks::RESENT);
                    self.uncount(slot.marks(), ack - seq);
                }
                break;
            }
            if !slot.is(marks::SACKED) {
                covered.newest_sent = covered.newest_sent.max(Some(slot.sent()));
                covered.resent |= slot.is(marks::RESENT);
            }
            any_resent |= slot.is(marks::RESENT);
            if !slot.is(marks::SACKED | marks::RESENT) {
                covered.once = Some((covered.once.map_or(slot.sent(), |(first, _)| first), slot.sent()));
            }
            last = (!slot.is(marks::RESENT)).then_some(slot.sent());
            self.uncount(slot.marks(), end - seq);
            self.segments.pop_front();
            self.cursor = self.cursor.saturating_sub(1);
            seq = end;
        }
        if covered.resent {
            // Behind a loss windows are smaller, for long.
            self.segments.shrink_to(self.segments.len() * 2);
        }
        covered.once = covered.once.filter(|_| !any_resent);
        self.last_covered = last;
        covered
    }

    fn uncount(&mut self, marks: u8, len: u64) {
        if marks & (marks::SACKED | marks::LOST | marks::REPAIR) != 0 {
            self.sacked -= if marks & marks::SACKED != 0 { len } else { 0 };
            self.lost -= if marks & marks::LOST != 0 { len } else { 0 };
            self.repairs -= if marks & marks::REPAIR != 0 { len } else { 0 };
        }
    }

    /// Marks segment `at` as sacked; it is then neither lost nor under repair.
    pub fn mark_sacked(&mut self, at: usize) {
        let len = self.span(at);
        if let Some(slot) = self.segments.get_mut(at)
            && !slot.is(marks::SACKED)
        {
            let marks = slot.marks();
            slot.unmark(marks::LOST | marks::REPAIR);
            slot.mark(marks::SACKED);
            self.uncount(marks, len);
            self.sacked += len;
        }
    }

    /// Marks segment `at` as lost unless it is sacked.
    pub fn mark_lost(&mut self, at: usize) {
        let len = self.span(at);
        if let Some(slot) = self.segments.get_mut(at)
            && !slot.is(marks::SACKED | marks::LOST)
        {
            slot.mark(marks::LOST);
            self.lost += len;
            self.lost_ever += len;
            self.newest_lost = self.newest_lost.max(Some(slot.sent()));
        }
    }

    /// Takes what was last sent of segment `at` for lost, a retransmission too: the segment is to go again once more.
    pub fn lose_latest(&mut self, at: usize) {
        let len = self.span(at);
        let Some(slot) = self.segments.get_mut(at).filter(|slot| !slot.is(marks::SACKED)) else { return };
        let (again, sent) = (slot.is(marks::LOST), slot.sent());
        if slot.is(marks::REPAIR) {
            slot.unmark(marks::REPAIR);
            self.repairs -= len;
            if again {
                self.lost_ever += len;
                self.newest_lost = self.newest_lost.max(Some(sent));
            }
        }
        self.mark_lost(at);
    }

    /// Marks segment `at` as seen to be overdue.
    pub fn mark_seen(&mut self, at: usize) {
        if let Some(slot) = self.segments.get_mut(at) {
            slot.mark(marks::SEEN);
        }
    }

    /// Bytes that were ever marked lost.
    pub fn lost_ever(&self) -> u64 {
        self.lost_ever
    }

    /// Whether [`Self::take_newly_lost`] and [`Self::take_newest_lost`] have nothing to tell.
    #[inline]
    pub fn tells_of_no_loss(&self) -> bool {
        self.lost_ever == self.lost_told
    }

    /// Bytes that were marked lost since this was last asked.
    pub fn take_newly_lost(&mut self) -> u64 {
        self.lost_ever - std::mem::replace(&mut self.lost_told, self.lost_ever)
    }

    /// When the newest segment was sent that was marked lost since this was last asked.
    pub fn take_newest_lost(&mut self) -> Option<Time> {
        self.newest_lost.take()
    }

    /// Bytes reported by SACK blocks and not yet acknowledged.
    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Takes everything that is not sacked for lost, repairs included (a timeout under SACK).
    pub fn lose_all(&mut self) {
        for at in 0..self.segments.len() {
            let len = self.span(at);
            let slot = &mut self.segments[at];
            if slot.is(marks::REPAIR) {
                slot.unmark(marks::REPAIR);
                self.repairs -= len;
            }
            self.mark_lost(at);
        }
    }

    /// Takes nothing for lost any more (a timeout that was spurious). [`Self::lost_ever`] stays.
    pub fn lose_none(&mut self) {
        self.segments.iter_mut().for_each(|slot| slot.unmark(marks::LOST));
        self.lost = 0;
    }

    /// Ends a go-back: what has not been sent again is left as it is in the air.
    pub fn go_on(&mut self) {
        self.nxt = self.max;
        self.cursor = self.segments.len();
    }

    /// Goes back to the first unacknowledged segment: everything will be sent again in order.
    pub fn go_back(&mut self) {
        self.nxt = self.una;
        self.cursor = 0;
    }
}

#[cfg(test)]
mod tests;
