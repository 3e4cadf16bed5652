//! What holds for every network: random graphs, queues, channels, changes, cross traffic, senders, receivers,
//! applications and stacks. `TRUCKEE_NETWORKS` says how many (10,000 by default), `TRUCKEE_FIRST` from which seed on. A
//! network that fails is printed as a scenario file, so that it can be run again.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

mod generate;
mod invariants;

use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use truckee_net::{Options, run};
use truckee_scenario::explain;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Runs the network of a seed; what is wrong with it, if anything.
fn check(seed: u64) -> Result<(), String> {
    let case = generate::network(seed);
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let outcome = run(&case.scenario, &Options { series: false, ..Default::default() })
            .map_err(|e| e.to_string())?;
        let recorded = run(&case.scenario, &Options { series: true, ..Default::default() })
            .map_err(|e| e.to_string())?;
        invariants::check(&case, &outcome, &recorded)
    }));
    let complaint = match attempt {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(complaint)) => complaint,
        Err(panic) => match panic.downcast_ref::<String>() {
            Some(message) => format!("panic: {message}"),
            None => format!("panic: {:?}", panic.downcast_ref::<&str>()),
        },
    };
    let certain = if case.must_complete { " (every file must complete)" } else { "" };
    Err(format!("network {seed}{certain}: {complaint}\n\n{}", explain(&case.scenario)))
}

#[test]
fn what_holds_for_every_network() {
    let first = from_environment("TRUCKEE_FIRST", 0);
    let networks = from_environment("TRUCKEE_NETWORKS", 10_000);
    let failures: Vec<String> =
        (first..first + networks).into_par_iter().filter_map(|seed| check(seed).err()).collect();
    assert!(failures.is_empty(), "{} of {networks} networks fail; {}", failures.len(), failures[0]);
}
