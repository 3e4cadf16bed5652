//! Who hears whom, and how strong.

use crate::propagation::{Pair, Propagation, Variation, from_db};
use crate::{Position, Time};

/// A station in reach of another.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    node: u32,
    /// Milliwatts that arrive, by path loss alone.
    power: f64,
    /// What varies about it, until then.
    gain: f64,
    until: Time,
}

/// A station's neighbours, as they were at some time.
#[derive(Debug, Default)]
struct Row {
    neighbours: Vec<Neighbour>,
    /// Which state of all places it belongs to.
    moves: u64,
}

/// The stations' places, and from them what arrives where. A row is worked out when its station sends and somebody has
/// moved since: the cost of a frame goes by the stations in its reach.
#[derive(Debug)]
pub(crate) struct Field {
    propagation: Propagation,
    variation: Variation,
    varies: bool,
    /// Milliwatts below which nothing arrives, and below which nothing can by path loss alone.
    least: f64,
    reach: f64,
    places: Vec<Position>,
    /// Milliwatts sent.
    powers: Vec<f64>,
    rows: Vec<Row>,
    moves: u64,
}

impl Field {
    /// `ignored` in dBm; places, and powers in dBm, of all stations.
    pub fn new(propagation: Propagation, ignored: f64, stations: &[(Position, f64)], seed: u64) -> Self {
        let variation = Variation::new(propagation.shadowing, propagation.fading, seed);
        let least = from_db(ignored);
        Self {
            propagation,
            variation,
            varies: propagation.shadowing.is_some() || propagation.fading.is_some(),
            least,
            reach: least / variation.most(),
            places: stations.iter().map(|s| s.0).collect(),
            powers: stations.iter().map(|s| from_db(s.1)).collect(),
            rows: stations.iter().map(|_| Row::default()).collect(),
            moves: 1,
        }
    }

    pub fn place(&self, node: u32) -> Position {
        self.places[node as usize]
    }

    /// A station is somewhere else from now on.
    pub fn put(&mut self, node: u32, place: Position) {
        if self.places[node as usize] != place {
            self.places[node as usize] = place;
            self.moves += 1;
        }
    }

    /// Milliwatts that arrive at each station where a frame of `from` does, at `now`.
    pub fn heard(&mut self, from: u32, now: Time, into: &mut Vec<(u32, f64)>) {
        let i = from as usize;
        if self.rows[i].moves != self.moves {
            self.refresh(from);
        }
        if !self.varies {
            into.extend(self.rows[i].neighbours.iter().map(|n| (n.node, n.power)));
            return;
        }
        for neighbour in &mut self.rows[i].neighbours {
            if now >= neighbour.until {
                (neighbour.gain, neighbour.until) = self.variation.gain(Pair::new(from, neighbour.node), now);
            }
            let power = neighbour.power * neighbour.gain;
            if power >= self.least {
                into.push((neighbour.node, power));
            }
        }
    }

    fn refresh(&mut self, from: u32) {
        let (here, sent) = (self.places[from as usize], self.powers[from as usize]);
        let row = &mut self.rows[from as usize];
        row.moves = self.moves;
        row.neighbours.clear();
        for (node, place) in (0u32..).zip(&self.places) {
            let power = sent * self.propagation.path_loss.gain(self.propagation.frequency, &here, place);
            if node != from && power >= self.reach {
                row.neighbours.push(Neighbour { node, power, gain: 1.0, until: 0 });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::propagation::{Fading, PathLoss};

    fn field(fading: Option<Fading>) -> Field {
        let propagation = Propagation { path_loss: PathLoss::FreeSpace, fading, ..Propagation::default() };
        let stations: Vec<_> = [0.0, 100.0, 1_000.0].map(|x| (Position::on_ground(x, 0.0), 15.0)).to_vec();
        // 15 dBm over 100 m of free space: −65.1 dBm; over 1 km: −85.1 dBm.
        Field::new(propagation, -80.0, &stations, 1)
    }

    fn heard(field: &mut Field, from: u32, now: Time) -> Vec<(u32, f64)> {
        let mut into = Vec::new();
        field.heard(from, now, &mut into);
        into
    }

    #[test]
    fn those_out_of_reach_are_not_asked() {
        let mut field = field(None);
        let all = heard(&mut field, 0, 0);
        assert_eq!(all.len(), 1);
        assert!((10.0 * libm::log10(all[0].1) + 65.1).abs() < 0.05, "{all:?}");
    }

    #[test]
    fn a_station_that_moves_is_heard_where_it_is() {
        let mut field = field(None);
        assert_eq!(heard(&mut field, 2, 0), []);
        field.put(0, Position::on_ground(990.0, 0.0));
        assert_eq!(heard(&mut field, 2, 0).len(), 1);
        assert_eq!(heard(&mut field, 0, 0).iter().map(|n| n.0).collect::<Vec<_>>(), [2]);
        assert_eq!(field.place(0).x, 990.0);
    }

    #[test]
    fn fading_brings_stations_into_reach_and_out_of_it() {
        let mut field = field(Some(Fading { k: 0.0, coherence: 1_000_000 }));
        let reached =
            (0..10_000).filter(|t| heard(&mut field, 0, t * 1_000_000).iter().any(|n| n.0 == 2)).count();
        // It takes a gain of 5.1 dB, 3.24: e^−3.24 = 3.9 %.
        assert!((300..480).contains(&reached), "{reached}");
    }
}
