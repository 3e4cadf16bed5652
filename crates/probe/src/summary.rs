//! What came of a server in the repetitions of a test: the least, the mean and the most, as split (section 4.2.2) kept them
//! of each site. Not for: what it means (see [`super::judge`]).

use super::observation::{Observation, Test};
use serde::{Deserialize, Serialize};

/// The least, the mean and the most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The least.
    pub least: u64,
    /// The mean.
    pub mean: f64,
    /// The most.
    pub most: u64,
}

impl Spread {
    /// That of these; none of nothing.
    fn of(values: impl Iterator<Item = u64> + Clone) -> Option<Self> {
        let (least, most) = (values.clone().min()?, values.clone().max()?);
        let (count, sum) = values.fold((0.0, 0.0), |(count, sum), v| (count + 1.0, sum + v as f64));
        Some(Self { least, mean: sum / count, most })
    }
}

/// The repetitions of a test together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The test.
    pub test: Test,
    /// Repetitions.
    pub runs: u32,
    /// Segments with anything new.
    pub data_packets: Spread,
    /// Segments without.
    pub retransmitted: Spread,
    /// Both.
    pub packets: Spread,
    /// Bytes of the answer that came, each once: what the thesis calls the file size.
    pub data_bytes: Spread,
}

/// The tests that were made, in their order.
pub fn summarise(all: &[Observation]) -> Vec<Summary> {
    let mut tests: Vec<Test> = all.iter().map(|o| o.test).collect();
    tests.sort_unstable();
    tests.dedup();
    let of = |test| {
        let of = all.iter().filter(move |o| o.test == test);
        Some(Summary {
            test,
            runs: of.clone().count() as u32,
            data_packets: Spread::of(of.clone().map(|o| o.data_packets.into()))?,
            retransmitted: Spread::of(of.clone().map(|o| o.retransmitted.into()))?,
            packets: Spread::of(of.clone().map(|o| o.packets().into()))?,
            data_bytes: Spread::of(of.map(|o| o.data_bytes))?,
        })
    };
    tests.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_the_least_the_mean_and_the_most() {
        // Microsoft's data packets, table 4.9.
        let spread = Spread::of([36, 29, 22, 9, 27].into_iter()).unwrap();
        assert_eq!(spread, Spread { least: 9, mean: 24.6, most: 36 });
        assert_eq!(Spread::of([].into_iter()), None);
        assert_eq!(summarise(&[]), []);
    }
}
