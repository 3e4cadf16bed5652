//! Nodes that go from access point to access point, each on a medium of its own: the radio is tuned to one of them at a time,
//! and routes follow. Packets that are tried for a radio which is elsewhere, or by one, are lost in the handoff; what comes to
//! the old access point afterwards goes on by its table, over the wire. Not for: who hears whom, which is
//! `truckee-wireless`'s, and what nodes hear of access points, which is [`crate::roaming`]'s.

use super::{Network, kind};
use crate::agenda::Key;
use crate::roaming::Cell;
use truckee_tcp::Time;
use truckee_wireless::NodeId as Number;

/// What happens to a node that roams.
const TOLD: Key = 0;
const ARRIVES: Key = 1;

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
