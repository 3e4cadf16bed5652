//! What TCP Santa Cruz sees of the two directions of a path.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::Document;
use truckee_scenario::outcome::CongestedOutcome;

/// Rounds over 4 Mbit/s there and 1 Mbit/s back, with that traffic in one of the directions.
fn rounds(sender: &str, from: &str, to: &str) -> Option<CongestedOutcome> {
    let text = format!(
        r#"
        duration = "60s"
        [[link]]
        between = ["a", "b"]
        rate = "4Mbit/s"
        rate_back = "1Mbit/s"
        delay = "20ms"
        [[flow]]
        from = "a"
        to = "b"
        sender = "{sender}"
        timestamps = true
        rwnd = "20segments"
        [[traffic]]
        from = "{from}"
        to = "{to}"
        kind = "exponential"
        rate = "3Mbit/s"
        on = "300ms"
        off = "1s"
        packet = "1000B"
        "#
    );
    let scenario = Document::parse("directions.toml", &text).unwrap().scenario().unwrap();
    run(&scenario, &Options::default()).unwrap().flows[0].congested.as_deref().copied()
}

#[test]
fn santa_cruz_tells_the_congested_direction_and_others_tell_none() {
    let shares = |from, to| rounds("santa-cruz", from, to).unwrap().shares().unwrap();
    let (beside, against) = (shares("a", "b"), shares("b", "a"));
    assert!(beside.0 > 2.0 * beside.1, "traffic there: {beside:?}");
    // Its own queue stands on the way there whatever comes the other way.
    assert!(against.1 > against.0, "traffic back: {against:?}");
    assert!(beside.0 > against.0 && against.1 > beside.1, "{beside:?}, {against:?}");
    assert_eq!(rounds("newreno", "a", "b"), None);
}
