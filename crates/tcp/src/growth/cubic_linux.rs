//! CUBIC as Linux has it: the cubic function of time in whole numbers, worked out at most once a jiffy.
//!
//! Windows are whole segments, times are jiffies, and the function is worked out in 1/1024 of a second: K = ∛(2⁴⁰/410 ·
//! (last_max − cwnd)), t = now − epoch + delay_min, target = origin ∓ 410·|t − K|³/2⁴⁰, that is C = 410/1024. A segment is added
//! for each cnt segments acknowledged: cnt = cwnd/(target − cwnd), or 100·cwnd at or above the target; 20 at the most while no
//! maximum is known; 2 at the least, so that a round opens by half. *TCP friendliness*: a window beside it that opens by a segment
//! for each 15·cwnd/8 acknowledged, as Reno does that keeps 717/1024; where that is ahead, cnt is small enough to reach it in a
//! round. The function is worked out anew where cwnd has changed, or after a 32nd of a second. *A loss* ends the epoch: last_max =
//! cwnd, or cwnd·(1024 + 717)/2048 where that lies below the last one (fast convergence); a timeout forgets everything. An idle
//! time moves the epoch. *Slow start* opens by all that an ACK covers up to ssthresh, and HyStart ([`HyStartLinux`]) ends it;
//! round-trip times within a second of an epoch's beginning do not count for either.
//!
//! [`super::Cubic`] is the standard's: no jiffies, no whole segments, SRTT in place of delay_min, bytes in place of segments,
//! 4.9·cwnd/8 for Reno's equal, HyStart++. Left to the reader here: the cube root is exact, where the kernel's is within 0.2 %.
//! Source: Linux 6.18, net/ipv4/tcp_cubic.c: `bictcp_update`, `cubictcp_cong_avoid`, `cubictcp_acked`, `cubictcp_recalc_ssthresh`,
//! `cubictcp_cwnd_event`; `tcp_slow_start`, `tcp_cong_avoid_ai`.

use super::Growth;
use super::hystart_linux::HyStartLinux;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Departure, Loss, LossKind, Span, Time, Window};

/// BICTCP_BETA_SCALE, and of it what a reduction keeps.
const BETA_SCALE: u64 = 1024;
pub(crate) const BETA: u64 = 717;
/// What C is in 1/1024: 10·bic_scale.
const RTT_SCALE: u64 = 410;
/// 1/1024 of a second, as a power of two (BICTCP_HZ).
const HZ_BITS: u32 = 10;
/// Eighths of a window for which a Reno that keeps β adds a segment: 8·(1024 + 717)/3/(1024 − 717), in whole numbers.
const FRIENDLY_SCALE: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// The most that a segment takes while no maximum is known.
const CNT_UNKNOWN: u64 = 20;
/// The least that it ever takes.
const CNT_LEAST: u64 = 2;
/// Above this the cube of a time would not fit; no window is as old.
const OFFSET_MOST: u64 = 1 << 18;

/// What is known and counted; windows in segments, times in jiffies.
#[derive(Debug, Clone)]
struct State {
    fast_convergence: bool,
    friendliness: bool,
    hystart: Option<HyStartLinux>,
    jiffy: Span,
    /// Segments to be acknowledged for the next one to be added.
    cnt: u64,
    last_max: u64,
    last_cwnd: u64,
    last_time: u64,
    origin: u64,
    /// K, in 1/1024 s.
    k: u64,
    epoch: Option<u64>,
    delay_min: Option<Span>,
    /// Segments acknowledged since the friendly window last grew, and that window.
    ack_cnt: u64,
    friendly: u64,
    /// Segments acknowledged towards cnt (snd_cwnd_cnt).
    credit: u64,
    /// Bytes acknowledged that are no whole segment yet.
    bytes: u64,
    last_sent: Time,
    heard: bool,
    /// When a loss event was last found to have been none.
    undone: Option<Time>,
    /// Whether slow start was on when the last ACK had been heard; where a loss event ended it, when, and the window before.
    starting: bool,
    ended: Option<(Time, f64)>,
}

/// The cubic function of time, as bictcp_update has it.
#[derive(Debug, Clone)]
pub struct CubicLinux(Box<State>);

impl Member for CubicLinux {
    const INFO: Info = Info {
        name: "cubic-linux",
        summary: "CUBIC as Linux has it: in whole segments and jiffies, with HyStart",
        formula: "W(t) = 410/1024·(t − K)³ + W_max, t from the epoch on + RTTmin; a segment per max(cwnd/(W − cwnd), 2) acked",
        source: "Linux 6.18, net/ipv4/tcp_cubic.c: bictcp_update",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let fast_convergence = args.flag("fast_convergence", true)?;
        let friendliness = args.flag("tcp_friendliness", true)?;
        let hystart = args.flag("hystart", true)?;
        let paced = match hystart {
            true => args.flag("paced", false)?,
            false => args.refuse("paced", "hystart = true, which it is about").map(|()| false)?,
        };
        let jiffy = args.time("jiffy", Span::ms(4), Span::ms(1)..=Span::ms(10))?;
        Ok(Self(Box::new(State {
            fast_convergence,
            friendliness,
            hystart: hystart.then(|| HyStartLinux::new(paced)),
            jiffy,
            cnt: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: 0,
            origin: 0,
            k: 0,
            epoch: None,
            delay_min: None,
            ack_cnt: 0,
            friendly: 0,
            credit: 0,
            bytes: 0,
            last_sent: Time::ZERO,
            heard: false,
            undone: None,
            starting: true,
            ended: None,
        })))
    }
}

/// The window in whole segments.
fn segments(w: &Window) -> u64 {
    (w.cwnd / w.mss) as u64
}

/// The cube root, rounded down.
fn cube_root(n: u64) -> u64 {
    let near = libm::cbrt(n as f64) as u64;
    let above = |root: u64| root.checked_pow(3).is_none_or(|cube| cube > n);
    (near.saturating_sub(1)..=near + 1).rev().find(|&root| !above(root)).unwrap_or(0)
}

impl State {
    fn jiffies(&self, now: Time) -> u64 {
        now.nanos() / self.jiffy.nanos()
    }

    fn jiffies_a_second(&self) -> u64 {
        Span::s(1).nanos() / self.jiffy.nanos()
    }

    /// `cubictcp_acked`.
    fn hear(&mut self, ack: &Ack, w: &mut Window) {
        let now = self.jiffies(ack.now);
        let young = self.epoch.is_some_and(|epoch| now < epoch + self.jiffies_a_second());
        let Some(rtt) = ack.rtt.filter(|_| !young) else { return };
        let delay_min = *self.delay_min.insert(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        let Some(hystart) = &mut self.hystart else { return };
        // What shows a loss, or undoes one, is heard before it does so: still in slow start, or when that is over
        // (`tcp_clean_rtx_queue`, `tcp_fastretrans_alert`).
        if let Some((_, cwnd)) = self.ended.filter(|ended| ended.0 == ack.now) {
            hystart.ends(ack, rtt, delay_min, &Window { cwnd, ..*w });
        } else if w.in_slow_start() && self.undone != Some(ack.now) && hystart.ends(ack, rtt, delay_min, w) {
            w.ssthresh = w.cwnd;
        }
    }

    /// `bictcp_update`: what `acked` segments make of cnt.
    fn update(&mut self, now: Time, cwnd: u64, acked: u64) {
        let now = self.jiffies(now);
        self.ack_cnt += acked;
        if self.last_cwnd == cwnd && now - self.last_time <= self.jiffies_a_second() / 32 {
            return;
        }
        if self.epoch.is_none() || now != self.last_time {
            (self.last_cwnd, self.last_time) = (cwnd, now);
            self.follow_cubic(now, cwnd, acked);
        }
        if self.friendliness {
            self.follow_reno(cwnd);
        }
        self.cnt = self.cnt.max(CNT_LEAST);
    }

    fn follow_cubic(&mut self, now: u64, cwnd: u64, acked: u64) {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => {
                (self.ack_cnt, self.friendly) = (acked, cwnd);
                let below = self.last_max.saturating_sub(cwnd);
                self.k = cube_root(below.saturating_mul((1 << (HZ_BITS + 3 * HZ_BITS)) / RTT_SCALE));
                self.origin = self.last_max.max(cwnd);
                *self.epoch.insert(now)
            }
        };
        let least = self.delay_min.unwrap_or(Span::ZERO).nanos().div_ceil(self.jiffy.nanos());
        let t = ((now - epoch + least) << HZ_BITS) / self.jiffies_a_second();
        let offset = t.abs_diff(self.k).min(OFFSET_MOST);
        let delta = ((u128::from(RTT_SCALE) * u128::from(offset).pow(3)) >> (HZ_BITS + 3 * HZ_BITS)) as u64;
        let target = if t < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max == 0 {
            self.cnt = self.cnt.min(CNT_UNKNOWN);
        }
    }

    /// TCP friendliness.
    fn follow_reno(&mut self, cwnd: u64) {
        let step = (cwnd * FRIENDLY_SCALE) >> 3;
        if step > 0 && self.ack_cnt > step {
            let steps = (self.ack_cnt - 1) / step;
            self.ack_cnt -= steps * step;
            self.friendly += steps;
        }
        if self.friendly > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.friendly - cwnd));
        }
    }

    /// `tcp_cong_avoid_ai`: a segment for each cnt acknowledged.
    fn avoid(&mut self, acked: u64, w: &mut Window) {
        if self.credit >= self.cnt {
            self.credit = 0;
            w.cwnd += w.mss;
        }
        self.credit += acked;
        let steps = self.credit / self.cnt.max(1);
        self.credit -= steps * self.cnt;
        w.cwnd += steps as f64 * w.mss;
    }

    /// `cubictcp_recalc_ssthresh`, without what it returns.
    fn reduced(&mut self, cwnd: u64) {
        self.epoch = None;
        self.last_max = if cwnd < self.last_max && self.fast_convergence {
            cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE)
        } else {
            cwnd
        };
    }

    /// `bictcp_reset`.
    fn forget(&mut self) {
        (self.cnt, self.last_max, self.last_cwnd, self.last_time) = (0, 0, 0, 0);
        (self.origin, self.k, self.epoch, self.delay_min) = (0, 0, None, None);
        (self.ack_cnt, self.friendly) = (0, 0);
        if let Some(hystart) = &mut self.hystart {
            hystart.reset();
        }
    }
}

impl Growth for CubicLinux {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let state = &mut *self.0;
        state.hear(ack, w);
        state.heard = true;
        let bytes = state.bytes + ack.newly_delivered;
        let mut acked = (bytes as f64 / w.mss) as u64;
        state.bytes = bytes.saturating_sub((acked as f64 * w.mss) as u64);
        if w.in_slow_start() {
            let step = (acked as f64 * w.mss).min(w.ssthresh - w.cwnd);
            w.cwnd += step;
            acked -= libm::ceil(step / w.mss) as u64;
        }
        if acked > 0 {
            state.update(ack.now, segments(w), acked);
            state.avoid(acked, w);
        }
    }

    fn on_report(&mut self, ack: &Ack, w: &mut Window) {
        self.on_ack(ack, w);
    }

    fn on_undo(&mut self, now: Time, _: &mut Window) {
        self.0.undone = Some(now);
    }

    fn after_ack(&mut self, ack: &Ack, _: &Air, w: &mut Window) {
        if !std::mem::take(&mut self.0.heard) {
            self.0.hear(ack, w);
        }
        self.0.starting = w.in_slow_start();
    }

    fn on_sent(&mut self, sent: &Departure, _: &Window) {
        let state = &mut *self.0;
        let (now, last) = (state.jiffies(sent.now), state.jiffies(state.last_sent));
        if sent.in_flight == 0
            && let Some(epoch) = &mut state.epoch
        {
            *epoch = (*epoch + now - last).min(now);
        }
        state.last_sent = sent.now;
    }

    fn on_loss(&mut self, loss: &Loss, before: f64, w: &mut Window) {
        let state = &mut *self.0;
        state.ended = state.starting.then_some((loss.now, before));
        let spared = w.ssthresh >= w.flight as f64 && w.flight as f64 > 2.0 * w.mss;
        if spared {
            return; // by a response that takes the loss for noise
        }
        state.credit = 0;
        state.reduced((before / w.mss) as u64);
        if loss.kind == LossKind::Timeout {
            state.forget();
        }
    }
}

#[cfg(test)]
mod tests;
