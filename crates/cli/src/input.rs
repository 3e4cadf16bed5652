//! The scenario a command works on: a file or stdin, with its overrides.

use crate::error::Error;
use std::io::Read;
use std::path::Path;
use truckee_scenario::{Document, MAX_FILE_BYTES};

/// Which scenario, and what to change in it.
#[derive(Debug, Clone, clap::Args)]
pub struct Input {
    /// The scenario file; - for stdin
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Seed of all randomness, in place of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Override a value: flow.sender=sack, link.0.rate=2Mbit/s, channel.per_bad=0.5 (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

impl Input {
    /// Reads the scenario and applies the overrides, in the order given.
    pub fn document(&self) -> Result<Document, Error> {
        let mut document = if self.scenario == "-" {
            let mut text = String::new();
            // One byte more than allowed, so that the reader refuses what is too long.
            let read = std::io::stdin().lock().take(MAX_FILE_BYTES + 1).read_to_string(&mut text);
            read.map_err(|e| Error::Usage(format!("cannot read the scenario from stdin: {e}")))?;
            Document::parse("stdin", &text)?
        } else {
            Document::read(Path::new(&self.scenario))?
        };
        overridden(&mut document, &self.set)?;
        if let Some(seed) = self.seed {
            document.set("seed", &seed.to_string())?;
        }
        Ok(document)
    }
}

/// Applies overrides as they are given, `PATH=VALUE`, in order.
pub fn overridden(document: &mut Document, sets: &[String]) -> Result<(), Error> {
    for set in sets {
        let Some((path, value)) = set.split_once('=') else {
            return Err(Error::Usage(format!(
                "--set {set}: expected PATH=VALUE, for example flow.sender=newreno"
            )));
        };
        document.set(path.trim(), value.trim())?;
    }
    Ok(())
}
