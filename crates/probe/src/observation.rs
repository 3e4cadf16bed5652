//! The tests there are, and what one of them shows. Not for: doing one (see [`super::observe`]); judging (see
//! [`super::judge`]).

use serde::{Deserialize, Serialize};

/// Parts that are acknowledged.
pub const PARTS: usize = 3;

/// A test: which ACKs are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Test {
    /// One ACK for each of the first three segments.
    A,
    /// Two.
    B,
    /// Four.
    C,
    /// Eight.
    D,
    /// Twelve.
    E,
    /// One ACK for all three.
    F,
    /// One ACK for the whole first round, then twelve for each of the first three segments of the second.
    G,
}

impl Test {
    /// All of them, in their order.
    pub const ALL: [Self; 7] = [Self::A, Self::B, Self::C, Self::D, Self::E, Self::F, Self::G];

    /// Into how many ACKs that of a segment is cut.
    pub fn pieces(self) -> u32 {
        match self {
            Self::A | Self::F => 1,
            Self::B => 2,
            Self::C => 4,
            Self::D => 8,
            Self::E | Self::G => 12,
        }
    }

    /// The most ACKs it sends.
    pub fn most_acks(self) -> u32 {
        match self {
            // One, if the three come in a round; else one a round.
            Self::F => PARTS as u32,
            Self::G => 1 + PARTS as u32 * self.pieces(),
            _ => PARTS as u32 * self.pieces(),
        }
    }
}

/// What a test has shown. Segments are data segments of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The test.
    pub test: Test,
    /// Which time, from 1 on.
    pub repetition: u32,
    /// Round-trip time, s: of the connection's opening, within a factor of two of what the server's others have.
    pub rtt_s: f64,
    /// The answer's status; none: its head was not to be read.
    pub status: Option<u16>,
    /// Payload of the largest segment, bytes.
    pub mss: u32,
    /// Segments of the first round: the initial window.
    pub window_segments: u32,
    /// Their bytes.
    pub window_bytes: u64,
    /// Segments of the handshake of TLS before, which may have opened the window.
    pub handshake_segments: u32,
    /// New segments of each round until the last ACK, the first included.
    pub rounds: Vec<u32>,
    /// ACKs sent.
    pub acks: u32,
    /// Segments they acknowledged.
    pub acked_segments: u32,
    /// Bytes they acknowledged.
    pub acked_bytes: u64,
    /// New segments after the first ACK, as long as they came without a pause.
    pub second_segments: u32,
    /// Their bytes.
    pub second_bytes: u64,
    /// The largest of them, bytes.
    pub second_largest: u32,
    /// New segments after a pause: probes for a lost tail, or the timer's.
    pub late_segments: u32,
    /// Segments without anything new.
    pub retransmitted: u32,
    /// Those of them that were sent before the server can have had the last ACK: it or the path stood still.
    pub early_retransmissions: u32,
    /// When the first of them came, s after the last new segment of the second round.
    pub first_retransmission_s: Option<f64>,
    /// Segments with anything new, in all.
    pub data_packets: u32,
    /// Whether the answer was over.
    pub ended: bool,
    /// Bytes that never came.
    pub missing_bytes: u64,
    /// Whether the application ended the first round, and not the window: what of it came is no window.
    #[serde(default)]
    pub application_limited: bool,
}
