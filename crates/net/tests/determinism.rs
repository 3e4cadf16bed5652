//! The same scenario and seed do the same: on any number of threads, in any profile, on any machine. And what one
//! component does leaves the randomness of the others alone.
//!
//! `determinism/digests.txt` holds the digests that every build must give of the scenarios beside it, a browser's included
//! (`tools/web.py`). After a change that is meant to change them, `TRUCKEE_BLESS=1` writes them anew.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use rayon::prelude::*;
use std::path::Path;
use truckee_net::{Options, run};
use truckee_scenario::{Document, Outcome, Scenario};

/// A scenario of the folder, by its name.
macro_rules! pinned {
    ($name:literal) => {
        ($name, include_str!(concat!("determinism/", $name, ".toml")))
    };
}

/// What is quick enough to run more often.
const MOST: [(&str, &str); 6] = [
    pinned!("noisy-download"),
    pinned!("markov-channel-and-jitter"),
    pinned!("dumbbell-with-red-and-ecn"),
    pinned!("links-that-change"),
    pinned!("many-small-files"),
    pinned!("poisson-segments"),
];
const ESTIMATES: (&str, &str) = pinned!("estimates-and-curves");

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
    let digests: Vec<String> = MOST
        .into_iter()
        .chain([ESTIMATES])
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
            MOST.par_iter()
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
