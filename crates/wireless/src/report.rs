//! What a medium tells.

use crate::phy::Rate;
use crate::{NodeId, Span, Time};

/// Why a frame was not received by the station it was for: the laboratory's knowledge, which no station has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failure {
    /// Without what else was on the air it would have been received.
    Collision,
    /// Bits in error by noise alone, at the power it arrived with.
    Noise,
    /// It arrived too weak to be noticed.
    Weak,
    /// The receiver was sending.
    Transmitting,
    /// A request to send was received but not answered, since the receiver's network allocation vector said that the
    /// medium is somebody else's.
    Reserved,
}

impl Failure {
    /// All of them, in the order of [`Counters::failures`].
    pub const ALL: [Failure; 5] =
        [Failure::Collision, Failure::Noise, Failure::Weak, Failure::Transmitting, Failure::Reserved];
}

/// Why a packet was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loss {
    /// The station's queue was full.
    Queue,
    /// The retry limit was reached; what ended the last attempt, be it of the frame or of its answer.
    RetryLimit(Failure),
}

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Request to send.
    Rts,
    /// Clear to send, as an answer.
    Cts,
    /// Clear to send, to the sender itself: protection.
    CtsToSelf,
    /// One packet.
    Data,
    /// Several packets (A-MPDU).
    Aggregate,
    /// Acknowledgement.
    Ack,
    /// Block acknowledgement.
    BlockAck,
    /// Block acknowledgement request: asks a receiver no longer to wait for what was given up.
    BlockAckRequest,
}

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Report {
    /// A packet is handed up. Once for each packet and receiver, in the order in which it was sent.
    Delivered {
        /// When.
        at: Time,
        /// Which.
        packet: u64,
        /// Where.
        node: NodeId,
        /// Who sent it first.
        from: NodeId,
    },
    /// The next station has acknowledged a packet, or a packet for everyone has been sent: its sender is done with it.
    /// Unless [`Medium::offer_and_tell`](crate::Medium::offer_and_tell) has said that nobody asks.
    Sent {
        /// When.
        at: Time,
        /// Which.
        packet: u64,
        /// Its sender on this hop.
        node: NodeId,
    },
    /// A station gave a packet up. Routing protocols hear of a broken link by this.
    Dropped {
        /// When.
        at: Time,
        /// Which.
        packet: u64,
        /// Its sender on this hop.
        node: NodeId,
        /// Why.
        loss: Loss,
        /// The next station has the packet all the same: only acknowledgements were lost. It is, or will be, delivered.
        arrived: bool,
    },
    /// A station has taken packets from its queue: so many more may be offered. Unless
    /// [`Medium::tell_room`](crate::Medium::tell_room) says that nobody asks.
    Room {
        /// When.
        at: Time,
        /// Whose queue.
        node: NodeId,
        /// Packets that would now be accepted.
        packets: usize,
    },
    /// An attempt to send a packet has failed: whom it was for has not received the frame. It may be tried again. Only
    /// where frames are asked for.
    Missed {
        /// When the frame had ended.
        at: Time,
        /// Which packet.
        packet: u64,
        /// Its sender on this hop.
        node: NodeId,
        /// Why.
        failure: Failure,
    },
    /// A frame has ended. Only where they are asked for.
    Frame(FrameReport),
}

/// One frame on the air.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameReport {
    /// When it began to be sent.
    pub start: Time,
    /// How long it was on the air.
    pub airtime: Span,
    /// Its sender.
    pub from: NodeId,
    /// Its receiver; none if it is for everyone.
    pub to: Option<NodeId>,
    /// What it is.
    pub kind: Kind,
    /// How it was sent.
    pub rate: Rate,
    /// Bytes with all headers.
    pub bytes: u32,
    /// Packets in it, and how many of them its receiver did not get.
    pub packets: u32,
    /// Packets of it that its receiver did not get.
    pub lost: u32,
    /// Why the frame, or the last of those packets, was not received by whom it is for.
    pub failure: Option<Failure>,
}

/// What a station has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Time on the air, all frames.
    pub airtime: Span,
    /// Frames sent.
    pub frames: u64,
    /// Attempts to send a packet, retries and packets of aggregates among them.
    pub attempts: u64,
    /// Frames it sent, and packets of its aggregates, that whom they were for did not receive, by cause
    /// ([`Failure::ALL`]).
    pub failures: [u64; 5],
    /// Duplicates it received and did not hand up.
    pub duplicates: u64,
}
