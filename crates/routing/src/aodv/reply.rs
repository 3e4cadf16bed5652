//! What requests and replies do to the table, and who answers. Source: RFC 3561, sections 6.5 to 6.7.

use super::{Aodv, Body, News, Rrep, Rreq};
use crate::{Hop, NodeId, Time};

impl Aodv {
    /// Something was heard of a neighbour: there is a route to it, whose number is not known (6.5, 6.7).
    pub(super) fn heard(&mut self, now: Time, hop: Hop) {
        self.neighbours.heard(now, hop);
        let until = now + self.config.active_route_timeout;
        self.table.learn(now, News { to: hop.neighbour, seq: None, hop, hops: 1, until });
    }

    pub(super) fn on_rreq(&mut self, now: Time, hop: Hop, ttl: u8, rreq: &Rreq) {
        let keep = self.config.path_discovery_time();
        if self.neighbours.is_blacklisted(now, hop)
            || rreq.from == self.node
            || self.known.seen(now, rreq.from, rreq.id, keep)
        {
            return;
        }
        self.learn_way_back(now, hop, rreq);
        if rreq.to == self.node {
            self.answer(now, rreq);
        } else if !self.answer_for(now, hop, rreq) && ttl > 1 {
            let known = self.table.get(now, rreq.to).and_then(|route| route.seq);
            self.pass_on(now, ttl, rreq, known);
        }
    }

    /// The reverse route (6.5).
    fn learn_way_back(&mut self, now: Time, hop: Hop, rreq: &Rreq) {
        let hops = u32::from(rreq.hops) + 1;
        let taken = self.config.node_traversal_time * (2 * u64::from(hops));
        let least = (now + self.config.path_discovery_time()).earlier(taken);
        self.table
            .learn(now, News { to: rreq.from, seq: Some(rreq.from_seq), hop, hops, until: least.max(now) });
        self.table.prolong(now, rreq.from, least);
    }

    /// The destination answers (6.6.1).
    fn answer(&mut self, now: Time, rreq: &Rreq) {
        // Nobody has a later number of this node than it has itself, but who lost the route counts one on; then the
        // answer has to be as new as what was asked for (6.1).
        if let Some(asked) = rreq.to_seq {
            self.seq = self.seq.later(asked);
        }
        let rrep = Rrep {
            acknowledge: self.config.acknowledge,
            hops: 0,
            to: self.node,
            to_seq: self.seq,
            from: rreq.from,
            lifetime: self.config.my_route_timeout,
        };
        self.reply(now, rreq.from, rrep);
    }

    /// Somebody in between answers, if he knows enough (6.6.2); whether he did.
    fn answer_for(&mut self, now: Time, hop: Hop, rreq: &Rreq) -> bool {
        if rreq.destination_only {
            return false;
        }
        let Some(forward) = self.table.valid(now, rreq.to) else { return false };
        let Some(seq) = forward.seq else { return false };
        // By the way the question came there is nothing to be found: whoever asked would ask me for it again.
        let outdated = rreq.to_seq.is_some_and(|asked| asked.is_after(seq));
        let Ok(hops) = u8::try_from(forward.hops) else { return false };
        if outdated || forward.hop == hop {
            return false;
        }
        forward.used_by(hop);
        let (next, lifetime) = (forward.hop, forward.until - now);
        let rrep = Rrep {
            acknowledge: self.config.acknowledge,
            hops,
            to: rreq.to,
            to_seq: seq,
            from: rreq.from,
            lifetime,
        };
        if let Some(back) = self.table.valid(now, rreq.from) {
            back.used_by(next);
        }
        self.reply(now, rreq.from, rrep);
        if rreq.gratuitous {
            self.tell_destination(now, rreq, next);
        }
        true
    }

    /// A gratuitous reply (6.6.3): the destination learns the way to who searched.
    fn tell_destination(&mut self, now: Time, rreq: &Rreq, next: Hop) {
        let Some(back) = self.table.valid(now, rreq.from) else { return };
        let rrep = Rrep {
            acknowledge: false,
            hops: u8::try_from(back.hops).unwrap_or(u8::MAX),
            to: rreq.from,
            to_seq: rreq.from_seq,
            from: rreq.to,
            lifetime: back.until - now,
        };
        self.unicast(next, self.config.net_diameter, Body::Rrep(rrep));
    }

    /// Sends a reply on the way to who searched.
    fn reply(&mut self, now: Time, searcher: NodeId, rrep: Rrep) {
        let Some(back) = self.table.valid(now, searcher).map(|route| route.hop) else { return };
        self.expect_acknowledgement(now, back, &rrep);
        self.unicast(back, self.config.net_diameter, Body::Rrep(rrep));
    }

    fn expect_acknowledgement(&mut self, now: Time, hop: Hop, rrep: &Rrep) {
        if rrep.acknowledge {
            self.neighbours.expect(hop, now + self.config.next_hop_wait());
        }
    }

    pub(super) fn on_rrep(&mut self, now: Time, hop: Hop, ttl: u8, rrep: &Rrep) {
        if rrep.acknowledge {
            self.unicast(hop, 1, Body::RrepAck);
        }
        if rrep.to == self.node {
            return;
        }
        let hops = u32::from(rrep.hops) + 1;
        let until = now + rrep.lifetime;
        let news = News { to: rrep.to, seq: Some(rrep.to_seq), hop, hops, until };
        self.table.learn(now, news);
        if rrep.from == self.node || ttl <= 1 {
            return;
        }
        // The RFC passes only those on from which something was learned, so that a reply is lost where a hello, say, has
        // told as much already (Fehnker et al. 2013, who pass all on). What goes on here is what this node knows now.
        let Some(route) = self.table.valid(now, rrep.to) else { return };
        let (Some(seq), hops, lifetime) = (route.seq, route.hops, route.until - now) else { return };
        if rrep.to_seq.is_after(seq) {
            return;
        }
        let hop = route.hop;
        // It goes on, and all who are on the way are told when it breaks (6.7).
        let active = now + self.config.active_route_timeout;
        let Some(back) = self.table.valid(now, rrep.from) else { return };
        back.until = back.until.max(active);
        back.used_by(hop);
        let back = back.hop;
        for to in [rrep.to, hop.neighbour] {
            if let Some(route) = self.table.valid(now, to) {
                route.used_by(back);
            }
        }
        let rrep = Rrep {
            hops: u8::try_from(hops).unwrap_or(u8::MAX),
            acknowledge: self.config.acknowledge,
            to_seq: seq,
            lifetime,
            ..rrep.clone()
        };
        self.expect_acknowledgement(now, back, &rrep);
        self.unicast(back, ttl - 1, Body::Rrep(rrep));
    }
}
