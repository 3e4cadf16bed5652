//! Capacities as files have them: the trace of the examples; and recorded ones of real cellular links, which are asked for by
//! name, where a machine has them: `cargo test -p truckee-channel -- --ignored`, with `TRUCKEE_DATA` naming their folder, or
//! `../shared/data` from the project's root.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use truckee_channel::{Capacity, CapacityTrace, Span, Time};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn example() -> CapacityTrace {
    CapacityTrace::read(root().join("examples/cellular.trace")).expect("the example's trace")
}

fn recorded(name: &str) -> CapacityTrace {
    let data = std::env::var_os("TRUCKEE_DATA").map_or_else(|| root().join("../shared/data"), PathBuf::from);
    CapacityTrace::read(data.join("traces").join(name)).expect("a recorded trace (set TRUCKEE_DATA)")
}

/// Every repetition of a trace begins at the last stamp of the one before, and a busy link takes each opportunity.
fn every_opportunity_is_taken(trace: CapacityTrace) {
    let trace = Arc::new(trace);
    let mut link = Capacity::new(trace.clone());
    for repetition in 0..3 {
        for &stamp in &trace.opportunities_ms {
            let expected = repetition * trace.duration() + Span::ms(u64::from(stamp));
            assert_eq!(link.depart(Time::ZERO, 1500), Time::at(expected));
        }
    }
}

#[test]
fn the_examples_trace_has_its_rate() {
    let trace = example();
    // From the number of lines and the last time stamp.
    let text = std::fs::read_to_string(root().join("examples/cellular.trace")).expect("readable");
    let stamps: Vec<f64> = text.lines().map(|line| line.parse().expect("a number")).collect();
    let last = stamps[stamps.len() - 1];
    let rate = stamps.len() as f64 * 1500.0 * 8.0 / (last / 1e3);
    assert!((trace.mean_rate() / rate - 1.0).abs() < 1e-9, "{} and {rate} bit/s", trace.mean_rate());
    assert_eq!(trace.duration(), Span::ms(last as u64));
}

#[test]
fn a_busy_link_carries_every_opportunity_in_each_repetition() {
    every_opportunity_is_taken(example());
}

#[test]
#[ignore = "wants recorded traces"]
fn recorded_links_have_the_rates_of_their_technology() {
    // Mbit/s, from the number of lines and the last time stamp of each file.
    for (name, megabits) in [
        ("ATT-LTE-driving.down", 5.17),
        ("ATT-LTE-driving.up", 0.83),
        ("Verizon-EVDO-driving.down", 0.52),
        ("Verizon-EVDO-driving.up", 0.84),
    ] {
        let trace = recorded(name);
        let rate = trace.mean_rate() / 1e6;
        assert!((rate - megabits).abs() < 0.01, "{name}: {rate} Mbit/s");
        assert!(trace.duration() > Span::s(600), "{name}: {:?} ns", trace.duration());
    }
}

#[test]
#[ignore = "wants recorded traces"]
fn a_busy_recorded_link_carries_every_opportunity_in_each_repetition() {
    let trace = recorded("ATT-LTE-driving.up");
    assert_eq!(trace.opportunities_ms.len(), 70_336);
    every_opportunity_is_taken(trace);
}
