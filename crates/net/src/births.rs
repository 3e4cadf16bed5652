//! When the data under way came into being: the laboratory's knowledge, by which delays are measured. No endpoint sees it.
//!
//! Data is born when it leaves for the first time, which its packet knows, or when the application says. Nearly always the
//! next packet brings the next data, and nothing need be kept; what was sent again, and what waits behind a hole, is.

use crate::packet::{Packet, bits};
use smallvec::SmallVec;
use std::collections::VecDeque;
use truckee_tcp::{Seq, Time, Transmit, cache};

/// A segment, by one after its last sequence number, and when it was born.
type Born = (Seq, Time);

/// What of a departure tells when its data was born; by value, so that what leaves need not be in memory for it.
#[derive(Debug, Clone, Copy)]
pub struct Leaving {
    seq: Seq,
    end: Seq,
    empty: bool,
    retransmission: bool,
    first_sent: Option<Time>,
}

impl Leaving {
    /// Of what leaves.
    #[inline(always)]
    pub fn of(sent: &Transmit) -> Self {
        let segment = &sent.segment;
        Self {
            seq: segment.seq,
            end: segment.end(),
            empty: segment.len == 0,
            retransmission: sent.retransmission,
            first_sent: sent.first_sent,
        }
    }
}

/// The births of one connection's data.
#[derive(Debug, Default)]
pub struct Births {
    kept: Option<Box<Kept>>,
}

/// Those that have to be kept.
#[derive(Debug, Default)]
struct Kept {
    /// Where the application says when its data was born.
    told: Option<Box<Told>>,
    /// Of other data: what has been sent again, rising; mostly there is one.
    again: SmallVec<[Born; 1]>,
    /// What has come, rising, until it is delivered.
    come: VecDeque<Born>,
}

/// Data that was told of.
#[derive(Debug, Default)]
struct Told {
    /// What the application has written.
    written: VecDeque<Born>,
    /// All that is sent and not delivered.
    sent: VecDeque<Born>,
}

impl Births {
    /// Has the processor fetch what is kept.
    #[inline(always)]
    pub fn prefetch(&self) {
        if let Some(kept) = &self.kept {
            cache::prefetch(&**kept);
        }
    }

    /// What the application has written up to `end` was born then.
    pub fn on_write(&mut self, end: Seq, born: Time) {
        let told = self.kept.get_or_insert_default().told.get_or_insert_default();
        told.written.push_back((end, born));
    }

    /// Whether the application says when its data was born.
    #[inline]
    pub fn are_told(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.told.is_some())
    }

    /// Whether data that this packet brings as the next was born when the packet left, and is all that it delivers.
    #[inline]
    pub fn is_of(&self, packet: &Packet) -> bool {
        self.kept.is_none() && !packet.is(bits::AGAIN)
    }

    /// Data leaves.
    pub fn left(&mut self, now: Time, sent: Leaving) {
        let end = sent.end;
        if sent.empty {
            return;
        }
        if let Some(told) = self.kept.as_mut().and_then(|kept| kept.told.as_mut()) {
            if !sent.retransmission {
                let born = told.of_written(now, sent.seq);
                told.sent.push_back((end, born));
            }
        } else if let Some(first) = sent.first_sent {
            let again = &mut self.kept.get_or_insert_default().again;
            again.insert(again.partition_point(|other| other.0 < end), (end, first));
        }
    }

    /// Data has come in this packet, the next or not.
    pub fn arrived(&mut self, packet: &Packet) {
        if packet.len > 0 && !self.are_told() {
            self.kept.get_or_insert_default().arrived(packet);
        }
    }

    /// The birth of the next segment that has been delivered whole now that all below `rcv_nxt` has.
    pub fn take(&mut self, rcv_nxt: Seq) -> Option<Time> {
        let kept = self.kept.as_mut()?;
        let row = kept.told.as_mut().map_or(&mut kept.come, |told| &mut told.sent);
        let next = row.pop_front_if(|segment| segment.0 <= rcv_nxt).map(|segment| segment.1);
        if next.is_none() && kept.told.is_none() {
            kept.again.drain(..kept.again.partition_point(|segment| segment.0 <= rcv_nxt));
            if kept.again.is_empty() && kept.come.is_empty() {
                self.kept = None;
            }
        }
        next
    }
}

impl Told {
    /// The birth of what is sent now from this number on, according to the application.
    fn of_written(&mut self, now: Time, seq: Seq) -> Time {
        while self.written.front().is_some_and(|w| w.0 <= seq) {
            self.written.pop_front();
        }
        self.written.front().map_or(now, |w| w.1)
    }
}

impl Kept {
    fn arrived(&mut self, packet: &Packet) {
        let end = packet.end();
        let below = |last: Option<&Born>| last.is_none_or(|last| last.0 < end); // as nearly always
        let of_first = match below(self.again.last()) {
            true => None,
            false => self.again.binary_search_by_key(&end, |segment| segment.0).ok(),
        };
        let born = of_first.map_or(packet.sent, |at| self.again[at].1);
        if below(self.come.back()) {
            return self.come.push_back((end, born));
        }
        let at = self.come.partition_point(|segment| segment.0 < end);
        if self.come.get(at).is_none_or(|segment| segment.0 != end) {
            self.come.insert(at, (end, born));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_tcp::Segment;

    const LEN: u32 = 1000;

    fn sent(seq: u64, first_sent: Option<Time>) -> Leaving {
        let segment = Segment { seq: Seq::at(seq), len: LEN, ..Segment::default() };
        let retransmission = first_sent.is_some();
        Leaving::of(&Transmit { segment, retransmission, first_sent, ..Transmit::default() })
    }

    fn packet(at: Time, seq: u64, again: bool) -> Packet {
        let bits = if again { bits::AGAIN } else { 0 };
        Packet { seq: Seq::at(seq), len: LEN, sent: at, bits, ..Packet::default() }
    }

    fn all(births: &mut Births, rcv_nxt: u64) -> Vec<Time> {
        std::iter::from_fn(|| births.take(Seq::at(rcv_nxt))).collect()
    }

    #[test]
    fn data_is_born_when_the_application_says() {
        let mut births = Births::default();
        births.on_write(Seq::at(1001), Time::ns(3));
        births.left(Time::ns(5), sent(1, None));
        births.on_write(Seq::at(3001), Time::ns(7));
        births.on_write(Seq::at(4001), Time::ns(9));
        births.left(Time::ns(20), sent(1001, None));
        births.left(Time::ns(20), sent(2001, None));
        births.left(Time::ns(21), sent(3001, None));
        births.left(Time::ns(22), sent(4001, None));
        births.arrived(&packet(Time::ns(20), 1001, false));
        assert_eq!(births.take(Seq::at(1000)), None, "not whole");
        assert_eq!(all(&mut births, 5001), [3, 7, 7, 9, 22].map(Time::ns));
    }

    #[test]
    fn what_is_repaired_and_what_has_waited_for_it_were_born_when_they_first_left() {
        let mut births = Births::default();
        assert!(births.is_of(&packet(Time::ns(5), 1, false)));
        // Segments left at 5, 6, 7, 8; the first and third were lost, and the third is sent twice more.
        births.arrived(&packet(Time::ns(6), 1001, false));
        births.arrived(&packet(Time::ns(8), 3001, false));
        births.left(Time::ns(30), sent(1, Some(Time::ns(5))));
        births.left(Time::ns(31), sent(2001, Some(Time::ns(7))));
        births.left(Time::ns(50), Leaving { first_sent: None, retransmission: true, ..sent(2001, None) });
        births.arrived(&packet(Time::ns(30), 1, true));
        assert_eq!(all(&mut births, 2001), [5, 6].map(Time::ns));
        assert!(!births.is_of(&packet(Time::ns(9), 4001, false)), "it would be delivered with others");
        births.arrived(&packet(Time::ns(50), 2001, true));
        assert_eq!(all(&mut births, 4001), [7, 8].map(Time::ns));
        assert!(births.is_of(&packet(Time::ns(60), 4001, false)), "nothing is kept any more");
    }

    #[test]
    fn what_comes_twice_is_delivered_once() {
        let mut births = Births::default();
        births.arrived(&packet(Time::ns(6), 1001, false));
        births.left(Time::ns(30), sent(1001, Some(Time::ns(6))));
        births.arrived(&packet(Time::ns(30), 1001, true));
        births.arrived(&packet(Time::ns(5), 1, false));
        assert_eq!(all(&mut births, 2001), [5, 6].map(Time::ns));
    }
}
