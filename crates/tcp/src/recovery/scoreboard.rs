//! What SACK blocks have reported, as segments: read once, marked in [`crate::outstanding`].
//! Not for: what follows from it.

use super::Reported;
use crate::outstanding::Sent;
use crate::sender::Transfer;
use crate::seq::Ranges;
use crate::{SackBlocks, Seq};

/// Sequence numbers reported.
#[derive(Debug, Clone, Default)]
pub(super) struct Scoreboard(Ranges);

impl Scoreboard {
    /// The numbers reported and not yet acknowledged.
    pub(super) fn ranges(&self) -> &Ranges {
        &self.0
    }

    /// Everything below `ack` is acknowledged.
    pub(super) fn trim_below(&mut self, ack: Seq) {
        self.0.trim_below(ack);
    }

    /// The first whole segment in `[seq, to)` that was not reported before. Parts do not count: a receiver reports what it
    /// got, and it got segments.
    fn unreported(&self, mut seq: Seq, to: Seq, t: &Transfer) -> Option<usize> {
        seq = seq.max(t.out.una());
        while seq < to {
            if let Some((_, end)) = self.0.containing(seq) {
                seq = end;
                continue;
            }
            let at = t.out.index_of(seq);
            let segment = t.out.get(at).filter(|segment| segment.end <= to)?;
            if segment.seq >= seq {
                return Some(at);
            }
            seq = segment.end;
        }
        None
    }

    /// Marks what the blocks report; true if any of it is news.
    pub(super) fn read(&mut self, ack: Seq, sack: &SackBlocks, t: &mut Transfer) -> bool {
        self.read_telling(ack, sack, t, |_, _| {})
    }

    /// The same, and each segment that is reported for the first time is told before it is marked, the first sent first: of several
    /// blocks with news none overtook another.
    pub(super) fn read_telling(
        &mut self,
        ack: Seq,
        sack: &SackBlocks,
        t: &mut Transfer,
        mut tell: impl FnMut(&Sent, &Transfer),
    ) -> bool {
        let mut news = false;
        for (mut seq, to) in sack.sorted(ack) {
            while let Some(at) = self.unreported(seq, to, t)
                && let Some(segment) = t.out.get(at)
            {
                tell(&segment, t);
                t.out.mark_sacked(at);
                self.0.insert(segment.seq, segment.end);
                news = true;
                seq = segment.end;
            }
        }
        news
    }

    /// What these blocks report for the first time.
    pub(super) fn reported(&self, ack: Seq, sack: &SackBlocks, t: &Transfer) -> Reported {
        let mut reported = Reported::default();
        let mut read = Seq::ZERO;
        for (seq, to) in sack.sorted(ack) {
            // One that has come twice beyond the ACK lies within another block (RFC 2883, section 4.2).
            let mut seq = seq.max(read);
            while let Some(segment) = self.unreported(seq, to, t).and_then(|at| t.out.get(at)) {
                reported.newest = reported.newest.max(Some(segment.sent));
                reported.bytes += segment.span();
                if !segment.is_resent() {
                    let (first, last) = reported.once.unwrap_or((segment.sent, segment.sent));
                    reported.once = Some((first.min(segment.sent), last.max(segment.sent)));
                }
                seq = segment.end;
            }
            read = read.max(to);
        }
        reported
    }
}
