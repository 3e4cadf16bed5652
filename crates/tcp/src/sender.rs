//! A sender: the composition of recovery, growth, response and timer into one end of a connection. Sans-IO.
//!
//! Its driver calls [`Sender::open`], [`Sender::write`] and [`Sender::close`] for the application, hands it arriving
//! segments ([`Sender::on_segment`]) and expired timers ([`Sender::on_timer`]), and after each call asks
//! [`Sender::poll_transmit`] until it says `None`, and for its timers [`Sender::deadline`] and [`Sender::release`].
//! Not for: moving data in the other direction; its peer is a [`crate::Receiver`].

mod ack_rate;
mod books;
mod observers;
mod transfer;
mod transmit;

pub use books::{ByDuplicates, Counts, Judged, LossRecord, Round};
pub use observers::Observers;
use transfer::NOTHING_TIMED;
pub use transfer::Transfer;
pub use transmit::MIN_SEGMENT;

use crate::growth::{AnyGrowth, Growth};
use crate::outstanding::Outstanding;
use crate::pace::AnyPacing;
use crate::preset::Preset;
use crate::recovery::{AnyRecovery, Recovery};
use crate::response::{AnyResponse, LossResponse};
use crate::rtt::Rtt;
use crate::segment::{Segment, flags};
use crate::stack::{ReduceFrom, RtoSamples};
use crate::start::{AnyStart, Burst, Opening, Start, quick_start};
use crate::{Ack, Air, Cause, Loss, LossKind, Nanos, PathTruth, Profile, SpecError, Stack, Time, Window};
use ack_rate::AckRate;
use books::{Rounds, Truth};
use std::collections::VecDeque;

/// RTO after a lost SYN (RFC 6298, rule 5.7).
const RTO_AFTER_LOST_SYN: Nanos = 3_000_000_000;

/// The parts a sender is made of.
#[derive(Debug, Clone)]
pub struct Parts {
    /// How losses are noticed and repaired.
    pub recovery: AnyRecovery,
    /// How the window opens.
    pub growth: AnyGrowth,
    /// What a loss does to the window.
    pub response: AnyResponse,
    /// How the connection starts.
    pub start: AnyStart,
    /// How segments are spaced.
    pub pacing: AnyPacing,
}

impl Parts {
    /// The parts of a preset.
    pub fn of(preset: &Preset) -> Result<Self, SpecError> {
        Self::under(Profile::Rfc, preset)
    }

    /// The parts of a preset in a profile.
    pub fn under(profile: Profile, preset: &Preset) -> Result<Self, SpecError> {
        Ok(Self {
            recovery: AnyRecovery::build(&profile.part(preset.recovery()))?.0,
            growth: AnyGrowth::build(&profile.part(preset.growth()))?.0,
            response: AnyResponse::build(&profile.part(preset.response()))?.0,
            start: AnyStart::build(&preset.start())?.0,
            pacing: AnyPacing::build(&preset.pacing())?.0,
        })
    }

    /// Whether any of them needs the timestamps option.
    pub fn want_timestamps(&self) -> bool {
        self.growth.wants_timestamps() || self.response.wants_timestamps()
    }
}

/// The window that a connection starts with, bytes; never below one segment.
fn initial_window(stack: &Stack) -> f64 {
    (stack.initial_window.bytes(stack.mss) as f64).max(f64::from(stack.mss))
}

/// A time or a number of bytes as a real number. Below 2^63, as all are, the signed conversion is the same and takes one
/// instruction in place of eight.
#[inline(always)]
fn real(n: u64) -> f64 {
    n as i64 as f64
}

/// Where the connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not opened.
    Closed,
    /// SYN sent or due.
    Opening,
    /// Data may flow.
    Established,
    /// Everything including FIN is acknowledged.
    Finished,
}

/// One end of a connection that sends data.
#[derive(Debug, Clone)]
pub struct Sender {
    stack: Stack,
    state: State,
    t: Transfer,
    recovery: AnyRecovery,
    /// Bytes of a full segment: [`Window::mss`] as a whole number.
    segment_size: u64,
    pacing: AnyPacing,
    /// Whether anything may space segments.
    paced: bool,
    /// A first window that is paced.
    burst: Option<Burst>,
    /// Pacing lets no data out before this.
    release: Time,
    /// Whether it holds something back, maybe.
    held: bool,
    /// One after the last byte the application has written.
    written: u64,
    closed: bool,
    fin_sent: bool,
    /// Something besides data is due: SYN, or the ACK of the peer's FIN.
    control_due: bool,
    syn_sent: Option<Time>,
    syn_lost: bool,
    established: Time,
    /// Written pieces whose birth the application gave: (one after the last byte, when).
    births: VecDeque<(u64, Time)>,
    peer_window: u64,
    /// What duplicates have counted as delivered.
    by_duplicates: ByDuplicates,
    ack_rate: AckRate,
    ts_recent: Time,
    /// End of the segment for which the retransmission timer last went off.
    timed_out: u64,
    last_sent: Time,
    round_end: Option<u64>,
    /// Bytes in flight before the first ACK of the present round.
    round_flight: u64,
    rounds: Rounds,
    last_event: Time,
    last_rtt: Option<Nanos>,
}

impl Sender {
    /// A sender that has not been opened.
    pub fn new(stack: &Stack, parts: Parts) -> Self {
        let mss = f64::from(stack.mss);
        let rwnd = u64::from(stack.advertised_window());
        let ssthresh = stack.initial_ssthresh.map_or(rwnd as f64, |s| s.bytes(stack.mss) as f64);
        let cwnd = initial_window(stack);
        let clock = stack.clock;
        let growth_listens = parts.growth.listens();
        let window = Window {
            mss,
            cwnd,
            ssthresh,
            flight: 0,
            rwnd,
            srtt: None,
            rtt_min: None,
            clock,
            whole: stack.whole_ssthresh,
            truth: None,
        };
        Self {
            state: State::Closed,
            t: Transfer {
                window,
                out: Outstanding::new(1),
                growth_listens,
                response_listens: parts.response.listens(),
                growth: parts.growth,
                response: parts.response,
                start: parts.start,
                starting: true,
                observers: None,
                rtt: Rtt::new(stack),
                deadline: None,
                timed_end: NOTHING_TIMED,
                timed_at: 0,
                reduce_from: stack.reduce_from,
                limited_transmit: stack.limited_transmit,
                ecn: stack.ecn,
                reduced_until: 0,
                echoed_until: 0,
                cwr_due: false,
                truth: Truth::default(),
                counts: Counts::default(),
                last_loss: None,
            },
            recovery: parts.recovery,
            segment_size: u64::from(stack.mss),
            paced: growth_listens || !matches!(parts.pacing, AnyPacing::Unpaced(_)),
            pacing: parts.pacing,
            burst: None,
            release: 0,
            held: false,
            written: 1,
            closed: false,
            fin_sent: false,
            control_due: false,
            syn_sent: None,
            syn_lost: false,
            established: 0,
            births: VecDeque::new(),
            peer_window: rwnd,
            by_duplicates: ByDuplicates::default(),
            ack_rate: AckRate::default(),
            ts_recent: 0,
            timed_out: 0,
            last_sent: 0,
            round_end: None,
            round_flight: 0,
            rounds: Rounds::default(),
            last_event: 0,
            last_rtt: None,
            stack: stack.clone(),
        }
    }

    /// Lets these watch. They change nothing.
    pub fn observe(&mut self, observers: Observers) {
        self.t.observers = Some(Box::new(observers));
    }

    /// Those who watch, if there are any.
    pub fn observers(&self) -> Option<&Observers> {
        self.t.observers.as_deref()
    }

    /// The bandwidth estimate that the loss response goes by, bit/s, if it goes by one.
    pub fn estimate(&self) -> Option<f64> {
        self.t.response.estimate()
    }

    /// The laboratory tells what the path is like. No decision depends on it but an oracle's.
    pub fn note_path(&mut self, truth: PathTruth) {
        self.t.window.truth = Some(truth);
    }

    /// Opens the connection: a SYN is due, or, without handshake, data may flow.
    pub fn open(&mut self, now: Time) {
        if self.state != State::Closed {
            return;
        }
        self.last_event = now;
        if self.stack.handshake {
            self.state = State::Opening;
            self.control_due = true;
        } else {
            self.establish(now, None, None);
        }
    }

    fn establish(&mut self, now: Time, rtt: Option<Nanos>, granted: Option<f64>) {
        self.state = State::Established;
        self.established = now;
        self.last_sent = now; // what a start makes of the window has not been idle yet
        self.t.deadline = None;
        let opening = Opening { now, rtt, queued: self.written - 1, rwnd: self.peer_window, granted };
        self.burst = self.t.start.on_established(&opening, &mut self.t.window);
        self.paced |= self.burst.is_some();
        self.check_finished();
    }

    /// The application writes `bytes`; `born` is when they came into being, where delays count from there.
    pub fn write(&mut self, bytes: u64, born: Option<Time>) {
        if !self.closed {
            self.written = self.written.saturating_add(bytes);
            if let Some(born) = born {
                self.births.push_back((self.written, born));
            }
        }
    }

    /// The application will write no more: FIN follows the last byte.
    pub fn close(&mut self) {
        self.closed = true;
        self.check_finished();
    }

    /// As [`Self::close`], and what has not been sent yet never will be.
    pub fn close_unsent(&mut self) {
        self.written = self.written.min(self.t.out.max());
        self.close();
    }

    fn check_finished(&mut self) {
        let all_sent = self.fin_sent || (!self.stack.handshake && self.written == self.t.out.max());
        if self.state == State::Established && self.closed && all_sent && self.t.out.is_empty() {
            self.state = State::Finished;
        }
    }

    /// The laboratory tells that this transmission was dropped, and why. No decision depends on it but an oracle's.
    pub fn note_drop(&mut self, segment: &Segment, cause: Cause) {
        self.t.truth.note(segment, cause);
    }

    /// A segment has come from the peer.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        self.tick(now);
        self.last_rtt = None;
        if self.state == State::Opening && segment.has(flags::SYN) && segment.has(flags::ACK) {
            self.on_syn_ack(now, segment);
            return;
        }
        if !matches!(self.state, State::Established | State::Finished) || !segment.has(flags::ACK) {
            return;
        }
        if segment.has(flags::FIN | flags::SYN) {
            self.control_due = true;
        }
        if segment.ack > self.t.out.max() {
            return; // acknowledges what was never sent: RFC 9293, section 3.10.7.4
        }
        self.ts_recent = self.ts_recent.max(segment.ts_val);
        self.t.counts.acks += 1;
        let flight = self.t.out.flight();
        if segment.ack > self.t.out.una() {
            self.on_new_ack(now, segment);
        } else if segment.ack == self.t.out.una() {
            self.on_old_ack(now, segment);
        }
        if self.echoes(segment) {
            self.on_ecn_echo(now, flight);
        }
    }

    fn on_syn_ack(&mut self, now: Time, segment: &Segment) {
        self.peer_window = u64::from(segment.window);
        self.ts_recent = segment.ts_val;
        let sent = self.syn_sent.filter(|_| !self.syn_lost);
        let rtt = sent.map(|sent| self.t.rtt.sample_of_handshake(sent, now));
        if rtt.is_none() {
            self.t.rtt.restart(RTO_AFTER_LOST_SYN);
            self.t.window.cwnd = self.t.window.mss; // RFC 5681, section 3.1
        }
        self.read_rtt();
        self.establish(now, rtt, quick_start::granted(segment.request));
        self.control_due = self.written == 1; // with data waiting, that carries the ACK
    }

    #[inline]
    fn on_new_ack(&mut self, now: Time, segment: &Segment) {
        self.t.window.flight = self.recovery.in_flight(&self.t);
        if self.stack.segment_from_acks {
            self.size_segments_by(segment.ack);
        }
        let covered = self.t.out.advance(segment.ack);
        self.t.truth.forget_below(segment.ack);
        self.peer_window = u64::from(segment.window);
        let rtt = self.rtt_sample(now, segment, &covered);
        let delivered = self.by_duplicates.advance(covered.bytes);
        let ack = Ack {
            now,
            ack: segment.ack,
            newly_acked: covered.bytes,
            delivered,
            duplicate: false,
            rtt,
            sent: covered.newest_sent.max(self.newest_reported(segment)),
            highest: self.t.out.max(),
            peer_time: self.stack.timestamps.then_some(segment.ts_val),
        };
        self.hear(&ack);
        self.count_round(segment.ack);
        let advance = self.recovery.on_advance(&ack, &segment.sack, &mut self.t);
        // RFC 3168, section 6.1.2: an ACK that echoes congestion does not open the window.
        let may_grow = self.window_limits() || !self.stack.validate_window;
        if advance.grow && may_grow && !self.echoes(segment) {
            self.t.growth.on_ack(&ack, &mut self.t.window);
        }
        if advance.restart_timer || self.t.out.is_empty() {
            self.t.restart_timer(now);
        }
        self.after_ack(&ack);
        self.note_slow_start_end(now);
        self.check_finished();
    }

    /// All who listen hear of an ACK, before it changes anything.
    #[inline]
    fn hear(&mut self, ack: &Ack) {
        let t = &mut self.t;
        if t.starting {
            t.starting = t.start.on_ack(ack, &mut t.window);
        }
        if t.response_listens {
            t.response.on_ack(ack, &t.window);
        }
        if let Some(observers) = &mut t.observers {
            observers.on_ack(ack, &t.window);
        }
    }

    #[inline]
    fn after_ack(&mut self, ack: &Ack) {
        if self.t.growth_listens {
            self.tell_growth(ack);
        }
    }

    fn tell_growth(&mut self, ack: &Ack) {
        let air = Air {
            in_flight: self.recovery.in_flight(&self.t),
            lost: self.t.out.lost_ever(),
            repairing: self.recovery.repairing(),
            delivered: self.t.out.una() - 1
                + if self.recovery.wants_sack() { self.t.out.sacked() } else { self.by_duplicates.waiting() },
            newest_lost: self.t.out.take_newest_lost(),
            more: self.unsent() > 0,
            last_rtt: match ack.duplicate {
                true => None,
                false => self.t.out.last_covered_once().map(|sent| self.t.rtt.measure(sent, ack.now)),
            },
        };
        self.t.growth.after_ack(ack, &air, &mut self.t.window);
    }

    #[inline]
    fn on_old_ack(&mut self, now: Time, segment: &Segment) {
        let window = u64::from(segment.window);
        let duplicate = !self.t.out.is_empty()
            && segment.len == 0
            && window == self.peer_window
            && !segment.has(flags::SYN | flags::FIN);
        self.peer_window = window;
        if !duplicate {
            return;
        }
        self.t.window.flight = self.recovery.in_flight(&self.t);
        let delivered = self.by_duplicates.another(self.segment_size, self.t.out.flight());
        let ack = Ack {
            now,
            ack: segment.ack,
            newly_acked: 0,
            delivered,
            duplicate: true,
            rtt: None,
            sent: self.newest_reported(segment),
            highest: self.t.out.max(),
            peer_time: self.stack.timestamps.then_some(segment.ts_val),
        };
        self.hear(&ack);
        self.recovery.on_duplicate(&ack, &segment.sack, &mut self.t);
        self.after_ack(&ack);
        self.note_slow_start_end(now);
    }

    /// Of the segments that an ACK's SACK blocks report for the first time, when the newest was sent.
    #[inline]
    fn newest_reported(&self, segment: &Segment) -> Option<Time> {
        if segment.sack.is_empty() {
            return None;
        }
        self.recovery.newest_reported(segment.ack, &segment.sack, &self.t)
    }

    fn echoes(&self, segment: &Segment) -> bool {
        self.stack.ecn && segment.has(flags::ECE)
    }

    /// An ECN echo has come; `flight`: before the ACK that carried it.
    fn on_ecn_echo(&mut self, now: Time, flight: u64) {
        if self.t.out.una() <= self.t.reduced_until || self.recovery.repairing() {
            return;
        }
        self.t.window.flight = match self.stack.reduce_from {
            ReduceFrom::Flight => flight,
            ReduceFrom::Window => self.t.reducible(flight, self.t.window.cwnd),
        };
        self.t.respond(Loss { now, kind: LossKind::EcnEcho, seq: self.t.out.una(), truth: None });
        self.t.echoed_until = self.t.out.max();
    }

    #[inline]
    fn rtt_sample(
        &mut self,
        now: Time,
        segment: &Segment,
        covered: &crate::outstanding::Covered,
    ) -> Option<Nanos> {
        let sent = if self.stack.timestamps {
            Some(segment.ts_ecr).filter(|&t| t != 0)
        } else {
            covered.newest_sent.filter(|_| !covered.resent)
        };
        if segment.ack >= self.t.timed_end {
            self.t.timed_end = NOTHING_TIMED;
            self.t.rtt.time(self.t.timed_at, now);
            self.read_rtt();
        }
        let sent = sent?;
        let rtt = self.t.rtt.measure(sent, now);
        if self.stack.rto_samples == RtoSamples::EveryAck {
            self.t.rtt.sample(rtt);
            self.t.rtt.tick(sent, now);
        } else {
            self.t.rtt.note_min(rtt);
        }
        self.t.counts.rtt_samples += 1;
        self.t.counts.rtt_sum += u128::from(rtt);
        self.read_rtt();
        self.last_rtt = Some(rtt);
        Some(rtt)
    }

    fn read_rtt(&mut self) {
        self.t.window.srtt = self.t.rtt.smoothed();
        self.t.window.rtt_min = self.t.rtt.min();
    }

    /// Whether the congestion window is what keeps the sender from sending more: in slow start it was at least half
    /// used at some time of the round, so that ACKs of parts of it do not count as idleness; later it was full (RFC 7661's
    /// concern; the test is Linux's `tcp_is_cwnd_limited`).
    fn window_limits(&self) -> bool {
        let w = &self.t.window;
        let flight = real(w.flight);
        if w.in_slow_start() {
            2.0 * flight.max(real(self.round_flight)) >= w.cwnd
        } else {
            flight + w.mss > w.cwnd
        }
    }

    /// A round ends when what was outstanding at its first ACK is acknowledged.
    #[inline]
    fn count_round(&mut self, ack: u64) {
        let end = match self.round_end {
            Some(end) => end,
            None => {
                self.rounds.begin(Round { acks: self.t.counts.acks - 1, ..self.so_far() });
                self.round_flight = self.t.window.flight;
                *self.round_end.insert(self.t.out.nxt())
            }
        };
        if ack >= end {
            self.t.counts.rounds += 1;
            self.round_end = None;
        }
    }

    fn so_far(&self) -> Round {
        Round { segments: self.t.counts.segments, acks: self.t.counts.acks }
    }

    /// The first rounds, one by one: a round is what is outstanding when its first ACK comes, and the ACKs from that
    /// one until all of it is acknowledged.
    pub fn rounds(&self) -> Vec<Round> {
        self.rounds.list(self.so_far())
    }

    fn note_slow_start_end(&mut self, now: Time) {
        if self.t.counts.slow_start_end.is_none() && !self.t.window.in_slow_start() {
            self.t.counts.slow_start_end = Some((now - self.established, self.t.counts.rounds + 1));
        }
    }

    /// The time asked for by [`Self::deadline`] has come.
    pub fn on_timer(&mut self, now: Time) {
        if self.t.deadline.is_none_or(|d| now < d) {
            return;
        }
        self.tick(now);
        self.t.counts.timeouts += 1;
        if self.state == State::Opening {
            self.syn_lost = true;
            self.control_due = true;
            self.t.deadline = None;
            self.t.rtt.back_off();
            return;
        }
        // RFC 5681, section 3.1: a segment that timed out again keeps ssthresh as its first timeout left it.
        if self.t.out.una() < self.timed_out && !self.stack.repeated_reduction {
            self.t.window.cwnd = self.t.window.mss;
            self.t.timed_end = NOTHING_TIMED;
        } else {
            let mut flight = self.t.out.flight();
            if self.recovery.repairing() {
                // Each duplicate ACK has let a segment out because another had arrived. What recovery counts on to be
                // in the network is ssthresh, however far its inflated window has run ahead of the hole; half of the
                // flight is the most that RFC 5681, section 3.1, allows.
                flight = flight.min(self.t.window.ssthresh as u64);
            }
            let cwnd = self.recovery.deflated(&self.t);
            self.t.lose_of(flight, cwnd, now, LossKind::Timeout, self.t.out.una());
            self.timed_out = self.t.out.get(0).map_or(0, |first| first.end);
        }
        self.recovery.on_timeout(now, &mut self.t);
        self.t.rtt.back_off();
        self.t.restart_timer(now);
        self.round_end = None;
        self.note_slow_start_end(now);
    }

    /// When to call [`Self::on_timer`].
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.t.deadline
    }

    fn tick(&mut self, now: Time) {
        // A segment that comes late, a FIN repeated, does not prolong a connection that has ended.
        if self.state != State::Finished {
            self.t.counts.cwnd_time += self.t.window.cwnd * real(now - self.last_event);
        }
        self.last_event = now;
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// When data could first flow.
    pub fn established(&self) -> Time {
        self.established
    }

    /// The window.
    pub fn window(&self) -> &Window {
        &self.t.window
    }

    /// The segments in the air.
    pub fn outstanding(&self) -> &Outstanding {
        &self.t.out
    }

    /// Whether a loss is being repaired.
    pub fn repairing(&self) -> bool {
        self.recovery.repairing()
    }

    /// Bytes that count against the congestion window.
    pub fn in_flight(&self) -> u64 {
        self.recovery.in_flight(&self.t)
    }

    /// Whether its recovery needs SACK blocks from the receiver.
    pub fn wants_sack(&self) -> bool {
        self.recovery.wants_sack()
    }

    /// Bytes written and not yet sent.
    pub fn unsent(&self) -> u64 {
        self.written - self.t.out.max().min(self.written)
    }

    /// ∫ cwnd dt since the last event, byte·ns: what [`Counts::cwnd_time`] does not hold yet.
    pub fn cwnd_time_since(&self, now: Time) -> f64 {
        self.t.window.cwnd * now.saturating_sub(self.last_event) as f64
    }

    /// The RTT sample that the last segment brought, if it brought one.
    pub fn last_rtt(&self) -> Option<Nanos> {
        self.last_rtt
    }

    /// What it has counted.
    pub fn counts(&self) -> &Counts {
        &self.t.counts
    }

    /// Round-trip times.
    pub fn rtt(&self) -> &Rtt {
        &self.t.rtt
    }

    /// The loss event that the last call brought, if it brought one.
    pub fn take_loss(&mut self) -> Option<LossRecord> {
        self.t.last_loss.take()
    }
}
