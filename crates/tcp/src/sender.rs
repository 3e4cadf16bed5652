//! A sender: the composition of recovery, growth, response and timer into one end of a connection. Sans-IO.
//!
//! Its driver calls [`Sender::open`], [`Sender::write`] and [`Sender::close`] for the application, hands it arriving
//! segments ([`Sender::on_segment`]) and expired timers ([`Sender::on_timer`]), and after each call asks
//! [`Sender::poll_transmit`] until it says `None`, and for its timers [`Sender::deadline`] and [`Sender::release`]. With
//! each call goes a [`Witness`], who hears what happens: [`crate::Books`] where somebody wants to know, `()` where not.
//! Not for: moving data in the other direction; its peer is a [`crate::Receiver`].

mod ack_rate;
mod by_duplicates;
mod transfer;
mod transmit;

pub use by_duplicates::ByDuplicates;
use transfer::NOTHING_TIMED;
pub use transfer::Transfer;
pub use transmit::MIN_SEGMENT;

use crate::controller::{AnyController, Controller};
use crate::growth::AnyGrowth;
use crate::outstanding::Outstanding;
use crate::pace::AnyPacing;
use crate::preset::Preset;
use crate::recovery::{Advance, AnyRecovery, Recovery, Reported};
use crate::response::AnyResponse;
use crate::rtt::Rtt;
use crate::segment::{Segment, flags};
use crate::stack::{ReduceFrom, RtoSamples};
use crate::start::{AnyStart, Burst, Opening, Start, quick_start};
use crate::{
    Ack, Air, Loss, LossKind, Nanos, PathTruth, Profile, Report, SpecError, Stack, Time, Truth, Window,
    Witness,
};
use ack_rate::AckRate;
use std::sync::Arc;

/// RTO after a lost SYN (RFC 6298, rule 5.7).
const RTO_AFTER_LOST_SYN: Nanos = 3_000_000_000;

/// The parts a sender is made of.
#[derive(Debug, Clone)]
pub struct Parts {
    /// How losses are noticed and repaired.
    pub recovery: AnyRecovery,
    /// What sets the window and the pace.
    pub controller: AnyController,
    /// How the connection starts.
    pub start: AnyStart,
}

impl Parts {
    /// The parts of a preset.
    pub fn of(preset: &Preset) -> Result<Self, SpecError> {
        Self::under(Profile::Rfc, preset)
    }

    /// The parts of a preset in a profile.
    pub fn under(profile: Profile, preset: &Preset) -> Result<Self, SpecError> {
        let growth = AnyGrowth::build(&profile.part(preset.growth()))?.0;
        let response = AnyResponse::build(&profile.part(preset.response()))?.0;
        let pacing = AnyPacing::build(&preset.pacing())?.0;
        Ok(Self {
            recovery: AnyRecovery::build(&profile.part(preset.recovery()))?.0,
            controller: AnyController::of_parts(growth, response, pacing),
            start: AnyStart::build(&preset.start())?.0,
        })
    }

    /// Whether any of them needs the timestamps option.
    pub fn want_timestamps(&self) -> bool {
        self.controller.wants_timestamps()
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
    /// Waits for the peer to open.
    Listening,
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
    stack: Arc<Stack>,
    state: State,
    t: Transfer,
    recovery: AnyRecovery,
    /// Whether the stack and the parts ask for nothing out of the ordinary at any segment, and whether nothing is out of the
    /// ordinary now: then nearly all that a segment might ask for need not be looked at. What is done is the same; code that
    /// is written once is compiled twice, `PLAIN` or not.
    simple: bool,
    plain: bool,
    /// Bytes of a full segment: [`Window::mss`] as a whole number.
    segment_size: u64,
    /// Whether the recovery counts what is in the air its own way.
    counts_air: bool,
    /// Whether the recovery has a timer of its own, and whether it hears of departures.
    timed: bool,
    departures: bool,
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
    /// The peer's next sequence number, where no receiver of the same endpoint minds it.
    peer_nxt: u64,
    /// Whether one does.
    two_way: bool,
    syn_sent: Option<Time>,
    syn_lost: bool,
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
}

impl Sender {
    /// A sender that has not been opened.
    pub fn new(stack: &Stack, parts: Parts) -> Self {
        Self::sharing(&Arc::new(stack.clone()), parts)
    }

    /// The same, of many that share their stack's settings.
    pub fn sharing(stack: &Arc<Stack>, parts: Parts) -> Self {
        let mss = f64::from(stack.mss);
        let rwnd = u64::from(stack.advertised_window());
        let ssthresh = stack.initial_ssthresh.map_or(rwnd as f64, |s| s.bytes(stack.mss) as f64);
        let cwnd = initial_window(stack);
        let window = Window {
            mss,
            cwnd,
            ssthresh,
            flight: 0,
            rwnd,
            srtt: None,
            rtt_min: None,
            clock: stack.clock,
            whole: stack.whole_ssthresh,
        };
        let t = Transfer::new(stack, parts.controller, parts.start, window);
        Self {
            state: State::Closed,
            paced: t.interest.paces,
            simple: Self::is_simple(stack, &parts.recovery),
            plain: false,
            t,
            counts_air: parts.recovery.counts_air(),
            timed: parts.recovery.has_timer(),
            departures: parts.recovery.hears_departures(),
            recovery: parts.recovery,
            segment_size: u64::from(stack.mss),
            burst: None,
            release: 0,
            held: false,
            written: 1,
            closed: false,
            fin_sent: false,
            control_due: false,
            peer_nxt: 1,
            two_way: false,
            syn_sent: None,
            syn_lost: false,
            peer_window: rwnd,
            by_duplicates: ByDuplicates::default(),
            ack_rate: AckRate::default(),
            ts_recent: 0,
            timed_out: 0,
            last_sent: 0,
            round_end: None,
            round_flight: 0,
            stack: Arc::clone(stack),
        }
    }

    fn is_simple(stack: &Stack, recovery: &AnyRecovery) -> bool {
        !(stack.ecn
            || stack.segment_from_acks
            || stack.ack_rate_request > 0
            || stack.rto_samples != RtoSamples::EveryAck
            || stack.rto_tick > 0
            || stack.send_buffer.is_some()
            || recovery.has_timer()
            || recovery.hears_departures())
    }

    /// Looks anew whether anything is out of the ordinary.
    #[inline]
    fn look_about(&mut self) {
        let quiet = self.simple && !self.t.starting && self.recovery.quiet();
        self.plain = quiet && self.state == State::Established;
    }

    /// The bandwidth estimate that the controller goes by, bit/s, if it goes by one.
    pub fn estimate(&self) -> Option<f64> {
        self.t.controller.estimate()
    }

    /// The laboratory tells what the path is like. No decision depends on it but an oracle's.
    pub fn reveal_path(&mut self, path: PathTruth) {
        self.t.controller.reveal(Truth::Path(path));
    }

    /// Opens the connection: a SYN is due, or, without handshake, data may flow.
    pub fn open(&mut self, now: Time, witness: &mut impl Witness) {
        if self.state != State::Closed {
            return;
        }
        witness.on_open(now);
        if self.stack.handshake {
            self.state = State::Opening;
            self.control_due = true;
        } else {
            self.establish(now, None, None, witness);
        }
    }

    /// Waits for the peer to open the connection; without handshake it is open.
    pub(crate) fn listen(&mut self, now: Time, witness: &mut impl Witness) {
        if self.stack.handshake && self.state == State::Closed {
            self.state = State::Listening;
        } else {
            self.open(now, witness);
        }
    }

    /// The peer's ACK of the SYN-ACK has come, `rtt` after that had left.
    pub(crate) fn accept(
        &mut self,
        now: Time,
        segment: &Segment,
        rtt: Option<Nanos>,
        witness: &mut impl Witness,
    ) {
        witness.on_open(now);
        self.peer_window = u64::from(segment.window);
        if let Some(rtt) = rtt {
            self.t.rtt.sample_of_handshake(now.saturating_sub(rtt), now);
            self.read_rtt();
        }
        self.establish(now, rtt, None, witness);
    }

    /// A receiver of the same endpoint acknowledges what the peer sends.
    pub(crate) fn leave_acks_to_receiver(&mut self) {
        self.two_way = true;
    }

    fn establish(&mut self, now: Time, rtt: Option<Nanos>, granted: Option<f64>, witness: &mut impl Witness) {
        self.state = State::Established;
        witness.on_established(now);
        self.last_sent = now; // what a start makes of the window has not been idle yet
        self.t.deadline = None;
        let opening = Opening { now, rtt, queued: self.written - 1, rwnd: self.peer_window, granted };
        self.burst = self.t.start.on_established(&opening, &mut self.t.window);
        self.paced |= self.burst.is_some();
        self.check_finished();
    }

    /// The application writes `bytes`. One after the last byte that it has written.
    pub fn write(&mut self, bytes: u64) -> u64 {
        if !self.closed {
            self.written = self.written.saturating_add(bytes);
        }
        self.written
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

    #[inline]
    fn check_finished(&mut self) {
        if self.closed {
            self.check_all_sent();
        }
    }

    #[inline(never)]
    fn check_all_sent(&mut self) {
        let all_sent = self.fin_sent || (!self.stack.handshake && self.written == self.t.out.max());
        if self.state == State::Established && all_sent && self.t.out.is_empty() {
            self.state = State::Finished;
            self.plain = false;
        }
    }

    /// A segment has come from the peer.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) {
        if !segment.sack.is_empty() || !self.takes(now, segment, witness) {
            self.on_any_segment(now, segment, witness);
            self.look_about();
        }
    }

    /// As [`Self::on_segment`] of a segment without SACK blocks, where nothing is out of the ordinary; else nothing happens.
    /// Whether it did.
    #[inline(always)]
    pub fn takes(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) -> bool {
        let advances = self.t.out.una() < segment.ack && segment.ack <= self.t.out.max();
        let plain = self.plain && advances && segment.flags == flags::ACK;
        if plain {
            witness.on_segment(now, &self.t.window, true);
            self.ts_recent = self.ts_recent.max(segment.ts_val);
            witness.on_acknowledgement();
            self.on_new_ack::<true>(now, segment, witness);
        }
        plain
    }

    #[inline(never)]
    fn on_any_segment(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) {
        witness.on_segment(now, &self.t.window, self.state != State::Finished);
        if self.state == State::Opening && segment.has(flags::SYN) && segment.has(flags::ACK) {
            self.on_syn_ack(now, segment, witness);
            return;
        }
        if !matches!(self.state, State::Established | State::Finished) || !segment.has(flags::ACK) {
            return;
        }
        let fin = segment.has(flags::FIN) && !self.two_way;
        if fin || segment.has(flags::SYN) {
            self.control_due = true;
            self.peer_nxt += u64::from(fin && self.peer_nxt == segment.seq);
        }
        if segment.ack > self.t.out.max() {
            return; // acknowledges what was never sent: RFC 9293, section 3.10.7.4
        }
        self.ts_recent = self.ts_recent.max(segment.ts_val);
        witness.on_acknowledgement();
        let flight = self.t.out.flight();
        if segment.ack > self.t.out.una() {
            self.on_new_ack::<false>(now, segment, witness);
        } else if segment.ack == self.t.out.una() {
            self.on_old_ack(now, segment, witness);
        }
        if self.echoes(segment) {
            self.on_ecn_echo(now, flight, witness);
        }
    }

    fn on_syn_ack(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) {
        self.peer_window = u64::from(segment.window);
        self.ts_recent = segment.ts_val;
        let sent = self.syn_sent.filter(|_| !self.syn_lost);
        let rtt = sent.map(|sent| self.t.rtt.sample_of_handshake(sent, now));
        if rtt.is_none() {
            self.t.rtt.restart(RTO_AFTER_LOST_SYN);
            self.t.window.cwnd = self.t.window.mss; // RFC 5681, section 3.1
        }
        self.read_rtt();
        self.establish(now, rtt, quick_start::granted(segment.request), witness);
        self.control_due = self.written == 1; // with data waiting, that carries the ACK
    }

    #[inline(always)]
    fn on_new_ack<const PLAIN: bool>(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) {
        self.t.window.flight = self.air::<PLAIN>();
        if !PLAIN && self.stack.segment_from_acks {
            self.size_segments_by(segment.ack);
        }
        let covered = self.t.out.advance(segment.ack);
        self.peer_window = u64::from(segment.window);
        let rtt = self.rtt_sample::<PLAIN>(now, segment, &covered);
        let delivered = self.by_duplicates.advance(covered.bytes);
        let (reported, dsack) = if PLAIN { Default::default() } else { self.read_sack(segment) };
        let echoes = !PLAIN && self.echoes(segment);
        let ack = Ack {
            now,
            ack: segment.ack,
            newly_acked: covered.bytes,
            delivered,
            duplicate: false,
            rtt,
            sent: covered.newest_sent.max(reported.newest),
            highest: self.t.out.max(),
            peer_time: self.stack.timestamps.then_some(segment.ts_val),
            newly_sacked: reported.bytes,
            dsack,
            ecn_echo: echoes,
        };
        self.hear::<PLAIN>(&ack, witness);
        self.count_round(segment.ack, witness);
        let advance = match PLAIN {
            true => Advance::ORDINARY,
            false => self.recovery.on_advance(&ack, &segment.sack, &mut self.t, &mut Report::to(witness)),
        };
        // RFC 3168, section 6.1.2: an ACK that echoes congestion does not open the window.
        let may_grow = self.window_limits() || !self.stack.validate_window;
        if advance.grow && may_grow && !echoes {
            self.t.controller.on_ack(&ack, &mut self.t.window);
        }
        if advance.restart_timer || self.t.out.is_empty() {
            self.t.restart_timer(now);
        }
        self.after_ack(&ack);
        witness.on_settled(now, &self.t.window);
        self.check_finished();
    }

    /// All who listen hear of an ACK, before it changes anything.
    #[inline(always)]
    fn hear<const PLAIN: bool>(&mut self, ack: &Ack, witness: &mut impl Witness) {
        let t = &mut self.t;
        if !PLAIN && t.starting {
            t.starting = t.start.on_ack(ack, &mut t.window);
        }
        if t.interest.acks {
            t.controller.hear(ack, &t.window);
        }
        witness.on_ack(ack, &t.window);
    }

    #[inline(always)]
    fn after_ack(&mut self, ack: &Ack) {
        if self.t.interest.air {
            self.tell_aftermath(ack);
        }
    }

    fn tell_aftermath(&mut self, ack: &Ack) {
        let delivered = self.t.out.una() - 1
            + if self.recovery.wants_sack() { self.t.out.sacked() } else { self.by_duplicates.waiting() };
        let last_sent = self.t.out.last_covered_once().filter(|_| !ack.duplicate);
        let mut air = Air {
            in_flight: self.air::<false>(),
            lost: self.t.out.lost_ever(),
            newly_lost: self.t.out.take_newly_lost(),
            rate: None,
            repairing: self.recovery.repairing(),
            delivered,
            newest_lost: self.t.out.take_newest_lost(),
            more: self.unsent() > 0,
            last_rtt: last_sent.map(|sent| self.t.rtt.measure(sent, ack.now)),
        };
        if let Some(rates) = &mut self.t.rates {
            air.rate = rates.on_ack(ack, &air).sample;
        }
        self.t.controller.after_ack(ack, &air, &mut self.t.window);
        if let Some(rates) = &mut self.t.rates
            && !air.more
            && !air.repairing
            && real(air.in_flight) < self.t.window.cwnd
        {
            rates.limited_by_application(air.in_flight);
        }
    }

    #[inline]
    fn on_old_ack(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) {
        let window = u64::from(segment.window);
        let duplicate = !self.t.out.is_empty()
            && segment.len == 0
            && window == self.peer_window
            && !segment.has(flags::SYN | flags::FIN);
        self.peer_window = window;
        if !duplicate {
            return;
        }
        self.t.window.flight = self.air::<false>();
        let delivered = self.by_duplicates.another(self.segment_size, self.t.out.flight());
        let (reported, dsack) = self.read_sack(segment);
        let ack = Ack {
            now,
            ack: segment.ack,
            newly_acked: 0,
            delivered,
            duplicate: true,
            rtt: None,
            sent: reported.newest,
            highest: self.t.out.max(),
            peer_time: self.stack.timestamps.then_some(segment.ts_val),
            newly_sacked: reported.bytes,
            dsack,
            ecn_echo: self.echoes(segment),
        };
        self.hear::<false>(&ack, witness);
        self.recovery.on_duplicate(&ack, &segment.sack, &mut self.t, &mut Report::to(witness));
        self.after_ack(&ack);
        witness.on_settled(now, &self.t.window);
    }

    /// What an ACK's SACK blocks report for the first time, and what twice.
    #[inline(always)]
    fn read_sack(&self, segment: &Segment) -> (Reported, Option<(u64, u64)>) {
        if segment.sack.is_empty() {
            return (Reported::default(), None);
        }
        let reported = self.recovery.reported(segment.ack, &segment.sack, &self.t);
        (reported, segment.sack.duplicate(segment.ack))
    }

    fn echoes(&self, segment: &Segment) -> bool {
        self.stack.ecn && segment.has(flags::ECE)
    }

    /// An ECN echo has come; `flight`: before the ACK that carried it.
    fn on_ecn_echo(&mut self, now: Time, flight: u64, witness: &mut impl Witness) {
        if self.t.out.una() <= self.t.reduced_until || self.recovery.repairing() {
            return;
        }
        self.t.window.flight = match self.stack.reduce_from {
            ReduceFrom::Flight => flight,
            ReduceFrom::Window => self.t.reducible(flight, self.t.window.cwnd),
        };
        let echo = Loss { now, kind: LossKind::EcnEcho, seq: self.t.out.una() };
        self.t.respond(echo, None, &mut Report::to(witness));
        self.t.echoed_until = self.t.out.max();
    }

    #[inline(always)]
    fn rtt_sample<const PLAIN: bool>(
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
        if !PLAIN && segment.ack >= self.t.timed_end {
            self.t.timed_end = NOTHING_TIMED;
            self.t.rtt.time(self.t.timed_at, now);
            self.read_rtt();
        }
        let sent = sent?;
        let rtt = self.t.rtt.measure(sent, now);
        if PLAIN || self.stack.rto_samples == RtoSamples::EveryAck {
            self.t.rtt.sample(rtt);
            self.t.rtt.tick(sent, now);
        } else {
            self.t.rtt.note_min(rtt);
        }
        self.read_rtt();
        Some(rtt)
    }

    #[inline(always)]
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
    #[inline(always)]
    fn count_round(&mut self, ack: u64, witness: &mut impl Witness) {
        let end = match self.round_end {
            Some(end) => end,
            None => {
                witness.on_round();
                self.round_flight = self.t.window.flight;
                *self.round_end.insert(self.t.out.nxt())
            }
        };
        if ack >= end {
            witness.on_round_over();
            self.round_end = None;
        }
    }

    /// The time asked for by [`Self::deadline`] has come.
    pub fn on_timer(&mut self, now: Time, witness: &mut impl Witness) {
        self.on_due(now, witness);
        self.look_about();
    }

    fn on_due(&mut self, now: Time, witness: &mut impl Witness) {
        if self.timed && self.recovery.deadline().is_some_and(|d| d <= now) {
            self.recovery.on_timer(now, &mut self.t, &mut Report::to(witness));
            if let AnyRecovery::Custom(custom) = &self.recovery {
                custom.must_wait(now, self.recovery.deadline());
            }
        }
        if self.t.deadline.is_none_or(|d| now < d) {
            return;
        }
        witness.on_timeout(now, &self.t.window, self.state != State::Finished);
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
            let loss = Loss { now, kind: LossKind::Timeout, seq: self.t.out.una() };
            self.t.lose_of(flight, cwnd, loss, &mut Report::to(witness));
            self.timed_out = self.t.out.get(0).map_or(0, |first| first.end);
        }
        self.recovery.on_timeout(now, &mut self.t);
        self.t.rtt.back_off();
        self.t.restart_timer(now);
        self.round_end = None;
        witness.on_settled(now, &self.t.window);
    }

    /// When to call [`Self::on_timer`].
    #[inline(always)]
    pub fn deadline(&self) -> Option<Time> {
        if self.timed {
            self.t.deadline.into_iter().chain(self.recovery.deadline()).min()
        } else {
            self.t.deadline
        }
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
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
        self.air::<false>()
    }

    #[inline(always)]
    fn air<const PLAIN: bool>(&self) -> u64 {
        if !PLAIN && self.counts_air { self.recovery.in_flight(&self.t) } else { self.t.out.flight() }
    }

    /// Whether its recovery needs SACK blocks from the receiver.
    pub fn wants_sack(&self) -> bool {
        self.recovery.wants_sack()
    }

    /// Bytes written and not yet sent.
    #[inline(always)]
    pub fn unsent(&self) -> u64 {
        self.written - self.t.out.max().min(self.written)
    }

    /// Round-trip times.
    pub fn rtt(&self) -> &Rtt {
        &self.t.rtt
    }
}
