//! The connections of a capture: which packet belongs to which, in bounded memory.
//!
//! A connection is two ends and what passes between them from one SYN to the next with another number. When there are
//! more than [`Limits`] allow, those longest silent are closed: what is known of one is kept as a
//! [`report::Connection`], what would follow of it counts as another. When there are more reports than allowed, the
//! smallest are summed up.

use crate::connection::{Connection, End, Step};
use crate::error::Error;
use crate::file::Reader;
use crate::report::{self, Others};
use crate::wire::{self, Packet, Skip};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use truckee_tcp::{Cause, Time};

/// What is kept at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections that are followed at once.
    pub followed: usize,
    /// Connections that are reported one by one.
    pub reported: usize,
    /// Bytes that are kept over all followed connections: segments in the air, holes, rounds, and the like.
    pub bytes: usize,
    /// Kinds of packets passed over that are counted one by one.
    pub skips: usize,
}

impl Default for Limits {
    /// At the worst about 300 MB.
    fn default() -> Self {
        Self { followed: 1 << 14, reported: 1 << 12, bytes: 160 << 20, skips: 64 }
    }
}

/// Hears of every packet of the connections it asks for.
pub trait Watch {
    /// Whether it wants to hear of this connection, which begins.
    fn wants(&mut self, connection: &Connection) -> bool;
    /// A packet of one of them has passed.
    fn on_step(&mut self, connection: &Connection, packet: &Packet, step: &Step);
}

/// Those that hear of one connection each, by its number.
#[derive(Debug)]
pub struct Each<W>(pub BTreeMap<u64, W>);

impl<W: Watch> Watch for Each<W> {
    fn wants(&mut self, connection: &Connection) -> bool {
        self.0.contains_key(&connection.number)
    }

    fn on_step(&mut self, connection: &Connection, packet: &Packet, step: &Step) {
        if let Some(one) = self.0.get_mut(&connection.number) {
            one.on_step(connection, packet, step);
        }
    }
}

/// Which two ends, in a fixed order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key(End, End);

impl Key {
    fn of(packet: &Packet) -> Self {
        let a = End { address: packet.ip.source, port: packet.tcp.source };
        let b = End { address: packet.ip.destination, port: packet.tcp.destination };
        if a <= b { Self(a, b) } else { Self(b, a) }
    }
}

/// A followed connection.
struct Entry {
    key: Key,
    connection: Connection,
    /// When it was last heard of, in packets.
    heard: u64,
    watched: bool,
}

/// What has been read of a capture.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Capture {
    /// `pcap` or `pcapng`.
    pub format: &'static str,
    /// Bytes read, unpacked.
    pub bytes: u64,
    /// Packets read.
    pub packets: u64,
    /// Of them, those of TCP.
    pub tcp_packets: u64,
    /// Time of the first TCP packet, seconds since 1970.
    pub began_s: f64,
    /// From the first TCP packet to the last, seconds.
    pub lasted_s: f64,
    /// Packets passed over, by why.
    pub skipped: BTreeMap<String, u64>,
    /// Blocks of the file that made no sense.
    pub skipped_blocks: u64,
    /// What was wrong with the first of them.
    pub first_skipped_block: Option<String>,
    /// Why reading ended before the end, if it did.
    pub ended_early: Option<String>,
    /// The connections, in the order in which they began.
    pub connections: Vec<report::Connection>,
    /// Those that are not reported one by one.
    pub others: Others,
    /// Of those reported one by one, how many a reader's choice has left out ([`Capture::choose`]).
    pub left_out: u64,
}

impl Capture {
    /// Leaves out those connections that are not wanted.
    pub fn choose(&mut self, wanted: impl FnMut(&report::Connection) -> bool) {
        let before = self.connections.len();
        self.connections.retain(wanted);
        self.left_out += (before - self.connections.len()) as u64;
    }
}

/// Connections being followed.
pub struct Table<'w> {
    limits: Limits,
    places: HashMap<Key, usize>,
    followed: Vec<Entry>,
    /// Place of the packet before.
    latest: usize,
    packets: u64,
    tcp_packets: u64,
    kept: usize,
    opened: u64,
    skips: BTreeMap<Skip, u64>,
    other_skips: u64,
    done: Vec<report::Connection>,
    others: Others,
    watch: Option<&'w mut dyn Watch>,
    first: Option<Time>,
    last: Time,
}

/// Reads a capture to its end, or as far as it can be read.
pub fn read(
    source: impl Read,
    limits: Limits,
    watch: Option<&mut dyn Watch>,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<Capture, Error> {
    /// Packets between two questions whether to go on.
    const ASK_EVERY: u64 = 1 << 14;
    let mut reader = Reader::new(source)?;
    let mut table = Table::new(limits, watch);
    let mut ended_early = None;
    loop {
        if table.packets.is_multiple_of(ASK_EVERY) && !go_on(reader.offset()) {
            ended_early = Some("interrupted".to_owned());
            break;
        }
        match reader.next_frame() {
            Ok(Some(frame)) => {
                let dropped = frame.comment.and_then(crate::truth::cause_of);
                match wire::read(frame.link, frame.data, frame.wire_len) {
                    Ok(packet) => table.on_packet(frame.time, &packet, dropped),
                    Err(skip) => table.on_skip(skip),
                }
            }
            Ok(None) => break,
            Err(error) => {
                ended_early = Some(error.to_string());
                break;
            }
        }
    }
    let (skipped_blocks, oddity) = reader.skipped();
    let capture = table.finish();
    Ok(Capture {
        format: reader.format(),
        bytes: reader.offset(),
        skipped_blocks,
        first_skipped_block: oddity.map(str::to_owned),
        ended_early,
        ..capture
    })
}

impl<'w> Table<'w> {
    /// No connections yet; `watch` hears of those it wants.
    pub fn new(limits: Limits, watch: Option<&'w mut dyn Watch>) -> Self {
        Self {
            limits,
            places: HashMap::new(),
            followed: Vec::new(),
            latest: 0,
            packets: 0,
            tcp_packets: 0,
            kept: 0,
            opened: 0,
            skips: BTreeMap::new(),
            other_skips: 0,
            done: Vec::new(),
            others: Others::default(),
            watch,
            first: None,
            last: Time::ZERO,
        }
    }

    /// A packet that is passed over.
    pub fn on_skip(&mut self, skip: Skip) {
        self.packets += 1;
        if self.skips.len() < self.limits.skips || self.skips.contains_key(&skip) {
            *self.skips.entry(skip).or_default() += 1;
        } else {
            self.other_skips += 1;
        }
    }

    /// A TCP packet, captured at `time`; `dropped`: what the capture's writer says became of it.
    pub fn on_packet(&mut self, time: Time, packet: &Packet, dropped: Option<Cause>) {
        self.packets += 1;
        self.tcp_packets += 1;
        self.first.get_or_insert(time);
        self.last = self.last.max(time);
        let place = self.place(time, packet);
        self.latest = place;
        let entry = &mut self.followed[place];
        entry.heard = self.packets;
        let before = entry.connection.size();
        let step = entry.connection.on_packet(time, packet, dropped);
        let after = entry.connection.size();
        if entry.watched
            && let Some(watch) = &mut self.watch
        {
            watch.on_step(&entry.connection, packet, &step);
        }
        self.kept = (self.kept + after).saturating_sub(before);
        if self.kept > self.limits.bytes {
            self.close_silent();
        }
    }

    /// Where the packet's connection is followed; it may begin with it.
    fn place(&mut self, time: Time, packet: &Packet) -> usize {
        let key = Key::of(packet);
        let known = match self.followed.get(self.latest) {
            Some(entry) if entry.key == key => Some(self.latest),
            _ => self.places.get(&key).copied(),
        };
        if let Some(place) = known {
            if !self.followed[place].connection.is_over_with(packet) {
                return place;
            }
            self.close(place);
        }
        if self.followed.len() >= self.limits.followed.max(1) {
            self.close_silent();
        }
        self.opened += 1;
        let connection = Connection::new(self.opened, time, packet);
        self.kept += connection.size();
        let watched = self.watch.as_mut().is_some_and(|watch| watch.wants(&connection));
        let place = self.followed.len();
        self.followed.push(Entry { key, connection, heard: self.packets, watched });
        self.places.insert(key, place);
        place
    }

    /// Closes the eighth part of the connections that has been silent the longest, and one at least.
    #[cold]
    fn close_silent(&mut self) {
        let mut heard: Vec<u64> = self.followed.iter().map(|entry| entry.heard).collect();
        let some = heard.len() / 8;
        if heard.len() < 2 {
            return; // one alone is bounded by itself
        }
        let (_, &mut since, _) = heard.select_nth_unstable(some);
        let mut place = 0;
        while place < self.followed.len() {
            if self.followed[place].heard <= since { self.close(place) } else { place += 1 }
        }
    }

    /// Ends a connection: what is known of it is kept, and its place is free for the last one.
    fn close(&mut self, place: usize) {
        let entry = self.followed.swap_remove(place);
        self.places.remove(&entry.key);
        if let Some(moved) = self.followed.get(place) {
            self.places.insert(moved.key, place);
        }
        self.kept = self.kept.saturating_sub(entry.connection.size());
        self.done.push(report::Connection::of(&entry.connection));
        if self.done.len() >= 2 * self.limits.reported.max(1) {
            self.sum_up();
        }
    }

    /// Sums up the smallest connections, so that as many remain as are reported.
    fn sum_up(&mut self) {
        if self.done.len() > self.limits.reported {
            self.done.sort_by_key(|c| std::cmp::Reverse(c.bytes()));
            self.done.drain(self.limits.reported..).for_each(|small| self.others.add(&small));
        }
    }

    /// Ends: everything that is known.
    pub fn finish(mut self) -> Capture {
        while !self.followed.is_empty() {
            self.close(self.followed.len() - 1);
        }
        self.sum_up();
        self.done.sort_by_key(|c| c.number);
        let mut skipped: BTreeMap<String, u64> = self.skips.iter().map(|(s, n)| (s.name(), *n)).collect();
        if self.other_skips > 0 {
            skipped.insert("of other link types".to_owned(), self.other_skips);
        }
        Capture {
            format: "",
            bytes: 0,
            packets: self.packets,
            tcp_packets: self.tcp_packets,
            began_s: self.first.unwrap_or(Time::ZERO).seconds(),
            lasted_s: (self.last - self.first.unwrap_or(self.last)).seconds(),
            skipped,
            skipped_blocks: 0,
            first_skipped_block: None,
            ended_early: None,
            connections: self.done,
            others: self.others,
            left_out: 0,
        }
    }
}

#[cfg(test)]
mod tests;
