//! What estimators, predictors and detectors would have said over a connection: run, shown, drawn.

use super::ask::{Arguments, complain, find, follow, json};
use crate::error::Error;
use crate::format::Format;
use crate::human::{NONE, count, many, optional, percent};
use crate::layout::{self, numbers, words};
use crate::progress::note;
use std::io::{self, Write};
use std::path::Path;
use truckee_capture::replay::{Cast, Replay, Report};
use truckee_capture::{Error as CaptureError, Way, report};
use truckee_lab::disk;
use truckee_look::figure;

/// Reads the capture, once more where the connection has to be found first, and shows what was said.
pub fn replay(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let cast = cast(&arguments.replay.iter().map(String::as_str).collect::<Vec<_>>())?;
    let (number, way) = which(arguments)?;
    let mut replay = Replay::new(number, way, cast);
    let capture = follow(arguments, Some(&mut replay))?;
    let connection = find(&capture, number)?;
    let report = replay.report();
    match arguments.format {
        Format::Table => table(out, connection, &report)?,
        Format::Json => json(out, &report)?,
        Format::Csv => csv(out, &report)?,
    }
    if let Some(path) = &arguments.figure {
        draw(path, connection, way, &report)?;
    }
    complain(arguments, &capture)
}

/// The connection and the way, by the arguments or else the largest.
fn which(arguments: &Arguments) -> Result<(u64, Way), Error> {
    if let (Some(number), Some(way)) = (arguments.flow, arguments.way) {
        return Ok((number, way.into()));
    }
    if arguments.capture == Path::new("-") {
        let why = "--replay on stdin needs --flow and --way: what has been read is gone";
        return Err(Error::Usage(why.to_owned()));
    }
    let capture = follow(arguments, None)?;
    let connection = match arguments.flow {
        Some(number) => find(&capture, number)?,
        None => capture
            .connections
            .iter()
            .max_by_key(|c| c.bytes())
            .ok_or_else(|| Error::Usage("--replay: the capture has no TCP connection".to_owned()))?,
    };
    Ok((connection.number, arguments.way.map_or(connection.main_way(), Way::from)))
}

/// Those of these names.
pub fn cast(names: &[&str]) -> Result<Cast, Error> {
    Cast::named(names.iter().copied()).map_err(suggest)
}

/// An unknown name with the nearest known one.
fn suggest(error: CaptureError) -> Error {
    let CaptureError::Unknown { name, known } = &error else { return error.into() };
    let alike = |candidate: &&&str| (1000.0 * strsim::jaro_winkler(name, candidate)) as u32;
    match known.iter().max_by_key(alike).filter(|best| alike(best) > 700) {
        Some(best) => Error::Usage(format!("--replay: {error}; did you mean \"{best}\"?")),
        None => Error::Usage(format!("--replay: {error}; there are {}", known.join(", "))),
    }
}

fn draw(path: &Path, c: &report::Connection, way: Way, report: &Report) -> Result<(), Error> {
    let (from, to) = if way == Way::ToServer { (&c.client, &c.server) } else { (&c.server, &c.client) };
    let title = format!("{from} to {to}");
    let d = c.direction(way);
    let svg = figure::replay(&title, report, c.lasted_s, d.segment_size, d.throughput.as_ref())?;
    disk::write(path, svg.as_bytes())?;
    note(&format!("wrote {}", path.display()));
    Ok(())
}

fn table(out: &mut dyn Write, c: &report::Connection, report: &Report) -> io::Result<()> {
    let way = report.way.replace('-', " ");
    let rate = optional(report.throughput_bps, "bit/s");
    writeln!(out, "connection {}, {} to {}: data {way}, {rate}", c.number, c.client, c.server)?;
    estimators(out, report)?;
    predictors(out, report)?;
    if !report.detectors.is_empty() {
        let rows = report.detectors.iter().map(|d| {
            vec![d.name.clone(), percent(d.slow_start_share), count(d.turns.len().saturating_sub(1) as u64)]
        });
        writeln!(out)?;
        layout::write(out, &[words("detector"), numbers("slow start"), numbers("turns")], rows)?;
    }
    Ok(())
}

fn estimators(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    if report.estimators.is_empty() {
        return Ok(());
    }
    let columns = [words("estimator"), numbers("median"), numbers("last"), numbers("median / throughput")];
    let rows = report.estimators.iter().map(|e| {
        let beside = e.median_bps.zip(report.throughput_bps).filter(|(_, rate)| *rate > 0.0);
        vec![
            e.name.clone(),
            optional(e.median_bps, "bit/s"),
            optional(e.last_bps, "bit/s"),
            optional(beside.map(|(median, rate)| median / rate), ""),
        ]
    });
    writeln!(out)?;
    layout::write(out, &columns, rows)?;
    if report.application_limits {
        let share = |x: Option<f64>| x.map_or(NONE.to_owned(), percent);
        writeln!(
            out,
            "the application limits: nothing was in the air for {} of the time, {} of the segments are not full",
            share(report.idle_share),
            share(report.short_share)
        )?;
    }
    Ok(())
}

fn predictors(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    if report.predictors.is_empty() {
        return Ok(());
    }
    let columns = [
        words("predictor"),
        numbers("said congestion"),
        numbers("wireless"),
        numbers("right: congestion"),
        numbers("wireless"),
        numbers("all"),
    ];
    let share = |x: Option<f64>| x.map_or(NONE.to_owned(), percent);
    let rows = report.predictors.iter().map(|p| {
        vec![
            p.name.clone(),
            count(p.congestion),
            count(p.wireless),
            share(p.accuracy_congestion),
            share(p.accuracy_wireless),
            share(p.accuracy),
        ]
    });
    writeln!(out)?;
    layout::write(out, &columns, rows)?;
    let losses = many(report.losses.len(), "loss event");
    match report.dropped {
        (0, 0) => writeln!(out, "{losses}; the capture does not say what became of lost packets"),
        (queue, noise) => {
            writeln!(out, "{losses}; dropped: {} by queues, {} by noise", count(queue), count(noise))
        }
    }
}

/// Everything over time, one point a line: seconds, who, what, value.
fn csv(out: &mut dyn Write, report: &Report) -> Result<(), Error> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["t_s", "what", "name", "value"])?;
    let mut line = |t: f64, what: &str, name: &str, value: String| {
        csv.write_record([t.to_string().as_str(), what, name, value.as_str()])
    };
    for &(t, bytes) in &report.flight {
        line(t, "flight_bytes", "", bytes.to_string())?;
    }
    for estimator in &report.estimators {
        for &(t, bps) in &estimator.series {
            line(t, "estimate_bps", &estimator.name, bps.to_string())?;
        }
    }
    for loss in &report.losses {
        for (predictor, verdict) in report.predictors.iter().zip(&loss.verdicts) {
            line(loss.t_s, "verdict", &predictor.name, (*verdict).to_owned())?;
        }
    }
    for detector in &report.detectors {
        for &(t, slow_start) in &detector.turns {
            line(t, "slow_start", &detector.name, u8::from(slow_start).to_string())?;
        }
    }
    Ok(csv.flush()?)
}
