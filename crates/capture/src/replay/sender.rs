//! What a sender would have told its estimators and predictors.

use super::application::Application;
use super::line::Line;
use super::report::{Estimates, Loss, since};
use crate::flow::{Ack, Acked, Data, Flow, Sent};
use std::collections::VecDeque;
use truckee_tcp::books::Judged;
use truckee_tcp::estimate::AnyEstimator;
use truckee_tcp::predict::AnyPredictor;
use truckee_tcp::sender::ByDuplicates;
use truckee_tcp::{Cause, Departure, LossKind, Observers, Seq, Span, Time, Window};

/// Loss events that are listed.
const MOST_LOSSES: usize = 4096;
/// Drops that are remembered until a sender notices.
const MOST_DROPS: usize = 1 << 14;
/// A window that no receiver's is above, where none was seen.
const NO_LIMIT: u64 = 1 << 40;

/// The sender's side of a replay.
#[derive(Debug)]
pub(super) struct Sender {
    observers: Observers,
    curves: Vec<Line>,
    flight: Line,
    by_duplicates: ByDuplicates,
    losses: Vec<Loss>,
    /// Of each predictor: losses taken for congestion, and for noise.
    said: Vec<(u64, u64)>,
    /// What was dropped and has not been acknowledged.
    drops: VecDeque<(Seq, Seq, Cause)>,
    dropped: (u64, u64),
    application: Application,
}

impl Sender {
    pub fn new(predictors: Vec<AnyPredictor>, estimators: Vec<AnyEstimator>) -> Self {
        Self {
            curves: vec![Line::default(); estimators.len()],
            said: vec![(0, 0); predictors.len()],
            observers: Observers::new(predictors, estimators),
            flight: Line::default(),
            by_duplicates: ByDuplicates::default(),
            losses: Vec::new(),
            drops: VecDeque::new(),
            dropped: (0, 0),
            application: Application::default(),
        }
    }

    /// An ACK has passed; `flow` has heard of it.
    pub fn on_ack(&mut self, began: Time, flow: &Flow, size: u32, ack: &Ack, acked: &Acked) {
        let mss = u64::from(size);
        let duplicate = acked.repeats;
        if acked.newly == 0 && !duplicate {
            return;
        }
        let delivered = if duplicate {
            self.by_duplicates.another(mss, acked.outstanding)
        } else {
            self.by_duplicates.advance(acked.newly)
        };
        let w = window(flow, size, acked.flight);
        let side = flow.rtt.sender_side_now().unwrap_or(Span::ZERO);
        let mut told = truckee_tcp::Ack::of_bytes(ack.now, acked.newly);
        (told.ack, told.delivered, told.duplicate) = (ack.ack, delivered, duplicate);
        told.rtt = flow.rtt.last().filter(|_| !duplicate).map(|rtt| rtt + side);
        told.sent = acked.newest.map(|piece| piece.first);
        told.highest = flow.book.highest();
        self.observers.on_ack(&told, &w);
        let t = since(began, ack.now);
        for (curve, estimate) in self.curves.iter_mut().zip(self.observers.estimates()) {
            if let Some(estimate) = estimate {
                curve.add(t, estimate);
            }
        }
        self.flight.add(t, flow.book.flight() as f64);
        self.application.on_ack(flow, ack.now);
        // A drop counts until what was dropped has come through.
        self.drops.retain(|&(_, end, _)| end > ack.ack);
    }

    /// Data has passed; `flow` has heard of it.
    pub fn on_data(
        &mut self,
        began: Time,
        flow: &Flow,
        size: u32,
        data: &Data,
        sent: &Sent,
        loss: Option<LossKind>,
    ) {
        if let Some(kind) = loss {
            self.on_loss(began, flow.book.origin(), data, kind);
        }
        if sent.copy {
            return;
        }
        self.application.on_data(flow, size, data, sent);
        if let Some(cause) = data.dropped {
            match cause {
                Cause::Congestion => self.dropped.0 += 1,
                Cause::Wireless => self.dropped.1 += 1,
            }
            if self.drops.len() == MOST_DROPS {
                self.drops.pop_front();
            }
            self.drops.push_back((data.seq, data.end, cause));
        }
        self.flight.add(since(began, data.now), flow.book.flight() as f64);
        let mut departure = Departure::of_bytes(data.now, data.len);
        (departure.seq, departure.retransmission) = (data.seq, sent.is_again());
        departure.in_flight = flow.book.flight().saturating_sub(sent.new);
        self.observers.on_sent(&departure);
    }

    fn on_loss(&mut self, began: Time, origin: Seq, data: &Data, kind: LossKind) {
        let truth = self.drops.iter().rev().find(|(from, end, _)| *from <= data.seq && data.seq < *end);
        let truth = truth.map(|&(_, _, cause)| cause);
        let loss = truckee_tcp::Loss::new(data.now, kind, data.seq);
        let verdicts: Vec<Cause> = self.observers.verdicts(&loss, truth).collect();
        for (said, verdict) in self.said.iter_mut().zip(&verdicts) {
            match verdict {
                Cause::Congestion => said.0 += 1,
                Cause::Wireless => said.1 += 1,
            }
        }
        self.observers.on_loss(&loss, truth);
        if self.losses.len() < MOST_LOSSES {
            self.losses.push(Loss {
                t_s: since(began, data.now),
                seq: data.seq.saturating_sub(origin),
                kind: if kind == LossKind::Timeout { "timeout" } else { "dup-acks" },
                truth: truth.map(Cause::as_str),
                verdicts: verdicts.into_iter().map(Cause::as_str).collect(),
            });
        }
    }

    /// Whether the capture says what became of anything.
    pub fn has_truth(&self) -> bool {
        self.dropped != (0, 0)
    }

    pub fn dropped(&self) -> (u64, u64) {
        self.dropped
    }

    pub fn judged(&self) -> impl Iterator<Item = &Judged> {
        self.observers.judged()
    }

    /// How often each predictor said congestion, and noise.
    pub fn said(&self) -> impl Iterator<Item = (u64, u64)> {
        self.said.iter().copied()
    }

    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    pub fn application(&self) -> &Application {
        &self.application
    }

    pub fn flight(&self) -> &Line {
        &self.flight
    }

    pub fn estimates(&self, names: &[String]) -> Vec<Estimates> {
        let report = |(name, curve): (&String, &Line)| Estimates {
            name: name.clone(),
            last_bps: curve.last(),
            median_bps: curve.median(),
            mean_bps: curve.mean(),
            series: curve.points(),
        };
        names.iter().zip(&self.curves).map(report).collect()
    }
}

/// The window as it looks from outside: what is in the air.
fn window(flow: &Flow, size: u32, flight: u64) -> Window {
    let mss = f64::from(size.max(1));
    let mut w = Window::new(mss, (flight as f64).max(mss));
    (w.flight, w.rwnd) = (flight, flow.windows.last().unwrap_or(NO_LIMIT));
    (w.srtt, w.rtt_min) = (flow.rtt.smoothed(), flow.rtt.whole());
    w
}
