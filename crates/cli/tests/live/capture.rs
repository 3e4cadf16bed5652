//! A run on this machine's kernel, held against what its own capture says.

use crate::{FILE, json, lossy, possible, scenario};
use serde_json::Value;

/// The way of a connection that carries the data.
fn data(connection: &Value) -> &Value {
    let [there, back] = ["to_server", "to_client"].map(|way| &connection[way]);
    if there["bytes"].as_u64() > back["bytes"].as_u64() { there } else { back }
}

#[test]
fn a_run_on_the_kernel_is_a_capture_of_its_packets() {
    if !possible() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let scenario = scenario(dir.path(), &lossy(FILE, "kernel:reno"));
    let file = dir.path().join("live.pcapng");
    let file = file.to_str().unwrap();
    let run = ["run", scenario.to_str().unwrap(), "--engine", "kernel", "--format", "json", "--pcapng", file];
    let flow = json(&run)["flows"][0].take();
    let capture = json(&["read", file, "--format", "json"]);
    let connection = &capture["connections"][0];
    let sent = data(connection);
    // What is sent again without need may be on its way when the run ends, and is then not counted by both.
    let near = |a: &Value, b: &Value, by: u64| {
        let (a, b) = (a.as_u64().unwrap(), b.as_u64().unwrap());
        assert!(a.abs_diff(b) <= by, "{a} and {b}");
    };
    near(&sent["segments"], &flow["segments_sent"], 5);
    near(&sent["retransmissions"]["segments"], &flow["retransmitted_segments"], 5);
    assert!(sent["place"].as_f64().unwrap() < 0.1, "{sent}");
    assert!(connection["handshake"]["client"]["mss"].is_u64(), "{connection}");
    let replay = json(&["read", file, "--replay", "ideal,vegas", "--format", "json"]);
    assert!(replay["dropped"][1].as_u64() > Some(0), "{replay}");
    assert_eq!(replay["predictors"][0]["accuracy"], 1.0);

    let run = [&run[..], &["--capture-at", "receiver"]].concat();
    let flow = json(&run)["flows"][0].take();
    let capture = json(&["read", file, "--format", "json"]);
    let received = data(&capture["connections"][0]);
    let lost = flow["drops"]["queue"].as_u64().unwrap() + flow["drops"]["channel"].as_u64().unwrap();
    let come = flow["segments_sent"].as_u64().unwrap() - lost;
    near(&received["segments"], &come.into(), 5);
    assert!(received["place"].as_f64().unwrap() > 0.9, "{received}");
}
