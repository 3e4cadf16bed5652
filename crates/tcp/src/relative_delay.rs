//! The queue at the bottleneck by relative delays, and the direction that is congested: what TCP Santa Cruz goes by.
//!
//! Of two segments i before j, sent S apart and arriving R apart by the receiver's clock, the relative delay is D =
//! R − S: what the queues on the forward path have grown by in between. Clocks need not agree, only run alike. The queue
//! is N = Σ D / T segments over the whole connection, T being the bottleneck's time to serve one, the sum never below 0.
//! (The publication adds up D/T round by round; with a T that is measured anew that drifts, the sum of D does not.) The
//! same of the ACKs, by their times of departure there and arrival here, tells of the reverse path. Segments may be left
//! out between i and j: those whose ACKs are duplicates.
//!
//! T, which the publication leaves open, is the smallest R per segment of those with D ≥ 0 in the last two rounds that
//! had one: segments that leave the bottleneck one right behind the other arrive that far apart. (With D < 0 it may be
//! i that was late, held at the receiver by a delayed ACK's timer.) Source: Parsa and Garcia-Luna-Aceves, "Improving
//! TCP congestion control over internets with heterogeneous transmission media", 1999, section 3.

use crate::round::Round;
use crate::{Ack, Time};

/// Which way the queues of a path have grown over the last two rounds, by more than half a segment's service time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Congested {
    /// Neither way.
    Neither,
    /// From sender to receiver.
    Forward,
    /// From receiver to sender.
    Reverse,
    /// Both ways.
    Both,
}

/// Rounds by what was said of them when they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CongestedRounds {
    /// Neither way.
    pub neither: u64,
    /// From sender to receiver alone.
    pub forward: u64,
    /// From receiver to sender alone.
    pub reverse: u64,
    /// Both ways.
    pub both: u64,
}

impl CongestedRounds {
    fn count(&mut self, congested: Congested) {
        *match congested {
            Congested::Neither => &mut self.neither,
            Congested::Forward => &mut self.forward,
            Congested::Reverse => &mut self.reverse,
            Congested::Both => &mut self.both,
        } += 1;
    }
}

/// A segment's way out and its ACK's way back.
#[derive(Debug, Clone, Copy)]
struct Trip {
    sent: Time,
    /// By the receiver's clock.
    turned: Time,
    back: Time,
}

/// Sums of relative delays, ns.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    forward: f64,
    reverse: f64,
}

/// The estimator. Growth and response each feed one of their own, with every ACK.
#[derive(Debug, Clone, Default)]
pub struct RelativeDelay {
    round: Round,
    last: Option<Trip>,
    /// Waiting time on the forward path now, ns, once two trips are known.
    waiting: Option<f64>,
    /// Over this round so far, and over the one before.
    sums: [Sums; 2],
    /// Smallest spacing per segment at the receiver in this round and the one before, ns.
    spacing: [Option<f64>; 2],
    counted: CongestedRounds,
}

/// The trip that an ACK tells of. That of the newest segment it covers, where the segments it covers came one behind the
/// other: a delayed ACK leaves with the newest but echoes the oldest, which has waited for it. Otherwise that of the
/// segment that brought the ACK about, whose time of sending it echoes: after a repair the newest one covered is older
/// and has waited for a hole to be filled, after a go-back it may have been sent again although it had come.
fn trip(ack: &Ack) -> Option<Trip> {
    let echoed = ack.now.earlier(ack.rtt.filter(|_| !ack.duplicate)?);
    let sent = ack.sent.filter(|_| in_a_row(ack)).unwrap_or(echoed);
    Some(Trip { sent, turned: ack.peer_time?, back: ack.now })
}

/// Whether the segments that an ACK covers have come one behind the other: no duplicate has told of one before, and the
/// newest of them is not much older or younger than the one that brought it about. (A delayed ACK echoes the older of its
/// two segments.)
fn in_a_row(ack: &Ack) -> bool {
    if ack.delivered < ack.newly_acked {
        return false;
    }
    let age = |sent| ack.now.saturating_sub(sent);
    let (Some(newest), Some(rtt)) = (ack.sent.map(age), ack.rtt) else { return false };
    newest <= rtt.saturating_mul(3) / 2 && rtt <= newest.saturating_mul(3) / 2
}

fn span(from: Time, to: Time) -> f64 {
    to.as_f64() - from.as_f64()
}

impl RelativeDelay {
    /// Takes an ACK of a connection whose segments have `mss` bytes; true if a round ends with it.
    pub fn on_ack(&mut self, ack: &Ack, mss: f64) -> bool {
        if let Some(trip) = trip(ack) {
            if let Some(last) = self.last.filter(|last| trip.turned > last.turned) {
                let segments = in_a_row(ack).then(|| (ack.newly_acked as f64 / mss).max(1.0));
                self.take(&last, &trip, segments);
                self.last = Some(trip);
            }
            self.last.get_or_insert(trip); // within one tick of the receiver's clock: the next pair spans both
        }
        let over = self.round.over(ack);
        if over {
            if let Some(congested) = self.congested() {
                self.counted.count(congested);
            }
            self.sums = [Sums::default(), self.sums[0]];
            if self.spacing[0].is_some() {
                self.spacing = [None, self.spacing[0]];
            }
        }
        over
    }

    /// From one trip to the next, which brought the ACK of so many segments, if they came one behind the other.
    fn take(&mut self, last: &Trip, next: &Trip, segments: Option<f64>) {
        let there = span(last.turned, next.turned);
        let delay = there - span(last.sent, next.sent);
        self.waiting = Some((self.waiting.unwrap_or(0.0) + delay).max(0.0));
        self.sums[0].forward += delay;
        self.sums[0].reverse += span(last.back, next.back) - there;
        if let Some(segments) = segments.filter(|_| delay >= 0.0) {
            let spacing = there / segments;
            self.spacing[0] = Some(self.spacing[0].map_or(spacing, |least| least.min(spacing)));
        }
    }

    /// What was said of the rounds so far.
    pub fn congested_rounds(&self) -> CongestedRounds {
        self.counted
    }

    /// The bottleneck's time to serve a segment, ns, once it has shown.
    pub fn service_time(&self) -> Option<f64> {
        match self.spacing {
            [Some(a), Some(b)] => Some(a.min(b)),
            [a, b] => a.or(b),
        }
    }

    /// Segments that wait on the forward path now, once two have come; none without the peer's timestamps.
    pub fn queue(&self) -> Option<f64> {
        let waiting = self.waiting?;
        Some(if waiting > 0.0 { waiting / self.service_time()? } else { 0.0 })
    }

    /// Which direction is congested: the signs of the relative delays of both directions in this round and the one
    /// before.
    pub fn congested(&self) -> Option<Congested> {
        self.waiting?;
        let half = self.service_time().unwrap_or(0.0) / 2.0;
        let [now, before] = self.sums;
        Some(match (now.forward + before.forward > half, now.reverse + before.reverse > half) {
            (false, false) => Congested::Neither,
            (true, false) => Congested::Forward,
            (false, true) => Congested::Reverse,
            (true, true) => Congested::Both,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seq, Span};
    const MS: Span = Span::ms(1);

    /// The ACK of segment `number` of 1000 bytes, sent, turned at the receiver and back at these times in ms.
    pub(crate) fn ack(number: u64, highest: u64, sent: u64, turned: u64, back: u64) -> Ack {
        Ack {
            ack: Seq::at(1000 * number),
            newly_acked: 1000,
            rtt: Some(Span::ms(back - sent)),
            sent: Some(Time::ms(sent)),
            highest: Seq::at(1000 * highest),
            peer_time: Some(Time::ms(turned)),
            ..Ack::of_bytes(Time::ms(back), 1000)
        }
    }

    #[test]
    fn a_burst_through_a_bottleneck_waits_one_behind_the_other() {
        let mut delays = RelativeDelay::default();
        // Four segments sent at once; the bottleneck takes 10 ms each; the receiver's clock is far ahead.
        for k in 0..4 {
            assert_eq!(delays.queue().is_some(), k > 1, "two are needed");
            delays.on_ack(&ack(k + 1, 4, 0, 900 + 10 * k, 100 + 10 * k), 1000.0);
        }
        assert_eq!(delays.service_time(), Some(10e6));
        assert_eq!(delays.queue(), Some(3.0));
        assert_eq!(delays.congested(), Some(Congested::Forward));
    }

    #[test]
    fn the_queue_is_the_sum_over_all_rounds_and_never_negative() {
        let mut delays = RelativeDelay::default();
        delays.on_ack(&ack(1, 2, 0, 50, 100), 1000.0);
        delays.on_ack(&ack(2, 3, 0, 60, 110), 1000.0); // one waits
        assert!(delays.on_ack(&ack(3, 5, 100, 160, 210), 1000.0), "a round ends");
        assert_eq!(delays.queue(), Some(1.0));
        delays.on_ack(&ack(4, 5, 110, 160 + 20, 230), 1000.0); // and another
        assert_eq!(delays.queue(), Some(2.0));
        delays.on_ack(&ack(5, 6, 300, 330, 380), 1000.0); // the path has become 20 ms shorter than it ever was
        assert_eq!(delays.queue(), Some(0.0));
    }

    #[test]
    fn a_queue_of_acks_is_told_from_a_queue_of_segments() {
        let mut delays = RelativeDelay::default();
        // Spaced by 10 ms on the way out; their ACKs are held up, 15 ms apart.
        for k in 0..4 {
            delays.on_ack(&ack(k + 1, 4, 10 * k, 50 + 10 * k, 100 + 15 * k), 1000.0);
        }
        assert_eq!((delays.queue(), delays.congested()), (Some(0.0), Some(Congested::Reverse)));
    }

    #[test]
    fn what_a_repair_or_a_go_back_covers_beside_its_segment_does_not_count() {
        let mut delays = RelativeDelay::default();
        delays.on_ack(&ack(1, 6, 0, 50, 100), 1000.0);
        delays.on_ack(&ack(2, 6, 10, 60, 110), 1000.0);
        delays.on_ack(&Ack { duplicate: true, newly_acked: 0, ..ack(2, 6, 30, 80, 130) }, 1000.0);
        // Segment 3 is repaired at 130 and acknowledged with 4 to 6, the newest of which was sent at 50.
        let repair = Ack { newly_acked: 4000, rtt: Some(100 * MS), ..ack(6, 6, 50, 180, 230) };
        delays.on_ack(&repair, 1000.0);
        assert_eq!(delays.queue(), Some(0.0));
        delays.on_ack(&ack(7, 8, 230, 280, 330), 1000.0);
        assert_eq!(delays.queue(), Some(0.0), "as long on the way as the first");
        // The same where the newest sent is the repair itself: the spacing is that of one segment, not of four.
        let spacing = delays.service_time();
        delays.on_ack(&Ack { newly_acked: 4000, rtt: Some(100 * MS), ..ack(8, 8, 240, 290, 340) }, 1000.0);
        assert_eq!(delays.service_time(), spacing);
        // Segment 9 was sent again at 440 although it had come: the ACK of segment 8, sent again at 350, covers it.
        let again = Ack { newly_acked: 2000, rtt: Some(100 * MS), ..ack(9, 9, 440, 400, 450) };
        delays.on_ack(&again, 1000.0);
        delays.on_ack(&ack(10, 11, 460, 510, 560), 1000.0);
        assert_eq!(delays.queue(), Some(0.0));
    }

    #[test]
    fn the_time_that_a_delayed_ack_has_waited_is_no_queue() {
        let mut delays = RelativeDelay::default();
        for k in 1..5 {
            // Segments 2k − 1 and 2k, sent 10 ms apart: the second's arrival brings the ACK, which echoes the first.
            let sent = 20 * k;
            let pair = Ack {
                newly_acked: 2000,
                delivered: 2000,
                rtt: Some(110 * MS),
                ..ack(2 * k, 12, sent, sent + 50, sent + 100)
            };
            delays.on_ack(&ack(2 * k - 1, 12, sent - 10, sent + 40, sent + 90), 1000.0);
            delays.on_ack(&pair, 1000.0);
            assert_eq!(delays.queue(), Some(0.0));
        }
    }

    #[test]
    fn without_the_peers_clock_nothing_is_known() {
        let mut delays = RelativeDelay::default();
        for k in 0..4 {
            delays.on_ack(&Ack { peer_time: None, ..ack(k + 1, 4, 0, 50, 100 + 10 * k) }, 1000.0);
        }
        assert_eq!((delays.queue(), delays.congested()), (None, None));
    }
}
