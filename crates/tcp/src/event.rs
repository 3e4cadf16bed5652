//! The events that every family sees: an ACK at the sender, a loss noticed by it, a segment at the receiver.
//!
//! Events grow: outside of this crate they are made by their constructors, and their fields set one by one.

use crate::{Seq, Span, Time};

/// What a lost packet died of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A full queue: the network wants less.
    Congestion,
    /// Noise, fading, a handoff: the network's load has nothing to do with it.
    Wireless,
}

impl Cause {
    /// Its name in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Congestion => "congestion",
            Self::Wireless => "wireless",
        }
    }
}

/// An ACK as it reaches a sender.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Ack {
    /// When.
    pub now: Time,
    /// Acknowledgement number.
    pub ack: Seq,
    /// Bytes that it newly acknowledges cumulatively; 0 for a duplicate.
    pub newly_acked: u64,
    /// Bytes that it shows to have been delivered, as bandwidth estimators count them: a duplicate counts one MSS, and
    /// the ACK that ends a gap what it covers less what its duplicates have counted.
    pub delivered: u64,
    /// Whether it is a duplicate (RFC 5681, section 2).
    pub duplicate: bool,
    /// RTT sample from the newest segment it covers; none if that would be ambiguous (Karn).
    pub rtt: Option<Span>,
    /// Send time of the newest segment that it shows to have arrived.
    pub sent: Option<Time>,
    /// One after the highest sequence number sent so far (SND.MAX).
    pub highest: Seq,
    /// The peer's clock when it sent the ACK (timestamps, RFC 7323); none where the option is off.
    pub peer_time: Option<Time>,
    /// Which of the sender's own timestamps it echoes (RFC 7323); none where the option is off.
    pub echo: Option<Time>,
    /// Bytes that its SACK blocks report for the first time, where the recovery reads them.
    pub newly_sacked: u64,
    /// DeliveredData (RFC 9937, section 5), bytes: what it acknowledges and no SACK block had reported, and what its blocks
    /// report for the first time; without SACK what duplicates stand for, as in `delivered`.
    pub newly_delivered: u64,
    /// What it says to have come twice (D-SACK, RFC 2883): `[from, to)`.
    pub dsack: Option<(Seq, Seq)>,
    /// Whether it echoes congestion (ECE, RFC 3168) on a connection with ECN, or tells of marked packets (RFC 9768).
    pub ecn_echo: bool,
    /// How many packets it newly tells to have come marked, where ECN is accurate (RFC 9768); else 0.
    pub ecn_marked: u64,
}

impl Ack {
    /// An ACK of `bytes` new bytes at `now` of which nothing else is known: what an algorithm is fed that is not part
    /// of a sender.
    pub fn of_bytes(now: Time, bytes: u64) -> Self {
        Self {
            now,
            ack: Seq::at(bytes),
            newly_acked: bytes,
            delivered: bytes,
            duplicate: false,
            rtt: None,
            sent: None,
            highest: Seq::at(bytes),
            peer_time: None,
            echo: None,
            newly_sacked: 0,
            newly_delivered: bytes,
            dsack: None,
            ecn_echo: false,
            ecn_marked: 0,
        }
    }
}

/// A data segment as it leaves the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Departure {
    /// When.
    pub now: Time,
    /// Its first sequence number.
    pub seq: Seq,
    /// Payload, bytes.
    pub bytes: u32,
    /// Whether it was sent before.
    pub retransmission: bool,
    /// Bytes in the air before it, as the recovery counts them.
    pub in_flight: u64,
    /// Whether the application has more to send behind it.
    pub more: bool,
}

impl Departure {
    /// A new segment of `bytes` at `now` of which nothing else is known.
    pub fn of_bytes(now: Time, bytes: u32) -> Self {
        Self { now, seq: Seq::FIRST, bytes, retransmission: false, in_flight: 0, more: true }
    }
}

/// A delivery-rate sample: what an ACK tells of how fast the path delivers (RS of [`crate::delivery`]).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sample {
    /// RS.prior_delivered.
    pub prior_delivered: u64,
    /// Bytes delivered over the interval.
    pub delivered: u64,
    /// Bytes per second; 0: none that could be trusted.
    pub rate: f64,
    /// Whether the rate may be the application's and not the path's.
    pub app_limited: bool,
    /// RS.tx_in_flight: bytes in the air when the segment had left.
    pub in_flight: u64,
    /// RS.lost: bytes lost since.
    pub lost: u64,
    /// Round-trip time, where it is not ambiguous.
    pub rtt: Option<Span>,
}

/// What is in the air after an ACK has been dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Air {
    /// Bytes in the air, as the recovery counts them.
    pub in_flight: u64,
    /// Bytes taken to be lost so far, over the whole connection.
    pub lost: u64,
    /// Bytes of them that this ACK, or a timer since the one before, has shown to be lost.
    pub newly_lost: u64,
    /// The delivery rate that the ACK shows, where a controller has asked for it.
    pub rate: Option<Sample>,
    /// Whether a loss is being repaired.
    pub repairing: bool,
    /// Bytes known to have been delivered over the whole connection: acknowledged, or sacked or, without SACK, counted
    /// by duplicates of the present ACK.
    pub delivered: u64,
    /// Of the segments that this ACK has newly shown to be lost, when the newest was sent.
    pub newest_lost: Option<Time>,
    /// Whether the application has more to send.
    pub more: bool,
    /// What passed since the last segment that the ACK covers was sent, if that was sent only once: as its `rtt`, and where a
    /// repair has ended a gap the time that the segment waited for it (ns-2's Vegas). None for a duplicate.
    pub last_rtt: Option<Span>,
}

/// How a sender noticed a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossKind {
    /// Duplicate ACKs or SACK blocks.
    DupAcks,
    /// The retransmission timer.
    Timeout,
    /// ECN: nothing was lost, but a router marked a packet in place of dropping it (RFC 3168).
    EcnEcho,
}

/// A loss event: one notice of trouble, whose response is asked once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// When it was noticed.
    pub now: Time,
    /// How.
    pub kind: LossKind,
    /// Sequence number of the segment taken to be lost.
    pub seq: Seq,
}

impl Loss {
    /// At `now`, of the segment at `seq`, noticed in this way.
    pub fn new(now: Time, kind: LossKind, seq: Seq) -> Self {
        Self { now, kind, seq }
    }
}

/// An arriving data segment, after the receiver has sorted it in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrival {
    /// When.
    pub now: Time,
    /// Payload, bytes.
    pub bytes: u32,
    /// Next sequence number expected, after this segment.
    pub rcv_nxt: Seq,
    /// Bytes in order that no ACK has covered yet, this segment's included.
    pub unacked: u64,
    /// Whether it carried the next byte expected.
    pub in_order: bool,
    /// Whether data is missing before or after it, it filled (part of) a hole, it was a duplicate, or it carried FIN:
    /// an ACK is due at once (RFC 5681, section 4.2).
    pub urgent: bool,
    /// The sequence number after its last byte.
    pub end: Seq,
    /// The window that the receiver advertises, bytes.
    pub window: u32,
    /// The receiver's own sample of the round-trip time, where the segment brought one: the handshake's, then those of
    /// the timestamps' echo (RFC 7323).
    pub rtt: Option<Span>,
    /// How many segments the sender asks an ACK to cover (draft-ietf-tcpm-ack-rate-request); 0: it does not ask.
    pub request: u8,
    /// Whether the receiver's window has opened for it ([`crate::stack::Autotuning`]).
    pub opens: bool,
    /// Whether more than half of the receiver's buffer is taken, where that is tuned.
    pub cramped: bool,
    /// Whether it says that its sender has no more to send at once (RFC 9293, section 3.9.1.2).
    pub pushed: bool,
    /// Whether something is still missing before what has come.
    pub hole: bool,
    /// Whether the window would be smaller than the last ACK told, as long as what is before that hole has not been read, where the
    /// window is tuned.
    pub narrows: bool,
    /// Whether ACKs report what has come behind it (RFC 2018).
    pub sack: bool,
}

impl Arrival {
    /// A segment of `bytes` in order at `now` of which nothing else is known, with none before it.
    pub fn of_bytes(now: Time, bytes: u32) -> Self {
        let end = Seq::FIRST + u64::from(bytes);
        Self {
            now,
            bytes,
            rcv_nxt: end,
            unacked: u64::from(bytes),
            in_order: true,
            urgent: false,
            end,
            window: u32::MAX,
            rtt: None,
            request: 0,
            opens: false,
            cramped: false,
            pushed: false,
            hole: false,
            narrows: false,
            sack: true,
        }
    }

    /// Whether the window has room for another segment of its size while no ACK leaves.
    pub fn leaves_room(&self) -> bool {
        self.unacked + u64::from(self.bytes) <= u64::from(self.window)
    }
}
