//! What a shaper has done, in numbers.

use serde::Serialize;

/// Counted since the shaper began, over all its connections.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Counts {
    /// ACKs of new data, and nothing else, that the local stack (or whoever is behind it) sent.
    pub seen: u64,
    /// Those that left, pieces included.
    pub sent: u64,
    /// Those that were cut.
    pub divided: u64,
    /// The pieces into which they were cut.
    pub pieces: u64,
    /// Those taken away until a later one.
    pub held: u64,
    /// Those sent by the timer.
    pub released: u64,
    /// Those that the timer would have sent, had a later one not left at that very moment.
    pub overtaken: u64,
    /// Duplicate ACKs and window updates, which pass.
    pub duplicates: u64,
    /// ACKs with SACK blocks or ECN echo, which pass.
    pub others: u64,
    /// Those that should have been held and were not, for want of room.
    pub unheld: u64,
    /// Bytes that the stack acknowledged, whatever else its ACKs said.
    pub bytes: u64,
    /// Connections.
    pub flows: u64,
    /// Arrivals that a policy which adapts was told of only with a later one, for want of room.
    pub unheard: u64,
    /// Time in each way of treating ACKs, summed over connections, s.
    pub time_s: ModeTimes,
    /// How late the timer was.
    pub lateness_s: Lateness,
}

/// Time between the ACKs of a connection, by what was done with the first of them, s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ModeTimes {
    /// Passed as they were.
    pub as_is: f64,
    /// Cut.
    pub divided: f64,
    /// Held for a fixed number of segments.
    pub delayed: f64,
    /// Held for as many as was learnt.
    pub accumulated: f64,
}

/// How long after its deadline the timer sent an ACK, s; none: it sent none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Lateness {
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

#[cfg(live)]
impl Counts {
    /// Adds what one processor has counted; none: the record is too short.
    pub(super) fn add(&mut self, record: &[u8]) -> Option<()> {
        let at = |k: usize| Some(u64::from_ne_bytes(record.get(8 * k..8 * k + 8)?.try_into().ok()?));
        let whole = [
            &mut self.seen,
            &mut self.sent,
            &mut self.divided,
            &mut self.pieces,
            &mut self.held,
            &mut self.released,
            &mut self.overtaken,
            &mut self.duplicates,
            &mut self.others,
            &mut self.unheld,
            &mut self.bytes,
            &mut self.flows,
            &mut self.unheard,
        ];
        let times = [
            &mut self.time_s.as_is,
            &mut self.time_s.divided,
            &mut self.time_s.delayed,
            &mut self.time_s.accumulated,
        ];
        let before = whole.len();
        for (k, mine) in whole.into_iter().enumerate() {
            *mine += at(k)?;
        }
        for (k, mine) in times.into_iter().enumerate() {
            *mine += at(before + k)? as f64 / 1e9;
        }
        Some(())
    }
}

#[cfg(live)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_summed_and_a_record_cut_short_refused() {
        let record: Vec<u8> = (1..=17u64).flat_map(|n| (n * 1_000_000_000).to_ne_bytes()).collect();
        let mut counts = Counts::default();
        counts.add(&record).unwrap();
        counts.add(&record).unwrap();
        assert_eq!((counts.seen, counts.unheard), (2_000_000_000, 26_000_000_000));
        assert_eq!((counts.time_s.as_is, counts.time_s.accumulated), (28.0, 34.0));
        assert_eq!(counts.add(&record[..record.len() - 1]), None);
    }
}
