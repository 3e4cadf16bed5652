//! What duplicate ACKs count as delivered.

/// What duplicate ACKs have counted as delivered before an advance covers it, bytes: an ACK that ends a gap, or a part
/// of it, counts only what they have not.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByDuplicates(u64);

impl ByDuplicates {
    /// A duplicate has come while `flight` bytes were unacknowledged: the bytes that it shows to be delivered.
    pub fn another(&mut self, mss: u64, flight: u64) -> u64 {
        let delivered = mss.min(flight.saturating_sub(self.0));
        self.0 += delivered;
        delivered
    }

    /// What they have counted and no advance has covered yet.
    pub fn waiting(self) -> u64 {
        self.0
    }

    /// An ACK of `covered` new bytes: those of them that are news.
    #[inline]
    pub fn advance(&mut self, covered: u64) -> u64 {
        if self.0 == 0 {
            return covered; // as nearly always
        }
        let known = self.0.min(covered);
        self.0 -= known;
        covered - known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_duplicates_have_counted_is_not_counted_again_however_many_holes_there_are() {
        // Segments 1 and 4 of ten are lost: eight duplicates, then 1 comes and covers 3, then 4 and covers all.
        let mut counted = ByDuplicates::default();
        let duplicates: u64 = (0..8).map(|_| counted.another(1000, 10_000)).sum();
        let partial = counted.advance(3000);
        let rest = counted.advance(7000);
        assert_eq!((duplicates, partial, rest), (8000, 0, 2000));
    }

    #[test]
    fn duplicates_never_count_more_than_is_in_flight() {
        let mut counted = ByDuplicates::default();
        let all: u64 = (0..9).map(|_| counted.another(1000, 2500)).sum();
        assert_eq!(all, 2500);
    }
}
