//! What came of a server within a test: which segments brought something new, which repeated, which never came. Pure
//! bookkeeping. Not for: acknowledging (see [`super::observe`]); what it means (see [`super::judge`]).

use super::http::LONGEST_HEAD;
use super::ranges::Ranges;
use super::wire::{Arrival, flags};
use truckee_tcp::Time;

/// A segment of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// When it came, ns.
    pub time: Time,
    /// Its first byte, the answer's first being 0.
    pub start: u32,
    /// Behind its last.
    pub end: u32,
    /// Whether it brought bytes that had not come before.
    pub new: bool,
    /// Whether it asks for the data to be handed over (PSH): often the end of what the application had written.
    pub pushed: bool,
}

/// All that came.
#[derive(Debug, Clone, Default)]
pub struct Log {
    /// The answer's first sequence number.
    base: u32,
    /// In the order in which they came.
    pub segments: Vec<Segment>,
    /// What has come.
    covered: Ranges,
    /// Where the answer ends, if that has come.
    pub fin: Option<u32>,
    /// Whether the server has aborted.
    pub reset: bool,
    /// The answer's first bytes, as far as they are whole.
    pub text: Vec<u8>,
    /// Packets that came, however empty.
    pub packets: usize,
    /// Segments that brought something new, and when the last of them came.
    news: u32,
    last_news: Option<Time>,
    load: u64,
    largest: u32,
}

impl Log {
    /// An empty one of an answer that begins with this sequence number.
    pub fn new(base: u32) -> Self {
        Self { base, ..Self::default() }
    }

    /// Takes down what came. A packet that the kernel has put together becomes the segments it was.
    pub fn take(&mut self, arrival: &Arrival) {
        self.packets += 1;
        self.reset |= arrival.has(flags::RST);
        let start = arrival.seq.wrapping_sub(self.base);
        if start > u32::MAX / 2 {
            return; // of the handshake
        }
        let end = start.saturating_add(arrival.payload.len() as u32);
        if arrival.has(flags::FIN) {
            self.fin = Some(end);
        }
        let size = if arrival.segment == 0 { arrival.payload.len() as u32 } else { arrival.segment };
        let mut at = start;
        while at < end {
            let to = at.saturating_add(size.max(1)).min(end);
            let new = self.covered.add(at, to);
            if new {
                self.news += 1;
                self.last_news = self.last_news.max(Some(arrival.time));
            }
            self.load += u64::from(to - at);
            self.largest = self.largest.max(to - at);
            // Of segments that were put together the last has it, as the kernel puts none behind it.
            let pushed = arrival.has(flags::PSH) && to == end;
            self.segments.push(Segment { time: arrival.time, start: at, end: to, new, pushed });
            at = to;
        }
        self.read(start, &arrival.payload);
    }

    fn read(&mut self, start: u32, payload: &[u8]) {
        let have = self.text.len();
        if start as usize <= have && have < LONGEST_HEAD {
            self.text.extend(payload.iter().skip(have - start as usize).take(LONGEST_HEAD - have));
        }
    }

    /// So many bytes have come without a gap.
    pub fn contiguous(&self) -> u32 {
        self.covered.contiguous()
    }

    /// Bytes that have not come, but bytes behind them.
    pub fn missing(&self) -> u64 {
        u64::from(self.covered.end()) - self.covered.bytes()
    }

    /// Behind the last byte that came.
    pub fn end(&self) -> u32 {
        self.covered.end()
    }

    /// Bytes that came, each once.
    pub fn bytes(&self) -> u64 {
        self.covered.bytes()
    }

    /// Bytes that came, however often.
    pub fn load(&self) -> u64 {
        self.load
    }

    /// The largest segment, bytes.
    pub fn largest(&self) -> u32 {
        self.largest
    }

    /// Segments that brought something new.
    pub fn fresh(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|s| s.new)
    }

    /// How many these are.
    pub fn news(&self) -> u32 {
        self.news
    }

    /// When something new came last.
    pub fn last_fresh(&self) -> Option<Time> {
        self.last_news
    }

    /// Whether what has come ends like something that the application has ended, and not the window: with a segment that is
    /// not full, or with a PSH that others do not have. A single segment may always be one.
    pub fn ends_early(&self) -> bool {
        let Some(last) = self.fresh().max_by_key(|s| s.end) else { return false };
        let told = last.pushed && self.fresh().any(|s| !s.pushed);
        self.news == 1 || told || last.end - last.start < self.largest
    }

    /// Where to cut what came behind byte `from`, so that each part is a segment or more of `mss` bytes: at most `want`
    /// ends of segments. A shorter rest is a part of its own if nothing full follows.
    pub fn cuts(&self, from: u32, mss: u32, want: usize) -> Vec<u32> {
        let end = self.contiguous();
        let mut edges: Vec<u32> = self.fresh().map(|s| s.end).filter(|e| *e > from && *e <= end).collect();
        edges.sort_unstable();
        let mut cuts = Vec::new();
        let mut begun = from;
        for edge in &edges {
            if cuts.len() < want && edge - begun >= mss {
                cuts.push(*edge);
                begun = *edge;
            }
        }
        match edges.last() {
            Some(last) if cuts.len() < want && *last > begun => cuts.push(*last),
            _ => {}
        }
        cuts
    }

    /// Segments that brought something new and end at or before this byte.
    pub fn fresh_until(&self, end: u32) -> u32 {
        self.fresh().filter(|s| s.end <= end).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Header;

    fn arrival(seq: u32, len: usize, segment: u32) -> Arrival {
        Arrival {
            time: Time::ns(1),
            seq,
            ack: 0,
            flags: flags::ACK,
            stamps: None,
            header: Header::default(),
            segment,
            payload: vec![b'x'; len],
        }
    }

    fn log(arrivals: &[(u32, usize, u32)]) -> Log {
        let mut log = Log::new(u32::MAX - 99);
        for &(at, len, segment) in arrivals {
            log.take(&arrival((u32::MAX - 99).wrapping_add(at), len, segment));
        }
        log
    }

    #[test]
    fn packets_put_together_become_segments_across_the_wrap() {
        let log = log(&[(0, 250, 100), (250, 100, 0)]);
        let sizes: Vec<u32> = log.segments.iter().map(|s| s.end - s.start).collect();
        assert_eq!(sizes, [100, 100, 50, 100]);
        assert_eq!((log.contiguous(), log.missing(), log.largest(), log.text.len()), (350, 0, 100, 350));
    }

    #[test]
    fn what_repeats_is_told_from_what_is_new_and_what_is_missing_counted() {
        let mut all = log(&[(0, 100, 0), (200, 100, 0), (0, 100, 0), (250, 100, 0)]);
        let new: Vec<bool> = all.segments.iter().map(|s| s.new).collect();
        assert_eq!(new, [true, true, false, true]);
        assert_eq!((all.contiguous(), all.missing(), all.bytes(), all.load()), (100, 100, 250, 400));
        all.take(&arrival((u32::MAX - 99).wrapping_add(100), 100, 0));
        assert_eq!((all.contiguous(), all.missing(), all.bytes()), (350, 0, 350));
    }

    #[test]
    fn the_handshake_is_no_answer_and_the_end_is_seen() {
        let mut log = log(&[(0, 100, 0)]);
        log.take(&arrival(u32::MAX - 300, 50, 0));
        assert_eq!((log.segments.len(), log.fin), (1, None));
        log.take(&Arrival { flags: flags::FIN | flags::ACK, ..arrival(0, 20, 0) });
        assert_eq!((log.fin, log.contiguous()), (Some(120), 120));
    }

    #[test]
    fn a_flight_that_the_application_ended_ends_short_or_pushed() {
        let ends = |arrivals: &[(u32, usize, bool)]| {
            let mut log = Log::new(0);
            for &(at, len, pushed) in arrivals {
                let flags = if pushed { flags::ACK | flags::PSH } else { flags::ACK };
                log.take(&Arrival { flags, ..arrival(at, len, 100) });
            }
            log.ends_early()
        };
        assert!(!ends(&[(0, 1000, false)]), "full segments");
        assert!(!ends(&[(0, 40, true), (40, 500, false)]), "a head by itself, and full segments");
        assert!(ends(&[(0, 40, true), (40, 540, true)]) && ends(&[(0, 500, true)]));
        assert!(ends(&[(0, 40, true)]) && ends(&[(0, 100, false)]), "one says nothing");
        assert!(!ends(&[(0, 100, true), (100, 100, true)]), "a stack that has it in all says nothing by it");
    }

    #[test]
    fn cuts_are_at_segments_and_none_is_shorter_than_a_full_one_unless_nothing_follows() {
        // A short head, as of a server that writes it by itself, and full segments.
        let log = log(&[(0, 20, 0), (20, 100, 0), (120, 300, 100)]);
        assert_eq!(log.cuts(0, 100, 3), [120, 220, 320]);
        assert_eq!(log.cuts(320, 100, 3), [420]);
        assert_eq!(log.fresh_until(220), 3);
        let two = self::log(&[(0, 100, 0), (100, 40, 0)]);
        assert_eq!(two.cuts(0, 100, 3), [100, 140]);
        assert_eq!(two.cuts(0, 100, 1), [100]);
        let gap = self::log(&[(0, 100, 0), (200, 100, 0)]);
        assert_eq!(gap.cuts(0, 100, 3), [100]);
    }
}
