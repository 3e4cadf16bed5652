//! How tolerances came out.
//!
//! Not for: how that is found out; see [`Tolerance`](super::Tolerance).

use serde::Serialize;

/// How a tolerance came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval is within the bound.
    Holds,
    /// The interval is neither within the bound nor beyond it.
    Undecided,
    /// The whole interval is beyond the bound.
    Broken,
    /// The machine was too late in too many runs for anything to be judged by them.
    NotJudged,
}

/// How a tolerance came out for one flow or link and one engine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Held {
    /// The tolerance as written.
    pub tolerance: String,
    /// The metric's full name.
    pub metric: &'static str,
    /// The flow or link.
    pub subject: String,
    /// The engine.
    pub engine: String,
    /// What is allowed, as a share or in the metric's unit.
    pub allowed: f64,
    /// How far it is off, in the same; `None` where there is no number to it.
    pub off: Option<f64>,
    /// The interval of the ratio less 1, or of the difference: what is judged; `None`: there is none.
    pub interval: Option<(f64, f64)>,
    /// Whether it holds.
    pub holds: bool,
    /// How it came out.
    pub verdict: Verdict,
    /// Why it does not hold, where that is not the distance; else empty.
    pub note: String,
}

impl Held {
    /// It comes out so, whatever the numbers say.
    pub(super) fn end(&mut self, verdict: Verdict, why: &str) {
        (self.verdict, self.holds, self.note) = (verdict, verdict == Verdict::Holds, why.to_owned());
    }
}
