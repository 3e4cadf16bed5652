//! What was sent again, and what made the sender do it.
//!
//! - *Timeout*: the first byte not acknowledged is sent again after a silence of the sender of a retransmission timeout,
//!   or as long after it was last sent and an ACK last advanced, or once more within a round trip, which no ACK can ask
//!   for; and whatever is sent again until all is acknowledged that had been sent before that.
//! - *Fast*: ACKs have shown data behind it delivered: three duplicates (RFC 5681), or a SACK block above it; or it
//!   belongs to the same repair, which lasts until all is acknowledged that had been sent before it began (RFC 6582, RFC
//!   6675), its own new segments included. Without SACK, three duplicates that ask for another segment begin another
//!   repair even so (Reno, RFC 5681). A sender that does not wait for the third (Vegas) is believed where the segment
//!   follows a duplicate at once.
//! - *Probe*: the last segment is sent again after a silence of about two round trips, sooner than a timeout (tail loss
//!   probe, RFC 8985).
//! - *Unexplained*: none of these, as far as the capture shows.
//!
//! *Spurious*, besides: it need not have been sent. That shows in three ways: all of it had been acknowledged before; the
//! receiver reports it as a duplicate (DSACK, RFC 2883); the ACK that covers it echoes the time stamp of the first
//! transmission (Eifel, RFC 3522).
//!
//! At the sender it shows whether a segment follows an ACK at once, or comes by itself as a timer would have it; that
//! counts for more than silences, since a window's worth of segments may take longer than a timeout.
//!
//! Not retransmissions: a packet that the network or the capture has doubled (the same IPv4 identification), one that was
//! overtaken, a probe of a closed window, a keep-alive.

use super::book::{Acked, Before, Book, Sent};
use super::memory::room;
use super::rtt::{MIN_RTO, Rtt, nearly};
use super::segment::{Ack, Data};
use super::windows::Windows;
use serde::Serialize;
use std::collections::VecDeque;
use truckee_tcp::{LossKind, Seq, Span, Time};

/// Duplicates that make a fast retransmit (RFC 5681).
const DUPLICATES: u32 = 3;
/// What a sender takes at the most, beside four times the least that it has taken, to answer an ACK, ns.
const PROMPT: Span = Span::us(20);
/// Retransmissions that may yet prove spurious.
const REMEMBERED: usize = 1 << 8;

/// What made the sender send again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// ACKs that spoke of a gap.
    Fast,
    /// The retransmission timer.
    Timeout,
    /// A tail loss probe.
    Probe,
    /// Nothing that the capture shows.
    Unexplained,
}

/// Counts of what was sent again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Segments sent again.
    pub segments: u64,
    /// Bytes sent again.
    pub bytes: u64,
    /// Segments, because ACKs spoke of a gap.
    pub fast: u64,
    /// Segments, because of the retransmission timer.
    pub timeout: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// Segments, for no reason that shows.
    pub unexplained: u64,
    /// Repairs that began with ACKs that spoke of a gap.
    pub fast_events: u64,
    /// How often the timer went off.
    pub timeout_events: u64,
    /// Of all segments sent again, those that need not have been.
    pub spurious: u64,
    /// Of those: all had been acknowledged.
    pub spurious_acknowledged: u64,
    /// Of those: the receiver has reported a duplicate.
    pub spurious_by_dsack: u64,
    /// Of those: the ACK echoed the first transmission's time stamp.
    pub spurious_by_stamp: u64,
    /// Segments whose first transmission was lost before it came here; counted above too.
    pub lost_before: u64,
    /// Segments that were overtaken by others.
    pub overtaken: u64,
    /// Packets that were doubled.
    pub copies: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Keep-alives.
    pub keep_alives: u64,
    /// Duplicates reported by the receiver (DSACK), whatever they are of.
    pub dsacks: u64,
}

/// What a retransmission was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// What made the sender send it.
    pub kind: Kind,
    /// The loss event that it begins, if it begins one.
    pub event: Option<LossKind>,
}

/// What a verdict needs to know beside the segment.
pub(super) struct View<'a> {
    pub book: &'a Book,
    pub rtt: &'a Rtt,
    pub windows: &'a Windows,
}

/// A retransmission that may yet prove spurious.
#[derive(Debug, Clone, Copy)]
struct Resent {
    seq: Seq,
    end: Seq,
    /// Stamps of the first transmission and of this one, where they differ.
    stamps: Option<(u32, u32)>,
}

/// Keeps count of them.
#[derive(Debug, Clone, Default)]
pub struct Retransmissions {
    /// The counts.
    pub counts: Counts,
    resent: VecDeque<Resent>,
    /// Since an ACK last advanced.
    duplicates: u32,
    /// When data or an advancing ACK last passed.
    last_news: Time,
    /// When an ACK last passed, and whether it may have asked for a retransmission.
    heard: (Time, bool),
    /// When an ACK last advanced.
    advanced: Time,
    /// When something last passed that new data may follow at once: an ACK, what is sent again, other new data.
    clocked: Option<Time>,
    /// Segments of new data that did so, and those that came by themselves.
    new: (u64, u64),
    /// Whether the ends have agreed on SACK, or the receiver reports by it.
    sacking: bool,
    /// A repair that ACKs began ends when this is acknowledged.
    recover: Seq,
    /// When it began.
    began: Time,
    /// ACKs that have advanced since it ended, the one that ended it included.
    after_repair: u32,
    /// A timeout's repair ends when this is acknowledged.
    timed_out: Seq,
}

impl Retransmissions {
    /// A segment with payload has passed; what kind of retransmission it is, if it is one.
    pub(super) fn on_sent(
        &mut self,
        data: &Data,
        sent: &Sent,
        before: &Before,
        view: &View<'_>,
    ) -> Option<Verdict> {
        let silence = data.now.saturating_sub(std::mem::replace(&mut self.last_news, data.now));
        let c = &mut self.counts;
        c.copies += u64::from(sent.copy);
        c.overtaken += u64::from(sent.late && sent.again == 0);
        if !sent.is_again() {
            self.note_new(data.now, view.rtt);
            return None;
        }
        if data.len == 1 && view.windows.is_closed() {
            c.window_probes += 1;
            return None;
        }
        if data.len == 1 && data.end == before.highest && sent.needless {
            c.keep_alives += 1;
            return None;
        }
        self.clocked = Some(data.now);
        c.segments += 1;
        c.bytes += sent.again + sent.filled;
        c.lost_before += u64::from(sent.again == 0);
        let before_events = (c.fast_events, c.timeout_events);
        let kind = if sent.needless {
            self.after_all(data, silence, view)
        } else {
            self.judge(data, sent, silence, before, view)
        };
        let events = (self.counts.fast_events, self.counts.timeout_events);
        let event = match () {
            () if events.1 > before_events.1 => Some(LossKind::Timeout),
            () if events.0 > before_events.0 => Some(LossKind::DupAcks),
            () => None,
        };
        self.count(kind);
        self.remember(data, sent);
        Some(Verdict { kind, event })
    }

    fn judge(&mut self, data: &Data, sent: &Sent, silence: Span, before: &Before, view: &View<'_>) -> Kind {
        let head = data.seq <= before.una;
        let prompt = self.follows_an_ack(data.now, view.rtt);
        if head && self.timer(data, sent, silence, prompt, before, view.rtt) {
            self.counts.timeout_events += 1;
            (self.timed_out, self.recover) = (before.highest, Seq::ZERO);
            return Kind::Timeout;
        }
        let enough = head && self.duplicates >= DUPLICATES;
        let gap = view.book.sacked_above(data.end) > 0 || enough;
        if before.una < self.timed_out {
            return Kind::Timeout;
        }
        if before.una < self.recover {
            // Reno's repair ended with the first ACK that advanced; a NewReno has answered that one.
            let answered = sent.repeated.is_some_and(|last| last >= self.advanced);
            if !self.sacking && enough && !answered {
                self.begin(data.now, before.highest);
            }
            return Kind::Fast;
        }
        if gap || (head && prompt == Some(true) && self.duplicates > 0) {
            self.begin(data.now, before.highest);
            return Kind::Fast;
        }
        // Vegas looks once or twice more whether the next segment is overdue, which it takes for the same loss.
        if head && prompt == Some(true) && !self.sacking && (1..=2).contains(&self.after_repair) {
            (self.recover, self.after_repair) = (before.highest, 0);
            return Kind::Fast;
        }
        let tail = data.end >= before.highest && view.rtt.smoothed().is_some_and(|rtt| silence >= rtt);
        if tail { Kind::Probe } else { Kind::Unexplained }
    }

    /// A repair begins, where the sender has come to `highest`.
    fn begin(&mut self, now: Time, highest: Seq) {
        self.counts.fast_events += 1;
        (self.recover, self.began, self.after_repair) = (highest, now, 0);
    }

    /// Whether an ACK begins a repair although nothing is sent again: the repair before has ended, and what is now first
    /// is new since that began, was lost like the rest, and is in the air again already (RFC 6675, section 5).
    fn goes_on(&self, acked: &Acked, book: &Book) -> bool {
        let first = book.pieces().next().filter(|first| first.seq <= book.una());
        let ended = self.recover > Seq::ZERO && book.una() >= self.recover.max(self.timed_out);
        let again = first.is_some_and(|first| first.resent && !first.sacked && first.last >= self.began);
        ended && again && acked.sacked > 0
    }

    /// Whether a segment that passes now was sent on an ACK that may have asked for it; none where the sender is too far
    /// away to tell.
    fn follows_an_ack(&self, now: Time, rtt: &Rtt) -> Option<bool> {
        let (at, may_ask) = self.heard;
        at_once(rtt).map(|at_once| may_ask && now.saturating_sub(at) <= at_once)
    }

    /// New data has passed.
    fn note_new(&mut self, now: Time, rtt: &Rtt) {
        let (Some(at_once), Some(clocked)) = (at_once(rtt), self.clocked.replace(now)) else { return };
        if now.saturating_sub(clocked) <= at_once { self.new.0 += 1 } else { self.new.1 += 1 }
    }

    /// Whether all that the sender does, but what its timer makes it do, it does when an ACK comes.
    fn is_clocked(&self) -> bool {
        const SELDOM: u64 = 50;
        SELDOM * self.new.1 <= self.new.0
    }

    /// The ends have agreed on SACK.
    pub(crate) fn agree_on_sack(&mut self) {
        self.sacking = true;
    }

    /// Whether it was the timer that sent the first byte not acknowledged again.
    fn timer(
        &self,
        data: &Data,
        sent: &Sent,
        silence: Span,
        prompt: Option<bool>,
        before: &Before,
        rtt: &Rtt,
    ) -> bool {
        let timeout = nearly(rtt.timeout());
        if prompt != Some(true) && silence >= timeout {
            return true;
        }
        let since = |then: Time| data.now.saturating_sub(then);
        let smoothed = rtt.smoothed().unwrap_or(Span::ZERO);
        match prompt {
            Some(prompt) => {
                // A repair by SACK sends nothing twice, but where RACK notices that the second is lost too, soon after a
                // round trip. (An ACK may pass while a sender that paces holds back what its timer has asked for.)
                let limit = nearly(MIN_RTO).max(smoothed + rtt.whole().unwrap_or(Span::ZERO) / 2);
                let late = sent.repeated.is_some_and(|last| since(last) >= limit);
                let third = self.sacking && late && since(self.advanced) >= nearly(MIN_RTO);
                // It comes by itself, as long after an ACK last advanced as the timer lets it; or, without SACK, once
                // more in one repair: a timer that partial ACKs have not restarted (NewReno's impatient variant, RFC
                // 6582).
                let aged = sent.original.is_some_and(|(first, _)| since(first) >= timeout);
                let due = aged && since(self.advanced) >= timeout;
                let restless = !self.sacking && sent.repeated.is_some() && before.una >= self.timed_out;
                // Where nothing else comes by itself, this does by the timer; by that of a probe of the tail, if at all,
                // only where there is SACK (RFC 8985).
                let alone = self.is_clocked() && !(self.sacking && data.end >= before.highest);
                third || (!prompt && (due || restless || alone))
            }
            // A retransmission that was lost itself, while the sender went on: what RACK notices it notices sooner. Or
            // one that goes again within a round trip: no ACK can have asked for that.
            None => sent.repeated.is_some_and(|last| {
                let limit = rtt.timeout().max(smoothed + MIN_RTO);
                since(last) >= nearly(limit) || since(last) < nearly(rtt.whole().unwrap_or(Span::ZERO))
            }),
        }
    }

    /// All of it has been acknowledged, as far as has been seen here.
    fn after_all(&mut self, data: &Data, silence: Span, view: &View<'_>) -> Kind {
        if silence >= nearly(view.rtt.timeout()) {
            self.counts.timeout_events += 1;
            return Kind::Timeout;
        }
        match () {
            () if data.seq < self.recover => Kind::Fast,
            () if data.seq < self.timed_out => Kind::Timeout,
            () => Kind::Unexplained,
        }
    }

    fn count(&mut self, kind: Kind) {
        let c = &mut self.counts;
        match kind {
            Kind::Fast => c.fast += 1,
            Kind::Timeout => c.timeout += 1,
            Kind::Probe => c.probes += 1,
            Kind::Unexplained => c.unexplained += 1,
        }
    }

    /// Keeps it until it proves spurious or is forgotten.
    fn remember(&mut self, data: &Data, sent: &Sent) {
        if sent.needless {
            self.counts.spurious += 1;
            self.counts.spurious_acknowledged += 1;
            return;
        }
        if self.resent.len() == REMEMBERED {
            self.resent.pop_front();
        }
        let first = sent.original.and_then(|(_, stamp)| stamp);
        let stamps = first.zip(data.stamps.map(|(stamp, _)| stamp)).filter(|(a, b)| a != b);
        self.resent.push_back(Resent { seq: data.seq, end: data.end, stamps });
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, acked: &Acked, book: &Book) {
        if let Some((from, to)) = ack.duplicate {
            self.counts.dsacks += 1;
            self.prove(|r| r.seq >= from && r.end <= to, |c| c.spurious_by_dsack += 1);
        }
        self.sacking |= acked.sacked > 0;
        if self.goes_on(acked, book) {
            self.begin(ack.now, book.highest());
        }
        if acked.newly > 0 {
            (self.duplicates, self.last_news) = (0, self.last_news.max(ack.now));
            (self.advanced, self.clocked, self.heard) = (ack.now, Some(ack.now), (ack.now, true));
            if self.recover > Seq::ZERO && ack.ack >= self.recover {
                self.after_repair = self.after_repair.saturating_add(1);
            }
            if let Some((_, echo)) = ack.stamps {
                let una = ack.ack - acked.newly;
                let covered = |r: &Resent| r.end <= ack.ack && r.seq >= una;
                let echoes_first =
                    |r: &Resent| r.stamps.is_some_and(|(first, _)| echo == first || older(echo, first));
                self.prove(|r| covered(r) && echoes_first(r), |c| c.spurious_by_stamp += 1);
            }
        } else if acked.repeats {
            (self.duplicates, self.clocked) = (self.duplicates + 1, Some(ack.now));
            self.heard = (ack.now, acked.sacked > 0 || self.duplicates <= DUPLICATES);
        }
    }

    /// Bytes that it takes, beside its own.
    pub(super) fn size(&self) -> usize {
        room::<Resent>(self.resent.capacity())
    }

    /// The first retransmission of that kind was spurious.
    fn prove(&mut self, which: impl Fn(&Resent) -> bool, count: impl FnOnce(&mut Counts)) {
        if let Some(at) = self.resent.iter().position(which) {
            self.resent.remove(at);
            self.counts.spurious += 1;
            count(&mut self.counts);
        }
    }
}

/// What a sender takes at the most to answer an ACK, as it shows here; none where it is too far away for that to mean
/// anything.
fn at_once(rtt: &Rtt) -> Option<Span> {
    let (to_sender, whole) = (rtt.sender_side()?, rtt.whole()?);
    (to_sender < whole / 50).then_some(4 * to_sender + PROMPT)
}

/// Whether time stamp `a` is older than `b` (RFC 7323, section 5.2).
fn older(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}
