//! Accumulated ACKs, corrected: few ACKs while the path is full, delayed ACKs whenever the sender has to grow.
//!
//! Published [accumulated](super::Accumulated) ACKs cost throughput where round trips are long: they stop the sender's
//! clock, they slow its growth down, and a steady rate is no sign that it has nothing left to gain. Here:
//!
//! 1. ACKs are delayed, one per two segments, unless the path is *full*: over the last round trip data came as fast as
//!    it ever comes within a burst ([`Fullness`]).
//! 2. While it is full an ACK covers `burst` segments: what a round trip brings over `acks_per_rtt`, at most `most`.
//! 3. After a loss ACKs stay delayed until the path is full again, and `patience` times as long again.
//! 4. An ACK that waits for `burst` leaves after two such shares of a round trip, a delayed one after `timeout`, both
//!    at once when the window leaves no room for one more segment, when out of order, filling a hole, or FIN.
//! 5. The round trip is the shortest that the receiver has seen; without any, ACKs are delayed.
//!
//! Why: a sender that counts ACKs grows by their number, so that each ACK saved before the path is full is rate lost;
//! on a full path there is no rate to be gained. The patience lets it grow into the queue what it needs to stay above
//! the path's capacity when losses at random halve it again. Source: our own.

mod fullness;

pub use fullness::Fullness;

use super::{AckPolicy, AckSink, Arrival};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Nanos, Time};

/// Segments that a delayed ACK covers.
const DELAYED: u64 = 2;

/// Accumulates while the path is full.
#[derive(Debug, Clone)]
pub struct AccumulatedFull {
    acks_per_rtt: u64,
    most: u64,
    patience: u64,
    timeout: Nanos,
    fullness: Fullness,
    /// When the last segment came that was urgent: a loss, most likely.
    lost: Option<Time>,
    /// When the path was first full after it.
    full_again: Option<Time>,
    /// Segments that an ACK covers at present.
    burst: u64,
    waiting: u64,
    deadline: Option<Time>,
}

impl Member for AccumulatedFull {
    const INFO: Info = Info {
        name: "accumulated-full",
        summary: "one ACK for many segments while the path is full, delayed ACKs while the sender has to grow",
        formula: "full: ACK per segments of an RTT/acks_per_rtt; else per 2; after a loss per 2 until full, and patience times as long again",
        source: "our own, after Jeong, Kim and Lohwasser 2006",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self {
            acks_per_rtt: args.count("acks_per_rtt", 32, 1..=10_000)?,
            most: args.count("most", 64, DELAYED..=100_000)?,
            patience: args.count("patience", 3, 0..=1000)?,
            timeout: args.time("timeout", 200_000_000, 1_000_000..=500_000_000)?,
            fullness: Fullness::default(),
            lost: None,
            full_again: None,
            burst: DELAYED,
            waiting: 0,
            deadline: None,
        })
    }
}

impl AccumulatedFull {
    /// The round that ends now was full, or not, and brought so many segments per round trip.
    fn judge(&mut self, now: Time, full: bool, segments: u64) {
        self.burst = DELAYED;
        if !full {
            return;
        }
        let full_again = *self.full_again.get_or_insert(now);
        let patient = self.lost.is_none_or(|lost| {
            let regrowth = full_again.saturating_sub(lost);
            now.saturating_sub(full_again) >= regrowth.saturating_mul(self.patience)
        });
        if patient {
            self.burst = (segments / self.acks_per_rtt).clamp(DELAYED, self.most);
        }
    }

    /// How long an ACK may wait for its segments.
    fn longest_wait(&self) -> Nanos {
        let share = 2 * self.fullness.rtt().unwrap_or(self.timeout) / self.acks_per_rtt;
        if self.burst > DELAYED { share.clamp(1, self.timeout) } else { self.timeout }
    }

    fn release(&mut self, number: u64, out: &mut AckSink) {
        self.waiting = 0;
        self.deadline = None;
        out.ack(number);
    }
}

impl AckPolicy for AccumulatedFull {
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        if segment.urgent {
            self.fullness.interrupt();
            self.lost = Some(segment.now);
            self.full_again = None;
            self.burst = DELAYED;
        } else if let Some((full, segments)) = self.fullness.on_segment(segment) {
            self.judge(segment.now, full, segments);
        }
        self.waiting += 1;
        if segment.urgent || self.waiting >= self.burst || !segment.leaves_room() {
            self.release(segment.rcv_nxt, out);
        } else if self.deadline.is_none() {
            self.deadline = Some(segment.now + self.longest_wait());
        }
    }

    fn on_timer(&mut self, now: Time, rcv_nxt: u64, out: &mut AckSink) {
        if self.deadline.is_some_and(|d| now >= d) {
            self.release(rcv_nxt, out);
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn burst(&self) -> Option<u64> {
        Some(self.burst)
    }
}
