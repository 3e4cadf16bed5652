//! A run as a person reads it: the flows, the links that matter, the cross traffic, the digest.

use crate::human::{self, count, many, optional, percent, quantity};
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use std::path::PathBuf;
use truckee_scenario::Outcome;
use truckee_scenario::outcome::{Drops, FlowOutcome, LinkOutcome};

/// Links shown at most: those that lost something or were busiest.
const MOST_LINKS: usize = 6;
/// A link that lost nothing and was idle for longer than this share of the time says little.
const BUSY: f64 = 0.5;

/// Writes all of it.
pub fn write(out: &mut dyn Write, outcome: &Outcome, files: &[PathBuf]) -> io::Result<()> {
    flows(out, outcome)?;
    links(out, outcome)?;
    traffic(out, outcome)?;
    writeln!(
        out,
        "\n{}, seed {}: digest {}; {} in {}, {} events",
        outcome.scenario,
        outcome.seed,
        outcome.digest,
        quantity(outcome.simulated_s, "s"),
        quantity(outcome.wall_s, "s"),
        count(outcome.events),
    )?;
    for file in files {
        writeln!(out, "wrote {}", file.display())?;
    }
    Ok(())
}

fn flows(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    if outcome.flows.is_empty() {
        return writeln!(out, "no flows");
    }
    let columns = [
        words("flow"),
        words("sender"),
        words("receiver"),
        numbers("goodput"),
        numbers("done in"),
        numbers("resent"),
        numbers("lost: queue"),
        numbers("channel"),
        numbers("outage"),
        numbers("judged right"),
        numbers("delay: mean"),
        numbers("p99"),
        numbers("ACKs/segment"),
    ];
    layout::write(out, &columns, outcome.flows.iter().map(flow))?;
    if outcome.flows.len() > 1 {
        let total: f64 = outcome.flows.iter().map(|f| f.goodput_bps).sum();
        let jain = outcome.jain.map_or_else(|| human::NONE.to_owned(), |j| format!("{j:.3}"));
        let flows = many(outcome.flows.len(), "flow");
        writeln!(out, "{flows}: {} in all, Jain's index {jain}", quantity(total, "bit/s"))?;
    }
    Ok(())
}

fn flow(flow: &FlowOutcome) -> Vec<String> {
    let resent = match flow.segments_sent {
        0 => human::NONE.to_owned(),
        sent => percent(flow.retransmitted_segments as f64 / sent as f64),
    };
    vec![
        flow.name.clone(),
        flow.sender.clone(),
        flow.receiver.clone(),
        quantity(flow.goodput_bps, "bit/s"),
        optional(flow.completion_s, "s"),
        resent,
        count(flow.drops.queue),
        count(flow.drops.channel),
        count(flow.drops.outage),
        judged(flow),
        optional(flow.delay_s.mean, "s"),
        optional(flow.delay_s.p99, "s"),
        format!("{:.2}", flow.acks_per_segment),
    ]
}

/// How many of the loss events with a true cause the sender judged right.
fn judged(flow: &FlowOutcome) -> String {
    let events = &flow.loss_events;
    match events.congestion + events.wireless {
        0 => human::NONE.to_owned(),
        all => {
            let right = events.congestion_judged_right + events.wireless_judged_right;
            format!("{} of {}", count(right), count(all))
        }
    }
}

fn links(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let dropped = |l: &LinkOutcome| l.queue_drops + l.channel_drops + l.outage_drops;
    let matters = |l: &&LinkOutcome| dropped(l) > 0 || l.utilisation > BUSY;
    let mut shown: Vec<&LinkOutcome> = outcome.links.iter().filter(matters).collect();
    shown.sort_by(|a, b| dropped(b).cmp(&dropped(a)).then(b.utilisation.total_cmp(&a.utilisation)));
    shown.truncate(MOST_LINKS);
    if shown.is_empty() {
        return Ok(());
    }
    let columns = [
        words("link"),
        numbers("busy"),
        numbers("lost: queue"),
        numbers("channel"),
        numbers("outage"),
        numbers("marked"),
        numbers("mean queue"),
    ];
    writeln!(out)?;
    let row = |link: &LinkOutcome| {
        vec![
            link.name.clone(),
            percent(link.utilisation),
            count(link.queue_drops),
            count(link.channel_drops),
            count(link.outage_drops),
            count(link.ecn_marks),
            format!("{:.1} packets", link.mean_queue_packets),
        ]
    };
    layout::write(out, &columns, shown.iter().map(|l| row(l)))?;
    match outcome.links.len() - shown.len() {
        0 => Ok(()),
        quiet => writeln!(
            out,
            "{} more that lost less or nothing: --format json shows all",
            many(quiet, "direction")
        ),
    }
}

fn traffic(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    if outcome.traffic.is_empty() {
        return Ok(());
    }
    let columns = [
        words("traffic"),
        numbers("delivered"),
        numbers("packets sent"),
        numbers("lost"),
        numbers("delay: mean"),
    ];
    writeln!(out)?;
    let lost = |d: &Drops| d.queue + d.channel + d.outage;
    let row = |t: &truckee_scenario::outcome::TrafficOutcome| {
        vec![
            t.name.clone(),
            quantity(t.delivered_bps, "bit/s"),
            count(t.packets_sent),
            count(lost(&t.drops)),
            optional(t.delay_s.mean, "s"),
        ]
    };
    layout::write(out, &columns, outcome.traffic.iter().map(row))
}
