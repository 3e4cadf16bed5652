//! Everything that a page shows of one connection over time: both its directions, and what those who were asked would
//! have said.

use crate::connection::{Connection, Step, Way};
use crate::replay::{Cast, Replay};
use crate::table::Watch;
use crate::trace::Trace;
use crate::wire::Packet;

/// Points of a curve at most, however few connections are drawn.
const MOST_POINTS: usize = 1 << 14;
/// And at least, however many are.
const FEWEST_POINTS: usize = 1 << 10;
/// Points of all curves of all connections that are drawn: 128 MB.
const POINTS_IN_ALL: usize = 1 << 23;
/// Curves of a connection: twelve each way.
const CURVES: usize = 24;

/// A connection over time.
#[derive(Debug)]
pub struct Portrait {
    /// Data to the server.
    pub to_server: Trace,
    /// Data to the client.
    pub to_client: Trace,
    /// What estimators, predictors and detectors would have said over the data that goes the way they were asked of.
    pub replay: Replay,
}

impl Portrait {
    /// Of the connection of that number, one of so many that are drawn; the cast hears of the data that goes `way`.
    pub fn new(number: u64, way: Way, cast: Cast, drawn: usize) -> Self {
        let points = POINTS_IN_ALL / CURVES / drawn.max(1);
        let trace = |way| Trace::new(way, points.clamp(FEWEST_POINTS, MOST_POINTS));
        Self {
            to_server: trace(Way::ToServer),
            to_client: trace(Way::ToClient),
            replay: Replay::new(number, way, cast),
        }
    }

    /// The direction of data that goes this way.
    pub fn trace(&self, way: Way) -> &Trace {
        match way {
            Way::ToServer => &self.to_server,
            Way::ToClient => &self.to_client,
        }
    }
}

impl Watch for Portrait {
    fn wants(&mut self, connection: &Connection) -> bool {
        self.replay.wants(connection)
    }

    fn on_step(&mut self, connection: &Connection, packet: &Packet, step: &Step) {
        self.to_server.on_step(connection, packet, step);
        self.to_client.on_step(connection, packet, step);
        self.replay.on_step(connection, packet, step);
    }
}
