//! The page of two engines' runs segment by segment: `trace.json`.

use super::model::{Axis, Cell, Column, Figure, Kind, Marker, Page, Section, Series, Table};
use super::read;
use super::value::{self, list};
use crate::Error;
use serde_json::Value;
use std::path::Path;
use truckee_lab::human;

/// What it is made of.
pub(super) const FILE: &str = "trace.json";

/// The page of what is in `dir`.
pub(super) fn page(dir: &Path) -> Result<Page, Error> {
    let traced = read::json(&dir.join(FILE))?;
    let engines: Vec<String> = list(&traced["engines"]).iter().map(value::text).collect();
    let sections = list(&traced["runs"]).iter().flat_map(|run| {
        let seed = run["seed"].to_string();
        list(&run["flows"]).iter().map(move |flow| (seed.clone(), flow))
    });
    let sections = sections.map(|(seed, flow)| section(&seed, flow, &engines)).collect();
    let facts = [("Scenario", value::text(&traced["scenario"])), ("Engines", engines.join(", "))];
    let not_judged = traced["not_judged"].as_str().map(|why| ("Not judged".to_owned(), why.to_owned()));
    Ok(Page {
        title: format!("{}: {}, segment by segment", value::text(&traced["scenario"]), engines.join(" and ")),
        says: "What passed at the senders of each; times count from a flow's first packet.".to_owned(),
        facts: facts.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(not_judged).collect(),
        sections,
    })
}

fn section(seed: &str, flow: &Value, engines: &[String]) -> Section {
    let count = |value: &Value| human::count(value.as_u64().unwrap_or(0));
    let seconds = |value: &Value| human::optional(value.as_f64(), "s");
    let mut notes = vec![
        format!(
            "The first {} segments sent are the same, of {} and {}.",
            count(&flow["prefix"]),
            count(&flow["sent"][0]),
            count(&flow["sent"][1])
        ),
        format!(
            "Their times are {} apart at the most; allowed are {} at their end.",
            seconds(&flow["furthest_s"]),
            seconds(&flow["allowed_s"])
        ),
    ];
    let first = &flow["first"];
    if !first.is_null() {
        let what = if first["other"] == true { "another segment" } else { "another time" };
        notes.push(format!("They part at segment {} sent: {what}.", count(&first["segment"])));
        notes.push(format!("What differs before it: {}", value::text(&first["cause"]["says"])));
    }
    Section {
        title: format!("{}, seed {seed}", value::text(&flow["flow"])),
        notes,
        tables: if first.is_null() { Vec::new() } else { vec![around(first, engines)] },
        figures: vec![figure(flow, engines)],
        ..Section::default()
    }
}

fn around(first: &Value, engines: &[String]) -> Table {
    let mut columns = vec![Column::words("")];
    columns.extend(engines.iter().map(|engine| Column::words(engine)));
    let row = |row: &Value| {
        let mark = if row["parts"] == true { "they part" } else { "" };
        let each = list(&row["each"]).iter().map(|event| Cell::words(said(event)));
        std::iter::once(Cell::words(mark)).chain(each).collect()
    };
    Table {
        caption: "What passed around it, the same beside each other".to_owned(),
        columns,
        rows: list(&first["around"]).iter().map(row).collect(),
    }
}

/// An event in words.
fn said(event: &Value) -> String {
    let Some(at) = event["at_s"].as_f64() else { return human::NONE.to_owned() };
    let ms = format!("{:.2} ms", 1e3 * at);
    if let Some(sent) = event.get("sent") {
        let lost = sent["dropped"].as_str().map(|why| format!(", lost by {why}")).unwrap_or_default();
        let again = match sent["time"].as_u64() {
            Some(1) | None => String::new(),
            Some(n) => format!(", time {n}"),
        };
        return format!("{ms} sends {}:{}{again}{lost}", sent["segment"][0], sent["segment"][1]);
    }
    let heard = &event["heard"];
    let blocks: Vec<String> = list(&heard["sack"]).iter().map(|b| format!("{}:{}", b[0], b[1])).collect();
    let sack = if blocks.is_empty() { String::new() } else { format!(" sack {}", blocks.join(" ")) };
    format!("{ms} hears {}{sack}", heard["ack"])
}

/// Bytes over time: what was sent, and acknowledged.
fn figure(flow: &Value, engines: &[String]) -> Figure {
    let series =
        list(&flow["events"]).iter().zip(engines).enumerate().flat_map(|(side, (events, engine))| {
            let points = |of: &str, number: &dyn Fn(&Value) -> Option<f64>| -> Vec<(f64, f64)> {
                let point = |event: &Value| Some((event["at_s"].as_f64()?, number(event.get(of)?)? / 1e3));
                list(events).iter().filter_map(point).collect()
            };
            let sent = points("sent", &|sent| sent["segment"][0].as_f64());
            let acked = points("heard", &|heard| heard["ack"].as_f64());
            let marker = [Marker::Circle, Marker::Cross][side.min(1)];
            [
                Series::new(&format!("{engine}: sent"), Kind::Points, sent).colour(side).marker(marker),
                Series::new(&format!("{engine}: acknowledged"), Kind::Step, acked).colour(side).dash(side),
            ]
        });
    Figure {
        title: format!("{}: sent and acknowledged", value::text(&flow["flow"])),
        says: "Each segment by its first byte.".to_owned(),
        x: Axis::from_zero("time (s)"),
        y: Axis::from_zero("data (kB)"),
        series: series.collect(),
        ..Figure::default()
    }
}
