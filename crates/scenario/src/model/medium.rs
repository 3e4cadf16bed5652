//! Shared radio media and who is on them.

use super::place::{Movement, NodeId, Place};
use super::queue::Queue;
use truckee_tcp::Time;
use truckee_wireless::phy::Rate;
use truckee_wireless::propagation::Variation;
use truckee_wireless::{
    ConfigError, MediumConfig, NodeId as Number, Position, RateControl, Role, StationConfig,
};

/// Bytes of the packets by which it is told who is in reach of whom.
pub const REACH_PACKET: u32 = 1500;

/// A medium of IEEE 802.11 that its stations share.
#[derive(Debug, Clone, PartialEq)]
pub struct Medium {
    /// Its name: `medium-1`, … by default.
    pub name: String,
    /// What the standard and the place make of it.
    pub config: MediumConfig,
    /// Who is on it.
    pub stations: Vec<Station>,
    /// The access point to which all others belong, by its place among the stations; `None`: ad hoc.
    pub access_point: Option<usize>,
    /// What stations send with whose node says nothing else, dBm.
    pub power: f64,
    /// Which rate data goes at.
    pub rate: RateControl,
    /// The queue of each station. What the station has taken over to send next counts against a limit in packets.
    pub queue: Queue,
    /// How packets find their way over it.
    pub routing: Routing,
}

/// A node on a medium.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Station {
    /// Which.
    pub node: NodeId,
    /// What it sends with, dBm.
    pub power: f64,
}

/// How packets find their way over a medium.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Routing {
    /// By fewest hops between stations that are in reach of each other at the beginning; with an access point, over it.
    #[default]
    Static,
    /// By a protocol of ad hoc networks, which every station speaks.
    Protocol(Box<truckee_routing::Config>),
}

impl Medium {
    /// The station of a node, if it has one here.
    pub fn station_of(&self, node: NodeId) -> Option<usize> {
        self.stations.iter().position(|station| station.node == node)
    }

    /// Packets that a station takes over from its queue before it can send them: one, or as many as an aggregate has.
    pub fn taken_over(&self) -> usize {
        self.config.aggregation.map_or(1, |aggregation| aggregation.frames as usize)
    }

    /// The rate that data goes at, bit/s; the highest where it changes. Times of the medium itself do not go by it.
    pub fn nominal_rate(&self) -> u64 {
        let rates = self.config.standard.rates();
        let rate = match self.rate {
            RateControl::Fixed(rate) => Some(rate),
            _ => rates.last().copied(),
        };
        rate.map_or(1, |rate| (rate.mbit() * 1e6) as u64)
    }

    /// The slowest rate that data may go at, which reaches furthest.
    pub fn slowest_rate(&self) -> Option<Rate> {
        match self.rate {
            RateControl::Fixed(rate) => Some(rate),
            _ => self.config.standard.rates().first().copied(),
        }
    }

    /// Whether two stations ever send to each other: with an access point, only if one of them is it.
    pub fn joins(&self, a: usize, b: usize) -> bool {
        a != b && self.access_point.is_none_or(|point| point == a || point == b)
    }

    /// What the medium itself is told of its stations, which are at these places.
    pub fn station_configs(&self, places: &[Position]) -> Vec<StationConfig> {
        let role = |index| match self.access_point {
            None => Role::AdHoc,
            Some(point) if point == index => Role::AccessPoint,
            Some(point) => Role::Client(Number(point as u32)),
        };
        let station = |(index, (station, place)): (usize, (&Station, &Position))| StationConfig {
            position: *place,
            power: station.power,
            role: role(index),
            rate: self.rate,
            queue: self.taken_over(),
        };
        self.stations.iter().zip(places).enumerate().map(station).collect()
    }

    /// The pairs of stations between which packets may be sent: an access point and its stations; ad hoc, those that reach
    /// each other at the beginning, as of [`Self::pairs_in_reach`], or all, where a protocol finds the way from station to
    /// station.
    pub fn pairs(&self, places: &[Option<Position>]) -> Vec<(usize, usize)> {
        match self.routing {
            Routing::Static if self.access_point.is_none() => self.pairs_in_reach(places, 0.0),
            Routing::Static | Routing::Protocol(_) => self.joined().collect(),
        }
    }

    /// The pairs of stations that may speak to each other, reach or not.
    fn joined(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = 0..self.stations.len();
        let pairs = all.clone().flat_map(move |a| all.clone().skip(a + 1).map(move |b| (a, b)));
        pairs.filter(|&(a, b)| self.joins(a, b))
    }

    /// By how many dB what varies may bring a signal above its path loss.
    pub fn best_case(&self) -> f64 {
        let propagation = &self.config.propagation;
        10.0 * libm::log10(Variation::new(propagation.shadowing, propagation.fading, 0).most())
    }

    /// The pairs of stations that reach each other at the beginning, both ways and by path loss alone: one frame of
    /// [`REACH_PACKET`] bytes in ten, at most, is lost to noise at the slowest rate. `places`: of the stations; who has
    /// none as yet may be anywhere. `above`: what is added to each signal, dB.
    pub fn pairs_in_reach(&self, places: &[Option<Position>], above: f64) -> Vec<(usize, usize)> {
        let Some(rate) = self.slowest_rate() else { return Vec::new() };
        let needed = self.config.needed(rate, REACH_PACKET);
        let propagation = &self.config.propagation;
        let reach = |a: usize, b: usize| {
            let (Some(here), Some(there)) = (places[a], places[b]) else { return true };
            let gain = propagation.path_loss.gain(propagation.frequency, &here, &there);
            let least = self.stations[a].power.min(self.stations[b].power);
            gain >= libm::exp10((needed - least - above) / 10.0)
        };
        self.joined().filter(|&(a, b)| reach(a, b)).collect()
    }

    /// Where its stations are at the beginning of a run of this seed; without a seed those are nowhere whose place
    /// depends on it.
    ///
    /// # Errors
    /// A movement cannot be.
    pub fn places(
        &self,
        nodes: &[String],
        places: &[Place],
        seed: Option<u64>,
    ) -> Result<Vec<Option<Position>>, ConfigError> {
        let place = |station: &Station| {
            let movement = self.movement(places, station.node);
            match (movement, seed) {
                (None, _) => Ok(None),
                (Some(movement), None) if movement.is_random() => Ok(None),
                (Some(movement), seed) => {
                    let mut mobility = movement.mobility(seed.unwrap_or(0), &nodes[station.node])?;
                    Ok(Some(mobility.leg(Time::ZERO).at(Time::ZERO)))
                }
            }
        };
        self.stations.iter().map(place).collect()
    }

    /// How the node of a station moves.
    pub fn movement<'p>(&self, places: &'p [Place], node: NodeId) -> Option<&'p Movement> {
        places.iter().find(|place| place.node == node).map(|place| &place.movement)
    }
}
