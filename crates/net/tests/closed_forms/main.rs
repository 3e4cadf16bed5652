//! Runs against what can be computed without running: transfer times by hand, queues by Pollaczek and Khinchine,
//! throughput by the laws of the field, channels by their stationary distributions. Where a law is an approximation, the
//! region in which it is one is stated beside it.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

mod channels;
mod queueing;
mod quick_start;
mod throughput;
mod transfers;

use truckee_net::{Options, run};
use truckee_scenario::{Document, Outcome, Scenario};

/// The scenario of a text.
fn scenario(text: &str) -> Scenario {
    let document = Document::parse("closed-form.toml", text).unwrap();
    document.scenario().unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// What the scenario of a text does.
fn outcome(text: &str) -> Outcome {
    run(&scenario(text), &Options::default()).unwrap()
}

/// Fails unless the measured value is within this share of the expected one.
#[track_caller]
fn near(what: &str, measured: f64, expected: f64, share: f64) {
    let off = measured / expected - 1.0;
    assert!(
        off.abs() <= share,
        "{what}: {measured} where {expected} is expected, off by {:.1} %",
        100.0 * off
    );
}
