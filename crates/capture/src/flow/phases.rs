//! Slow start and congestion avoidance, guessed from what goes in each round.
//!
//! A connection begins in slow start, and returns to it with a timeout. Rounds that each bring 1.2 times the one before
//! are slow start's (×2, or ×1.5 with delayed ACKs); two running that do not end it, as does a fast retransmit. In
//! avoidance two rounds running that each bring half as much again take it up again. A round of less than two segments
//! says nothing. It is a guess: an application that has nothing to send, or a receiver's window, looks like avoidance.

use super::memory::room;
use super::retransmissions::Kind;
use super::rounds::Round;
use super::segment::Ack;
use serde::Serialize;
use truckee_tcp::{Seq, Time};

/// Growth of a round in slow start, at the least.
const GROWTH: f64 = 1.2;
/// Growth that takes slow start up again.
const BY_HALF: f64 = 1.5;
/// Rounds running that make a verdict.
const PATIENCE: u32 = 2;
/// Turns that are kept.
const KEPT: usize = 64;

/// Phases as they look from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The window doubles each round trip, or nearly so.
    SlowStart,
    /// It opens slowly, or not.
    Avoidance,
    /// What was lost is being sent again.
    Recovery,
}

/// A turn, as it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Turn {
    /// When, seconds after the connection's first packet.
    pub t_s: f64,
    /// The phase that begins.
    pub phase: Phase,
}

/// Follows the phases of a direction.
#[derive(Debug, Clone, Default)]
pub struct Phases {
    turns: Vec<(Time, Phase)>,
    before: u64,
    grown: u32,
    flat: u32,
    /// A repair ends with an ACK of this.
    recover: Seq,
    /// Whether the repair began with a timeout.
    after_timeout: bool,
}

impl Phases {
    /// The present phase.
    pub fn present(&self) -> Phase {
        self.turns.last().map_or(Phase::SlowStart, |turn| turn.1)
    }

    fn turn(&mut self, now: Time, phase: Phase) {
        if self.turns.is_empty() || self.present() != phase {
            if self.turns.len() < KEPT {
                self.turns.push((now, phase));
            } else if let Some(last) = self.turns.last_mut() {
                *last = (now, phase);
            }
        }
    }

    /// A round has ended.
    pub(super) fn on_round(&mut self, round: &Round, segment_size: u32) {
        if self.turns.is_empty() {
            self.turn(round.start, Phase::SlowStart);
        }
        let small = round.bytes < 2 * u64::from(segment_size);
        let before = std::mem::replace(&mut self.before, round.bytes);
        if before == 0 || small || self.present() == Phase::Recovery {
            return;
        }
        let growth = round.bytes as f64 / before as f64;
        let slow_start = self.present() == Phase::SlowStart;
        let grew = growth >= if slow_start { GROWTH } else { BY_HALF };
        (self.grown, self.flat) = if grew { (self.grown + 1, 0) } else { (0, self.flat + 1) };
        if slow_start && self.flat >= PATIENCE {
            self.turn(round.end, Phase::Avoidance);
        } else if !slow_start && self.grown >= PATIENCE {
            self.turn(round.end, Phase::SlowStart);
        }
    }

    /// Something was sent again while the sender had reached `highest`.
    pub(super) fn on_retransmission(&mut self, now: Time, kind: Kind, highest: Seq) {
        match kind {
            Kind::Timeout | Kind::Fast => {
                if self.present() != Phase::Recovery || kind == Kind::Timeout {
                    self.recover = highest;
                    self.after_timeout = kind == Kind::Timeout;
                }
                self.turn(now, Phase::Recovery);
                (self.before, self.grown, self.flat) = (0, 0, 0);
            }
            Kind::Probe | Kind::Unexplained => {}
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack) {
        if self.present() == Phase::Recovery && ack.ack >= self.recover {
            let next = if self.after_timeout { Phase::SlowStart } else { Phase::Avoidance };
            self.turn(ack.now, next);
        }
    }

    /// Bytes that it takes, beside its own.
    pub(super) fn size(&self) -> usize {
        room::<(Time, Phase)>(self.turns.capacity())
    }

    /// The turns; `origin`: when the connection began.
    pub fn report(&self, origin: Time) -> Vec<Turn> {
        let report = |&(t, phase): &(Time, Phase)| Turn { t_s: t.saturating_sub(origin).seconds(), phase };
        self.turns.iter().map(report).collect()
    }
}
