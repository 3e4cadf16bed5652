//! Whole runs on this machine's kernel: that they end, what they say, and that they leave nothing, however they end.

use crate::{
    ENDLESS, FILE, TRUCKEE, identities, ip, json, left, lossy, possible, run, said, scenario, signal, start,
};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use truckee_testing::{until, wait_for};

#[test]
fn a_run_shows_what_a_simulation_shows_and_holds_the_port_against_its_definition() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path(), &lossy(FILE, "newreno-lp"));
    let out = folder.path().join("out");
    let figure = folder.path().join("window.svg");
    let files = ["--out", out.to_str().unwrap(), "--figure", figure.to_str().unwrap()];
    let outcome = json(
        &[&["run", file.to_str().unwrap(), "--engine", "kernel", "--format", "json"][..], &files].concat(),
    );
    let flow = &outcome["flows"][0];
    assert_eq!((&outcome["engine"], &outcome["digest"]), (&"kernel".into(), &"".into()));
    assert_eq!(flow["bytes_delivered"], 1_500_000, "{flow:#}");
    assert!(flow["goodput_bps"].as_f64().unwrap() < 10e6, "{flow:#}");
    // Every drop is the channel's, every loss event that was noticed is one of them, and the base RTT is the path's.
    let (drops, events) = (&flow["drops"], &flow["loss_events"]);
    assert_eq!((&drops["queue"], &drops["outage"]), (&0.into(), &0.into()), "{flow:#}");
    let (lost, noticed) = (drops["channel"].as_u64().unwrap(), events["wireless"].as_u64().unwrap());
    assert!(lost >= 12 && noticed > 3 && noticed <= lost, "{flow:#}");
    // The shortest round trip is one in which the machine did not stand still.
    assert!((0.040..0.060).contains(&flow["rtt_s"]["min"].as_f64().unwrap()), "{flow:#}");
    // Segments that come while the receiver reads are acknowledged together.
    assert!((0.7..1.3).contains(&flow["acks_per_segment"].as_f64().unwrap()), "{flow:#}");
    let port = &outcome["ports"][0];
    assert_eq!(
        (&port["port"], &port["within"], &port["unrecorded"]),
        (&"tk_lp_vegas".into(), &true.into(), &0.into())
    );
    assert!(port["acks"].as_u64().unwrap() > 500 && port["verdicts"].as_u64().unwrap() > 500, "{port:#}");
    for file in ["result.json", "flows.parquet", "series.parquet"] {
        assert!(out.join(file).metadata().unwrap().len() > 500, "{file}");
    }
    assert!(std::fs::read_to_string(figure).unwrap().contains("</svg>"));
}

#[test]
fn a_sender_that_is_told_the_truth_takes_no_loss_for_what_it_was_not() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Slow start, of 180 segments, is more than the queue and the path hold, and SACK repairs what it lost within a few round
    // trips; noise takes packets by number, long after that, and never two of one window. From then on a whole window fits
    // into the queue, as it comes when the machine has stood still: an event has one cause.
    let file = FILE.replace("1.5MB", "3.6MB");
    let sender = r#"{ recovery = "sack", response = { by-cause = { predictor = "ideal" } } }"#;
    let text = lossy(&file, "ideal").replace("\"ideal\"", sender).replace("1000packets", "100packets");
    let text = text.replace("min_rto ", "initial_ssthresh = \"180segments\"\nmin_rto ");
    let unwanted = (1..30).filter(|k| *k < 12 || k % 3 != 0);
    let text = unwanted.fold(text, |text, k| text.replace(&format!("\"{0}..{0}\", ", 80 * k), ""));
    let outcome = json(&[
        "run",
        scenario(folder.path(), &text).to_str().unwrap(),
        "--engine",
        "kernel",
        "--format",
        "json",
    ]);
    let (events, port) = (&outcome["flows"][0]["loss_events"], &outcome["ports"][0]);
    for (cause, least) in [("congestion", 1), ("wireless", 3)] {
        let all = events[cause].as_u64().unwrap();
        assert!(all >= least, "{cause}: {events:#}");
        assert_eq!(events[format!("{cause}_judged_right")], all, "{cause}: {events:#}");
    }
    // The definition, told what the port was told, decides as the port did.
    assert_eq!((&port["within"], &port["verdicts_apart"]), (&true.into(), &0.into()), "{port:#}");
    assert!(port["verdicts"].as_u64().unwrap() >= 4, "{port:#}");
}

#[test]
fn every_application_does_what_it_has_to() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let head =
        "duration = \"100s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"50Mbit/s\"\ndelay = \"5ms\"\n";
    let apps = [
        ("file", "{ kind = \"file\", size = \"1MB\" }", 1_000_000, 1),
        ("separate", "{ kind = \"files\", size = \"50kB\", count = 4, pause = \"20ms\" }", 200_000, 4),
        (
            "parallel",
            "{ kind = \"files\", size = \"50kB\", count = 7, connections = \"parallel:3\" }",
            350_000,
            7,
        ),
        ("one", "{ kind = \"files\", size = \"50kB\", count = 4, connections = \"one\" }", 200_000, 1),
        (
            "ask",
            "{ kind = \"request-response\", request = \"200B\", response = \"10kB\", count = 5, think = \"10ms\" }",
            50_000,
            1,
        ),
        (
            "drip",
            "{ kind = \"segments\", arrivals = { kind = \"cbr\", rate = \"4Mbit/s\" }, size = \"1000B\", count = 100 }",
            100_000,
            1,
        ),
        ("page", "{ kind = \"web-page\", objects = 10, size = \"20kB\", connections = 2 }", 0, 0),
    ];
    let flows: Vec<String> = apps
        .iter()
        .map(|(name, app, ..)| {
            // Cubic may be only the init namespace's, which the server of a page is not in; and a node has SACK or has not.
            let sender = if *name == "page" { "sack" } else { "kernel:cubic" };
            format!(
                "[[flow]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\nsender = \"{sender}\"\napp = {app}\n"
            )
        })
        .collect();
    let file = scenario(folder.path(), &format!("{head}{}", flows.concat()));
    let outcome = json(&["run", file.to_str().unwrap(), "--engine", "kernel", "--format", "json"]);
    for (k, (name, _, bytes, connections)) in apps.into_iter().enumerate() {
        let flow = &outcome["flows"][k];
        assert_eq!(flow["name"], name);
        assert!(flow["completion_s"].as_f64().is_some_and(|s| s > 0.01), "{flow:#}");
        let delivered = flow["bytes_delivered"].as_u64().unwrap();
        if name == "page" {
            // Ten objects of 20 kB in the mean, and their headers.
            assert!((20_000..1_000_000).contains(&delivered), "{flow:#}");
        } else {
            assert_eq!((delivered, &flow["connections"]), (bytes, &connections.into()), "{flow:#}");
        }
    }
    assert!(outcome["simulated_s"].as_f64().unwrap() < 100.0, "it ends when all are done");
}

#[test]
fn what_a_kernel_run_cannot_express_is_refused_by_name_and_nothing_is_made() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path(), &lossy(FILE, "newreno-lp"));
    let cases = [
        ("flow.sender=tahoe", "flow \"download\""),
        ("flow.sender=kernel:nosuch", "no congestion control \"nosuch\""),
        ("flow.receiver=optimistic", "ACK policy \"optimistic\""),
        ("flow.clock=10ms", "clock"),
        ("flow.handshake=false", "handshake"),
        ("flow.observe={ predictors = [\"spike\"] }", "observe"),
        ("topology.queue={ size = \"50packets\", ack_filter = true }", "link \"src-router\""),
    ];
    for (set, named) in cases {
        let output = run(&["run", file.to_str().unwrap(), "--engine", "kernel", "--set", set]);
        let text = said(&output);
        assert!(output.status.code() == Some(2) && text.contains(named), "{set}: {text}");
        assert!(!text.contains("panicked"), "{text}");
    }
    let (file, set) = (file.to_str().unwrap(), ["--set", "flow.sender=tahoe"]);
    let sweep = ["sweep", file, "--engine", "kernel", "--vary", "seed=1,2"];
    let compare = ["compare", file, "--engines", "sim,kernel", "--runs", "1"];
    for arguments in [&sweep[..], &compare[..]] {
        let output = run(&[arguments, &set[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
    }
}

/// A plain user's command with these arguments.
fn as_nobody(folder: &Path, arguments: &[&str]) -> Output {
    // Where the build is, such a user may not look.
    let program = folder.join("truckee");
    if !program.exists() {
        std::fs::hard_link(TRUCKEE, &program)
            .or_else(|_| std::fs::copy(TRUCKEE, &program).map(drop))
            .unwrap();
    }
    std::fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn what_this_machine_does_not_let_a_user_do_ends_every_command_alike() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path(), &lossy(FILE, "newreno"));
    let cases: [&[&str]; 8] = [
        &["run", "live.toml", "--engine", "kernel"],
        &["sweep", "live.toml", "--engine", "kernel", "--vary", "seed=1,2"],
        &["compare", "live.toml", "--engines", "sim,kernel"],
        &["study", "run", "lp-web", "--quick"],
        &["exec", "--ack", "every", "--", "true"],
        &["shape", "--ack", "every", "--dev", "lo"],
        &["probe", "http://127.0.0.1:9/"],
        &["cc", "load", "newreno-lp"],
    ];
    for arguments in cases {
        let output = as_nobody(folder.path(), arguments);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
        assert!(text.contains("root"), "{arguments:?}: {text}");
        assert!(!text.contains("a live run keeps"), "{arguments:?}: {text}");
    }
}

/// The run of this process, once it has made a namespace: what tries the machine before has an identity of its own.
fn begun(process: u32) -> Option<String> {
    let made = |id: &String| Path::new(&format!("/run/netns/truckee-{id}-src")).exists();
    identities(process).into_iter().find(made)
}

#[test]
fn an_interrupted_run_says_so_and_leaves_nothing() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path(), &lossy(ENDLESS, "newreno-lp"));
    let child = start(&["run", file.to_str().unwrap(), "--engine", "kernel", "--set", "duration=600s"]);
    let process = child.id();
    let identity = wait_for("the run's beginning", || begun(process));
    // In a moment its congestion control is there, and data flows.
    until("what the run makes", || left(&identity).iter().any(|name| name.starts_with("tk")));
    std::thread::sleep(Duration::from_millis(500));
    signal(process, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("interrupted") || said(&output).contains("stopped"), "{}", said(&output));
    assert_eq!(left(&identity), Vec::<String>::new());
}

/// The programs that a run has started for its web pages.
fn programs(identity: &str) -> Vec<u32> {
    let page = format!("/run/truckee/{identity}.page-");
    let is_one = |process: &u32| {
        let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains(&page)
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_one).collect()
}

#[test]
fn a_killed_run_takes_its_web_server_and_its_client_with_it() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let page = "{ kind = \"web-page\", objects = 1000, size = \"10MB\" }";
    let file = scenario(folder.path(), &lossy(page, "newreno"));
    // Nobody else is to clean up after it.
    let _alone = truckee_testing::alone("clean");
    let mut child = start(&["run", file.to_str().unwrap(), "--engine", "kernel"]);
    let identity = wait_for("the run's beginning", || begun(child.id()));
    until("the server and the client", || programs(&identity).len() == 2);
    child.kill().unwrap();
    child.wait().unwrap();
    until("the end of both", || programs(&identity).is_empty());
    let output = run(&["clean"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(left(&identity), Vec::<String>::new());
}

/// How many runs are killed: a dozen, or as many as `TRUCKEE_KILLS` says.
fn kills() -> u64 {
    std::env::var("TRUCKEE_KILLS").map_or(12, |text| text.parse().unwrap())
}

#[test]
fn whenever_a_run_is_killed_clean_removes_what_it_left_and_nothing_else() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let page = "app = { kind = \"web-page\", size = \"200kB\" }\n";
    let download = lossy(ENDLESS, "newreno-lp");
    let page =
        format!("[[flow]]\nname = \"page\"\nfrom = \"src\"\nto = \"dst\"\nmin_rto = \"200ms\"\n{page}");
    let file = scenario(folder.path(), &format!("{download}{page}"));
    let _alone = truckee_testing::alone("clean");
    // A namespace of somebody else that is called nearly as ours are.
    let other = format!("truckee-user-{}", std::process::id());
    ip(&["netns", "add", &other]);
    let mut dice = 12_345_u64;
    for round in 0..kills() {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let after = Duration::from_micros((dice >> 33) % 600_000);
        let mut child = start(&["run", file.to_str().unwrap(), "--engine", "kernel"]);
        // Every fourth is killed so long after its start, the others so long after it has begun to make things.
        let made = round % 4 > 0;
        if made {
            wait_for("the run's beginning", || begun(child.id()));
        }
        std::thread::sleep(after);
        child.kill().unwrap();
        child.wait().unwrap();
        let identities = identities(child.id());
        assert!(!made || !identities.is_empty(), "round {round} left no trace");
        let output = run(&["clean"]);
        assert!(output.status.success(), "round {round}, killed after {after:?}: {}", said(&output));
        for identity in identities {
            assert_eq!(left(&identity), Vec::<String>::new(), "round {round}, killed after {after:?}");
        }
    }
    assert!(Path::new("/run/netns").join(&other).exists(), "what is not ours is left alone");
    ip(&["netns", "delete", &other]);
}

#[test]
fn a_kernel_without_bpf_still_runs_its_own_algorithms_and_says_what_is_missing() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path(), &lossy(FILE, "newreno-lp"));
    // A kernel whose type information nobody can read: no program of ours can be loaded.
    let blind = |sender: &str| {
        let command = format!(
            "mount -t tmpfs none /sys/kernel/btf && exec {} run {} --engine kernel --set flow.sender={sender}",
            TRUCKEE,
            file.display()
        );
        Command::new("unshare").args(["--mount", "sh", "-c", &command]).output().unwrap()
    };
    let own = blind("kernel:cubic");
    assert!(own.status.success(), "{}", said(&own));
    assert!(said(&own).contains("nothing is known of windows and loss events"), "{}", said(&own));
    let ours = blind("newreno-lp");
    assert_eq!(ours.status.code(), Some(1), "{}", said(&ours));
    assert!(said(&ours).contains("BTF") && said(&ours).contains("truckee doctor"), "{}", said(&ours));
}
