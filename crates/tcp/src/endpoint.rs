//! One end of a connection: what it sends, what it receives, and what opens and closes both.
//!
//! A connection is two-way. An endpoint has a half that sends data, a half that receives it, or both; a half that a flow does
//! not use is not there. Data carries the ACK that waits, and cancels its delay (RFC 9293, section 3.8.6.3; RFC 5681, section
//! 4.2). Each side closes by a FIN of its own, which is repaired like data: by the sending half where there is one, else by
//! the receiving half, which answers the peer's FIN with its own.
//!
//! Driven like its halves: [`Endpoint::on_segment`], [`Endpoint::on_timer`], then [`Endpoint::poll_transmit`] until it says
//! `None`; timers are [`Endpoint::deadline`] and [`Endpoint::release`].

use crate::ack::AnyAckPolicy;
use crate::sender::{Parts, State};
use crate::{Receiver, Segment, Sender, Stack, Time, Transmit, Witness, cache, flags};

/// One end of a connection; by default neither half is there.
#[derive(Debug, Clone, Default)]
pub struct Endpoint {
    tx: Option<Box<Sender>>,
    rx: Option<Box<Receiver>>,
}

impl Endpoint {
    /// An end that only sends data.
    pub fn sender(stack: &Stack, parts: Parts) -> Self {
        Self::of_sender(Sender::new(stack, parts))
    }

    /// An end that is this sender alone.
    pub fn of_sender(sender: Sender) -> Self {
        Self { tx: Some(Box::new(sender)), rx: None }
    }

    /// An end that only receives it; `sack`: whether it sends SACK blocks.
    pub fn receiver(stack: &Stack, policy: AnyAckPolicy, sack: bool) -> Self {
        Self::of_receiver(Receiver::new(stack, policy, sack))
    }

    /// An end that is this receiver alone.
    pub fn of_receiver(receiver: Receiver) -> Self {
        Self { tx: None, rx: Some(Box::new(receiver)) }
    }

    /// An end that does both; `sack`: whether it sends SACK blocks, which is as the peer's recovery wants it.
    pub fn both(stack: &Stack, parts: Parts, policy: AnyAckPolicy, sack: bool) -> Self {
        let (mut tx, mut rx) = (Sender::new(stack, parts), Receiver::new(stack, policy, sack));
        tx.leave_acks_to_receiver();
        rx.leave_closing_to_sender();
        Self { tx: Some(Box::new(tx)), rx: Some(Box::new(rx)) }
    }

    /// Has the processor fetch what the next segment will need.
    #[inline(always)]
    pub fn prefetch(&self) {
        if let Some(tx) = &self.tx {
            cache::prefetch(&**tx);
        }
        if let Some(rx) = &self.rx {
            cache::prefetch(&**rx);
        }
    }

    /// The same of what the halves refer to, which have been fetched.
    #[inline(always)]
    pub fn prefetch_beyond(&self) {
        if let Some(tx) = &self.tx {
            tx.outstanding().prefetch();
        }
        if let Some(rx) = &self.rx {
            rx.prefetch_beyond();
        }
    }

    /// The half that sends.
    pub fn tx(&self) -> Option<&Sender> {
        self.tx.as_deref()
    }

    /// The half that sends, for its application.
    pub fn tx_mut(&mut self) -> Option<&mut Sender> {
        self.tx.as_deref_mut()
    }

    /// The half that receives.
    pub fn rx(&self) -> Option<&Receiver> {
        self.rx.as_deref()
    }

    /// The half that receives, for its application.
    pub fn rx_mut(&mut self) -> Option<&mut Receiver> {
        self.rx.as_deref_mut()
    }

    /// Opens the connection from this end: a SYN is due, or, without handshake, data may flow.
    pub fn open(&mut self, now: Time, witness: &mut impl Witness) {
        if let Some(tx) = &mut self.tx {
            tx.open(now, witness);
        }
    }

    /// Waits for the peer to open it; without handshake it is open.
    pub fn listen(&mut self, now: Time, witness: &mut impl Witness) {
        if let Some(tx) = &mut self.tx {
            tx.listen(now, witness);
        }
    }

    /// Whether all that this end has to send, FIN included, is sent and acknowledged.
    pub fn finished(&self) -> bool {
        self.tx.as_ref().is_none_or(|tx| tx.state() == State::Finished)
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
        if let Some(rx) = &mut self.rx {
            rx.on_segment(now, segment, congestion_experienced, witness);
        }
        if let Some(tx) = &mut self.tx {
            if let Some(rx) = &self.rx
                && tx.state() == State::Listening
                && segment.has(flags::ACK)
            {
                tx.agree(rx.ecn());
                tx.accept(now, segment, rx.handshake_rtt(), witness);
            }
            tx.on_segment(now, segment, witness);
        }
    }

    /// The time asked for by [`Self::deadline`] has come.
    pub fn on_timer(&mut self, now: Time, witness: &mut impl Witness) {
        if let Some(rx) = &mut self.rx
            && rx.deadline().is_some_and(|d| d <= now)
        {
            rx.on_timer(now);
        }
        if let Some(tx) = &mut self.tx {
            tx.on_timer(now, witness);
        }
    }

    /// When to call [`Self::on_timer`].
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let tx = self.tx.as_ref().and_then(|tx| tx.deadline());
        match &self.rx {
            None => tx,
            Some(rx) => tx.into_iter().chain(rx.deadline()).min(),
        }
    }

    /// Whether [`Self::deadline`] is before a time.
    #[inline(always)]
    pub fn is_due_before(&self, time: Time) -> bool {
        self.tx.as_ref().is_some_and(|tx| tx.is_due_before(time))
            || self.rx.as_ref().is_some_and(|rx| rx.deadline().is_some_and(|at| at < time))
    }

    /// When to ask [`Self::poll_transmit`] again although nothing happens: pacing holds a segment back until then.
    #[inline]
    pub fn release(&self) -> Option<Time> {
        self.tx.as_ref().and_then(|tx| tx.release())
    }

    /// The next segment to send now, if any.
    pub fn poll_transmit(&mut self, now: Time, witness: &mut impl Witness) -> Option<Transmit> {
        let mut out = Transmit::default();
        self.transmit(now, witness, &mut out).then_some(out)
    }

    /// As [`Self::poll_transmit`], written in place, whatever was there; whether there is one.
    #[inline]
    pub fn transmit(&mut self, now: Time, witness: &mut impl Witness, out: &mut Transmit) -> bool {
        match (&mut self.tx, &mut self.rx) {
            (Some(tx), None) => tx.transmit(now, witness, out),
            (None, Some(_)) => self.acknowledge(now, out),
            (Some(_), Some(_)) => self.transmit_both(now, witness, out),
            (None, None) => false,
        }
    }

    /// As [`Self::transmit`] of an end that only receives.
    #[inline]
    fn acknowledge(&mut self, now: Time, out: &mut Transmit) -> bool {
        let Some(rx) = &mut self.rx else { return false };
        *out = Transmit::default();
        let due = rx.transmit(now, &mut out.segment);
        out.last = rx.is_silent();
        due
    }

    /// Data first, which carries the ACK that waits.
    fn transmit_both(&mut self, now: Time, witness: &mut impl Witness, out: &mut Transmit) -> bool {
        let (Some(tx), Some(rx)) = (&mut self.tx, &mut self.rx) else { return false };
        if tx.transmit(now, witness, out) {
            if out.segment.has(flags::ACK) {
                rx.carry(now, &mut out.segment);
            }
            out.last = false;
            return true;
        }
        *out = Transmit::default();
        let due = rx.transmit(now, &mut out.segment);
        if due && !out.segment.has(flags::SYN) {
            out.segment.seq = tx.outstanding().nxt();
        }
        due
    }
}
