//! What a run counts is what happens between the end of its warm-up and its own, however far ahead the simulator has
//! worked it out: links whose arrivals are known one hop ahead count as they do where other traffic keeps the simulator
//! from it.

#![allow(clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Options, run};
use truckee_scenario::{Document, Outcome};

/// Three hops with long delays: noise on the second, a short queue before the third. The simulator works out the second
/// and the third ahead.
const PATH: &str = r#"
    [[link]]
    between = ["a", "b"]
    rate = "10Mbit/s"
    delay = "200ms"
    [[link]]
    between = ["b", "c"]
    rate = "8Mbit/s"
    delay = "150ms"
    channel_both = { kind = "bernoulli", per = 0.05 }
    [[link]]
    between = ["c", "d"]
    rate = "2Mbit/s"
    delay = "50ms"
    queue = { kind = "red", size = "10packets", ecn = true }
"#;

/// Traffic that never begins, and for which each link must be ready all the same.
const NEVER: &str = r#"
    [[traffic]]
    from = "b"
    to = "d"
    kind = "poisson"
    rate = "1Mbit/s"
    start = "1000s"
    [[traffic]]
    from = "c"
    to = "d"
    kind = "poisson"
    rate = "1Mbit/s"
    start = "1000s"
    [[traffic]]
    from = "c"
    to = "a"
    kind = "poisson"
    rate = "1Mbit/s"
    start = "1000s"
    [[traffic]]
    from = "b"
    to = "a"
    kind = "poisson"
    rate = "1Mbit/s"
    start = "1000s"
"#;

fn outcome(text: &str, series: bool) -> Outcome {
    let scenario = Document::parse("books.toml", text).unwrap().scenario().unwrap();
    run(&scenario, &Options { series, ..Options::default() }).unwrap()
}

/// Runs a scenario with and without knowing ahead; its times and ends must be such that packets are on their way.
fn holds(timing: &str, owners: &str) -> Outcome {
    let text = format!("{timing}\n{PATH}\n{owners}");
    let (ahead, hop_by_hop) = (outcome(&text, false), outcome(&format!("{text}\n{NEVER}"), false));
    assert!(ahead.events < hop_by_hop.events, "nothing was worked out ahead");
    assert_eq!(ahead.links, hop_by_hop.links, "{timing}");
    assert_eq!(ahead.flows, hop_by_hop.flows, "{timing}");
    let owned = ahead.traffic.len();
    assert_eq!(ahead.traffic[..], hop_by_hop.traffic[..owned], "{timing}");
    ahead
}

const BULK: &str =
    "[[flow]]\nfrom = \"a\"\nto = \"d\"\nsender = \"sack\"\necn = true\ninitial_window = \"100segments\"";

const CROSS: &str = "[[traffic]]\nfrom = \"a\"\nto = \"d\"\nkind = \"poisson\"\nrate = \"3Mbit/s\"";

#[test]
fn what_is_known_ahead_is_counted_when_it_happens() {
    for warmup in ["0s", "550ms", "2s", "2100ms", "2200ms"] {
        for duration in ["3s", "3100ms", "3200ms", "3300ms"] {
            let timing = format!("duration = \"{duration}\"\nwarmup = \"{warmup}\"");
            let result = holds(&timing, &format!("{BULK}\n{CROSS}"));
            assert!(result.links[2].channel_drops > 10 && result.links[4].queue_drops > 10);
        }
    }
}

#[test]
fn what_is_known_ahead_is_not_counted_where_the_flows_are_done_before() {
    // The last ACK ends the run, with traffic and ACKs on their way.
    for size in ["20kB", "50kB", "100kB", "101kB", "150kB"] {
        let cross = CROSS.replace("3Mbit/s", "1Mbit/s");
        let file = format!("{BULK}\napp = {{ kind = \"file\", size = \"{size}\" }}\n{cross}");
        for warmup in ["0s", "1s"] {
            let result = holds(&format!("duration = \"500s\"\nwarmup = \"{warmup}\""), &file);
            assert!(result.simulated_s < 400.0, "{size}: the run was not ended by its flow");
        }
    }
}

#[test]
fn no_series_goes_beyond_the_end() {
    let text = format!("duration = \"3s\"\n{PATH}\n{BULK}\n{CROSS}");
    let result = outcome(&text, true);
    assert!(result.series[0].drops.iter().all(|drop| drop.t <= 3.0));
    assert!(result.queues.iter().all(|queue| queue.points.iter().all(|p| p.t <= 3.0)));
}
