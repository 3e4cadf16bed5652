//! A digest of a run's history: what reached an endpoint or was dropped, when. Two runs with the same digest did the
//! same things, on whatever machine.

/// A running hash of 64 bits. Not for: security.
#[derive(Debug, Clone, Copy)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Digest {
    /// Takes in one happening.
    #[inline]
    pub fn add(&mut self, a: u64, b: u64) {
        const K: u64 = 0xff51_afd7_ed55_8ccd; // MurmurHash3's finaliser
        self.0 = (self.0 ^ a).wrapping_mul(K).rotate_left(29) ^ b.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    }

    /// 16 hexadecimal digits.
    pub fn text(self) -> String {
        let z = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        format!("{:016x}", z ^ (z >> 33))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_content_matter() {
        let digest = |pairs: &[(u64, u64)]| {
            let mut d = Digest::default();
            pairs.iter().for_each(|&(a, b)| d.add(a, b));
            d.text()
        };
        assert_ne!(digest(&[(1, 2), (3, 4)]), digest(&[(3, 4), (1, 2)]));
        assert_ne!(digest(&[(1, 2)]), digest(&[(2, 1)]));
        assert_eq!(digest(&[(1, 2)]).len(), 16);
    }
}
