//! What a study found, as a table or as CSV.

use crate::engines::named;
use crate::error::Error;
use crate::human::{self, many, quantity};
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_lab::EngineName;
use truckee_lab::study::{Cause, CheckRow, Counts, StudyReport, Varied, Verdict};

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

/// Writes how many rows of each of several studies came out how, and their sum.
pub fn write_total(out: &mut dyn Write, reports: &[StudyReport]) -> io::Result<()> {
    writeln!(out)?;
    let counted = ["pass", "differ", "undecided", "fail", "skipped"].map(numbers);
    let columns: Vec<_> = std::iter::once(words("study")).chain(counted).chain([words("")]).collect();
    let row = |report: &StudyReport| {
        let Counts { pass, fail, differs, skipped, undecided } = report.counts;
        let remark = match report {
            StudyReport { skipped: Some(_), .. } => "not run",
            StudyReport { not_judged: Some(_), .. } => "not judged",
            StudyReport { calibrated: Some(_), .. } => "calibrated",
            _ => "",
        };
        let counts = [pass, differs, undecided, fail, skipped].map(|n| n.to_string());
        std::iter::once(report.id.clone()).chain(counts).chain([remark.to_owned()]).collect()
    };
    layout::write(out, &columns, reports.iter().map(row))?;
    let sum = reports.iter().fold(Counts::default(), |sum, report| sum.and(&report.counts));
    let not_run = reports.iter().filter(|r| r.skipped.is_some()).count();
    let not_run = if not_run > 0 { format!("; {not_run} not run") } else { String::new() };
    let studies = many(reports.len(), "study").replace("studys", "studies");
    writeln!(out, "\nall {studies}: {}{not_run}", counts(&sum))
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
    use truckee_lab::study::file::{Kind, Reference};

    #[test]
    fn a_cell_shows_the_last_word_of_each_path() {
        assert_eq!(short("flow.app.size=20MB, channel.per=0.005"), "size=20MB, per=0.005");
        assert_eq!(short("variant=plain"), "variant=plain");
        let table = "flow.sender={ growth = \"per-ack\", recovery = \"sack\" }, flow.mss=1000";
        assert_eq!(short(table), table);
    }

    fn row(check: &str) -> CheckRow {
        CheckRow {
            check: check.into(),
            kind: Kind::Within,
            cell: "rtt=20ms".into(),
            metric: "goodput_bps".into(),
            unit: "s".into(),
            published: None,
            reference: None,
            measured: Some(2.0),
            interval: Some((1.5, 2.5)),
            n: 5,
            incomplete: 0,
            invalid: None,
            demand: "± 5 %".into(),
            rival: None,
            verdict: Verdict::Pass,
            cause: None,
            note: String::new(),
        }
    }

    fn other(name: &str, verdict: Verdict) -> Varied {
        let (measured, interval) = (Some(1.0), Some((0.5, 1.5)));
        Varied { name: name.into(), cell: String::new(), measured, interval, n: 5, verdict }
    }

    fn written(rows: Vec<CheckRow>) -> Vec<String> {
        let study = "id = \"x\"\ntitle = \"t\"\nsetup = \"s\"\nsource = { paper = \"p\", place = \"q\" }\n\
                     scenario = \"\"\n[[sweep]]\nname = \"m\"\nruns = 1\n\
                     [[check]]\nname = \"c\"\nkind = \"bound\"\nmetric = \"goodput_bps\"\nabove = 1\n";
        let study = truckee_lab::study::Study::parse("x.toml", study, &()).unwrap();
        let report = StudyReport {
            id: study.id,
            title: study.title,
            source: study.source,
            setup: study.setup,
            calibrated: None,
            engines: Vec::new(),
            quick: false,
            complete: true,
            skipped: None,
            counts: Counts::of(&rows),
            rows,
            figures: Vec::new(),
            runs: 5,
            wall_s: 0.0,
            live: None,
            not_judged: None,
        };
        let mut text = Vec::new();
        write(&mut text, &report, false).unwrap();
        String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
    }

    fn words_of(line: &str) -> Vec<&str> {
        line.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect()
    }

    #[test]
    fn rival_reference_and_cause_stand_with_a_row() {
        let reference = Some(Reference { value: 3.0, source: "ns-2".into() });
        let fails = Some(other("plain NewReno", Verdict::Fail));
        let (known, unknown) = (Cause::Shown(other("a clock", Verdict::Pass)), Cause::Unknown);
        let differs = |cause| CheckRow {
            verdict: Verdict::Differs,
            note: "less".into(),
            cause: Some(cause),
            ..row("b")
        };
        let lines = written(vec![
            CheckRow { published: Some(2.0), reference, rival: fails, ..row("a") },
            differs(known),
            differs(unknown),
        ]);
        let header = ["at", "published", "reference", "measured", "demand", "runs", "its rival", "verdict"];
        assert_eq!(words_of(&lines[3]), header);
        assert_eq!(lines[4], "a (rival: plain NewReno)");
        let cells = ["rtt=20ms", "2 s", "3 s", "2.00 ± 0.50 s", "± 5 %", "5", "1 s, fails", "pass"];
        assert_eq!(words_of(&lines[5]), cells);
        assert_eq!(lines[6], "b (no rival named)");
        let said = |line: &str| assert!(lines.iter().any(|l| l == line), "{lines:#?}");
        said("a: reference: ns-2");
        said("b (differs): less; cause: a clock: 1.00 ± 0.50 s, passes");
        said("b (differs): less; cause unknown");
    }

    #[test]
    fn what_no_row_has_has_no_column() {
        let skipped = CheckRow { verdict: Verdict::Skipped, ..row("a") };
        let lines = written(vec![skipped]);
        assert_eq!(words_of(&lines[3]), ["at", "published", "measured", "demand", "runs", "verdict"]);
        assert_eq!(lines[4], "a", "nobody is held against a check that is not looked at");
    }
}
