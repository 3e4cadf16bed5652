//! The time that a sending host takes: uniform, in order, and of one flow only.

#![allow(clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::{Document, Outcome};

fn outcome(processing: &str, app: &str, more: &str) -> Outcome {
    let text = format!(
        r#"
        duration = "200s"
        [[link]]
        between = ["a", "b"]
        rate = "100Mbit/s"
        delay = "10ms"
        [[link]]
        between = ["b", "c"]
        rate = "100Mbit/s"
        delay = "5ms"
        [[flow]]
        from = "a"
        to = "c"
        processing = "{processing}"
        initial_window = "5000segments"
        app = {app}
        {more}
        "#
    );
    let scenario = Document::parse("processing.toml", &text).unwrap().scenario().unwrap();
    run(&scenario, &Options::default()).unwrap()
}

const SEGMENTS: &str = "{ kind = \"segments\", arrivals = { kind = \"cbr\", rate = \"100kbit/s\" } }";

#[test]
fn each_segment_takes_a_time_drawn_evenly_from_nothing_to_the_longest() {
    let delay = |processing| outcome(processing, SEGMENTS, "").flows[0].delay_s;
    let (without, with) = (delay("0s"), delay("4ms"));
    let added = with.mean.unwrap() - without.mean.unwrap();
    assert!((added - 2e-3).abs() < 1e-4, "{added}");
    assert!((with.sd.unwrap() - 4e-3 / 12f64.sqrt()).abs() < 1e-4, "{with:?}");
}

#[test]
fn segments_stay_in_order_and_the_host_is_no_link() {
    let file = "{ kind = \"file\", size = \"1MB\" }";
    let slow = outcome("5ms", file, "");
    assert_eq!((slow.flows[0].retransmitted_segments, slow.flows[0].fast_retransmits), (0, 0));
    let names: Vec<&str> = slow.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["a-b", "b-a", "b-c", "c-b"]);
    assert!(slow.flows[0].completion_s > outcome("0s", file, "").flows[0].completion_s);
}

#[test]
fn it_follows_the_flow_to_another_way() {
    let detour = r#"
        [[link]]
        between = ["a", "c"]
        rate = "100Mbit/s"
        delay = "30ms"
        [[change]]
        at = "100s"
        link = "b-c"
        up = false
    "#;
    let delay = |processing| outcome(processing, SEGMENTS, detour).flows[0].delay_s.mean.unwrap();
    let added = delay("4ms") - delay("0s");
    assert!((added - 2e-3).abs() < 1e-4, "{added}");
}
