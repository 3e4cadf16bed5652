//! Engines beside each other and studies, on this machine's kernel, in their shortest form: that both sides are run and
//! judged. How near they are is for the statistics of many runs (`make live`).

use crate::{FILE, json, lossy, possible, run, said, scenario};

#[test]
fn the_kernel_and_the_simulator_are_compared() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path(), &lossy(FILE, "newreno"));
    let comparison =
        json(&["compare", file.to_str().unwrap(), "--runs", "2", "--jobs", "2", "--format", "json"]);
    let names: Vec<_> = comparison["engines"].as_array().unwrap().iter().map(|e| &e["name"]).collect();
    assert_eq!(names, ["sim", "kernel"]);
    assert_eq!(comparison["seeds"], serde_json::json!([1, 2]));
    let flow = &comparison["flows"][0];
    let metric = |name: &str| {
        flow["metrics"].as_array().unwrap().iter().find(|row| row["metric"] == name).unwrap().clone()
    };
    for name in ["goodput_bps", "bytes_delivered", "retransmitted_share"] {
        let row = metric(name);
        for side in row["values"].as_array().unwrap() {
            assert!(side["n"] == 2 && side["mean"].as_f64().unwrap() > 0.0, "{row:#}");
        }
        assert_eq!(row["against"][0]["n"], 2, "{row:#}");
    }
}

#[test]
fn simulations_are_as_late_as_the_live_runs_of_their_seeds() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path(), &lossy(FILE, "newreno"));
    let file = file.to_str().unwrap();
    let comparison = json(&["compare", file, "--as-late", "--runs", "2", "--jobs", "2", "--format", "json"]);
    let digests = |comparison: &serde_json::Value| comparison["engines"][0]["digests"].clone();
    let punctual = json(&["compare", file, "--engines", "sim,sim", "--runs", "2", "--format", "json"]);
    assert_ne!(digests(&comparison), digests(&punctual));
    assert_eq!(
        (comparison["seeds"].clone(), digests(&comparison)[1].as_str().map(str::len)),
        (serde_json::json!([1, 2]), Some(16))
    );
    assert!(
        comparison["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|note| note.as_str().unwrap().contains("as late as"))
    );
}

#[test]
fn a_study_is_run_on_the_kernel_and_judged_unless_the_machine_was_late() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("short.toml");
    let text = format!(
        r#"
id = "short"
title = "A download of the shortest kind"
source = {{ paper = "none", place = "a test" }}
setup = "A file over a lossy link, on both engines."
scenario = '''
{}
'''
[[sweep]]
name = "both"
engines = ["sim", "kernel"]
runs = 2
quick = {{ runs = 1 }}
[[check]]
name = "all of it comes"
kind = "exact"
metric = "bytes_delivered"
published = 1500000
"#,
        lossy(FILE, "newreno")
    );
    std::fs::write(&file, text).unwrap();
    let study = ["study", "run", file.to_str().unwrap(), "--quick", "--require-live"];
    let done = run(&study);
    let said = said(&done);
    // Under the gate's load the machine may have been too late, which only its lateness says and no result.
    let judged = match done.status.code() {
        Some(0) => said.contains("2 pass, 0 fail"),
        Some(3) => said.contains("not judged: the machine was too late (1 of 1 live runs invalid)"),
        _ => false,
    };
    assert!(judged && said.contains("2 runs"), "{said}");
}
