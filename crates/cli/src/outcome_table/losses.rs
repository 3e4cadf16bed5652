//! What flows lost, in a run's table, and what their senders took it for.

use crate::human::{self, count};
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_scenario::Outcome;
use truckee_scenario::outcome::{FlowOutcome, LossEvents};

/// One line a flow. Causes that only media or handoffs have are shown where there are any.
pub(super) fn write(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let mut columns = vec![words("flow"), numbers("lost: queue"), numbers("channel"), numbers("outage")];
    let in_handoffs = |flow: &FlowOutcome| flow.drops.handoff > 0;
    let handoffs = !outcome.hosts.is_empty() || outcome.flows.iter().any(in_handoffs);
    let shared = !outcome.media.is_empty();
    if shared {
        columns.extend(["collision", "reach", "route"].map(numbers));
    }
    columns.extend(handoffs.then(|| numbers("handoff")));
    columns.extend([numbers("judged right"), numbers("ACKs/segment")]);
    writeln!(out)?;
    layout::write(out, &columns, outcome.flows.iter().map(|flow| losses(flow, shared, handoffs)))
}

/// What a flow lost, and what its sender took that for; `shared`: whether there is a medium, `handoffs`: whether nodes
/// move between cells.
fn losses(flow: &FlowOutcome, shared: bool, handoffs: bool) -> Vec<String> {
    let drops = &flow.drops;
    let mut row = vec![flow.name.clone(), count(drops.queue), count(drops.channel), count(drops.outage)];
    if shared {
        row.extend([drops.collision, drops.reach, drops.route].map(count));
    }
    row.extend(handoffs.then(|| count(drops.handoff)));
    row.extend([judged(&flow.loss_events), format!("{:.2}", flow.acks_per_segment)]);
    row
}

/// How many of the loss events with a true cause were judged right.
fn judged(events: &LossEvents) -> String {
    let right = events.congestion_judged_right + events.wireless_judged_right;
    of(right, events.congestion + events.wireless)
}

/// So many of so many, where there are any.
pub(super) fn of(right: u64, all: u64) -> String {
    match all {
        0 => human::NONE.to_owned(),
        all => format!("{} of {}", count(right), count(all)),
    }
}
