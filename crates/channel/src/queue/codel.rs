//! CoDel: drops at the head while the least wait of an interval stays above a target. Source: RFC 8289, section 5.

use super::contract::{Limit, Seen, Served};
use super::fifo::{Fifo, Head};
use crate::{Span, Time};

/// Parameters of CoDel.
#[derive(Debug, Clone, PartialEq)]
pub struct CoDelConfig {
    /// The wait that is acceptable (section 4.3: 5 ms, from 5 to 10 % of the interval).
    pub target: Span,
    /// How long the wait may be above it, and the first distance between two drops (section 4.2: 100 ms, in the order
    /// of a worst-case round trip).
    pub interval: Span,
    /// What fits.
    pub limit: Limit,
    /// Whether packets that allow it are marked in place of dropped.
    pub ecn: bool,
}

impl Default for CoDelConfig {
    fn default() -> Self {
        Self { target: Span::ms(5), interval: Span::ms(100), limit: Limit::Packets(1000), ecn: false }
    }
}

/// When to drop: the state of section 5.2 for one queue.
#[derive(Debug, Clone, Default)]
pub(super) struct Law {
    /// When the wait will have been above the target for an interval; `None`: it was below.
    first_above: Option<Time>,
    /// Whether it drops.
    dropping: bool,
    /// When it drops next.
    next: Time,
    /// Drops since it began, and when it began the last time.
    count: u32,
    last_count: u32,
    /// The largest packet seen: as long as no more than one such waits, nothing is gained by dropping.
    largest: u32,
}

impl Law {
    /// What is sent next from this queue (section 5.5): drops go to `dropped`, marks into the packet.
    pub fn serve<T>(
        &mut self,
        config: &CoDelConfig,
        now: Time,
        fifo: &mut Fifo<T>,
        dropped: &mut Vec<T>,
    ) -> Option<Served<T>> {
        let (mut head, mut may_drop) = self.pop(config, now, fifo);
        if head.is_none() {
            self.dropping = false;
            return None;
        }
        if self.dropping {
            if !may_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.next {
                self.count = self.count.saturating_add(1);
                if mark(config, head.as_mut()) {
                    self.next = self.after(config, self.next);
                    break;
                }
                dropped.extend(head.map(|head| head.served.packet));
                (head, may_drop) = self.pop(config, now, fifo);
                if may_drop {
                    self.next = self.after(config, self.next);
                } else {
                    self.dropping = false;
                }
            }
        } else if may_drop {
            if !mark(config, head.as_mut()) {
                dropped.extend(head.map(|head| head.served.packet));
                (head, _) = self.pop(config, now, fifo);
            }
            self.dropping = true;
            // Where it dropped a short while ago it goes on near the rate that held the queue then.
            let since = self.count - self.last_count;
            let recent = now < self.next.saturating_add(config.interval * 16);
            self.count = if since > 1 && recent { since } else { 1 };
            self.next = self.after(config, now);
            self.last_count = self.count;
        }
        head.map(|head| head.served)
    }

    /// The head, and whether it may be dropped (section 5.6).
    fn pop<T>(&mut self, config: &CoDelConfig, now: Time, fifo: &mut Fifo<T>) -> (Option<Head<T>>, bool) {
        let Some(head) = fifo.pop(now) else {
            self.first_above = None;
            return (None, false);
        };
        self.largest = self.largest.max(head.served.bytes);
        if head.waited < config.target || fifo.bytes() <= u64::from(self.largest) {
            self.first_above = None;
            return (Some(head), false);
        }
        match self.first_above {
            None => {
                self.first_above = Some(now.saturating_add(config.interval));
                (Some(head), false)
            }
            Some(above) => (Some(head), now >= above),
        }
    }

    /// The control law (sections 3.3 and 5.6): drops come at distances that shrink with the root of their number.
    fn after(&self, config: &CoDelConfig, then: Time) -> Time {
        let distance = config.interval.as_f64() / libm::sqrt(f64::from(self.count.max(1)));
        then.saturating_add(Span::truncated(distance))
    }
}

/// Marks a packet that may be marked, where that is wanted.
fn mark<T>(config: &CoDelConfig, head: Option<&mut Head<T>>) -> bool {
    let Some(head) = head.filter(|head| config.ecn && head.ecn) else { return false };
    head.served.marked = true;
    true
}

/// A queue with CoDel at its head.
#[derive(Debug)]
pub struct CoDel<T> {
    config: CoDelConfig,
    law: Law,
    fifo: Fifo<T>,
}

impl<T> CoDel<T> {
    /// An empty one.
    pub fn new(config: CoDelConfig) -> Self {
        Self { config, law: Law::default(), fifo: Fifo::default() }
    }

    /// As [`super::ActiveQueue::offer`].
    pub fn offer(&mut self, now: Time, seen: Seen, packet: T, dropped: &mut Vec<T>) {
        if self.fifo.has_room(self.config.limit, seen) {
            self.fifo.push(now, seen, packet);
        } else {
            dropped.push(packet);
        }
    }

    /// As [`super::ActiveQueue::serve`].
    pub fn serve(&mut self, now: Time, dropped: &mut Vec<T>) -> Option<Served<T>> {
        self.law.serve(&self.config, now, &mut self.fifo, dropped)
    }

    /// As [`super::ActiveQueue::clear`].
    pub fn clear(&mut self, dropped: &mut Vec<T>) {
        dropped.extend(self.fifo.drain());
    }

    /// How many packets wait.
    pub fn packets(&self) -> usize {
        self.fifo.packets()
    }

    /// How many bytes wait.
    pub fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}
