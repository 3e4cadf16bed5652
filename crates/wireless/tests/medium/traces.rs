//! Traces of movements that somebody else wrote.

use proptest::prelude::*;
use truckee_wireless::mobility::read_setdest;

/// Lines that are nearly right.
fn line() -> impl Strategy<Value = String> {
    let number =
        prop_oneof![any::<f64>().prop_map(|x| x.to_string()), (-50..50i32).prop_map(|x| x.to_string())];
    let node = (0..4u32).prop_map(|n| format!("$node_({n})"));
    let axis = prop_oneof![Just("X_"), Just("Y_"), Just("Z_"), Just("Q_")];
    prop_oneof![
        4 => (node.clone(), axis, number.clone()).prop_map(|(n, a, x)| format!("{n} set {a} {x}")),
        4 => (node, prop::array::uniform4(number))
            .prop_map(|(n, [at, x, y, v])| format!("$ns_ at {at} \"{n} setdest {x} {y} {v}\"")),
        1 => ".*",
    ]
}

proptest! {
    #[test]
    fn no_trace_does_any_harm(lines in prop::collection::vec(line(), 0..30)) {
        match read_setdest(&lines.join("\n"), 1.5) {
            Err(error) => prop_assert!(error.line <= lines.iter().map(|l| l.lines().count().max(1)).sum::<usize>() + 1),
            Ok(nodes) => {
                for node in nodes {
                    for at in [0, 1_000_000_000, 40_000_000_000, u64::MAX] {
                        prop_assert!(node.leg(at).at(at).is_finite());
                    }
                }
            }
        }
    }
}
