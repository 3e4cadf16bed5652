//! What a study found.

use super::file::{Kind, Source};
use crate::EngineName;
use crate::validity::LiveRuns;
use serde::Serialize;
use std::path::PathBuf;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As published.
    Pass,
    /// Not as published, and nobody has said why; or a difference that was explained has changed.
    Fail,
    /// Not as published, explained, and measured as pinned.
    Differs,
    /// Their interval holds both agreement and disagreement, or, of live runs, too many of them are invalid.
    Undecided,
    /// Not looked at in the quick form.
    Skipped,
}

/// One check at one cell, curve or comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckRow {
    /// The check's name.
    pub check: String,
    /// Its kind.
    pub kind: Kind,
    /// The cell, in words.
    pub cell: String,
    /// What is measured.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The published value, or the closed form's.
    pub published: Option<f64>,
    /// The measured value.
    pub measured: Option<f64>,
    /// Its confidence interval.
    pub interval: Option<(f64, f64)>,
    /// Runs, or pairs of runs.
    pub n: usize,
    /// Those without a value.
    pub incomplete: usize,
    /// Of live runs, those in which the machine was too late, and which could not be replaced; `None` of simulated ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<usize>,
    /// What is demanded, in words.
    pub demand: String,
    /// How it came out.
    pub verdict: Verdict,
    /// Why it differs, what went wrong, what else is to say.
    pub note: String,
}

/// How many checks came out how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// [`Verdict::Pass`].
    pub pass: usize,
    /// [`Verdict::Fail`].
    pub fail: usize,
    /// [`Verdict::Differs`].
    pub differs: usize,
    /// [`Verdict::Skipped`].
    pub skipped: usize,
    /// [`Verdict::Undecided`].
    pub undecided: usize,
}

impl Counts {
    /// Of these rows.
    pub fn of(rows: &[CheckRow]) -> Self {
        let count = |verdict| rows.iter().filter(|r| r.verdict == verdict).count();
        Self {
            pass: count(Verdict::Pass),
            fail: count(Verdict::Fail),
            differs: count(Verdict::Differs),
            skipped: count(Verdict::Skipped),
            undecided: count(Verdict::Undecided),
        }
    }
}

/// What a study found. Its JSON is stable: keys are added, never renamed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyReport {
    /// The study.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where the claims were published.
    pub source: Source,
    /// What was chosen.
    pub setup: String,
    /// What was chosen by the published numbers themselves; `None`: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibrated: Option<String>,
    /// The engines it stands on: `sim`, `kernel`.
    pub engines: Vec<EngineName>,
    /// Whether this was the quick form.
    pub quick: bool,
    /// Whether all runs were done: false after an interruption or where the study was skipped, and then nothing is
    /// judged.
    pub complete: bool,
    /// Why it was not run: this machine lacks an engine. `None` where it was.
    pub skipped: Option<String>,
    /// The checks, in the file's order.
    pub rows: Vec<CheckRow>,
    /// How many came out how.
    pub counts: Counts,
    /// The figures written.
    pub figures: Vec<PathBuf>,
    /// Simulated or live runs that it stands on.
    pub runs: usize,
    /// Time it took, s.
    pub wall_s: f64,
    /// The live runs among them, and how many of those are invalid; `None` of a study that has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveRuns>,
    /// Why nothing is judged, though all runs were done: no check passes then, and none fails. `None`: it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
}

impl StudyReport {
    /// Whether it is complete and judged, and no check failed.
    pub fn holds(&self) -> bool {
        self.complete && self.not_judged.is_none() && self.counts.fail == 0
    }

    /// Judges it: counts what came out how, unless the machine was too late in too many live runs. Then no check has
    /// passed, and none has failed.
    pub(super) fn judge(&mut self) {
        self.not_judged = self.live.and_then(|live| live.too_late());
        if let Some(why) = &self.not_judged {
            for row in self.rows.iter_mut().filter(|row| row.verdict != Verdict::Skipped) {
                (row.verdict, row.note) = (Verdict::Undecided, format!("not judged: {why}"));
            }
        }
        self.counts = Counts::of(&self.rows);
    }
}
