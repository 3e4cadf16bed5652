//! Nodes that go from access point to access point, each on a medium of its own: the radio is tuned to one of them at a time,
//! and routes follow. Packets that are tried for a radio which is elsewhere, or by one, are lost in the handoff; what comes to
//! the old access point afterwards goes on by its table, over the wire. Not for: who hears whom, which is
//! `truckee-wireless`'s.

use super::{Network, kind};
use crate::agenda::Key;
use crate::air::Air;
use truckee_scenario::Scenario;
use truckee_scenario::model::Roaming;
use truckee_scenario::route::Routes;
use truckee_tcp::Time;
use truckee_wireless::NodeId as Number;

/// What happens to a node that roams.
const TOLD: Key = 0;
const ARRIVES: Key = 1;

/// A medium of a node that roams, and on it that node's station and the access point's.
#[derive(Debug, Clone, Copy)]
struct Cell {
    medium: usize,
    station: usize,
    point: usize,
}

/// A node that roams.
#[derive(Debug)]
pub struct Roamer<'s> {
    config: &'s Roaming,
    node: usize,
    cells: Vec<Cell>,
    /// To which of them it belongs, or goes.
    at: usize,
    /// Its radio hears neither the old one nor the new one as yet.
    away: bool,
    /// How many of the moves that it is told it has made.
    told: usize,
}

impl Roamer<'_> {
    /// Whether the node is it, or one of its access points.
    fn concerns(&self, scenario: &Scenario, node: usize) -> bool {
        let is_point = |cell: &Cell| scenario.media[cell.medium].stations[cell.point].node == node;
        self.node == node || self.cells.iter().any(is_point)
    }

    /// The medium whose access point is heard best by path loss, and by how many dB it is ahead of the present one.
    fn best(&self, media: &[Air]) -> (usize, f64) {
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
        let cell = |(index, medium): (usize, &truckee_scenario::model::Medium)| {
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

impl Network<'_> {
    /// The first moves that nodes are told.
    pub(super) fn arm_roamers(&mut self) {
        (0..self.roamers.len()).for_each(|roamer| self.arm_told(roamer));
    }

    fn arm_told(&mut self, index: usize) {
        let roamer = &self.roamers[index];
        if let Some((at, _)) = roamer.config.to.get(roamer.told) {
            self.agenda.push(*at, kind::AIR | kind::ROAM | (index as Key) << 1 | TOLD);
        }
    }

    /// A node is told to move, or is tuned to its new access point.
    pub(super) fn on_roam(&mut self, event: Key) {
        let index = (event >> 1) as usize;
        if event & 1 == ARRIVES {
            return self.arrive_at_point(index);
        }
        let scenario = self.scenario;
        let roamer = &mut self.roamers[index];
        let (_, target) = roamer.config.to[roamer.told];
        roamer.told += 1;
        let is_target = |cell: &Cell| scenario.media[cell.medium].stations[cell.point].node == target;
        let to = roamer.cells.iter().position(is_target).unwrap_or(roamer.at);
        self.leave_point(index, to);
        self.arm_told(index);
    }

    /// A node has moved: whoever hears another access point better by so much goes there.
    pub(super) fn compare_signals(&mut self, node: usize) {
        for index in 0..self.roamers.len() {
            let roamer = &self.roamers[index];
            let Some(hysteresis) = roamer.config.hysteresis else { continue };
            if roamer.away || !roamer.concerns(self.scenario, node) {
                continue;
            }
            let (best, ahead) = roamer.best(&self.media);
            if ahead > hysteresis {
                self.leave_point(index, best);
            }
        }
    }

    /// A node leaves its access point for another one.
    fn leave_point(&mut self, index: usize, to: usize) {
        let roamer = &mut self.roamers[index];
        if roamer.at == to {
            return;
        }
        let Cell { medium, station, point } = roamer.cells[roamer.at];
        (roamer.at, roamer.away) = (to, true);
        self.media[medium].radio.tune(Number(station as u32), false);
        if let Some(tables) = &mut self.tables {
            tables.join(medium, (station, point), false);
        }
        let until: Time = self.now + roamer.config.gap;
        self.agenda.push(until, kind::AIR | kind::ROAM | (index as Key) << 1 | ARRIVES);
    }

    /// A node belongs to its new access point.
    fn arrive_at_point(&mut self, index: usize) {
        let roamer = &mut self.roamers[index];
        let Cell { medium, station, point } = roamer.cells[roamer.at];
        roamer.away = false;
        self.media[medium].radio.tune(Number(station as u32), true);
        if let Some(tables) = &mut self.tables {
            tables.join(medium, (station, point), true);
        }
        self.find_routes();
        self.recount_load();
    }
}
