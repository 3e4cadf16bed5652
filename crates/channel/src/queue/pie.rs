//! PIE: drops at the tail, by a chance that follows the wait and its trend. Source: RFC 8033, section 4 and appendix A; the
//! wait is that of the packet sent last, known by the time at which it came: one of the two ways of section 4.3, beside the
//! rate of departures.

use super::contract::{Limit, Seen, Served};
use super::fifo::Fifo;
use crate::random::{Xoshiro256PlusPlus, chance, stream};
use crate::{Span, Time};

/// Bytes of an ordinary packet (MEAN_PKTSIZE of section 4.1): of a queue of two such nothing is dropped.
const MEAN_BYTES: u64 = 1024;

/// Parameters of PIE.
#[derive(Debug, Clone, PartialEq)]
pub struct PieConfig {
    /// The wait that is aimed at (QDELAY_REF, 15 ms).
    pub target: Span,
    /// How often the chance is worked out (T_UPDATE, 15 ms).
    pub update: Span,
    /// How long a burst passes after a time of calm (MAX_BURST, 150 ms).
    pub burst: Span,
    /// Weight of the wait's distance from the target, in 1/s (alpha, 1/8).
    pub alpha: f64,
    /// Weight of the wait's change, in 1/s (beta, 5/4).
    pub beta: f64,
    /// What fits.
    pub limit: Limit,
    /// Whether packets that allow it are marked in place of dropped, below a chance of a tenth (section 5.1).
    pub ecn: bool,
}

impl Default for PieConfig {
    fn default() -> Self {
        let (target, update, burst) = (Span::ms(15), Span::ms(15), Span::ms(150));
        Self { target, update, burst, alpha: 0.125, beta: 1.25, limit: Limit::Packets(1000), ecn: false }
    }
}

/// A queue with PIE at its tail.
#[derive(Debug)]
pub struct Pie<T> {
    config: PieConfig,
    fifo: Fifo<Offered<T>>,
    rng: Xoshiro256PlusPlus,
    chance: f64,
    /// Wait of the packet sent last, 0 once the queue is empty, and as it was at the last update.
    wait: Span,
    wait_before: Span,
    burst_left: Span,
    next_update: Time,
}

/// A packet, and whether it was marked when it came.
#[derive(Debug)]
struct Offered<T> {
    packet: T,
    marked: bool,
}

impl<T> Pie<T> {
    /// An empty one; `seed` is that of its draws.
    pub fn new(config: PieConfig, seed: u64) -> Self {
        let (burst_left, next_update) = (config.burst, Time::ZERO + config.update);
        let rng = stream(seed, "pie");
        Self {
            config,
            fifo: Fifo::default(),
            rng,
            chance: 0.0,
            wait: Span::ZERO,
            wait_before: Span::ZERO,
            burst_left,
            next_update,
        }
    }

    /// As [`super::ActiveQueue::offer`].
    pub fn offer(&mut self, now: Time, seen: Seen, packet: T, dropped: &mut Vec<T>) {
        self.catch_up(now);
        if self.is_calm() {
            self.burst_left = self.config.burst;
        }
        let hit = self.burst_left == Span::ZERO && self.hits();
        let marked = hit && self.config.ecn && seen.ecn && self.chance < 0.1;
        if self.fifo.has_room(self.config.limit, seen) && (!hit || marked) {
            self.fifo.push(now, seen, Offered { packet, marked });
        } else {
            dropped.push(packet);
        }
    }

    /// As [`super::ActiveQueue::serve`]; nothing is dropped here.
    pub fn serve(&mut self, now: Time) -> Option<Served<T>> {
        self.catch_up(now);
        let head = self.fifo.pop(now)?;
        self.wait = if self.fifo.packets() == 0 { Span::ZERO } else { head.waited };
        let Served { packet: Offered { packet, marked }, bytes, came, .. } = head.served;
        Some(Served { packet, bytes, marked, came })
    }

    /// As [`super::ActiveQueue::clear`].
    pub fn clear(&mut self, dropped: &mut Vec<T>) {
        self.wait = Span::ZERO;
        dropped.extend(self.fifo.drain().map(|offered| offered.packet));
    }

    /// How many packets wait.
    pub fn packets(&self) -> usize {
        self.fifo.packets()
    }

    /// How many bytes wait.
    pub fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    /// Whether congestion is over, so that a burst may pass again (section 4.4).
    fn is_calm(&self) -> bool {
        let half = self.config.target / 2;
        self.chance == 0.0 && self.wait < half && self.wait_before < half
    }

    /// Whether a packet that comes is hit (section 4.1).
    fn hits(&mut self) -> bool {
        let spared = self.wait_before < self.config.target / 2 && self.chance < 0.2;
        let short = self.fifo.bytes() <= 2 * MEAN_BYTES;
        !spared && !short && chance(&mut self.rng, self.chance)
    }

    /// Works out the chance for each update that has been due: nothing came or left between two calls.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            if self.chance == 0.0
                && self.wait == Span::ZERO
                && self.wait_before == Span::ZERO
                && self.burst_left == Span::ZERO
            {
                // Nothing would change any more, however long nothing came.
                let late = (now - self.next_update).ticks(self.config.update) + 1;
                self.next_update += self.config.update * late;
                return;
            }
            self.update();
            self.next_update += self.config.update;
        }
    }

    /// Section 4.2.
    fn update(&mut self) {
        let seconds = |from: Span, to: Span| to.seconds() - from.seconds();
        let step = self.config.alpha * seconds(self.config.target, self.wait)
            + self.config.beta * seconds(self.wait_before, self.wait);
        self.chance += step / self.scale();
        if self.wait == Span::ZERO && self.wait_before == Span::ZERO {
            self.chance *= 0.98;
        }
        self.chance = self.chance.clamp(0.0, 1.0);
        self.wait_before = self.wait;
        self.burst_left = self.burst_left.saturating_sub(self.config.update);
    }

    /// Smaller steps while the chance is small, so that it does not swing (section 4.2).
    fn scale(&self) -> f64 {
        match self.chance {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        }
    }
}
