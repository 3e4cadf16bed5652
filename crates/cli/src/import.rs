//! `truckee import`: what other folders know of a sweep, taken into one.

use crate::error::Error;
use crate::human::many;
use crate::progress::warn;
use std::io::Write;
use std::path::PathBuf;
use truckee_lab::store::{Imported, Store};

/// Take the finished runs of a sweep in other folders into one, to go on from there
///
/// The folders hold sweeps of the same question, run by other machines, say. A run is called by what it asks, so that each
/// counts once wherever it was made. Nothing is changed in the other folders; `truckee sweep --out DIR` then runs what is
/// still missing, and writes the table and the page of all.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folders that `truckee sweep --out` wrote
    #[arg(value_name = "FROM", required = true)]
    from: Vec<PathBuf>,
    /// The folder that takes them in; it holds a sweep of the same question, finished or not
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  truckee import results/elsewhere --out results/here
  truckee import /mnt/one/s /mnt/two/s --out results/s";

/// Takes them in, and says of each folder what was new.
pub fn import(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let (mut store, _) = Store::there(&arguments.out)?;
    for from in &arguments.from {
        let imported = store.import(from)?;
        imported.said.iter().for_each(|what| warn(what));
        writeln!(out, "{}: {}", from.display(), told(&imported))?;
    }
    Ok(store.close()?)
}

fn told(imported: &Imported) -> String {
    let Imported { new, there, unasked, .. } = *imported;
    let mut text = format!("{} taken over", many(new, "run"));
    if unasked > 0 {
        text.push_str(&format!(" ({unasked} of what the sweep does not ask for now)"));
    }
    match there {
        0 => {}
        1 => text.push_str(", 1 was there already"),
        n => text.push_str(&format!(", {n} were there already")),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_over_is_told_with_what_was_not() {
        let of = |new, there, unasked| told(&Imported { new, there, unasked, said: Vec::new() });
        assert_eq!(of(1, 0, 0), "1 run taken over");
        assert_eq!(of(60, 1, 0), "60 runs taken over, 1 was there already");
        assert_eq!(
            of(9, 12, 3),
            "9 runs taken over (3 of what the sweep does not ask for now), 12 were there already"
        );
    }
}
