//! What a sender knows of its bursts and of what lies in its host's queue: the state of `offload.rs`, which has the rules and
//! their source. Not for: when anything leaves.

use super::written::Written;
use crate::acceptability::Strays;
use crate::pace::{self, GSO_BYTES};
use crate::{Seq, Span, Stack, Time};
use std::collections::VecDeque;

/// sk_pacing_shift, as parts of a second.
pub(super) const BURSTS_A_SECOND: f64 = 1024.0;
/// tcp_tso_rtt_log: RTTmin in these, of which each halves the addition.
const RTT_UNIT: Span = Span::us(512);

/// What is known of bursts and of the host's queue.
#[derive(Debug, Clone)]
pub(super) struct Offload {
    pub tso: bool,
    pub small_queues: bool,
    /// The rate where the controller has none.
    pub pace: pace::Linux,
    /// Segments of the burst under way that have not left, when it began, and how many it has had in all.
    pub left: u64,
    pub began: Time,
    pub burst: u64,
    /// Whether its last one is only what the peer's window has room for.
    pub to_edge: bool,
    /// Whether what leaves follows another segment of its burst.
    pub follows: bool,
    /// Whether the window holds a burst back that waits for more.
    pub deferred: bool,
    /// What has been written and has not left.
    pub written: Written,
    /// The widest window that the peer has told of, by half of which buffers go (`tcp_bound_to_half_wnd`, `forced_push`).
    pub widest: u64,
    /// Small segments wait for nothing (`TCP_NODELAY`).
    pub eager: bool,
    /// Segments in the air that are smaller than a full one: where each ends, and what it lacks, bytes; and all of them.
    small: VecDeque<(Seq, u64)>,
    lack: u64,
    /// What lies in the host's queue: when it leaves, and its bytes; and their sum.
    pub queue: VecDeque<(Time, u32)>,
    pub queued: u64,
    /// Until when the queue holds the next burst back.
    pub until: Time,
    /// When an ACK without data last left, and which strays have been answered.
    pub spoke: Time,
    pub strays: Strays,
}

impl Offload {
    /// As the stack asks for it, if it does.
    pub fn of(stack: &Stack) -> Option<Box<Self>> {
        (stack.tso || stack.small_queues).then(|| {
            Box::new(Self {
                tso: stack.tso,
                small_queues: stack.small_queues,
                pace: pace::Linux::default(),
                left: 0,
                began: Time::ZERO,
                burst: 1,
                to_edge: false,
                follows: false,
                deferred: false,
                written: Written::default(),
                widest: 0,
                small: VecDeque::new(),
                eager: false,
                lack: 0,
                queue: VecDeque::new(),
                queued: 0,
                until: Time::ZERO,
                spoke: Time::ZERO,
                strays: Strays::default(),
            })
        })
    }

    /// A segment that ends here and lacks so many bytes of a full one has left.
    #[inline(never)]
    pub fn note_small(&mut self, end: Seq, lacks: u64) {
        self.small.push_back((end, lacks));
        self.lack += lacks;
    }

    /// Whether a segment above `una` is smaller than a full one.
    #[inline]
    pub fn has_small(&self, una: Seq) -> bool {
        self.small.back().is_some_and(|last| last.0 > una)
    }

    /// What the segments above `una` lack of full ones, which has only grown since it was last asked.
    #[inline]
    pub fn lacking(&mut self, una: Seq) -> u64 {
        while let Some(&(_, lacks)) = self.small.front().filter(|first| first.0 <= una) {
            self.small.pop_front();
            self.lack -= lacks;
        }
        self.lack
    }

    /// Whether a burst has begun at `now` that is not through.
    pub fn is_under_way(&self, now: Time) -> bool {
        self.left > 0 && self.began == now
    }

    /// Of the burst that begins with what has just left at `now`, how many segments it has, and how many of the burst are still to
    /// follow; none for what follows another segment.
    pub fn begun(&mut self, now: Time) -> (Option<u32>, u32) {
        let ahead = if self.is_under_way(now) { self.left as u32 } else { 0 };
        ((!std::mem::take(&mut self.follows)).then_some(1 + ahead), ahead)
    }

    /// When to ask again, where pacing says `release`.
    pub fn until(&self, release: Time) -> Time {
        release.max(self.until)
    }

    /// When the host's queue will have let so much go that no more than `limit` bytes are left.
    pub fn lets_in(&mut self, now: Time, limit: f64) -> Option<Time> {
        while self.queue.front().is_some_and(|(leaves, _)| *leaves <= now) {
            let gone = self.queue.pop_front().map_or(0, |(_, bytes)| bytes);
            self.queued -= u64::from(gone);
        }
        let mut left = self.queued as f64;
        (left > limit).then_some(())?;
        let leaving = self.queue.iter().find(|(_, bytes)| {
            left -= f64::from(*bytes);
            left <= limit
        });
        leaving.map(|(leaves, _)| *leaves)
    }
}

/// `tcp_tso_autosize`: segments of `mss` bytes in a burst at this pace, bytes per second, `least` at the least.
pub(super) fn autosize(rate: f64, mss: u64, rtt_min: Option<Span>, least: u64) -> u64 {
    let halvings = rtt_min.map_or(u64::MAX, |rtt| rtt.nanos() / RTT_UNIT.nanos());
    let short = if halvings < 32 { (GSO_BYTES as u64 >> halvings) as f64 } else { 0.0 };
    let bytes = (rate / BURSTS_A_SECOND + short).min(GSO_BYTES);
    (bytes as u64 / mss.max(1)).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_a_millisecond_of_the_pace_two_segments_at_least_and_64_kib_at_most() {
        let of = |rate, ms| autosize(rate, 1448, Some(Span::ms(ms)), 2);
        assert_eq!(of(100_000.0, 100), 2);
        // 12.5 MB/s are 12,207 bytes in 1/1024 s.
        assert_eq!(of(12.5e6, 100), 8);
        assert_eq!(of(1e9, 100), 45);
        assert_eq!(autosize(100_000.0, 1448, Some(Span::ms(100)), 1), 1, "where an algorithm has it so");
    }

    #[test]
    fn on_a_short_path_it_is_longer() {
        let of = |us| autosize(100_000.0, 1448, Some(Span::us(us)), 2);
        // 65,215 bytes and 97 of the pace, halved for each 512 µs.
        assert_eq!([of(100), of(600), of(1100), of(10_000)], [45, 22, 11, 2]);
        assert_eq!(autosize(100_000.0, 1448, None, 2), 2);
    }

    fn offload() -> Offload {
        *Offload::of(&Stack { small_queues: true, ..Stack::default() }).unwrap()
    }

    #[test]
    fn the_queue_lets_the_next_burst_in_when_enough_has_left() {
        let mut offload = offload();
        for k in 1..=5 {
            offload.queue.push_back((Time::ms(10 * k), 1000));
            offload.queued += 1000;
        }
        assert_eq!(offload.lets_in(Time::ms(5), 5000.0), None);
        assert_eq!(offload.lets_in(Time::ms(5), 2500.0), Some(Time::ms(30)));
        assert_eq!(offload.lets_in(Time::ms(25), 2500.0), Some(Time::ms(30)));
        assert_eq!(offload.lets_in(Time::ms(30), 2500.0), None);
        assert_eq!(offload.queued, 2000);
    }

    #[test]
    fn a_stack_that_asks_for_neither_has_neither() {
        assert!(Offload::of(&Stack::default()).is_none());
        assert!(Offload::of(&Stack { tso: true, ..Stack::default() }).unwrap().tso);
    }
}
