//! Loss recovery by SACK as it was first published: a counter of the pipe, and no judgement of holes.
//!
//! The third duplicate ACK whose blocks bring news starts a repair: pipe = flight − 3 segments, and the first hole goes out.
//! Then each ACK takes one segment from the pipe, a partial one another, and each segment sent adds one; while pipe <
//! cwnd, holes below the highest number reported go first, each once, then new data. What is lost a second time waits for the
//! timer. The repair, a timeout and every ACK of new data outside of a repair clear the scoreboard; after a timeout
//! everything is sent again in order, and duplicates mean nothing until new data is acknowledged. Source: Fall and Floyd
//! 1996, "Simulation-based comparisons of Tahoe, Reno and SACK TCP", section 3.4; ns-2, `Sack1TcpAgent`.

use super::scoreboard::Scoreboard;
use super::{Advance, DUP_THRESH, Recovery, Reported};
use crate::sender::Transfer;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, LossKind, Report, SackBlocks, Seq, Time};

/// Recovery by a pipe counter.
#[derive(Debug, Clone, Default)]
pub struct Sack1 {
    sacked: Scoreboard,
    duplicates: u32,
    /// One after the highest sequence number sent when the last repair or timeout began; a repair that ends well forgets it.
    recover: Seq,
    repairing: bool,
    /// A timeout's repair has not been acknowledged yet.
    timed_out: bool,
    first: bool,
    /// No hole below is retransmitted any more.
    next: Seq,
    /// The pipe, bytes, without what was sent above `sent`.
    pipe: i64,
    /// One after the highest sequence number sent when this repair began.
    sent: Seq,
}

impl Member for Sack1 {
    const INFO: Info = Info {
        name: "sack1",
        summary: "repairs the holes that SACK blocks show, each once, by a counter of what is in the pipe",
        formula: "3 dup ACKs: pipe = flight − 3; each ACK: pipe −= 1 (partial: 2); send while pipe < cwnd: holes, then new data",
        source: "Fall and Floyd 1996, section 3.4; ns-2",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self::default())
    }
}

impl Sack1 {
    fn pipe(&self, t: &Transfer) -> u64 {
        (self.pipe + (t.out.max() - self.sent.min(t.out.max())) as i64).max(0) as u64
    }

    /// Segments have left the pipe.
    fn drain(&mut self, segments: u32, t: &Transfer) {
        self.pipe -= i64::from(segments) * t.window.mss as i64;
    }

    fn begin(&mut self, ack: &Ack, t: &mut Transfer, report: &mut Report<'_>) {
        self.sent = t.out.max();
        self.recover = t.out.max();
        self.pipe = t.out.flight() as i64;
        self.drain(DUP_THRESH, t);
        t.lose(ack.now, LossKind::DupAcks, t.out.una(), report);
        (self.repairing, self.first) = (true, true);
        self.next = t.out.get(0).map_or(Seq::ZERO, |first| first.end);
    }

    /// The next hole below the highest number reported.
    fn hole(&self, t: &Transfer) -> Option<usize> {
        let highest = self.sacked.ranges().as_slice().last()?.1;
        let mut seq = self.next.max(t.out.una());
        while let Some((_, end)) = self.sacked.ranges().containing(seq) {
            seq = end;
        }
        (seq < highest).then(|| t.out.index_of(seq))
    }
}

impl Recovery for Sack1 {
    fn on_advance(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, _: &mut Report<'_>) -> Advance {
        let repaired = self.repairing;
        if repaired && ack.ack < self.recover {
            self.drain(2, t);
            self.sacked.trim_below(ack.ack);
            self.sacked.read(ack.ack, sack, t);
            t.end_back_off();
            return Advance::REPAIRING;
        }
        let recover = if repaired { Seq::ZERO } else { self.recover };
        *self = Self { recover, ..Self::default() };
        if repaired { Advance::REPAIRING } else { Advance::ORDINARY }
    }

    fn on_duplicate(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        if self.repairing {
            self.drain(1, t);
        }
        let news = !self.timed_out && self.sacked.read(ack.ack, sack, t);
        if !self.repairing && news {
            self.duplicates += 1;
            if self.duplicates == DUP_THRESH && t.out.una() > self.recover {
                self.begin(ack, t, report);
            }
        }
    }

    fn on_timeout(&mut self, _: Time, t: &mut Transfer) {
        *self = Self { recover: t.out.max(), timed_out: true, ..Self::default() };
        t.out.go_back();
    }

    fn on_undo(&mut self, t: &mut Transfer) {
        *self = Self { recover: self.recover, ..Self::default() };
        t.out.go_on();
    }

    fn retransmission(&mut self, t: &Transfer) -> Option<usize> {
        if !self.repairing {
            return None;
        }
        if std::mem::take(&mut self.first) {
            return Some(0);
        }
        if self.pipe(t) as f64 + t.window.mss > t.window.cwnd {
            return None;
        }
        let at = self.hole(t)?;
        let hole = t.out.get(at)?;
        self.next = hole.end;
        self.pipe += hole.span() as i64;
        Some(at)
    }

    fn counts_air(&self) -> bool {
        true
    }

    fn in_flight(&self, t: &Transfer) -> u64 {
        if self.repairing { self.pipe(t) } else { t.out.flight() }
    }

    fn duplicates(&self) -> u32 {
        if self.repairing || self.duplicates >= DUP_THRESH { 0 } else { self.duplicates }
    }

    fn repairing(&self) -> bool {
        self.repairing
    }

    fn wants_sack(&self) -> bool {
        true
    }

    fn reported(&self, ack: Seq, sack: &SackBlocks, t: &Transfer) -> Reported {
        self.sacked.reported(ack, sack, t)
    }
}
