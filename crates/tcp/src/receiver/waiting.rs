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
    /// What the next ACK tells of, where it leaves for less than all that has come.
    pub(super) before: Option<SackBlocks>,
}

/// Ranges that are remembered to be reported: as many as a header has room for (Linux, `TCP_NUM_SACKS`).
const REMEMBERED: usize = 4;

impl Waiting {
    /// The range around this number is the first to be reported.
    #[inline]
    pub(super) fn report(&mut self, seq: Seq) {
        let Self { ranges, recent, .. } = self;
        if let Some((from, to)) = ranges.containing(seq) {
            recent.retain(|&known| (known < from || known >= to) && ranges.containing(known).is_some());
        }
        recent.push_front(seq);
        recent.truncate(REMEMBERED);
    }

    /// How many ranges are reported before that around this number, or in all if it is not reported yet.
    pub(super) fn place(&self, seq: Seq) -> usize {
        let around = self.ranges.containing(seq);
        let known = self.recent.iter().map(|&known| self.ranges.containing(known)).filter(Option::is_some);
        known.take_while(|&range| range != around).count()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes in these ranges, and the blocks that an ACK of 1 tells of then.
    fn told(ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut waiting = Waiting::default();
        for &(from, to) in ranges {
            waiting.ranges.insert(Seq::at(from), Seq::at(to));
            waiting.report(Seq::at(from));
        }
        let blocks = waiting.blocks(Seq::at(1), None, 4);
        blocks.iter(Seq::at(1)).map(|(from, to)| (from.number(), to.number())).collect()
    }

    #[test]
    fn a_range_is_reported_however_many_segments_have_come_into_another() {
        let mut ranges = vec![(101, 201)];
        ranges.extend((3..20).map(|k| (100 * k + 1, 100 * k + 101)));
        assert_eq!(told(&ranges), [(301, 2001), (101, 201)]);
    }

    #[test]
    fn the_four_that_were_last_added_to_are_and_a_merged_one_counts_once() {
        let apart = |k: u64| (200 * k + 1, 200 * k + 101);
        let ranges = [apart(1), apart(2), apart(3), apart(4), apart(5)];
        assert_eq!(told(&ranges), [apart(5), apart(4), apart(3), apart(2)]);
        // What joins the fourth and the fifth leaves room for none that was forgotten.
        assert_eq!(told(&[&ranges[..], &[(901, 1001)]].concat()), [(801, 1101), apart(3), apart(2)]);
    }
}
