//! Searches for routes. Source: RFC 3561, sections 6.3 and 6.4.

use super::known::Search;
use super::{Aodv, Body, Rreq, SequenceNumber};
use crate::{Cause, Interface, NodeId, Time};

impl Aodv {
    /// Begins to search, unless that is done already.
    pub(super) fn search(&mut self, now: Time, to: NodeId) {
        if let Some(search) = self.searches.get_mut(&to) {
            // What was a repair is now more than that: when it fails the network is searched.
            search.repairs = None;
            return;
        }
        let config = &self.config;
        let ttl = match self.table.get(now, to) {
            // It was so far away when it was last known.
            Some(route) => self.config.ring(route.hops.saturating_add(config.ttl_increment.into())),
            None => config.ttl_start,
        };
        self.begin(now, to, ttl, None);
    }

    /// Begins a search that goes so far; `repairs`: for a route that had so many hops.
    pub(super) fn begin(&mut self, now: Time, to: NodeId, ttl: u8, repairs: Option<u32>) {
        self.searches.insert(to, Search { ttl, tries: 0, at: now, unsent: true, repairs });
        self.request(now, to);
    }

    /// Sends a request, if the limit of their rate allows it now.
    fn request(&mut self, now: Time, to: NodeId) {
        let Some(search) = self.searches.get_mut(&to) else { return };
        if let Err(free) = self.rreqs.take(now) {
            (search.at, search.unsent) = (free, true);
            return;
        }
        let ttl = search.ttl;
        // A search of the whole network is waited for twice as long each time (6.3), one in a ring as the ring is wide.
        let wait = if ttl < self.config.net_diameter {
            self.config.ring_traversal_time(ttl)
        } else {
            self.config.net_traversal_time().saturating_mul(1 << search.tries.min(16))
        };
        (search.at, search.unsent) = (now + wait, false);
        self.seq = self.seq.next();
        self.rreq_id = self.rreq_id.wrapping_add(1);
        self.known.seen(now, self.node, self.rreq_id, self.config.path_discovery_time());
        let to_seq = self.table.get(now, to).and_then(|route| route.seq);
        let rreq = Rreq {
            gratuitous: self.config.gratuitous,
            destination_only: self.config.destination_only,
            hops: 0,
            id: self.rreq_id,
            to,
            to_seq,
            from: self.node,
            from_seq: self.seq,
        };
        for interface in (0..self.interfaces).map(Interface) {
            self.broadcast(now, interface, false, ttl, Body::Rreq(rreq.clone()));
        }
    }

    /// Searches that have been waited for for long enough go farther, again, or end.
    pub(super) fn on_searches(&mut self, now: Time) {
        let due: Vec<_> = self.searches.iter().filter(|(_, s)| s.at <= now).map(|(&to, _)| to).collect();
        for to in due {
            let Some(search) = self.searches.get_mut(&to) else { continue };
            if !search.unsent {
                if search.ttl < self.config.net_diameter && search.repairs.is_none() {
                    search.ttl =
                        self.config.ring(u32::from(search.ttl) + u32::from(self.config.ttl_increment));
                } else if search.repairs.is_none() && search.tries < self.config.rreq_retries {
                    search.tries += 1;
                } else {
                    self.not_found(now, to);
                    continue;
                }
            }
            self.request(now, to);
        }
    }

    /// Nobody has answered.
    fn not_found(&mut self, now: Time, to: NodeId) {
        let Some(search) = self.searches.remove(&to) else { return };
        if search.repairs.is_some() {
            self.buffer.give_up(to, Cause::LinkBroken, &mut self.out);
            self.tell_unrepaired(now, to);
        } else {
            self.buffer.give_up(to, Cause::NotFound, &mut self.out);
        }
    }

    /// Somebody else's search goes on (6.5).
    pub(super) fn pass_on(&mut self, now: Time, ttl: u8, rreq: &Rreq, known: Option<SequenceNumber>) {
        let to_seq = match (rreq.to_seq, known) {
            (Some(asked), Some(known)) => Some(asked.later(known)),
            (one, other) => one.or(other),
        };
        let rreq = Rreq { hops: rreq.hops.saturating_add(1), to_seq, ..rreq.clone() };
        for interface in (0..self.interfaces).map(Interface) {
            self.broadcast(now, interface, true, ttl - 1, Body::Rreq(rreq.clone()));
        }
    }
}
