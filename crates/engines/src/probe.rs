//! What becomes of probed servers: an outcome that studies can check ([`outcome`]), and campaigns over many servers that
//! keep what is finished, go on where they stopped, and end in tables and histograms ([`Campaign`]).
//!
//! Not for: probing (see [`truckee_kernel::probe`]).

mod campaign;
mod kept;
mod tables;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use campaign::{Campaign, Settings};
pub use kept::Kept;

use truckee_kernel::probe::{Conclusion, Report, Verdict};
use truckee_scenario::outcome::{FlowOutcome, ProbeOutcome};
use truckee_scenario::{Outcome, Scenario};

/// A probe of a scenario's sender as the outcome of a run; an error where it could not be judged.
pub fn outcome(scenario: &Scenario, report: &Report, wall_s: f64) -> Result<Outcome, String> {
    let flow = scenario.flows.first().ok_or("there is no flow to probe")?;
    let probe = match &report.conclusion {
        Conclusion::Verdict(verdict) => Some(found(verdict)),
        // A machine that was late says nothing of the server: the run is there without a value, to be replaced.
        Conclusion::NotJudged(_) if report.lateness.is_some_and(|l| l.is_invalid()) => None,
        Conclusion::NotJudged(fault) => return Err(format!("not judged: {fault}")),
    };
    let flow = FlowOutcome {
        name: flow.name.clone(),
        sender: flow.sender.label.clone(),
        receiver: "probe".to_owned(),
        probe: probe.map(Box::new),
        ..FlowOutcome::default()
    };
    Ok(Outcome {
        truckee: env!("CARGO_PKG_VERSION").to_owned(),
        engine: "probe".to_owned(),
        scenario: scenario.name.clone(),
        seed: scenario.seed,
        digest: String::new(),
        simulated_s: wall_s,
        wall_s,
        events: 0,
        flows: vec![flow],
        links: Vec::new(),
        media: Vec::new(),
        traffic: Vec::new(),
        jain: None,
        ports: Vec::new(),
        notes: Vec::new(),
        hosts: Vec::new(),
        lateness: report.lateness,
        timers_age: None,
        queues: Vec::new(),
        air: Vec::new(),
        series: Vec::new(),
    })
}

/// A verdict as a part of a flow's outcome.
fn found(verdict: &Verdict) -> ProbeOutcome {
    ProbeOutcome {
        reaction: verdict.reaction.name().to_owned(),
        agreement: f64::from(verdict.agreeing) / f64::from(verdict.judged.max(1)),
        initial_window: verdict.initial_window,
        mss: verdict.mss,
        limit: verdict.limit,
        cap: verdict.cap,
        gains: verdict.gains.clone(),
        first_retransmission_s: verdict.retransmission.first_s,
    }
}

#[cfg(test)]
mod tests;
