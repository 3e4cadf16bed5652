//! What a study found.

use super::file::{Kind, Reference, Source};
use crate::validity::LiveRuns;
use crate::{EngineName, human};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As demanded, which its rival is not.
    Pass,
    /// Not as demanded, and nobody has said so; or a difference that was known has changed; or the check says nothing,
    /// since its rival passes as well.
    Fail,
    /// Not as demanded, known, and measured as pinned; or within a bound that was loosened with the result known.
    Differs,
    /// The interval holds both agreement and disagreement, or, of live runs, too many of them are invalid.
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
    /// The published value.
    pub published: Option<f64>,
    /// The value of another simulator, or the closed form's at this cell, and where it is from.
    pub reference: Option<Reference>,
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
    /// What its rival gets here, or where it does worst if it has other cells than the check. `None`: the check names none.
    pub rival: Option<Varied>,
    /// How it came out.
    pub verdict: Verdict,
    /// Why it differs. `None`: it is not known to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// What is seen where it differs, what went wrong, what else is to say.
    pub note: String,
}

impl CheckRow {
    /// Adds to the note.
    pub(super) fn remark(&mut self, remark: &str) {
        if !self.note.is_empty() && !remark.is_empty() {
            self.note.push_str("; ");
        }
        self.note.push_str(remark);
    }

    /// What it is held against: what is published or, where nothing is, what another simulator or a formula gives.
    pub fn target(&self) -> Option<f64> {
        self.published.or(self.reference.as_ref().map(|r| r.value))
    }
}

/// The same check under other circumstances, in the row's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Varied {
    /// What is different.
    pub name: String,
    /// Its cell, in words.
    pub cell: String,
    /// The value there: measured, or what a rival always gives.
    pub measured: Option<f64>,
    /// Its confidence interval.
    pub interval: Option<(f64, f64)>,
    /// Runs, or pairs of runs.
    pub n: usize,
    /// How the check came out there.
    pub verdict: Verdict,
}

impl Varied {
    /// How the check comes out there, in a word.
    pub fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Pass | Verdict::Differs => "passes",
            Verdict::Fail => "fails",
            Verdict::Undecided => "undecided",
            Verdict::Skipped => "not run",
        }
    }

    /// What is different, what is measured then, and how the check comes out: `plain NewReno: 1.00 ± 0.02, fails`.
    pub fn says(&self, unit: &str) -> String {
        let word = self.word();
        match self.verdict {
            Verdict::Skipped => format!("{}: {word}", self.name),
            _ => format!("{}: {}, {word}", self.name, human::estimate(self.measured, self.interval, unit)),
        }
    }
}

/// Why a row differs; in JSON `"unknown"`, or the variation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// Nobody knows.
    Unknown,
    /// What removes the difference, and what is measured with it.
    #[serde(untagged)]
    Shown(Varied),
}

impl Cause {
    /// In words.
    pub fn says(&self, unit: &str) -> String {
        match self {
            Self::Unknown => "cause unknown".to_owned(),
            Self::Shown(varied) => format!("cause: {}", varied.says(unit)),
        }
    }
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
    /// The sum.
    pub fn and(self, other: &Self) -> Self {
        Self {
            pass: self.pass + other.pass,
            fail: self.fail + other.fail,
            differs: self.differs + other.differs,
            skipped: self.skipped + other.skipped,
            undecided: self.undecided + other.undecided,
        }
    }

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
