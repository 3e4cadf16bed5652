//! Captures as a user reads and writes them: tables, JSON, CSV, replays, what ends early, what is refused.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const LOSSY: &str = "crates/capture/tests/data/lossy-sender.pcap.gz";

fn truckee(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_truckee"));
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    command.args(arguments).current_dir(root).stdin(Stdio::null()).output().unwrap()
}

/// What is printed by a command that ends with this status.
fn printed(arguments: &[&str], status: i32) -> (String, String) {
    let output = truckee(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {err}");
    (out, err)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments, 0).0).unwrap()
}

#[test]
fn a_capture_is_a_table_an_object_or_lines() {
    let (table, err) = printed(&["read", LOSSY], 0);
    assert!(table.contains("10.77.0.2:5201") && table.contains("every segment") && err.is_empty(), "{table}");
    let (details, _) = printed(&["read", LOSSY, "--flow", "2"], 0);
    for part in ["MSS 1460", "the sender", "repairs by fast retransmit", "slow start from"] {
        assert!(details.contains(part), "{part} not in {details}");
    }
    let object = json(&["read", LOSSY, "--format", "json"]);
    assert_eq!(object["connections"][1]["to_server"]["retransmissions"]["fast"], 8);
    let (lines, _) = printed(&["read", LOSSY, "--format", "csv"], 0);
    assert_eq!(lines.lines().count(), 5, "a header and two directions of two connections");
    assert!(lines.starts_with("number,from,to,"), "{lines}");
}

#[test]
fn a_replay_says_what_each_would_have_said_and_draws_it() {
    let dir = tempfile::tempdir().unwrap();
    let figure = dir.path().join("replay.svg");
    let cast = "tibet,westwood-2,vegas,taba-detector";
    let arguments = ["read", LOSSY, "--replay", cast, "--figure", figure.to_str().unwrap()];
    let (table, _) = printed(&arguments, 0);
    for part in ["tibet", "westwood-2", "vegas", "taba-detector", "does not say what became", "median"] {
        assert!(table.contains(part), "{part} not in {table}");
    }
    assert!(!table.contains("the application limits"), "iperf3 always has more to send: {table}");
    let (table, _) = printed(&["read", LOSSY, "--flow", "1", "--replay", "tibet"], 0);
    assert!(
        table.contains("the application limits: nothing was in the air for"),
        "its control connection: {table}"
    );
    assert!(std::fs::read_to_string(&figure).unwrap().contains("connection 2, to server"));
    let (_, err) = printed(&["read", LOSSY, "--replay", "tibbet"], 2);
    assert!(err.contains("did you mean \"tibet\"?"), "{err}");
    let (_, err) = printed(&["read", LOSSY, "--replay", "oracle"], 2);
    assert!(err.contains("knows nothing outside a network"), "{err}");
    let (_, err) = printed(&["read", "-", "--replay", "tibet"], 2);
    assert!(err.contains("needs --flow and --way"), "{err}");
}

#[test]
fn what_cannot_be_read_to_its_end_is_shown_as_far_as_it_goes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.pcap.gz");
    let whole = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(LOSSY)).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let (table, err) = printed(&["read", path.to_str().unwrap()], 1);
    assert!(table.contains("10.77.0.2:5201"), "{table}");
    assert!(err.contains("cannot read on after byte") && err.contains("what was read up to there"), "{err}");
    assert!(err.contains("cut.pcap.gz: "), "{err}");
    let (_, err) = printed(&["read", "README.md"], 2);
    assert!(err.contains("README.md: it begins") && err.contains("expected a capture"), "{err}");
    let (_, err) = printed(&["read", "absent.pcap"], 2);
    assert!(err.contains("cannot open absent.pcap"), "{err}");
    let (_, err) = printed(&["read", LOSSY, "--flow", "9"], 2);
    assert!(err.contains("has numbers up to 2"), "{err}");
}

#[test]
fn a_simulated_run_is_a_capture_that_knows_its_drops() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("run.pcapng");
    let file = file.to_str().unwrap();
    let run =
        ["run", "examples/wireless.toml", "--set", "duration=50s", "--format", "json", "--pcapng", file];
    let outcome = json(&run);
    let flow = &outcome["flows"][0];
    let capture = json(&["read", file, "--format", "json"]);
    let data = &capture["connections"][0]["to_server"];
    assert_eq!(data["segments"], flow["segments_sent"]);
    assert_eq!(data["retransmissions"]["segments"], flow["retransmitted_segments"]);
    let replay =
        json(&["read", file, "--flow", "1", "--way", "to-server", "--replay", "ideal", "--format", "json"]);
    assert_eq!(replay["predictors"][0]["accuracy"], 1.0, "it is told what was dropped");
    let (_, err) = printed(&["run", "examples/wireless.toml", "--capture-at", "receiver"], 2);
    assert!(err.contains("without --pcapng or --xplot"), "{err}");
    let drops = &flow["drops"];
    assert_eq!(replay["dropped"], serde_json::json!([drops["queue"], drops["channel"]]));
}

#[test]
fn connections_are_filtered_and_sorted() {
    let (table, _) = printed(&["read", LOSSY, "--filter", "bytes > 100kB and loss > 0.1%"], 0);
    assert!(table.contains("and 1 connection left out") && table.contains("\n2 "), "{table}");
    let object = json(&["read", LOSSY, "--top", "1", "--format", "json"]);
    assert_eq!((&object["connections"][0]["number"], &object["left_out"]), (&2.into(), &1.into()));
    let object = json(&["read", LOSSY, "--sort", "bytes", "--format", "json"]);
    assert_eq!(object["connections"][0]["number"], 2);
    let (_, err) = printed(&["read", LOSSY, "--filter", "bites > 3"], 2);
    assert!(err.contains("did you mean \"bytes\"?"), "{err}");
    let (_, err) = printed(&["read", LOSSY, "--filter", "bytes > 3B", "--flow", "1"], 2);
    assert!(err.contains("--flow"), "{err}");
}

#[test]
fn a_capture_has_pages_figures_and_graphs() {
    let dir = tempfile::tempdir().unwrap();
    let (pages, graphs) = (dir.path().join("pages"), dir.path().join("graphs"));
    let out = ["--out", pages.to_str().unwrap(), "--xplot", graphs.to_str().unwrap()];
    let (table, err) = printed(&[&["read", LOSSY, "--top", "1", "--replay", "tibet"], &out[..]].concat(), 0);
    assert!(table.contains("and 1 connection left out") && err.contains("report.html"), "{table}{err}");
    let names = |dir: &Path| {
        let entries = std::fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&pages), ["connection-2.html", "connection-2.svg", "report.html"]);
    assert_eq!(names(&graphs), ["connection-2-to-server.xpl"]);
    let page = std::fs::read_to_string(pages.join("connection-2.html")).unwrap();
    assert!(page.contains("tibet") && !page.contains("westwood-2"));
    let (_, err) = printed(&[&["read", "-"], &out[..2]].concat(), 2);
    assert!(err.contains("what has been read is gone"), "{err}");
}
