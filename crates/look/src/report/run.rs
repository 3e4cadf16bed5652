//! The page of one run.

use super::model::{Cell, Column, Page, Section, Table};
use super::points::Recorded;
use super::value::{entry, list, text};
use super::{air, flow};
use serde_json::Value;
use truckee_lab::human;
use truckee_scenario::outcome::THIS_RUN;

/// Flows that have figures at most: the others have their rows in the tables.
const MOST_FLOWS: usize = 8;
/// Queues drawn at most: the longest ones.
const MOST_QUEUES: usize = 8;

/// The page of a run: of its result as JSON, and what it recorded.
pub(super) fn page(result: &Value, recorded: &Recorded) -> Page {
    let mut sections = vec![flows(result)];
    sections.extend(links(result));
    let after_tables = sections.len();
    sections.extend(traffic(result));
    let end = result["simulated_s"].as_f64().unwrap_or(0.0);
    sections.extend(air::sections(result, &recorded.air, end));
    let series = &recorded.flows;
    let left_out = series.len().saturating_sub(MOST_FLOWS);
    for points in series.iter().take(MOST_FLOWS) {
        sections.push(flow::section(points, entry(&result["flows"], &points.flow)));
    }
    if let Some(section) = sections.last_mut().filter(|_| left_out > 0) {
        section.says.push_str(&format!(" {left_out} flows more are in the table above, but not drawn."));
    }
    sections.extend(flow::queues(&recorded.queues, MOST_QUEUES));
    if let Some(all) = flow::side_by_side(&series[..series.len().min(MOST_FLOWS)]) {
        sections.insert(after_tables, all);
    }
    sections.extend(remarks(result));
    for figure in sections.iter_mut().flat_map(|s| &mut s.figures) {
        figure.span = (end > 0.0).then_some((0.0, end));
    }
    Page {
        title: format!("{}, seed {}", text(&result["scenario"]), result["seed"]),
        says: says(result),
        facts: facts(result),
        sections,
    }
}

fn says(result: &Value) -> String {
    let engine = match result["engine"].as_str() {
        Some("sim") => "simulated".to_owned(),
        other => format!("on the engine {}", other.unwrap_or("unknown")),
    };
    let flows = human::many(list(&result["flows"]).len(), "flow");
    let took = human::optional(result["simulated_s"].as_f64(), "s");
    format!("One run, {engine}: {flows} over {took}.")
}

fn facts(result: &Value) -> Vec<(String, String)> {
    let goodputs = list(&result["flows"]).iter().filter_map(|f| f["goodput_bps"].as_f64());
    let mut facts = vec![
        ("Goodput in all".to_owned(), human::quantity(goodputs.sum(), "bit/s")),
        ("Jain's index".to_owned(), human::optional(result["jain"].as_f64(), "")),
        ("Time in the run".to_owned(), human::optional(result["simulated_s"].as_f64(), "s")),
        ("Seed".to_owned(), result["seed"].to_string()),
        ("Engine".to_owned(), text(&result["engine"])),
    ];
    let digest = text(&result["digest"]);
    if !digest.is_empty() {
        facts.push(("Digest".to_owned(), digest));
    }
    facts.extend(late(&result["lateness"]).map(|said| ("The machine".to_owned(), said)));
    let (doubts, _) = notes(result);
    facts.extend(doubts.into_iter().map(|doubt| ("About this run".to_owned(), doubt)));
    facts
}

/// How late the machine was in a live run.
fn late(lateness: &Value) -> Option<String> {
    let part = |key: &str| lateness[key].as_f64();
    Some(format!(
        "{} of the packets late, the latest by {}; end hosts kept waiting {} of the time",
        human::percent(part("late_share")?),
        human::quantity(part("latest_s")?, "s"),
        human::percent(part("waiting_share")?),
    ))
}

/// Notes of the result: reasons to doubt this very run, and what holds for all runs of its engine.
fn notes(result: &Value) -> (Vec<String>, Vec<String>) {
    let (doubts, always): (Vec<_>, Vec<_>) =
        list(&result["notes"]).iter().map(text).partition(|note| note.starts_with(THIS_RUN));
    (doubts.into_iter().map(|doubt| doubt.replacen(THIS_RUN, "", 1)).collect(), always)
}

/// What always holds for runs of the engine.
fn remarks(result: &Value) -> Option<Section> {
    let (_, always) = notes(result);
    (!always.is_empty()).then(|| Section {
        title: "Remarks".to_owned(),
        says: format!("What the engine {} does otherwise than the scenario says.", text(&result["engine"])),
        notes: always,
        ..Section::default()
    })
}

/// The table of flows: as the command shows it.
pub(super) fn flows(result: &Value) -> Section {
    let flows = list(&result["flows"]);
    // Only media and cells have these: a result has them where there are any.
    let rare = ["collision", "reach", "route", "handoff"].into_iter();
    let rare: Vec<_> = rare.filter(|cause| flows.iter().any(|f| !f["drops"][cause].is_null())).collect();
    let columns = ["Flow", "Sender", "Receiver"].map(Column::words).into_iter();
    let before = ["Goodput", "Done in", "Resent", "Timeouts", "Lost: queue", "channel", "outage"];
    let after = ["Judged right", "Delay: mean", "p99", "RTT: mean", "ACKs/segment"];
    let numbers = before.into_iter().chain(rare.iter().copied()).chain(after);
    let row = |f: &Value| {
        let share = |a: &Value, b: &Value| Some(a.as_f64()? / b.as_f64().filter(|b| *b > 0.0)?);
        let mut row = vec![
            Cell::words(text(&f["name"])),
            Cell::words(text(&f["sender"])),
            Cell::words(text(&f["receiver"])),
            Cell::quantity(f["goodput_bps"].as_f64(), "bit/s"),
            Cell::quantity(f["completion_s"].as_f64(), "s"),
            Cell::share(share(&f["retransmitted_segments"], &f["segments_sent"])),
            Cell::count(f["timeouts"].as_f64()),
            Cell::count(f["drops"]["queue"].as_f64()),
            Cell::count(f["drops"]["channel"].as_f64()),
            Cell::count(f["drops"]["outage"].as_f64()),
        ];
        row.extend(rare.iter().map(|cause| Cell::count(Some(f["drops"][cause].as_f64().unwrap_or(0.0)))));
        row.extend([
            Cell::share(f["accuracy"]["all"].as_f64()),
            Cell::quantity(f["delay_s"]["mean"].as_f64(), "s"),
            Cell::quantity(f["delay_s"]["p99"].as_f64(), "s"),
            Cell::quantity(f["rtt_s"]["mean"].as_f64(), "s"),
            Cell::quantity(f["acks_per_segment"].as_f64(), ""),
        ]);
        row
    };
    let table = Table {
        caption: "What each flow got. A dash: there is no such value.".to_owned(),
        columns: columns.chain(numbers.map(Column::number)).collect(),
        rows: flows.iter().map(row).collect(),
    };
    Section { title: "Flows".to_owned(), tables: vec![table], ..Section::default() }
}

/// The table of links, if there are any.
fn links(result: &Value) -> Option<Section> {
    let numbers = [
        "Busy",
        "Packets",
        "Lost: queue",
        "channel",
        "outage",
        "Marked",
        "Mean queue / packets",
        "Mean wait",
    ];
    let row = |l: &Value| {
        vec![
            Cell::words(text(&l["name"])),
            Cell::share(l["utilisation"].as_f64()),
            Cell::count(l["packets"].as_f64()),
            Cell::count(l["queue_drops"].as_f64()),
            Cell::count(l["channel_drops"].as_f64()),
            Cell::count(l["outage_drops"].as_f64()),
            Cell::count(l["ecn_marks"].as_f64()),
            Cell::quantity(l["mean_queue_packets"].as_f64(), ""),
            Cell::quantity(l["mean_wait_s"].as_f64(), "s"),
        ]
    };
    let table = Table {
        caption: "Each direction of each link.".to_owned(),
        columns: [Column::words("Link")].into_iter().chain(numbers.map(Column::number)).collect(),
        rows: list(&result["links"]).iter().map(row).collect(),
    };
    (!table.rows.is_empty()).then(|| Section {
        title: "Links".to_owned(),
        tables: vec![table],
        ..Section::default()
    })
}

fn traffic(result: &Value) -> Option<Section> {
    let numbers = ["Sent", "Delivered", "Rate delivered", "Lost: queue", "channel", "outage", "Delay: mean"];
    let row = |t: &Value| {
        vec![
            Cell::words(text(&t["name"])),
            Cell::count(t["packets_sent"].as_f64()),
            Cell::count(t["packets_delivered"].as_f64()),
            Cell::quantity(t["delivered_bps"].as_f64(), "bit/s"),
            Cell::count(t["drops"]["queue"].as_f64()),
            Cell::count(t["drops"]["channel"].as_f64()),
            Cell::count(t["drops"]["outage"].as_f64()),
            Cell::quantity(t["delay_s"]["mean"].as_f64(), "s"),
        ]
    };
    let rows: Vec<_> = list(&result["traffic"]).iter().map(row).collect();
    let columns = [Column::words("Traffic")].into_iter().chain(numbers.map(Column::number)).collect();
    let table = Table { caption: "Cross traffic.".to_owned(), columns, rows };
    (!table.rows.is_empty()).then(|| Section {
        title: "Cross traffic".to_owned(),
        tables: vec![table],
        ..Section::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn doubts_stand_at_the_head_of_a_page_and_what_always_holds_at_its_end() {
        let result = json!({ "engine": "kernel", "notes": [format!("{THIS_RUN}late"), "ticks"] });
        assert_eq!(facts(&result).last(), Some(&("About this run".to_owned(), "late".to_owned())));
        assert_eq!(remarks(&result).unwrap().notes, ["ticks"]);
        assert!(remarks(&Value::Null).is_none());
    }
}
