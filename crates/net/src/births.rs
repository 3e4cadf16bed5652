//! When the data under way came into being: the laboratory's knowledge, by which delays are measured. No endpoint sees it.

use std::collections::VecDeque;
use truckee_tcp::Time;

/// The births of one connection's data, by sequence number.
#[derive(Debug, Default)]
pub struct Births {
    /// Pieces whose birth the application gave: (one after the last byte, when).
    written: VecDeque<(u64, Time)>,
    /// Segments sent and not yet delivered: (one after the last sequence number, when).
    sent: VecDeque<(u64, Time)>,
}

impl Births {
    /// What the application has written up to `end` was born then.
    pub fn on_write(&mut self, end: u64, born: Time) {
        self.written.push_back((end, born));
    }

    /// Data leaves for the first time. It is born now, unless the application knows better.
    #[inline(always)]
    pub fn on_sent(&mut self, now: Time, seq: u64, end: u64) {
        let born = if self.written.is_empty() { now } else { self.of_written(now, seq) };
        self.sent.push_back((end, born));
    }

    /// The birth of what is sent now from this number on, according to the application.
    fn of_written(&mut self, now: Time, seq: u64) -> Time {
        while self.written.front().is_some_and(|w| w.0 <= seq) {
            self.written.pop_front();
        }
        self.written.front().map_or(now, |w| w.1)
    }

    /// The birth of the next segment that has been delivered whole now that all below `rcv_nxt` has.
    #[inline]
    pub fn take(&mut self, rcv_nxt: u64) -> Option<Time> {
        self.sent.pop_front_if(|segment| segment.0 <= rcv_nxt).map(|segment| segment.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_born_when_it_leaves_or_when_the_application_says() {
        let mut births = Births::default();
        births.on_sent(5, 1, 1001);
        births.on_write(3001, 7);
        births.on_write(4001, 9);
        births.on_sent(20, 1001, 2001);
        births.on_sent(20, 2001, 3001);
        births.on_sent(21, 3001, 4001);
        births.on_sent(22, 4001, 5001);
        assert_eq!(births.take(1000), None, "not whole");
        let born: Vec<_> = std::iter::from_fn(|| births.take(5001)).collect();
        assert_eq!(born, [5, 7, 7, 9, 22]);
    }
}
