//! Which connections are shown, and in which order: an expression over what is told of each.
//!
//! What is told of one direction is told of the one that more data went, as in the table.

mod expression;
mod field;

use truckee_capture::Capture;

pub use expression::Filter;
pub use field::{FILTER_HELP, Field};

/// Leaves the connections that were asked for, in the order that was asked for.
pub fn select(filter: Option<&Filter>, sort: Option<&Field>, top: Option<usize>, capture: &mut Capture) {
    let origin = capture.began_s;
    if let Some(filter) = filter {
        capture.choose(|c| filter.holds(c, origin));
    }
    if let Some(field) = sort {
        capture.connections.sort_by(|a, b| field.order(a, b, origin));
    }
    if let Some(top) = top {
        let mut places: Vec<usize> = (0..capture.connections.len()).collect();
        if sort.is_none() {
            places.sort_by_key(|&k| std::cmp::Reverse(capture.connections[k].unique_bytes()));
        }
        let chosen: std::collections::HashSet<u64> =
            places.into_iter().take(top).map(|k| capture.connections[k].number).collect();
        capture.choose(|c| chosen.contains(&c.number));
    }
}
