//! The command as a user meets it: every command's success, typical mistakes, exit statuses, the JSON's keys.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use serde_json::Value;

fn truckee(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_truckee"));
    command.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command
}

/// A wireless example short enough for a test.
const RUN: [&str; 4] = ["run", "examples/wireless.toml", "--set", "duration=50s"];

fn json(arguments: &[&str]) -> Value {
    let done = truckee(arguments).args(["--format", "json"]).assert().success();
    serde_json::from_slice(&done.get_output().stdout).expect("JSON on stdout")
}

#[test]
fn a_run_shows_flows_links_and_digest() {
    truckee(&RUN)
        .assert()
        .success()
        .stdout(contains("download").and(contains("newreno-lp")).and(contains("Mbit/s")))
        .stdout(contains("router-phone").and(contains("digest ")))
        .stderr(is_empty());
}

#[test]
fn the_json_of_a_run_has_every_documented_key() {
    let run = json(&RUN);
    let keys = |value: &Value, keys: &str| {
        for key in keys.split_whitespace() {
            assert!(value.get(key).is_some(), "{key} is missing in {value}");
        }
    };
    keys(&run, "truckee engine scenario seed digest simulated_s wall_s events flows links jain");
    keys(
        &run["flows"][0],
        "name sender receiver goodput_bps bytes_delivered completion_s segments_sent retransmitted_segments timeouts \
         acks_sent overhead drops loss_events accuracy delay_s rtt_s",
    );
    keys(&run["flows"][0]["drops"], "queue channel outage");
    keys(
        &run["flows"][0]["loss_events"],
        "congestion wireless congestion_judged_right wireless_judged_right",
    );
    keys(&run["flows"][0]["accuracy"], "congestion wireless all");
    keys(&run["flows"][0]["delay_s"], "mean p50 p99");
    keys(&run["flows"][0]["rtt_s"], "min mean");
    keys(&run["links"][0], "name utilisation queue_drops channel_drops mean_queue_packets");
    assert_eq!(run["engine"], "sim");
    assert_eq!(run["scenario"], "wireless.toml");
    assert!(run["flows"][0]["goodput_bps"].as_f64().unwrap() > 1e5);
}

#[test]
fn the_csv_of_a_run_is_a_rectangle_with_a_line_for_each_flow() {
    let done = truckee(&RUN).args(["--format", "csv"]).assert().success();
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let widths: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(widths.len(), 3, "a header and two flows");
    assert!(widths.iter().all(|w| *w == widths[0]), "{widths:?}");
    assert!(text.starts_with("name,sender,receiver,goodput_bps,"));
}

#[test]
fn seeds_and_overrides_reach_the_run() {
    let digest = |more: &[&str]| json(&[&RUN, more].concat())["digest"].clone();
    assert_eq!(digest(&[]), digest(&["--seed", "1"]), "the file's seed is 1");
    assert_ne!(digest(&[]), digest(&["--seed", "2"]));
    let overridden = json(&[&RUN[..], &["--set", "flow.sender=sack"]].concat());
    assert_eq!(overridden["flows"][0]["sender"], "sack");
}

#[test]
fn a_scenario_comes_through_stdin_too() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lossless.toml"))
        .unwrap();
    truckee(&["run", "-"]).write_stdin(text).assert().success().stdout(contains("stdin, seed 1: digest "));
}

#[test]
fn an_explanation_can_be_run_and_is_the_same_question() {
    let done = truckee(&["run", "examples/lossless.toml", "--explain"]).assert().success();
    let explained = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(explained.contains("initial_window"), "defaults are filled in");
    let digest = json(&["run", "examples/lossless.toml"])["digest"].clone();
    truckee(&["run", "-", "--format", "json"])
        .write_stdin(explained)
        .assert()
        .success()
        .stdout(contains(format!("\"digest\": {digest}")));
}

#[test]
fn digests_are_held_against_a_second_run_and_against_what_is_given() {
    let digest = json(&["run", "examples/lossless.toml"])["digest"].as_str().unwrap().to_owned();
    let check =
        |expected: &str| truckee(&["run", "examples/lossless.toml", &format!("--check-digest{expected}")]);
    check("").assert().success().stderr(contains("the same twice"));
    check(&format!("={digest}")).assert().success().stderr(contains("as expected"));
    check("=0123456789abcdef").assert().code(1).stderr(contains("expected 0123456789abcdef"));
}

#[test]
fn a_run_leaves_its_files_where_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("deep/results");
    truckee(&RUN).arg("--out").arg(&out).assert().success().stdout(contains("result.json"));
    for file in ["result.json", "flows.parquet", "series.parquet"] {
        assert!(std::fs::metadata(out.join(file)).unwrap().len() > 100, "{file}");
    }
}

#[test]
fn a_figure_of_the_window_is_drawn_where_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("window.svg");
    truckee(&RUN).arg("--figure").arg(&file).assert().success().stdout(contains("window.svg"));
    let svg = std::fs::read_to_string(file).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("lost: noise"), "{}", &svg[..200]);
}

#[test]
fn a_reader_that_has_had_enough_ends_the_command_quietly() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    for arguments in
        [vec!["variants"], vec!["completions", "bash"], vec!["run", "examples/dumbbell.toml", "--explain"]]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_truckee"))
            .args(&arguments)
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{arguments:?}: {said}");
        assert_eq!(said, "", "{arguments:?}");
    }
}

#[test]
fn a_sweep_sums_up_every_point_and_metric() {
    let sweep = json(&[
        "sweep",
        "examples/lossless.toml",
        "--vary",
        "flow.sender=reno,sack",
        "--vary",
        "link.0.delay=10ms,20ms,40ms",
        "--runs",
        "2",
        "--metric",
        "goodput_bps,completion_s",
        "--set",
        "duration=5s",
    ]);
    assert_eq!(sweep["axes"], serde_json::json!(["flow.sender", "link.0.delay"]));
    assert_eq!(sweep["complete"], true);
    let rows = sweep["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 3 * 2);
    assert!(
        rows.iter().all(|r| r["n"].as_u64().unwrap() + r["incomplete"].as_u64().unwrap() == 2),
        "{rows:?}"
    );
    assert!(rows[0]["mean"].as_f64().unwrap() > 1e5);
}

#[test]
fn a_sweep_is_the_same_on_any_number_of_threads_and_when_it_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = |more: &[&str]| {
        let mut command =
            truckee(&["sweep", "examples/wireless.toml", "--set", "duration=20s", "--format", "csv"]);
        let done = command
            .args(["--vary", "channel.per_bad=0.1,0.5", "--vary", "seed=3..6"])
            .args(more)
            .assert()
            .success();
        String::from_utf8(done.get_output().stdout.clone()).unwrap()
    };
    let one = sweep(&["--jobs", "1"]);
    let out = dir.path().to_str().unwrap();
    assert_eq!(one.lines().count(), 3);
    assert_eq!(one, sweep(&["--jobs", "2", "--out", out]));
    assert_eq!(one, sweep(&["--out", out]), "all runs are on disk already");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on() {
    use std::process::{Command, Stdio};
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    let arguments = [
        "sweep",
        "examples/wireless.toml",
        "--vary",
        "seed=1..120",
        "--jobs",
        "1",
        "--out",
        out,
        "--format",
        "json",
    ];
    let child = Command::new(env!("CARGO_BIN_EXE_truckee"))
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stored = || std::fs::read_dir(dir.path()).map(|d| d.count()).unwrap_or(0);
    while stored() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("goes on from there"), "{said}");
    let partial: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(partial["complete"], false);
    truckee(&arguments).assert().success().stdout(contains("\"complete\": true"));
}

/// The simulator against itself: the only pair of engines that every machine has.
const COMPARE: [&str; 8] =
    ["compare", "examples/wireless.toml", "--set", "duration=20s", "--engines", "sim,sim", "--runs", "2"];

#[test]
fn engines_are_shown_side_by_side() {
    truckee(&COMPARE)
        .assert()
        .success()
        .stdout(contains("download: newreno-lp").and(contains("sim : sim")).and(contains("goodput_bps")))
        .stdout(contains("seeds 1 to 2, paired").and(contains("router-phone")))
        .stderr(is_empty());
    let comparison = json(&[&COMPARE[..], &["--tolerance", "goodput=1%,retransmitted=1%"]].concat());
    assert_eq!(comparison["seeds"], serde_json::json!([1, 2]));
    assert_eq!(comparison["flows"].as_array().map(Vec::len), Some(2));
    let goodput = &comparison["flows"][0]["metrics"][0];
    assert_eq!((&goodput["metric"], &goodput["against"][0]["ratio"]), (&"goodput_bps".into(), &1.0.into()));
    assert_eq!(
        (&comparison["holds"], comparison["tolerances"].as_array().map(Vec::len)),
        (&true.into(), Some(4))
    );
}

#[test]
fn a_tolerance_that_does_not_hold_fails_the_command() {
    truckee(&[
        "compare",
        "examples/lossless.toml",
        "--engines",
        "sim,sim",
        "--tolerance",
        "goodput=0%,a_w=5%",
    ])
    .assert()
    .code(1)
    .stdout(contains("BEYOND").and(contains("holds")))
    .stderr(contains("flow-1 on sim: a_w=5%: no engine has a value"))
    .stderr(contains("1 of 2 tolerances beyond"));
}

#[test]
fn a_comparison_leaves_its_files_where_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (out, figure) = (dir.path().join("c"), dir.path().join("f.svg"));
    truckee(&COMPARE).arg("--out").arg(&out).arg("--figure").arg(&figure).assert().success();
    let kept: Value = serde_json::from_slice(&std::fs::read(out.join("compare.json")).unwrap()).unwrap();
    assert_eq!(kept["engines"].as_array().map(Vec::len), Some(2));
    let svg = std::fs::read_to_string(&figure).unwrap();
    assert!(svg.contains("sim: download") && svg.contains("Goodput: means of 2 runs"));
    assert_eq!(svg, std::fs::read_to_string(out.join("compare.svg")).unwrap());
    for folder in ["1-sim-seed-1", "1-sim-seed-2", "2-sim-seed-1", "2-sim-seed-2"] {
        assert!(out.join(folder).join("result.json").exists(), "{folder}");
    }
    assert!(out.join("1-sim-seed-1/series.parquet").exists(), "the first seed's series are recorded");
}

#[test]
fn studies_are_listed_shown_and_run_with_their_verdicts() {
    truckee(&["study", "list"]).assert().success().stdout(contains("wireless-download"));
    truckee(&["study", "show", "wireless-download"]).assert().success().stdout(contains("checks:"));
    let dir = tempfile::tempdir().unwrap();
    truckee(&["study", "run", "wireless-download", "--quick"])
        .current_dir(dir.path())
        .assert()
        .success()
        .stdout(contains("published").and(contains("pass")).and(contains("figure: out/studies/")));
    let figures = std::fs::read_dir(dir.path().join("out/studies/wireless-download-quick")).unwrap();
    assert!(figures.count() >= 1);
}

#[test]
fn a_study_that_does_not_hold_fails_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("wrong.toml");
    let study = r#"
        id = "wrong"
        title = "A claim that is false"
        source = { paper = "nobody", place = "nowhere" }
        setup = "one lossless link"
        scenario = '''
        duration = "5s"
        [[link]]
        between = ["a", "b"]
        rate = "1Mbit/s"
        delay = "10ms"
        [[flow]]
        from = "a"
        to = "b"
        '''
        [[sweep]]
        name = "main"
        runs = 1
        [[check]]
        name = "faster than the link"
        kind = "within"
        metric = "goodput_bps"
        published = 2e6
        tolerance = 0.1
    "#;
    std::fs::write(&file, study).unwrap();
    truckee(&["study", "run"])
        .arg(&file)
        .current_dir(dir.path())
        .assert()
        .code(1)
        .stdout(contains("FAIL").and(contains("0 pass, 1 fail")))
        .stderr(contains("checks failed in wrong"));
}

#[test]
fn everything_that_can_be_named_is_listed() {
    let named =
        contains("newreno-lp").and(contains("byte-counting")).and(contains("gilbert")).and(contains("bulk"));
    truckee(&["variants"]).assert().success().stdout(named.and(contains("RFC 6582")));
    truckee(&["variants", "spike"])
        .assert()
        .success()
        .stdout(contains("alpha = 0.5").and(contains("beta = 0.4")));
    truckee(&["variants", "ns-2"])
        .assert()
        .success()
        .stdout(contains("profile = \"ns-2\"").and(contains("rto_samples = \"one-a-window\"")));
    truckee(&["variants", "spikey"]).assert().code(2).stderr(contains("did you mean \"spike\"?"));
    let entries = json(&["variants", "newreno"]);
    assert!(entries.as_array().unwrap().len() >= 2, "a preset and a recovery");
}

#[test]
fn a_completion_script_knows_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        truckee(&["completions", shell]).assert().success().stdout(contains("sweep"));
    }
}

#[test]
fn mistakes_of_usage_end_with_status_2_and_say_what_would_do() {
    let cases: &[(&[&str], &str)] = &[
        (&["runn"], "'run'"),
        (&["run"], "<SCENARIO>"),
        (&["run", "examples/lossless.toml", "--sed", "1"], "--seed"),
        (&["run", "examples/lossless.toml", "--seed", "x"], "invalid value 'x'"),
        (
            &["run", "examples/lossless.toml", "--engine", "kernel", "--check-digest"],
            "a live run has no digest",
        ),
        (&["run", "examples/lossless.toml", "--engine", "ns2"], "possible values: sim, kernel"),
        (&["compare", "examples/lossless.toml", "--engines", "sim"], "two or more are compared"),
        (&["compare", "examples/lossless.toml", "--engines", "sim,ns2"], "possible values: sim, kernel"),
        (&["compare", "examples/lossless.toml", "--engines", "sim,sim", "--as-late"], "found sim, sim"),
        (&["compare", "examples/lossless.toml", "--trace", "--as-late"], "cannot be used with"),
        (&["compare", "examples/lossless.toml", "--tolerance", "goodputt=1%"], "did you mean \"goodput\"?"),
        (&["compare", "examples/lossless.toml", "--tolerance", "goodput=near"], "\"near\" is no bound"),
        (
            &[
                "compare",
                "examples/lossless.toml",
                "--engines",
                "sim,sim",
                "--tolerance",
                "flow.x.goodput=1%",
            ],
            "there is no flow \"x\", only \"flow-1\"",
        ),
        (&["run", "examples/nothing.toml"], "cannot read \"examples/nothing.toml\""),
        (&["run", "examples"], "is a folder"),
        (&["run", "examples/cellular.trace"], "not valid TOML"),
        (&["run", "examples/lossless.toml", "--set", "duration"], "expected PATH=VALUE"),
        (&["run", "examples/lossless.toml", "--set", "flow.sender=newrenno"], "newreno"),
        (&["run", "examples/lossless.toml", "--set", "duration=30"], "\"30s\""),
        (&["sweep", "examples/lossless.toml", "--vary", "flow.sendr=reno"], "sender"),
        (&["sweep", "examples/lossless.toml", "--vary", "seed=1..3", "--runs", "5"], "leave out --runs"),
        (&["sweep", "examples/lossless.toml", "--vary", "seed=1", "--metric", "goodput"], "goodput_bps"),
        (&["sweep", "examples/lossless.toml", "--vary", "mss=1000", "--precision", "2"], "2% or 0.02"),
        (&["sweep", "examples/lossless.toml", "--vary", "mss=1000", "--jobs", "0"], "number of runs at once"),
        (&["study", "run"], "required"),
        (&["study", "run", "wireless-downlod"], "did you mean \"wireless-download\"?"),
        (&["study", "show", "nothing-of-the-kind"], "there is no study"),
        (&["completions", "cmd.exe"], "possible values"),
    ];
    for (arguments, expected) in cases {
        truckee(arguments).assert().code(2).stdout(is_empty()).stderr(contains(*expected));
    }
}

#[test]
fn a_mistake_in_a_scenario_is_shown_where_it_is() {
    let text = "duration = \"10s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit\"\ndelay = \"1ms\"\n";
    truckee(&["run", "-"])
        .write_stdin(text)
        .assert()
        .code(2)
        .stderr(starts_with("error: ").and(contains("stdin:4:8")).and(contains("^^")));
}

#[test]
fn what_cannot_be_written_ends_with_status_1() {
    truckee(&RUN).args(["--out", "Cargo.toml/results"]).assert().code(1).stderr(contains("cannot write"));
}

#[test]
fn a_scenario_in_which_nobody_sends_is_refused() {
    let silent = "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\n";
    for command in [&["run", "-"][..], &["sweep", "-", "--vary", "rate=1Mbit/s,2Mbit/s"]] {
        truckee(command)
            .write_stdin(silent)
            .assert()
            .code(2)
            .stderr(contains("nobody sends").and(contains("[[flow]]")));
    }
}

#[test]
fn a_message_says_error_once() {
    let done = truckee(&["sweep", "examples/wireless.toml", "--vary", "flow.sendr=reno"]).assert().code(2);
    let text = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(
        text.starts_with("error: at flow.sendr=reno: a flow has no key")
            && text.matches("error:").count() == 1,
        "{text}"
    );
}

#[test]
fn a_figure_under_another_suffix_is_refused() {
    truckee(&RUN)
        .args(["--figure", "x.png"])
        .assert()
        .code(2)
        .stderr(contains("figures are drawn as SVG: write x.svg"));
}

#[test]
fn seeds_alone_can_be_swept_and_run() {
    let sweep = json(&["sweep", "examples/wireless.toml", "--set", "duration=5s", "--runs", "3"]);
    assert_eq!((&sweep["axes"], &sweep["rows"][0]["n"]), (&serde_json::json!([]), &3.into()));
    let run = json(&["run", "examples/wireless.toml", "--set", "duration=5s", "--runs", "3"]);
    let metrics: Vec<&str> =
        run["rows"].as_array().unwrap().iter().map(|r| r["metric"].as_str().unwrap()).collect();
    assert_eq!(metrics[..2], ["flow.download.goodput_bps", "flow.download.completion_s"]);
    assert_eq!(run["rows"][0]["n"], 3);
    truckee(&["run", "examples/wireless.toml", "--runs", "3", "--out", "x"]).assert().code(2);
}

#[test]
fn tables_fit_a_hundred_columns() {
    for command in [
        &["run", "examples/wireless.toml", "--set", "duration=50s"][..],
        &["study", "list"],
        &["study", "run", "taba-xp"],
        &[
            "sweep",
            "examples/wireless.toml",
            "--set",
            "duration=5s",
            "--vary",
            "flow.sender=cubic,bbr",
            "--runs",
            "3",
        ],
    ] {
        let done = truckee(command).env_remove("COLUMNS").assert().success();
        let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        let notes = |line: &&str| line.chars().count() > 100 && line.contains("  ");
        assert_eq!(text.lines().find(notes), None, "{command:?}");
    }
}

#[test]
fn the_list_of_studies_has_a_line_for_each() {
    let text = |columns: &str| {
        let done = truckee(&["study", "list"]).env("COLUMNS", columns).assert().success();
        String::from_utf8(done.get_output().stdout.clone()).unwrap()
    };
    let ids = |text: &str| text.lines().filter(|line| line.starts_with("wireless-")).count();
    assert_eq!((ids(&text("100")), ids(&text("300"))), (3, 3));
    assert!(text("100").contains('…') && !text("300").contains('…'), "what is cut says so");
}

#[test]
fn variants_of_a_sweep_are_held_against_the_first() {
    let done = truckee(&[
        "sweep",
        "examples/wireless.toml",
        "--set",
        "duration=5s",
        "--vary",
        "flow.sender=cubic,bbr",
        "--runs",
        "4",
    ]);
    { done }.assert().success().stdout(contains("against cubic").and(contains("seed by seed")));
}

#[test]
fn completions_know_the_names_of_algorithms() {
    for (shell, names) in [
        ("bash", &["westwood-plus", "wireless-download", "accumulated-full"][..]),
        ("zsh", &["flow.sender=bbr", "flow.receiver=division", "profile=ns-2"]),
        ("fish", &["westwood-plus"]),
    ] {
        let done = truckee(&["completions", shell]).assert().success();
        let script = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        names.iter().for_each(|name| assert!(script.contains(name), "{shell}: {name}"));
    }
}
