//! Updates: what they do to the table, and when they are sent. Sources: Perkins and Bhagwat 1994, section 3; ns-2.

use super::table::{Metric, Route, is_after};
use super::{Advertised, Dsdv, Update};
use crate::{Hop, NodeId, Time};
use truckee_channel::Span;

/// Routes in a packet of 1,500 bytes.
const MOST_IN_PACKET: usize = (1_500 - crate::UDP_IP as usize) / 12;

impl Dsdv {
    pub(super) fn on_update(&mut self, now: Time, hop: Hop, update: &Update) {
        for advertised in &update.routes {
            self.learn(now, hop, advertised);
        }
        let patience = self.config.period * u64::from(self.config.allowed_loss);
        self.neighbours.insert(hop, now + patience);
        if !self.routes.contains_key(&hop.neighbour) {
            // He has told of others only, and is not told to others himself before he says his number.
            let route = self.fresh(now, hop, Metric::one_on(Some(0)), None);
            self.routes.insert(hop.neighbour, route);
            self.changed(hop.neighbour);
        }
    }

    fn fresh(&self, now: Time, hop: Hop, metric: Metric, seq: Option<u32>) -> Route {
        Route {
            hop,
            metric,
            seq,
            settling: self.config.settling_time,
            numbered: now,
            taken: now,
            settled: now,
            tells_seq: false,
            tells_metric: false,
            told: None,
            trigger: None,
        }
    }

    /// Takes a route, if it is newer than what is known, or as new and shorter.
    fn learn(&mut self, now: Time, hop: Hop, advertised: &Advertised) {
        let (to, seq) = (advertised.to, advertised.seq);
        let metric = Metric::one_on(advertised.metric);
        if to == self.node {
            if metric == Metric::BROKEN {
                // The node itself has the last word on whether it is there: it says so now, with a newer number.
                self.periodic = now;
            }
            return;
        }
        let Some(old) = self.routes.get_mut(&to) else {
            let mut route = self.fresh(now, hop, metric, Some(seq));
            if metric != Metric::BROKEN {
                route.settled = now + route.settling * 2;
                route.tells_metric = true;
                route.trigger = Some(route.settled);
            }
            self.routes.insert(to, route);
            self.changed(to);
            return;
        };
        let was = (old.hop, old.metric);
        match old.seq {
            Some(known) if known == seq => {
                if metric >= old.metric {
                    return;
                }
                old.take(now, hop, metric, seq);
                // Back at what others believe anyway, it is no news.
                old.tells_metric = old.told != Some(metric);
                if old.tells_metric {
                    old.trigger = Some(old.settled);
                }
            }
            Some(known) if is_after(known, seq) => {
                if metric == Metric::BROKEN && old.metric != Metric::BROKEN {
                    // Whoever believes that there is no way is told of a newer one at once.
                    (old.settled, old.tells_metric, old.trigger) = (now, true, Some(now));
                }
                return;
            }
            _ => {
                let past = self.config.settling_weight;
                let last = old.taken.saturating_sub(old.numbered);
                old.settling = Span::truncated(past * old.settling.as_f64() + (1.0 - past) * last.as_f64());
                old.numbered = now;
                old.take(now, hop, metric, seq);
                // A newer number alone waits for the next update.
                old.tells_seq = true;
                old.tells_metric = old.told != Some(metric);
                if metric == Metric::BROKEN && was.1 != Metric::BROKEN && self.config.spreads_breaks {
                    old.trigger = Some(now);
                }
            }
        }
        if was != (hop, metric) {
            self.changed(to);
        }
    }

    /// Timers of updates.
    pub(super) fn on_timers(&mut self, now: Time) {
        if self.periodic <= now {
            self.send_full(now);
        }
        let due = |route: &Route| route.trigger.is_some_and(|at| at <= now);
        if !self.routes.values().any(due) {
            return;
        }
        let possible = self.updated.map_or(now, |last| last + self.config.triggered_interval);
        let wait = (possible > now).then_some(possible);
        let before = wait.unwrap_or(now);
        let mut first = wait;
        for route in self.routes.values_mut().filter(|route| route.trigger.is_some_and(|at| at <= before)) {
            // One timer is enough for all that have to wait.
            route.trigger = first.take();
        }
        if wait.is_none() {
            self.send_changes(now);
        }
    }

    fn send_changes(&mut self, now: Time) {
        let news = self.routes.values().filter(|route| route.is_news(now)).count();
        // The node's own entry is part of the table.
        let table = self.routes.len() + 1;
        if news as f64 > self.config.full_share * table as f64 && news > 3 {
            self.send_full(now);
            return;
        }
        let mut told = Vec::new();
        for (&to, route) in self.routes.iter_mut().filter(|(_, route)| route.is_news(now)) {
            told.extend(route.tell(to));
            // The metric is told again until a full update has had it.
        }
        if !told.is_empty() {
            self.send(now, false, told);
        }
    }

    fn send_full(&mut self, now: Time) {
        let early = self.jitter(Span::truncated(self.config.period.as_f64() * 0.25));
        self.periodic = now + (self.config.period - early);
        self.seq = self.seq.wrapping_add(2);
        let mut told = vec![Advertised { to: self.node, metric: Some(0), seq: self.seq }];
        for (&to, route) in self.routes.iter_mut().filter(|(_, route)| route.is_settled(now)) {
            told.extend(route.tell(to));
            route.tells_metric = false;
        }
        self.send(now, true, told);
    }

    fn send(&mut self, now: Time, full: bool, routes: Vec<Advertised>) {
        self.updated = Some(now);
        for part in routes.chunks(MOST_IN_PACKET) {
            self.broadcast(now, Update { full, routes: part.to_vec() });
        }
    }
}

impl Route {
    fn take(&mut self, now: Time, hop: Hop, metric: Metric, seq: u32) {
        // What breaks, and what is there again, is told without delay.
        let steady = metric != Metric::BROKEN && self.metric != Metric::BROKEN;
        self.settled = if steady { now + self.settling * 2 } else { now };
        (self.hop, self.metric, self.seq, self.taken) = (hop, metric, Some(seq), now);
    }

    fn tell(&mut self, to: NodeId) -> Option<Advertised> {
        let seq = self.seq?;
        self.told = Some(self.metric);
        self.tells_seq = false;
        Some(Advertised { to, metric: self.metric.hops(), seq })
    }
}
