//! `truckee ack`: who shapes ACKs at present, what it did so far, and another policy for it.

use crate::error::Error;
use crate::human::{NONE, count, quantity};
use crate::layout::{self, numbers, words};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::io::Write;
use truckee_kernel::shaped::{self, Ask, Wanted};

/// List who shapes ACKs on this machine, show one, or change its policy
///
/// Whoever started `truckee exec` or `truckee shape`, and root, may ask it and change its policy while it runs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// One of them: the four hex digits that it said
    id: Option<String>,
    /// Its ACK policy from now on
    policy: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  truckee ack
  truckee ack 3fa2 --format json
  truckee ack 3fa2 division:8
  truckee ack 3fa2 every";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading
    Table,
    /// One array of objects
    Json,
}

/// Lists, shows or changes.
pub fn ack(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    if let (Some(id), Some(policy)) = (&arguments.id, &arguments.policy) {
        // A mistake is shown here, with its place.
        Wanted::read("POLICY", policy)?;
        let now = shaped::ask(id, Ask::Ack(policy))?;
        writeln!(out, "{now}")?;
        return Ok(());
    }
    let reports = match &arguments.id {
        Some(id) => vec![(id.clone(), Some(report(id)?))],
        None => shaped::running().into_iter().map(|id| (id.clone(), report(&id).ok())).collect(),
    };
    match arguments.format {
        Format::Json => {
            let known = |(id, report): (String, Option<Value>)| report.unwrap_or_else(|| json!({ "id": id }));
            let all: Vec<Value> = reports.into_iter().map(known).collect();
            serde_json::to_writer_pretty(&mut *out, &all)?;
            writeln!(out)?;
        }
        Format::Table if reports.is_empty() => writeln!(out, "nobody shapes ACKs at present")?,
        Format::Table => {
            let columns = [
                words("id"),
                words("policy"),
                numbers("for"),
                numbers("ACKs seen"),
                numbers("sent"),
                numbers("divided"),
                numbers("held"),
            ];
            layout::write(out, &columns, reports.into_iter().map(row))?;
        }
    }
    Ok(())
}

fn report(id: &str) -> Result<Value, Error> {
    Ok(serde_json::from_str(&shaped::ask(id, Ask::Show)?)?)
}

/// What cannot be asked is another user's.
fn row((id, report): (String, Option<Value>)) -> Vec<String> {
    let number =
        |key: &str| report.as_ref().and_then(|r| r["counts"][key].as_u64()).map_or(NONE.to_owned(), count);
    let policy = report.as_ref().and_then(|r| r["policy"].as_str()).unwrap_or("another user's").to_owned();
    let lasted = report.as_ref().and_then(|r| r["lasted_s"].as_f64());
    let lasted = lasted.map_or(NONE.to_owned(), |s| quantity(s, "s"));
    let counts = ["seen", "sent", "divided", "held"].map(number);
    [id, policy, lasted].into_iter().chain(counts).collect()
}
