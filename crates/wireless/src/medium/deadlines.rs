//! When which station has to be called next.
//!
//! A frame stops and starts the backoff of all who hear it, so that deadlines change in crowds between two events: what
//! changes is only noted, and the first is looked for once, if it is no longer known: in blocks of which most have not
//! changed, or, where there are few, one by one.

use crate::Time;

/// Stations in a block.
const BLOCK: usize = 32;

/// One deadline for each of a fixed number of stations.
#[derive(Debug)]
pub(crate) struct Deadlines {
    /// By station; filled up to whole blocks, unless it is less than one.
    at: Vec<Time>,
    /// The first of each block; none where there is one alone.
    firsts: Vec<Time>,
    /// Blocks whose first has to be looked for, by bits.
    stale: Vec<u64>,
    /// The first of all, and whose it is; nothing comes before it.
    first: (Time, u32),
    /// Whether it is another one's meanwhile.
    gone: bool,
}

impl Deadlines {
    pub fn new(stations: usize) -> Self {
        let blocks = if stations <= BLOCK { 0 } else { stations.div_ceil(BLOCK) };
        Self {
            at: vec![Time::MAX; stations.max(blocks * BLOCK)],
            firsts: vec![Time::MAX; blocks],
            stale: vec![0; blocks.div_ceil(64)],
            first: (Time::MAX, 0),
            gone: false,
        }
    }

    /// The first deadline and whose it is, of equal ones the lowest number; as of the last [`Deadlines::settle`].
    #[inline]
    pub fn first(&self) -> (Time, u32) {
        self.first
    }

    /// Changes a station's deadline.
    #[inline]
    pub fn set(&mut self, station: u32, at: Time) {
        let i = station as usize;
        let old = std::mem::replace(&mut self.at[i], at);
        if old == at {
            return;
        }
        if (at, station) <= self.first {
            self.first = (at, station);
            self.gone = false;
        } else if station == self.first.1 {
            self.gone = true;
        }
        if !self.firsts.is_empty() {
            self.note(i / BLOCK, at, old);
        }
    }

    /// A deadline has changed in a block.
    fn note(&mut self, block: usize, at: Time, old: Time) {
        if at <= self.firsts[block] {
            self.firsts[block] = at;
        } else if old <= self.firsts[block] {
            self.stale[block / 64] |= 1 << (block % 64);
        }
    }

    /// Finds the first after changes.
    #[inline(always)]
    pub fn settle(&mut self) {
        if self.gone {
            self.search();
        }
    }

    #[inline]
    fn search(&mut self) {
        self.gone = false;
        self.first = if self.firsts.is_empty() { first_of(&self.at) } else { self.find() };
    }

    #[inline(never)]
    fn find(&mut self) -> (Time, u32) {
        for (word, stale) in self.stale.iter_mut().enumerate() {
            while *stale != 0 {
                let block = word * 64 + stale.trailing_zeros() as usize;
                *stale &= *stale - 1;
                let all = &self.at[block * BLOCK..][..BLOCK];
                self.firsts[block] = all.iter().copied().fold(Time::MAX, Time::min);
            }
        }
        let (_, block) = first_of(&self.firsts);
        let before = block as usize * BLOCK;
        let (first, within) = first_of(&self.at[before..][..BLOCK]);
        (first, before as u32 + within)
    }
}

/// The first of some, and its place.
#[inline(never)]
fn first_of(all: &[Time]) -> (Time, u32) {
    let (mut first, mut of) = (Time::MAX, 0);
    for (i, &at) in all.iter().enumerate() {
        if at < first {
            (first, of) = (at, i);
        }
    }
    (first, of as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_channel::random::up_to;

    #[test]
    fn the_first_is_the_first_whatever_changes() {
        for n in [1usize, 2, 20, 31, 32, 33, 100, 3_000] {
            let (mut deadlines, mut plain) = (Deadlines::new(n), vec![Time::MAX; n]);
            let mut rng = truckee_channel::stream(1, "deadlines");
            for step in 0..2_000 {
                let (station, drawn) = (up_to(&mut rng, n as u64 - 1) as usize, up_to(&mut rng, 50));
                let at = if drawn == 50 { Time::MAX } else { Time::ns(drawn) };
                deadlines.set(station as u32, at);
                plain[station] = at;
                if step % 3 > 0 {
                    continue;
                }
                deadlines.settle();
                let first = plain.iter().copied().zip(0u32..).min();
                assert_eq!(Some(deadlines.first().0), first.map(|f| f.0));
                if deadlines.first().0 < Time::MAX {
                    assert_eq!(Some(deadlines.first()), first);
                }
            }
        }
    }
}
