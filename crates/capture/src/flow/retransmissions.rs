//! What was sent again, and what made the sender do it.
//!
//! - *Timeout*: the first byte not acknowledged is sent again after a silence of the sender of a retransmission timeout,
//!   or once more as long after it was last sent again, or once more within a round trip, which no ACK can ask for; and
//!   whatever is sent again after that, up to where the sender was then, unless ACKs speak of a gap anew.
//! - *Fast*: ACKs have shown data behind it delivered: three duplicates (RFC 5681), or a SACK block above it; or it
//!   belongs to the same repair, up to where the sender was when that began (RFC 6582).
//! - *Probe*: the last segment is sent again after a silence of about two round trips, sooner than a timeout (tail loss
//!   probe, RFC 8985).
//! - *Unexplained*: none of these, as far as the capture shows.
//!
//! *Spurious*, besides: it need not have been sent. That shows in three ways: all of it had been acknowledged before; the
//! receiver reports it as a duplicate (DSACK, RFC 2883); the ACK that covers it echoes the time stamp of the first
//! transmission (Eifel, RFC 3522).
//!
//! Not retransmissions: a packet that the network or the capture has doubled (the same IPv4 identification), one that was
//! overtaken, a probe of a closed window, a keep-alive.

use super::book::Book;
use super::rtt::Rtt;
use super::windows::Windows;
use super::{Ack, Acked, Before, Data, Sent, nearly, room};
use serde::Serialize;
use std::collections::VecDeque;
use truckee_tcp::{LossKind, Time};

/// Duplicates that make a fast retransmit (RFC 5681).
const DUPLICATES: u32 = 3;
/// What Linux waits beyond the smoothed round trip, at the least, before its timer goes off.
const LINUX_MARGIN: u64 = 200_000_000;
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
pub(super) struct Verdict {
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
    seq: u64,
    end: u64,
    /// Stamps of the first transmission and of this one, where they differ.
    stamps: Option<(u32, u32)>,
}

/// Keeps count of them.
#[derive(Debug, Clone, Default)]
pub struct Retransmissions {
    /// The counts.
    pub counts: Counts,
    resent: VecDeque<Resent>,
    duplicates: u32,
    /// When data or an advancing ACK last passed.
    last_news: Time,
    /// A repair that ACKs began ends here.
    recover: u64,
    /// What a timeout sends again ends here.
    timed_out: u64,
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

    fn judge(&mut self, data: &Data, sent: &Sent, silence: u64, before: &Before, view: &View<'_>) -> Kind {
        let silent = silence >= nearly(view.rtt.timeout());
        // A retransmission that was lost itself, while the sender went on: what RACK notices it notices sooner.
        let limit = nearly(view.rtt.timeout().max(view.rtt.smoothed().unwrap_or(0) + LINUX_MARGIN));
        // One that goes again within a round trip: no ACK can have asked for that, only a timer that partial ACKs have
        // not restarted (NewReno's impatient variant, RFC 6582).
        let soon = nearly(view.rtt.whole().unwrap_or(0));
        let since = sent.repeated.map(|last| data.now.saturating_sub(last));
        let stale = since.is_some_and(|since| since >= limit || since < soon);
        let head = data.seq <= before.una;
        if (silent || stale) && head {
            self.counts.timeout_events += 1;
            (self.timed_out, self.recover) = (before.highest, 0);
            return Kind::Timeout;
        }
        let gap = view.book.sacked_above(data.end) > 0 || (head && self.duplicates >= DUPLICATES);
        if data.seq < self.recover {
            return Kind::Fast;
        }
        if data.seq < self.timed_out && !gap {
            return Kind::Timeout;
        }
        if gap {
            self.counts.fast_events += 1;
            self.recover = before.highest;
            return Kind::Fast;
        }
        let tail = data.end >= before.highest && view.rtt.smoothed().is_some_and(|rtt| silence >= rtt);
        if tail { Kind::Probe } else { Kind::Unexplained }
    }

    /// All of it has been acknowledged, as far as has been seen here.
    fn after_all(&mut self, data: &Data, silence: u64, view: &View<'_>) -> Kind {
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

    pub(super) fn on_ack(&mut self, ack: &Ack, acked: &Acked) {
        if let Some((from, to)) = ack.duplicate {
            self.counts.dsacks += 1;
            self.prove(|r| r.seq >= from && r.end <= to, |c| c.spurious_by_dsack += 1);
        }
        if acked.newly > 0 {
            (self.duplicates, self.last_news) = (0, self.last_news.max(ack.now));
            if let Some((_, echo)) = ack.stamps {
                let una = ack.ack - acked.newly;
                let covered = |r: &Resent| r.end <= ack.ack && r.seq >= una;
                let echoes_first =
                    |r: &Resent| r.stamps.is_some_and(|(first, _)| echo == first || older(echo, first));
                self.prove(|r| covered(r) && echoes_first(r), |c| c.spurious_by_stamp += 1);
            }
        } else if acked.repeats {
            self.duplicates += 1;
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

/// Whether time stamp `a` is older than `b` (RFC 7323, section 5.2).
fn older(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}
