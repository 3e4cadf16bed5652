//! Saturation throughput beside Bianchi's, under his assumptions (`bianchi_model`; `examples/bianchi.rs` prints both).
//!
//! Claim, with its bound fixed before the first run: over five seeds of 40 s the whole 95 % interval of the throughput
//! lies within 3 % of his formula, for 1, 2, 5, 10, 20 and 50 stations, with and without RTS and CTS.

use crate::bianchi_model::{off, sending, throughput};
use truckee_wireless::Time;

const RUN: Time = Time::s(40);
const BOUND: f64 = 0.03;

fn holds(rts: bool) {
    let mut faults = Vec::new();
    for n in [1, 2, 5, 10, 20, 50] {
        let (mean, half) = off(n, rts, RUN);
        let expected = throughput(n, rts);
        println!("{n} stations: {expected:.0} bit/s expected, {:+.2} % ± {:.2}", mean * 1e2, half * 1e2);
        if mean.abs() + half > BOUND {
            faults.push((n, mean, half));
        }
    }
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn the_formulas_are_his() {
    // A station alone: a slot in 16.5.
    assert!((sending(1, 32.0, 5) - 2.0 / 33.0).abs() < 1e-12);
    // Constant window (m = 0), eq. 8: τ = 2/(W + 1), whatever n.
    assert!((sending(10, 32.0, 0) - 2.0 / 33.0).abs() < 1e-12);
}

#[test]
fn saturation_throughput_is_his_with_basic_access() {
    holds(false);
}

#[test]
fn saturation_throughput_is_his_with_rts_and_cts() {
    holds(true);
}
