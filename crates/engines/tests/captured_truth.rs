//! What `truckee read` makes of a capture, held against what the sender itself has counted: simulated transfers over noisy
//! paths, captured at the sender, written as pcapng and read back. The sender knows when it began a repair and when its
//! timer went off; the capture shows packets alone.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use std::fmt::Write as _;
use truckee_capture::Limits;
use truckee_engines::{Simulator, tap};
use truckee_lab::Engine;
use truckee_scenario::Document;
use truckee_scenario::outcome::Vantage;

/// Every way of noticing and repairing losses that there is.
const SENDERS: [&str; 8] = ["tahoe", "tahoe-nofr", "reno", "reno-once", "newreno", "vegas", "sack", "cubic"];
/// Those whose segments wait for their turn: what ACKs ask for and what timers ask for then looks alike.
const PACED: [&str; 2] = ["newreno-paced", "bbr"];
/// Of the data, beside what the queue drops.
const PER: [f64; 4] = [0.0, 0.002, 0.01, 0.04];
/// Rate, delay one way and queue of a path, and its stack.
const PATHS: [(&str, &str, &str, &str); 3] = [
    ("2Mbit/s", "20ms", "10packets", ""),
    ("5Mbit/s", "100ms", "60packets", "receiver = \"delayed\""),
    ("5Mbit/s", "40ms", "400packets", TODAY),
];
/// Settings of today.
const TODAY: &str = "receiver = \"delayed\"\ninitial_window = \"10segments\"\nmin_rto = \"200ms\"\n\
                     limited_transmit = true\ntimestamps = true";

/// What was counted of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    segments: u64,
    resent: u64,
    repairs: u64,
    timeouts: u64,
}

/// What the sender has counted, and what the capture shows.
fn counts(sender: &str, per: f64, (rate, delay, queue, stack): (&str, &str, &str, &str)) -> (Counts, Counts) {
    let text = format!(
        r#"
        duration = "20s"
        [[link]]
        between = ["a", "b"]
        rate = "{rate}"
        delay = "{delay}"
        queue = {{ size = "{queue}" }}
        channel = {{ kind = "bernoulli", per = {per} }}
        [[flow]]
        from = "a"
        to = "b"
        sender = "{sender}"
        {stack}
        "#
    );
    let scenario = Document::parse("noisy.toml", &text).unwrap().scenario().unwrap();
    let outcome = Simulator.run_tapped(&scenario, Vantage::Sender).unwrap();
    let flow = &outcome.flows[0];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.pcapng");
    tap::write(&path, &scenario, &outcome, Vantage::Sender).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let capture = truckee_capture::read(&bytes[..], Limits::default(), None, |_| true).unwrap();
    let connection = &capture.connections[0];
    let data = &connection.to_server;
    let own = Counts {
        segments: flow.segments_sent,
        resent: flow.retransmitted_segments,
        repairs: flow.fast_retransmits,
        timeouts: flow.timeouts,
    };
    let again = &data.retransmissions;
    let shown = Counts {
        segments: data.segments,
        resent: again.segments,
        repairs: again.fast_events,
        // The sender's timer watches over its SYN too.
        timeouts: again.timeout_events + connection.syn_again,
    };
    (own, shown)
}

/// Every sender over every path: what there was, as a table, and where the two are further apart than allowed.
fn compare(senders: &[&str], allowed: impl Fn(u64) -> u64) {
    let (mut table, mut wrong) = (String::new(), 0);
    for sender in senders {
        for path in PATHS {
            for per in PER {
                let (own, shown) = counts(sender, per, path);
                let near = |own: u64, shown: u64| own.abs_diff(shown) <= allowed(own);
                let right = (own.segments, own.resent) == (shown.segments, shown.resent)
                    && near(own.repairs, shown.repairs)
                    && near(own.timeouts, shown.timeouts);
                wrong += u32::from(!right);
                let (rate, delay) = (path.0, path.1);
                let pair = |own: u64, shown: u64| format!("{own:>5} {shown:>4}");
                writeln!(
                    table,
                    "{sender:<14} {rate:<8} {delay:<6} {per:>5} sent {:>5}  resent {}  repairs {}  timeouts {}{}",
                    own.segments,
                    pair(own.resent, shown.resent),
                    pair(own.repairs, shown.repairs),
                    pair(own.timeouts, shown.timeouts),
                    if right { "" } else { "  wrong" }
                )
                .unwrap();
            }
        }
    }
    println!("what the sender counted, what the capture shows:\n{table}");
    assert_eq!(wrong, 0, "what the sender counted, what the capture shows:\n{table}");
}

#[test]
fn repairs_and_timeouts_are_those_that_the_sender_has_counted() {
    compare(&SENDERS, |_| 0);
}

#[test]
fn of_a_sender_that_paces_a_tenth_may_be_taken_for_the_other() {
    compare(&PACED, |own| 1 + own / 10);
}
