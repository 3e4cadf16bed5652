//! Links that break: errors, and local repair. Source: RFC 3561, sections 6.11 and 6.12.

use super::{Aodv, Body, SequenceNumber};
use crate::{Hop, NodeId, Packet, Time};

impl Aodv {
    /// A neighbour is no more; `packet`: noticed since that could not be passed on to him.
    pub(super) fn lose(&mut self, now: Time, hop: Hop, packet: Option<&Packet>) {
        let repair = packet.and_then(|packet| self.may_repair(now, packet).map(|ttl| (packet.to, ttl)));
        let (mut told, mut whom) = (Vec::new(), Vec::new());
        let mut used = false;
        for to in self.table.by(now, hop) {
            used = true;
            let hops = self.table.look(now, to).map_or(0, |route| route.hops);
            let mut users = match self.table.get(now, to) {
                Some(route) if repair.is_some_and(|(repaired, _)| repaired == to) => route.precursors.clone(),
                _ => Vec::new(),
            };
            let Some((seq, precursors)) = self.table.end(now, to, None) else { continue };
            match repair {
                Some((repaired, ttl)) if repaired == to => {
                    // Who goes by this route is told only if the repair fails.
                    if let Some(route) = self.table.get(now, to) {
                        route.precursors.append(&mut users);
                    }
                    self.begin(now, to, ttl, Some(hops));
                }
                _ if precursors.is_empty() => {}
                _ => {
                    told.push((to, seq));
                    whom.extend(precursors);
                }
            }
        }
        if used {
            self.out.withdraw(hop);
        }
        self.tell(now, false, told, whom);
    }

    /// How far a search for the packet's destination has to go, if this node is to repair the route (6.12).
    fn may_repair(&mut self, now: Time, packet: &Packet) -> Option<u8> {
        let repair = self.config.local_repair?;
        if packet.from == self.node || self.searches.contains_key(&packet.to) {
            return None;
        }
        let hops = self.table.look(now, packet.to)?.hops;
        let to_source = self.table.look(now, packet.from).map_or(0, |route| route.hops);
        // MIN_REPAIR_TTL: as far as the destination was.
        let ttl = hops.max(to_source / 2).saturating_add(repair.add_ttl.into());
        let ttl = ttl.min(self.config.net_diameter.into());
        (hops <= repair.max_ttl.into()).then_some(u8::try_from(ttl).unwrap_or(u8::MAX))
    }

    /// The repair failed: who uses the route is told now.
    pub(super) fn tell_unrepaired(&mut self, now: Time, to: NodeId) {
        let Some(route) = self.table.get(now, to) else { return };
        let whom = std::mem::take(&mut route.precursors);
        let seq = route.seq.unwrap_or_default();
        self.tell(now, false, vec![(to, seq)], whom);
    }

    /// The repair found a longer way: who uses the route may look for a better one (6.12).
    pub(super) fn tell_detour(&mut self, now: Time, to: NodeId) {
        let Some(route) = self.table.valid(now, to) else { return };
        let (seq, whom) = (route.seq.unwrap_or_default(), route.precursors.clone());
        self.tell(now, true, vec![(to, seq)], whom);
    }

    /// A packet came for a destination to which there is no route (6.11, ii).
    pub(super) fn tell_no_route(&mut self, now: Time, to: NodeId, previous: Hop) {
        let (seq, mut whom) = match self.table.get(now, to) {
            Some(route) => (route.seq.unwrap_or_default(), std::mem::take(&mut route.precursors)),
            None => (SequenceNumber::default(), Vec::new()),
        };
        whom.push(previous);
        self.tell(now, false, vec![(to, seq)], whom);
    }

    /// An error came (6.11, iii).
    pub(super) fn on_rerr(
        &mut self,
        now: Time,
        hop: Hop,
        no_delete: bool,
        unreachable: &[(NodeId, SequenceNumber)],
    ) {
        let (mut told, mut whom) = (Vec::new(), Vec::new());
        for &(to, seq) in unreachable {
            let Some(route) = self.table.valid(now, to).filter(|route| route.hop == hop) else { continue };
            let (seq, precursors) = if no_delete {
                (seq, route.precursors.clone())
            } else {
                match self.table.end(now, to, Some(seq)) {
                    Some(ended) => ended,
                    None => continue,
                }
            };
            if !precursors.is_empty() {
                told.push((to, seq));
                whom.extend(precursors);
            }
        }
        self.tell(now, no_delete, told, whom);
    }

    /// Sends an error: to one, if it is only one, or to everyone.
    fn tell(
        &mut self,
        now: Time,
        no_delete: bool,
        unreachable: Vec<(NodeId, SequenceNumber)>,
        mut whom: Vec<Hop>,
    ) {
        whom.sort_unstable();
        whom.dedup();
        if unreachable.is_empty() || whom.is_empty() || self.rerrs.take(now).is_err() {
            return;
        }
        let body = Body::Rerr { no_delete, unreachable };
        if let [one] = whom[..] {
            self.unicast(one, 1, body);
            return;
        }
        whom.dedup_by_key(|hop| hop.interface);
        for hop in whom {
            self.broadcast(now, hop.interface, true, 1, body.clone());
        }
    }
}
