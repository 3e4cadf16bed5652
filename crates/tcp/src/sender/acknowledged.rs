//! What a segment from the peer does to a sender: an ACK of new data, a duplicate, an echo of congestion; and all who hear of it.

use super::doubt::{Heard, Verdict};
use super::transfer::NOTHING_TIMED;
use super::{Sender, State};
use crate::arithmetic::real;
use crate::controller::Controller;
use crate::ecn::{self, Ecn};
use crate::recovery::{Advance, Recovery, Reported};
use crate::rtt::{TIMESTAMP, timestamps_apart};
use crate::segment::{Segment, flags};
use crate::stack::{ReduceFrom, RtoSamples};
use crate::start::{Start, quick_start};
use crate::{Ack, Loss, LossKind, Report, Seq, Span, Time, Witness};

/// RTO after a lost SYN (RFC 6298, rule 5.7).
const RTO_AFTER_LOST_SYN: Span = Span::s(3);

impl Sender {
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
        let is_next = advances && segment.ts_val >= self.ts_recent;
        let plain = self.plain && is_next && segment.flags == flags::ACK && segment.window > 0;
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
        self.t.pin_timer();
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
        if self.is_stale(segment) {
            if let Some(offload) = &mut self.offload {
                self.unasked = true; // what waits for more goes on waiting
                self.control_due |= offload.strays.answers(now);
            }
            return;
        }
        self.ts_recent = self.ts_recent.max(segment.ts_val);
        witness.on_acknowledgement();
        self.weigh(now, segment, witness);
        if self.t.ecn == Ecn::Accurate {
            self.count_marks(segment);
        }
        let flight = self.t.out.flight();
        let arrived = self.arrived();
        if segment.ack > self.t.out.una() {
            self.on_new_ack::<false>(now, segment, witness);
        } else if segment.ack == self.t.out.una() {
            self.on_old_ack(now, segment, witness);
        }
        if self.echoes(segment) {
            self.on_ecn_echo(now, flight, arrived, witness);
        }
    }

    /// Whether a segment is older than one that has come, and is no duplicate of the last ACK, whose order matters to nobody: then it
    /// is dropped (RFC 7323, section 5.3, R1). Timestamps count milliseconds, as most stacks' do (section 5.4).
    fn is_stale(&self, segment: &Segment) -> bool {
        self.stack.timestamps
            && segment.ts_val.ticks(TIMESTAMP) < self.ts_recent.ticks(TIMESTAMP)
            && segment.ack != self.t.out.una()
            && !self.two_way
    }

    /// What a segment says of a loss event that may have been none.
    fn weigh(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) {
        let twice = segment.sack.duplicate(segment.ack);
        let dsack = twice.filter(|&range| self.t.tells(range));
        if self.t.doubt.is_none() {
            return;
        }
        let heard = Heard { ack: segment.ack, echo: self.echo(segment), dsack, una: self.t.out.una() };
        let Some(doubt) = &mut self.t.doubt else { return };
        let verdict = doubt.weigh(&heard, self.recovery.waits_to_undo(segment.ack));
        match verdict {
            Verdict::Open => {}
            Verdict::Waiting => self.recovery.on_late(segment.ack, &self.t),
            Verdict::Genuine => self.t.doubt = None,
            Verdict::Spurious | Verdict::Late => {
                if verdict == Verdict::Late {
                    self.recovery.on_late(segment.ack, &self.t);
                }
                self.t.window.cwnd = self.recovery.deflated(&self.t);
                self.recovery.on_undo(&mut self.t);
                self.t.end_back_off();
                self.t.undo(now, &mut Report::to(witness));
                self.recovery.on_undone(&mut self.t);
                self.usage.iter_mut().for_each(|usage| usage.since = now); // `tcp_undo_cwnd_reduction`
            }
        }
    }

    /// Which of the sender's own timestamps a segment echoes.
    #[inline(always)]
    fn echo(&self, segment: &Segment) -> Option<Time> {
        (self.stack.timestamps && segment.ts_ecr != Time::ZERO).then_some(segment.ts_ecr)
    }

    fn on_syn_ack(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) {
        self.peer_window = u64::from(segment.window);
        self.ts_recent = segment.ts_val;
        self.agree(self.stack.ecn.agree(segment.flags));
        // What comes before the SYN has left times nothing.
        let timed = self.syn_timeouts == 0 && !self.control_due;
        let rtt = timed.then(|| self.t.rtt.sample_of_handshake(self.syn_sent, now));
        if rtt.is_none() {
            self.t.rtt.restart(RTO_AFTER_LOST_SYN);
            self.t.window.cwnd = self.t.window.mss; // RFC 5681, section 3.1
        }
        self.read_rtt();
        self.establish(now, rtt, quick_start::granted(segment.request), witness);
        // With data waiting, that carries the ACK; but an application of a host writes when it is told that it is connected.
        self.control_due = self.written == Seq::FIRST || self.stack.tso;
    }

    /// The handshake has shown how the ends use ECN.
    pub(crate) fn agree(&mut self, ecn: Ecn) {
        self.t.ecn = ecn;
    }

    #[inline(always)]
    fn on_new_ack<const PLAIN: bool>(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) {
        self.t.window.flight = self.air::<PLAIN>();
        if !PLAIN && self.stack.segment_from_acks {
            self.size_segments_by(segment.ack);
        }
        if !PLAIN && self.departures {
            self.tell_covered(now, segment);
        }
        let reported_before = if PLAIN { 0 } else { self.t.out.sacked() };
        let covered = self.t.out.advance(segment.ack);
        self.peer_window = u64::from(segment.window);
        let (reported, dsack) = if PLAIN { Default::default() } else { self.read_sack(segment) };
        let rtt = match self.stack.rto_samples {
            RtoSamples::Departures => {
                self.sample_by_departure(now, self.echo(segment), covered.once, reported.once)
            }
            _ => self.rtt_sample::<PLAIN>(now, segment, &covered),
        };
        let delivered = self.by_duplicates.advance(covered.bytes);
        let echoes = !PLAIN && self.echoes(segment);
        let newly_delivered = match self.reads_sack {
            true if PLAIN => covered.bytes,
            true => {
                covered.bytes - (reported_before - self.t.out.sacked()).min(covered.bytes) + reported.bytes
            }
            false => delivered,
        };
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
            echo: self.echo(segment),
            newly_sacked: reported.bytes,
            newly_delivered,
            dsack,
            ecn_echo: echoes,
            ecn_marked: if PLAIN { 0 } else { self.t.marks.1 },
        };
        self.hear::<PLAIN>(&ack, witness);
        self.count_round(segment.ack, witness);
        let repaired = !PLAIN && self.recovery.repairing();
        let advance = match PLAIN {
            true => Advance::ORDINARY,
            false => self.recovery.on_advance(&ack, &segment.sack, &mut self.t, &mut Report::to(witness)),
        };
        // RFC 3168, section 6.1.2: an ACK that echoes congestion does not open the window.
        let may_grow = self.window_limits() || !self.stack.validate_window;
        if let Some(usage) = &mut self.usage
            && (advance.grow || repaired && !self.recovery.repairing())
        {
            usage.since = now; // opened or not (`tcp_cong_avoid`), or left to ssthresh (`tcp_end_cwnd_reduction`)
        }
        if advance.grow && may_grow && !echoes {
            let ack = Ack { newly_delivered: ack.newly_delivered + advance.again, ..ack };
            self.t.controller.open(&ack, &mut self.t.window);
        } else if PLAIN || !self.recovery.repairing() {
            self.t.controller.leave(&ack);
        }
        if PLAIN {
            self.t.restart_timer_after_sample(now);
        } else if advance.restart_timer || self.t.out.is_empty() {
            self.t.restart_timer(now);
        }
        self.after_ack::<PLAIN>(&ack);
        witness.on_settled(now, &self.t.window);
        self.check_finished();
    }

    /// The recovery hears which segments an ACK covers.
    fn tell_covered(&mut self, now: Time, segment: &Segment) {
        let echo = self.echo(segment);
        let t = &self.t;
        let covered = (0..).map_while(|at| t.out.get(at).filter(|sent| sent.end <= segment.ack));
        covered.for_each(|sent| self.recovery.on_delivered(now, &sent, echo, t));
    }

    /// All who listen hear of an ACK, before it changes anything.
    #[inline(always)]
    fn hear<const PLAIN: bool>(&mut self, ack: &Ack, witness: &mut impl Witness) {
        let t = &mut self.t;
        if !PLAIN && t.starting {
            t.starting = t.start.on_ack(ack, &mut t.window);
        }
        if self.hears_acks {
            let ack = *ack; // what is handed on has to be in memory: only where somebody asks
            t.controller.hear(&ack, &t.window);
        }
        witness.on_ack(ack, &t.window);
    }

    #[inline]
    fn on_old_ack(&mut self, now: Time, segment: &Segment, witness: &mut impl Witness) {
        let window = u64::from(segment.window);
        // A recovery that minds the time learns from a D-SACK also when all has been acknowledged (RFC 8985, sections 6.2, 7.4.2), and
        // whatever it says of the window.
        let told = self.timed && segment.sack.duplicate(segment.ack).is_some();
        // With SACK what is news is a duplicate, whatever it says of the window (RFC 6675, section 2).
        let news = window != self.peer_window && self.reads_sack && self.read_sack(segment).0.bytes > 0;
        let duplicate = (!self.t.out.is_empty() || told)
            && segment.len == 0
            && (window == self.peer_window || news || told)
            && !segment.has(flags::SYN | flags::FIN);
        self.peer_window = window;
        if !duplicate {
            return;
        }
        self.t.window.flight = self.air::<false>();
        let delivered = self.by_duplicates.another(self.segment_size, self.t.out.flight());
        let (reported, dsack) = self.read_sack(segment);
        let is_timed = reported.once.is_some() && self.stack.rto_samples == RtoSamples::Departures;
        let rtt = if is_timed {
            self.sample_by_departure(now, self.echo(segment), None, reported.once)
        } else {
            None
        };
        let ack = Ack {
            now,
            ack: segment.ack,
            newly_acked: 0,
            delivered,
            duplicate: true,
            rtt,
            sent: reported.newest,
            highest: self.t.out.max(),
            peer_time: self.stack.timestamps.then_some(segment.ts_val),
            echo: self.echo(segment),
            newly_sacked: reported.bytes,
            newly_delivered: if self.reads_sack { reported.bytes } else { delivered },
            dsack,
            ecn_echo: self.echoes(segment),
            ecn_marked: self.t.marks.1,
        };
        self.hear::<false>(&ack, witness);
        self.recovery.on_duplicate(&ack, &segment.sack, &mut self.t, &mut Report::to(witness));
        if reported.bytes > 0
            && let Some(vain) = self.recovery.opens_by_reports()
            && self.window_limits()
            && !ack.ecn_echo
        {
            let ack = Ack { newly_delivered: ack.newly_delivered + vain, ..ack };
            self.t.controller.on_report(&ack, &mut self.t.window);
        }
        self.after_ack::<false>(&ack);
        witness.on_settled(now, &self.t.window);
    }

    /// What an ACK's SACK blocks report for the first time, and what twice.
    #[inline(always)]
    fn read_sack(&self, segment: &Segment) -> (Reported, Option<(Seq, Seq)>) {
        if segment.sack.is_empty() {
            return (Reported::default(), None);
        }
        let reported = self.recovery.reported(segment.ack, &segment.sack, &self.t);
        (reported, segment.sack.duplicate(segment.ack))
    }

    fn echoes(&self, segment: &Segment) -> bool {
        match self.t.ecn {
            Ecn::Off => false,
            Ecn::Classic => segment.has(flags::ECE),
            Ecn::Accurate => self.t.marks.1 > 0,
        }
    }

    /// Marked packets that a segment tells of (RFC 9768). It shows so many packets to have come as its number and its SACK blocks
    /// newly cover; a duplicate without any shows one.
    fn count_marks(&mut self, segment: &Segment) {
        let una = self.t.out.una();
        let advanced = segment.ack.saturating_sub(una).saturating_sub(self.t.out.sacked());
        let bytes = advanced + if self.reads_sack { self.read_sack(segment).0.bytes } else { 0 };
        let repeats = segment.ack == una && segment.len == 0 && !self.t.out.is_empty();
        let packets = match segment.has(flags::SYN) {
            true => 0, // its bits are no count
            false => bytes.div_ceil(self.segment_size).max(u64::from(segment.ack > una || repeats)),
        };
        let told = self.t.marks.0;
        let newly = ecn::newly_marked(told, segment.flags, packets);
        self.t.marks = (told + newly, newly);
    }

    /// Bytes known to have come: acknowledged, or reported by SACK.
    fn arrived(&self) -> u64 {
        self.t.out.una() - Seq::FIRST + self.t.out.sacked()
    }

    /// An ECN echo has come; `flight`, `arrived`: before the ACK that carried it.
    fn on_ecn_echo(&mut self, now: Time, flight: u64, arrived: u64, witness: &mut impl Witness) {
        if self.t.out.una() <= self.t.reduced_until || self.recovery.repairing() {
            return;
        }
        self.t.window.flight = match self.stack.reduce_from {
            ReduceFrom::Flight => flight,
            ReduceFrom::Window => self.t.reducible(flight, self.t.window.cwnd),
        };
        let echo = Loss { now, kind: LossKind::EcnEcho, seq: self.t.out.una() };
        self.t.respond(echo, None, &mut Report::to(witness));
        self.recovery.on_echo(self.arrived().saturating_sub(arrived), flight, &mut self.t);
        self.t.echoed_until = self.t.out.max();
    }

    #[inline(always)]
    fn rtt_sample<const PLAIN: bool>(
        &mut self,
        now: Time,
        segment: &Segment,
        covered: &crate::outstanding::Covered,
    ) -> Option<Span> {
        let sent = if self.stack.timestamps {
            Some(segment.ts_ecr).filter(|&t| t != Time::ZERO)
        } else {
            covered.newest_sent.filter(|_| !covered.resent)
        };
        if !PLAIN && segment.ack >= self.t.timed_end {
            self.t.timed_end = NOTHING_TIMED;
            self.t.rtt.time(self.t.timed_at, now, (self.t.out.una(), self.t.out.max()));
            self.read_rtt();
        }
        let sent = sent?;
        let rtt = self.t.rtt.measure(sent, now);
        if PLAIN || self.stack.rto_samples == RtoSamples::EveryAck {
            self.sample(rtt, rtt);
            self.t.rtt.tick(sent, now);
        } else {
            self.t.window.rtt_min = Some(self.t.rtt.note_min(rtt));
        }
        Some(rtt)
    }

    /// A sample of [`RtoSamples::Departures`], of when the first and the last left of what was sent once and is newly `acknowledged`
    /// or else `reported`, or of what the segment `echo`es; the timeout goes by the first of them, and all else by the last.
    #[inline(always)]
    fn sample_by_departure(
        &mut self,
        now: Time,
        echo: Option<Time>,
        acknowledged: Option<(Time, Time)>,
        reported: Option<(Time, Time)>,
    ) -> Option<Span> {
        let (first, last) = match (acknowledged, reported) {
            (Some((first, _)), Some((_, last))) => (first, last),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => {
                let rtt = timestamps_apart(echo?, now).max(TIMESTAMP); // `tcp_rtt_tsopt_us`
                return Some(self.take_sample(rtt, rtt));
            }
        };
        let rtt = self.t.rtt.measure(first, now);
        let least = if last == first { rtt } else { self.t.rtt.measure(last, now) };
        Some(self.take_sample(rtt, least))
    }

    #[inline(never)]
    fn take_sample(&mut self, rtt: Span, least: Span) -> Span {
        self.sample(rtt, least);
        least
    }

    #[inline(always)]
    fn sample(&mut self, rtt: Span, least: Span) {
        let (smoothed, min) = self.t.rtt.sample_apart(rtt, least, (self.t.out.una(), self.t.out.max()));
        (self.t.window.srtt, self.t.window.rtt_min) = (Some(smoothed), Some(min));
    }

    #[inline(always)]
    pub(super) fn read_rtt(&mut self) {
        self.t.window.srtt = self.t.rtt.smoothed();
        self.t.window.rtt_min = self.t.rtt.min();
    }

    /// Whether the congestion window is what keeps the sender from sending more: in slow start it was at least half
    /// used at some time of the round, so that ACKs of parts of it do not count as idleness; later it was full (RFC 7661's
    /// concern; the test is Linux's `tcp_is_cwnd_limited`).
    fn window_limits(&self) -> bool {
        let w = &self.t.window;
        if let Some(usage) = &self.usage {
            return usage.limits(w);
        }
        let flight = real(w.flight);
        if w.in_slow_start() {
            2.0 * flight.max(real(self.round_flight)) >= w.cwnd
        } else {
            flight + w.mss > w.cwnd || self.is_deferred()
        }
    }

    /// A round ends when what was outstanding at its first ACK is acknowledged.
    #[inline(always)]
    fn count_round(&mut self, ack: Seq, witness: &mut impl Witness) {
        if self.round_end == Seq::ZERO {
            witness.on_round();
            self.round_flight = self.t.window.flight;
            self.round_end = self.t.out.nxt();
        }
        if ack >= self.round_end {
            witness.on_round_over();
            self.round_end = Seq::ZERO;
        }
    }
}

#[cfg(test)]
mod tests;
