//! The event queue: what happens next.
//!
//! A 4-ary heap of (time, key), smallest first, ties by key, so that the order is the same everywhere. A key names a
//! component, and each component has one entry or few: the head of a link's FIFO, or a timer. The population is tens to
//! thousands, for which a heap is best. Entries are never removed: a component that was re-armed ignores the old one.
//! In front of the heap there is room for one event: what happens next is often what was planned last (a packet crossing
//! a fast access link), and then the heap is not touched.

use truckee_tcp::Time;

/// Names a component: its kind in the upper bits, its index in the lower ones.
pub type Key = u32;

/// Pending events: the time in the upper half of a number, the key in the lower, so that one comparison orders both.
#[derive(Debug)]
pub struct Agenda {
    /// Earlier than everything in the heap, or [`NOTHING`].
    front: u128,
    heap: Vec<u128>,
}

const NOTHING: u128 = u128::MAX;

impl Default for Agenda {
    fn default() -> Self {
        Self { front: NOTHING, heap: Vec::new() }
    }
}

#[inline]
fn entry(time: Time, key: Key) -> u128 {
    u128::from(time) << 64 | u128::from(key)
}

const ARITY: usize = 4;

impl Agenda {
    /// Half of the number is enough to tell: no event is at the end of all time.
    #[inline(always)]
    fn has_front(&self) -> bool {
        (self.front >> 64) as Time != Time::MAX
    }

    /// Adds an event, before [`Time::MAX`].
    #[inline]
    pub fn push(&mut self, time: Time, key: Key) {
        self.add(entry(time, key));
    }

    #[inline]
    fn add(&mut self, event: u128) {
        let later = if self.has_front() {
            let later = self.front.max(event);
            self.front = self.front.min(event);
            later
        } else if self.heap.first().is_none_or(|&first| event < first) {
            self.front = event;
            return;
        } else {
            event
        };
        self.heap.push(later);
        self.sift_up(self.heap.len() - 1);
    }

    /// The next event.
    #[inline]
    pub fn peek(&self) -> Option<(Time, Key)> {
        let next = if self.has_front() { self.front } else { *self.heap.first()? };
        Some(((next >> 64) as Time, next as Key))
    }

    /// Removes the next event.
    #[inline]
    pub fn pop(&mut self) {
        if self.has_front() {
            self.front = NOTHING;
            return;
        }
        self.heap.swap_remove(0);
        if !self.heap.is_empty() {
            self.sift_down();
        }
    }

    /// Puts the next event off to `time`.
    #[inline]
    pub fn postpone(&mut self, time: Time) {
        if self.has_front() {
            let event = entry(time, self.front as Key);
            self.front = NOTHING;
            self.add(event);
        } else {
            self.heap[0] = entry(time, self.heap[0] as Key);
            self.sift_down();
        }
    }

    #[inline]
    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    #[inline]
    fn sift_down(&mut self) {
        let len = self.heap.len();
        let entry = self.heap[0];
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            if first >= len {
                break;
            }
            let (least, value) = match self.heap.get(first..first + ARITY) {
                // A small tournament: two independent comparisons, then one.
                Some(&[a, b, c, d]) => {
                    let left = if b < a { (1, b) } else { (0, a) };
                    let right = if d < c { (3, d) } else { (2, c) };
                    let (offset, value) = if right.1 < left.1 { right } else { left };
                    (first + offset, value)
                }
                _ => {
                    let rest = first..len;
                    rest.map(|i| (i, self.heap[i])).min_by_key(|c| c.1).unwrap_or((first, entry))
                }
            };
            if entry <= value {
                break;
            }
            self.heap[at] = value;
            at = least;
        }
        self.heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_then_key(
            first in prop::collection::vec((0u64..50, 0u32..50), 1..100),
            delays in prop::collection::vec(0u64..50, 0..100),
        ) {
            let mut agenda = Agenda::default();
            let mut model: Vec<(u64, u32)> = first.clone();
            first.iter().for_each(|&(t, k)| agenda.push(t, k));
            for delay in delays {
                model.sort_unstable();
                prop_assert_eq!(agenda.peek(), model.first().copied());
                let (time, _) = model[0];
                agenda.postpone(time + delay);
                model[0].0 = time + delay;
            }
            model.sort_unstable();
            for expected in model {
                prop_assert_eq!(agenda.peek(), Some(expected));
                agenda.pop();
            }
            prop_assert_eq!(agenda.peek(), None);
        }
    }
}
