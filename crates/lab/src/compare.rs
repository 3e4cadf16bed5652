//! Two engines' answers to the same question, side by side: the simulator's and the real stack's, say.
//!
//! The first engine is what the others are held against. Runs are paired by seed: the same seed draws the same noise on
//! both, as far as packets meet it in the same order. Quantities are compared by the ratio of their means, shares and
//! accuracies by their difference; both with intervals ([`crate::stats`]) where there are several seeds.
//!
//! Not for: running anything (see [`run`](mod@run)), or how it looks in a terminal.

mod held;
mod measure;
pub mod run;
mod tolerance;

pub use held::{Held, Verdict};
pub use measure::{MeasureInfo, list};
pub use run::{Compared, Runs, compare, run};
pub use tolerance::Tolerance;

use crate::Error;
use crate::stats::{self, CONFIDENCE, Estimate};
use crate::validity::LiveRuns;
use measure::{FLOW, LINK, Measure};
use serde::Serialize;
use truckee_scenario::Outcome;

/// Side by side. Its JSON is stable: keys are added, never renamed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of the program.
    pub truckee: String,
    /// The scenario's name.
    pub scenario: String,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// The seeds, one run of each engine a seed.
    pub seeds: Vec<u64>,
    /// The engines; the first is what the others are held against.
    pub engines: Vec<Side>,
    /// One entry a flow, in the scenario's order.
    pub flows: Vec<Subject>,
    /// One entry a direction of a link.
    pub links: Vec<Subject>,
    /// The tolerances asked for, flow by flow; empty without any.
    pub tolerances: Vec<Held>,
    /// Whether all of them hold.
    pub holds: bool,
    /// How all of them came out; without any there is nothing that does not hold.
    pub verdict: Verdict,
    /// Where a sender's name does not mean the same on all engines, and what was done about it.
    pub notes: Vec<String>,
    /// The live runs, and how many of them are invalid; `None` where no engine is live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveRuns>,
    /// Why nothing is judged by these runs; `None`: it may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
}

/// One engine's runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// The engine's name.
    pub name: String,
    /// A digest a run; empty ones for a live engine.
    pub digests: Vec<String>,
    /// The seeds of runs in which the machine was too late, and which could not be replaced. They are among the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invalid_seeds: Vec<u64>,
    /// Time that passed in the runs, s.
    pub simulated_s: f64,
    /// Time they took, s.
    pub wall_s: f64,
}

/// A flow or a link's direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// A flow's sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// A flow's ACK policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver: Option<String>,
    /// What was measured.
    pub metrics: Vec<Row>,
}

/// One metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its name, that of [`crate::metric`] where that has it.
    pub metric: &'static str,
    /// Its unit; empty for pure numbers.
    pub unit: &'static str,
    /// Whether it is a share: compared by difference.
    pub share: bool,
    /// Its mean on each engine, in the order of [`Comparison::engines`].
    pub values: Vec<Estimate>,
    /// Each engine but the first against the first.
    pub against: Vec<Against>,
}

/// An engine against the first one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Against {
    /// The engine.
    pub engine: String,
    /// Seeds under which both have a value.
    pub n: usize,
    /// Seeds under which only one has.
    pub incomplete: usize,
    /// Its mean over the first one's; `None` for shares, without common values, or over 0.
    pub ratio: Option<f64>,
    /// Its mean less the first one's, in the metric's unit; `None` without common values.
    pub difference: Option<f64>,
    /// The interval of the ratio, or of a share's difference; `None` below two pairs.
    pub interval: Option<(f64, f64)>,
    /// The interval of the difference, of whatever it is; `None` below two pairs.
    pub difference_interval: Option<(f64, f64)>,
}

impl Comparison {
    /// Of these runs: for each engine, one outcome a seed, the same seeds in the same order.
    ///
    /// # Errors
    /// There is only one engine; the seeds are not the same; or an engine's outcome lacks a flow.
    pub fn new(runs: &[Vec<Outcome>]) -> Result<Self, Error> {
        let fail = |reason: String| Err(Error::Compare { reason });
        let Some(((first, own), others)) = runs.split_first().and_then(|(o, r)| Some(((o.first()?, o), r)))
        else {
            return fail("there are no runs".to_owned());
        };
        if others.is_empty() {
            return fail("there is only one engine".to_owned());
        }
        let seeds = |side: &[Outcome]| side.iter().map(|o| o.seed).collect::<Vec<_>>();
        for side in others {
            if seeds(side) != seeds(own) {
                return fail(format!("the engines ran other seeds: {:?} and {:?}", seeds(own), seeds(side)));
            }
        }
        for outcome in runs.iter().flatten() {
            if let Some(flow) = first.flows.iter().find(|f| !outcome.flows.iter().any(|o| o.name == f.name)) {
                return fail(format!("{} tells nothing of the flow \"{}\"", outcome.engine, flow.name));
            }
        }
        let flow = |flow: &truckee_scenario::outcome::FlowOutcome| Subject {
            name: flow.name.clone(),
            sender: Some(flow.sender.clone()),
            receiver: Some(flow.receiver.clone()),
            metrics: rows(runs, FLOW, |o| o.flows.iter().find(|f| f.name == flow.name)),
        };
        let link = |link: &truckee_scenario::outcome::LinkOutcome| Subject {
            name: link.name.clone(),
            sender: None,
            receiver: None,
            metrics: rows(runs, LINK, |o| o.links.iter().find(|l| l.name == link.name)),
        };
        let live = runs.iter().filter(|side| is_live(side)).flatten();
        let live = LiveRuns::of(live.map(|o| o.lateness.as_ref()));
        Ok(Self {
            truckee: first.truckee.clone(),
            scenario: first.scenario.clone(),
            confidence: CONFIDENCE,
            seeds: seeds(own),
            engines: runs.iter().map(|side| Side::new(side)).collect(),
            flows: first.flows.iter().map(flow).collect(),
            links: first.links.iter().map(link).collect(),
            tolerances: Vec::new(),
            holds: true,
            verdict: Verdict::Holds,
            notes: Vec::new(),
            live: (live.runs > 0).then_some(live),
            not_judged: live.too_late(),
        })
    }
}

/// Whether these are runs of a live engine, which has no digests.
fn is_live(runs: &[Outcome]) -> bool {
    runs.iter().any(|o| o.digest.is_empty())
}

fn is_invalid(outcome: &Outcome) -> bool {
    outcome.lateness.is_some_and(|lateness| lateness.is_invalid())
}

impl Side {
    fn new(runs: &[Outcome]) -> Self {
        Self {
            name: runs.first().map(|o| o.engine.clone()).unwrap_or_default(),
            digests: runs.iter().map(|o| o.digest.clone()).collect(),
            invalid_seeds: runs.iter().filter(|o| is_invalid(o)).map(|o| o.seed).collect(),
            simulated_s: runs.iter().map(|o| o.simulated_s).sum(),
            wall_s: runs.iter().map(|o| o.wall_s).sum(),
        }
    }
}

/// Every measure of one subject; `find` gives it in an outcome.
fn rows<T>(
    runs: &[Vec<Outcome>],
    measures: &[Measure<T>],
    find: impl Fn(&Outcome) -> Option<&T>,
) -> Vec<Row> {
    let row = |measure: &Measure<T>| {
        let value = |o: &Outcome| find(o).and_then(measure.get).filter(|x| x.is_finite());
        let sides: Vec<Vec<Option<f64>>> = runs.iter().map(|side| side.iter().map(value).collect()).collect();
        let engine = |side: usize| runs[side].first().map(|o| o.engine.clone()).unwrap_or_default();
        Row {
            metric: measure.name,
            unit: measure.unit,
            share: measure.share,
            values: sides.iter().map(|side| Estimate::of(side.iter().copied(), CONFIDENCE)).collect(),
            against: (1..sides.len())
                .map(|k| Against::new(engine(k), &sides[k], &sides[0], measure.share))
                .collect(),
        }
    };
    measures.iter().map(row).collect()
}

impl Against {
    fn new(engine: String, own: &[Option<f64>], first: &[Option<f64>], share: bool) -> Self {
        let pairs: Vec<_> = own.iter().copied().zip(first.iter().copied()).collect();
        let difference = stats::paired_difference(&pairs, CONFIDENCE);
        let (ratio, interval) = if share {
            (None, difference.interval())
        } else {
            let ratio = stats::ratio_of_means(&pairs, CONFIDENCE);
            (ratio.ratio, ratio.interval)
        };
        let incomplete = pairs.iter().filter(|(a, b)| a.is_some() != b.is_some()).count();
        Self {
            engine,
            n: difference.n,
            incomplete,
            ratio,
            difference: difference.mean,
            interval,
            difference_interval: difference.interval(),
        }
    }
}

#[cfg(test)]
mod tests;
