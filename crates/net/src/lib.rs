//! A deterministic packet-level network in simulated time: the engine `sim`.
//!
//! [`run`] takes a scenario and returns its outcome; same scenario and seed, same digest, on any machine. Links, queues,
//! routes, cross traffic and applications are here; what endpoints decide is in `truckee-tcp`, what noise does to a
//! packet in `truckee-channel`. [`Stepped`] is a run that somebody else steers. Not for: reading files, sweeping, printing.

mod ack_filter;
mod agenda;
mod air;
mod app;
mod births;
mod cells;
mod connection;
mod digest;
mod error;
mod lanes;
mod link;
mod network;
mod options;
mod outcome;
mod packet;
mod quick_start;
mod record;
mod ring;
mod roaming;
mod routers;
mod stepped;
mod transit;

pub use error::Error;
pub use options::Options;
pub use stepped::{Known, Standing, Stepped};

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use truckee_scenario::model::App;
use truckee_scenario::{Outcome, Scenario};
use truckee_tcp::Registry;
use truckee_tcp::registry::Fault;

/// Runs a scenario to its end.
pub fn run(scenario: &Scenario, options: &Options) -> Result<Outcome, Error> {
    run_among(scenario, options, &Registry::new())
}

/// Runs a scenario whose algorithms are built in or in the registry.
pub fn run_among(scenario: &Scenario, options: &Options, registry: &Registry) -> Result<Outcome, Error> {
    // A browser's WebAssembly has no clock: who runs it there measures it from outside.
    let started = (!cfg!(target_family = "wasm")).then(std::time::Instant::now);
    refuse_live(scenario)?;
    let scenario = &*scenario.drawn();
    let foreign = |Fault { member, what }, at| Error::Foreign { member, what, at };
    let built = faultless(|| network::Network::new(scenario, options, registry));
    let mut network = built.map_err(|fault| foreign(fault, 0.0))??;
    faultless(|| network.run()).map_err(|fault| foreign(fault, network.now.seconds()))??;
    let mut outcome = outcome::outcome(network, scenario);
    outcome.wall_s = started.map_or(0.0, |started| started.elapsed().as_secs_f64());
    Ok(outcome)
}

/// Does something in which foreign algorithms have a part. What one of them does wrong unwinds to here; any other panic is a
/// fault of ours and goes on.
fn faultless<T>(f: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(f))
        .map_err(|panic| *panic.downcast::<Fault>().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// Refuses what only real stacks have.
fn refuse_live(scenario: &Scenario) -> Result<(), Error> {
    for flow in &scenario.flows {
        let what = match (&flow.sender.native, &flow.app) {
            (Some(name), _) => format!("the congestion control \"{name}\" is the running kernel's own"),
            (None, App::WebPage { .. }) => "a web page takes a real server and a real client".to_owned(),
            _ => continue,
        };
        return Err(Error::OnlyLive { flow: flow.name.clone(), what });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_real_stacks_have_is_refused_by_name() {
        let link = "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n";
        for (key, named) in [
            ("sender = \"kernel:htcp\"", "\"htcp\""),
            ("app = { kind = \"web-page\", size = \"1kB\" }", "web page"),
        ] {
            let text = format!("{link}{key}\n");
            let scenario = truckee_scenario::Document::parse("t.toml", &text).unwrap().scenario().unwrap();
            let error = run(&scenario, &Options::default()).unwrap_err().to_string();
            assert!(error.contains(named) && error.contains("--engine kernel"), "{error}");
        }
    }
}
