//! What stations say to each other.

use crate::Span;
use crate::phy::Rate;
use crate::report::{Failure, Kind};

/// In place of a station's number: everyone.
pub(crate) const EVERYONE: u32 = u32::MAX;

/// A frame on the air, without the packets in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub kind: Kind,
    /// Who sends it.
    pub from: u32,
    /// Who it is for, or [`EVERYONE`].
    pub to: u32,
    pub rate: Rate,
    /// Bytes of the PSDU.
    pub bytes: u32,
    pub airtime: Span,
    /// The duration field: how long after the frame's end the exchange goes on.
    pub nav: Span,
    /// Of the sender's packets on the way, how many are in it.
    pub packets: u32,
    /// An aggregate begins with a block acknowledgement request.
    pub request: bool,
    /// In what asks for a block acknowledgement, and in the answer: the sequence number that the window or the bitmap
    /// begins with.
    pub first: u64,
    /// Which of 64 from `first` on have been received.
    pub bitmap: u64,
}

/// A packet at a station, waiting or on the way to the next one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    pub id: u64,
    pub bytes: u32,
    /// Who sent it first.
    pub source: u32,
    /// Who it is for in the end.
    pub dest: u32,
    /// Who it is for on this hop.
    pub next: u32,
    /// By sender and next station, without end: the standard's twelve bits are enough to tell all of them apart that
    /// can be under way at once.
    pub seq: u64,
    /// Short and long retry counts.
    pub short: u32,
    pub long: u32,
    /// Whether anybody wants to know when its sender is done with it.
    pub tells_sent: bool,
    /// It was on the air before: the retry bit.
    pub tried: bool,
    /// What ended the last attempt. The laboratory's knowledge.
    pub failure: Failure,
    /// The next station has it. The laboratory's knowledge.
    pub arrived: bool,
}

impl Pending {
    pub fn new(id: u64, bytes: u32, source: u32, dest: u32, next: u32) -> Self {
        let failure = Failure::Weak;
        let (seq, short, long, tried, arrived) = (0, 0, 0, false, false);
        let tells_sent = true;
        Self { id, bytes, source, dest, next, seq, short, long, tells_sent, tried, failure, arrived }
    }
}
