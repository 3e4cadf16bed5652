//! What leaves a sender: retransmissions first, then new data as the windows and pacing allow, then what controls the
//! connection; and all who hear of a departure.

use super::ack_rate::Leaving;
use super::transfer::{NOTHING_TIMED, Timer};
use super::{Sender, State, initial_window};
use crate::arithmetic::real;
use crate::controller::{Controller, Order};
use crate::ecn::{self, Ecn};
use crate::outstanding::{Sent, marks};
use crate::recovery::{DUP_THRESH, Recovery};
use crate::segment::{HEADER_BYTES, Segment, Transmit, flags};
use crate::stack::{AfterIdle, RtoSamples};
use crate::start::{Start, quick_start};
use crate::{Departure, Seq, Span, Time, Witness, wheel};

/// Least segment size that [`crate::Stack::segment_from_acks`] comes down to, bytes: FreeBSD's default for
/// `net.inet.tcp.minmss`. A smaller MSS of the stack is its own least.
pub const MIN_SEGMENT: u32 = 216;

impl Sender {
    /// The segment size of a stack with [`crate::Stack::segment_from_acks`], before `ack` is taken in: an ACK that falls
    /// within a segment is taken to say that the path carries no more at once than it covers. One that falls on a
    /// segment's end says nothing, so that a short last segment does not count.
    ///
    /// What is in the air keeps its boundaries. The window keeps its number of segments, as that of a stack that counts
    /// in segments does; ssthresh is about the path and stays.
    pub(super) fn size_segments_by(&mut self, ack: Seq) {
        let out = &self.t.out;
        if out.get(out.index_of(ack)).is_none_or(|segment| segment.seq >= ack) {
            return;
        }
        let least = MIN_SEGMENT.min(self.stack.mss);
        let size = (ack - out.una()).max(u64::from(least)) as f64;
        let w = &mut self.t.window;
        if size < w.mss {
            w.cwnd = (w.cwnd * size / w.mss).max(size);
            w.mss = size;
            self.segment_size = size as u64;
        }
    }

    /// The next segment to send now, if any.
    pub fn poll_transmit(&mut self, now: Time, witness: &mut impl Witness) -> Option<Transmit> {
        let mut out = Transmit::default();
        self.transmit(now, witness, &mut out).then_some(out)
    }

    /// As [`Self::poll_transmit`], written in place, whatever was there; whether there is one.
    #[inline]
    pub fn transmit(&mut self, now: Time, witness: &mut impl Witness, out: &mut Transmit) -> bool {
        if self.is_plain() {
            return self.transmit_next(now, witness, out);
        }
        if self.is_plain_in_bursts() {
            return self.transmit_in_bursts(now, witness, out);
        }
        let due = self.transmit_any(now, witness, out);
        self.look_about();
        due
    }

    /// Whether nothing is out of the ordinary, so that [`Self::transmit_next`] is all there is to [`Self::transmit`].
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.plain && !self.control_due && !self.bursts
    }

    /// The same of [`Self::transmit_in_bursts`].
    #[inline]
    pub fn is_plain_in_bursts(&self) -> bool {
        self.plain && !self.control_due && self.bursts
    }

    /// See [`Self::is_plain_in_bursts`].
    #[inline(always)]
    pub fn transmit_in_bursts(&mut self, now: Time, witness: &mut impl Witness, out: &mut Transmit) -> bool {
        if std::mem::take(&mut self.unasked) {
            return false;
        }
        self.held = self.is_held(now);
        if self.held {
            self.join_writes();
            return false;
        }
        let next = self.next_in_order::<true, true>(now);
        match &next {
            Some((sent, again)) => self.data::<true, true>(now, sent, *again, witness, out),
            None => self.validate_window(now),
        }
        next.is_some()
    }

    /// See [`Self::is_plain`].
    #[inline(always)]
    pub fn transmit_next(&mut self, now: Time, witness: &mut impl Witness, out: &mut Transmit) -> bool {
        self.held = now < self.release;
        if self.held {
            return false;
        }
        let next = self.next_in_order::<true, false>(now);
        match &next {
            Some((sent, again)) => self.data::<true, false>(now, sent, *again, witness, out),
            None => self.validate_window(now),
        }
        next.is_some()
    }

    #[inline(never)]
    fn transmit_any(&mut self, now: Time, witness: &mut impl Witness, out: &mut Transmit) -> bool {
        if self.unasked {
            self.unasked = self.control_due;
            return self.control(now, out);
        }
        match self.state {
            State::Closed | State::Listening => return false,
            State::Opening => return self.syn(now, out),
            State::Established | State::Finished => {}
        }
        if self.control_due && self.stack.tso && self.t.out.max() == Seq::FIRST && !self.two_way {
            return self.control(now, out);
        }
        if self.persisting && self.peer_window > 0 {
            self.end_persisting();
        }
        self.held = match self.offload {
            None => now < self.release,
            Some(_) => self.is_held(now),
        };
        if self.held {
            self.join_writes();
            return false;
        }
        if !self.recovery.idle()
            && let Some(at) = self.recovery.retransmission(&self.t)
            && let Some(sent) = self.t.out.repair(at, now)
        {
            self.data::<false, true>(now, &sent, true, witness, out);
            self.t.on_repaired(now, &sent);
            return true;
        }
        if let Some((sent, again)) = self.next_in_order::<false, true>(now) {
            self.data::<false, true>(now, &sent, again, witness, out);
            if again {
                self.t.on_repaired(now, &sent);
            }
            return true;
        }
        self.validate_window(now);
        let counts = self.recovery.counts_probes();
        if !self.recovery.idle()
            && let Some(at) = self.recovery.last_resort(&self.t)
            && let Some(sent) = self.t.out.send_again(at, now, counts)
        {
            self.data::<false, true>(now, &sent, true, witness, out);
            if counts || sent.is(marks::REPAIR) {
                self.t.on_repaired(now, &sent);
            }
            return true;
        }
        self.persist(now, out) || self.control(now, out)
    }

    /// What is neither SYN nor data.
    #[inline]
    fn control(&mut self, now: Time, out: &mut Transmit) -> bool {
        let due = std::mem::take(&mut self.control_due);
        if due {
            if let Some(offload) = &mut self.offload {
                offload.spoke = now;
            }
            *out = Transmit::default();
            self.segment(now, self.t.out.nxt(), 0, 0, &mut out.segment);
        }
        due
    }

    fn syn(&mut self, now: Time, out: &mut Transmit) -> bool {
        if !std::mem::take(&mut self.control_due) {
            return false;
        }
        self.syn_sent = now;
        self.t.timer = Timer::At(self.t.rtt.deadline(now, self.t.rtt.rto()));
        *out = Transmit { retransmission: self.syn_timeouts > 0, ..Transmit::default() };
        self.segment(now, Seq::ZERO, 0, flags::SYN, &mut out.segment);
        out.segment.request = self.t.start.request().map_or(0, quick_start::request);
        out.segment.flags &= !flags::ACK;
        // A network that loses it for its flags loses the next one, too, and then is asked no more (RFC 9768, section 3.1.4.1).
        if self.syn_timeouts < 2 {
            out.segment.flags |= self.stack.ecn.offer();
        }
        true
    }

    /// New data, or after a go-back the next segment again, if the windows have room; and whether it is again.
    #[inline(always)]
    fn next_in_order<const PLAIN: bool, const BURSTS: bool>(&mut self, now: Time) -> Option<(Sent, bool)> {
        if self.t.out.is_empty() {
            self.restart_after_idle(now);
        }
        if BURSTS && let Some(offload) = &mut self.offload {
            offload.widest = offload.widest.max(self.peer_window);
        }
        let room = match self.stack.send_buffer {
            Some(buffer) if !PLAIN => self.peer_window.min(buffer.bytes(self.stack.mss)),
            _ => self.peer_window,
        };
        let limit = self.t.out.una().saturating_add(room);
        let again = self.t.out.to_resend().map(|s| (s.span(), s.is(marks::FIN)));
        let (len, fin) = match again {
            Some(again) => again,
            None => match self.next_new::<PLAIN, BURSTS>(room) {
                None if BURSTS && self.join_writes() => self.next_new::<PLAIN, BURSTS>(room)?,
                next => next?,
            },
        };
        let (len, fin) = match again {
            None if BURSTS => self.cut_at_edge(now, (len, fin), limit),
            _ => (len, fin),
        };
        let mut in_flight = self.air::<PLAIN>();
        // Small segments count whole; in a repair the window is made of what the recovery counts in the air.
        let (mut whole, nothing_flies) = (false, in_flight == 0);
        if BURSTS && let Some(offload) = &mut self.offload {
            let lacking = offload.lacking(self.t.out.una());
            whole = lacking > 0 && (PLAIN || self.recovery.quiet());
            in_flight += if whole { lacking } else { 0 };
        }
        let extra = if !PLAIN && self.t.limited_transmit && (again.is_none() || self.stack.limited_resends) {
            f64::from(self.recovery.duplicates().min(DUP_THRESH - 1)) * self.t.window.mss
        } else {
            0.0
        };
        // FIN takes a sequence number but no room.
        let bytes = len - u64::from(fin);
        // With nothing in the air a segment always goes: the window is never below one.
        let small = bytes < self.segment_size;
        let counts_whole = BURSTS && (whole || small && self.offload.is_some());
        let fits = nothing_flies
            || if counts_whole {
                self.has_room_for_one(in_flight)
            } else {
                real(in_flight + bytes) <= self.t.window.cwnd + extra
            }
            || !PLAIN && again.is_none() && self.recovery.probes();
        // What timed out goes again even where the peer has taken its window
        // back: it is the probe that finds it open again.
        let allowed = self.t.out.nxt() + bytes <= limit || (again.is_some() && nothing_flies);
        if !fits || !allowed || !PLAIN && self.recovery.holds(&self.t) {
            if BURSTS {
                self.join_writes();
            }
            return None;
        }
        if BURSTS && again.is_none() && self.offload.is_some() {
            let room = limit - self.t.out.nxt();
            if !self.goes_in_burst(now, room, in_flight) {
                return None;
            }
        }
        let sent = match again {
            Some(_) => self.t.out.resend(now)?,
            None => {
                self.fin_sent |= fin;
                let sent = self.t.out.push(now, len, fin);
                if !PLAIN {
                    self.note_small(bytes);
                }
                if BURSTS
                    && small
                    && let Some(offload) = &mut self.offload
                {
                    offload.note_small(self.t.out.nxt(), self.segment_size.saturating_sub(len));
                }
                sent
            }
        };
        Some((sent, again.is_some()))
    }

    /// After more than an RTO without sending, what the window was says little (RFC 5681, section 4.1).
    fn restart_after_idle(&mut self, now: Time) {
        let idle = now.saturating_sub(self.t.last_sent);
        if idle > self.t.rtt.rto() && !self.t.controller.outlasts_idleness() {
            self.shrink_after(now, idle);
        }
    }

    #[inline(never)]
    fn shrink_after(&mut self, now: Time, idle: Span) {
        let initial = initial_window(&self.stack);
        let halvings = self.timeouts_in(now, idle);
        if self.stack.after_idle == AfterIdle::Decay && (halvings == 0 || self.unsent() == 0) {
            return;
        }
        let w = &mut self.t.window;
        if self.stack.after_idle == AfterIdle::Restart {
            w.cwnd = w.cwnd.min(initial);
        } else if self.stack.after_idle == AfterIdle::Decay {
            w.ssthresh = w.ssthresh.max(w.three_quarters());
            let least = initial.min(w.cwnd);
            let cwnd =
                (0..halvings.min(64)).fold(w.cwnd, |cwnd, _| w.in_whole_segments(cwnd / 2.0).max(least));
            w.cwnd = cwnd;
        }
        if let Some(usage) = &mut self.usage {
            usage.begin(now);
        }
    }

    /// Whole timeouts that have passed in an idle time, one that ends with it left out; in ticks where the host's timers have them
    /// (`tcp_slow_start_after_idle_check`).
    fn timeouts_in(&self, now: Time, idle: Span) -> u64 {
        let rto = self.t.rtt.rto();
        let (idle, rto) = match self.t.wheel() {
            Some(wheel) => (wheel.tick(now) - wheel.tick(self.t.last_sent), wheel::ticks(rto)),
            None => (idle.nanos(), rto.nanos()),
        };
        idle.saturating_sub(1) / rto.max(1)
    }

    /// Sequence length of the next new segment, and whether FIN is on it.
    #[inline]
    fn next_new<const PLAIN: bool, const BURSTS: bool>(&self, room: u64) -> Option<(u64, bool)> {
        if self.fin_sent {
            return None;
        }
        let left = if BURSTS { self.offered() } else { self.written } - self.t.out.nxt();
        let payload = left.min(self.segment_size).min(room.max(1));
        let all = if BURSTS { self.written - self.t.out.nxt() } else { left };
        let closed = if BURSTS { self.is_closed() } else { self.closed };
        let fin = closed && self.stack.handshake && payload == all;
        let waits = !PLAIN && payload < self.segment_size && !fin && self.small_ones_wait();
        (!waits && (payload > 0 || fin)).then_some((payload + u64::from(fin), fin))
    }

    #[inline(always)]
    fn data<const PLAIN: bool, const BURSTS: bool>(
        &mut self,
        now: Time,
        sent: &Sent,
        again: bool,
        witness: &mut impl Witness,
        out: &mut Transmit,
    ) {
        let fin = sent.is(marks::FIN);
        let len = (sent.span() - u64::from(fin)) as u32;
        self.segment(now, sent.seq, len, if fin { flags::FIN } else { 0 }, &mut out.segment);
        let segment = &mut out.segment;
        if !PLAIN && self.stack.ack_rate_request > 0 && len > 0 {
            segment.request = self.ack_rate_request(segment, again);
        }
        if !PLAIN && self.t.ecn.on() {
            segment.flags |= self.ecn_flags(again);
        }
        if BURSTS && !again && len > 0 && self.offload.is_some() {
            segment.flags |= self.push_flag(sent.seq + u64::from(len));
        }
        self.control_due = false;
        self.t.last_sent = now;
        let departure = Departure {
            now,
            seq: segment.seq,
            bytes: len,
            retransmission: again,
            in_flight: self.air::<PLAIN>().saturating_sub(u64::from(len)),
            more: self.unsent() > 0,
        };
        if self.samples
            && let Some(rates) = &mut self.t.rates
        {
            let told = departure; // what is handed on has to be in memory: only where somebody asks
            rates.on_sent(&told, self.t.window.cwnd);
        }
        if self.hears_departures {
            let told = departure;
            self.t.controller.hear_of_departure(&told, &self.t.window);
        }
        if !PLAIN && self.departures {
            self.recovery.on_sent(sent, &mut self.t);
        }
        if !PLAIN && again {
            self.t.resent += 1;
        }
        witness.on_sent(&departure, sent.number);
        if self.paced {
            let (payload, wire) = (out.segment.len, out.segment.wire_bytes());
            self.pace(now, sent.number, payload, wire);
        }
        if self.t.timer == Timer::Off {
            self.t.restart_timer(now);
        }
        if !PLAIN
            && self.stack.rto_samples == RtoSamples::OneAWindow
            && !again
            && self.t.timed_end == NOTHING_TIMED
        {
            (self.t.timed_end, self.t.timed_at) = (out.segment.end(), now);
        }
        out.last = self.nothing_follows::<PLAIN, BURSTS>(now);
        if BURSTS && out.last {
            self.join_writes();
        }
        if let Some(usage) = &mut self.usage {
            usage.due |= !again;
            if out.last {
                self.judge_usage_here(now);
            }
        }
        out.number = Some(sent.number);
        out.retransmission = again;
        out.first_sent = sent.first;
        out.ecn_capable = !PLAIN && self.t.ecn.on() && len > 0 && !again;
        out.slow_start = self.t.window.in_slow_start();
    }

    /// Whether it is certain, and cheap to tell, that nothing can leave behind the segment that has just left: pacing holds it
    /// back, or there is new data enough for a full segment, and no room for one, here or at the peer.
    #[inline(always)]
    fn nothing_follows<const PLAIN: bool, const BURSTS: bool>(&self, now: Time) -> bool {
        if self.paced {
            return self.held;
        }
        let (size, out) = (self.segment_size, &self.t.out);
        let edge = out.una().saturating_add(self.peer_window);
        (real(self.air::<PLAIN>() + size) > self.t.window.cwnd
            || edge < out.nxt() + size && !(BURSTS && self.is_burst_under_way(now)))
            && self.unsent() >= size
            && self.peer_window >= size
            && (PLAIN || self.stack.send_buffer.is_none() && self.recovery.idle())
            && self.t.out.to_resend().is_none()
            && (PLAIN || !self.t.limited_transmit || self.recovery.duplicates() == 0)
    }

    /// CWR where a reduction is to be told; with accurate ECN the count of marked packets that came, of which there are none but
    /// where a receiver of the same endpoint counts them.
    fn ecn_flags(&mut self, again: bool) -> u8 {
        match self.t.ecn {
            Ecn::Accurate if !self.two_way => ecn::to_flags(ecn::FIRST),
            Ecn::Classic if !again && std::mem::take(&mut self.t.cwr_due) => flags::CWR,
            _ => 0,
        }
    }

    /// What the segment asks of the receiver.
    fn ack_rate_request(&mut self, segment: &Segment, again: bool) -> u8 {
        let w = &self.t.window;
        let window = w.cwnd.min(self.peer_window as f64) / w.mss;
        let last = self.unsent() == 0 && !segment.has(flags::FIN);
        let leaving = Leaving { end: segment.end(), again, last };
        let ack_rate = self.ack_rate.get_or_insert_default();
        ack_rate.request(self.stack.ack_rate_request, window as u64, self.t.out.una(), leaving)
    }

    /// Somebody outside the run says what window and pace are to be (see [`Controller::steer`]). What an earlier, slower pace
    /// holds back waits no longer than a segment takes at the new one.
    pub fn steer(&mut self, now: Time, order: &Order) {
        self.t.controller.steer(order, &mut self.t.window);
        let bytes = self.t.window.mss + f64::from(HEADER_BYTES);
        let gap = order.pace.map_or(Span::ZERO, |rate| Span::truncated(bytes / rate.max(1.0) * 1e9));
        self.release = self.release.min(now + gap);
        self.held = now < self.release;
        self.look_about();
    }

    #[inline]
    pub(super) fn segment(&self, now: Time, seq: Seq, len: u32, flag: u8, out: &mut Segment) {
        (out.seq, out.ack, out.len) = (seq, self.peer_nxt, len);
        out.window = u32::from(u16::MAX);
        (out.flags, out.request) = (flag | flags::ACK, 0);
        out.sack.clear();
        (out.ts_val, out.ts_ecr) = if self.stack.timestamps {
            (now.max(Time::ns(1)), self.ts_recent)
        } else {
            (Time::ZERO, Time::ZERO)
        };
    }

    /// When to ask [`Self::poll_transmit`] again although nothing happens: pacing holds a segment back until then.
    #[inline]
    pub fn release(&self) -> Option<Time> {
        self.held.then(|| self.offload.as_ref().map_or(self.release, |offload| offload.until(self.release)))
    }
}
