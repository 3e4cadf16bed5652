//! Recorded capacities of real cellular links, where the machine has them: `TRUCKEE_DATA`, or `../shared/data` from the
//! project's root.

use std::path::PathBuf;
use std::sync::Arc;
use truckee_channel::{Capacity, CapacityTrace};

/// The folder of traces, or `None` with a word on stderr.
fn traces() -> Option<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let data = std::env::var_os("TRUCKEE_DATA")
        .map_or_else(|| PathBuf::from(root).join("../shared/data"), PathBuf::from);
    let folder = data.join("traces");
    if !folder.is_dir() {
        eprintln!("skipped: no recorded traces in {} (set TRUCKEE_DATA)", folder.display());
        return None;
    }
    Some(folder)
}

#[test]
fn recorded_links_have_the_rates_of_their_technology() {
    let Some(folder) = traces() else { return };
    // Mbit/s, from the number of lines and the last time stamp of each file.
    for (name, megabits) in [
        ("ATT-LTE-driving.down", 5.17),
        ("ATT-LTE-driving.up", 0.83),
        ("Verizon-EVDO-driving.down", 0.52),
        ("Verizon-EVDO-driving.up", 0.84),
    ] {
        let trace = CapacityTrace::read(folder.join(name)).expect(name);
        let rate = trace.mean_rate() / 1e6;
        assert!((rate - megabits).abs() < 0.01, "{name}: {rate} Mbit/s");
        assert!(trace.duration() > 600_000_000_000, "{name}: {} ns", trace.duration());
    }
}

#[test]
fn a_busy_recorded_link_carries_every_opportunity_in_each_repetition() {
    let Some(folder) = traces() else { return };
    let trace = Arc::new(CapacityTrace::read(folder.join("ATT-LTE-driving.up")).expect("readable"));
    let mut link = Capacity::new(trace.clone());
    let n = trace.opportunities_ms.len();
    for repetition in 0..3 {
        for &stamp in &trace.opportunities_ms {
            let expected = repetition * trace.duration() + u64::from(stamp) * 1_000_000;
            assert_eq!(link.depart(0, 1500), expected);
        }
    }
    assert_eq!(n, 70_336);
}
