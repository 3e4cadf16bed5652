//! When which station has to be called next: a tournament among all of them, so that changing one costs a few
//! comparisons and finding the first costs none.

use crate::Time;

/// One deadline for each of a fixed number of stations.
#[derive(Debug)]
pub(crate) struct Deadlines {
    /// The leaves are the stations' deadlines; each node above is the earlier of its two, and, of equal ones, the left.
    tree: Vec<(Time, u32)>,
    /// Where the leaves begin.
    leaves: usize,
}

impl Deadlines {
    pub fn new(stations: usize) -> Self {
        let leaves = stations.next_power_of_two();
        let mut tree = vec![(Time::MAX, 0); 2 * leaves];
        for (i, leaf) in tree[leaves..].iter_mut().enumerate() {
            leaf.1 = i as u32;
        }
        Self { tree, leaves }
    }

    /// The first deadline and whose it is; at the end of time if there is none.
    #[inline]
    pub fn first(&self) -> (Time, u32) {
        self.tree[1]
    }

    /// Changes a station's deadline.
    #[inline]
    pub fn set(&mut self, station: u32, at: Time) {
        let mut i = self.leaves + station as usize;
        if self.tree[i].0 == at {
            return;
        }
        self.tree[i].0 = at;
        while i > 1 {
            i /= 2;
            let (left, right) = (self.tree[2 * i], self.tree[2 * i + 1]);
            let winner = if left.0 <= right.0 { left } else { right };
            if self.tree[i] == winner {
                return;
            }
            self.tree[i] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_channel::random::up_to;

    #[test]
    fn the_first_is_the_first_whatever_changes() {
        for n in [1usize, 2, 3, 7, 20, 64, 100] {
            let (mut deadlines, mut plain) = (Deadlines::new(n), vec![Time::MAX; n]);
            let mut rng = truckee_channel::stream(1, "deadlines");
            for _ in 0..2_000 {
                let (station, mut at) = (up_to(&mut rng, n as u64 - 1) as usize, up_to(&mut rng, 50));
                if at == 50 {
                    at = Time::MAX;
                }
                deadlines.set(station as u32, at);
                plain[station] = at;
                let first = plain.iter().copied().zip(0u32..).min();
                assert_eq!(Some(deadlines.first().0), first.map(|f| f.0));
                if deadlines.first().0 < Time::MAX {
                    assert_eq!(Some(deadlines.first()), first);
                }
            }
        }
    }
}
