//! Hellos, and neighbours that are lost. Source: RFC 3561, sections 6.8 and 6.9.

use super::{Aodv, Body, News, Rrep};
use crate::{Hop, Interface, Time};

impl Aodv {
    pub(super) fn start_hellos(&mut self, now: Time) {
        self.neighbours.hello = self.config.hello.map(|hello| now + hello.interval);
    }

    /// Timers that concern neighbours.
    pub(super) fn on_neighbours(&mut self, now: Time) {
        let late: Vec<_> = self
            .neighbours
            .expected
            .iter()
            .filter(|&(_, &until)| until <= now)
            .map(|(&hop, _)| hop)
            .collect();
        for hop in late {
            self.neighbours.expected.remove(&hop);
            self.neighbours.blacklist(hop, now + self.config.blacklist_timeout());
        }
        let Some(hello) = self.config.hello else { return };
        let patience = hello.interval * u64::from(hello.allowed_loss);
        if self.neighbours.lost.is_some_and(|at| at <= now) {
            let quiet = |last: Time| last + patience <= now;
            let lost: Vec<_> =
                self.neighbours.heard.iter().filter(|&(_, &last)| quiet(last)).map(|(&hop, _)| hop).collect();
            for hop in lost {
                self.neighbours.heard.remove(&hop);
                self.lose(now, hop, None);
            }
            self.neighbours.lost = self.neighbours.heard.values().min().map(|&last| last + patience);
        }
        if self.neighbours.hello.is_some_and(|at| at <= now) {
            self.neighbours.hello = Some(now + hello.interval);
            self.table.tidy(now);
            // Only who is part of a route that is used, and has told nobody otherwise that he is there (6.9).
            let within = |at: Option<Time>, span| at.is_some_and(|at| at + span > now);
            let needed = within(self.neighbours.used, self.config.active_route_timeout);
            if needed && !within(self.neighbours.broadcast, hello.interval) {
                let body = Body::Rrep(Rrep {
                    acknowledge: false,
                    hops: 0,
                    to: self.node,
                    to_seq: self.seq,
                    from: self.node,
                    lifetime: patience,
                });
                for interface in (0..self.interfaces).map(Interface) {
                    self.broadcast(now, interface, true, 1, body.clone());
                }
            }
        }
    }

    pub(super) fn on_hello(&mut self, now: Time, hop: Hop, rrep: &Rrep) {
        let until = now + rrep.lifetime;
        let seq = Some(rrep.to_seq);
        self.table.learn(now, News { to: hop.neighbour, seq, hop, hops: 1, until });
        self.table.prolong(now, hop.neighbour, until);
        if let Some(hello) = self.config.hello {
            self.neighbours.heard.insert(hop, now);
            self.neighbours.lost.get_or_insert(now + hello.interval * u64::from(hello.allowed_loss));
        }
    }
}
