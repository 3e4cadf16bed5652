//! Vegas: the window follows the number of own segments that wait in queues.
//!
//! Once a round, with RTT the mean of the round's samples, diff = expected − actual, in segments: expected is what is in
//! transit at the round's end, the segment that the ACK at hand lets out included, and actual is what was sent in the round,
//! times RTTmin/RTT. diff < α → cwnd + MSS²/cwnd per ACK of the next round, diff > β → cwnd − 1 MSS, not below 2. A round in
//! which the window never limited the sender says nothing. Slow start doubles the window every other round, the first one
//! included; after each round in between, in which the window stood still, diff > γ ends it: cwnd falls by an eighth. An ACK
//! that ends a round opens the window as the next one has it. α = 1, β = 3, γ = 1. A round goes on while a loss is repaired,
//! but what is measured then does not count. RTTmin is over data segments: that of a SYN, which is shorter, would pass for a
//! queue of up to a segment.
//!
//! With `backlog` = "window" diff = cwnd·(1 − RTTmin/RTT), as in Linux (`tcp_vegas_cong_avoid`), which is another where an ACK
//! covers much of the window or comes late; and an ACK that ends a round opens the window as that round has it.
//!
//! A round of at most `few` samples (none, unless asked for) is not judged: they may be of delayed ACKs, whose wait would
//! pass for a queue. In congestion avoidance the window then opens by a segment, as Reno's, whether or not it has limited the
//! sender. Linux has done so from its first Vegas on (2.6.9, `vegas_cong_avoid` in tcp_input.c), where there was one ACK or
//! none in the round: it takes the last sample twice, and wants three. With a `tick` round-trip times are in whole ticks, and
//! one more: that Linux counted in milliseconds, so that what waits for less is no queue to it. Source: Brakmo and Peterson 1995, section 3; the mean,
//! the step per ACK, the eighth, the lower bound and the segment let out as in ns-2.

use super::Growth;
use crate::round::Round;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Air, Loss, LossKind, Seq, Span, Window};

/// Growth by the backlog.
#[derive(Debug, Clone)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// Whether the backlog is taken from the window.
    by_window: bool,
    /// What a sample is counted in; none: as it is.
    tick: Span,
    /// Of so many samples or fewer a round opens the window unjudged.
    few: u64,
    round: Round,
    /// One after the last byte in transit when the round began.
    begun: Option<Seq>,
    /// RTTmin.
    base: Span,
    /// RTT samples of the round: their sum, and number.
    sum: Span,
    samples: u32,
    /// Whether the window has limited the sender in this round.
    limited: bool,
    /// Whether the ACK at hand may open the window.
    due: bool,
    /// Whether slow start doubles the window in this round.
    doubling: bool,
    /// Whether congestion avoidance opens it by one segment in this round.
    opening: bool,
}

impl Member for Vegas {
    const INFO: Info = Info {
        name: "vegas",
        summary: "keeps a few own segments waiting in queues: opens below α, closes above β",
        formula: "once a round: diff = in transit − sent·RTTmin/RTT; diff < α: +1 MSS over the next; diff > β: −1 MSS; slow start doubles every other round until diff > γ",
        source: "Brakmo and Peterson 1995, section 3",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let alpha = args.number("alpha", 1.0, 0.0..=1e6)?;
        let beta = args.number("beta", 3.0, 0.0..=1e6)?;
        if alpha > beta {
            return Err(args.bad("alpha", &alpha, &format!("at most beta, which is {beta}")));
        }
        let gamma = args.number("gamma", 1.0, 0.0..=1e6)?;
        let by_window = args.choice("backlog", &["transit", "window"])? == "window";
        let few = args.count("few", 0, 0..=1000)?;
        let tick = args.time("tick", Span::ZERO, Span::ZERO..=Span::s(1))?;
        let (round, base) = (Round::default(), Span::MAX);
        Ok(Self {
            alpha,
            beta,
            gamma,
            by_window,
            tick,
            few,
            round,
            begun: None,
            base,
            sum: Span::ZERO,
            samples: 0,
            limited: false,
            due: false,
            doubling: true,
            opening: false,
        })
    }
}

impl Vegas {
    /// Own segments in queues during the round that ends; none if no sample tells.
    /// `flight`, `sent`: bytes in flight at its end, and sent in it.
    fn backlog(&self, flight: u64, sent: u64, w: &Window) -> Option<f64> {
        if self.sum.is_zero() {
            return None;
        }
        let rtt = self.sum.as_f64() / f64::from(self.samples);
        let (expected, sent) = match self.by_window {
            true => (w.cwnd, w.cwnd),
            false => (flight as f64 + w.mss, sent as f64),
        };
        Some((expected - sent * self.base.as_f64() / rtt) / w.mss)
    }

    fn begin(&mut self) {
        (self.sum, self.samples, self.limited) = (Span::ZERO, 0, false);
    }

    fn slow_start(&mut self, diff: f64, w: &mut Window) {
        if self.doubling {
            self.doubling = false; // and the next round is measured
        } else if diff > self.gamma {
            w.cwnd = (w.cwnd * 0.875).max(2.0 * w.mss);
            w.ssthresh = w.ssthresh.min(w.cwnd);
        } else {
            self.doubling = true;
        }
    }

    fn avoid_congestion(&mut self, diff: f64, w: &mut Window) {
        self.doubling = true;
        self.opening = diff < self.alpha;
        if diff > self.beta {
            w.cwnd = (w.cwnd - w.mss).max(2.0 * w.mss).min(w.cwnd);
            w.ssthresh = w.ssthresh.min(w.cwnd); // no slow start follows from a step down
        }
    }
}

impl Growth for Vegas {
    fn on_ack(&mut self, _: &Ack, w: &mut Window) {
        self.limited = true;
        match self.by_window {
            true => self.open(w),
            false => self.due = true,
        }
    }

    fn on_loss(&mut self, loss: &Loss, _: f64, _: &mut Window) {
        (self.doubling, self.opening) = (true, false);
        if loss.kind == LossKind::Timeout {
            (self.round, self.begun) = (Round::default(), None);
            self.begin();
        }
    }

    fn after_ack(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        let due = std::mem::take(&mut self.due);
        if air.repairing {
            return; // the round goes on, and ends with the repair if not later
        }
        self.end_round(ack, air, w);
        if due {
            self.open(w);
        }
    }
}

impl Vegas {
    /// A sample in ticks.
    fn counted(&self, rtt: Span) -> Span {
        if self.tick.is_zero() { rtt } else { (rtt.ticks(self.tick) + 1) * self.tick }
    }

    fn open(&self, w: &mut Window) {
        if !w.in_slow_start() {
            w.cwnd += if self.opening { w.mss * w.mss / w.cwnd } else { 0.0 };
        } else if self.doubling {
            w.cwnd += w.mss;
        }
    }

    /// Takes the ACK's sample, and decides if it ends a round.
    fn end_round(&mut self, ack: &Ack, air: &Air, w: &mut Window) {
        if let Some(rtt) = ack.rtt.map(|rtt| self.counted(rtt)) {
            self.base = self.base.min(rtt);
            self.sum = self.sum.saturating_add(rtt);
            self.samples += 1;
        }
        let end = ack.ack + air.in_flight;
        let sent = end.saturating_sub(*self.begun.get_or_insert(end));
        if !self.round.over(ack) {
            return;
        }
        self.begun = Some(end);
        self.opening = false;
        if self.few > 0 && u64::from(self.samples) <= self.few {
            w.cwnd += if w.in_slow_start() { 0.0 } else { w.mss };
        } else if self.limited
            && let Some(diff) = self.backlog(air.in_flight, sent, w)
        {
            if w.in_slow_start() { self.slow_start(diff, w) } else { self.avoid_congestion(diff, w) }
        }
        self.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use super::*;
    use crate::{Spec, Time};
    const MS: u64 = 1_000_000;

    fn rule() -> Vegas {
        Vegas::build(&mut Args::new(&Spec::named("vegas"))).unwrap()
    }

    /// A connection in small: each round acknowledges the window, one segment an ACK, at one RTT.
    struct Rounds {
        growth: Vegas,
        w: Window,
        acked: u64,
        highest: u64,
        /// What was outstanding when the round began.
        end: u64,
    }

    impl Rounds {
        /// The first ACK begins the first round.
        fn new(w: Window) -> Self {
            let highest = (w.cwnd / w.mss) as u64;
            Self { growth: Vegas { base: Span::ms(100), ..rule() }, w, acked: 0, highest, end: highest }
        }

        fn ack(&mut self, rtt: u64, limited: bool) {
            self.acked += 1;
            let (ack, highest) = (Seq::at(1000 * self.acked), Seq::at(1000 * self.highest));
            let ack = Ack { ack, highest, rtt: Some(Span::ns(rtt)), ..Ack::of_bytes(Time::ZERO, 1000) };
            if limited {
                self.growth.on_ack(&ack, &mut self.w);
            }
            let air = Air { in_flight: highest - ack.ack, ..Air::default() };
            self.growth.after_ack(&ack, &air, &mut self.w);
            if self.acked > self.end {
                self.end = self.highest;
            }
            self.highest = self.highest.max(self.acked + (self.w.cwnd / self.w.mss) as u64);
        }

        /// A round of ACKs, of which the last one ends it; the window then, in segments.
        fn round(&mut self, rtt: u64) -> f64 {
            let end = self.end;
            while self.acked <= end {
                self.ack(rtt, true);
            }
            self.w.cwnd / self.w.mss
        }
    }

    #[test]
    fn congestion_avoidance_holds_the_backlog_between_alpha_and_beta() {
        // Ten segments, RTTmin 100 ms: backlogs of 10·(1 − 100/RTT).
        for (rtt, expected) in [(100, 10.1), (110, 10.1), (112, 10.0), (140, 10.0), (143, 9.0), (400, 9.0)] {
            let mut rounds = Rounds::new(window(10.0, 5.0));
            rounds.round(rtt * MS); // with the ACK that begins the next
            assert_eq!(rounds.w.cwnd, expected * 1000.0, "{rtt} ms");
        }
    }

    #[test]
    fn one_decision_is_taken_a_round_from_the_mean_of_its_samples() {
        let mut rounds = Rounds::new(window(10.0, 5.0));
        // Ten segments are outstanding at the first ACK; the eleventh goes out with it, and its ACK ends the round. The
        // mean of the eleven samples is 108 ms, a backlog of 0.74; the last of them alone would show 4.7.
        (0..10).for_each(|_| rounds.ack(100 * MS, true));
        assert_eq!(rounds.w.cwnd, 10_000.0);
        rounds.ack(188 * MS, true);
        assert_eq!(rounds.w.cwnd, 10_100.0);
    }

    #[test]
    fn a_round_in_which_the_window_was_not_used_decides_nothing_and_one_use_is_enough() {
        for (used, expected) in [(false, 10.0), (true, 10.1)] {
            let mut rounds = Rounds::new(window(10.0, 5.0));
            (0..11).for_each(|k| rounds.ack(100 * MS, used && k == 4));
            rounds.ack(100 * MS, true);
            assert_eq!(rounds.w.cwnd / 1000.0, expected);
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round() {
        let mut rounds = Rounds::new(window(2.0, 100.0));
        // The ACK that ends a round is one of the next, and opens the window if that one doubles.
        let windows: Vec<f64> = (0..6).map(|_| rounds.round(100 * MS)).collect();
        assert_eq!(windows, [4.0, 5.0, 8.0, 9.0, 16.0, 17.0]);
    }

    #[test]
    fn slow_start_ends_where_more_than_gamma_waits_and_does_not_come_back_with_a_step_down() {
        let mut rounds = Rounds::new(window(2.0, 100.0));
        rounds.round(100 * MS);
        rounds.round(100 * MS);
        assert_eq!(rounds.round(150 * MS), 8.0, "no check in a round that doubles");
        assert_eq!(rounds.round(116 * MS), 7.0, "8·(1 − 100/116) = 1.10");
        assert_eq!(rounds.w.ssthresh, rounds.w.cwnd);
        assert_eq!(rounds.round(200 * MS), 6.0);
        assert!(!rounds.w.in_slow_start());
    }

    #[test]
    fn a_small_window_behind_delayed_acks_does_not_stick() {
        // Two segments go out together and one ACK covers both, which comes 80 ms late in all rounds but the first, by a receiver's
        // timer. Nothing waits in a queue: what is in transit then says so, and cwnd does not.
        let opened = |backlog: &str| {
            let spec = Spec::named("vegas").with("backlog", crate::Arg::Name(backlog.to_owned()));
            let (mut growth, mut w) = (Vegas::build(&mut Args::new(&spec)).unwrap(), window(2.0, 2.0));
            for round in 1..=20 {
                let rtt = Some(Span::ms(if round > 1 { 140 } else { 60 }));
                let ack = Ack {
                    ack: Seq::at(1 + 2000 * round),
                    highest: Seq::at(1 + 2000 * round),
                    rtt,
                    ..Ack::of_bytes(Time::ZERO, 2000)
                };
                growth.on_ack(&ack, &mut w);
                growth.after_ack(&ack, &Air::default(), &mut w);
            }
            w.cwnd > 4000.0
        };
        assert_eq!((opened("transit"), opened("window")), (true, false));
    }

    #[test]
    fn rounds_of_few_samples_open_the_window_unjudged() {
        // ACKs each 40 ms late: who judges by them takes that for a queue.
        let after = |few: f64, acks: u64| {
            let spec = Spec::named("vegas").with("backlog", crate::Arg::Name("window".to_owned()));
            let spec = spec.with("few", crate::Arg::Number(few));
            let (mut growth, mut w) = (Vegas::build(&mut Args::new(&spec)).unwrap(), window(20.0, 2.0));
            growth.base = Span::ms(60);
            for ack in 1..=10 * acks {
                let (acked, highest) = (20_000 * ack / acks, 20_000 * (ack + acks - 1) / acks);
                let ack = Ack {
                    ack: Seq::at(1 + acked),
                    highest: Seq::at(1 + highest),
                    rtt: Some(Span::ms(100)),
                    ..Ack::of_bytes(Time::ZERO, 20_000 / acks)
                };
                growth.on_ack(&ack, &mut w);
                growth.after_ack(&ack, &Air { in_flight: highest - acked, ..Air::default() }, &mut w);
            }
            w.cwnd / 1000.0
        };
        let windows = [(0.0, 1), (1.0, 1), (1.0, 2), (2.0, 2), (2.0, 4)].map(|(few, acks)| after(few, acks));
        assert_eq!(windows.map(|w| w > 20.0), [false, true, false, true, false], "{windows:?}");
    }

    #[test]
    fn what_waits_for_less_than_a_tick_is_no_queue() {
        let after = |tick: Span| {
            let growth = Vegas { tick, ..rule() };
            let mut rounds = Rounds { growth, ..Rounds::new(window(10.0, 5.0)) };
            for k in 0..5 {
                rounds.round((100 + 30 * k) * MS);
            }
            rounds.w.cwnd / 1000.0
        };
        assert!(after(Span::ZERO) < 9.0, "{}", after(Span::ZERO));
        assert!(after(Span::ms(500)) > 11.0, "{}", after(Span::ms(500)));
    }

    #[test]
    fn a_round_goes_on_through_a_repair_whose_samples_do_not_count() {
        let mut rounds = Rounds::new(window(10.0, 5.0));
        (0..6).for_each(|_| rounds.ack(100 * MS, true));
        let repairing = Air { repairing: true, ..Air::default() };
        let late = Ack { rtt: Some(Span::ms(900)), ..Ack::of_bytes(Time::ZERO, 0) };
        rounds.growth.after_ack(&late, &repairing, &mut rounds.w);
        let opened = rounds.round(100 * MS) - 10.0;
        assert!(
            (opened - 0.1).abs() < 1e-9,
            "the round ends with what was outstanding when it began: {opened}"
        );
        let opened = rounds.round(100 * MS) - 10.0;
        assert!(opened > 0.9 && opened < 1.2, "and 900 ms have not passed for a queue: {opened}");
    }

    #[test]
    fn a_timeout_begins_with_a_round_that_doubles() {
        let mut rounds = Rounds::new(window(2.0, 100.0));
        rounds.round(100 * MS);
        let loss = Loss { now: Time::ZERO, kind: LossKind::Timeout, seq: Seq::ZERO };
        rounds.growth.on_loss(&loss, 5000.0, &mut rounds.w);
        rounds.w.cwnd = 1000.0;
        rounds.ack(100 * MS, true);
        assert_eq!(rounds.w.cwnd, 2000.0);
    }
}
