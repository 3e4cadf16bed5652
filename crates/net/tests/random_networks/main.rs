//! What holds for every network: random graphs, queues, channels, changes, cross traffic, senders, receivers,
//! applications and stacks. `TRUCKEE_NETWORKS` says how many (1,000 by default), `TRUCKEE_FIRST` from which seed on. A
//! network that fails is printed as a scenario file: kept in `corpus`, it is run at every change from then on.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

mod cells;
mod dice;
mod generate;
mod invariants;
mod links;
mod mobile;
mod outcomes;
mod roaming;
mod wireless;

use generate::Case;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use truckee_net::{Options, run};
use truckee_scenario::{Document, explain};

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Runs the network of a seed; what is wrong with it, if anything.
fn check(seed: u64) -> Result<(), String> {
    hold(&generate::network(seed), &format!("network {seed}"))
}

/// The line at the head of a stored network all of whose files must complete.
const MUST_COMPLETE: &str = "# every file must complete";

/// A network that failed once.
fn stored(path: &Path) -> Case {
    let text = std::fs::read_to_string(path).unwrap();
    let scenario = Document::read(path).and_then(|document| document.scenario()).unwrap();
    Case { scenario, must_complete: text.lines().any(|line| line == MUST_COMPLETE) }
}

/// Runs a network; what is wrong with it, if anything, with its scenario file.
fn hold(case: &Case, name: &str) -> Result<(), String> {
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let outcome = run(&case.scenario, &Options { series: false, ..Default::default() })
            .map_err(|e| e.to_string())?;
        let recorded = run(&case.scenario, &Options { series: true, ..Default::default() })
            .map_err(|e| e.to_string())?;
        invariants::check(case, &outcome, &recorded)
    }));
    let complaint = match attempt {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(complaint)) => complaint,
        Err(panic) => match panic.downcast_ref::<String>() {
            Some(message) => format!("panic: {message}"),
            None => format!("panic: {:?}", panic.downcast_ref::<&str>()),
        },
    };
    let certain = if case.must_complete { MUST_COMPLETE } else { "" };
    Err(format!("{name}: {complaint}\n\n{certain}\n{}", explain(&case.scenario)))
}

#[test]
fn what_holds_for_every_network() {
    let first = from_environment("TRUCKEE_FIRST", 0);
    let networks = from_environment("TRUCKEE_NETWORKS", 1000);
    let failures: Vec<String> =
        (first..first + networks).into_par_iter().filter_map(|seed| check(seed).err()).collect();
    assert!(failures.is_empty(), "{} of {networks} networks fail; {}", failures.len(), failures[0]);
}

#[test]
fn what_holds_for_every_network_over_a_medium() {
    let first = from_environment("TRUCKEE_FIRST", 0);
    let networks = from_environment("TRUCKEE_NETWORKS", 300);
    // Where places are drawn it is known when the run begins whether there is a way.
    let has_way = |result: &Result<(), String>| {
        result.as_ref().err().is_none_or(|error| !error.contains("\": no route from \""))
    };
    let held = |seed: u64| {
        let case = wireless::network(seed)?;
        Some(hold(&case, &format!("wireless network {seed}"))).filter(has_way)
    };
    let results: Vec<Result<(), String>> =
        (first..first + networks).into_par_iter().filter_map(held).collect();
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} of {} networks fail; {}", failures.len(), results.len(), failures[0]);
    // Of those that were drawn most have ways for their flows.
    assert!(2 * results.len() as u64 > networks, "{} of {networks}", results.len());
}

#[test]
fn what_holds_for_every_network_of_cells() {
    let first = from_environment("TRUCKEE_FIRST", 0);
    let networks = from_environment("TRUCKEE_NETWORKS", 300);
    let held = |seed: u64| hold(&cells::network(seed), &format!("network of cells {seed}")).err();
    let failures: Vec<String> = (first..first + networks).into_par_iter().filter_map(held).collect();
    assert!(failures.is_empty(), "{} of {networks} networks fail; {}", failures.len(), failures[0]);
}

#[test]
fn what_holds_for_every_network_of_nodes_that_roam() {
    let first = from_environment("TRUCKEE_FIRST", 0);
    let networks = from_environment("TRUCKEE_NETWORKS", 300);
    let held = |seed: u64| Some(hold(&roaming::network(seed)?, &format!("roaming network {seed}")));
    let results: Vec<Result<(), String>> =
        (first..first + networks).into_par_iter().filter_map(held).collect();
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} of {} networks fail; {}", failures.len(), results.len(), failures[0]);
    // In most of those that were drawn somebody comes into reach of each.
    assert!(2 * results.len() as u64 > networks, "{} of {networks}", results.len());
}

/// Networks that cannot be kept as files, since their capacity is a trace that was drawn: their seeds, which mean them as
/// long as the generator draws as it does.
const SEEDS: &str = include_str!("corpus/seeds.txt");

#[test]
fn what_failed_once_holds_from_then_on() {
    for line in SEEDS.lines().filter(|line| !line.starts_with('#')) {
        check(line.parse().unwrap()).unwrap();
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/random_networks/corpus");
    let files = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        hold(&stored(&file), &file.display().to_string()).unwrap();
    }
}
