//! What the program tells of arriving data, and the policies that hear of it.

use super::Policy;
use super::flow::Connection;
use super::layout::arrival;
use std::collections::HashMap;
use truckee_tcp::ack::{AckPolicy, AckSink, AnyAckPolicy, Manner};
use truckee_tcp::{Arrival, Span, Time};

/// A record: one segment, or several that came as one packet or, where a policy does not mind, that came within its grain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record {
    /// When, CLOCK_MONOTONIC, ns.
    pub t: Time,
    /// A number that no other connection of this shaper has had.
    pub id: u64,
    /// Whose data it is.
    pub connection: Connection,
    /// The sequence number after its last byte, as on the wire.
    pub end: u32,
    /// Payload, bytes.
    pub bytes: u32,
    /// Segments.
    pub segments: u32,
    /// Bytes in order that no ACK has covered yet, these included.
    pub unacked: u32,
    /// The window that the receiver has announced, bytes; 2³² - 1: not known.
    pub window: u32,
    /// A round-trip time that it showed, µs; 0: none.
    pub rtt_us: u32,
    /// Which of the request's policies is the connection's.
    pub policy: u16,
    /// Whether nothing is missing in front of it.
    pub in_order: bool,
    /// Whether it is answered at once: it repeats, something is missing in front of it, or it is the last.
    pub urgent: bool,
}

impl Record {
    pub(super) fn of(told: &arrival) -> Self {
        Self {
            t: Time::ns(told.t),
            id: told.connection_id,
            connection: told.connection.into(),
            end: told.end,
            bytes: told.bytes,
            segments: told.segments,
            unacked: told.unacked,
            window: told.window,
            rtt_us: told.rtt_us,
            policy: told.policy,
            in_order: told.in_order != 0,
            urgent: told.urgent != 0,
        }
    }

    /// The sender's port, and the receiver's, which is ours.
    pub fn ports(&self) -> (u16, u16) {
        let (ours, senders) = self.connection.ports();
        (senders, ours)
    }

    /// The segments of the record as a policy hears of them; `end` is that of the last, counted from the connection's
    /// first byte. What came as one packet came at one time.
    pub fn segments(&self, end: u64) -> impl Iterator<Item = Arrival> + '_ {
        let count = self.segments.clamp(1, self.bytes.max(1));
        let size = self.bytes.div_ceil(count).max(1);
        let count = self.bytes.div_ceil(size).max(1);
        (0..count).map(move |k| {
            let after = self.bytes - (size * (k + 1)).min(self.bytes); // bytes of the record behind this segment
            let bytes = if k + 1 == count { self.bytes - size * k } else { size };
            let ahead = u64::from(after);
            let mut arrival = Arrival::of_bytes(self.t, bytes);
            (arrival.rcv_nxt, arrival.end) = (end - ahead, end - ahead);
            arrival.unacked = u64::from(self.unacked).saturating_sub(ahead);
            (arrival.in_order, arrival.urgent, arrival.window) = (self.in_order, self.urgent, self.window);
            arrival.rtt = (k == 0 && self.rtt_us > 0).then(|| Span::us(u64::from(self.rtt_us)));
            arrival
        })
    }
}

/// Sequence numbers of the wire, counted on from the connection's first byte.
#[derive(Debug, Clone, Copy)]
pub struct Unwrap {
    last: u64,
}

impl Unwrap {
    /// From the first segment seen: it is taken to be the connection's first.
    pub fn new(first: &Record) -> Self {
        Self { last: 1 + u64::from(first.bytes) }
    }

    /// The number of `end`, given the one seen before it on the wire.
    pub fn next(&mut self, before: u32, end: u32) -> u64 {
        let step = i64::from(end.wrapping_sub(before) as i32);
        self.last = self.last.saturating_add_signed(step).max(1);
        self.last
    }
}

/// News of what is done with a connection's ACKs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub manner: Manner,
    /// It holds for ACKs behind this number, as on the wire.
    pub since: u32,
    /// Until then.
    pub before: Manner,
}

/// A policy at work for one connection.
#[derive(Debug)]
struct Listener {
    connection: Connection,
    policy: AnyAckPolicy,
    /// Which of the policies that is.
    index: u16,
    /// What the program was last told.
    told: Manner,
    numbers: Unwrap,
    /// The last record's `end`, and when it came.
    end: u32,
    heard: Time,
}

/// The policies at work, by the number of their connection.
#[derive(Debug)]
pub(super) struct Listeners {
    all: HashMap<u64, Listener>,
    most: usize,
}

impl Listeners {
    /// For so many connections at most: the one not heard of for longest makes room for another.
    pub fn new(most: usize) -> Self {
        Self { all: HashMap::new(), most }
    }

    /// A record has come, for a connection with that policy. Returns what is done from now on, if that is news.
    pub fn hear(&mut self, record: &Record, policy: &Policy) -> Option<(Connection, Turn)> {
        if !self.all.contains_key(&record.id) {
            if self.all.len() >= self.most {
                self.forget_some();
            }
            self.all.insert(record.id, Listener::new(record, policy));
        }
        let listener = self.all.get_mut(&record.id)?;
        if policy.grain() > Span::ZERO {
            return listener.hear(&Record { segments: 1, ..*record });
        }
        listener.hear(record)
    }

    /// Other policies take over, each the connections of its index.
    pub fn change(&mut self, policies: &[Policy]) {
        for listener in self.all.values_mut() {
            let Some(policy) = policies.get(usize::from(listener.index)) else { continue };
            let mut fresh = policy.fresh();
            fresh.take_over(listener.policy.learnt());
            listener.policy = fresh;
        }
    }

    /// Half of them at once, so that it is done rarely.
    fn forget_some(&mut self) {
        let mut heard: Vec<Time> = self.all.values().map(|listener| listener.heard).collect();
        heard.sort_unstable();
        let middle = heard.get(heard.len() / 2).copied().unwrap_or(Time::ZERO);
        self.all.retain(|_, listener| listener.heard > middle);
    }
}

impl Listener {
    fn new(record: &Record, policy: &Policy) -> Self {
        let numbers = Unwrap::new(record);
        let told = policy.manner();
        Self {
            connection: record.connection,
            policy: policy.fresh(),
            index: record.policy,
            told,
            numbers,
            end: record.end,
            heard: record.t,
        }
    }

    fn hear(&mut self, record: &Record) -> Option<(Connection, Turn)> {
        let end = self.numbers.next(self.end, record.end);
        let gap = record.t.saturating_sub(self.heard);
        (self.end, self.heard) = (record.end, record.t);
        let mut sent = AckSink::default();
        for segment in record.segments(end) {
            if self.policy.deadline().is_some_and(|deadline| deadline <= segment.now) {
                self.policy.on_timer(segment.now, segment.rcv_nxt, &mut sent);
            }
            self.policy.on_segment(&segment, &mut sent);
            // What leaves is the program's business.
            sent = AckSink::default();
        }
        let manner = self.next_manner(record, end, gap)?;
        (manner != self.told).then(|| {
            let before = std::mem::replace(&mut self.told, manner);
            (self.connection, Turn { manner, since: record.end, before })
        })
    }
}

impl Listener {
    /// What is done with the ACK of the next segment. The ACK of the one that has just come is leaving at this moment, so
    /// that a verdict which includes it is always late for it: where a policy goes by a detector, it is asked what it
    /// would say if another segment of that size came after another such gap.
    fn next_manner(&self, last: &Record, end: u64, gap: Span) -> Option<Manner> {
        if self.policy.phase().is_none() {
            return self.policy.manner();
        }
        let bytes = last.bytes / last.segments.max(1);
        let end = end + u64::from(bytes);
        let mut segment = Arrival::of_bytes(last.t + gap, bytes);
        (segment.rcv_nxt, segment.end) = (end, end);
        let mut policy = self.policy.clone();
        policy.on_segment(&segment, &mut AckSink::default());
        policy.manner()
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::connection;
    use super::*;
    use truckee_tcp::Spec;

    fn record(t: Time, bytes: u32, segments: u32, end: u32) -> Record {
        Record {
            t,
            id: 1,
            connection: Connection::of_ports(7, 8),
            end,
            bytes,
            segments,
            unacked: bytes,
            window: u32::MAX,
            rtt_us: 0,
            policy: 0,
            in_order: true,
            urgent: false,
        }
    }

    #[test]
    fn a_record_is_read_as_the_program_writes_it() {
        let told = arrival {
            t: 5,
            connection_id: 1,
            connection: connection { local_port: 7, remote_port: 8, ..connection::default() },
            end: 300,
            bytes: 200,
            segments: 2,
            unacked: 250,
            window: 4000,
            rtt_us: 30,
            policy: 3,
            in_order: 1,
            urgent: 0,
        };
        let expected =
            Record { unacked: 250, window: 4000, rtt_us: 30, policy: 3, ..record(Time::ns(5), 200, 2, 300) };
        assert_eq!((Record::of(&told), expected.ports()), (expected, (8, 7)));
        assert!(Record::of(&arrival { urgent: 1, ..told }).urgent);
    }

    #[test]
    fn a_packet_of_several_segments_is_heard_of_segment_by_segment() {
        let all: Vec<(u32, u64, u64)> =
            record(Time::ns(9), 2500, 3, 0).segments(5001).map(|a| (a.bytes, a.end, a.unacked)).collect();
        assert_eq!(all, [(834, 3335, 834), (834, 4169, 1668), (832, 5001, 2500)]);
        assert_eq!(record(Time::ns(9), 1, 5, 0).segments(2).count(), 1, "no more segments than bytes");
        assert_eq!(record(Time::ns(9), 0, 0, 0).segments(2).count(), 1);
    }

    #[test]
    fn numbers_go_on_where_the_wire_wraps() {
        let first = record(Time::ZERO, 1000, 1, u32::MAX - 99);
        let mut numbers = Unwrap::new(&first);
        assert_eq!(numbers.next(first.end, first.end), 1001);
        assert_eq!(numbers.next(first.end, 900), 2001);
        assert_eq!(numbers.next(900, u32::MAX - 99), 1001, "a retransmission");
    }

    #[test]
    fn a_detectors_verdict_reaches_the_connection_and_room_is_made_for_others() {
        let policy = Policy::of(&Spec::named("taba")).unwrap();
        let mut listeners = Listeners::new(2);
        // The first ACK, whole as was told, leaves at this moment; the next is of a segment in slow start.
        let (connection, turn) = listeners.hear(&record(Time::ns(1), 1000, 1, 1000), &policy).unwrap();
        assert_eq!(listeners.hear(&record(Time::ns(2), 1000, 1, 2000), &policy), None, "no news");
        assert_eq!((connection, turn.manner.parts, turn.before.parts), (Connection::of_ports(7, 8), 2, 1));
        assert_eq!(turn.since, 1000, "the ACK of this segment may still be on its way");
        for id in 2..10 {
            listeners.hear(&Record { id, ..record(Time::ns(id), 1000, 1, 1000) }, &policy);
            assert!(listeners.all.len() <= 2);
        }
    }
}
