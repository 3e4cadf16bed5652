//! Who hears whom, and how strong.

use crate::propagation::{Pair, Propagation, Variation, from_db};
use crate::{Position, Time};
use std::collections::VecDeque;

/// A station's neighbours, by number, as they were at some time.
#[derive(Debug, Default)]
struct Row {
    /// Who, and the milliwatts that arrive there by path loss alone.
    powers: Vec<(u32, f64)>,
    /// Of each of them what varies about that, until then.
    gains: Vec<(f64, Time)>,
    /// How many moves there had been; none: it has not been worked out.
    moves: Option<u64>,
}

/// None is known: it is asked for at once.
const NO_GAIN: (f64, Time) = (1.0, Time::ZERO);

/// The stations' places, and from them what arrives where. A row is worked out when its station sends, and afterwards for
/// those alone who have moved since: the cost of a frame goes by the stations in its reach, and by the moves.
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
    /// Who has moved, the last of all last: as many as there are stations, or fewer.
    movers: VecDeque<u32>,
    /// How many moves there have been.
    moves: u64,
    /// Who is tuned to another medium.
    away: Vec<u32>,
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
            movers: VecDeque::new(),
            moves: 0,
            away: Vec::new(),
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
            if self.movers.len() == self.places.len() {
                self.movers.pop_front();
            }
            self.movers.push_back(node);
        }
    }

    /// A station is tuned to this medium from now on, or to another one.
    pub fn tune(&mut self, node: u32, here: bool) {
        self.away.retain(|away| *away != node);
        if !here {
            self.away.push(node);
        }
    }

    pub fn is_here(&self, node: u32) -> bool {
        !self.away.contains(&node)
    }

    /// Milliwatts that arrive at each station where a frame of `from` does, at `now`.
    pub fn heard(&mut self, from: u32, now: Time, into: &mut Vec<(u32, f64)>) {
        let i = from as usize;
        if self.rows[i].moves != Some(self.moves) {
            self.catch_up(from);
        }
        if !self.varies {
            into.extend_from_slice(&self.rows[i].powers);
            return self.leave_out_who_is_away(from, into);
        }
        let Row { powers, gains, .. } = &mut self.rows[i];
        for (&(node, power), (gain, until)) in powers.iter().zip(gains) {
            if now >= *until {
                (*gain, *until) = self.variation.gain(Pair::new(from, node), now);
            }
            let power = power * *gain;
            if power >= self.least {
                into.push((node, power));
            }
        }
        self.leave_out_who_is_away(from, into);
    }

    #[inline]
    fn leave_out_who_is_away(&self, from: u32, into: &mut Vec<(u32, f64)>) {
        if !self.away.is_empty() {
            into.retain(|(node, _)| self.is_here(from) && self.is_here(*node));
        }
    }

    /// Milliwatts that arrive of a station's at another, by path loss alone.
    pub fn power(&self, from: u32, to: u32) -> f64 {
        let (here, there) = (&self.places[from as usize], &self.places[to as usize]);
        self.powers[from as usize] * self.propagation.path_loss.gain(self.propagation.frequency, here, there)
    }

    /// Brings a row up to the present places.
    fn catch_up(&mut self, from: u32) {
        let mut row = std::mem::take(&mut self.rows[from as usize]);
        let known = row.moves.map(|then| self.moves - then);
        let missed = known.and_then(|missed| self.movers.len().checked_sub(usize::try_from(missed).ok()?));
        let begin = missed.filter(|&begin| self.movers.range(begin..).all(|node| *node != from));
        match begin {
            Some(begin) => {
                for &node in self.movers.range(begin..) {
                    self.correct(&mut row, from, node);
                }
            }
            None => {
                row.powers.clear();
                for node in (0..self.places.len() as u32).filter(|node| *node != from) {
                    let power = self.power(from, node);
                    if power >= self.reach {
                        row.powers.push((node, power));
                    }
                }
                row.gains.clear();
                row.gains.resize(row.powers.len(), NO_GAIN);
            }
        }
        row.moves = Some(self.moves);
        self.rows[from as usize] = row;
    }

    /// Corrects a row for one station that has moved.
    fn correct(&self, Row { powers, gains, .. }: &mut Row, from: u32, node: u32) {
        let power = self.power(from, node);
        match (powers.binary_search_by_key(&node, |n| n.0), power >= self.reach) {
            (Ok(i), true) => powers[i].1 = power,
            (Ok(i), false) => {
                powers.remove(i);
                gains.remove(i);
            }
            (Err(i), true) => {
                powers.insert(i, (node, power));
                gains.insert(i, NO_GAIN);
            }
            (Err(_), false) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
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
        let all = heard(&mut field, 0, Time::ZERO);
        assert_eq!(all.len(), 1);
        assert!((10.0 * libm::log10(all[0].1) + 65.1).abs() < 0.05, "{all:?}");
    }

    #[test]
    fn a_station_that_moves_is_heard_where_it_is() {
        let mut field = field(None);
        assert_eq!(heard(&mut field, 2, Time::ZERO), []);
        field.put(0, Position::on_ground(990.0, 0.0));
        assert_eq!(heard(&mut field, 2, Time::ZERO).len(), 1);
        assert_eq!(heard(&mut field, 0, Time::ZERO).iter().map(|n| n.0).collect::<Vec<_>>(), [2]);
        assert_eq!(field.place(0).x, 990.0);
    }

    #[test]
    fn rows_that_are_corrected_are_those_worked_out_anew() {
        let mut rng = truckee_channel::stream(1, "moves");
        let mut draw = |max| truckee_channel::random::up_to(&mut rng, max);
        let place =
            |draw: &mut dyn FnMut(u64) -> u64| Position::on_ground(draw(2_000) as f64, draw(300) as f64);
        let stations: Vec<_> = (0..12).map(|_| (place(&mut draw), 15.0)).collect();
        let fading = Some(Fading { k: 0.0, coherence: Span::ms(1) });
        let propagation = Propagation { fading, ..Propagation::default() };
        let made = |stations: &[(Position, f64)]| Field::new(propagation, -80.0, stations, 1);
        let mut field = made(&stations);
        for step in 0..2_000 {
            for _ in 0..draw(15) {
                field.put(draw(11) as u32, place(&mut draw));
            }
            let present: Vec<_> = (0..12).map(|node| (field.place(node), 15.0)).collect();
            let from = draw(11) as u32;
            let now = Time::us(700 * step);
            assert_eq!(heard(&mut field, from, now), heard(&mut made(&present), from, now));
        }
    }

    #[test]
    fn fading_brings_stations_into_reach_and_out_of_it() {
        let mut field = field(Some(Fading { k: 0.0, coherence: Span::ms(1) }));
        let reached =
            (0..10_000).filter(|t| heard(&mut field, 0, Time::ms(*t)).iter().any(|n| n.0 == 2)).count();
        // It takes a gain of 5.1 dB, 3.24: e^−3.24 = 3.9 %.
        assert!((300..480).contains(&reached), "{reached}");
    }
}
