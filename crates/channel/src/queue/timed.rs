//! A queue that decides when packets leave it, with what the link around it keeps beside: when it serves next, and until
//! when the packets' wait is in its books. Not for: what becomes of a packet that leaves.

use super::{ActiveConfig, ActiveQueue, Seen, Served};
use crate::{Span, Time};

/// The queue of a link that has to ask when its transmitter is free.
#[derive(Debug)]
pub struct TimedQueue<T> {
    queue: ActiveQueue<T>,
    /// Time of the pending call at which the next packet is to leave, [`Time::MAX`] if there is none.
    armed: Time,
    /// Until when the packets that wait are in the books.
    noted: Time,
}

impl<T> TimedQueue<T> {
    /// An empty one, at the link of this name in a run of this seed.
    pub fn new(config: &ActiveConfig, seed: u64, link: &str) -> Self {
        let queue = ActiveQueue::new(config, crate::stream_seed(seed, &format!("{link}/queue")));
        Self { queue, armed: Time::MAX, noted: Time::ZERO }
    }

    /// As [`ActiveQueue::offer`].
    pub fn offer(&mut self, now: Time, seen: Seen, packet: T, dropped: &mut Vec<T>) {
        self.queue.offer(now, seen, packet, dropped);
    }

    /// The transmitter will be free at `at`: when to call [`Self::serve`], if that is sooner than what was asked for before.
    pub fn arm(&mut self, at: Time) -> Option<Time> {
        if self.queue.packets() == 0 || at >= self.armed {
            return None;
        }
        self.armed = at;
        Some(at)
    }

    /// Whether the call that was asked for last is that of `now`. One that is not is left over from before a change.
    pub fn is_due(&self, now: Time) -> bool {
        self.armed == now
    }

    /// As [`ActiveQueue::serve`], by the call that was asked for.
    pub fn serve(&mut self, now: Time, dropped: &mut Vec<T>) -> Option<Served<T>> {
        self.armed = Time::MAX;
        self.queue.serve(now, dropped)
    }

    /// As [`ActiveQueue::clear`]; nothing is asked for any longer.
    pub fn clear(&mut self, dropped: &mut Vec<T>) {
        self.armed = Time::MAX;
        self.queue.clear(dropped);
    }

    /// Packets waiting, integrated over time since the last such call, ns; `within` is what of the time between two moments
    /// counts. To be called before each change of their number.
    pub fn note(&mut self, now: Time, within: impl Fn(Time, Time) -> Span) -> f64 {
        let waiting = self.queue.packets();
        let since = std::mem::replace(&mut self.noted, now);
        if waiting > 0 && now > since { waiting as f64 * within(since, now).as_f64() } else { 0.0 }
    }

    /// How many packets wait.
    pub fn packets(&self) -> usize {
        self.queue.packets()
    }

    /// How many bytes wait.
    pub fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
