//! `truckee compare --trace`: two engines' runs segment by segment, as their senders saw them.

use crate::human::{NONE, many, quantity};
use crate::layout::{self, words};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use truckee_engines::trace::{Comparison, Event, Trace};
use truckee_lab::validity::LiveRuns;
use truckee_lab::{Error, disk};
use truckee_scenario::{Outcome, Scenario, model};

/// The file that pages are made of.
const FILE: &str = "trace.json";

/// All of it.
#[derive(Debug, Serialize)]
pub struct Traced {
    /// The scenario's name.
    scenario: String,
    /// The engines' names: what is held against, and what is held against it.
    engines: Vec<String>,
    /// Of each seed.
    runs: Vec<Run>,
    /// What is to be known of the two.
    notes: Vec<String>,
    /// The live runs, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<LiveRuns>,
    /// Why nothing is judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_judged: Option<String>,
}

/// One seed's.
#[derive(Debug, Serialize)]
struct Run {
    seed: u64,
    /// Why a live run is no measurement; empty: it is one.
    invalid: Vec<String>,
    flows: Vec<Flow>,
}

/// One flow's.
#[derive(Debug, Serialize)]
struct Flow {
    #[serde(flatten)]
    comparison: Comparison,
    /// What passed on each side, where it is written to a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<Vec<Event>>,
}

impl Traced {
    /// Of the runs of two engines, the same seeds of each. `events`: whether to keep all that passed.
    pub fn new(scenario: &Scenario, sides: &[Vec<Outcome>], notes: Vec<String>, events: bool) -> Self {
        let [one, other] = sides else { return Self::of(scenario, sides, notes, Vec::new()) };
        let run = |(a, b): (&Outcome, &Outcome)| {
            let flow = |flow: &model::Flow| {
                let traces = [Trace::of(a, flow)?, Trace::of(b, flow)?];
                let comparison = Comparison::new(&traces[0], &traces[1]);
                let events = if events { traces.map(|trace| trace.events).to_vec() } else { Vec::new() };
                Some(Flow { comparison, events })
            };
            Run {
                seed: a.seed,
                invalid: [a, b].into_iter().flat_map(|o| o.lateness).flat_map(|l| l.faults()).collect(),
                flows: scenario.flows.iter().filter_map(flow).collect(),
            }
        };
        Self::of(scenario, sides, notes, one.iter().zip(other).map(run).collect())
    }

    fn of(scenario: &Scenario, sides: &[Vec<Outcome>], notes: Vec<String>, runs: Vec<Run>) -> Self {
        let live = sides.iter().filter(|side| side.iter().any(|outcome| outcome.lateness.is_some()));
        let live = live.map(|side| LiveRuns::of(side.iter().map(|outcome| outcome.lateness.as_ref())));
        let live = live.reduce(LiveRuns::and);
        Self {
            scenario: scenario.name.clone(),
            engines: sides.iter().filter_map(|side| Some(side.first()?.engine.clone())).collect(),
            runs,
            notes,
            not_judged: live.and_then(|live| live.too_late()),
            live,
        }
    }

    /// Why nothing is to be judged.
    pub fn not_judged(&self) -> Option<&str> {
        self.not_judged.as_deref()
    }

    /// How many flows of all runs there are, and how many of them agree.
    pub fn count(&self) -> (usize, usize) {
        let flows = || self.runs.iter().flat_map(|run| &run.flows);
        (flows().count(), flows().filter(|flow| flow.comparison.agrees()).count())
    }

    /// Writes what pages are made of into a directory.
    pub fn keep(&self, dir: &Path) -> Result<PathBuf, Error> {
        disk::folder(dir)?;
        let path = dir.join(FILE);
        let json = serde_json::to_vec(self)
            .map_err(|e| Error::Internal(format!("cannot encode the traces: {e}")))?;
        disk::write(&path, &json)?;
        Ok(path)
    }

    /// The same as JSON, without all that passed.
    pub fn json(&self, out: &mut dyn Write) -> serde_json::Result<()> {
        serde_json::to_writer_pretty(out, self)
    }

    /// The same for reading.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for run in &self.runs {
            for flow in &run.flows {
                comparison(out, run.seed, &flow.comparison)?;
                writeln!(out)?;
            }
            for fault in &run.invalid {
                writeln!(out, "seed {}: invalid: {fault}", run.seed)?;
            }
        }
        for note in &self.notes {
            writeln!(out, "note: {note}")?;
        }
        if let Some(live) = &self.live {
            writeln!(out, "{live}")?;
        }
        Ok(())
    }
}

fn comparison(out: &mut dyn Write, seed: u64, comparison: &Comparison) -> io::Result<()> {
    let Comparison { flow, engines: [one, other], sent, prefix, .. } = comparison;
    let segments = many(sent[0], "segment");
    let apart = quantity(comparison.furthest.seconds(), "s");
    let allowed = quantity(comparison.allowed.seconds(), "s");
    match (comparison.same, comparison.in_time) {
        (true, true) => writeln!(out, "{flow}, seed {seed}: {one} and {other} send the same {segments}")?,
        (true, false) => {
            writeln!(out, "{flow}, seed {seed}: {one} and {other} send the same {segments}, at other times")?;
        }
        (false, _) => writeln!(
            out,
            "{flow}, seed {seed}: the first {prefix} of {segments} of {one} and {} of {other} are the same",
            sent[1]
        )?,
    }
    writeln!(out, "times of these are {apart} apart at the most, allowed {allowed} at their end")?;
    let Some(first) = &comparison.first else { return Ok(()) };
    let of =
        |side: usize| first.each[side].as_ref().map_or_else(|| "nothing more".to_owned(), Event::to_string);
    let what = if first.other { "another segment" } else { "another time" };
    writeln!(out, "they part at segment {} sent, {what}: {one} {}; {other} {}", first.segment, of(0), of(1))?;
    writeln!(out, "before it: {}", first.cause)?;
    writeln!(out)?;
    let said = |event: &Option<Event>| event.as_ref().map_or_else(|| NONE.to_owned(), Event::to_string);
    let rows = first.around.iter().map(|row| {
        let mark = if row.parts { ">" } else { "" };
        vec![mark.to_owned(), said(&row.each[0]), said(&row.each[1])]
    });
    layout::write(out, &[words(""), words(one), words(other)], rows)
}
