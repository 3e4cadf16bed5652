//! Which TCP a server has, as far as its client can tell: how its sender repairs losses, which congestion control opens
//! its window, and what its handshake and its retransmission timer show of the stack. Data alone.
//!
//! Not for: measuring any of it (see `super::identify`); the rules by which it is told (see [`super::recovery`],
//! [`super::control`]).

use super::fault::Fault;
use super::judge::Confidence;
use serde::{Deserialize, Serialize};

/// How a sender repairs losses. The first four are those of TBIT (Padhye and Floyd, "On inferring TCP behavior", 2001)
/// and of table 1.1 of the TCP Taba thesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// By its timer alone.
    TahoeNofr,
    /// By a fast retransmit, and then all that follows again.
    Tahoe,
    /// One loss by a fast retransmit, a second one of the same window by the timer or by duplicates of its own (RFC 2581).
    Reno,
    /// A second loss upon the partial ACK (RFC 6582).
    Newreno,
    /// Whatever the receiver says that it lacks (RFC 6675, RFC 8985).
    Sack,
}

impl Recovery {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::TahoeNofr, Self::Tahoe, Self::Reno, Self::Newreno, Self::Sack];

    /// One word, as files have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::TahoeNofr => "tahoe-nofr",
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::Newreno => "newreno",
            Self::Sack => "sack",
        }
    }
}

/// A congestion control that can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// No window but the receiver's.
    None,
    /// RFC 5681: half, and a segment a round.
    Reno,
    /// RFC 9438.
    Cubic,
    /// By a model of the path, and not by losses.
    Bbr,
    /// As Reno, but less as delay grows.
    Vegas,
    /// As Reno, but a fifth of the window where there is no queue.
    Veno,
    /// As Reno, but down to the estimated bandwidth.
    Westwood,
    /// RFC 3649.
    Highspeed,
    /// Growth by the time since the last loss.
    Htcp,
    /// Growth and decrease by delay.
    Illinois,
}

impl Control {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::Reno,
        Self::Cubic,
        Self::Bbr,
        Self::Vegas,
        Self::Veno,
        Self::Westwood,
        Self::Highspeed,
        Self::Htcp,
        Self::Illinois,
    ];

    /// One word, as files have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Vegas => "vegas",
            Self::Veno => "veno",
            Self::Westwood => "westwood",
            Self::Highspeed => "highspeed",
            Self::Htcp => "htcp",
            Self::Illinois => "illinois",
        }
    }
}

/// What was found of several it might be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding<T> {
    /// What it is; none: that cannot be told.
    pub is: Option<T>,
    /// What it would be otherwise.
    pub runner_up: Option<T>,
    /// How sure that is.
    pub confidence: Confidence,
    /// Repetitions that say so each by itself.
    pub agreeing: u32,
    /// Repetitions that showed anything.
    pub judged: u32,
    /// What speaks for it, or why it cannot be told.
    pub evidence: Vec<String>,
}

/// When the second of two feigned losses was repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Second {
    /// Before the first repair was acknowledged.
    Unasked,
    /// As the answer to that partial ACK.
    OnPartialAck,
    /// Not in time for that: it waits for its timer.
    Later,
}

/// What a connection with two feigned losses in a window has shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repairs {
    /// Which time, from 1 on.
    pub repetition: u32,
    /// Round-trip time, s.
    pub rtt_s: f64,
    /// Payload of the largest segment, bytes.
    pub mss: u32,
    /// Whether both ends agreed on SACK, and the duplicates told what had come.
    pub sack: bool,
    /// Duplicate ACKs before the first repair, each for a segment that had come.
    pub duplicates: u32,
    /// When the first repair came, s after the third duplicate; none: there were fewer.
    pub first_s: Option<f64>,
    /// New segments that the duplicates released in the repair.
    pub new_segments: u32,
    /// When the second repair came.
    pub second: Second,
    /// Segments behind the second loss that came again though they had come.
    pub again: u32,
}

/// The window by rounds, in segments, over a path whose round trip the prober has set by holding its ACKs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rounds {
    /// Which time, from 1 on.
    pub repetition: u32,
    /// The round trip, s.
    pub round_trip_s: f64,
    /// The longer one of the last rounds, s.
    pub longer_s: f64,
    /// Payload of the largest segment, bytes.
    pub mss: u32,
    /// The window that was offered.
    pub offered: f64,
    /// From the first round to the first feigned loss.
    pub start: Vec<f64>,
    /// The window when that was reported.
    pub first_loss: f64,
    /// From its repair to the second feigned loss.
    pub after_first: Vec<f64>,
    /// The window when that was reported.
    pub second_loss: f64,
    /// From its repair on.
    pub after_second: Vec<f64>,
    /// With the longer round trip.
    pub longer: Vec<f64>,
    /// Losses that were repaired by the timer.
    pub timeouts: u32,
    /// Whether the answer was over before the last round.
    pub ended: bool,
}

/// What the stack shows of itself: nothing is concluded from it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Time to live of its SYN-ACK as it came.
    pub ttl: u8,
    /// What it probably left with: the next of 32, 64, 128 and 255.
    pub first_ttl: u8,
    /// Whether that may not be fragmented.
    pub whole: bool,
    /// The window field of the SYN-ACK.
    pub window: u16,
    /// The largest segment that it takes, bytes; none: it does not say.
    pub mss: Option<u16>,
    /// Shift of its window, bits; none: it does not scale.
    pub scale: Option<u8>,
    /// Its options in their order.
    pub options: Vec<String>,
    /// Segments of the first round, and their bytes.
    pub initial_window: u32,
    /// Their bytes.
    pub initial_window_bytes: u64,
    /// Segments of the handshake of TLS before: where a server does not begin anew after a pause, they have opened the window.
    pub handshake_segments: u32,
    /// When what it sent again came, s after the first round's last segment.
    pub retransmissions_s: Vec<f64>,
}

/// A connection that showed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unseen {
    /// What it was for: `fingerprint`, `repairs`, `rounds`.
    pub part: &'static str,
    /// Which time, from 1 on.
    pub repetition: u32,
    /// Why.
    pub fault: Fault,
}

/// All that was found of which TCP a server has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Identity {
    /// How it repairs losses.
    pub recovery: Finding<Recovery>,
    /// How it does where its client has no SACK, if that was asked apart.
    pub recovery_without_sack: Option<Finding<Recovery>>,
    /// Its congestion control.
    pub control: Finding<Control>,
    /// What its stack shows of itself; none: the connection for that showed nothing.
    pub fingerprint: Option<Fingerprint>,
    /// What each connection with feigned losses has shown.
    pub repairs: Vec<Repairs>,
    /// The windows of each connection over the set round trip.
    pub rounds: Vec<Rounds>,
    /// Connections that showed nothing.
    pub faults: Vec<Unseen>,
}

impl<T: Copy + Ord> Finding<T> {
    /// What most repetitions say, of what each says by itself, the second choices with them.
    #[cfg(any(live, test))]
    pub(super) fn of(each: &[(Option<T>, Option<T>)], evidence: Vec<String>) -> Self {
        let judged = each.len() as u32;
        let mut counts: Vec<(usize, T)> = Vec::new();
        for (is, _) in each {
            let Some(is) = is else { continue };
            match counts.iter_mut().find(|(_, what)| what == is) {
                Some((count, _)) => *count += 1,
                None => counts.push((1, *is)),
            }
        }
        counts.sort_by_key(|(count, what)| (std::cmp::Reverse(*count), *what));
        let is = counts.first().map(|(_, what)| *what);
        let agreeing = counts.first().map_or(0, |(count, _)| *count as u32);
        let second = each.iter().filter(|(first, _)| *first == is).find_map(|(_, second)| *second);
        Self {
            is,
            runner_up: counts.get(1).map(|(_, what)| *what).or(second),
            confidence: Confidence::of(agreeing, judged),
            agreeing,
            judged,
            evidence,
        }
    }
}
