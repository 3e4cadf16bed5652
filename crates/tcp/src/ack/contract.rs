//! The contract of an ACK policy, and what it is told and says. Its members have files of their own, and [`super`] lists
//! them.

use crate::detect::{AnyDetector, Phase};
use crate::wheel::Wheel;
use crate::{Arrival, Seq, Span, Spec, Time};

/// Where a policy puts its ACKs. Mostly there is one at a time, which needs no queue.
#[derive(Debug, Clone, Default)]
pub struct AckSink {
    first: Option<Seq>,
    more: Option<Box<More>>,
}

/// Those that leave after the first.
#[derive(Debug, Clone, Default)]
struct More {
    numbers: std::collections::VecDeque<Seq>,
}

impl AckSink {
    /// An ACK with this number leaves after those before it.
    #[inline]
    pub fn ack(&mut self, number: Seq) {
        if self.first.is_none() {
            self.first = Some(number);
        } else {
            self.more.get_or_insert_default().numbers.push_back(number);
        }
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Takes the ACK out that leaves first.
    #[inline]
    pub fn pop(&mut self) -> Option<Seq> {
        let first = self.first.take()?;
        if let Some(more) = &mut self.more {
            self.first = more.numbers.pop_front();
        }
        Some(first)
    }
}

/// Whether what a policy's ACKs say is true. Those that lie are for testing a sender's defences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Honesty {
    /// Data that is acknowledged has come, and a duplicate ACK answers a segment out of order.
    Honest,
    /// Data that is acknowledged has come, but duplicate ACKs may answer nothing.
    FeignsLoss,
    /// What is acknowledged may never come: the receiver has given up that every byte does.
    FeignsArrival,
}

/// What a policy does at present, in numbers: for whoever carries it out where it cannot be asked at every segment, such
/// as on the way out of a kernel. It follows the policy exactly if it is asked for anew after each segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Segments that an ACK covers, at least 1.
    pub covers: u64,
    /// How long an ACK waits at most that would cover fewer; 0 where none waits.
    pub wait: Span,
    /// Parts into which an ACK that is due is cut, at least 1.
    pub parts: u64,
    /// How many of the ACKs that are due may be cut, counted from the connection's first; none: no limit.
    pub first: Option<u64>,
    /// Whether the ACK of a segment that fills a hole is cut too.
    pub cuts_holes: bool,
    /// Whether a window without room for another segment lets the ACK go.
    pub minds_window: bool,
}

impl Manner {
    /// An ACK per segment, whole: where every segment is acknowledged already, nothing is done.
    pub const EVERY: Self =
        Self { covers: 1, wait: Span::ZERO, parts: 1, first: None, cuts_holes: false, minds_window: false };
}

/// What a policy has learnt of the connection, and another one may go on with.
#[derive(Debug, Clone, Copy)]
pub enum Learnt<'a> {
    /// Nothing that another could use.
    Nothing,
    /// How many segments the sender has asked an ACK to cover.
    Request(u64),
    /// What a detector has heard; `built`: what it was built from.
    Phase {
        /// The detector.
        detector: &'a AnyDetector,
        /// Its name and parameters.
        built: &'a Spec,
    },
}

/// The contract of an ACK policy.
pub trait AckPolicy: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// A data segment has come.
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink);
    /// The time asked for by [`AckPolicy::deadline`] has come; `rcv_nxt` is the next sequence number expected.
    fn on_timer(&mut self, _now: Time, _rcv_nxt: Seq, _out: &mut AckSink) {}
    /// When to call [`AckPolicy::on_timer`].
    fn deadline(&self) -> Option<Time> {
        None
    }
    /// Whether [`AckPolicy::deadline`] ever asks for anything.
    fn has_timer(&self) -> bool {
        true
    }
    /// A segment is about to be taken in that begins a third SACK block, or adds to one that is not among the two latest; an ACK
    /// that leaves here tells of what was there before (Linux 6.18, `tcp_sack_new_ofo_skb`). [`AckPolicy::on_segment`] follows.
    fn on_block(&mut self, _rcv_nxt: Seq, _out: &mut AckSink) {}
    /// A pure ACK has come whose sequence number is not the next expected; everything below `number` has come.
    fn on_pure_ack(&mut self, _now: Time, _number: Seq, _out: &mut AckSink) {}
    /// A segment of data leaves; [`AckPolicy::on_carried`] or the ACK that it carries is told besides.
    fn on_data(&mut self, _now: Time) {}
    /// Everything below `number` has been acknowledged by a segment of data: what waits for an ACK has got it.
    fn on_carried(&mut self, _number: Seq) {}
    /// Everything below `number` is acknowledged by an ACK that leaves because reading has opened the window
    /// (Linux 6.18, `__tcp_cleanup_rbuf`).
    fn on_opened(&mut self, number: Seq) {
        self.on_carried(number);
    }
    /// Everything below `number` is acknowledged by an ACK that leaves because a segment was refused (RFC 7323, section 5.3, R1).
    fn on_refused(&mut self, number: Seq) {
        self.on_opened(number);
    }
    /// What it has learnt, for one that takes its place.
    fn learnt(&self) -> Learnt<'_> {
        Learnt::Nothing
    }
    /// It takes the place of another while the connection runs; what waited for an ACK has got it. What the other has learnt
    /// may be kept.
    fn take_over(&mut self, _learnt: Learnt<'_>) {}
    /// The phase that it takes the sender to be in, if it goes by one.
    fn phase(&self) -> Option<Phase> {
        None
    }
    /// How many segments an ACK of it covers at most at present, if it learns that.
    fn burst(&self) -> Option<u64> {
        None
    }
    /// What it does at present, if numbers can say it; what is urgent is acknowledged at once in any case.
    fn manner(&self) -> Option<Manner> {
        None
    }
    /// Which wheel the host's timers are in, if they are, before anything else.
    fn set_timers(&mut self, _wheel: Option<Wheel>) {}
    /// Whether the ACK of the last segment leaves when that has been read, and tells of the room that makes.
    fn follows_reading(&self) -> bool {
        false
    }
    /// Whether its ACKs are true.
    fn honesty(&self) -> Honesty {
        Honesty::Honest
    }
}
