//! Delays by list: what packets were late by on a path that was measured, played back. A link that was late with one packet
//! was late with those behind it: none arrives before those before it.

use super::Impairment;
use crate::packet::Passage;
use crate::{Delays, Packet, Time};

#[derive(Debug, Clone)]
pub(crate) struct Listed {
    delays: Delays,
    next: usize,
    /// When the latest packet so far arrives, the link's own delay and what other effects do aside.
    latest: Time,
}

impl Listed {
    pub fn new(delays: &Delays) -> Self {
        Self { delays: delays.clone(), next: 0, latest: Time::ZERO }
    }
}

impl Impairment for Listed {
    #[inline]
    fn act(&mut self, packet: &Packet, passage: &mut Passage) {
        // What an effect before this one has lost did not arrive where the list was written.
        if passage.is_lost() || self.delays.flow.is_some_and(|flow| flow != packet.flow) {
            return;
        }
        let by = self.delays.by.get(self.next).copied().unwrap_or_default();
        self.next += 1;
        self.latest = self.latest.max(packet.at.saturating_add(by));
        passage.delay(self.latest - packet.at);
    }

    fn is_clean(&self) -> bool {
        self.delays.by.iter().all(|by| by.is_zero())
    }

    fn keeps_order(&self) -> bool {
        self.delays.flow.is_none() || self.is_clean()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairment::interval::{fate_of, member};
    use crate::{Channel, ChannelConfig, Effect, Fate, Script, Span};

    fn list(flow: Option<u32>, by: &[u64]) -> Effect {
        Effect::Delays(Delays { flow, by: by.iter().map(|&by| Span::ns(by)).collect() })
    }

    fn packet(at: u64, flow: u32) -> Packet {
        Packet { at: Time::ns(at), bytes: 1500, flow, data: true }
    }

    fn late(by: u64) -> Fate {
        Fate::Arrives { extra: Span::ns(by), copy: None }
    }

    #[test]
    fn each_packet_is_late_by_its_place_in_the_list_and_none_beyond_it() {
        let mut delays = member(&list(None, &[5, 0, 7]), 1);
        let fates = [0, 10, 20, 30].map(|at| fate_of(&mut delays, &packet(at, 0)));
        assert_eq!(fates, [late(5), late(0), late(7), late(0)]);
        assert!(delays.keeps_order());
    }

    #[test]
    fn none_arrives_before_those_before_it() {
        let mut delays = member(&list(None, &[25, 0, 3]), 1);
        let fates = [0, 10, 20, 30].map(|at| fate_of(&mut delays, &packet(at, 0)));
        assert_eq!(fates, [late(25), late(15), late(5), late(0)], "at 25, 25, 25 and 30");
    }

    #[test]
    fn only_the_flow_named_is_counted_and_late() {
        let mut delays = member(&list(Some(2), &[5, 6]), 1);
        let fates = [(0, 2), (10, 0), (20, 2)].map(|(at, flow)| fate_of(&mut delays, &packet(at, flow)));
        assert_eq!(fates, [late(5), late(0), late(6)]);
        assert!(!delays.keeps_order(), "others overtake it");
    }

    #[test]
    fn what_is_lost_has_no_place_in_the_list() {
        let script = Effect::Scripted(Script { packets: vec![(2, 2)], ..Script::default() });
        let mut channel = Channel::new(&ChannelConfig { effects: vec![script, list(None, &[5, 6])] }, 1);
        let fates = [0, 10, 20].map(|at| channel.fate(&packet(at, 0)));
        assert_eq!(fates, [late(5), Fate::Lost(crate::Loss::Error), late(6)]);
    }
}
