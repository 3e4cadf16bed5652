//! What somebody outside the run may tell a flow's senders, and what these know of their path.

use super::Network;
use crate::connection::SOURCE;
use crate::stepped::{Known, Standing};
use truckee_tcp::controller::Order;
use truckee_tcp::{Sender, Span};

impl Network<'_> {
    /// Tells the controllers of a flow's connections, those to come included, what window and pace are to be.
    pub fn steer(&mut self, flow: usize, order: Order) {
        self.flows[flow].order = Some(Box::new(order));
        for index in self.flows[flow].connections() {
            if self.connections[index].open {
                let now = self.now;
                if let Some(tx) = self.connections[index].ends.at[SOURCE].tx_mut() {
                    tx.steer(now, &order);
                }
                self.after(index, SOURCE);
            }
        }
    }

    /// What a flow's senders know by now, all connections of the flow together.
    pub fn standing(&self, flow: usize) -> Standing {
        let totals = self.totals(flow);
        let connections = &self.connections[self.flows[flow].connections()];
        let senders = || connections.iter().filter(|c| c.open).filter_map(|c| c.ends.at[SOURCE].tx());
        let in_air: u64 = senders().map(|tx| tx.outstanding().max() - tx.outstanding().una()).sum();
        let counts = &totals.counts;
        Standing {
            acked: (counts.bytes - counts.retransmitted_bytes).saturating_sub(in_air),
            sent: counts.bytes,
            resent: counts.retransmitted_bytes,
            timeouts: counts.timeouts,
            rtt_samples: counts.rtt_samples,
            rtt_sum: counts.rtt_sum,
            rtt_min: totals.rtt_min,
            window: senders().map(|tx| tx.window().cwnd).sum(),
            in_flight: senders().map(Sender::in_flight).sum(),
            drops: self.flows[flow].book.drops,
        }
    }

    /// What is known of a flow's path beforehand.
    pub fn known(&self, flow: usize) -> Known {
        let first = self.flows[flow].first_connection;
        let truth = self.truth(first);
        let mss = self.scenario.flows[flow].stack.mss;
        Known { rate: self.slowest(first), rtt: truth.rtt, mss }
    }

    /// The smoothed round-trip time of a flow's first connection, once known.
    pub fn srtt(&self, flow: usize) -> Option<Span> {
        self.connections[self.flows[flow].first_connection].ends.at[SOURCE]
            .tx()
            .and_then(|tx| tx.window().srtt)
    }
}
