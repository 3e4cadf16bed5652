//! CUBIC: in congestion avoidance the window follows a cubic function of the time since the last reduction.
//!
//! W_cubic(t) = C·(t − K)³ + W_max, in segments and seconds, K = ∛((W_max − cwnd_epoch)/C). Each ACK moves cwnd towards
//! W_cubic(t + SRTT), held between cwnd and 1.5·cwnd, by the share of a window that it acknowledges. Where Reno would be
//! faster cwnd follows it: W_est += α·acked/cwnd, α = 3·(1 − β)/(1 + β), and 1 once W_est has reached what cwnd was
//! before the reduction. Fast convergence: a reduction below the last W_max sets W_max = cwnd·(1 + β)/2. Source:
//! RFC 9438, sections 4.2 to 4.8; `c` 0.4 and `beta` 0.7 are its constants.
//!
//! Slow start is HyStart++ (`hystart`, on: section 4.10 says SHOULD; Linux has its predecessor) or else counts bytes,
//! two segments an ACK at most. Where slow start ends without a loss, and after a timeout, K = 0 and W_max = cwnd
//! (sections 4.8 and 4.10). Time in which the window is not what limits the sender does not count (section 5.8). What
//! is left to the reader there: growth goes by bytes acknowledged, not by ACKs; a loss whose response does not reduce
//! the window (of noise, in [`crate::response::ByCause`]) leaves W_max and the epoch alone. `beta` should be the
//! response's: [`crate::controller::Cubic`] has one for both.

use super::Growth;
use super::hystart::{self, HyStart};
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Loss, LossKind, Span, Time, Window};

/// Segments that an ACK may count for in a slow start without HyStart++ (RFC 3465).
const SLOW_START_LIMIT: f64 = 2.0;

/// A stage of congestion avoidance.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    /// t = 0; moves along with time that does not count.
    start: Time,
    /// Seconds until W_cubic is at `origin`.
    k: f64,
    /// W_max of this stage, segments.
    origin: f64,
    /// The Reno-friendly window, segments.
    w_est: f64,
}

/// The cubic function and what it stands on; windows in segments.
#[derive(Debug, Clone)]
struct State {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    hystart: Option<HyStart>,
    w_max: f64,
    /// cwnd before the last reduction.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// W_max, `cwnd_prior` and epoch before the last reduction (RFC 9438, section 4.9.2).
    saved: (f64, f64, Option<Epoch>),
    after_timeout: bool,
    /// When time was last counted, or let pass.
    seen: Time,
}

/// The cubic function of time.
#[derive(Debug, Clone)]
pub struct Cubic(Box<State>);

impl Member for Cubic {
    const INFO: Info = Info {
        name: "cubic",
        summary: "opens as a cubic function of the time since the last loss, whatever the round-trip time",
        formula: "W(t) = C·(t − K)³ + W_max, K = ∛((W_max − cwnd)/C); at least Reno's; C = 0.4, β = 0.7",
        source: "RFC 9438; HyStart++: RFC 9406",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let state = State {
            c: args.number("c", 0.4, 1e-3..=100.0)?,
            beta: args.number("beta", 0.7, 0.1..=0.99)?,
            fast_convergence: args.flag("fast_convergence", true)?,
            hystart: args.flag("hystart", true)?.then(HyStart::default),
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
            saved: (0.0, 0.0, None),
            after_timeout: false,
            seen: Time::ZERO,
        };
        Ok(Self(Box::new(state)))
    }
}

impl Cubic {
    /// What a reduction is taken to keep.
    pub fn beta(&self) -> f64 {
        self.0.beta
    }
}

impl Epoch {
    fn w_cubic(&self, c: f64, t: f64) -> f64 {
        let d = t - self.k;
        c * d * d * d + self.origin
    }
}

impl State {
    fn slow_start(&mut self, ack: &Ack, w: &mut Window) {
        self.epoch = None;
        let (limit, divisor) = match &mut self.hystart {
            Some(hystart) => match hystart.on_ack(ack) {
                Some(divisor) => (hystart::LIMIT, divisor),
                None => {
                    w.ssthresh = w.cwnd;
                    self.hystart = None;
                    self.cwnd_prior = w.cwnd / w.mss;
                    return;
                }
            },
            None => (if self.after_timeout { 1.0 } else { SLOW_START_LIMIT }, 1.0),
        };
        w.cwnd += (ack.newly_acked as f64).min(limit * w.mss) / divisor;
    }

    /// The stage that begins with a window of `cwnd` segments.
    fn begin(&self, now: Time, cwnd: f64) -> Epoch {
        let origin = self.w_max.max(cwnd); // at or above W_max, and where there is none: K = 0
        Epoch { start: now, k: libm::cbrt((origin - cwnd) / self.c), origin, w_est: cwnd }
    }

    fn avoid(&mut self, ack: &Ack, w: &mut Window) {
        self.after_timeout = false;
        let cwnd = w.cwnd / w.mss;
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(ack.now, cwnd));
        // More than a window at once tells no more than a window.
        let share = (ack.newly_acked as f64 / w.cwnd).min(1.0);
        let alpha =
            if epoch.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) };
        epoch.w_est += alpha * share;
        let t = ack.now.saturating_sub(epoch.start).seconds();
        let grown = if epoch.w_cubic(self.c, t) < epoch.w_est {
            epoch.w_est
        } else {
            let rtt = w.srtt.unwrap_or(Span::ZERO).seconds();
            let target = epoch.w_cubic(self.c, t + rtt).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) * share
        };
        w.cwnd = w.cwnd.max(grown * w.mss);
        self.epoch = Some(epoch);
    }

    fn reduced(&mut self, loss: &Loss, before: f64) {
        self.cwnd_prior = before;
        self.epoch = None;
        self.w_max = match loss.kind {
            LossKind::Timeout => 0.0,
            _ if self.fast_convergence && before < self.w_max => before * (1.0 + self.beta) / 2.0,
            _ => before,
        };
    }
}

impl Growth for Cubic {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let state = &mut *self.0;
        if w.in_slow_start() {
            state.slow_start(ack, w)
        } else {
            state.avoid(ack, w)
        }
        state.seen = ack.now;
    }

    fn on_loss(&mut self, loss: &Loss, before: f64, w: &mut Window) {
        let state = &mut *self.0;
        state.saved = (state.w_max, state.cwnd_prior, state.epoch);
        state.hystart = None;
        state.after_timeout = loss.kind == LossKind::Timeout;
        let spared = w.ssthresh >= w.flight as f64 && w.flight as f64 > 2.0 * w.mss;
        if !spared {
            state.reduced(loss, before / w.mss);
        } else if w.cwnd + w.mss < before {
            state.epoch = None; // the window was not in use: it opens again from what was
        }
    }

    fn on_undo(&mut self, _: Time, _: &mut Window) {
        (self.0.w_max, self.0.cwnd_prior, self.0.epoch) = self.0.saved;
        self.0.after_timeout = false;
    }

    fn on_unused(&mut self, ack: &Ack) {
        let state = &mut *self.0;
        if let Some(epoch) = &mut state.epoch {
            epoch.start += ack.now.saturating_sub(state.seen);
        }
        state.seen = ack.now;
    }

    fn listens(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::{Seq, Spec};

    const SECOND: Span = Span::s(1);
    const LOSS: Loss = Loss { now: Time::ZERO, kind: LossKind::DupAcks, seq: Seq::FIRST };

    fn rule() -> Cubic {
        Cubic::build(&mut Args::new(&Spec::named("cubic"))).unwrap()
    }

    /// One round of ACKs of full segments that ends at `now`.
    fn round(growth: &mut Cubic, now: Time, w: &mut Window) {
        let segments = (w.cwnd / w.mss) as u64;
        for _ in 0..segments {
            growth.on_ack(&Ack::of_bytes(now, 1000), w);
        }
    }

    /// Rounds of 100 ms from a loss at `before` segments on; cwnd after each.
    fn after_loss(growth: &mut Cubic, before: f64, rounds: u64) -> Vec<f64> {
        let mut w = window(before, 2.0);
        (w.ssthresh, w.cwnd) = (0.7 * w.cwnd, 0.7 * w.cwnd);
        growth.on_loss(&LOSS, before * w.mss, &mut w);
        let mut cwnds = Vec::new();
        for k in 0..rounds {
            round(growth, Time::at(k * SECOND / 10), &mut w);
            cwnds.push(w.cwnd / w.mss);
        }
        cwnds
    }

    #[test]
    fn the_window_follows_the_cubic_function_of_time() {
        let cwnds = after_loss(&mut rule(), 1000.0, 150);
        let k = libm::cbrt(300.0 / 0.4); // 9.09 s until the window is back at 1000 segments
        for round in [20, 50, 90, 120, 149] {
            let t = round as f64 / 10.0;
            let wanted = 0.4 * (t - k) * (t - k) * (t - k) + 1000.0;
            assert!((cwnds[round] / wanted - 1.0).abs() < 0.01, "{t} s: {} {wanted}", cwnds[round]);
        }
        assert!((cwnds[91] - 1000.0).abs() < 1.0, "the plateau: {}", cwnds[91]);
    }

    #[test]
    fn a_small_window_grows_as_reno_would() {
        // Over 100 ms a cubic function from 14 to 20 segments takes 2.5 s; Reno's equal adds 0.53 segments a round.
        let cwnds = after_loss(&mut rule(), 20.0, 12);
        let alpha = 3.0 * 0.3 / 1.7;
        assert!((cwnds[8] - cwnds[3] - 5.0 * alpha).abs() < 0.15, "{cwnds:?}");
        let cwnds = after_loss(&mut rule(), 4.0, 14);
        assert!(
            (cwnds[12] - cwnds[8] - 4.0).abs() < 0.6,
            "from where it was on a segment a round: {cwnds:?}"
        );
    }

    #[test]
    fn a_loss_below_the_last_maximum_gives_way() {
        let mut growth = rule();
        after_loss(&mut growth, 100.0, 1);
        assert_eq!(growth.0.w_max, 100.0);
        after_loss(&mut growth, 80.0, 1);
        assert_eq!(growth.0.w_max, 80.0 * 1.7 / 2.0);
        growth.0.fast_convergence = false;
        after_loss(&mut growth, 60.0, 1);
        assert_eq!(growth.0.w_max, 60.0);
    }

    #[test]
    fn a_timeout_starts_the_function_at_its_plateau() {
        let mut growth = rule();
        let mut w = window(100.0, 2.0);
        (w.ssthresh, w.cwnd) = (70_000.0, w.mss);
        growth.on_loss(&Loss { kind: LossKind::Timeout, ..LOSS }, 100_000.0, &mut w);
        (1..200).for_each(|_| growth.on_ack(&Ack::of_bytes(Time::s(1), 1000), &mut w));
        let epoch = growth.0.epoch.unwrap();
        assert_eq!((epoch.k, epoch.origin), (0.0, 70.0));
    }

    #[test]
    fn noise_that_does_not_shrink_the_window_does_not_shrink_its_maximum() {
        let mut growth = rule();
        after_loss(&mut growth, 100.0, 5);
        let (w_max, start) = (growth.0.w_max, growth.0.epoch.unwrap().start);
        let mut w = window(90.0, 90.0);
        growth.on_loss(&LOSS, 90_400.0, &mut w);
        assert_eq!((growth.0.w_max, growth.0.epoch.unwrap().start), (w_max, start));
    }

    #[test]
    fn time_without_use_of_the_window_does_not_count() {
        let mut growth = rule();
        after_loss(&mut growth, 100.0, 2);
        growth.on_unused(&Ack::of_bytes(Time::s(60), 1000));
        assert_eq!(growth.0.epoch.unwrap().start, Time::at(60 * SECOND - SECOND / 10));
    }
}
