//! An ACK that is held back: how many segments it would cover, and until when it may wait. Not for: deciding how many and
//! how long, which is the policies' business.

use super::AckSink;
use crate::{Arrival, Seq, Span, Time};

/// What waits for one ACK.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    segments: u64,
    deadline: Option<Time>,
}

impl Held {
    /// Another segment has come. The ACK leaves if `segments` wait by now, or at once if it is `due`; otherwise it waits for
    /// `longest` from the first of them on.
    #[inline]
    pub(super) fn another(
        &mut self,
        arrival: &Arrival,
        segments: u64,
        due: bool,
        longest: impl FnOnce() -> Span,
        out: &mut AckSink,
    ) {
        self.segments += 1;
        if due || self.segments >= segments {
            self.release(arrival.rcv_nxt, out);
        } else if self.deadline.is_none() {
            self.deadline = Some(arrival.now + longest());
        }
    }

    /// The timer has gone off.
    pub(super) fn on_timer(&mut self, now: Time, rcv_nxt: Seq, out: &mut AckSink) {
        if self.deadline.is_some_and(|d| now >= d) {
            self.release(rcv_nxt, out);
        }
    }

    /// Another segment has carried it.
    pub(super) fn settle(&mut self) {
        *self = Self::default();
    }

    /// When it has to leave, if one is held back.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn release(&mut self, number: Seq, out: &mut AckSink) {
        *self = Self::default();
        out.ack(number);
    }
}
