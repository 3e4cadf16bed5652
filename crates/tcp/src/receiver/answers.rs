//! What leaves a receiver: SYN-ACK and ACKs, by themselves or on the data of the other half, and what is repeated of them. Not for:
//! when an ACK is due, which is the policy's, and what windows it tells, which is `autotuned.rs`'s.

use super::Receiver;
use super::meeting::{Part, Repeat};
use super::waiting::Waiting;
use crate::ack::AckPolicy;
use crate::{Segment, Seq, Span, Stack, Time, flags};

impl Receiver {
    /// The next segment to send now, if any.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut out = Segment::default();
        self.transmit(now, &mut out).then_some(out)
    }

    /// Whether ACKs have nothing to tell but their number, so that [`Self::acknowledge_next`] is all there is to
    /// [`Self::transmit`].
    #[inline]
    pub fn is_terse(&self) -> bool {
        self.terse
    }

    /// See [`Self::is_terse`]. Also returns whether nothing else is due now.
    #[inline(always)]
    pub fn acknowledge_next(&mut self, now: Time, out: &mut Segment) -> Option<bool> {
        let number = self.sink.pop()?;
        self.acked = self.acked.max(number);
        self.acks += 1;
        self.segment(now, number, 0, out);
        self.promise_window();
        Some(self.sink.is_empty())
    }

    /// As [`Self::poll_transmit`], written in place, whatever was there; whether there is one.
    #[inline]
    pub fn transmit(&mut self, now: Time, out: &mut Segment) -> bool {
        if self.syn_ack_due {
            self.greet(now, out);
            return true;
        }
        let again = self.repeat.as_ref().is_some_and(|repeat| repeat.due);
        let number = match self.sink.pop() {
            Some(number) => number,
            None if again => self.acked.max(self.rcv_nxt),
            None => return false,
        };
        self.acked = self.acked.max(number);
        self.acks += 1;
        // The peer has closed and has got everything acknowledged: this side closes with the same segment.
        let fin = self.closes && self.fin.is_some_and(|end| number >= end);
        if fin {
            self.repeat(Part::Fin, now);
        }
        self.segment(now, number, if fin { flags::FIN } else { 0 }, out);
        self.promise_window();
        self.add_options(out);
        true
    }

    /// Whether no ACK is due now.
    #[inline]
    pub(crate) fn is_silent(&self) -> bool {
        self.sink.is_empty() && self.repeat.is_none()
    }

    /// The SYN-ACK.
    fn greet(&mut self, now: Time, out: &mut Segment) {
        self.syn_ack_due = false;
        if let Some(meeting) = &mut self.meeting {
            meeting.greeted(now);
            if meeting.timed {
                self.repeat(Part::SynAck, now);
            }
        }
        self.segment(now, Seq::FIRST, flags::SYN | self.ecn.greeting(), out);
        (out.seq, out.request) = (Seq::ZERO, self.rate_granted);
    }

    #[inline(always)]
    fn segment(&self, now: Time, ack: Seq, flag: u8, out: &mut Segment) {
        (out.seq, out.ack, out.len) = (Seq::FIRST, ack, 0);
        out.window = self.window;
        (out.flags, out.request) = (flags::ACK | flag, 0);
        out.sack.clear();
        (out.ts_val, out.ts_ecr) =
            if self.timestamps { (now.max(Time::ns(1)), self.ts_recent) } else { (Time::ZERO, Time::ZERO) };
    }

    /// A segment of the other half carries what is to be acknowledged: the ACK that is due next, or what waits for one.
    pub(crate) fn carry(&mut self, now: Time, segment: &mut Segment) {
        self.policy.on_data(now);
        let number = match self.sink.pop() {
            Some(number) => number,
            None => {
                let number = self.acked.max(self.rcv_nxt);
                self.policy.on_carried(number);
                number
            }
        };
        self.acked = self.acked.max(number);
        (segment.ack, segment.window) = (number, self.window);
        self.promise_window();
        segment.ts_ecr = if self.timestamps { self.ts_recent } else { Time::ZERO };
        self.add_options(segment);
    }

    /// What an ACK says besides its number.
    #[inline]
    fn add_options(&mut self, ack: &mut Segment) {
        ack.flags |= self.ecn.tell();
        if let Some(before) = self.waiting.as_mut().and_then(|waiting| waiting.before.take()) {
            return ack.sack = before;
        }
        let twice = self.twice.as_mut().and_then(|twice| twice.take());
        if self.sack && (twice.is_some() || self.waiting.is_some()) {
            let nothing = Waiting::default();
            let waiting = self.waiting.as_deref().unwrap_or(&nothing);
            ack.sack = waiting.blocks(ack.ack, twice, self.room_for_blocks());
        }
    }

    /// How many blocks fit into 40 bytes of options (RFC 2018, section 3).
    pub(super) fn room_for_blocks(&self) -> usize {
        if self.timestamps { 3 } else { 4 }
    }

    /// A SYN-ACK, or an ACK with FIN, leaves: it is sent again as long as nothing acknowledges it, each time after twice as long.
    fn repeat(&mut self, part: Part, now: Time) {
        let Stack { initial_rto, min_rto, max_rto, .. } = *self.stack;
        let wheel = self.stack.wheel();
        let first = self.handshake_rtt.map_or(initial_rto, |rtt| (3 * rtt).max(min_rto)); // RFC 6298, rule 2.2
        let fresh = Repeat::of(part, first.clamp(Span::ns(1), max_rto));
        let repeat = self.repeat.get_or_insert_with(|| Box::new(fresh));
        if repeat.part != part {
            **repeat = fresh;
        }
        repeat.leave(now, max_rto, wheel);
    }
}
