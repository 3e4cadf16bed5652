//! What the packets of one flow show: the half of its outcome that no socket has to be asked for.
//! Not for: what a sender believes (that comes from the stack).

use super::Cause;
use super::connection::Connection;
use super::delays::Delays;
use super::listener::Missing;
use super::segment::{Seen, Tcp, flags};
use super::truth::Dropped;
use std::collections::HashMap;
use truckee_channel::{Span, Time};
use truckee_scenario::outcome::{
    AckPoint, Delay, DelayPoint, DropPoint, Drops, PacketPoint, RoundOutcome, RttOutcome, SegmentPoint,
};

/// What the packets of one flow showed. Counts begin at the end of the warm-up; series are of the whole run.
#[derive(Debug, Default)]
pub struct FlowBook {
    /// Connections whose first packet was seen, of the whole run.
    pub connections: u64,
    /// Data segments that left the sender, again ones included.
    pub segments_sent: u64,
    /// Their payload, bytes.
    pub bytes_sent: u64,
    /// Data segments that begin below the highest byte sent before.
    pub retransmitted_segments: u64,
    /// Payload sent before, bytes.
    pub retransmitted_bytes: u64,
    /// Data segments that reached the receiver, copies included.
    pub segments_received: u64,
    /// ACKs without payload that left the receiver, that of a SYN not counted.
    pub acks_sent: u64,
    /// Payload delivered in order, bytes.
    pub bytes_delivered: u64,
    /// When the last of it came, ns of the run.
    pub last_delivery: Option<Time>,
    /// The longest time between two deliveries over one connection, ns; `None`: there were no two.
    pub longest_stall: Option<Span>,
    /// Data segments lost on the path, by cause.
    pub drops: Drops,
    /// ACKs lost on the path, by cause.
    pub ack_drops: Drops,
    /// From the first transmission of a segment to its delivery in order.
    pub delay_s: Delay,
    /// From the sending of a segment that was sent once to the arrival of the ACK whose newest segment it is; the
    /// smallest is of the whole run.
    pub rtt_s: RttOutcome,
    /// The first 24 rounds of the last connection.
    pub rounds: Vec<RoundOutcome>,
    /// Packets at one of its ends, where they are wanted.
    pub packets: Vec<PacketPoint>,
    /// Packets that were too many to be kept.
    pub packets_left_out: u64,
    /// How late those that were not lost left the path, likewise, to the receiver and to the sender, each in the order in
    /// which the last lane took them.
    pub late: [Vec<Span>; 2],
    /// Data segments sent, where series are wanted; sequence numbers are those of their connection.
    pub segments: Vec<SegmentPoint>,
    /// ACKs that reached the sender, likewise.
    pub acks: Vec<AckPoint>,
    /// RTT samples, likewise: when, and how long.
    pub rtts: Vec<(Time, Span)>,
    /// Segments delivered in order, likewise.
    pub delays: Vec<DelayPoint>,
    /// Drops, likewise, in order of time.
    pub dropped: Vec<DropPoint>,
    history: Vec<Connection>,
}

impl FlowBook {
    /// What became of the latest transmission, at time `at` (ns of the run) or before, of byte `seq` (the first is 1) of
    /// the connection from `client_port`; `None`: it was not lost.
    pub fn fate(&self, client_port: u16, seq: u64, at: Time) -> Option<Dropped> {
        self.connection(client_port, at)?.truth.of(seq, at)
    }

    /// The same by the number in the packet's header.
    pub fn fate_of_raw(&self, client_port: u16, seq: u32, at: Time) -> Option<Dropped> {
        let connection = self.connection(client_port, at)?;
        connection.truth.of(connection.unwrap_at(seq, at)?, at)
    }

    /// The 64-bit number (the first byte of data is 1) of one that was seen in a header or a socket at `at`; `None`: the
    /// connection is not known.
    pub fn unwrapped(&self, client_port: u16, seq: u32, at: Time) -> Option<u64> {
        self.connection(client_port, at)?.unwrap_at(seq, at)
    }

    /// The connections in the order in which they came: the client's port, and when the first packet was seen.
    pub fn opened(&self) -> impl Iterator<Item = (u16, Time)> + '_ {
        self.history.iter().map(|c| (c.port, c.opened))
    }

    /// The connection that had this port at that time.
    fn connection(&self, port: u16, at: Time) -> Option<&Connection> {
        self.history.iter().rev().find(|c| c.port == port && c.opened <= at)
    }
}

/// The same while the run goes on.
#[derive(Debug, Default)]
pub(super) struct Book {
    so_far: FlowBook,
    delays: Delays,
    rtt_min: Option<Span>,
    rtt_sum: f64,
    rtts: u64,
    by_port: HashMap<u16, u32>,
    /// The connection of which something else is missing than when it was last asked.
    changed: Option<u32>,
    measured: bool,
    closed: bool,
    series: bool,
}

impl Book {
    /// An empty book. Counting waits for [`Book::begin_measuring`].
    pub fn new(series: bool) -> Self {
        Self { series, ..Self::default() }
    }

    /// The warm-up is over: what was counted does not count.
    pub fn begin_measuring(&mut self) {
        self.measured = true;
    }

    /// The run is over, whatever still comes.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// A segment of the flow enters the path; `forward`: from the sender of the data. `None`: of no connection known.
    pub fn send(&mut self, now: Time, flow: u32, tcp: &Tcp, forward: bool) -> Option<Seen> {
        let index = self.find(now, tcp, forward)?;
        let counts = self.measured && !self.closed;
        let connection = self.so_far.history.get_mut(index as usize)?;
        let control = tcp.has(flags::SYN) || tcp.has(flags::RST);
        let number = match forward {
            true => connection.unwrap(tcp.seq).map(|n| n + u64::from(tcp.has(flags::SYN))),
            false if tcp.has(flags::ACK) && !control => connection.unwrap(tcp.ack),
            false => None,
        };
        let number = number.unwrap_or(0);
        let seen = Seen { flow, connection: index, forward, len: tcp.len, number };
        if forward && tcp.len > 0 && number > 0 && !self.closed {
            let sent = connection.send(now, number, number + u64::from(tcp.len));
            if sent.again > 0 {
                self.changed = Some(index);
            }
            if counts {
                self.so_far.segments_sent += 1;
                self.so_far.bytes_sent += u64::from(tcp.len);
                self.so_far.retransmitted_segments += u64::from(sent.again > 0);
                self.so_far.retransmitted_bytes += sent.again;
            }
            if self.series {
                let point = SegmentPoint {
                    t: now.seconds(),
                    seq: number,
                    len: tcp.len,
                    retransmission: sent.again > 0,
                };
                self.so_far.segments.push(point);
            }
        }
        if !forward && tcp.len == 0 && number > 0 && counts {
            self.so_far.acks_sent += 1;
        }
        Some(seen)
    }

    /// The connection of a segment; the SYN of the data's sender opens it, be it the first or the answer to one.
    fn find(&mut self, now: Time, tcp: &Tcp, forward: bool) -> Option<u32> {
        // Servers' ports are below those that Linux gives to clients, whichever end sends the data.
        let port = tcp.source.max(tcp.destination);
        let known = self.by_port.get(&port).copied();
        let opens = forward && tcp.has(flags::SYN);
        let current = known.and_then(|index| self.so_far.history.get_mut(index as usize));
        match current {
            Some(connection) if !opens || connection.opens_with(tcp.seq) => return known,
            Some(connection) => connection.retire(),
            None if !forward || tcp.has(flags::RST) => return None,
            None => {}
        }
        let isn = if opens { tcp.seq } else { tcp.seq.wrapping_sub(1) };
        let index = self.so_far.history.len() as u32;
        self.so_far.history.push(Connection::new(port, isn, now));
        self.so_far.connections += 1;
        self.by_port.insert(port, index);
        Some(index)
    }

    /// A segment has reached the other end.
    pub fn arrive(&mut self, now: Time, seen: &Seen) {
        if self.closed || seen.number == 0 {
            return;
        }
        let measured = self.measured;
        let Some(connection) = self.so_far.history.get_mut(seen.connection as usize) else { return };
        if !seen.forward {
            let rtt = connection.acknowledge(now, seen.number);
            if self.series {
                self.so_far.acks.push(AckPoint { t: now.seconds(), ack: seen.number });
            }
            if let Some(rtt) = rtt {
                if self.series {
                    self.so_far.rtts.push((now, rtt));
                }
                self.rtt_min = Some(self.rtt_min.map_or(rtt, |min| min.min(rtt)));
                if measured {
                    self.rtt_sum += rtt.as_f64();
                    self.rtts += 1;
                }
            }
            return;
        }
        if seen.len == 0 {
            return;
        }
        let end = seen.number + u64::from(seen.len);
        let (delays, points) = (&mut self.delays, &mut self.so_far.delays);
        let delivered = connection.arrive(now, seen.number, end, |delay| {
            if measured {
                delays.add(delay);
            }
            if self.series {
                points.push(DelayPoint { t: now.seconds(), delay: delay.seconds() });
            }
        });
        if delivered.bytes > 0 {
            self.so_far.last_delivery = Some(now);
        }
        if measured {
            self.so_far.segments_received += 1;
            self.so_far.bytes_delivered += delivered.bytes;
            self.so_far.longest_stall = self.so_far.longest_stall.max(delivered.pause);
        }
    }

    /// A segment that entered at `sent` is lost at `drop.at`, on the lane of this name. `copy`: its twin goes on.
    pub fn lose(&mut self, seen: &Seen, sent: Time, drop: Dropped, copy: bool, lane: &str) {
        if self.closed || (!seen.forward && seen.len > 0) {
            return; // requests are not the flow's data
        }
        let data = seen.forward && seen.len > 0;
        if data
            && !copy
            && let Some(connection) = self.so_far.history.get_mut(seen.connection as usize)
        {
            connection.truth.lost(sent, seen.number, seen.number + u64::from(seen.len), drop);
            self.changed = Some(seen.connection);
        }
        if self.measured && data {
            drop.cause.count(&mut self.so_far.drops);
        } else if self.measured && !seen.forward {
            drop.cause.count(&mut self.so_far.ack_drops);
        }
        if self.series {
            self.so_far.dropped.push(DropPoint {
                t: drop.at.seconds(),
                seq: seen.number,
                ack: !seen.forward,
                cause: drop.cause.name(),
                link: lane.to_owned(),
            });
        }
    }

    /// Of which connection, by its client's port, something else is missing since this was last asked, and what.
    pub fn take_change(&mut self) -> Option<(u16, Vec<Missing>)> {
        let connection = self.so_far.history.get(self.changed.take()? as usize)?;
        Some((connection.port, connection.missing()))
    }

    /// The book as it stands at the end.
    pub fn finish(mut self) -> FlowBook {
        let mut book = self.so_far;
        book.delay_s = self.delays.outcome();
        let mean = (self.rtts > 0).then(|| self.rtt_sum / self.rtts as f64 / 1e9);
        book.rtt_s = RttOutcome { min: self.rtt_min.take().map(Span::seconds), mean };
        book.rounds = book.history.last().map(Connection::rounds).unwrap_or_default();
        // A lane tells of a drop when its time is known, which may be before it comes.
        book.dropped.sort_by(|a, b| a.t.total_cmp(&b.t));
        book
    }
}

impl Cause {
    /// Adds a drop to its cause.
    pub(super) fn count(self, drops: &mut Drops) {
        match self {
            Self::Queue => drops.queue += 1,
            Self::Channel => drops.channel += 1,
            Self::Outage => drops.outage += 1,
        }
    }
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
