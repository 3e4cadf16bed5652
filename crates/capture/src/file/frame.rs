//! What a capture file has of a packet.

use super::interface::LinkType;
use truckee_tcp::Time;

/// A packet as it was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// When, nanoseconds since 1970 (or whatever the capturing clock began with).
    pub time: Time,
    /// What its first bytes are.
    pub link: LinkType,
    /// Bytes it had on the wire; at least as many as were captured.
    pub wire_len: u32,
    /// What was captured of it.
    pub data: &'a [u8],
    /// What its writer notes of it, where that is a comment.
    pub comment: Option<&'a str>,
}
