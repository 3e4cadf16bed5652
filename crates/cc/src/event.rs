//! What a recorded port was told and what it decided: the records of `bpf/event.h`.

use super::layout::{self, event};
use truckee_tcp::{Cause, Time};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The control was put in charge of a connection.
    Init,
    /// An ACK came while data was outstanding.
    Ack,
    /// The kernel asked for the slow-start threshold after a loss.
    Ssthresh,
    /// The kernel's congestion state changes, to [`Event::state`].
    State,
    /// The kernel takes a reduction back: the loss was none.
    Undo,
    /// The connection ended, or another control took over.
    Release,
}

/// Bits of [`Event::flags`].
pub mod flags {
    use crate::layout::flag;

    /// The ACK is a duplicate.
    pub const DUPLICATE: u8 = flag::FLAG_DUPLICATE.0 as u8;
    /// The congestion window is what limits the sender, by the kernel's `tcp_is_cwnd_limited`.
    pub const LIMITED: u8 = flag::FLAG_LIMITED.0 as u8;
    /// The threshold was asked for because of a timeout.
    pub const TIMEOUT: u8 = flag::FLAG_TIMEOUT.0 as u8;
    /// The threshold was asked for because of an ECN echo or a drop in the local queue.
    pub const ECHO: u8 = flag::FLAG_ECHO.0 as u8;
    /// The window reached the socket's clamp, and is that.
    pub const CLAMPED: u8 = flag::FLAG_CLAMPED.0 as u8;
    /// There is an estimate.
    pub const ESTIMATE: u8 = flag::FLAG_ESTIMATE.0 as u8;
    /// The owner had told that a queue dropped what the threshold was asked for; only a port that is told hears of it.
    pub const QUEUED_OUT: u8 = flag::FLAG_QUEUED_OUT.0 as u8;
    /// Likewise that noise or an outage destroyed it.
    pub const DESTROYED: u8 = flag::FLAG_DESTROYED.0 as u8;
}

/// Values of [`Event::state`], `enum tcp_ca_state` of the kernel.
pub mod state {
    /// Nothing is wrong.
    pub const OPEN: u8 = 0;
    /// Duplicates or SACK blocks have come.
    pub const DISORDER: u8 = 1;
    /// The window is being reduced without a loss.
    pub const CWR: u8 = 2;
    /// A loss is being repaired.
    pub const RECOVERY: u8 = 3;
    /// A timeout is being repaired.
    pub const LOSS: u8 = 4;
}

/// One event of one connection. Windows in segments are 32.32 fixed point: the whole part is the kernel's snd_cwnd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// CLOCK_MONOTONIC, ns.
    pub time: Time,
    /// When the last segment left before this event, ns.
    pub sent_at: Time,
    /// The port's estimate of the bandwidth after the event, 1/256 bit/s; see [`flags::ESTIMATE`].
    pub estimate: u64,
    /// The window before the event.
    pub window: u64,
    /// The window after it; of [`Kind::Ssthresh`]: what the response makes of the window, whole segments.
    pub window_after: u64,
    /// Number of the connection, from 0 on as they began.
    pub connection: u32,
    /// The sender's TCP port.
    pub local_port: u16,
    /// The receiver's.
    pub remote_port: u16,
    /// snd_una, the ACK included.
    pub una: u32,
    /// snd_nxt.
    pub nxt: u32,
    /// Bytes newly acknowledged.
    pub newly: u32,
    /// Bytes shown to be delivered, as estimators count them ([`truckee_tcp::Ack::delivered`]).
    pub delivered: u32,
    /// The round-trip time of the newest segment acknowledged or reported, µs; -1: none.
    pub rtt_us: i32,
    /// Bytes sent since the event before, retransmissions included.
    pub sent: u32,
    /// Bytes in flight before the event.
    pub flight: u32,
    /// Segment size, bytes.
    pub mss: u32,
    /// The kernel's smoothed round-trip time, µs.
    pub srtt_us: u32,
    /// The port's smallest round-trip time, µs; 0: none yet.
    pub rtt_min_us: u32,
    /// The slow-start threshold before, segments.
    pub ssthresh: u32,
    /// And after.
    pub ssthresh_after: u32,
    /// snd_cwnd as the kernel left it before the event, segments.
    pub cwnd: u32,
    /// What happened.
    pub kind: Kind,
    /// The kernel's congestion state before the event ([`state`]); of [`Kind::State`]: the new one.
    pub state: u8,
    /// See [`flags`].
    pub flags: u8,
    /// What the predictor takes a loss for, or took it for: 1 congestion, 2 wireless, 0 no predictor.
    pub verdict: u8,
}

/// What was drained from a recording.
#[derive(Debug, Clone, Default)]
pub struct Events {
    /// In the order of time within a connection.
    pub list: Vec<Event>,
    /// How many were lost since the last drain, because nobody drained in time.
    pub lost: u64,
}

fn kind_of(number: u8) -> Option<Kind> {
    Some(match layout::kind(number.into()) {
        layout::kind::EVENT_INIT => Kind::Init,
        layout::kind::EVENT_ACK => Kind::Ack,
        layout::kind::EVENT_SSTHRESH => Kind::Ssthresh,
        layout::kind::EVENT_STATE => Kind::State,
        layout::kind::EVENT_UNDO => Kind::Undo,
        layout::kind::EVENT_RELEASE => Kind::Release,
        _ => return None,
    })
}

impl Event {
    /// What a port has told; none: its kind is none that there is.
    pub(super) fn of(told: &event) -> Option<Self> {
        Some(Self {
            time: Time::ns(told.time),
            sent_at: Time::ns(told.sent_at),
            estimate: told.estimate,
            window: told.window,
            window_after: told.window_after,
            connection: told.connection,
            local_port: told.local_port,
            remote_port: told.remote_port,
            una: told.una,
            nxt: told.nxt,
            newly: told.newly,
            delivered: told.delivered,
            rtt_us: told.rtt_us,
            sent: told.sent,
            flight: told.flight,
            mss: told.mss,
            srtt_us: told.srtt_us,
            rtt_min_us: told.rtt_min_us,
            ssthresh: told.ssthresh,
            ssthresh_after: told.ssthresh_after,
            cwnd: told.cwnd,
            kind: kind_of(told.kind)?,
            state: told.state,
            flags: told.flags,
            verdict: told.verdict,
        })
    }

    /// What the owner had told of the loss that the threshold was asked for; none: nothing, or it is no loss.
    pub fn fate(&self) -> Option<Cause> {
        match () {
            () if self.is(flags::QUEUED_OUT) => Some(Cause::Congestion),
            () if self.is(flags::DESTROYED) => Some(Cause::Wireless),
            () => None,
        }
    }

    /// Whether a bit of [`flags`] is set.
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_as_the_program_writes_it() {
        let told = event {
            time: 1,
            sent_at: 2,
            estimate: 3,
            window: 4,
            window_after: 5,
            connection: 6,
            local_port: 7,
            remote_port: 8,
            una: 9,
            nxt: 10,
            newly: 11,
            delivered: 12,
            rtt_us: -13,
            sent: 14,
            flight: 15,
            mss: 16,
            srtt_us: 17,
            rtt_min_us: 18,
            ssthresh: 19,
            ssthresh_after: 20,
            cwnd: 21,
            kind: layout::kind::EVENT_UNDO.0 as u8,
            state: 22,
            flags: flags::ESTIMATE,
            verdict: 23,
        };
        let expected = Event {
            time: Time::ns(1),
            sent_at: Time::ns(2),
            estimate: 3,
            window: 4,
            window_after: 5,
            connection: 6,
            local_port: 7,
            remote_port: 8,
            una: 9,
            nxt: 10,
            newly: 11,
            delivered: 12,
            rtt_us: -13,
            sent: 14,
            flight: 15,
            mss: 16,
            srtt_us: 17,
            rtt_min_us: 18,
            ssthresh: 19,
            ssthresh_after: 20,
            cwnd: 21,
            kind: Kind::Undo,
            state: 22,
            flags: flags::ESTIMATE,
            verdict: 23,
        };
        assert_eq!(Event::of(&told), Some(expected));
        assert_eq!(Event::of(&event { kind: 6, ..told }), None);
    }
}
