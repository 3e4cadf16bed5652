//! The page of a study, and of several: published against measured, figures, and the sweeps beneath.

use super::model::{self, Cell, Column, Kind, Marker, Page, Section, Table};
use super::render::NAME;
use super::sweep;
use super::value::{list, text};
use crate::Error;
use crate::figure::{Figure, Map, Panel};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use truckee_lab::human;
use truckee_lab::study::{Cause, Varied};
use truckee_lab::validity::LiveRuns;

/// The name of a study's file within its directory.
pub(crate) const FILE: &str = "study.json";

/// `study.json`: what a study found, and its figures as numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Written {
    /// The [`StudyReport`](truckee_lab::study::StudyReport).
    pub(crate) report: Value,
    pub(crate) figures: Vec<Figure>,
    pub(crate) maps: Vec<Map>,
}

const MARKERS: [Marker; 5] =
    [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Inverted];

fn written(dir: &Path) -> Result<Written, Error> {
    let path = dir.join(FILE);
    let bytes = std::fs::read(&path).map_err(|e| Error::read(&path, e))?;
    serde_json::from_slice(&bytes).map_err(|e| Error::read(&path, e))
}

/// The page of the study in `dir`.
pub(super) fn page(dir: &Path) -> Result<Page, Error> {
    let Written { report, figures, maps } = written(dir)?;
    let mut sections = Vec::new();
    let drawn: Vec<model::Figure> = figures.iter().flat_map(panels).collect();
    if !drawn.is_empty() {
        let says = "Published values stand beside ours as hollow markers.".to_owned();
        sections.push(Section { title: "Figures".to_owned(), says, figures: drawn, ..Section::default() });
    }
    if !maps.is_empty() {
        let tables = maps.iter().flat_map(tables).collect();
        sections.push(Section { title: "Maps".to_owned(), tables, ..Section::default() });
    }
    sections.push(checks(&report));
    let setup = paragraphs(&text(&report["setup"]));
    sections.push(Section { title: "Set-up".to_owned(), says: setup, ..Section::default() });
    for (name, folder) in sweeps(dir)? {
        sections.push(sweep::section(&folder, &format!("Sweep {name}"))?);
    }
    let source = &report["source"];
    let quick = report["quick"].as_bool() == Some(true);
    let facts = [
        ("Verdict", verdict(&report)),
        ("Form", if quick { "quick" } else { "full" }.to_owned()),
        ("Runs", human::count(report["runs"].as_u64().unwrap_or(0))),
    ];
    let mut page = Page {
        title: format!("{}: {}", text(&report["id"]), text(&report["title"])),
        says: format!("{}, {}", text(&source["paper"]), text(&source["place"])),
        facts: facts.map(|(name, value)| (name.to_owned(), value)).into(),
        sections,
    };
    page.facts.extend(live(&report));
    if let Some(why) = report["skipped"].as_str() {
        page.facts.push(("Skipped".to_owned(), why.to_owned()));
    }
    Ok(page)
}

/// Text that is set in Markdown and broken into lines, with a line a paragraph or item and without its marks.
fn paragraphs(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.trim().lines().map(|line| line.trim().replace('`', "")) {
        match (line.strip_prefix("- "), lines.last_mut()) {
            (Some(item), _) => lines.push(format!("• {item}")),
            (None, Some(last)) if !line.is_empty() && !last.is_empty() => {
                last.push(' ');
                last.push_str(&line);
            }
            (None, _) => lines.push(line),
        }
    }
    lines.join("\n")
}

/// The live runs of a study's report, or of a comparison, and how many of them are invalid.
pub(super) fn live(report: &Value) -> Option<(String, String)> {
    let live: LiveRuns = serde_json::from_value(report["live"].clone()).ok()?;
    Some(("Live runs".to_owned(), live.to_string()))
}

fn verdict(report: &Value) -> String {
    let counts = &report["counts"];
    let of = |key: &str| counts[key].as_u64().unwrap_or(0);
    if let Some(why) = report["not_judged"].as_str() {
        return format!("not judged: {why}");
    }
    let words = [
        ("pass", "pass"),
        ("differs", "differ"),
        ("undecided", "undecided"),
        ("fail", "fail"),
        ("skipped", "skipped"),
    ];
    let parts = words.into_iter().filter(|(key, _)| *key != "skipped" || of(key) > 0);
    let parts: Vec<String> = parts.map(|(key, word)| format!("{} {word}", of(key))).collect();
    match report["calibrated"].as_str() {
        Some(what) => format!("{}; calibrated on what it is held against: {}", parts.join(", "), what.trim()),
        None => parts.join(", "),
    }
}

/// The sweeps kept under a study's directory.
fn sweeps(dir: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| Error::read(dir, e))? {
        let path = entry.map_err(|e| Error::read(dir, e))?.path();
        if path.join("sweep.json").exists() {
            found.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), path));
        }
    }
    found.sort();
    Ok(found)
}

/// A figure a panel.
fn panels(figure: &Figure) -> Vec<model::Figure> {
    let labels = figure.labels();
    let of = |panel: &Panel| {
        let title = if panel.title.is_empty() { String::new() } else { format!(": {}", panel.title) };
        let mut series = Vec::new();
        for one in &panel.series {
            let k = labels.iter().position(|l| *l == one.label).unwrap_or(0);
            series.extend(pair(figure, one, k));
        }
        let says = std::iter::once(figure.source.clone()).chain(figure.notes.iter().cloned());
        model::Figure {
            title: format!("{}{title}", figure.title),
            says: says.filter(|s| !s.is_empty()).collect::<Vec<_>>().join(". "),
            x: model::Axis {
                label: figure.x.label.clone(),
                log: figure.x.log,
                categories: figure.x.categories.clone(),
                from_zero: false,
            },
            y: model::Axis { log: figure.y.log, ..model::Axis::from_zero(&figure.y.label) },
            series,
            ..model::Figure::default()
        }
    };
    figure.panels.iter().map(of).filter(|f| !f.series.is_empty()).collect()
}

/// Ours and, where there are any, the published values.
fn pair(figure: &Figure, series: &crate::figure::Series, k: usize) -> Vec<model::Series> {
    let kind = match (figure.x.categories.is_empty(), figure.y.log) {
        (true, _) => Kind::Curve,
        (false, false) => Kind::Bars,
        (false, true) => Kind::Points,
    };
    let name = if series.label.is_empty() { "measured" } else { &series.label };
    let (colour, marker) = (k % 7, MARKERS[k % MARKERS.len()]);
    let points = series.points.iter().map(|p| (p.x, p.y));
    let mut ours = model::Series::new(name, kind, points).colour(colour).marker(marker).dash(k % 4);
    ours.half = series.points.iter().map(|p| p.half_width).collect();
    let mut theirs = model::Series::new(
        &format!("{name}, {}", figure.reference),
        Kind::Points,
        series.references.iter().copied(),
    )
    .colour(if kind == Kind::Bars { 7 } else { colour })
    .marker(marker)
    .hollow()
    .whole();
    theirs.beside = Some(name.to_owned());
    [ours, theirs].into_iter().filter(|s| !s.is_empty()).collect()
}

/// A map as tables.
fn tables(map: &Map) -> Vec<Table> {
    let of = |panel: &crate::figure::MapPanel| {
        let mut columns = vec![Column::words("")];
        columns.extend(map.columns.iter().map(|names| Column::number(&names.join(", "))));
        let row = |(k, name): (usize, &String)| {
            let mut cells = vec![Cell::words(name.clone())];
            cells.extend((0..map.columns.len()).map(|c| {
                let cell = panel.cells.iter().find(|cell| (cell.row, cell.column) == (k, c));
                let Some(cell) = cell else { return Cell::words(human::NONE) };
                let (low, high) = cell.interval;
                let quantity = |x| human::quantity(x, "");
                let text = format!("{} ({} … {})", quantity(cell.value), quantity(low), quantity(high));
                Cell { text, sort: Some(cell.value), ..Cell::default() }
            }));
            cells
        };
        let title = if panel.title.is_empty() { String::new() } else { format!(" {}.", panel.title) };
        Table {
            caption: format!("{}.{title} {}; in brackets its 97.5 % interval.", map.title, map.says),
            columns,
            rows: map.rows.iter().enumerate().map(row).collect(),
        }
    };
    map.panels.iter().map(of).collect()
}

/// How many runs a row stands on; invalid ones are said.
fn runs_of(row: &Value) -> Cell {
    match row["invalid"].as_u64() {
        Some(invalid @ 1..) => {
            let runs = |key: &str| row[key].as_u64().unwrap_or(0) as usize;
            let text = human::runs(runs("n"), runs("incomplete"), Some(invalid as usize));
            Cell { sort: row["n"].as_f64(), ..Cell::words(text) }
        }
        _ => Cell::count(row["n"].as_f64()),
    }
}

fn checks(report: &Value) -> Section {
    let row = |r: &Value| {
        let unit = text(&r["unit"]);
        let ends = [0, 1].map(|k| r["interval"][k].as_f64());
        let interval = match ends {
            [Some(low), Some(high)] => {
                format!("{} … {}", human::quantity(low, &unit), human::quantity(high, &unit))
            }
            _ => human::NONE.to_owned(),
        };
        let verdict = text(&r["verdict"]);
        let rival = match serde_json::from_value::<Varied>(r["rival"].clone()) {
            Ok(rival) => rival.says(&unit),
            Err(_) if verdict == "skipped" => human::NONE.to_owned(),
            Err(_) => "no rival named".to_owned(),
        };
        let source = r["reference"]["source"].as_str().map(|source| format!("Reference: {source}"));
        let cause = serde_json::from_value::<Cause>(r["cause"].clone()).ok().map(|cause| cause.says(&unit));
        let remarks = [Some(text(&r["note"])), cause, source].into_iter().flatten();
        let remarks = remarks.filter(|remark| !remark.is_empty()).collect::<Vec<_>>().join("; ");
        vec![
            Cell::words(text(&r["check"])),
            Cell { verdict: verdict.clone(), ..Cell::words(verdict) },
            Cell::words(text(&r["cell"])),
            Cell::words(text(&r["metric"])),
            Cell::quantity(r["published"].as_f64(), &unit),
            Cell::quantity(r["reference"]["value"].as_f64(), &unit),
            Cell::quantity(r["measured"].as_f64(), &unit),
            Cell { sort: ends[0], ..Cell::words(interval) },
            runs_of(r),
            Cell::words(text(&r["demand"])),
            Cell::words(rival),
            Cell::words(remarks),
        ]
    };
    // The verdict stands where it is seen without scrolling.
    let names = [
        ("Check", false),
        ("Verdict", false),
        ("Cell", false),
        ("Metric", false),
        ("Published", true),
        ("Reference", true),
        ("Measured", true),
        ("Interval", true),
        ("Runs", true),
        ("Demanded", false),
        ("Rival, which must fail", false),
        ("Note", false),
    ];
    let table = Table {
        caption: "Each check at each cell.".to_owned(),
        columns: names.map(|(name, number)| Column { name: name.to_owned(), number }).into(),
        rows: list(&report["rows"]).iter().map(row).collect(),
    };
    Section { title: "Published against measured".to_owned(), tables: vec![table], ..Section::default() }
}

/// The directories of studies directly under `dir`, by name.
pub(super) fn under(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).filter(|p| p.join(FILE).exists()).collect();
    found.sort();
    found
}

/// The address of the page in a folder beside this one. Whatever the folder is called it is a path: `javascript:alert(1)`
/// would be something else.
fn link(folder: &str) -> String {
    format!("./{}/{}", utf8_percent_encode(folder, SEGMENT), NAME)
}

/// What a part of a path may not have as it is: all but letters, digits and `-._~`.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The page that leads to those of several studies.
pub(super) fn index(dirs: &[PathBuf]) -> Result<Page, Error> {
    let mut rows = Vec::new();
    for dir in dirs {
        let report = written(dir)?.report;
        let folder = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let fails = report["counts"]["fail"].as_u64().unwrap_or(0);
        let mark = match (fails, report["not_judged"].is_string()) {
            (_, true) => "undecided",
            (0, _) => "pass",
            _ => "fail",
        };
        rows.push(vec![
            Cell { link: link(&folder), ..Cell::words(folder) },
            Cell::words(text(&report["title"])),
            Cell { verdict: mark.to_owned(), ..Cell::words(verdict(&report)) },
            Cell::count(report["runs"].as_f64()),
        ]);
    }
    let mut columns = ["Study", "Title", "Verdict"].map(Column::words).to_vec();
    columns.push(Column::number("Runs"));
    let table = Table { caption: "Each study's page.".to_owned(), columns, rows };
    Ok(Page {
        title: "Studies".to_owned(),
        says: "Published results held against what is measured.".to_owned(),
        facts: vec![("Studies".to_owned(), dirs.len().to_string())],
        sections: vec![Section {
            title: "All studies".to_owned(),
            tables: vec![table],
            ..Section::default()
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::{link, paragraphs};

    #[test]
    fn a_folder_s_link_is_a_path_whatever_it_is_called() {
        assert_eq!(link("twice-quick"), "./twice-quick/report.html");
        assert_eq!(link("javascript:alert(1)"), "./javascript%3Aalert%281%29/report.html");
        assert_eq!(link("a b?c#d/é"), "./a%20b%3Fc%23d%2F%C3%A9/report.html");
    }

    #[test]
    fn a_set_up_keeps_its_paragraphs_and_items_and_loses_its_marks() {
        let text = "\nOne\nline.\n\nAnother, `named`:\n- an item\n  of two lines\n- the next\n";
        assert_eq!(paragraphs(text), "One line.\n\nAnother, named:\n• an item of two lines\n• the next");
    }
}
