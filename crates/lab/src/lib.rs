//! From runs to answers.
//!
//! An [`Engine`] turns a scenario into an [`Outcome`](truckee_scenario::Outcome). A [`sweep`] runs a grid of scenarios
//! under many seeds, keeps every finished run ([`store`]) and sums them up in a [`table`] with confidence intervals
//! ([`stats`]). A [`study`] is a sweep with published values, checks and a [`figure`].
//!
//! Not for: printing, progress bars, arguments (the command does these), and nothing here knows how a network or a
//! protocol works.

pub mod drive;
pub mod engine;
mod error;
pub mod figure;
pub mod grid;
pub mod metric;
pub mod output;
pub mod stats;
pub mod store;
pub mod study;
pub mod sweep;
pub mod table;
pub mod vary;

pub use engine::{Engine, Simulator};
pub use error::Error;
pub use grid::Grid;
pub use metric::Metric;
pub use sweep::{Plan, Progress, Runs, Sweep, sweep};

#[cfg(test)]
mod tests {
    //! What the tests of several modules stand on: outcomes and scenarios made by hand.

    use truckee_scenario::outcome::FlowOutcome;
    use truckee_scenario::{Outcome, Scenario};

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
            traffic: Vec::new(),
            jain: None,
            ports: Vec::new(),
            notes: Vec::new(),
            series: Vec::new(),
        }
    }

    /// A scenario that only a fake engine can run: its duration carries the parameter.
    pub fn scenario(name: &str, parameter: u64) -> Scenario {
        Scenario {
            name: name.into(),
            duration: parameter,
            warmup: 0,
            seed: 1,
            stop_when_done: true,
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            traffic: Vec::new(),
            changes: Vec::new(),
            kernel: Default::default(),
        }
    }
}
