//! Mobile hosts in a run's table.

use crate::human::count;
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_scenario::Outcome;
use truckee_scenario::outcome::HostOutcome;

/// What mobile hosts did, and what that cost.
pub fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    if outcome.hosts.is_empty() {
        return Ok(());
    }
    let columns = [
        words("host"),
        numbers("handoffs"),
        numbers("route updates"),
        numbers("paging updates"),
        numbers("their bytes"),
        numbers("copies"),
    ];
    let row = |host: &HostOutcome| {
        let counts = [host.handoffs, host.route_updates, host.paging_updates, host.update_bytes, host.copies];
        [host.name.clone()].into_iter().chain(counts.map(count)).collect()
    };
    writeln!(out)?;
    layout::write(out, &columns, outcome.hosts.iter().map(row))
}
