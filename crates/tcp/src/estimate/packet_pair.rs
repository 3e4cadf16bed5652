//! Packet pair: two segments sent back to back arrive as far apart as the bottleneck takes for the second.
//!
//! B = bits that the second ACK of the pair shows to have been delivered / time between the two ACKs. It estimates the
//! *bottleneck's* rate, not the flow's share of it, and it does so once: it was proposed for the first ssthresh. Source:
//! Keshav 1991; Hoe 1996; lp, section 3.2.1.
//!
//! Choices: a pair is two ACKs of new data in a row whose newest segments left within a tenth of the time between the
//! ACKs (`closeness`), and neither of which was sent twice. Where departures are not known, as on a bare list of
//! arrivals, the first two ACKs are taken for a pair.

use super::BandwidthEstimator;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Span, Time, Window};

/// One measurement by one pair.
#[derive(Debug, Clone)]
pub struct PacketPair {
    closeness: f64,
    /// Arrival of the last ACK that may be the first of a pair, and the departure of the segment it acknowledged.
    first: Option<(Time, Option<Time>)>,
    rate: Option<f64>,
}

impl Member for PacketPair {
    const INFO: Info = Info {
        name: "packet-pair",
        summary: "measures the bottleneck once, by two segments sent back to back",
        formula: "B = bits of the second ACK / time between the ACKs of two segments sent at most closeness = 0.1 of it apart; once",
        source: "Keshav 1991; Hoe 1996; Martignon, NewReno-LP, section 3.2.1",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self { closeness: args.number("closeness", 0.1, 0.0..=0.9)?, first: None, rate: None })
    }
}

impl PacketPair {
    /// Whether segments that left so were back to back, if their ACKs came `gap` apart.
    fn back_to_back(&self, first: Option<Time>, second: Option<Time>, gap: Span) -> bool {
        match (first, second) {
            (Some(first), Some(second)) => first.abs_diff(second).as_f64() <= self.closeness * gap.as_f64(),
            (None, None) => true,
            _ => false,
        }
    }
}

impl BandwidthEstimator for PacketPair {
    fn on_ack(&mut self, ack: &Ack, _: &Window) {
        if self.rate.is_some() {
            return;
        }
        let ambiguous = ack.sent.is_some() && ack.rtt.is_none();
        if ack.duplicate || ack.newly_acked == 0 || ambiguous {
            self.first = None;
            return;
        }
        if let Some((came, left)) = self.first
            && ack.now > came
            && self.back_to_back(left, ack.sent, ack.now - came)
        {
            self.rate = Some(ack.delivered as f64 * 8.0 / (ack.now - came).seconds());
        }
        self.first = Some((ack.now, ack.sent));
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::Spec;
    use crate::estimate::AnyEstimator;

    const MS: Span = Span::ms(1);

    /// An ACK of what was sent so long after the start, so long after the start.
    fn ack(now: Span, sent: Span) -> Ack {
        Ack { sent: Some(Time::at(sent)), rtt: Some(now - sent), ..Ack::of_bytes(Time::at(now), 1000) }
    }

    fn rate_of(acks: &[Ack]) -> Option<f64> {
        let (mut pair, _) = AnyEstimator::build(&Spec::named("packet-pair")).unwrap();
        acks.iter().for_each(|ack| pair.on_ack(ack, &window()));
        pair.bits_per_second()
    }

    #[test]
    fn the_first_pair_counts_and_later_ones_do_not() {
        // Segments 1 and 2 leave 10 ms apart, 3 right behind 2; the ACKs of 2 and 3 are 4 ms apart: 8000 bit / 4 ms.
        let acks = [ack(100 * MS, Span::ZERO), ack(112 * MS, 10 * MS), ack(116 * MS, 10 * MS)];
        assert_eq!(rate_of(&acks[..2]), None);
        assert_eq!(rate_of(&acks), Some(2e6));
        assert_eq!(rate_of(&[&acks[..], &[ack(117 * MS, 10 * MS)]].concat()), Some(2e6));
    }

    #[test]
    fn neither_a_duplicate_nor_a_segment_sent_twice_is_half_of_a_pair() {
        let duplicate = Ack { duplicate: true, newly_acked: 0, ..ack(112 * MS, 10 * MS) };
        let again = Ack { rtt: None, ..ack(112 * MS, 10 * MS) };
        for second in [duplicate, again] {
            assert_eq!(rate_of(&[ack(110 * MS, 10 * MS), second, ack(300 * MS, 200 * MS)]), None);
        }
    }

    #[test]
    fn on_a_bare_list_of_arrivals_the_first_two_are_the_pair() {
        assert_eq!(rate_of(&[Ack::of_bytes(Time::ZERO, 1000), Ack::of_bytes(Time::ms(8), 500)]), Some(500e3));
    }
}
