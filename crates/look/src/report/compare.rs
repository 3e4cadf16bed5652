//! The page of a comparison of engines: `compare.json`, and the first seed's runs beside it.

use super::model::{Axis, Cell, Column, Figure, Kind, Page, Section, Series, Table};
use super::several::{self, Side};
use super::value::{self, list};
use super::{read, study};
use crate::Error;
use serde_json::Value;
use std::path::{Path, PathBuf};
use truckee_lab::human;

/// The page of the comparison in `dir`.
pub(super) fn page(dir: &Path) -> Result<Page, Error> {
    let comparison = read::json(&dir.join("compare.json"))?;
    let engines = engines(&comparison);
    let mut sections = Vec::new();
    sections.extend(tolerances(&comparison));
    sections.push(goodput(&comparison, &engines));
    sections.extend(several::flows(&first_runs(dir, &engines)?));
    for kind in ["flows", "links"] {
        sections.extend(list(&comparison[kind]).iter().map(|one| subject(kind, one, &engines)));
    }
    let seeds = list(&comparison["seeds"]);
    let facts = [
        ("Scenario", value::text(&comparison["scenario"])),
        ("Engines", engines.join(", ")),
        ("Runs on each", seeds.len().to_string()),
        ("Seeds", seeds.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value)).into_iter();
    let not_judged = comparison["not_judged"].as_str().map(|why| ("Not judged".to_owned(), why.to_owned()));
    let notes = list(&comparison["notes"]).iter().map(|note| ("Note".to_owned(), value::text(note)));
    Ok(Page {
        title: format!("{}: {}", value::text(&comparison["scenario"]), engines.join(" and ")),
        says: format!(
            "The same question to each engine. Figures over time are of seed {}.",
            seeds.first().unwrap_or(&Value::Null)
        ),
        facts: facts.chain(study::live(&comparison)).chain(not_judged).chain(notes).collect(),
        sections,
    })
}

/// The engines' names; one that is there twice is numbered.
fn engines(comparison: &Value) -> Vec<String> {
    let names: Vec<String> = list(&comparison["engines"]).iter().map(|e| value::text(&e["name"])).collect();
    let twice = |name: &String| names.iter().filter(|n| *n == name).count() > 1;
    let label =
        |(k, name): (usize, &String)| if twice(name) { format!("{name} {}", k + 1) } else { name.clone() };
    names.iter().enumerate().map(label).collect()
}

/// The folders of the first seed's runs: `1-sim-seed-1`, `2-kernel-seed-1`.
fn first_runs(dir: &Path, engines: &[String]) -> Result<Vec<Side>, Error> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| Error::read(dir, e))? {
        let path = entry.map_err(|e| Error::read(dir, e))?.path();
        if path.join("result.json").exists() {
            folders.push(path);
        }
    }
    let seed = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.rsplit('-').next().and_then(|s| s.parse::<u64>().ok()).unwrap_or(u64::MAX)
    };
    folders.sort_by_key(|path| (seed(path), path.clone()));
    let first = folders.first().map(seed);
    folders.retain(|path| Some(seed(path)) == first);
    folders.iter().zip(engines).map(|(path, engine)| Side::read(engine.clone(), path)).collect()
}

fn interval(value: &Value) -> Option<(f64, f64)> {
    Some((value[0].as_f64()?, value[1].as_f64()?))
}

/// One flow or link: a row a metric, a column an engine, and each engine against the first one.
fn subject(kind: &str, one: &Value, engines: &[String]) -> Section {
    let mut columns = vec![Column::words("Metric")];
    columns.extend(engines.iter().map(|e| Column::number(e)));
    columns.extend(engines.iter().skip(1).map(|e| Column::number(&format!("{e} against {}", engines[0]))));
    let row = |metric: &Value| {
        let unit = value::text(&metric["unit"]);
        let mut cells = vec![Cell::words(value::text(&metric["metric"]))];
        let values = list(&metric["values"]).iter();
        cells.extend(values.map(|v| Cell::mean(v["mean"].as_f64(), v["half_width"].as_f64(), &unit)));
        cells.extend(list(&metric["against"]).iter().map(|a| against(a, &unit)));
        cells
    };
    let table = Table {
        caption: "Means with their intervals, paired by seed: ratios, or differences (Δ) of what is a share."
            .to_owned(),
        columns,
        rows: list(&one["metrics"]).iter().map(row).collect(),
    };
    let kind = if kind == "flows" { "Flow" } else { "Link" };
    Section {
        title: format!("{kind} {}: numbers", value::text(&one["name"])),
        tables: vec![table],
        ..Section::default()
    }
}

fn against(against: &Value, unit: &str) -> Cell {
    let said = |x: f64| match interval(&against["interval"]) {
        Some((low, high)) => {
            format!(
                "{} ({} … {})",
                human::quantity(x, ""),
                human::quantity(low, ""),
                human::quantity(high, "")
            )
        }
        None => human::quantity(x, ""),
    };
    match (against["ratio"].as_f64(), against["difference"].as_f64()) {
        (Some(ratio), _) => {
            Cell { text: format!("× {}", said(ratio)), sort: Some(ratio), ..Cell::default() }
        }
        (None, Some(difference)) if unit.is_empty() => {
            Cell { text: format!("Δ {}", said(difference)), sort: Some(difference), ..Cell::default() }
        }
        (None, Some(difference)) => Cell {
            text: format!("Δ {}", human::quantity(difference, unit)),
            sort: Some(difference),
            ..Cell::default()
        },
        (None, None) => Cell::words(human::NONE),
    }
}

fn tolerances(comparison: &Value) -> Option<Section> {
    let held = list(&comparison["tolerances"]);
    let row = |h: &Value| {
        let holds = h["holds"].as_bool() == Some(true);
        // Comparisons that an older program kept say no more than whether it holds.
        let [text, verdict] = match (h["verdict"].as_str(), holds) {
            (Some("undecided"), _) => ["undecided", "undecided"],
            (Some("not-judged"), _) => ["not judged", "undecided"],
            (_, true) => ["holds", "pass"],
            _ => ["does not hold", "fail"],
        };
        vec![
            Cell::words(value::text(&h["tolerance"])),
            Cell::words(value::text(&h["subject"])),
            Cell::words(value::text(&h["engine"])),
            Cell::quantity(h["off"].as_f64(), ""),
            Cell::quantity(h["allowed"].as_f64(), ""),
            Cell { verdict: verdict.to_owned(), ..Cell::words(text) },
            Cell::words(value::text(&h["note"])),
        ]
    };
    let words = ["Tolerance", "Of", "On"].map(Column::words);
    let numbers = ["Off by", "Allowed"].map(Column::number);
    let rest = ["Verdict", "Note"].map(Column::words);
    let table = Table {
        caption: "What was asked to agree.".to_owned(),
        columns: words.into_iter().chain(numbers).chain(rest).collect(),
        rows: held.iter().map(row).collect(),
    };
    (!held.is_empty()).then(|| Section {
        title: "Tolerances".to_owned(),
        tables: vec![table],
        ..Section::default()
    })
}

/// Bars: a group a flow, a bar an engine.
fn goodput(comparison: &Value, engines: &[String]) -> Section {
    const MEGA: f64 = 1e-6;
    let flows = list(&comparison["flows"]);
    let series = engines.iter().enumerate().map(|(k, engine)| {
        let mut series =
            Series { label: engine.clone(), kind: Kind::Bars, ..Series::default() }.colour(k % 7);
        for (at, flow) in flows.iter().enumerate() {
            let row = list(&flow["metrics"]).iter().find(|m| m["metric"] == "goodput_bps");
            let value = row.map_or(&Value::Null, |row| &row["values"][k]);
            if let Some(mean) = value["mean"].as_f64() {
                series.x.push(at as f64);
                series.y.push(mean * MEGA);
                series.half.push(value["half_width"].as_f64().unwrap_or(0.0) * MEGA);
            }
        }
        series
    });
    let categories = flows.iter().map(|f| value::text(&f["name"])).collect();
    let figure = Figure {
        title: "Goodput on each engine".to_owned(),
        says: "A group a flow, a bar an engine, with the confidence interval of its mean.".to_owned(),
        x: Axis { label: "Flow".to_owned(), categories, ..Axis::default() },
        y: Axis::from_zero("Goodput / Mbit/s"),
        series: series.collect(),
        ..Figure::default()
    };
    Section { title: "Goodput".to_owned(), figures: vec![figure], ..Section::default() }
}
