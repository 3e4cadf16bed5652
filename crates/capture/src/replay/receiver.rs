//! What a receiver would have told its detectors.
//!
//! Captured at the sender, segments are told as if they had arrived when they left: the way there only shifts them all.
//! What the capture notes as dropped has not arrived.

use super::report::{Phases, since};
use crate::flow::{Data, Flow, Sent};
use truckee_tcp::detect::{AnyDetector, Phase, SlowStartDetector};
use truckee_tcp::seq::Ranges;
use truckee_tcp::{Arrival, Seq, Time};

/// Turns that are listed.
const MOST_TURNS: usize = 4096;
/// Ranges beyond a hole that are kept.
const MOST_RANGES: usize = 1 << 12;

/// One detector.
#[derive(Debug)]
struct Watcher {
    detector: AnyDetector,
    slow_start: u64,
    turns: Vec<(f64, bool)>,
}

/// The receiver's side of a replay.
#[derive(Debug)]
pub(super) struct Receiver {
    watchers: Vec<Watcher>,
    segments: u64,
    next: Option<Seq>,
    beyond: Ranges,
}

impl Receiver {
    pub fn new(detectors: Vec<AnyDetector>) -> Self {
        let watcher = |detector| Watcher { detector, slow_start: 0, turns: Vec::new() };
        let watchers = detectors.into_iter().map(watcher).collect();
        Self { watchers, segments: 0, next: None, beyond: Ranges::default() }
    }

    /// Data has passed; `flow` has heard of it.
    pub fn on_data(&mut self, began: Time, flow: &Flow, data: &Data, sent: &Sent) {
        if self.watchers.is_empty() || data.dropped.is_some() || sent.earlier {
            return;
        }
        let arrival = self.arrive(flow, data);
        self.segments += 1;
        for watcher in &mut self.watchers {
            watcher.detector.on_segment(&arrival);
            let slow_start = watcher.detector.phase() == Phase::SlowStart;
            watcher.slow_start += u64::from(slow_start);
            let turned = watcher.turns.last().is_none_or(|turn| turn.1 != slow_start);
            if turned && watcher.turns.len() < MOST_TURNS {
                watcher.turns.push((since(began, data.now), slow_start));
            }
        }
    }

    /// Sorts a segment in as a receiver does.
    fn arrive(&mut self, flow: &Flow, data: &Data) -> Arrival {
        let next = *self.next.get_or_insert(data.seq);
        let in_order = data.seq <= next && data.end > next;
        let had_holes = !self.beyond.is_empty();
        if in_order {
            self.beyond.insert(next, data.end);
            let reached = self.beyond.containing(next).map_or(data.end, |(_, end)| end);
            self.beyond.trim_below(reached);
            self.next = Some(reached);
        } else if data.seq > next && self.beyond.as_slice().len() < MOST_RANGES {
            self.beyond.insert(data.seq, data.end);
        }
        let rcv_nxt = self.next.unwrap_or(data.end);
        let mut arrival = Arrival::of_bytes(data.now, data.len);
        (arrival.rcv_nxt, arrival.end) = (rcv_nxt, data.end);
        arrival.unacked = rcv_nxt.saturating_sub(flow.book.una());
        (arrival.in_order, arrival.urgent) = (in_order, !in_order || had_holes);
        arrival.window = flow.windows.last().map_or(u32::MAX, |w| u32::try_from(w).unwrap_or(u32::MAX));
        arrival.rtt = flow.rtt.at_receiver(data.stamps.is_some(), self.segments == 0);
        arrival
    }

    pub fn phases(&self, names: &[String]) -> Vec<Phases> {
        let report = |(name, watcher): (&String, &Watcher)| Phases {
            name: name.clone(),
            slow_start_share: watcher.slow_start as f64 / self.segments.max(1) as f64,
            turns: watcher.turns.clone(),
        };
        names.iter().zip(&self.watchers).map(report).collect()
    }
}
