//! What a recorded port was told and what it decided: the records of `bpf/event.h`.

use truckee_tcp::Time;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
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
    /// The ACK is a duplicate.
    pub const DUPLICATE: u8 = 1;
    /// The congestion window is what limits the sender, by the kernel's `tcp_is_cwnd_limited`.
    pub const LIMITED: u8 = 2;
    /// The threshold was asked for because of a timeout.
    pub const TIMEOUT: u8 = 4;
    /// The threshold was asked for because of an ECN echo or a drop in the local queue.
    pub const ECHO: u8 = 8;
    /// The window reached the socket's clamp, and is that.
    pub const CLAMPED: u8 = 16;
    /// There is an estimate.
    pub const ESTIMATE: u8 = 32;
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
    /// The round-trip time of the newest segment acknowledged, µs; -1: none.
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

/// Bytes of a record.
const SIZE: usize = 104;

/// Reads a record from front to back.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_ne_bytes)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_ne_bytes)
    }

    fn kind(&mut self) -> Option<Kind> {
        const KINDS: [Kind; 6] =
            [Kind::Init, Kind::Ack, Kind::Ssthresh, Kind::State, Kind::Undo, Kind::Release];
        KINDS.get(usize::from(self.u8()?)).copied()
    }
}

impl Event {
    /// The record of `bpf/event.h`; none if it is of another size or kind.
    pub(super) fn read(record: &[u8]) -> Option<Self> {
        if record.len() != SIZE {
            return None;
        }
        let mut r = Reader(record);
        Some(Self {
            time: Time::ns(r.u64()?),
            sent_at: Time::ns(r.u64()?),
            estimate: r.u64()?,
            window: r.u64()?,
            window_after: r.u64()?,
            connection: r.u32()?,
            local_port: r.u16()?,
            remote_port: r.u16()?,
            una: r.u32()?,
            nxt: r.u32()?,
            newly: r.u32()?,
            delivered: r.u32()?,
            rtt_us: r.u32()? as i32,
            sent: r.u32()?,
            flight: r.u32()?,
            mss: r.u32()?,
            srtt_us: r.u32()?,
            rtt_min_us: r.u32()?,
            ssthresh: r.u32()?,
            ssthresh_after: r.u32()?,
            cwnd: r.u32()?,
            kind: r.kind()?,
            state: r.u8()?,
            flags: r.u8()?,
            verdict: r.u8()?,
        })
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
        let program = r#"
#include "event.h"
int main(void)
{
	struct event e = {
		.time = 1, .sent_at = 2, .estimate = 3, .window = 4, .window_after = 5, .connection = 6, .local_port = 7,
		.remote_port = 8, .una = 9, .nxt = 10, .newly = 11, .delivered = 12, .rtt_us = -13, .sent = 14,
		.flight = 15, .mss = 16, .srtt_us = 17, .rtt_min_us = 18, .ssthresh = 19, .ssthresh_after = 20,
		.cwnd = 21, .kind = EVENT_UNDO, .state = 22, .flags = FLAG_ESTIMATE, .verdict = 23,
	};
	return fwrite(&e, sizeof(e), 1, stdout) != 1;
}
"#;
        let headers = concat!(env!("CARGO_MANIFEST_DIR"), "/bpf");
        let bytes = truckee_testing::native(std::path::Path::new(headers), program, &[], &[]);
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
        assert_eq!(Event::read(&bytes), Some(expected));
    }
}
