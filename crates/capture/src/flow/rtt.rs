//! Round-trip times, as far as they can be seen from where the capture was made.
//!
//! - By sequence numbers: from a segment to the ACK that answers it, if it passed once (Karn); where an ACK answers
//!   several, from the last of them.
//! - By time stamps: from the first segment with a stamp to the first advancing ACK that echoes it (RFC 7323), also where
//!   segments were sent again; what the receiver waits before it acknowledges is part of it.
//! - The sender's side: the least time from an ACK to data that echoes its stamp, or the handshake's part. At the sender
//!   that is nothing, at the receiver all of the round trip. Both sides together are the whole.

use super::book::Acked;
use super::memory::room;
use super::quantiles::Quantiles;
use super::segment::{Ack, Data};
use serde::Serialize;
use std::collections::VecDeque;
use truckee_tcp::rtt::Rtt as Timer;
use truckee_tcp::{Span, Stack, Time};

/// ACKs whose stamps are remembered.
const STAMPS: usize = 32;
/// Linux' floor of the retransmission timeout, below which only few systems go; and what it waits beyond the smoothed round
/// trip at the least.
pub(super) const MIN_RTO: Span = Span::ms(200);
/// Reordering where no round-trip time is known yet: as Wireshark's.
const REORDERING: Span = Span::ms(3);

/// Samples of a time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// How many.
    pub count: u64,
    /// The smallest.
    pub min: Span,
    /// The largest.
    pub max: Span,
    sum: f64,
    squares: f64,
    quantiles: Quantiles,
}

impl Samples {
    fn add(&mut self, x: Span) {
        (self.min, self.max) = if self.count == 0 { (x, x) } else { (self.min.min(x), self.max.max(x)) };
        self.count += 1;
        self.sum += x.as_f64();
        self.squares += x.as_f64() * x.as_f64();
        self.quantiles.add(x.nanos());
    }

    /// Mean, ns.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// In seconds.
    pub fn report(&self) -> Option<Spread> {
        let mean = self.mean()?;
        let variance = (self.squares / self.count as f64 - mean * mean).max(0.0);
        let quantile =
            |share| self.quantiles.at(share).map(|x| Span::ns(x).clamp(self.min, self.max).seconds());
        Some(Spread {
            count: self.count,
            min_s: self.min.seconds(),
            mean_s: mean / 1e9,
            p50_s: quantile(0.5)?,
            p95_s: quantile(0.95)?,
            p99_s: quantile(0.99)?,
            max_s: self.max.seconds(),
            sd_s: variance.sqrt() / 1e9,
        })
    }
}

/// Samples of a time, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// The smallest.
    pub min_s: f64,
    /// Mean.
    pub mean_s: f64,
    /// Median.
    pub p50_s: f64,
    /// What 95 of 100 are not above.
    pub p95_s: f64,
    /// What 99 of 100 are not above.
    pub p99_s: f64,
    /// The largest.
    pub max_s: f64,
    /// Standard deviation.
    pub sd_s: f64,
}

/// Round-trip times of one direction.
#[derive(Debug, Clone)]
pub struct Rtt {
    /// By sequence numbers, from here to the receiver and back.
    pub sequence: Samples,
    /// By time stamps, from here to the receiver and back.
    pub stamps: Samples,
    sender_side: Option<Span>,
    /// From here to the receiver and back in the handshake.
    opened: Option<Span>,
    /// The last sample of the sender's side.
    sender_side_last: Option<Span>,
    /// By whole round trips, as the sender's timer would be.
    timer: Timer,
    last: Option<Span>,
    /// Stamps of the receiver's segments, and when each first passed.
    acks: VecDeque<(u32, Time)>,
}

impl Default for Rtt {
    fn default() -> Self {
        Self {
            sequence: Samples::default(),
            stamps: Samples::default(),
            sender_side: None,
            opened: None,
            sender_side_last: None,
            timer: Timer::new(&Stack { min_rto: MIN_RTO, ..Stack::default() }),
            last: None,
            acks: VecDeque::new(),
        }
    }
}

impl Rtt {
    /// From here to the sender and back, and to the receiver and back, as they were in the handshake.
    pub fn on_handshake(&mut self, to_sender: Span, to_receiver: Option<Span>) {
        self.note_sender_side(to_sender);
        self.opened = to_receiver;
    }

    fn note_sender_side(&mut self, span: Span) {
        self.sender_side = Some(self.sender_side.map_or(span, |least| least.min(span)));
    }

    pub(super) fn on_sent(&mut self, data: &Data) {
        let Some((_, echo)) = data.stamps else { return };
        let seen = self.acks.iter().rev().find(|(stamp, _)| *stamp == echo);
        if let Some(&(_, at)) = seen {
            let span = data.now.saturating_sub(at);
            self.note_sender_side(span);
            self.sender_side_last = Some(span);
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, acked: &Acked) {
        self.last = None;
        if let Some((stamp, echo)) = ack.stamps {
            self.note_stamp(stamp, ack.now);
            let answered = acked.oldest.filter(|p| acked.newly > 0 && p.stamp == Some(echo) && !p.resent);
            if let Some(piece) = answered {
                self.stamps.add(ack.now.saturating_sub(piece.first));
            }
        }
        if let Some(piece) = acked.newest.filter(|_| acked.newly > 0) {
            let sample = ack.now.saturating_sub(piece.first);
            self.sequence.add(sample);
            self.timer.sample(sample + self.sender_side.unwrap_or(Span::ZERO));
            self.last = Some(sample);
        }
    }

    /// Remembers when a stamp of the receiver first passed.
    pub(crate) fn note_stamp(&mut self, stamp: u32, now: Time) {
        if self.acks.back().is_some_and(|(last, _)| *last == stamp) {
            return;
        }
        if self.acks.len() == STAMPS {
            self.acks.pop_front();
        }
        self.acks.push_back((stamp, now));
    }

    /// Bytes that it takes, beside its own.
    pub(super) fn size(&self) -> usize {
        let stamps = room::<(u32, Time)>(self.acks.capacity());
        self.sequence.quantiles.size() + self.stamps.quantiles.size() + stamps
    }

    /// The sample of the last ACK, if it brought one: from here to the receiver and back.
    pub fn last(&self) -> Option<Span> {
        self.last
    }

    /// From here to the sender and back, at the least.
    pub fn sender_side(&self) -> Option<Span> {
        self.sender_side
    }

    /// From here to the sender and back, as it is at present: the last sample where the sender is the farther end; else
    /// the least, since what the sender waits for its application is part of the samples.
    pub fn sender_side_now(&self) -> Option<Span> {
        let far = self.place().is_some_and(|place| place > 0.5);
        self.sender_side_last.filter(|_| far).or(self.sender_side)
    }

    /// From here to the receiver and back, at the least; the handshake's as long as there is no sample.
    pub fn receiver_side(&self) -> Option<Span> {
        if self.sequence.count > 0 { Some(self.sequence.min) } else { self.opened }
    }

    /// The sample of the round trip that a receiver has at a segment: with time stamps each brings one, without them only the
    /// first, from the handshake.
    pub fn at_receiver(&self, stamped: bool, first: bool) -> Option<Span> {
        let to_receiver = self.receiver_side().unwrap_or(Span::ZERO);
        let whole = self.sender_side_now().map(|side| side + to_receiver).filter(|&rtt| rtt > Span::ZERO);
        whole.filter(|_| stamped || first)
    }

    /// The whole round trip at its least, where one side is known.
    pub fn whole(&self) -> Option<Span> {
        let there = self.receiver_side()?;
        Some(there + self.sender_side.unwrap_or(Span::ZERO))
    }

    /// The smoothed whole round trip.
    pub fn smoothed(&self) -> Option<Span> {
        self.timer.smoothed()
    }

    /// The retransmission timeout that a sender would have that is like Linux in this.
    pub fn timeout(&self) -> Span {
        self.timer.rto()
    }

    /// What passes less than this after bytes behind it was overtaken: a sender hears of a loss no sooner than a round
    /// trip after it.
    pub fn reordering(&self) -> Span {
        self.whole().map_or(REORDERING, nearly)
    }

    /// Where the capture was made: 0 at the sender, 1 at the receiver.
    pub fn place(&self) -> Option<f64> {
        let (to_sender, to_receiver) = (self.sender_side?.as_f64(), self.receiver_side()?.as_f64());
        (to_sender + to_receiver > 0.0).then(|| to_sender / (to_sender + to_receiver))
    }
}

/// A little less than a time: what an end measured differs by that from what shows here.
pub(super) fn nearly(time: Span) -> Span {
    time / 10 * 9
}
