//! Loss by script: the very packets named, by ordinal or by time. For tests of recovery and for published examples that
//! say which segments are lost.

use super::Impairment;
use crate::packet::Passage;
use crate::{Loss, Packet, Time};

#[derive(Debug, Clone)]
pub(crate) struct Scripted {
    flow: Option<u32>,
    /// Inclusive ranges of ordinals, in rising order.
    packets: Vec<(u64, u64)>,
    /// Intervals `[from, to)`, in rising order.
    during: Vec<(Time, Time)>,
    /// Data packets seen.
    seen: u64,
    next_range: usize,
    next_interval: usize,
}

impl Scripted {
    pub fn new(flow: Option<u32>, packets: &[(u64, u64)], during: &[(Time, Time)]) -> Self {
        Self {
            flow,
            packets: packets.to_vec(),
            during: during.to_vec(),
            seen: 0,
            next_range: 0,
            next_interval: 0,
        }
    }

    fn names_ordinal(&mut self) -> bool {
        self.seen += 1;
        while self.packets.get(self.next_range).is_some_and(|&(_, last)| last < self.seen) {
            self.next_range += 1;
        }
        self.packets.get(self.next_range).is_some_and(|&(first, _)| first <= self.seen)
    }

    fn names_time(&mut self, at: Time) -> bool {
        while self.during.get(self.next_interval).is_some_and(|&(_, to)| to <= at) {
            self.next_interval += 1;
        }
        self.during.get(self.next_interval).is_some_and(|&(from, _)| from <= at)
    }
}

impl Impairment for Scripted {
    #[inline]
    fn act(&mut self, packet: &Packet, passage: &mut Passage) {
        if self.flow.is_some_and(|flow| flow != packet.flow) {
            return;
        }
        // Ordinals count data packets whether or not an interval loses them too.
        let by_ordinal = packet.data && self.names_ordinal();
        if self.names_time(packet.at) || by_ordinal {
            passage.lose(Loss::Error);
        }
    }

    fn is_clean(&self) -> bool {
        self.packets.is_empty() && self.during.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use crate::impairment::interval::{fate_of, member};
    use crate::{CROSS_TRAFFIC, Effect, Fate, Packet, Time};

    fn lost(script: &Effect, packets: impl IntoIterator<Item = Packet>) -> Vec<u64> {
        let mut script = member(script, 1);
        let lost = |p: &Packet| matches!(fate_of(&mut script, p), Fate::Lost(_));
        packets.into_iter().filter(lost).map(|p| p.at.nanos()).collect()
    }

    fn data(at: u64) -> Packet {
        Packet { at: Time::ns(at), bytes: 1500, flow: 0, data: true }
    }

    #[test]
    fn ordinals_count_data_packets_from_one() {
        let script =
            Effect::Scripted { flow: None, packets: vec![(1, 1), (3, 5), (5, 6), (8, 8)], during: vec![] };
        // ACKs between the data packets neither count nor are lost.
        let ack = |at| Packet { data: false, ..data(at) };
        let packets = (1..=10).flat_map(|at| [data(at), ack(100 + at)]);
        assert_eq!(lost(&script, packets), [1, 3, 4, 5, 6, 8]);
    }

    #[test]
    fn only_the_flow_named_is_counted_and_lost() {
        let script = Effect::Scripted {
            flow: Some(2),
            packets: vec![(2, 2)],
            during: vec![(Time::ns(50), Time::ns(60))],
        };
        let of = |at, flow| Packet { flow, ..data(at) };
        let packets = [of(1, 0), of(2, 2), of(3, CROSS_TRAFFIC), of(4, 2), of(5, 2), of(55, 0), of(56, 2)];
        assert_eq!(lost(&script, packets), [4, 56]);
    }

    #[test]
    fn intervals_lose_everything_from_their_start_up_to_their_end() {
        let script = Effect::Scripted {
            flow: None,
            packets: vec![],
            during: vec![(Time::ns(3), Time::ns(5)), (Time::ns(5), Time::ns(6)), (Time::ns(9), Time::ns(10))],
        };
        let packets = (0..12).map(|at| Packet { data: at % 2 == 0, ..data(at) });
        assert_eq!(lost(&script, packets), [3, 4, 5, 9]);
    }
}
