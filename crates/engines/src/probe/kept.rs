//! What a campaign keeps of a server, and its tables are made of.

use serde::{Deserialize, Serialize};
use truckee_kernel::probe::{Conclusion, Fault, Observation, Report};
use truckee_lab::Error;

/// What is kept of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The URL as given.
    pub url: String,
    /// The whole report, as the command's JSON has it.
    pub report: serde_json::Value,
    /// Its tests.
    pub tests: Vec<Observation>,
    /// Whether there is a verdict, a finding of which TCP it is, or what tests of one's own have shown.
    pub judged: bool,
}

impl Kept {
    /// That of a report.
    pub fn of(report: &Report) -> Result<Self, Error> {
        Ok(Self {
            url: report.url.clone(),
            report: serde_json::to_value(report).map_err(|e| Error::Internal(e.to_string()))?,
            tests: report.tests.clone(),
            judged: matches!(report.conclusion, Conclusion::Verdict(_))
                || (report.conclusion == Conclusion::NotJudged(Fault::Own) && !report.tests.is_empty())
                || report
                    .identity
                    .as_ref()
                    .is_some_and(|i| i.recovery.is.is_some() || i.control.is.is_some()),
        })
    }
}
