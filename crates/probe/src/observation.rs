//! The tests there are, and what one of them shows. Not for: doing one (see [`super::observe`]); judging (see
//! [`super::judge`]).

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Parts that are acknowledged.
pub const PARTS: usize = 3;

/// The most ACKs that one segment's is cut into, by anybody: the split-ACK tool's (split, section 3.4.3).
pub const MOST_PIECES: u32 = 1024;
/// ACKs that a stranger gets for a segment at most.
pub const MOST_OF_A_SEGMENT: u32 = 32;
/// The same, in a test.
pub const MOST_OF_A_TEST: u32 = 96;
/// The most segments whose ACKs a test cuts.
const MOST_SEGMENTS: u32 = 1024;

/// A test: which ACKs are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
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
    /// As many as one likes, as the split-ACK tool: it is shown, and no verdict is by it.
    Cut(Cut),
}

/// A division of one's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cut {
    /// ACKs for each segment; 0: none, for any.
    pub pieces: u32,
    /// Segments whose ACKs are sent, the first ones.
    pub first: u32,
    /// After so many ACKs no more go.
    pub stop: Option<u32>,
}

impl Cut {
    /// The most ACKs it sends.
    pub fn most_acks(self) -> u32 {
        (self.pieces * self.first).min(self.stop.unwrap_or(u32::MAX))
    }
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.pieces)?;
        if self.first != PARTS as u32 {
            write!(f, ":first={}", self.first)?;
        }
        self.stop.map_or(Ok(()), |stop| write!(f, ":stop={stop}"))
    }
}

impl FromStr for Cut {
    type Err = String;

    /// Reads `N`, `N:first=K`, `N:first=K:stop=Z`.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |what: &str, text: &str, least: u32, most: u32| {
            let found = text.parse().ok().filter(|n| (least..=most).contains(n));
            found.ok_or_else(|| {
                format!("{what}: expected a whole number of {least} to {most}, not \"{text}\"")
            })
        };
        let mut parts = text.split(':');
        let pieces = number("ACKs a segment", parts.next().unwrap_or_default(), 0, MOST_PIECES)?;
        let mut cut = Self { pieces, first: PARTS as u32, stop: None };
        for part in parts {
            match part.split_once('=') {
                Some(("first", value)) => cut.first = number("first", value, 1, MOST_SEGMENTS)?,
                Some(("stop", value)) => {
                    cut.stop = Some(number("stop", value, 1, MOST_PIECES * MOST_SEGMENTS)?);
                }
                _ => return Err(format!("expected first=K or stop=Z, not \"{part}\"")),
            }
        }
        Ok(cut)
    }
}

impl std::fmt::Display for Test {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cut(cut) => cut.fmt(f),
            letter => write!(f, "{letter:?}"),
        }
    }
}

impl FromStr for Test {
    type Err = String;

    /// Reads a letter or a [`Cut`].
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return text.parse().map(Self::Cut);
        }
        let found = Self::ALL.into_iter().find(|t| t.to_string().eq_ignore_ascii_case(text));
        found.ok_or_else(|| {
            format!("expected a letter of A to G, or N, N:first=K, N:first=K:stop=Z, not \"{text}\"")
        })
    }
}

impl From<Test> for String {
    fn from(test: Test) -> Self {
        test.to_string()
    }
}

impl TryFrom<String> for Test {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl Test {
    /// Those with letters, in their order: what verdicts are by.
    pub const ALL: [Self; 7] = [Self::A, Self::B, Self::C, Self::D, Self::E, Self::F, Self::G];

    /// Into how many ACKs that of a segment is cut.
    pub fn pieces(self) -> u32 {
        match self {
            Self::A | Self::F => 1,
            Self::B => 2,
            Self::C => 4,
            Self::D => 8,
            Self::E | Self::G => 12,
            Self::Cut(cut) => cut.pieces,
        }
    }

    /// Segments that are acknowledged so.
    pub fn segments(self) -> u32 {
        match self {
            Self::Cut(cut) => cut.first,
            _ => PARTS as u32,
        }
    }

    /// The most ACKs it sends.
    pub fn most_acks(self) -> u32 {
        match self {
            // One, if the three come in a round; else one a round.
            Self::F => PARTS as u32,
            Self::G => 1 + PARTS as u32 * self.pieces(),
            Self::Cut(cut) => cut.most_acks(),
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
    /// When it was asked for: date and time by UTC (RFC 3339).
    #[serde(default)]
    pub began: String,
    /// Round-trip time, s: of the connection's opening, within a factor of two of what the server's others have.
    pub rtt_s: f64,
    /// Time to live, or hop limit, that the server's first segment came with.
    #[serde(default)]
    pub ttl: u8,
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
    /// ACKs withheld: those that an ACK for each segment that came would have been, less the segments acknowledged.
    #[serde(default)]
    pub withheld: u32,
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
    /// Bytes of the answer that came, each once.
    #[serde(default)]
    pub data_bytes: u64,
    /// Whether the answer was over.
    pub ended: bool,
    /// Bytes that never came.
    pub missing_bytes: u64,
    /// Whether the application ended the first round, and not the window: what of it came is no window.
    #[serde(default)]
    pub application_limited: bool,
}

impl Observation {
    /// Segments in all, new and repeated.
    pub fn packets(&self) -> u32 {
        self.data_packets + self.retransmitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_read_as_they_are_written() {
        let words = ["A", "G", "0", "200", "1024", "64:first=5", "64:first=5:stop=100", "8:stop=3"];
        for word in words {
            let test: Test = word.parse().unwrap();
            assert_eq!(test.to_string(), word);
            let json = serde_json::to_string(&test).unwrap();
            assert_eq!(
                (json.as_str(), serde_json::from_str(&json).unwrap()),
                (&*format!("\"{word}\""), test)
            );
        }
        assert_eq!("12:first=3".parse::<Test>().unwrap().to_string(), "12", "three are what is usual");
    }

    #[test]
    fn what_is_no_test_is_refused_with_what_is_one() {
        for (word, says) in [
            ("H", "a letter of A to G"),
            ("", "a letter of A to G"),
            ("1025", "0 to 1024, not \"1025\""),
            ("4:first=0", "first: expected a whole number of 1 to 1024"),
            ("4:stop=x", "stop: expected"),
            ("4:last=1", "expected first=K or stop=Z, not \"last=1\""),
            ("4294967296", "0 to 1024"),
        ] {
            let message = word.parse::<Test>().unwrap_err();
            assert!(message.contains(says), "{word}: {message}");
        }
    }

    #[test]
    fn the_most_acks_of_a_test_are_known_before_it_is_made() {
        let most = |word: &str| word.parse::<Test>().unwrap().most_acks();
        assert_eq!(
            ["A", "E", "G", "0", "200", "1024:first=1024", "200:stop=7"].map(most),
            [3, 36, 37, 0, 600, 1 << 20, 7]
        );
    }
}
