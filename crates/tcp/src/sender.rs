//! A sender: the composition of recovery, growth, response and timer into one end of a connection. Sans-IO.
//!
//! Its driver calls [`Sender::open`], [`Sender::write`] and [`Sender::close`] for the application, hands it arriving
//! segments ([`Sender::on_segment`]) and expired timers ([`Sender::on_timer`]), and after each call asks
//! [`Sender::poll_transmit`] until it says `None`, and for its timers [`Sender::deadline`] and [`Sender::release`]. With
//! each call goes a [`Witness`], who hears what happens: [`crate::Books`] where somebody wants to know, `()` where not.
//! Not for: moving data in the other direction; its peer is a [`crate::Receiver`].

mod ack_rate;
mod acknowledged;
mod aftermath;
mod bursts;
mod by_duplicates;
mod doubt;
mod hearers;
mod nagle;
mod offload;
mod paced;
mod persist;
#[cfg(test)]
mod plain_tests;
mod timers;
mod transfer;
mod transmit;
mod usage;
mod used;
mod written;

pub use by_duplicates::ByDuplicates;
use transfer::Timer;
pub use transfer::Transfer;
pub use transmit::MIN_SEGMENT;

use crate::controller::{AnyController, Controller};
use crate::growth::AnyGrowth;
use crate::outstanding::Outstanding;
use crate::pace::AnyPacing;
use crate::preset::Preset;
use crate::recovery::{AnyRecovery, Recovery};
use crate::relative_delay::CongestedRounds;
use crate::response::AnyResponse;
use crate::rtt::Rtt;
use crate::segment::Segment;
use crate::stack::{RtoSamples, WindowValidation};
use crate::start::{AnyStart, Burst, Opening, Start};
use crate::{PathTruth, Profile, Seq, Span, SpecError, Stack, Time, Truth, Window, Witness};
use ack_rate::AckRate;
use bursts::Offload;
use hearers::Hearers;
use std::sync::Arc;
use used::Usage;

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
        let growth = AnyGrowth::build(&profile.growth(preset.growth()))?.0;
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
    /// Whether what leaves goes in bursts, which is a way of its own also where all is plain.
    bursts: bool,
    /// Bytes of a full segment: [`Window::mss`] as a whole number.
    segment_size: u64,
    /// Whether the recovery counts what is in the air its own way, and whether it reads SACK blocks.
    counts_air: bool,
    reads_sack: bool,
    /// Whether the recovery has a timer of its own, and whether it hears of departures.
    timed: bool,
    departures: bool,
    /// Whether the controller hears of ACKs and of departures: as in [`Transfer::interest`], which is in another cache line.
    hears_acks: bool,
    hears_departures: bool,
    /// Whether anybody hears of an ACK once all else is done, and whether delivery rates are sampled for it.
    aftermath: Hearers,
    samples: bool,
    /// Bursts and the host's own queue, where the stack minds them.
    offload: Option<Box<Offload>>,
    /// Whether anything may space segments.
    paced: bool,
    /// A first window that is paced.
    burst: Option<Box<Burst>>,
    /// Pacing lets no data out before this.
    release: Time,
    /// Whether it holds something back, maybe.
    held: bool,
    /// Whether what has just come is no reason to send anything.
    unasked: bool,
    /// One after the last byte the application has written.
    written: Seq,
    closed: bool,
    fin_sent: bool,
    /// Something besides data is due: SYN, or the ACK of the peer's FIN.
    control_due: bool,
    /// The peer's next sequence number, where no receiver of the same endpoint minds it.
    peer_nxt: Seq,
    /// Whether one does.
    two_way: bool,
    /// When the SYN was sent last, if it was.
    syn_sent: Time,
    /// How often the SYN has timed out.
    syn_timeouts: u8,
    /// Whether the persist timer stands in the retransmission timer's place, and whether it has gone off.
    persisting: bool,
    probe_due: bool,
    /// Where small segments wait for each other: the end of the last one.
    last_small: Option<Box<Seq>>,
    peer_window: u64,
    /// What duplicates have counted as delivered.
    by_duplicates: ByDuplicates,
    /// Where the stack asks for a rate of ACKs.
    ack_rate: Option<Box<AckRate>>,
    ts_recent: Time,
    /// End of the segment for which the retransmission timer last went off.
    timed_out: Seq,
    /// End of the present round, or [`Seq::ZERO`] where the next ACK begins one.
    round_end: Seq,
    /// Bytes in flight before the first ACK of the present round.
    round_flight: u64,
    /// Whether the window is used, where departures tell.
    usage: Option<Box<Usage>>,
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
            simple: Self::is_simple(stack),
            plain: false,
            bursts: stack.tso,
            counts_air: parts.recovery.counts_air(),
            reads_sack: parts.recovery.wants_sack(),
            timed: parts.recovery.has_timer(),
            departures: parts.recovery.hears_departures(),
            hears_acks: t.interest.acks,
            hears_departures: t.interest.departures,
            samples: t.rates.is_some(),
            aftermath: Hearers::of(stack, &parts.recovery, &t.controller, t.interest.air),
            offload: Offload::of(stack),
            t,
            recovery: parts.recovery,
            segment_size: u64::from(stack.mss),
            burst: None,
            release: Time::ZERO,
            held: false,
            unasked: false,
            written: Seq::FIRST,
            closed: false,
            fin_sent: false,
            control_due: false,
            peer_nxt: Seq::FIRST,
            two_way: false,
            syn_sent: Time::ZERO,
            syn_timeouts: 0,
            persisting: false,
            probe_due: false,
            last_small: None,
            peer_window: u64::from(stack.first_window()),
            by_duplicates: ByDuplicates::default(),
            ack_rate: None,
            ts_recent: Time::ZERO,
            timed_out: Seq::ZERO,
            round_end: Seq::ZERO,
            round_flight: 0,
            usage: (stack.window_validation == WindowValidation::Linux).then(Box::default),
            stack: Arc::clone(stack),
        }
    }

    fn is_simple(stack: &Stack) -> bool {
        !(stack.ecn.on()
            || stack.small_queues
            || stack.segment_from_acks
            || stack.ack_rate_request > 0
            || stack.rto_samples == RtoSamples::OneAWindow
            || !stack.rto_tick.is_zero()
            || stack.send_buffer.is_some())
    }

    /// Looks anew whether anything is out of the ordinary.
    #[inline]
    fn look_about(&mut self) {
        let quiet = self.simple && !self.t.starting && self.t.is_settled() && self.recovery.quiet();
        let open = self.peer_window > 0 && !self.persisting;
        self.plain = quiet && self.state == State::Established && open;
    }

    /// In how many rounds which direction of the path was congested, if the controller looks at that.
    pub fn congested_rounds(&self) -> Option<CongestedRounds> {
        self.t.controller.congested_rounds()
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
        rtt: Option<Span>,
        witness: &mut impl Witness,
    ) {
        witness.on_open(now);
        self.peer_window = u64::from(segment.window);
        if let Some(rtt) = rtt {
            self.t.rtt.sample_of_handshake(now.earlier(rtt), now);
            self.read_rtt();
        }
        self.establish(now, rtt, None, witness);
    }

    /// A receiver of the same endpoint acknowledges what the peer sends.
    pub(crate) fn leave_acks_to_receiver(&mut self) {
        self.two_way = true;
    }

    fn establish(&mut self, now: Time, rtt: Option<Span>, granted: Option<f64>, witness: &mut impl Witness) {
        self.state = State::Established;
        witness.on_established(now);
        self.t.last_sent = now; // what a start makes of the window has not been idle yet
        self.usage.iter_mut().for_each(|usage| usage.begin(now));
        self.t.timer = Timer::Off;
        let opening =
            Opening { now, rtt, queued: self.written - Seq::FIRST, rwnd: self.peer_window, granted };
        self.burst = self.t.start.on_established(&opening, &mut self.t.window).map(Box::new);
        self.paced |= self.burst.is_some();
        self.check_finished();
    }

    /// The application writes `bytes`. One after the last byte that it has written.
    pub fn write(&mut self, bytes: u64) -> Seq {
        if !self.closed {
            let from = self.written;
            self.written = from.saturating_add(bytes);
            if let Some(offload) = &mut self.offload {
                offload.written.write(from, self.written);
            }
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

    /// Whether the next segment of new data is a probe, which the congestion window does not hold back.
    pub fn probes(&self) -> bool {
        self.recovery.probes()
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
        self.reads_sack
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
