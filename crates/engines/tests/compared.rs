//! The simulator held against itself, and beside a live engine.

#![allow(clippy::unwrap_used)] // a test says so by failing

use truckee_engines::Simulator;
use truckee_lab::Cancel;
use truckee_lab::Engine;
use truckee_lab::compare::{Comparison, Row, Runs, Tolerance, compare, run};
use truckee_lab::testing::Fake;
use truckee_scenario::Document;

const THREE: Runs = Runs { count: 3, at_most: 3, jobs: None, series: false, as_written: false };

fn row<'c>(comparison: &'c Comparison, metric: &str) -> &'c Row {
    comparison.flows[0].metrics.iter().find(|r| r.metric == metric).unwrap()
}

#[test]
fn the_simulator_agrees_with_itself() {
    let text = r#"
        duration = "5s"
        [[link]]
        between = ["a", "b"]
        rate = "2Mbit/s"
        delay = "20ms"
        channel = { kind = "bernoulli", per = 0.01 }
        [[flow]]
        from = "a"
        to = "b"
    "#;
    let scenario = Document::parse("s.toml", text).unwrap().scenario().unwrap();
    let runs = Runs { count: 2, at_most: 2, jobs: None, series: true, as_written: false };
    let engines: [&dyn Engine; 2] = [&Simulator, &Simulator];
    let sides = run(&scenario, &engines, runs, &mut (), &Cancel::new()).unwrap().unwrap();
    assert!(!sides[0][0].series.is_empty() && sides[0][1].series.is_empty(), "only the first seed's");
    let mut comparison = Comparison::new(&sides).unwrap();
    let tolerances =
        ["goodput=0%", "drops.channel=0", "utilisation=0%"].map(|t| Tolerance::parse(t).unwrap());
    comparison.hold(&tolerances).unwrap();
    assert!(comparison.holds, "{:?}", comparison.tolerances);
    assert!(row(&comparison, "drops.channel").values[0].mean > Some(0.0));
}

#[test]
fn a_simulator_beside_a_kernel_is_set_as_the_kernel_is_unless_asked_otherwise() {
    let text = "duration = \"10s\"\nkernel = \"today\"\ntopology = { kind = \"single-link\", rate = \"1Mbit/s\", channel = { kind = \"bernoulli\", per = 0.02 } }\n\
                [[flow]]\nname = \"flow-1\"\nfrom = \"src\"\nto = \"dst\"\nsender = \"tibet\"\n";
    let asked = Document::parse("s", text).unwrap().scenario().unwrap();
    let engines: [&dyn Engine; 2] = [&Simulator, &Fake::live()];
    for (as_written, in_place) in [(false, true), (true, false)] {
        let runs = Runs { count: 1, at_most: 1, as_written, ..THREE };
        let compared = compare(&asked, &engines, runs, &[], &mut (), &Cancel::new()).unwrap().unwrap();
        let by_sack = Simulator.run(&truckee_scenario::alike(&asked, false).0, false).unwrap().digest;
        assert_eq!(compared.0[0][0].digest == by_sack, in_place);
        let notes = compared.1.notes;
        assert!(matches!(notes.as_slice(), [note] if note.contains("has SACK here")), "{notes:?}");
        assert_eq!(notes[0].contains("the simulator was given it too"), in_place);
    }
}
