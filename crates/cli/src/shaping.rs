//! What shaping did, as it is written. Not for: what is said while it runs.

use crate::error::Error;
use crate::human::{count, quantity};
use crate::layout::{self, numbers, words};
use serde_json::{Value, json};
use std::io::Write;
use truckee_kernel::shape::Counts;
use truckee_kernel::shaped::Report;

/// One line for what it did so far.
pub fn line(counts: &Counts) -> String {
    format!(
        "{} ACKs, {} sent; divided {}, held {}; {} connections",
        count(counts.seen),
        count(counts.sent),
        count(counts.divided),
        count(counts.held),
        count(counts.flows),
    )
}

/// For reading.
pub fn table(report: &Report, out: &mut dyn Write) -> Result<(), Error> {
    let counts = &report.counts;
    let whole = [
        ("ACKs of new data", counts.seen),
        ("sent", counts.sent),
        ("cut", counts.divided),
        ("held for a later one", counts.held),
        ("sent by the timer", counts.released),
        ("left alone: duplicates, window updates", counts.duplicates),
        ("left alone: SACK, ECN echo", counts.others),
        ("not held for want of room", counts.unheld),
        ("learnt from late, for want of room", counts.unheard),
    ];
    // Of what should not happen only what did.
    let usual = whole.len() - 2;
    let whole = whole.into_iter().enumerate().filter(|(k, (_, n))| *k < usual || *n > 0);
    let mut rows: Vec<(&str, String)> = whole.map(|(_, (what, n))| (what, count(n))).collect();
    rows.push(("acknowledged", quantity(counts.bytes as f64, "B")));
    rows.push(("connections", count(counts.flows)));
    let time = &counts.time_s;
    let modes = [
        ("time as it was", time.as_is),
        ("cutting", time.divided),
        ("holding a fixed number", time.delayed),
        ("holding as many as learnt", time.accumulated),
    ];
    rows.extend(modes.into_iter().filter(|(_, s)| *s > 0.0).map(|(what, s)| (what, quantity(s, "s"))));
    let late = &counts.lateness_s;
    if let (Some(median), Some(tail), Some(most)) = (late.p50, late.p99, late.max) {
        let text = [median, tail, most].map(|s| quantity(s, "s")).join(", ");
        rows.push(("timer late: median, p99, most", text));
    }
    let head = format!("ACK policy {}, {}", report.policy, quantity(report.lasted_s, "s"));
    let rows = rows.into_iter().map(|(what, value)| vec![what.to_owned(), value]);
    layout::write(out, &[words(&head), numbers("")], rows)?;
    if let Some(why) = &report.broken {
        writeln!(out, "shaping ended early: {why}")?;
    }
    Ok(())
}

/// As JSON; with the exit status of the program, if there was one.
pub fn object(report: &Report, status: Option<u8>, out: &mut dyn Write) -> Result<(), Error> {
    let mut object = json!({ "truckee": env!("CARGO_PKG_VERSION") });
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), serde_json::to_value(report)?) {
        object.extend(status.map(|status| ("status".to_owned(), status.into())));
        object.extend(fields);
    }
    serde_json::to_writer_pretty(&mut *out, &object)?;
    writeln!(out)?;
    Ok(())
}

/// A header and one line; what is within something has both names: `time_s.divided`.
pub fn csv(report: &Report, out: &mut dyn Write) -> Result<(), Error> {
    let mut fields = Vec::new();
    flatten("", &serde_json::to_value(report)?, &mut fields);
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(fields.iter().map(|(key, _)| key))?;
    csv.write_record(fields.iter().map(|(_, value)| value))?;
    Ok(csv.flush()?)
}

fn flatten(name: &str, value: &Value, fields: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(name.trim_start_matches("counts."), value, fields);
            }
        }
        Value::Null => fields.push((name.to_owned(), String::new())),
        Value::String(text) => fields.push((name.to_owned(), text.clone())),
        other => fields.push((name.to_owned(), other.to_string())),
    }
}
