//! What the laboratory knows of a path, and reading the estimates of those who watch a flow.
//!
//! Truth for oracles and for results: what cross traffic leaves of the bottleneck, over the number of its TCP flows. A
//! source counts with its rate while ON and with nothing while OFF. Nothing here is worked out where nobody asks.

use super::{FUSED, Network, kind};
use crate::agenda::Key;
use crate::connection::{Path, SOURCE};
use truckee_scenario::outcome::{EstimatePoint, OWN_ESTIMATE};
use truckee_tcp::segment::HEADER_BYTES;
use truckee_tcp::{PathTruth, Sender, Span};

impl Network<'_> {
    /// Works out anew what crosses each link, where anybody wants to know.
    pub(super) fn recount_load(&mut self) {
        let Some(mut load) = self.load.take() else { return };
        load.traffic.clear();
        load.traffic.resize(self.links.len(), 0.0);
        load.flows.clear();
        load.flows.resize(self.links.len(), 0);
        let links = |path: Path| links_on(&self.paths, path);
        for source in self.sources.iter().filter(|s| s.rate > 0.0) {
            links(source.path).for_each(|link| load.traffic[link] += source.rate);
        }
        for index in (0..self.connections.len()).filter(|index| self.connections[*index].open) {
            self.way_now(index, true).for_each(|link| load.flows[link] += 1);
        }
        self.load = Some(load);
    }

    /// The links of a connection's way as it is at present.
    fn way_now(&self, index: usize, forward: bool) -> impl Iterator<Item = usize> {
        let connection = &self.connections[index];
        let path = if forward { connection.forward } else { connection.back };
        let mobile = self.mobile_way(index, forward);
        let fixed = mobile.is_none().then(|| links_on(&self.paths, path));
        mobile.into_iter().flatten().chain(fixed.into_iter().flatten())
    }

    /// The truth about the path of a connection.
    pub(super) fn truth(&self, index: usize) -> PathTruth {
        let connection = &self.connections[index];
        let mss = self.scenario.flows[connection.flow()].stack.mss;
        let wire = f64::from(mss + HEADER_BYTES);
        let left = |link: usize| {
            let (rate, load) = (self.links.rate(link) as f64, self.load.as_ref());
            let (traffic, flows) = load.map_or((0.0, 1), |l| (l.traffic[link], l.flows[link]));
            (rate - traffic).max(0.0) / f64::from(flows.max(1))
        };
        let available = self.way_now(index, true).map(left).fold(f64::INFINITY, f64::min);
        let crossing = |forward: bool, bytes: f64| {
            self.way_now(index, forward)
                .map(|link| self.links.delay(link).as_f64() + bytes * 8e9 / self.links.rate(link) as f64)
                .sum::<f64>()
        };
        let rtt = crossing(true, wire) + crossing(false, f64::from(HEADER_BYTES));
        PathTruth { available: available * f64::from(mss) / wire, rtt: Span::truncated(rtt) }
    }

    /// Bit/s of the slowest link on a connection's way.
    pub(super) fn slowest(&self, index: usize) -> f64 {
        self.way_now(index, true).map(|link| self.links.rate(link) as f64).fold(f64::INFINITY, f64::min)
    }

    /// Tells the oracles of a connection, if it has any, what its path is like.
    #[inline]
    pub(super) fn inform(&mut self, index: usize) {
        if self.connections[index].wants_truth {
            let truth = self.truth(index);
            let ends = &mut self.connections[index].ends;
            if let Some(sender) = ends.at[SOURCE].tx_mut() {
                sender.reveal_path(truth);
            }
            ends.forward.books.note_path(truth);
        }
    }

    /// Reads the estimates of a flow and holds them against the truth.
    pub(super) fn on_reading(&mut self, flow: usize) {
        let now = self.now;
        let first = self.flows[flow].first_connection;
        let (truth, open) = (self.truth(first), self.connections[first].open);
        let totals = self.totals(flow);
        let state = &mut self.flows[flow];
        let (book, Some(readings)) = (&mut state.book, &mut state.readings) else {
            self.agenda.pop();
            return;
        };
        self.agenda.postpone(now + readings.every);
        let sent = totals.counts.bytes;
        let used = (sent - readings.sent) as f64 * 8e9 / readings.every.as_f64();
        readings.sent = sent;
        if !open {
            return;
        }
        let ends = &self.connections[first].ends;
        let others = ends.forward.books.observers().into_iter().flat_map(|o| o.estimates());
        let own = readings
            .names
            .first()
            .filter(|name| *name == OWN_ESTIMATE)
            .map(|_| ends.sender().and_then(Sender::estimate));
        for (k, estimate) in own.into_iter().chain(others).enumerate() {
            if let Some(series) = &mut book.series {
                series.estimates.push(EstimatePoint {
                    t: now.seconds(),
                    estimator: readings.names[k].clone(),
                    estimate,
                    available: truth.available,
                    used,
                });
            }
            if let Some(estimate) = estimate.filter(|_| self.warm) {
                readings.books[k].add(estimate, truth.available, used);
            }
        }
    }

    /// Arms the first reading of a flow.
    pub(super) fn arm_readings(&mut self, flow: usize) {
        if let Some(readings) = &self.flows[flow].readings {
            let first = self.now + readings.every;
            self.agenda.push(first, kind::WARM | (flow + 1) as Key);
        }
    }
}

/// The links on a path of the table of paths.
fn links_on(paths: &[u32], path: Path) -> impl Iterator<Item = usize> {
    paths[path.start as usize..(path.start + path.len) as usize].iter().map(|link| (link & !FUSED) as usize)
}
