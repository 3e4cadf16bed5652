//! Loss, delay and duplication by script: the very packets named, by ordinal or by time. For tests of recovery and for
//! published examples that say which segments are lost.

use super::Impairment;
use crate::config::{Counts, Deed, Script};
use crate::packet::Passage;
use crate::{Loss, Packet, Time};

#[derive(Debug, Clone)]
pub(crate) struct Scripted {
    script: Script,
    /// Numbered packets seen.
    seen: u64,
    next_range: usize,
    next_interval: usize,
}

impl Scripted {
    pub fn new(script: &Script) -> Self {
        Self { script: script.clone(), seen: 0, next_range: 0, next_interval: 0 }
    }

    fn names_ordinal(&mut self) -> bool {
        self.seen += 1;
        while self.script.packets.get(self.next_range).is_some_and(|&(_, last)| last < self.seen) {
            self.next_range += 1;
        }
        self.script.packets.get(self.next_range).is_some_and(|&(first, _)| first <= self.seen)
    }

    fn names_time(&mut self, at: Time) -> bool {
        while self.script.during.get(self.next_interval).is_some_and(|&(_, to)| to <= at) {
            self.next_interval += 1;
        }
        self.script.during.get(self.next_interval).is_some_and(|&(from, _)| from <= at)
    }
}

impl Impairment for Scripted {
    #[inline]
    fn act(&mut self, packet: &Packet, passage: &mut Passage) {
        if self.script.flow.is_some_and(|flow| flow != packet.flow) {
            return;
        }
        // Ordinals count packets whether or not an interval means them too.
        let numbered = packet.data || self.script.counts == Counts::All;
        let by_ordinal = numbered && self.names_ordinal();
        if self.names_time(packet.at) || by_ordinal {
            match self.script.does {
                Deed::Lose => passage.lose(Loss::Error),
                Deed::Delay(by) => passage.delay(by),
                Deed::Duplicate(after) => passage.duplicate(after),
            }
        }
    }

    fn is_clean(&self) -> bool {
        self.script.packets.is_empty() && self.script.during.is_empty()
    }

    fn keeps_order(&self) -> bool {
        self.is_clean() || self.script.does == Deed::Lose
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Deed, Script};
    use crate::impairment::Impairment;
    use crate::impairment::interval::{fate_of, member};
    use crate::{CROSS_TRAFFIC, Effect, Fate, Packet, Span, Time};

    fn lost(script: Script, packets: impl IntoIterator<Item = Packet>) -> Vec<u64> {
        let mut script = member(&Effect::Scripted(script), 1);
        let lost = |p: &Packet| matches!(fate_of(&mut script, p), Fate::Lost(_));
        packets.into_iter().filter(lost).map(|p| p.at.nanos()).collect()
    }

    fn data(at: u64) -> Packet {
        Packet { at: Time::ns(at), bytes: 1500, flow: 0, data: true }
    }

    #[test]
    fn ordinals_count_data_packets_from_one() {
        let script = Script { packets: vec![(1, 1), (3, 5), (5, 6), (8, 8)], ..Script::default() };
        // ACKs between the data packets neither count nor are lost.
        let ack = |at| Packet { data: false, ..data(at) };
        let packets = (1..=10).flat_map(|at| [data(at), ack(100 + at)]);
        assert_eq!(lost(script, packets), [1, 3, 4, 5, 6, 8]);
    }

    #[test]
    fn only_the_flow_named_is_counted_and_lost() {
        let script = Script {
            flow: Some(2),
            packets: vec![(2, 2)],
            during: vec![(Time::ns(50), Time::ns(60))],
            ..Script::default()
        };
        let of = |at, flow| Packet { flow, ..data(at) };
        let packets = [of(1, 0), of(2, 2), of(3, CROSS_TRAFFIC), of(4, 2), of(5, 2), of(55, 0), of(56, 2)];
        assert_eq!(lost(script, packets), [4, 56]);
    }

    #[test]
    fn intervals_lose_everything_from_their_start_up_to_their_end() {
        let script = Script {
            during: vec![(Time::ns(3), Time::ns(5)), (Time::ns(5), Time::ns(6)), (Time::ns(9), Time::ns(10))],
            ..Script::default()
        };
        let packets = (0..12).map(|at| Packet { data: at % 2 == 0, ..data(at) });
        assert_eq!(lost(script, packets), [3, 4, 5, 9]);
    }

    #[test]
    fn where_all_are_counted_acks_have_numbers_and_fall_too() {
        let script = Script { counts: Counts::All, packets: vec![(2, 3)], ..Script::default() };
        let packets = (1..=5).map(|at| Packet { data: at % 2 == 0, ..data(at) });
        assert_eq!(lost(script, packets), [2, 3]);
    }

    #[test]
    fn what_is_held_back_comes_later_and_what_is_doubled_comes_twice() {
        let fates = |does| {
            let script = Script { packets: vec![(2, 2)], does, ..Script::default() };
            let mut script = member(&Effect::Scripted(script), 1);
            assert_eq!(script.keeps_order(), does == Deed::Lose);
            [1, 2, 3].map(|at| fate_of(&mut script, &data(at)))
        };
        let arrives = |extra, copy| Fate::Arrives { extra: Span::ns(extra), copy };
        let plain = arrives(0, None);
        assert_eq!(fates(Deed::Delay(Span::ns(7))), [plain, arrives(7, None), plain]);
        assert_eq!(fates(Deed::Duplicate(Span::ns(7))), [plain, arrives(0, Some(Span::ns(7))), plain]);
    }
}
