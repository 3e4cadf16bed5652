//! TCs: what they do to the topology, and what they say. Source: RFC 3626, section 9.

use super::message::is_after;
use super::{Body, Message, Olsr};
use crate::{NodeId, Time};

impl Olsr {
    /// A TC that was not seen before (9.5).
    pub(super) fn on_tc(&mut self, now: Time, message: &Message, ansn: u16, neighbours: &[NodeId]) {
        let last = message.from;
        let of_its = (last, NodeId(0))..=(last, NodeId(u32::MAX));
        let old: Vec<_> =
            self.topology.of.range(of_its).map(|(&(_, to), &(number, _))| (to, number)).collect();
        if old.iter().any(|&(_, number)| is_after(number, ansn)) {
            return;
        }
        for &(to, number) in &old {
            if is_after(ansn, number) {
                self.topology.of.remove(&(last, to));
                self.stale.routes = true;
            }
        }
        let until = now + message.validity;
        for &to in neighbours {
            if self.topology.of.insert((last, to), (ansn, until)).is_none() {
                self.stale.routes = true;
            }
        }
        self.until(until);
    }

    /// Tells who has chosen this node; nobody, as long as others may still believe that somebody had (9.3).
    pub(super) fn add_tc(&mut self, now: Time) {
        if !self.selectors.is_empty() {
            self.topology.told = Some(now + self.config.topology_hold_time);
        } else if self.topology.told.is_none_or(|until| until <= now) {
            return;
        }
        let neighbours = self.selectors.keys().copied().collect();
        let ansn = self.topology.ansn;
        self.originate(now, Body::Tc { ansn, neighbours });
    }
}
