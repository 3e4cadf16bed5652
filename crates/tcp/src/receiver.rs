//! A receiver: reassembly, and an ACK policy that says which ACKs go out and when. Sans-IO, like its peer
//! [`crate::Sender`]. Its application reads at once, so it always advertises its whole buffer, unless that is tuned
//! ([`crate::stack::Autotuning`]).

mod answers;
mod autotuned;
mod beyond;
mod meeting;
mod waiting;

use crate::ack::{AckPolicy, AckSink, AnyAckPolicy};
use crate::ecn::{Ecn, Feedback};
use crate::rtt::TIMESTAMP;
use crate::segment::{Segment, flags};
use crate::{Arrival, Seq, Span, Stack, Time, Witness, cache};
use autotuned::{Autotuned, Came, Leaves};
use meeting::{Meeting, Part, Repeat};
use std::sync::Arc;
use waiting::Waiting;

/// One end of a connection that receives data.
#[derive(Debug, Clone)]
pub struct Receiver {
    window: u32,
    timestamps: bool,
    ecn: Feedback,
    sack: bool,
    policy: AnyAckPolicy,
    /// Whether that has a timer.
    timed: bool,
    sink: AckSink,
    rcv_nxt: Seq,
    /// Everything below has been acknowledged.
    acked: Seq,
    /// What has come beyond a hole, where there is one.
    waiting: Option<Box<Waiting>>,
    /// Where that is reported, what has come twice and no ACK has told of yet.
    twice: Option<Box<Option<(Seq, Seq)>>>,
    /// Whether the next data has nothing to tell but that it is there: no handshake to end, no hole, no FIN, no ECN.
    plain: bool,
    /// Whether the next ACK has nothing to tell but its number: as `plain`, but behind a hole too where no blocks report it.
    terse: bool,
    fin: Option<Seq>,
    /// Whether the peer's FIN is answered with one of this side.
    closes: bool,
    /// That one, or before it the SYN-ACK, until it is acknowledged.
    repeat: Option<Box<Repeat>>,
    /// What the timer that repairs them goes by; many share it.
    stack: Arc<Stack>,
    handshake_rtt: Option<Span>,
    syn_ack_due: bool,
    /// As long as no data has come.
    meeting: Option<Box<Meeting>>,
    /// What is left of the rate that the SYN asked for (RFC 4782): it goes back with the SYN-ACK.
    rate_granted: u8,
    ts_recent: Time,
    /// Where the window is tuned.
    tuned: Option<Box<Autotuned>>,
    delivered: u64,
    segments: u64,
    acks: u64,
}

const _: () = assert!(size_of::<Receiver>() <= 4 * 64, "four cache lines");

impl Receiver {
    /// Has the processor fetch what has come beyond a hole.
    #[inline(always)]
    pub(crate) fn prefetch_beyond(&self) {
        if let Some(waiting) = &self.waiting {
            cache::prefetch(&**waiting);
        }
    }

    /// A receiver that waits for a connection; `sack`: whether it sends SACK blocks.
    pub fn new(stack: &Stack, policy: AnyAckPolicy, sack: bool) -> Self {
        Self::sharing(&Arc::new(stack.clone()), policy, sack)
    }

    /// The same, of many that share their stack's settings.
    pub fn sharing(stack: &Arc<Stack>, mut policy: AnyAckPolicy, sack: bool) -> Self {
        policy.set_timers(stack.wheel());
        Self {
            window: stack.first_window(),
            timestamps: stack.timestamps,
            ecn: Feedback::new(stack.ecn),
            sack,
            timed: policy.has_timer(),
            policy,
            sink: AckSink::default(),
            rcv_nxt: Seq::FIRST,
            acked: Seq::FIRST,
            waiting: None,
            twice: (stack.dsack && sack).then(Box::default),
            plain: false,
            terse: false,
            fin: None,
            closes: true,
            repeat: None,
            stack: stack.clone(),
            handshake_rtt: None,
            syn_ack_due: false,
            meeting: Some(Box::new(Meeting::new(stack.syn_ack_timer))),
            rate_granted: 0,
            ts_recent: Time::ZERO,
            tuned: Autotuned::of(stack),
            delivered: 0,
            segments: 0,
            acks: 0,
        }
    }

    /// A segment has come; `congestion_experienced`: a router marked its packet (RFC 3168).
    #[inline]
    pub fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        congestion_experienced: bool,
        witness: &mut impl Witness,
    ) {
        if !self.takes(now, segment, witness) {
            self.delivered = 0;
            self.on_any_segment(now, segment, congestion_experienced, witness);
            let met = self.meeting.is_none() && !self.syn_ack_due;
            let whole = self.waiting.is_none() && self.has_come_twice().is_none();
            let bare = met && self.fin.is_none() && !self.ecn.mode().on();
            self.plain = bare && whole;
            self.terse = bare && (whole || !self.sack);
        }
    }

    /// As [`Self::on_segment`] of the next data, where nothing is out of the ordinary; else nothing happens. Whether it did.
    #[inline(always)]
    pub fn takes(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) -> bool {
        let is_next = segment.seq == self.rcv_nxt
            && segment.flags | flags::PSH == flags::ACK | flags::PSH
            && segment.len > 0
            && segment.ts_val >= self.ts_recent;
        let plain = self.plain && is_next;
        if plain {
            self.delivered = 0;
            self.take::<true>(now, segment, witness);
        }
        plain
    }

    #[inline(never)]
    fn on_any_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        congestion_experienced: bool,
        witness: &mut impl Witness,
    ) {
        if segment.has(flags::SYN) {
            self.ts_recent = self.ts_recent.max(segment.ts_val);
            if segment.has(flags::ACK) {
                self.ecn.on_syn_ack(segment.flags);
            } else {
                if !self.syn_ack_due && self.meeting.as_ref().is_some_and(|meeting| meeting.is_new()) {
                    self.ecn.on_syn(segment.flags);
                }
                self.syn_ack_due = true;
                self.rate_granted = segment.request;
            }
            return;
        }
        if let Some(meeting) = &mut self.meeting {
            meeting.answered(now);
            self.handshake_rtt = meeting.rtt;
            if let Some(tuned) = &mut self.tuned {
                tuned.begin(now);
            }
        }
        self.hear_of_repeat(segment);
        if self.is_stale(segment) {
            self.policy.on_refused(self.rcv_nxt);
            return self.sink.ack(self.rcv_nxt);
        }
        self.note_timestamp(segment);
        if segment.seq_len() == 0 {
            if segment.seq >= self.acked && segment.seq != self.rcv_nxt {
                self.policy.on_pure_ack(now, self.rcv_nxt, &mut self.sink);
            }
            return;
        }
        self.ecn.hear(segment.flags, congestion_experienced);
        self.take::<false>(now, segment, witness);
    }

    /// Takes in what occupies sequence numbers; `PLAIN`: it is the next data, no more, and there is no hole.
    #[inline(always)]
    fn take<const PLAIN: bool>(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) {
        if PLAIN {
            self.note_timestamp(segment);
        }
        self.segments += u64::from(segment.len > 0);
        if PLAIN
            && matches!(self.policy, AnyAckPolicy::Every(_))
            && !witness.hears_arrivals()
            && self.tuned.is_none()
        {
            // What is to be told of the arrival need not be worked out where nobody is told.
            self.deliver(segment.seq + u64::from(segment.len));
            return self.sink.ack(self.rcv_nxt);
        }
        let arrival = self.sort_in::<PLAIN>(now, segment);
        self.policy.on_segment(&arrival, &mut self.sink);
        if let Some(tuned) = &self.tuned
            && segment.len > 0
            && !tuned.is_read_already(!self.sink.is_empty())
        {
            let second = !arrival.urgent && arrival.unacked > u64::from(arrival.bytes);
            let leaves = match self.sink.is_empty() {
                true => Leaves::Not,
                false if self.policy.follows_reading() => Leaves::After,
                false if second => Leaves::ForSecond,
                false => Leaves::Before,
            };
            self.read(leaves);
        }
        if segment.len > 0 {
            witness.on_arrival(&arrival, &self.policy);
        }
    }

    /// Whether data is older than what came at the edge of the window: then it is refused, and answered at once (RFC 7323, section
    /// 5.3, R1). Timestamps count milliseconds, as most stacks' do (section 5.4). What has come before is answered anyway.
    fn is_stale(&self, segment: &Segment) -> bool {
        segment.len > 0
            && segment.seq >= self.rcv_nxt
            && self.timestamps
            && segment.ts_val.ticks(TIMESTAMP) < self.ts_recent.ticks(TIMESTAMP)
    }

    /// What the next ACK is to echo (RFC 7323, section 4.3): nothing of what lies beyond a hole, or wholly below what is
    /// acknowledged, which is outside the window (section 5.3, R2).
    #[inline(always)]
    fn note_timestamp(&mut self, segment: &Segment) {
        if segment.seq <= self.acked && segment.end() >= self.acked {
            self.ts_recent = self.ts_recent.max(segment.ts_val);
        }
    }

    /// Whether a segment acknowledges what is repeated.
    fn hear_of_repeat(&mut self, segment: &Segment) {
        let first = match self.repeat.as_deref() {
            Some(Repeat { part: Part::SynAck, .. }) => Seq::FIRST,
            Some(Repeat { part: Part::Fin, .. }) => Seq::FIRST + 1,
            None => return,
        };
        if segment.ack >= first {
            self.repeat = None;
        }
    }

    /// Another policy takes over at once; what waits for an ACK gets it.
    pub fn set_policy(&mut self, mut policy: AnyAckPolicy) {
        self.delivered = 0;
        if self.rcv_nxt > self.acked {
            self.sink.ack(self.rcv_nxt);
        }
        policy.set_timers(self.stack.wheel());
        policy.take_over(self.policy.learnt());
        self.timed = policy.has_timer();
        self.policy = policy;
    }

    /// The policy in charge.
    pub fn policy(&self) -> &AnyAckPolicy {
        &self.policy
    }

    #[inline(always)]
    fn sort_in<const PLAIN: bool>(&mut self, now: Time, segment: &Segment) -> Arrival {
        let end = if PLAIN { segment.seq + u64::from(segment.len) } else { segment.end() };
        if !PLAIN && segment.has(flags::FIN) {
            self.fin = Some(end);
        }
        let expected = self.rcv_nxt;
        if !PLAIN && self.twice.is_some() {
            self.note_twice(segment.seq, end);
        }
        let overlaps = |waiting: &Waiting| waiting.overlap(segment.seq, end).is_some();
        let holes = !PLAIN && self.waiting.is_some();
        let new = PLAIN || end > expected && !self.waiting.as_deref().is_some_and(overlaps);
        let in_order = PLAIN || segment.seq <= expected && end > expected;
        if in_order {
            self.deliver(end);
            if holes {
                self.deliver_waiting();
            }
        } else if end > expected && segment.seq - expected < u64::from(self.window) {
            self.set_aside(segment.seq, end);
        }
        let (opens, cramped) = match self.tuned {
            Some(_) => self.tune::<PLAIN>(now, (segment.len, segment.ts_ecr, end), (in_order, new)),
            None => (false, false),
        };
        let hole = !PLAIN && self.waiting.is_some();
        Arrival {
            now,
            bytes: segment.len,
            rcv_nxt: self.rcv_nxt,
            unacked: self.rcv_nxt.saturating_sub(self.acked),
            in_order,
            urgent: !PLAIN && (!in_order || holes || segment.has(flags::FIN) || self.ecn.is_due()),
            end,
            window: self.window,
            rtt: self.rtt_sample::<PLAIN>(now, segment),
            request: segment.request,
            opens,
            cramped,
            pushed: segment.has(flags::PSH),
            hole,
            narrows: hole && self.tuned.as_ref().is_some_and(|tuned| tuned.narrows()),
            sack: self.sack,
        }
    }

    /// Where the window is tuned, tunes it for what a segment brings and echoes, in order or not, new or not; whether it has opened,
    /// and whether the buffer is more than half full. `PLAIN`: it is the next data, and there is no hole.
    #[inline(never)]
    fn tune<const PLAIN: bool>(
        &mut self,
        now: Time,
        (bytes, echo, end): (u32, Time, Seq),
        (in_order, new): (bool, bool),
    ) -> (bool, bool) {
        let Some(tuned) = self.tuned.as_deref_mut().filter(|_| bytes > 0) else { return (false, false) };
        let waiting = self.waiting.as_ref().filter(|_| !PLAIN);
        let ranges = waiting.map_or(&[][..], |waiting| waiting.ranges.as_slice());
        let came = Came {
            now,
            bytes,
            echo: (echo != Time::ZERO).then_some(echo),
            rcv_nxt: self.rcv_nxt,
            end,
            waiting: ranges.iter().map(|&(from, to)| to - from).sum(),
            reach: ranges.last().map_or(0, |last| last.1 - self.rcv_nxt),
            beyond: !PLAIN && !in_order,
            new: PLAIN || new,
            old: !PLAIN && end < self.acked,
        };
        let cramped = tuned.is_cramped(&came);
        let (window, opens) = tuned.hear(&came);
        self.window = window;
        (opens, cramped)
    }

    /// The application reads what has come: the room that makes may be worth an ACK of its own.
    #[inline(never)]
    fn read(&mut self, leaves: Leaves) {
        let Some(tuned) = self.tuned.as_deref_mut() else { return };
        let (tells, window) = tuned.read(self.window, leaves);
        self.window = window;
        if tells {
            self.policy.on_opened(self.rcv_nxt);
            self.sink.ack(self.rcv_nxt);
        }
    }

    /// What leaves tells of the window, and what follows it of the next.
    #[inline(always)]
    fn promise_window(&mut self) {
        if let Some(window) = self.tuned.as_deref_mut().and_then(|tuned| tuned.promise(self.window)) {
            self.window = window;
        }
    }

    /// Notes what a segment brings for the second time, to be reported once (RFC 2883, section 4): by the next ACK, unless that
    /// leaves for other data only (Linux 6.18, `tcp_data_queue`).
    fn note_twice(&mut self, seq: Seq, end: Seq) {
        let below = (seq < self.rcv_nxt).then(|| (seq, end.min(self.rcv_nxt)));
        let again = below.or_else(|| self.waiting.as_ref()?.overlap(seq, end));
        // A block is told by its distance from the ACK.
        let near = |from: Seq| self.rcv_nxt.saturating_sub(from) < i32::MAX as u64;
        if let Some(twice) = &mut self.twice {
            **twice = again.filter(|again| near(again.0));
        }
    }

    fn has_come_twice(&self) -> Option<(Seq, Seq)> {
        *self.twice.as_deref()?
    }

    /// The receiver's own sample of the round-trip time: of the handshake, with its first data, then by timestamps.
    #[inline]
    fn rtt_sample<const PLAIN: bool>(&mut self, now: Time, segment: &Segment) -> Option<Span> {
        let echoed = (segment.ts_ecr != Time::ZERO).then(|| now.saturating_sub(segment.ts_ecr));
        match &self.meeting {
            Some(_) if !PLAIN => self.meeting.take()?.rtt.or(echoed),
            _ => echoed,
        }
    }

    #[inline]
    fn deliver(&mut self, end: Seq) {
        let fin = u64::from(self.fin == Some(end));
        self.delivered += end - self.rcv_nxt - fin;
        self.rcv_nxt = end;
    }

    fn deliver_waiting(&mut self) {
        let first = self.waiting.as_ref().and_then(|waiting| waiting.ranges.as_slice().first().copied());
        if let Some((_, end)) = first.filter(|first| first.0 <= self.rcv_nxt && first.1 > self.rcv_nxt) {
            self.deliver(end);
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.ranges.trim_below(self.rcv_nxt);
            if waiting.ranges.is_empty() {
                self.waiting = None;
            }
        }
    }

    /// The time asked for by [`Self::deadline`] has come.
    pub fn on_timer(&mut self, now: Time) {
        self.delivered = 0;
        if let Some(repeat) = self.repeat.as_mut().filter(|repeat| repeat.at <= now) {
            repeat.fall_due();
            if repeat.part == Part::SynAck {
                self.syn_ack_due = true;
            }
        }
        self.policy.on_timer(now, self.rcv_nxt, &mut self.sink);
        if let AnyAckPolicy::Custom(custom) = &self.policy {
            custom.must_wait(now, self.policy.deadline());
        }
    }

    /// The endpoint's sender closes this side.
    pub(crate) fn leave_closing_to_sender(&mut self) {
        self.closes = false;
    }

    /// What the handshake took, from the SYN-ACK on.
    pub(crate) fn handshake_rtt(&self) -> Option<Span> {
        self.handshake_rtt
    }

    /// When to call [`Self::on_timer`].
    #[inline(always)]
    pub fn deadline(&self) -> Option<Time> {
        match &self.repeat {
            None if !self.timed => None,
            None => self.policy.deadline(),
            Some(repeat) => {
                let at = Some(repeat.at).filter(|&at| at != Time::MAX);
                at.into_iter().chain(self.policy.deadline()).min()
            }
        }
    }

    /// Bytes that the last call of [`Self::on_segment`] handed to the application.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Next sequence number expected.
    pub fn rcv_nxt(&self) -> Seq {
        self.rcv_nxt
    }

    /// ECN as both ends have agreed on it.
    pub(crate) fn ecn(&self) -> Ecn {
        self.ecn.mode()
    }

    /// The window that it advertises, bytes.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// The timestamp that it echoes (TS.Recent, RFC 7323, section 4.3); 0: none.
    pub fn ts_recent(&self) -> Time {
        self.ts_recent
    }

    /// An ACK is due at once, whatever the policy says: something came that is none of this connection.
    pub fn acknowledge(&mut self) {
        self.sink.ack(self.rcv_nxt);
    }

    /// Whether everything up to the peer's FIN has come.
    pub fn finished(&self) -> bool {
        self.fin.is_some_and(|end| self.rcv_nxt >= end)
    }

    /// Data segments that came, duplicates included.
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// ACKs sent.
    pub fn acks(&self) -> u64 {
        self.acks
    }
}
