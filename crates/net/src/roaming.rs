//! Nodes that go from access point to access point: to which each belongs, and what it hears of the others. Not for: what
//! becomes of packets and routes then, which is `network::roaming`'s.

use crate::air::Air;
use truckee_scenario::Scenario;
use truckee_scenario::model::{Medium, Roaming};
use truckee_scenario::route::Routes;
use truckee_wireless::NodeId as Number;

/// A medium of a node that roams, and on it that node's station and the access point's.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    pub medium: usize,
    pub station: usize,
    pub point: usize,
}

/// A node that roams.
#[derive(Debug)]
pub struct Roamer<'s> {
    pub config: &'s Roaming,
    node: usize,
    pub cells: Vec<Cell>,
    /// To which of them it belongs, or goes.
    pub at: usize,
    /// Its radio hears neither the old one nor the new one as yet.
    pub away: bool,
    /// How many of the moves that it is told it has made.
    pub told: usize,
}

impl Roamer<'_> {
    /// Whether the node is it, or one of its access points.
    pub fn concerns(&self, scenario: &Scenario, node: usize) -> bool {
        let is_point = |cell: &Cell| scenario.media[cell.medium].stations[cell.point].node == node;
        self.node == node || self.cells.iter().any(is_point)
    }

    /// The medium whose access point is heard best by path loss, and by how many dB it is ahead of the present one.
    pub fn best(&self, media: &[Air]) -> (usize, f64) {
        let signal = |cell: &Cell| {
            media[cell.medium].radio.signal(Number(cell.point as u32), Number(cell.station as u32))
        };
        let signals: Vec<f64> = self.cells.iter().map(signal).collect();
        // Of equals the first.
        let best =
            (0..signals.len()).rev().max_by(|a, b| signals[*a].total_cmp(&signals[*b])).unwrap_or(self.at);
        (best, signals[best] - signals[self.at])
    }
}

/// The nodes that roam, each at the access point that it hears best.
pub fn build<'s>(scenario: &'s Scenario, media: &mut [Air], routes: &mut Routes<'_>) -> Vec<Roamer<'s>> {
    let mut roamers = Vec::new();
    for place in &scenario.places {
        let Some(config) = &place.roam else { continue };
        let cell = |(index, medium): (usize, &Medium)| {
            let (station, point) = (medium.station_of(place.node)?, medium.access_point?);
            (station != point).then_some(Cell { medium: index, station, point })
        };
        let cells: Vec<Cell> = scenario.media.iter().enumerate().filter_map(cell).collect();
        let mut roamer = Roamer { config, node: place.node, cells, at: 0, away: false, told: 0 };
        roamer.at = roamer.best(media).0;
        for (_, cell) in roamer.cells.iter().enumerate().filter(|(index, _)| *index != roamer.at) {
            media[cell.medium].radio.tune(Number(cell.station as u32), false);
            routes.join(cell.medium, (cell.station, cell.point), false);
        }
        roamers.push(roamer);
    }
    roamers
}
