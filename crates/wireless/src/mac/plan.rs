//! What a station is about to send, or is sending: [`super::exchange`] makes it and carries it out.

use super::frame::EVERYONE;
use crate::phy::Rate;
use crate::report::Kind;

/// What is being sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Data, an aggregate, or a block acknowledgement request alone.
    pub kind: Kind,
    pub next: u32,
    pub rate: Rate,
    /// How many of the flight's first.
    pub packets: u32,
    /// Of the PSDU.
    pub bytes: u32,
    /// It begins with a block acknowledgement request.
    pub request: bool,
    /// The first sequence number that is still on the way.
    pub first: u64,
    /// The aggregate has been sent and not answered: what goes now is a request for the answer, and has gone so often.
    pub asked: Option<u32>,
}

impl Plan {
    pub fn none(rate: Rate) -> Self {
        let (next, packets, bytes, request, first) = (EVERYONE, 0, 0, false, 0);
        Self { kind: Kind::Data, next, rate, packets, bytes, request, first, asked: None }
    }
}
