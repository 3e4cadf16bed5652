//! What a study found, as a table or as CSV.

use crate::error::Error;
use crate::human::{self, many, quantity};
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_lab::study::{Cause, CheckRow, Counts, StudyReport, Varied, Verdict};

/// Writes one study's checks, notes, figures and counts.
pub fn write(out: &mut dyn Write, report: &StudyReport, again: bool) -> io::Result<()> {
    if again {
        writeln!(out)?;
    }
    writeln!(out, "{}: {}", report.id, report.title)?;
    writeln!(out, "published: {}, {}", report.source.paper, report.source.place)?;
    if report.engines.iter().any(|e| e.is_live()) {
        writeln!(out, "runs on: {}", super::engines(&report.engines))?;
    }
    if let Some(why) = &report.skipped {
        return writeln!(out, "skipped: {why}");
    }
    if !report.complete {
        return writeln!(out, "not complete after {}: nothing is judged", many(report.runs, "run"));
    }
    writeln!(out)?;
    // What no row has, has no column.
    let has = |there: fn(&CheckRow) -> bool| report.rows.iter().any(there);
    let shown = [
        (words("at"), true),
        (numbers("published"), has(|r| r.published.is_some()) || !has(|r| r.reference.is_some())),
        (numbers("reference"), has(|r| r.reference.is_some())),
        (numbers("measured"), true),
        (words("demand"), true),
        (numbers("runs"), true),
        (words("its rival"), has(|r| r.rival.is_some())),
        (words("verdict"), true),
    ];
    let kept = |row: &CheckRow| {
        let cells = cells(row).into_iter().zip(shown);
        cells.filter(|(_, (_, is_shown))| *is_shown).map(|(cell, _)| cell).collect()
    };
    let columns: Vec<_> = shown.iter().filter(|(_, is_shown)| *is_shown).map(|(column, _)| *column).collect();
    let checks = report.rows.chunk_by(|a, b| a.check == b.check);
    let groups = checks.map(|rows| (title(&rows[0]), rows.iter().map(kept).collect()));
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
    let sum = |reports: &mut dyn Iterator<Item = &StudyReport>| {
        reports.fold(Counts::default(), |sum, report| sum.and(&report.counts))
    };
    let fitted = sum(&mut reports.iter().filter(|r| r.calibrated.is_some())).pass;
    let fitted = match fitted {
        0 => String::new(),
        n => format!("; {n} of what passes is a fit: its study is calibrated on what it is held against"),
    };
    let not_run = reports.iter().filter(|r| r.skipped.is_some()).count();
    let not_run = if not_run > 0 { format!("; {not_run} not run") } else { String::new() };
    let studies = many(reports.len(), "study").replace("studys", "studies");
    writeln!(out, "\nall {studies}: {}{fitted}{not_run}", counts(&sum(&mut reports.iter())))
}

fn counts(counts: &Counts) -> String {
    let Counts { pass, fail, differs, skipped, undecided } = counts;
    let skipped = if *skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    format!("{pass} pass, {fail} fail, {differs} differ, {undecided} undecided{skipped}")
}

/// A check's name, and who must fail it.
fn title(row: &CheckRow) -> String {
    match &row.rival {
        Some(rival) => format!("{} (rival: {})", row.check, rival.name),
        None if row.verdict == Verdict::Skipped => row.check.clone(),
        None => format!("{} (no rival named)", row.check),
    }
}

fn cells(row: &CheckRow) -> [String; 8] {
    let rival = row.rival.as_ref();
    [
        short(&row.cell),
        human::optional(row.published, &row.unit),
        human::optional(row.reference.as_ref().map(|r| r.value), &row.unit),
        human::estimate(row.measured, row.interval, &row.unit),
        row.demand.clone(),
        human::runs(row.n, row.incomplete, row.invalid),
        rival.map_or_else(String::new, |r| {
            format!("{}, {}", human::optional(r.measured, &row.unit), r.word())
        }),
        word(row.verdict).to_owned(),
    ]
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

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::Differs => "differs",
        Verdict::Undecided => "undecided",
        Verdict::Skipped => "skipped",
    }
}

/// Each check's remarks, once: what its reference is, why it differs, what else there is to say.
fn notes(out: &mut dyn Write, report: &StudyReport) -> io::Result<()> {
    let mut said: Vec<String> = Vec::new();
    for row in &report.rows {
        let source = row.reference.as_ref().map(|r| format!("{}: reference: {}", row.check, r.source));
        let why = row.cause.as_ref().map(|cause| cause.says(&row.unit));
        let why = [Some(row.note.clone()).filter(|note| !note.is_empty()), why];
        let why = why.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let why = (!why.is_empty()).then(|| format!("{} ({}): {why}", row.check, word(row.verdict)));
        for line in source.into_iter().chain(why) {
            if !said.contains(&line) {
                said.push(line);
            }
        }
    }
    if !said.is_empty() {
        writeln!(out)?;
    }
    said.iter().try_for_each(|line| writeln!(out, "{line}"))
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
        "reference",
        "source",
        "rival",
        "rival_measured",
        "rival_verdict",
        "cause",
        "cause_measured",
        "cause_verdict",
    ])?;
    let number = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
    let varied = |varied: Option<&Varied>| match varied {
        Some(v) => [v.name.clone(), number(v.measured), word(v.verdict).to_lowercase()],
        None => Default::default(),
    };
    for report in reports {
        for row in &report.rows {
            let rival = varied(row.rival.as_ref());
            let cause = match &row.cause {
                Some(Cause::Unknown) => ["unknown".to_owned(), String::new(), String::new()],
                Some(Cause::Shown(shown)) => varied(Some(shown)),
                None => Default::default(),
            };
            let reference = row.reference.as_ref();
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
                &number(reference.map(|r| r.value)),
                reference.map_or("", |r| r.source.as_str()),
                &rival[0],
                &rival[1],
                &rival[2],
                &cause[0],
                &cause[1],
                &cause[2],
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
}
