//! FQ-CoDel: a queue for each flow, CoDel at the head of each, and turns by deficit round robin in which flows that have
//! just come go first. Source: RFC 8290, section 4.

use super::codel::{CoDelConfig, Law};
use super::contract::{Limit, Seen, Served};
use super::fifo::Fifo;
use crate::{Span, Time};
use std::collections::VecDeque;

/// Parameters of FQ-CoDel.
#[derive(Debug, Clone, PartialEq)]
pub struct FqCoDelConfig {
    /// CoDel's target (section 5.2.2: 5 ms).
    pub target: Span,
    /// CoDel's interval (section 5.2.1: 100 ms).
    pub interval: Span,
    /// What fits in all queues together (section 5.2.3: 10240 packets).
    pub limit: Limit,
    /// Queues that flows are spread over (section 5.2.5: 1024).
    pub queues: u32,
    /// Bytes a queue may send in a turn (section 5.2.4: 1514).
    pub quantum: u32,
    /// Whether packets that allow it are marked in place of dropped.
    pub ecn: bool,
}

impl Default for FqCoDelConfig {
    fn default() -> Self {
        let CoDelConfig { target, interval, .. } = CoDelConfig::default();
        Self { target, interval, limit: Limit::Packets(10_240), queues: 1024, quantum: 1514, ecn: true }
    }
}

/// Where a queue stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// In neither list: it is empty.
    Out,
    /// It has just come.
    New,
    /// It takes turns.
    Old,
}

/// One flow's queue, or that of several flows which the hash does not tell apart.
#[derive(Debug)]
struct Lane<T> {
    fifo: Fifo<T>,
    law: Law,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    turn: Turn,
}

/// Queues that take turns.
#[derive(Debug)]
pub struct FqCoDel<T> {
    codel: CoDelConfig,
    quantum: i64,
    limit: Limit,
    lanes: Vec<Lane<T>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
    /// Makes the hash another one in each run (section 4.1).
    perturbation: u64,
}

impl<T> FqCoDel<T> {
    /// An empty one; `seed` decides which flows share a queue.
    pub fn new(config: FqCoDelConfig, seed: u64) -> Self {
        let lane = || Lane { fifo: Fifo::default(), law: Law::default(), deficit: 0, turn: Turn::Out };
        let FqCoDelConfig { target, interval, limit, queues, quantum, ecn } = config;
        Self {
            codel: CoDelConfig { target, interval, limit, ecn },
            // A quantum of nothing would let no queue ever send.
            quantum: i64::from(quantum.max(1)),
            limit,
            lanes: std::iter::repeat_with(lane).take(queues.max(1) as usize).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            perturbation: seed,
        }
    }

    /// As [`super::ActiveQueue::offer`]. Where all is full, the packet at the head of the fullest queue goes (section
    /// 4.1).
    pub fn offer(&mut self, now: Time, seen: Seen, packet: T, dropped: &mut Vec<T>) {
        let index = self.lane_of(seen.flow);
        let lane = &mut self.lanes[index as usize];
        lane.fifo.push(now, seen, packet);
        self.packets += 1;
        self.bytes += u64::from(seen.bytes);
        if lane.turn == Turn::Out {
            lane.turn = Turn::New;
            lane.deficit = self.quantum;
            self.new.push_back(index);
        }
        let waiting = (self.packets - 1) as u64;
        let bytes = self.bytes - u64::from(seen.bytes);
        if waiting > 0 && !self.limit.has_room(waiting, bytes, seen.bytes) {
            let fullest = self.lanes.iter_mut().max_by_key(|lane| lane.fifo.bytes());
            if let Some(head) = fullest.and_then(|lane| lane.fifo.pop(now)) {
                self.packets -= 1;
                self.bytes -= u64::from(head.served.bytes);
                dropped.push(head.served.packet);
            }
        }
    }

    /// As [`super::ActiveQueue::serve`].
    pub fn serve(&mut self, now: Time, dropped: &mut Vec<T>) -> Option<Served<T>> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let lane = &mut self.lanes[index as usize];
            if lane.deficit <= 0 {
                lane.deficit += self.quantum;
                lane.turn = Turn::Old;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (lane.fifo.packets(), lane.fifo.bytes());
            let served = lane.law.serve(&self.codel, now, &mut lane.fifo, dropped);
            self.packets -= packets - lane.fifo.packets();
            self.bytes -= bytes - lane.fifo.bytes();
            if let Some(served) = served {
                lane.deficit -= i64::from(served.bytes);
                return Some(served);
            }
            list.pop_front();
            // A queue that has just come and is empty waits for a round of the others, so that a flow of single packets
            // does not always go first (section 4.2).
            if from_new && !self.old.is_empty() {
                lane.turn = Turn::Old;
                self.old.push_back(index);
            } else {
                lane.turn = Turn::Out;
            }
        }
    }

    /// As [`super::ActiveQueue::clear`].
    pub fn clear(&mut self, dropped: &mut Vec<T>) {
        (self.packets, self.bytes) = (0, 0);
        for index in self.new.drain(..).chain(self.old.drain(..)) {
            let lane = &mut self.lanes[index as usize];
            dropped.extend(lane.fifo.drain());
            lane.turn = Turn::Out;
        }
    }

    /// How many packets wait.
    pub fn packets(&self) -> usize {
        self.packets
    }

    /// How many bytes wait.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn lane_of(&self, flow: u64) -> u32 {
        let hash = crate::random::stream_seed(self.perturbation ^ flow, "fq-codel");
        ((u128::from(hash) * self.lanes.len() as u128) >> 64) as u32
    }
}
