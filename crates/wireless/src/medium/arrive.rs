//! The beginning of a frame: who begins to read it, and what it disturbs.

use super::Medium;
use super::radio::{Begun, Lock};
use crate::report::Failure;

impl Medium {
    /// A frame begins to arrive wherever it is heard.
    pub(super) fn on_arriving(&mut self, slot: u32) {
        let Some(mut transmission) = self.air.take(slot) else { return };
        let now = self.now;
        let (to, header_until) = (transmission.frame.to, now + transmission.header);
        for &(number, power) in &transmission.heard {
            let node = &mut self.nodes[number as usize];
            let lock = Lock { slot, power, since: now, header_until };
            let Begun { is_read, ended } = node.radio.begin(lock, &self.levels);
            if let Some(other) = ended {
                self.air.miss(other, number, Failure::Collision);
                if !is_read {
                    node.station.on_lost(now, &self.rules, &mut self.reports);
                    self.deadlines.set(number, node.station.deadline());
                }
            }
            if number == to && !is_read {
                transmission.missed = Some(node.radio.why_missed(power, &self.levels));
            }
            if node.sense(now, self.levels.carrier_sense, &self.rules) {
                self.deadlines.set(number, node.station.deadline());
            }
        }
        self.air.put_back(slot, transmission);
    }
}
