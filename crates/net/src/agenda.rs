//! The event queue: what happens next.
//!
//! Events are (time, key), smallest first, ties by key, so that the order is the same everywhere. A key names a component,
//! and each component has one entry or few. Arrivals, one entry for each lane of packets under way, change with each
//! packet and are few: the next ones stand in a short row, and only what comes behind it is in a heap. Timers are many,
//! and change seldom since a component that was re-armed ignores the old entry: a heap of their own has them, so that a
//! packet's way does not lead past the timers of all flows.

use truckee_tcp::Time;

/// Names a component: its kind in the upper four bits, its index below.
pub type Key = u64;

/// An event: the time in the upper half, the key in the lower, so that one comparison orders both.
type Event = u128;

/// Later than everything.
const NOTHING: Event = Event::MAX;

#[inline(always)]
fn event(time: Time, key: Key) -> Event {
    Event::from(time.nanos()) << 64 | Event::from(key)
}

/// Arrivals that stand in the row; a power of two, so that a place in it needs no check.
const ROW: usize = 8;

/// What happens next, and when; at [`Time::MAX`] nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A packet arrives.
    Arrival(Time, Key),
    /// Anything else.
    Timer(Time, Key),
}

/// Pending events.
#[derive(Debug)]
pub struct Agenda {
    /// The first of the timers, or [`NOTHING`]; the others are in `timers`.
    timer: Event,
    /// Whether that has happened, and the next timer takes its place.
    vacant: bool,
    /// The first of the arrivals, or [`NOTHING`].
    arrival: Event,
    /// The arrivals after it, the next one at the end of `len`.
    row: [Event; ROW],
    len: usize,
    /// Arrivals that come after those in the row.
    later: Heap,
    /// Timers after the first.
    timers: Heap,
}

impl Default for Agenda {
    fn default() -> Self {
        let (later, timers) = (Heap::default(), Heap::default());
        Self { timer: NOTHING, vacant: false, arrival: NOTHING, row: [NOTHING; ROW], len: 0, later, timers }
    }
}

impl Agenda {
    /// The next event.
    #[inline(always)]
    pub fn peek(&self) -> Next {
        let parts = |event: Event| (Time::ns((event >> 64) as u64), event as Key);
        if self.arrival < self.timer {
            let (time, key) = parts(self.arrival);
            Next::Arrival(time, key)
        } else {
            let (time, key) = parts(self.timer);
            Next::Timer(time, key)
        }
    }

    /// When something is pending.
    #[inline]
    pub fn first(&self) -> Time {
        Time::ns((self.arrival.min(self.timer) >> 64) as u64)
    }

    /// Whether an arrival comes before all that is pending.
    #[inline(always)]
    pub fn would_be_next(&self, time: Time, key: Key) -> bool {
        event(time, key) < self.arrival.min(self.timer)
    }

    /// Whether a time is before all that is pending.
    #[inline(always)]
    pub fn is_before_all(&self, time: Time) -> bool {
        let before = |event: Event| time.nanos() < (event >> 64) as u64;
        before(self.arrival) && before(self.timer)
    }

    /// Adds a timer, before [`Time::MAX`].
    #[inline]
    pub fn push(&mut self, time: Time, key: Key) {
        let new = event(time, key);
        if self.vacant && new <= self.timers.first() {
            (self.vacant, self.timer) = (false, new); // as nearly always where one flow paces
        } else {
            self.push_among(new);
        }
    }

    /// The same where another timer comes before it.
    #[inline(never)]
    fn push_among(&mut self, new: Event) {
        if self.vacant {
            self.vacant = false;
            self.timer = self.timers.exchange(new);
            return;
        }
        let other = self.timer.max(new);
        self.timer = self.timer.min(new);
        if other != NOTHING {
            self.timers.push(other);
        }
    }

    /// Removes the next event, which is a timer.
    #[inline]
    pub fn pop(&mut self) {
        self.timer = self.timers.take();
    }

    /// The next event, a timer, happens: the first that is added meanwhile takes its place, which costs less than to remove one
    /// and add another. [`Self::settle`] ends it.
    #[inline]
    pub fn vacate(&mut self) {
        self.vacant = true;
    }

    /// Removes the event that has happened, if nothing has taken its place.
    #[inline]
    pub fn settle(&mut self) {
        if std::mem::take(&mut self.vacant) {
            self.pop();
        }
    }

    /// Puts the next event, which is a timer, off to `time`.
    #[inline]
    pub fn postpone(&mut self, time: Time) {
        self.timer = self.timers.exchange(event(time, self.timer as Key));
    }

    /// Adds an arrival, before [`Time::MAX`].
    #[inline(always)]
    pub fn push_arrival(&mut self, time: Time, key: Key) {
        let new = event(time, key);
        let first = self.arrival.min(new);
        let other = self.arrival.max(new);
        self.arrival = first;
        if other != NOTHING {
            self.add(other);
        }
    }

    /// Removes the next event, which is an arrival.
    #[inline]
    pub fn pop_arrival(&mut self) {
        if self.len == 0 {
            self.arrival = self.take_later();
        } else {
            self.len -= 1;
            self.arrival = self.row[self.len % ROW];
        }
    }

    /// Puts another arrival in place of the next event, which is one.
    #[inline(always)]
    pub fn replace_arrival(&mut self, time: Time, key: Key) {
        let new = event(time, key);
        if self.len == 0 {
            return self.replace_only(new);
        }
        let last = self.len - 1;
        let next = self.row[last % ROW];
        if new <= next {
            self.arrival = new;
        } else {
            self.arrival = next;
            self.len = last;
            self.add(new);
        }
    }

    /// The same where the row is empty.
    #[inline(never)]
    fn replace_only(&mut self, new: Event) {
        self.arrival = self.later.exchange(new);
    }

    /// Takes the first of those that come later; the row is empty.
    #[inline(never)]
    fn take_later(&mut self) -> Event {
        self.later.take()
    }

    /// Adds an arrival that is not the first.
    #[inline(always)]
    fn add(&mut self, new: Event) {
        if self.len >= ROW || !self.later.is_empty() {
            return self.add_to_many(new);
        }
        let mut at = self.len;
        self.len += 1;
        while at > 0 && self.row[(at - 1) % ROW] < new {
            self.row[at % ROW] = self.row[(at - 1) % ROW];
            at -= 1;
        }
        self.row[at % ROW] = new;
    }

    /// The same where there is more than the row, or will be.
    #[inline(never)]
    fn add_to_many(&mut self, new: Event) {
        if new > self.later.first() || self.len == ROW && new > self.row[0] {
            return self.later.push(new);
        }
        if self.len == ROW {
            self.later.push(self.row[0]);
            self.row.copy_within(1.., 0);
            self.len -= 1;
        }
        let after = self.row[..self.len].partition_point(|event| *event > new);
        self.row.copy_within(after..self.len, after + 1);
        self.row[after] = new;
        self.len += 1;
    }
}

/// A 4-ary heap. Behind its last event there is room up to the end of a family of four, filled with [`NOTHING`], so that
/// no event has part of a family only.
#[derive(Debug)]
struct Heap {
    events: Vec<Event>,
    len: usize,
}

const ARITY: usize = 4;

impl Default for Heap {
    fn default() -> Self {
        Self { events: vec![NOTHING], len: 0 }
    }
}

impl Heap {
    /// The first event, or [`NOTHING`].
    #[inline(always)]
    fn first(&self) -> Event {
        self.events[0]
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn push(&mut self, new: Event) {
        if self.len == self.events.len() {
            self.events.extend([NOTHING; ARITY]);
        }
        let mut at = self.len;
        self.len += 1;
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.events[parent] <= new {
                break;
            }
            self.events[at] = self.events[parent];
            at = parent;
        }
        self.events[at] = new;
    }

    /// The first of its events and this one; the others stay.
    #[inline]
    fn exchange(&mut self, new: Event) -> Event {
        let first = self.first();
        if new > first {
            self.replace(new);
        }
        first.min(new)
    }

    /// Takes the first event out, or [`NOTHING`].
    #[inline]
    fn take(&mut self) -> Event {
        let first = self.first();
        if !self.is_empty() {
            self.pop();
        }
        first
    }

    #[inline]
    fn pop(&mut self) {
        self.len -= 1;
        let last = std::mem::replace(&mut self.events[self.len], NOTHING);
        if self.len > 0 {
            self.replace(last);
        }
    }

    /// Puts another event in place of the first.
    #[inline]
    fn replace(&mut self, new: Event) {
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            if first >= self.len {
                break;
            }
            let Some(&[a, b, c, d]) = self.events.get(first..first + ARITY) else { break };
            // A small tournament: two independent comparisons, then one.
            let left = if b < a { (1, b) } else { (0, a) };
            let right = if d < c { (3, d) } else { (2, c) };
            let (offset, least) = if right.1 < left.1 { right } else { left };
            if new <= least {
                break;
            }
            self.events[at] = least;
            at = first + offset;
        }
        self.events[at] = new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use truckee_tcp::Span;

    /// An arrival's key is even here, a timer's odd.
    fn push(agenda: &mut Agenda, (time, key): (Time, Key)) {
        match key % 2 {
            0 => agenda.push_arrival(time, key),
            _ => agenda.push(time, key),
        }
    }

    fn next(agenda: &Agenda) -> (Time, Key) {
        match agenda.peek() {
            Next::Arrival(time, key) => {
                assert_eq!(key % 2, 0);
                (time, key)
            }
            Next::Timer(time, key) => {
                assert!(key % 2 == 1);
                (time, key)
            }
        }
    }

    #[test]
    fn a_time_is_before_all_where_neither_an_arrival_nor_a_timer_comes_by_then() {
        let mut agenda = Agenda::default();
        assert!(agenda.is_before_all(Time::ns(9)));
        agenda.push(Time::ns(7), 1);
        agenda.push_arrival(Time::ns(5), 2);
        assert_eq!([4, 5, 6].map(|at| agenda.is_before_all(Time::ns(at))), [true, false, false]);
        agenda.pop_arrival();
        assert_eq!([6, 7].map(|at| agenda.is_before_all(Time::ns(at))), [true, false]);
        agenda.vacate();
        assert!(!agenda.is_before_all(Time::ns(7)), "what happens still stands there");
    }

    proptest! {
        #[test]
        fn events_come_in_order_of_time_then_key(
            first in prop::collection::vec((0u64..50, 0u64..50), 1..100),
            delays in prop::collection::vec((0u64..50, 0u64..50), 0..100),
        ) {
            let mut agenda = Agenda::default();
            let mut model: Vec<_> = first.into_iter().map(|(time, key)| (Time::ns(time), key)).collect();
            model.iter().for_each(|&event| push(&mut agenda, event));
            for (delay, key) in delays {
                let delay = Span::ns(delay);
                model.sort_unstable();
                prop_assert_eq!(next(&agenda), model[0]);
                let (time, old) = model[0];
                model[0].0 = time + delay;
                if old % 2 == 1 {
                    if key % 2 == 1 {
                        agenda.vacate();
                        agenda.push(time + delay, old);
                        agenda.settle();
                    } else {
                        agenda.postpone(time + delay);
                    }
                    continue;
                }
                model[0].1 = 2 * key;
                if key % 3 == 0 {
                    agenda.pop_arrival();
                    agenda.push_arrival(time + delay, 2 * key);
                } else {
                    agenda.replace_arrival(time + delay, 2 * key);
                }
            }
            model.sort_unstable();
            for expected in model {
                prop_assert_eq!(next(&agenda), expected);
                match expected.1 % 2 {
                    0 => agenda.pop_arrival(),
                    _ => {
                        agenda.vacate();
                        agenda.settle();
                    }
                }
            }
            prop_assert_eq!(next(&agenda).0, Time::MAX);
        }
    }
}
