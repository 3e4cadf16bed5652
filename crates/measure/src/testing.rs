//! Made-up outcomes, for tests.

use truckee_scenario::Outcome;
use truckee_scenario::outcome::FlowOutcome;

/// An outcome with one flow for each goodput.
pub fn outcome(seed: u64, goodputs: &[f64]) -> Outcome {
    let flow = |(k, &goodput_bps): (usize, &f64)| FlowOutcome {
        name: format!("flow-{}", k + 1),
        sender: "newreno".into(),
        receiver: "delayed".into(),
        goodput_bps,
        completion_s: Some(1e6 / goodput_bps),
        ..FlowOutcome::default()
    };
    Outcome {
        truckee: env!("CARGO_PKG_VERSION").into(),
        engine: "fake".into(),
        scenario: "test".into(),
        seed,
        digest: format!("{seed:016x}"),
        simulated_s: 1.0,
        wall_s: 0.0,
        events: 1,
        flows: goodputs.iter().enumerate().map(flow).collect(),
        links: Vec::new(),
        media: Vec::new(),
        traffic: Vec::new(),
        jain: None,
        ports: Vec::new(),
        notes: Vec::new(),
        hosts: Vec::new(),
        lateness: None,
        timers_age: None,
        series: Vec::new(),
        queues: Vec::new(),
        air: Vec::new(),
    }
}
