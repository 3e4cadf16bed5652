//! Which bytes of an answer have come, as ranges that do not touch. Pure bookkeeping.

/// Ranges of bytes, in order.
#[derive(Debug, Clone, Default)]
pub struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    /// Adds a range; whether it had anything new.
    pub fn add(&mut self, start: u32, end: u32) -> bool {
        // Those that it touches, of ranges that do not touch each other.
        let first = self.0.partition_point(|(_, to)| *to < start);
        let behind = self.0.partition_point(|(from, _)| *from <= end);
        let touched = &self.0[first..behind];
        if touched.iter().any(|(from, to)| *from <= start && end <= *to) {
            return false;
        }
        let from = touched.first().map_or(start, |(from, _)| start.min(*from));
        let to = touched.last().map_or(end, |(_, to)| end.max(*to));
        self.0.splice(first..behind, [(from, to)]);
        true
    }

    /// So many bytes are there without a gap.
    pub fn contiguous(&self) -> u32 {
        self.0.first().filter(|(from, _)| *from == 0).map_or(0, |(_, to)| *to)
    }

    /// Behind the last byte.
    pub fn end(&self) -> u32 {
        self.0.last().map_or(0, |(_, to)| *to)
    }

    /// How many bytes there are, each once.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|(from, to)| u64::from(to - from)).sum()
    }

    /// The range that has this byte.
    pub fn around(&self, byte: u32) -> Option<(u32, u32)> {
        self.0.iter().copied().find(|(from, to)| *from <= byte && byte < *to)
    }

    /// Those that lie apart from the first bytes, which SACK blocks tell of: the last ones first.
    pub fn apart(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.0.iter().rev().copied().filter(|(from, _)| *from > 0)
    }
}
