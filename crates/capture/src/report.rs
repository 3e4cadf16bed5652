//! What is known of a connection, as it is written: SI units, times in seconds, rates in bit/s. Keys are added, never
//! renamed.

use crate::connection::{self, Way};
use crate::flow::{acks, phases, retransmissions, rounds, rtt, steps};
use crate::handshake;
use serde::Serialize;
use truckee_tcp::Span;

/// A connection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Connection {
    /// Its ordinal in the capture, from 1.
    pub number: u64,
    /// Who opened it or, where that was not captured, who spoke first.
    pub client: String,
    /// The other end.
    pub server: String,
    /// When its first packet passed, seconds since 1970.
    pub began_s: f64,
    /// From its first packet to its last, seconds.
    pub lasted_s: f64,
    /// How it was opened.
    pub handshake: handshake::Report,
    /// How often an end repeated its SYN.
    pub syn_again: u64,
    /// `open`, `half-closed`, `closed` or `reset`, when the capture ended.
    pub state: &'static str,
    /// Packets of which options were cut off.
    pub cut_short: u64,
    /// Packets whose time was before that of the one before.
    pub backwards: u64,
    /// Data from the client.
    pub to_server: Direction,
    /// Data from the server.
    pub to_client: Direction,
}

/// Data one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Direction {
    /// Packets, those without payload included.
    pub packets: u64,
    /// Segments with payload, as captured; doubled packets included.
    pub segments: u64,
    /// Payload of all of them, bytes.
    pub bytes: u64,
    /// Payload, each byte once.
    pub unique_bytes: u64,
    /// Payload acknowledged, bytes.
    pub acked_bytes: u64,
    /// Payload that never passed although data behind it did, bytes.
    pub missing_bytes: u64,
    /// Bytes of a full segment.
    pub segment_size: u32,
    /// The largest payload captured, bytes.
    pub largest_segment: u32,
    /// Whether packets were captured that offloads had made longer than any on the wire.
    pub offloaded: bool,
    /// Packets marked by routers (CE).
    pub ecn_marked: u64,
    /// Payload, each byte once, over the time from the first data to the last news of it, bit/s.
    pub throughput_bps: Option<f64>,
    /// The same over time, in steps; none where there was but one.
    pub throughput: Option<steps::Report>,
    /// Round-trip time by sequence numbers, from here to the receiver and back.
    pub rtt: Option<rtt::Spread>,
    /// The same by time stamps.
    pub rtt_by_stamps: Option<rtt::Spread>,
    /// From here to the sender and back, seconds, at the least.
    pub sender_side_s: Option<f64>,
    /// Where the capture was made: 0 at the sender, 1 at the receiver.
    pub place: Option<f64>,
    /// The largest number of bytes in the air, beyond those that SACK had reported.
    pub most_in_flight_bytes: u64,
    /// What was sent again.
    pub retransmissions: retransmissions::Counts,
    /// How the receiver acknowledges.
    pub acks: acks::Counts,
    /// Segments that an ACK of new data covers in the mean.
    pub segments_per_ack: Option<f64>,
    /// ACKs of new data for each segment of new data.
    pub acks_per_segment: Option<f64>,
    /// The most bytes that one ACK covered.
    pub largest_ack_bytes: u64,
    /// Packets of the receiver between ACKs that did not pass here, by their identifications.
    pub acks_missing: Option<u64>,
    /// What most ACKs are, in words.
    pub ack_habit: Option<String>,
    /// The smallest and the largest window that the receiver offered, bytes.
    pub window_bytes: Option<(u64, u64)>,
    /// How often it closed its window.
    pub zero_windows: u64,
    /// How long it was closed in all, seconds.
    pub zero_window_s: f64,
    /// The initial window as it looks, bytes: payload of the first round trip that brought more than one segment; none
    /// where the beginning was not captured.
    pub initial_window_bytes: Option<u64>,
    /// The same in full segments.
    pub initial_window_segments: Option<f64>,
    /// How many round trips data was sent in.
    pub round_count: u64,
    /// The first of them.
    pub rounds: Vec<rounds::Report>,
    /// Slow start and congestion avoidance, as they look.
    pub phases: Vec<phases::Turn>,
    /// Segments in the air that were too many to be followed.
    pub forgotten: u64,
}

/// Connections that are not reported one by one, summed up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Others {
    /// How many.
    pub connections: u64,
    /// Their packets.
    pub packets: u64,
    /// Their payload, bytes.
    pub bytes: u64,
    /// Their segments sent again.
    pub retransmitted_segments: u64,
}

impl Others {
    /// Takes in one.
    pub(crate) fn add(&mut self, one: &Connection) {
        self.connections += 1;
        for way in [&one.to_server, &one.to_client] {
            self.packets += way.packets;
            self.bytes += way.bytes;
            self.retransmitted_segments += way.retransmissions.segments;
        }
    }
}

impl Connection {
    /// What is known of it.
    pub fn of(c: &connection::Connection) -> Self {
        Self {
            number: c.number,
            client: c.client.to_string(),
            server: c.server.to_string(),
            began_s: c.began.seconds(),
            lasted_s: (c.last - c.began).seconds(),
            handshake: c.handshake.report(),
            syn_again: c.handshake.again(),
            state: match (c.reset, c.fin) {
                ([false, false], [true, true]) => "closed",
                ([false, false], [false, false]) => "open",
                ([false, false], _) => "half-closed",
                _ => "reset",
            },
            cut_short: c.cut_short,
            backwards: c.backwards,
            to_server: Direction::of(c, Way::ToServer),
            to_client: Direction::of(c, Way::ToClient),
        }
    }

    /// Payload both ways, bytes.
    pub fn bytes(&self) -> u64 {
        self.to_server.bytes + self.to_client.bytes
    }

    /// Data one way.
    pub fn direction(&self, way: Way) -> &Direction {
        match way {
            Way::ToServer => &self.to_server,
            Way::ToClient => &self.to_client,
        }
    }

    /// Payload both ways, each byte once.
    pub fn unique_bytes(&self) -> u64 {
        self.to_server.unique_bytes + self.to_client.unique_bytes
    }

    /// The way that more payload went.
    pub fn main_way(&self) -> Way {
        if self.to_server.bytes > self.to_client.bytes { Way::ToServer } else { Way::ToClient }
    }
}

impl Direction {
    /// The smallest and the mean round trip, seconds: both parts of it. At the receiver, what shows of one by itself is
    /// next to nothing.
    pub fn whole_rtt_s(&self) -> Option<(f64, f64)> {
        let side = self.sender_side_s.unwrap_or(0.0);
        self.rtt.map(|rtt| (rtt.min_s + side, rtt.mean_s + side))
    }

    /// Share of the segments that were sent again; none where none passed.
    pub fn resent_share(&self) -> Option<f64> {
        (self.segments > 0).then(|| self.retransmissions.segments as f64 / self.segments as f64)
    }

    fn of(c: &connection::Connection, way: Way) -> Self {
        let flow = c.flow(way);
        let (t, size) = (&flow.throughput, c.segment_size(way));
        let segments = |bytes: f64| bytes / f64::from(size.max(1));
        let initial = flow.rounds.initial(size).filter(|_| c.handshake.has_syn()).map(|r| r.bytes);
        let segments_per_ack = flow.acks.mean_bytes().map(segments);
        let index = usize::from(way == Way::ToClient);
        Self {
            packets: c.packets[index],
            segments: t.segments,
            bytes: t.bytes,
            unique_bytes: t.unique_bytes,
            acked_bytes: t.acked_bytes,
            missing_bytes: t.missing_bytes,
            segment_size: size,
            largest_segment: t.largest,
            offloaded: t.largest > size,
            ecn_marked: c.marked[index],
            throughput_bps: t.rate(),
            throughput: t.over_time.report(c.began),
            rtt: flow.rtt.sequence.report(),
            rtt_by_stamps: flow.rtt.stamps.report(),
            sender_side_s: flow.rtt.sender_side().map(Span::seconds),
            place: flow.rtt.place(),
            most_in_flight_bytes: t.most_in_flight,
            retransmissions: flow.retransmissions.counts,
            acks: flow.acks.counts,
            segments_per_ack,
            acks_per_segment: segments_per_ack.filter(|&s| s > 0.0).map(|s| 1.0 / s),
            largest_ack_bytes: flow.acks.largest(),
            acks_missing: flow.acks.missing(),
            ack_habit: flow.acks.habit(size),
            window_bytes: flow.windows.min.map(|min| (min, flow.windows.max)),
            zero_windows: flow.windows.closed,
            zero_window_s: flow.windows.closed_for.seconds(),
            initial_window_bytes: initial,
            initial_window_segments: initial.map(|bytes| segments(bytes as f64)),
            round_count: flow.rounds.count(),
            rounds: flow.rounds.report(c.began),
            phases: flow.phases.report(c.began),
            forgotten: flow.book.forgotten(),
        }
    }
}
