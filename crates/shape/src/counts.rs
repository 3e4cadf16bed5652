//! What a shaper has done, in numbers.

#[cfg(live)]
use super::layout::{counts, mode};
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
    /// Adds what one processor has counted.
    pub(super) fn add(&mut self, one: &counts) {
        self.seen += one.seen;
        self.sent += one.sent;
        self.divided += one.divided;
        self.pieces += one.pieces;
        self.held += one.held;
        self.released += one.released;
        self.overtaken += one.late;
        self.duplicates += one.duplicates;
        self.others += one.others;
        self.unheld += one.unheld;
        self.bytes += one.bytes;
        self.flows += one.flows;
        self.unheard += one.unheard;
        let seconds = |of: mode| one.mode[of.0 as usize] as f64 / 1e9;
        self.time_s.as_is += seconds(mode::AS_IS);
        self.time_s.divided += seconds(mode::DIVIDED);
        self.time_s.delayed += seconds(mode::DELAYED);
        self.time_s.accumulated += seconds(mode::ACCUMULATED);
    }
}

#[cfg(live)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_summed() {
        let one = counts {
            seen: 1,
            unheard: 13,
            mode: [4, 5, 6, 7].map(|s| s * 1_000_000_000),
            ..counts::default()
        };
        let mut sum = Counts::default();
        sum.add(&one);
        sum.add(&one);
        assert_eq!((sum.seen, sum.unheard), (2, 26));
        let t = sum.time_s;
        assert_eq!([t.as_is, t.divided, t.delayed, t.accumulated], [8.0, 10.0, 12.0, 14.0]);
    }
}
