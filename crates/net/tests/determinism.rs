//! The same scenario and seed do the same: on any number of threads, in any profile, on any machine. And what one
//! component does leaves the randomness of the others alone.
//!
//! `determinism/digests.txt` holds the digests that every build must give. After a change that is meant to change them,
//! `TRUCKEE_BLESS=1` writes them anew.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use rayon::prelude::*;
use std::path::Path;
use truckee_net::{Options, run};
use truckee_scenario::{Document, Outcome, Scenario};

const NOISY_DOWNLOAD: &str = r#"
    duration = "100s"
    topology = { kind = "single-link", rate = "5Mbit/s", delay = "50ms", queue = { size = "bdp" }, channel = { kind = "bernoulli", per = 0.01 } }
    flow     = [{ from = "src", to = "dst", sender = "newreno", receiver = "delayed", app = { kind = "file", size = "5MB" } }]
"#;

const MARKOV_CHANNEL_AND_JITTER: &str = r#"
    duration = "60s"
    [[link]]
    between = ["a", "b"]
    rate = "10Mbit/s"
    delay = "20ms"
    queue = { kind = "drop-tail", size = "64kB" }
    channel = [
        { kind = "gilbert", good = "1s", bad = "50ms", per_good = 0.001, per_bad = 0.3 },
        { kind = "jitter", distribution = "normal", mean = "5ms", sd = "2ms" },
    ]
    channel_back = { kind = "jitter", distribution = "pareto", scale = "100us", shape = 1.5, keep_order = true }
    [[flow]]
    from = "a"
    to = "b"
    sender = "sack"
    timestamps = true
    [[flow]]
    from = "b"
    to = "a"
    sender = "newreno-lp(spike)"
"#;

const DUMBBELL_WITH_RED_AND_ECN: &str = r#"
    duration = "30s"
    warmup = "5s"
    topology = { kind = "dumbbell", n = 10, rate = "20Mbit/s", delay = "20ms", queue = { kind = "red", size = "100packets", ecn = true } }
    [[flow]]
    from = "s*"
    to = "d*"
    start_every = "100ms"
    ecn = true
    sender = "sack-abc"
    [[traffic]]
    from = "s1"
    to = "d1"
    sources = 5
    kind = "pareto"
    rate = "2Mbit/s"
    on = "200ms"
    off = "400ms"
"#;

const LINKS_THAT_CHANGE: &str = r#"
    duration = "30s"
    [[link]]
    between = ["a", "r"]
    rate = "8Mbit/s"
    delay = "10ms"
    queue = { size = "30packets" }
    [[link]]
    between = ["a", "q"]
    rate = "4Mbit/s"
    delay = "15ms"
    queue = { size = "30packets" }
    [[link]]
    between = ["r", "b"]
    rate = "8Mbit/s"
    delay = "10ms"
    channel = { kind = "reorder", probability = 0.01, delay = "5ms" }
    [[link]]
    between = ["q", "b"]
    rate = "4Mbit/s"
    delay = "15ms"
    [[flow]]
    from = "a"
    to = "b"
    [[traffic]]
    from = "a"
    to = "b"
    kind = "poisson"
    rate = "1Mbit/s"
    [[change]]
    at = "5s"
    link = "r-b"
    up = false
    [[change]]
    at = "8s"
    link = "a-q"
    rate = "1Mbit/s"
    [[change]]
    at = "12s"
    link = "r-b"
    up = true
    [[change]]
    at = "20s"
    link = "a-r"
    delay = "40ms"
"#;

const MANY_SMALL_FILES: &str = r#"
    duration = "100s"
    [[link]]
    between = ["a", "b"]
    rate = "2Mbit/s"
    delay = "100ms"
    queue = { size = "20packets" }
    channel_both = { kind = "bit-errors", ber = 1e-6 }
    [[flow]]
    from = "a"
    to = "b"
    app = { kind = "files", size = "40kB", count = 40, connections = "parallel:4", pause = "10ms" }
    sender = "reno"
    [[flow]]
    from = "a"
    to = "b"
    app = { kind = "request-response", request = "200B", response = "10kB", think = "300ms" }
    sender = "tahoe"
    clock = "100ms"
"#;

const POISSON_SEGMENTS: &str = r#"
    duration = "60s"
    [[link]]
    between = ["a", "b"]
    rate = "3Mbit/s"
    delay = "30ms"
    queue = { size = "10packets" }
    channel = [{ kind = "correlated", per = 0.3, correlation = 0.5 }, { kind = "outages", every = "5s", lasting = "200ms" }]
    [[flow]]
    from = "a"
    to = "b"
    app = { kind = "segments", arrivals = { kind = "exponential", rate = "4Mbit/s", on = "300ms", off = "300ms" } }
    sender = "reno-once"
    limited_transmit = true
"#;

/// One flow of each kind of arithmetic: filters, predictors, curves, models of the path; and all who can watch.
const ESTIMATES_AND_CURVES: &str = r#"
    duration = "30s"
    [[link]]
    between = ["a", "r"]
    rate = "40Mbit/s"
    delay = "20ms"
    queue = { size = "100packets" }
    [[link]]
    between = ["r", "b"]
    rate = "100Mbit/s"
    delay = "1ms"
    channel = { kind = "bernoulli", per = 0.002 }
    [[traffic]]
    from = "a"
    to = "r"
    sources = 3
    kind = "pareto"
    rate = "4Mbit/s"
    on = "200ms"
    off = "400ms"
    [[flow]]
    from = "a"
    to = "b"
    receiver = "delayed"
    timestamps = true
    [flow.observe]
    predictors = ["vegas", "vegas-single", "ncpld", "spike", "flip-flop", "random", "ideal"]
    estimators = ["packet-pair", "vegas-rate", "westwood-1", "westwood-2", "westwood-3", "csfq", "tibet", "ewma", "oracle"]
"#;

/// The same network with one flow of each of these senders.
fn of_each(senders: &[&str]) -> String {
    let flow = |sender: &&str| {
        let pacing = if *sender == "sack" { "pacing = \"per-window\"" } else { "" };
        format!("[[flow]]\nfrom = \"a\"\nto = \"b\"\nsender = {{ preset = \"{sender}\", {pacing} }}\n")
    };
    let flows: String = senders.iter().map(flow).collect();
    format!("{ESTIMATES_AND_CURVES}\n{}", flows.replace(", }", " }"))
}

const SENDERS: [&str; 16] = [
    "westwood-1",
    "westwood-2",
    "westwood-3",
    "tibet",
    "ideal-bandwidth",
    "newreno-lp(ncpld)",
    "newreno-lp(flip-flop)",
    "newreno-lp(random)",
    "vegas",
    "hstcp",
    "newreno-lp+hstcp",
    "limited-slow-start",
    "selective-slow-start",
    "santa-cruz",
    "cubic",
    "bbr",
];

const ALL: [(&str, &str); 6] = [
    ("noisy-download", NOISY_DOWNLOAD),
    ("markov-channel-and-jitter", MARKOV_CHANNEL_AND_JITTER),
    ("dumbbell-with-red-and-ecn", DUMBBELL_WITH_RED_AND_ECN),
    ("links-that-change", LINKS_THAT_CHANGE),
    ("many-small-files", MANY_SMALL_FILES),
    ("poisson-segments", POISSON_SEGMENTS),
];

fn scenario(name: &str, text: &str) -> Scenario {
    let document = Document::parse(name, text).unwrap();
    document.scenario().unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

fn outcome(text: &str, settings: &[(&str, &str)]) -> Outcome {
    let mut document = Document::parse("determinism.toml", text).unwrap();
    for (path, value) in settings {
        document.set(path, value).unwrap();
    }
    run(&document.scenario().unwrap(), &Options::default()).unwrap()
}

#[test]
fn digests_are_the_pinned_ones() {
    let each = of_each(&[SENDERS.as_slice(), &["jump-start", "quick-start", "sack"]].concat());
    let digests: Vec<String> = ALL
        .iter()
        .copied()
        .chain([("estimates-and-curves", each.as_str())])
        .flat_map(|(name, text)| (1..=3).map(move |seed| (name, text, seed)))
        .map(|(name, text, seed)| {
            let mut scenario = scenario(name, text);
            scenario.seed = seed;
            format!("{} {name} {seed}\n", run(&scenario, &Options::default()).unwrap().digest)
        })
        .collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/determinism/digests.txt");
    if std::env::var_os("TRUCKEE_BLESS").is_some() {
        std::fs::write(&file, digests.concat()).unwrap();
    }
    let pinned = std::fs::read_to_string(&file).unwrap();
    assert_eq!(pinned.lines().collect::<Vec<_>>(), digests.iter().map(|d| d.trim_end()).collect::<Vec<_>>());
}

#[test]
fn digests_do_not_depend_on_the_number_of_threads() {
    let digests = |threads: usize| -> Vec<String> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            ALL.par_iter()
                .flat_map(|(name, text)| (1..=4).into_par_iter().map(move |seed| (name, text, seed)))
                .map(|(name, text, seed)| {
                    let mut scenario = scenario(name, text);
                    scenario.seed = seed;
                    run(&scenario, &Options::default()).unwrap().digest
                })
                .collect()
        })
    };
    let alone = digests(1);
    assert_eq!(alone, digests(2));
    let mut different = alone.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), alone.len(), "another seed, another history");
}

/// A TCP flow and cross traffic that share nothing but the run.
const APART: &str = r#"
    duration = "30s"
    [[link]]
    between = ["a", "b"]
    rate = "5Mbit/s"
    delay = "20ms"
    queue = { size = "20packets" }
    channel = { kind = "bernoulli", per = 0.01 }
    [[link]]
    between = ["c", "d"]
    rate = "5Mbit/s"
    delay = "20ms"
    queue = { size = "5packets" }
    channel = { kind = "gilbert", good = "300ms", bad = "30ms", per_good = 0.01, per_bad = 0.5 }
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    [[traffic]]
    from = "c"
    to = "d"
    kind = "poisson"
    rate = "4Mbit/s"
    [[traffic]]
    from = "c"
    to = "d"
    kind = "exponential"
    rate = "2Mbit/s"
    on = "100ms"
    off = "300ms"
"#;

#[test]
fn another_sender_leaves_the_others_draws_as_they_were() {
    let results = ["tahoe", "newreno", "sack"].map(|sender| outcome(APART, &[("flow.sender", sender)]));
    for result in &results {
        assert_eq!(result.traffic, results[0].traffic);
        assert_eq!(result.links[2], results[0].links[2]);
    }
    assert!(results[0].links[2].channel_drops > 100 && results[0].links[2].queue_drops > 10);
    assert_ne!(results[0].flows[0].goodput_bps, results[2].flows[0].goodput_bps);
}

#[test]
fn arrivals_on_a_shared_link_do_not_depend_on_the_flow() {
    // On the flow's own link the traffic meets another queue, but it sends the same packets.
    let shared = APART.replace("from = \"c\"\n    to = \"d\"", "from = \"a\"\n    to = \"b\"");
    assert_ne!(shared, APART);
    let results = ["tahoe", "sack"].map(|sender| outcome(&shared, &[("flow.sender", sender)]));
    for k in [0, 1] {
        assert_eq!(results[0].traffic[k].packets_sent, results[1].traffic[k].packets_sent);
    }
    assert_ne!(results[0].traffic[0].packets_delivered, results[1].traffic[0].packets_delivered);
}

#[test]
fn a_component_more_leaves_the_others_draws_as_they_were() {
    let without = outcome(APART, &[]);
    let with = outcome(
        &format!("{APART}\n[[traffic]]\nfrom = \"d\"\nto = \"c\"\nkind = \"poisson\"\nrate = \"1Mbit/s\"\n"),
        &[],
    );
    assert_eq!(with.traffic[..2], without.traffic[..]);
    assert_eq!(with.flows, without.flows);
}
