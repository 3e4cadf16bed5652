//! AODV's table of routes. Sources: RFC 3561, sections 6.1, 6.2 and 6.11; where these leave loops possible, Fehnker, van
//! Glabbeek, Höfner, McIver, Portmann and Tan 2013 (A process algebra for wireless mesh networks used for modelling,
//! verifying and analysing AODV): a route is replaced only by a newer one or an equal one that is shorter, its
//! number never falls, and there is none to the node itself.

use super::SequenceNumber;
use crate::{Hop, NodeId};
use truckee_channel::{Span, Time};

/// A route to one destination.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// The destination's number; `None`: not known, as of a neighbour of whom only was heard.
    pub seq: Option<SequenceNumber>,
    pub valid: bool,
    pub hop: Hop,
    pub hops: u32,
    /// Of a valid one, when it ends; of another, when it is forgotten.
    pub until: Time,
    /// Who goes by this route: they are told when it breaks.
    pub precursors: Vec<Hop>,
}

impl Route {
    /// The neighbour uses it.
    pub fn used_by(&mut self, neighbour: Hop) {
        if let Err(i) = self.precursors.binary_search(&neighbour) {
            self.precursors.insert(i, neighbour);
        }
    }
}

/// News of a route.
#[derive(Debug, Clone, Copy)]
pub(super) struct News {
    pub to: NodeId,
    pub seq: Option<SequenceNumber>,
    pub hop: Hop,
    pub hops: u32,
    pub until: Time,
}

/// So many routes.
const FEW: usize = 8;

/// See the module.
#[derive(Debug)]
pub(super) struct Table {
    /// By destination: many are looked up for each that comes or goes.
    routes: Vec<(NodeId, Route)>,
    delete_period: Span,
    /// What has changed since it was last asked for.
    changed: Vec<(NodeId, Option<Hop>, u32)>,
}

impl Table {
    pub fn new(delete_period: Span) -> Self {
        Self { routes: Vec::new(), delete_period, changed: Vec::new() }
    }

    /// Where the route to a destination stands, or would. A few are looked through one by one.
    #[inline]
    fn place(&self, to: NodeId) -> Result<usize, usize> {
        if self.routes.len() > FEW {
            return self.routes.binary_search_by_key(&to, |(to, _)| *to);
        }
        let at = self.routes.iter().position(|(other, _)| *other >= to).unwrap_or(self.routes.len());
        match self.routes.get(at) {
            Some((found, _)) if *found == to => Ok(at),
            _ => Err(at),
        }
    }

    /// The route to a destination as it is now, valid or not; what has run out has run out, what is to be forgotten is
    /// forgotten.
    #[inline]
    pub fn get(&mut self, now: Time, to: NodeId) -> Option<&mut Route> {
        let at = self.place(to).ok()?;
        // Four times for each packet that passes by, and it hardly ever has.
        if self.routes[at].1.until <= now && !self.run_out(now, at) {
            return None;
        }
        Some(&mut self.routes[at].1)
    }

    /// A route's time is over: it is no longer valid, or is forgotten. Whether it is still there.
    #[cold]
    fn run_out(&mut self, now: Time, at: usize) -> bool {
        let (to, route) = &mut self.routes[at];
        if route.valid {
            let ended = route.until;
            invalidate(*to, route, None, ended + self.delete_period, &mut self.changed);
            // Nobody has used it for so long that nobody needs to be told.
            route.precursors.clear();
        }
        let stays = route.until > now;
        if !stays {
            self.routes.remove(at);
        }
        stays
    }

    /// The route, if it is valid.
    pub fn valid(&mut self, now: Time, to: NodeId) -> Option<&mut Route> {
        self.get(now, to).filter(|route| route.valid)
    }

    /// The same for who only looks.
    pub fn look(&self, now: Time, to: NodeId) -> Option<&Route> {
        let (_, route) = &self.routes[self.place(to).ok()?];
        (route.valid && route.until > now).then_some(route)
    }

    /// Takes news of a route, if they are news (6.2); whether they were. A valid route by the same hop lasts at least
    /// as long as they say in any case.
    pub fn learn(&mut self, now: Time, news: News) -> bool {
        let News { to, seq, hop, hops, until } = news;
        let Some(route) = self.get(now, to) else {
            let route = Route { seq, valid: true, hop, hops, until, precursors: Vec::new() };
            let (Ok(at) | Err(at)) = self.place(to);
            self.routes.insert(at, (to, route));
            self.changed.push((to, Some(hop), hops));
            return true;
        };
        let better = match (seq, route.seq) {
            (Some(new), Some(old)) if new == old => !route.valid || hops < route.hops,
            (Some(new), Some(old)) => new.is_after(old),
            (Some(_), None) => true,
            // A neighbour that is heard: its number, if it was known, stays.
            (None, _) => !route.valid || hops < route.hops,
        };
        if !better {
            if route.valid && route.hop == hop {
                route.until = route.until.max(until);
            }
            return false;
        }
        let same = route.valid && route.hop == hop && route.hops == hops;
        route.until = if same { route.until.max(until) } else { until };
        route.seq = seq.or(route.seq);
        (route.valid, route.hop, route.hops) = (true, hop, hops);
        if !same {
            self.changed.push((to, Some(hop), hops));
        }
        true
    }

    /// A route is used: it lasts longer.
    pub fn prolong(&mut self, now: Time, to: NodeId, until: Time) {
        if let Some(route) = self.valid(now, to) {
            route.until = route.until.max(until);
        }
    }

    /// Destinations of valid routes by a hop.
    pub fn by(&mut self, now: Time, hop: Hop) -> Vec<NodeId> {
        let valid = |route: &Route| route.valid && route.until > now;
        self.routes.iter().filter(|(_, r)| r.hop == hop && valid(r)).map(|(to, _)| *to).collect()
    }

    /// A valid route is so no longer; its number is the next one, or `seq` if that is later (6.11). Answers with the
    /// number and who used it.
    pub fn end(
        &mut self,
        now: Time,
        to: NodeId,
        seq: Option<SequenceNumber>,
    ) -> Option<(SequenceNumber, Vec<Hop>)> {
        let forget = now + self.delete_period;
        let at = self.place(to).ok()?;
        let route = Some(&mut self.routes[at].1).filter(|route| route.valid)?;
        invalidate(to, route, seq, forget, &mut self.changed);
        Some((route.seq.unwrap_or_default(), std::mem::take(&mut route.precursors)))
    }

    /// Whether anything has changed since [`Table::changes`] was asked for last.
    #[inline]
    pub fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// What has changed since this was asked for last: a destination, the next hop, how many hops.
    pub fn changes(&mut self) -> Vec<(NodeId, Option<Hop>, u32)> {
        std::mem::take(&mut self.changed)
    }

    /// What is to be forgotten is forgotten.
    pub fn tidy(&mut self, now: Time) {
        let all: Vec<_> = self.routes.iter().map(|(to, _)| *to).collect();
        for to in all {
            self.get(now, to);
        }
    }
}

/// The number rises: whoever searches asks for a route that is newer than the one that ended.
fn invalidate(
    to: NodeId,
    route: &mut Route,
    seq: Option<SequenceNumber>,
    forget: Time,
    changed: &mut Vec<(NodeId, Option<Hop>, u32)>,
) {
    let raised = route.seq.map(SequenceNumber::next);
    route.seq = match (raised, seq) {
        (Some(raised), Some(seq)) => Some(raised.later(seq)),
        (one, other) => one.or(other),
    };
    route.valid = false;
    route.until = forget;
    changed.push((to, None, 0));
}
