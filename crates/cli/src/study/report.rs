//! What a study found, as a table or as CSV.

use crate::engines::named;
use crate::error::Error;
use crate::human::{self, many, quantity};
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_lab::EngineName;
use truckee_lab::study::{CheckRow, Counts, StudyReport, Verdict};

/// Writes one study's checks, notes, figures and counts.
pub fn write(out: &mut dyn Write, report: &StudyReport, again: bool) -> io::Result<()> {
    if again {
        writeln!(out)?;
    }
    writeln!(out, "{}: {}", report.id, report.title)?;
    writeln!(out, "published: {}, {}", report.source.paper, report.source.place)?;
    if report.engines.iter().any(|e| *e != EngineName::default()) {
        writeln!(out, "runs on: {}", named(&report.engines))?;
    }
    if let Some(why) = &report.skipped {
        return writeln!(out, "skipped: {why}");
    }
    if !report.complete {
        return writeln!(out, "not complete after {}: nothing is judged", many(report.runs, "run"));
    }
    writeln!(out)?;
    let columns = [
        words("at"),
        numbers("published"),
        numbers("measured"),
        words("demand"),
        numbers("runs"),
        words("verdict"),
    ];
    let checks = report.rows.chunk_by(|a, b| a.check == b.check);
    let groups = checks.map(|rows| (rows[0].check.clone(), rows.iter().map(cells).collect()));
    layout::write_titled(out, &columns, groups)?;
    notes(out, report)?;
    writeln!(out)?;
    for figure in &report.figures {
        writeln!(out, "figure: {}", figure.display())?;
    }
    if let Some(live) = &report.live {
        writeln!(out, "{live}")?;
    }
    if let Some(why) = &report.not_judged {
        writeln!(out, "not judged: {why}")?;
    }
    if let Some(what) = &report.calibrated {
        writeln!(out, "calibrated on what it is held against: {}", what.trim())?;
    }
    writeln!(
        out,
        "{}; {} in {}",
        counts(&report.counts),
        many(report.runs, "run"),
        quantity(report.wall_s, "s")
    )
}

/// Writes the sum over several studies.
pub fn write_total(out: &mut dyn Write, reports: &[StudyReport]) -> io::Result<()> {
    let mut sum = Counts::default();
    for Counts { pass, fail, differs, skipped, undecided } in reports.iter().map(|r| r.counts) {
        sum.pass += pass;
        sum.fail += fail;
        sum.differs += differs;
        sum.skipped += skipped;
        sum.undecided += undecided;
    }
    let not_run = reports.iter().filter(|r| r.skipped.is_some()).count();
    let not_run = if not_run > 0 { format!("; {not_run} not run") } else { String::new() };
    let studies = many(reports.len(), "study").replace("studys", "studies");
    writeln!(out, "\nall {studies}: {}{not_run}", counts(&sum))
}

fn counts(counts: &Counts) -> String {
    let Counts { pass, fail, differs, skipped, undecided } = counts;
    let mut text = format!("{pass} pass, {fail} fail, {differs} differ");
    if *undecided > 0 {
        text.push_str(&format!(", {undecided} undecided"));
    }
    if *skipped > 0 {
        text.push_str(&format!(", {skipped} skipped"));
    }
    text
}

fn cells(row: &CheckRow) -> Vec<String> {
    let published = row.published.map_or_else(|| human::NONE.to_owned(), |x| quantity(x, &row.unit));
    let runs = human::runs(row.n, row.incomplete, row.invalid);
    vec![short(&row.cell), published, measured(row), row.demand.clone(), runs, word(row.verdict).to_owned()]
}

/// A cell without the way to each value: `flow.app.size=20MB` is as clear as `size=20MB` in a table.
fn short(cell: &str) -> String {
    let part = |part: &str| match part.split_once('=') {
        Some((path, value)) => format!("{}={value}", path.rsplit('.').next().unwrap_or(path)),
        None => part.to_owned(),
    };
    // Values with a comma of their own are left alone.
    if cell.contains(['{', '[', '"']) {
        cell.to_owned()
    } else {
        cell.split(", ").map(part).collect::<Vec<_>>().join(", ")
    }
}

fn measured(row: &CheckRow) -> String {
    let Some(mean) = row.measured else { return human::NONE.to_owned() };
    let Some((low, high)) = row.interval else { return quantity(mean, &row.unit) };
    let (below, above) = (mean - low, high - mean);
    let width = below + above;
    if width <= 1e-9 * mean.abs() {
        human::with_interval(mean, Some(0.0), &row.unit)
    } else if (below - above).abs() <= 0.05 * width {
        human::with_interval(mean, Some(width / 2.0), &row.unit)
    } else {
        format!(
            "{} ({} … {})",
            quantity(mean, &row.unit),
            quantity(low, &row.unit),
            quantity(high, &row.unit)
        )
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::Differs => "differs",
        Verdict::Undecided => "undecided",
        Verdict::Skipped => "skipped",
    }
}

/// Each check's remarks, once.
fn notes(out: &mut dyn Write, report: &StudyReport) -> io::Result<()> {
    let mut said: Vec<(&str, &str)> = Vec::new();
    for row in report.rows.iter().filter(|r| !r.note.is_empty()) {
        let remark = (row.check.as_str(), row.note.as_str());
        if !said.contains(&remark) {
            if said.is_empty() {
                writeln!(out)?;
            }
            writeln!(out, "{} ({}): {}", row.check, word(row.verdict), row.note)?;
            said.push(remark);
        }
    }
    Ok(())
}

/// Writes all studies' checks, one a line.
pub fn csv(out: &mut dyn Write, reports: &[StudyReport]) -> Result<(), Error> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "study",
        "check",
        "cell",
        "metric",
        "unit",
        "published",
        "measured",
        "low",
        "high",
        "n",
        "incomplete",
        "demand",
        "verdict",
        "note",
        "invalid",
    ])?;
    let number = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
    for report in reports {
        for row in &report.rows {
            csv.write_record([
                report.id.as_str(),
                &row.check,
                &row.cell,
                &row.metric,
                &row.unit,
                &number(row.published),
                &number(row.measured),
                &number(row.interval.map(|i| i.0)),
                &number(row.interval.map(|i| i.1)),
                &row.n.to_string(),
                &row.incomplete.to_string(),
                &row.demand,
                &word(row.verdict).to_lowercase(),
                &row.note,
                &row.invalid.map(|n| n.to_string()).unwrap_or_default(),
            ])?;
        }
    }
    Ok(csv.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_shows_the_last_word_of_each_path() {
        assert_eq!(short("flow.app.size=20MB, channel.per=0.005"), "size=20MB, per=0.005");
        assert_eq!(short("variant=plain"), "variant=plain");
        let table = "flow.sender={ growth = \"per-ack\", recovery = \"sack\" }, flow.mss=1000";
        assert_eq!(short(table), table);
    }

    #[test]
    fn an_interval_that_is_not_symmetric_shows_both_ends() {
        let mut row = CheckRow {
            check: String::new(),
            kind: truckee_lab::study::file::Kind::Within,
            cell: String::new(),
            metric: String::new(),
            unit: "s".into(),
            published: None,
            measured: Some(2.0),
            interval: Some((1.5, 2.5)),
            n: 5,
            incomplete: 0,
            invalid: None,
            demand: String::new(),
            verdict: Verdict::Pass,
            note: String::new(),
        };
        assert_eq!(measured(&row), "2.00 ± 0.50 s");
        row.interval = Some((1.9, 3.0));
        assert_eq!(measured(&row), "2 s (1.90 s … 3 s)");
    }
}
