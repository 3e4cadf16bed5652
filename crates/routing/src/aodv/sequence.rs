//! Sequence numbers, which wrap. Source: RFC 3561, section 6.1.

/// A destination's sequence number: 32 bits, compared as signed differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SequenceNumber(pub u32);

impl SequenceNumber {
    /// Whether it is later than the other.
    #[inline]
    pub fn is_after(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) > 0
    }

    /// The later of the two.
    #[inline]
    pub fn later(self, other: Self) -> Self {
        if other.is_after(self) { other } else { self }
    }

    /// The one that follows.
    #[inline]
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_after_another_beyond_the_wrap_too() {
        let (last, first) = (SequenceNumber(u32::MAX), SequenceNumber(0));
        assert!(first.is_after(last) && !last.is_after(first) && last.next() == first);
        assert!(SequenceNumber(0x7fff_ffff).is_after(first) && !SequenceNumber(0x8000_0001).is_after(first));
        assert_eq!(last.later(first), first);
        assert!(!first.is_after(first));
    }
}
