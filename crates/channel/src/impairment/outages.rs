//! Outages or handoffs at given times: what enters the medium from an outage's start up to its end is lost.

use super::Impairment;
use crate::packet::Passage;
use crate::{Loss, Packet, Span, Time};

#[derive(Debug, Clone)]
pub(crate) struct Outages {
    /// Start and end, those of no length left out.
    spans: Vec<(Time, Time)>,
    /// The first that has not ended.
    next: usize,
}

impl Outages {
    /// Start and length of each, in rising order without overlap.
    pub fn new(at: &[(Time, Span)]) -> Self {
        let span = |&(start, length): &(Time, Span)| (start, start.saturating_add(length));
        Self { spans: at.iter().map(span).filter(|(start, end)| start < end).collect(), next: 0 }
    }
}

impl Impairment for Outages {
    #[inline]
    fn act(&mut self, packet: &Packet, passage: &mut Passage) {
        while self.spans.get(self.next).is_some_and(|&(_, end)| end <= packet.at) {
            self.next += 1;
        }
        if self.spans.get(self.next).is_some_and(|&(start, _)| start <= packet.at) {
            passage.lose(Loss::Outage);
        }
    }

    fn is_clean(&self) -> bool {
        self.spans.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use crate::impairment::interval::{fate, lost, member};
    use crate::{Effect, Fate, Loss, Span, Time};

    fn outage((start, length): (u64, u64)) -> (Time, Span) {
        (Time::ns(start), Span::ns(length))
    }

    #[test]
    fn loses_from_the_start_of_each_up_to_its_end() {
        let mut outages =
            member(&Effect::Outages { at: [(3, 4), (10, 0), (20, 2), (22, 1)].map(outage).to_vec() }, 1);
        let times: Vec<u64> = (0..40).filter(|&at| lost(&mut outages, Span::ns(at))).collect();
        assert_eq!(times, [3, 4, 5, 6, 20, 21, 22]);
    }

    #[test]
    fn outages_that_no_packet_met_are_passed_over() {
        let mut outages =
            member(&Effect::Outages { at: (0..1000).map(|i| outage((i * 10, 5))).collect() }, 1);
        assert_eq!(fate(&mut outages, Span::ns(9994)), Fate::Lost(Loss::Outage));
        assert!(!lost(&mut outages, Span::ns(9995)));
    }
}
