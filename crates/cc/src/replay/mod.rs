//! A BPF program held against its definition.
//!
//! The events that a port recorded are told again to the parts of `crates/tcp` that it was made after: the same ACKs,
//! departures and losses, at the same times. At each event the definition's estimate, its predictor's answer and its
//! window are compared with the port's, and at each loss what the response makes of ssthresh and of the window. Nothing
//! that the port has decided is told to the definition, but the window that the kernel itself has set: during the
//! repair of a loss, and after a pause. So the windows run apart, if they do, from each loss on.
//!
//! Not for: judging the kernel's recovery, which is not ported.

mod connection;
mod report;
mod verdicts;

pub use report::Report;

use crate::Error;
use crate::{Event, Port};
use connection::Connection;
use std::collections::BTreeMap;

/// Replays what `port` recorded, connection by connection; `events` has all of each, from its [`crate::Kind::Init`]
/// on. Connections that began before are left out.
pub fn replay(port: &Port, events: &[Event]) -> Result<Vec<Report>, Error> {
    let mut connections: BTreeMap<u32, Connection> = BTreeMap::new();
    for event in events {
        if let Some(connection) = connections.get_mut(&event.connection) {
            connection.take(event);
        } else if let Some(begun) = Connection::begin(port, event)? {
            connections.insert(event.connection, begun);
        }
    }
    Ok(connections.into_values().map(Connection::report).collect())
}

#[cfg(test)]
mod tests;
