//! What a run lost, and how its losses were judged.

use serde::Serialize;

/// A part of a whole; `None` without a whole.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Packets dropped, by true cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct Drops {
    /// Did not fit into a queue, or was dropped early by its discipline.
    pub queue: u64,
    /// Destroyed by noise; over a medium: given up at the retry limit, the last attempt having been destroyed by noise.
    pub channel: u64,
    /// Sent into an outage, a handoff, or a link that was down.
    pub outage: u64,
    /// Given up by a station of a medium at its retry limit, the last attempt having met what others sent: a frame at the
    /// same time, a receiver that was sending, a medium that was reserved. Not shown where there are none.
    #[serde(skip_serializing_if = "is_none")]
    pub collision: u64,
    /// The same, the last attempt having arrived too weak to be noticed: out of reach. Not shown where there are none.
    #[serde(skip_serializing_if = "is_none")]
    pub reach: u64,
    /// Over a medium with a routing protocol: there was no route, or none that was found in time, or the packet had passed
    /// as many nodes as it may. Not shown where there are none.
    #[serde(skip_serializing_if = "is_none")]
    pub route: u64,
    /// Sent to a base station that a mobile host had left, or not yet reached.
    #[serde(skip_serializing_if = "is_none")]
    pub handoff: u64,
}

/// Whether there is nothing to tell: what few networks have is not in the results of others.
pub(super) fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Drops {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.queue + self.channel + self.outage + self.collision + self.reach + self.route + self.handoff
    }
}

/// Loss events the sender detected (fast retransmits and timeouts).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct LossEvents {
    /// Whose segment was dropped by a queue.
    pub congestion: u64,
    /// Whose segment was destroyed by the channel or an outage, or given up by a station of a medium, whatever ended its
    /// last attempt: no queue was full.
    pub wireless: u64,
    /// Whose segment was not dropped at all: reordering, late ACKs, lost ACKs.
    pub spurious: u64,
    /// Congestion losses the sender judged so.
    pub congestion_judged_right: u64,
    /// Wireless losses the sender judged so.
    pub wireless_judged_right: u64,
}

impl LossEvents {
    /// Shares of them judged right.
    pub fn accuracy(&self) -> Accuracy {
        let right = self.congestion_judged_right + self.wireless_judged_right;
        Accuracy {
            congestion: share(self.congestion_judged_right, self.congestion),
            wireless: share(self.wireless_judged_right, self.wireless),
            all: share(right, self.congestion + self.wireless),
        }
    }
}

/// Shares of loss events judged right; `None` where there was none to judge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct Accuracy {
    /// A_C: of congestion losses.
    pub congestion: Option<f64>,
    /// A_W: of wireless losses.
    pub wireless: Option<f64>,
    /// A_L: of all losses.
    pub all: Option<f64>,
}
