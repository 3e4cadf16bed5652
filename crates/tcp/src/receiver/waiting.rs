//! What has come beyond a hole, and the SACK blocks that report it.

use crate::Seq;
use crate::segment::SackBlocks;
use crate::seq::Ranges;
use std::collections::VecDeque;

/// Segments beyond a hole.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    pub(super) ranges: Ranges,
    /// A sequence number out of each range reported, most recent first: the order of SACK blocks (RFC 2018, section 4).
    pub(super) recent: VecDeque<Seq>,
}

impl Waiting {
    /// Takes in a segment; `reported`: whether SACK blocks will tell of it.
    #[inline]
    pub(super) fn insert(&mut self, seq: Seq, end: Seq, reported: bool) {
        self.ranges.insert(seq, end);
        if !reported {
            return;
        }
        self.recent.retain(|&s| s != seq);
        self.recent.push_front(seq);
        self.recent.truncate(8);
    }

    /// Of a segment's numbers those that have come already: the first of them that are in one range.
    pub(super) fn overlap(&self, seq: Seq, end: Seq) -> Option<(Seq, Seq)> {
        let ranges = self.ranges.as_slice();
        let range = ranges[ranges.partition_point(|range| range.1 <= seq)..].first()?;
        (range.0 < end).then(|| (range.0.max(seq), range.1.min(end)))
    }

    /// What has come twice, where there is such, and up to `limit` blocks in all.
    pub(super) fn blocks(&self, ack: Seq, twice: Option<(Seq, Seq)>, limit: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if let Some((from, to)) = twice {
            blocks.push(ack, from, to);
        }
        let limit = limit - usize::from(!blocks.is_empty());
        let mut listed = [Seq::ZERO; 8];
        let mut n = 0;
        for range in self.recent.iter().filter_map(|&seq| self.ranges.containing(seq)) {
            if n < limit && range.0 > ack && !listed[..n].contains(&range.0) {
                listed[n] = range.0;
                n += 1;
                blocks.push(ack, range.0, range.1);
            }
        }
        blocks
    }
}
