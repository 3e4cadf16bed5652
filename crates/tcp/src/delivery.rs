//! Delivery-rate samples: how fast the path has delivered what was in the air when a segment left. Source:
//! draft-ietf-ccwg-bbr-06, section 4.1.2.
//!
//! Each departure keeps a snapshot of the connection; the ACK of it gives delivered / max(send time, ACK time). Times are
//! exact, whatever the granularity of the stack's clock. An ACK's sample is that of the newest segment which it shows to
//! have arrived. A controller that asks for them ([`crate::controller::Interest::rates`]) gets them with [`Air::rate`];
//! BBR, whose model looks into the snapshots, keeps its own.

use crate::arithmetic::real;
use crate::{Ack, Air, Departure, Seq, Span, Time};
use std::collections::VecDeque;

pub use crate::event::Sample;

/// A departure, and the connection as it was then.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    sent: Time,
    /// Sequence number after it.
    end: Seq,
    retransmission: bool,
    /// Payload, bytes.
    pub bytes: u32,
    /// P.delivered.
    delivered: u64,
    delivered_time: Time,
    first_send_time: Time,
    /// P.is_app_limited: nothing but the application kept the sender from sending more.
    pub app_limited: bool,
    /// P.tx_in_flight: bytes in the air, itself included.
    pub in_flight: u64,
    /// P.lost: what had been lost until then, bytes.
    pub lost: u64,
}

/// What an ACK brought.
#[derive(Debug, Clone, Copy, Default)]
pub struct Heard {
    /// Bytes newly delivered.
    pub delivered: u64,
    /// Bytes newly taken to be lost.
    pub lost: u64,
    /// None where it does not tell which segment has arrived.
    pub sample: Option<Sample>,
}

/// An ACK and what is in the air, as far as it takes that where nothing happens: of [`Ack`] and [`Air`] what the names say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Brief {
    pub(crate) now: Time,
    pub(crate) ack: Seq,
    pub(crate) sent: Option<Time>,
    /// Whether it brings a round-trip time.
    pub(crate) timed: bool,
    pub(crate) in_flight: u64,
    pub(crate) lost: u64,
    pub(crate) delivered: u64,
    pub(crate) more: bool,
}

impl Brief {
    /// Of what is told at length.
    pub(crate) fn of(ack: &Ack, air: &Air) -> Self {
        Self {
            now: ack.now,
            ack: ack.ack,
            sent: ack.sent,
            timed: ack.rtt.is_some(),
            in_flight: air.in_flight,
            lost: air.lost,
            delivered: air.delivered,
            more: air.more,
        }
    }
}

/// The connection's state for sampling (C).
#[derive(Debug, Clone, Default)]
pub struct Rates {
    /// Departures that are not acknowledged, in the order of sending.
    packets: VecDeque<Packet>,
    /// C.delivered, bytes.
    pub delivered: u64,
    delivered_time: Time,
    first_send_time: Time,
    /// C.lost, bytes.
    pub lost: u64,
    /// C.app_limited: samples are the application's until more than this is delivered; 0: they are not.
    app_limited: u64,
    /// One after the highest sequence number sent.
    pub highest: Seq,
    rtt_min: Option<Span>,
}

impl Rates {
    /// A segment leaves.
    #[inline(always)]
    pub fn on_sent(&mut self, sent: &Departure, cwnd: f64) {
        if sent.in_flight == 0 {
            (self.first_send_time, self.delivered_time) = (sent.now, sent.now);
        }
        let (end, in_flight) = (sent.seq + u64::from(sent.bytes), sent.in_flight + u64::from(sent.bytes));
        self.highest = self.highest.max(end);
        let app_limited = self.app_limited != 0;
        if !sent.more && real(in_flight) < cwnd {
            self.limited_by_application(in_flight);
        }
        self.packets.push_back(Packet {
            sent: sent.now,
            end,
            retransmission: sent.retransmission,
            bytes: sent.bytes,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_send_time: self.first_send_time,
            app_limited,
            in_flight,
            lost: self.lost,
        });
    }

    /// The samples from now on are the application's, until what is in the air is delivered.
    pub fn limited_by_application(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Whether the connection is limited by the application.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }

    /// An ACK has come.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, air: &Air) -> Heard {
        // Without SACK a partial ACK takes back what its duplicates had counted; what was delivered stays delivered.
        let delivered = air.delivered.saturating_sub(self.delivered);
        self.delivered += delivered;
        if delivered > 0 {
            self.delivered_time = ack.now;
        }
        let lost = air.lost.saturating_sub(self.lost);
        self.lost += lost;
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let arrived = self.arrived(ack).filter(|_| delivered > 0);
        let sample = arrived.map(|at| self.sample(ack, at));
        while self.packets.front().is_some_and(|p| p.end <= ack.ack) {
            self.packets.pop_front();
        }
        Heard { delivered, lost, sample }
    }

    /// Of an ACK that shows the first departure of all to have arrived, sent once, and no other, where nothing is newly lost and
    /// no sample is the application's: how much it delivers, and its sample, if its round trip is not the shortest. Nothing is
    /// changed before [`Self::pass_first`].
    #[inline(always)]
    pub(crate) fn of_first(&self, ack: &Brief) -> Option<(u64, Sample)> {
        let first = self.packets.front()?;
        let other = |next: &Packet| Some(next.sent) == ack.sent || next.end <= ack.ack;
        let plain = Some(first.sent) == ack.sent && first.end <= ack.ack && !first.retransmission;
        if !plain || !ack.timed || self.packets.get(1).is_some_and(other) {
            return None;
        }
        let newly = ack.delivered.saturating_sub(self.delivered);
        if newly == 0 || ack.lost > self.lost || self.lost > first.lost || self.app_limited != 0 {
            return None;
        }
        let sending = first.sent.saturating_sub(first.first_send_time);
        let interval = sending.max(ack.now.saturating_sub(first.delivered_time));
        let delivered = self.delivered + newly - first.delivered;
        let sample = Sample {
            prior_delivered: first.delivered,
            delivered,
            rate: real(delivered) * 1e9 / real(interval.nanos()),
            app_limited: first.app_limited,
            in_flight: first.in_flight,
            lost: 0,
            rtt: Some(ack.now.saturating_sub(first.sent)),
        };
        Some((newly, sample))
    }

    /// Takes in what [`Self::of_first`] has told of.
    #[inline(always)]
    pub fn pass_first(&mut self, now: Time, newly: u64) {
        if let Some(first) = self.packets.pop_front() {
            self.first_send_time = first.sent;
        }
        self.delivered += newly;
        self.delivered_time = now;
    }

    /// The shortest round trip.
    pub fn rtt_min(&self) -> Option<Span> {
        self.rtt_min
    }

    /// Where the newest departure is that an ACK shows to have arrived.
    #[inline]
    fn arrived(&self, ack: &Ack) -> Option<usize> {
        let sent = ack.sent?;
        let is_of = |at: usize| self.packets.get(at).is_some_and(|p| p.sent == sent);
        // Nearly always it is the first of all, which left by itself.
        if is_of(0) && !is_of(1) {
            return Some(0);
        }
        // What SACK blocks report lies above the ACK's own number.
        self.position(sent, ack.ack).or_else(|| self.position(sent, Seq::MAX))
    }

    #[inline]
    fn sample(&mut self, ack: &Ack, at: usize) -> Sample {
        let packet = &self.packets[at];
        self.first_send_time = packet.sent;
        let exact = ack.now.saturating_sub(packet.sent);
        let rtt = if packet.retransmission || (!ack.duplicate && ack.rtt.is_none()) {
            ack.rtt
        } else {
            Some(exact)
        };
        if let Some(rtt) = rtt {
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        let sending = packet.sent.saturating_sub(packet.first_send_time);
        let interval = sending.max(ack.now.saturating_sub(packet.delivered_time));
        let delivered = self.delivered - packet.delivered;
        // Shorter than any round trip: an ACK of the segment sent first, while it was sent twice.
        let trusted = interval > Span::ZERO && self.rtt_min.is_none_or(|rtt| interval >= rtt);
        Sample {
            prior_delivered: packet.delivered,
            delivered,
            rate: if trusted { real(delivered) * 1e9 / real(interval.nanos()) } else { 0.0 },
            app_limited: packet.app_limited,
            in_flight: packet.in_flight,
            lost: self.lost.saturating_sub(packet.lost),
            rtt,
        }
    }

    /// The departure at `sent`; of several, the last that ends at `below` at most.
    pub fn find(&self, sent: Time, below: Seq) -> Option<&Packet> {
        self.position(sent, below).map(|at| &self.packets[at])
    }

    #[inline(never)]
    fn position(&self, sent: Time, below: Seq) -> Option<usize> {
        let from = self.packets.partition_point(|p| p.sent < sent);
        let together = self.packets.iter().enumerate().skip(from).take_while(|(_, p)| p.sent == sent);
        together.filter(|(_, p)| p.end <= below).last().map(|(at, _)| at)
    }

    /// What was marked lost by a timeout at `since` was lost before whatever has been sent from then on.
    pub fn lost_before(&mut self, since: Time) {
        let lost = self.lost;
        self.packets.iter_mut().rev().take_while(|p| p.sent >= since).for_each(|p| p.lost = lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(rates: &mut Rates, now: Time, seq: u64, in_flight: u64, more: bool) {
        let sent = Departure { seq: Seq::at(seq), in_flight, more, ..Departure::of_bytes(now, 1000) };
        rates.on_sent(&sent, 1e9);
    }

    fn ack(rates: &mut Rates, now: Time, ack: u64, sent: Time) -> Sample {
        let heard =
            Ack { ack: Seq::at(ack), sent: Some(sent), rtt: Some(now - sent), ..Ack::of_bytes(now, 1000) };
        rates.on_ack(&heard, &Air { delivered: ack - 1, ..Air::default() }).sample.unwrap()
    }

    #[test]
    fn a_full_pipe_shows_the_rate_of_its_bottleneck() {
        let mut rates = Rates::default();
        (0..10).for_each(|k| send(&mut rates, Time::ns(k), 1 + 1000 * k, 1000 * k, true));
        // They come back 10 ms apart, each ACK letting one out.
        let mut seen = Vec::new();
        for k in 0..30 {
            let now = Time::ms(100 + 10 * k);
            let sent = if k < 10 { Time::ns(k) } else { now - Span::ms(100) };
            seen.push(ack(&mut rates, now, 1001 + 1000 * k, sent).rate);
            send(&mut rates, now, 10_001 + 1000 * k, 9000, true);
        }
        assert!(
            (seen[0] - 1000.0 / 0.1).abs() < 1.0,
            "the first delivers one segment in a round trip: {seen:?}"
        );
        seen[20..].iter().for_each(|rate| assert!((rate / 100_000.0 - 1.0).abs() < 0.01, "{rate}"));
    }

    #[test]
    fn faster_acks_than_segments_show_the_rate_of_sending() {
        let mut rates = Rates::default();
        (0..10).for_each(|k| send(&mut rates, Time::ms(10 * k), 1 + 1000 * k, 1000 * k.min(1), true));
        // All ACKs come at once after an outage.
        let last = (0..10)
            .map(|k| ack(&mut rates, Time::ms(300), 1001 + 1000 * k, Time::ms(10 * k)))
            .last()
            .unwrap();
        assert!(last.rate <= 10_000.0 / 0.21, "{}", last.rate);
    }

    #[test]
    fn a_silent_application_marks_samples_until_its_bubble_is_gone() {
        let mut rates = Rates::default();
        send(&mut rates, Time::ZERO, 1, 0, false);
        send(&mut rates, Time::ms(10), 1001, 1000, true);
        assert!(!ack(&mut rates, Time::ms(100), 1001, Time::ZERO).app_limited, "sent before the silence");
        assert!(ack(&mut rates, Time::ms(110), 2001, Time::ms(10)).app_limited);
        send(&mut rates, Time::ms(120), 2001, 0, true);
        assert!(!ack(&mut rates, Time::ms(220), 3001, Time::ms(120)).app_limited);
    }
}
