//! Each port on the running kernel, over a lossy path, held against its definition.

#![cfg(live)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod lossy;

use lossy::{Path, send};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use truckee_kernel::cc::{Event, Events, Kind, Loaded, PORTS, Port, available, flags};
use truckee_kernel::replay::{Report, replay};
use truckee_tcp::response::AnyResponse;
use truckee_tcp::{Arg, Spec};

const MS: Duration = Duration::from_millis(1);

/// 10 Mbit/s, 20 ms each way, a queue of 20 packets, noise, and an outage that ends in a timeout.
const PATH: Path = Path {
    rate: 10e6,
    queue: 20,
    delay: MS.saturating_mul(20),
    loss: 0.004,
    dark: (MS.saturating_mul(3000), MS.saturating_mul(3700)),
    mark: usize::MAX,
    cut: 1,
    sysctls: &[],
};

/// A name that no other test, here or in another process, uses.
fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("tkt{:x}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Sends over the path for six seconds, and replays what was recorded.
fn record(port: &Port, path: Path) -> (Report, Vec<Event>) {
    let name = unique();
    let mut loaded = Loaded::load(port, &name, true).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut all = Events::default();
    let bytes = send(path, &name, MS * 6000, || {
        let more = loaded.events().unwrap();
        all.list.extend(more.list);
        all.lost += more.lost;
    });
    assert_eq!(all.lost, 0);
    assert!(bytes > 100_000, "{name}: {bytes} bytes arrived");
    drop(loaded);
    // A process that another test is just starting may hold what holds it, until it has become another program.
    let until = Instant::now() + MS * 5000;
    while available().unwrap().contains(&name) {
        assert!(Instant::now() < until, "{name} is still registered");
        std::thread::sleep(MS * 10);
    }
    let mut reports = replay(port, &all.list).unwrap();
    assert_eq!(reports.len(), 1, "one connection: {reports:?}");
    (reports.remove(0), all.list)
}

/// Every published port whose name in the kernel is one of those.
fn hold(names: &[&str], path: Path) -> Vec<Report> {
    let port = |name: &&str| truckee_kernel::cc::find(name).unwrap().port().unwrap();
    let ports: Vec<_> = names.iter().map(|name| (*name, port(name))).collect();
    hold_all(&ports, path)
}

/// Runs each, all at once, and holds it against its definition.
fn hold_all(ports: &[(&str, Port)], path: Path) -> Vec<Report> {
    std::thread::scope(|scope| {
        let runs: Vec<_> =
            ports.iter().map(|(name, port)| (name, scope.spawn(move || record(port, path).0))).collect();
        let done = runs.into_iter().map(|(name, run)| {
            let report = run.join().unwrap();
            println!("{name}: {report:?}");
            assert!(report.acks > 100 && report.losses >= 3, "{name} had little to decide: {report:?}");
            assert!(report.within(), "{name}: {report:?}");
            report
        });
        done.collect()
    })
}

#[test]
fn every_published_port_is_among_the_tested() {
    let tested = [STANDARD, GUESSING, JUDGING, ESTIMATING, LARGE].concat();
    for port in PORTS {
        assert!(tested.contains(&port.name), "{}", port.name);
    }
}

const STANDARD: &[&str] = &["tk_newreno", "tk_rfc2581", "tk_capped", "tk_vegas"];
const GUESSING: &[&str] = &["tk_lp_single", "tk_lp_random", "tk_lp_congested", "tk_lp_wireless"];
const JUDGING: &[&str] = &["tk_lp_vegas", "tk_lp_ncpld", "tk_lp_spike", "tk_lp_flipflop"];
const ESTIMATING: &[&str] = &["tk_tibet", "tk_westwood1", "tk_westwood2", "tk_westwood3"];
const LARGE: &[&str] = &["tk_highspeed", "tk_lp_highspeed", "tk_limited_ss"];

#[test]
fn standard_ports_are_their_definitions() {
    hold(STANDARD, PATH);
}

#[test]
fn bounds_of_predictors_are_their_definitions() {
    hold(GUESSING, PATH);
}

#[test]
fn predictors_are_their_definitions() {
    for report in hold(JUDGING, PATH) {
        assert!(report.verdicts > 500, "{report:?}");
    }
}

/// NewReno-LP with a predictor of one argument that is not the published one.
fn judging(predictor: &str, arg: &str, value: f64) -> Port {
    let by_cause = Spec::named("by-cause").with("predictor", Arg::Name(predictor.into()));
    let response = by_cause.with(arg, Arg::Number(value));
    Port {
        response: AnyResponse::build(&response).unwrap().1,
        ..truckee_kernel::cc::find("tk_newreno").unwrap().port().unwrap()
    }
}

/// Thresholds at which both answers are frequent, which the published ones may not be on this path.
#[test]
fn predictors_are_their_definitions_whatever_they_answer() {
    let ports = [
        ("flip-flop", "eta", 1.0),
        ("flip-flop", "eta", 2.0),
        ("spike", "beta", 0.3),
        ("vegas", "beta", 2.0),
    ];
    let mut ports = ports.map(|(predictor, arg, value)| (predictor, judging(predictor, arg, value))).to_vec();
    // How frequent an answer is depends on the round trips, and those on what else the machine does.
    for _ in 0..5 {
        let reports = hold_all(&ports, PATH);
        let shares = reports.iter().map(|report| report.wireless as f64 / report.verdicts as f64);
        let mut both = shares.map(|wireless| (0.02..0.98).contains(&wireless));
        ports.retain(|_| !both.next().unwrap_or(false));
        if ports.is_empty() {
            return;
        }
    }
    panic!("always the same answers: {ports:?}");
}

#[test]
fn estimators_are_their_definitions() {
    hold(ESTIMATING, PATH);
}

/// Windows of hundreds of segments: 40 Mbit/s, 60 ms each way.
const FAST: Path = Path { rate: 40e6, queue: 400, delay: MS.saturating_mul(60), loss: 0.0003, ..PATH };

#[test]
fn large_windows_are_their_definitions() {
    for report in hold(LARGE, FAST) {
        assert!(report.largest > 100.0, "{report:?}");
    }
}

/// Samples a fraction of a millisecond apart, of which a filter of one second forgets little.
#[test]
fn estimators_are_their_definitions_at_high_rates() {
    let path = Path { rate: 100e6, queue: 200, delay: MS * 5, loss: 0.0005, ..PATH };
    for report in hold(&["tk_tibet", "tk_westwood3"], path) {
        assert!(report.acks > 2000, "{report:?}");
    }
}

/// The stack of the papers: no SACK, no timestamps, no RACK, no probes, no F-RTO.
const PAPERS: Path = Path {
    sysctls: &[
        "tcp_sack=0",
        "tcp_timestamps=0",
        "tcp_recovery=0",
        "tcp_early_retrans=0",
        "tcp_frto=0",
        "tcp_window_scaling=1",
    ],
    ..PATH
};

#[test]
fn ports_are_their_definitions_on_the_papers_stack() {
    hold(&["tk_westwood2", "tk_lp_ncpld", "tk_lp_spike", "tk_tibet"], PAPERS);
}

/// Echoes of congestion are congestion, whatever a predictor would say.
#[test]
fn an_ecn_echo_is_told_from_a_loss() {
    let port = truckee_kernel::cc::find("tk_lp_wireless").unwrap().port().unwrap();
    let path = Path { mark: 4, loss: 0.001, sysctls: &["tcp_ecn=1"], ..PATH };
    // Whether the dark finds a window that only the timer repairs is a matter of a millisecond.
    let timed_out =
        |events: &[Event]| events.iter().any(|e| e.kind == Kind::Ssthresh && e.is(flags::TIMEOUT));
    let mut recorded = std::iter::repeat_with(|| record(&port, path)).take(5);
    let (report, events) = recorded.find(|(_, events)| timed_out(events)).expect("a timeout in five runs");
    println!("{report:?}");
    assert!(report.within(), "{report:?}");
    let of = |flag: u8| {
        let asked = events.iter().filter(|e| e.kind == Kind::Ssthresh && e.is(flag));
        asked.map(|e| e.verdict).collect::<Vec<_>>()
    };
    let (echoes, timeouts) = (of(flags::ECHO), of(flags::TIMEOUT));
    assert!(echoes.len() >= 3 && echoes.iter().all(|&verdict| verdict == 1), "{echoes:?}");
    assert!(!timeouts.is_empty() && timeouts.iter().all(|&verdict| verdict == 2), "{timeouts:?}");
}

/// The port of RFC 2581 sees each part of an ACK that was cut, and opens by each, as far as the window limits it.
#[test]
fn divided_acks_open_the_window_by_their_number() {
    let quiet = Path { loss: 0.0, dark: (Duration::ZERO, Duration::ZERO), queue: 2000, ..PATH };
    let opened = |name: &str, cut: u32| {
        let port = truckee_kernel::cc::find(name).unwrap().port().unwrap();
        let (report, events) = record(&port, Path { cut, ..quiet });
        assert!(report.within(), "{name}: {report:?}");
        // The window when the first 150,000 bytes have been acknowledged.
        let first = events.first().map_or(0, |e| e.una);
        let acks = events.iter().filter(|e| e.kind == Kind::Ack);
        acks.take_while(|e| e.una.wrapping_sub(first) <= 150_000).last().map_or(0, |e| e.window_after >> 32)
    };
    let [whole, quarters, sixteenths] = [1, 4, 16].map(|cut| opened("tk_rfc2581", cut));
    let capped = opened("tk_capped", 16);
    println!("whole {whole}, cut in 4 {quarters}, in 16 {sixteenths}, capped {capped}");
    assert!(2 * quarters > 3 * whole && sixteenths > quarters, "{whole} {quarters} {sixteenths}");
    assert!(capped > whole, "{whole} {capped}");
}

/// The replay must see a port whose parameters are a little off.
#[test]
fn a_port_with_other_parameters_is_not_its_definition() {
    let tibet = |alpha| {
        Spec::named("to-estimate")
            .with("estimator", Arg::Name("tibet".into()))
            .with("alpha", Arg::Number(alpha))
    };
    let standard = truckee_kernel::cc::find("tk_newreno").unwrap().port().unwrap();
    let tibet = |alpha| Port { response: AnyResponse::build(&tibet(alpha)).unwrap().1, ..standard.clone() };
    let pairs = [
        (judging("vegas", "beta", 3.0), judging("vegas", "beta", 3.3)),
        (judging("spike", "beta", 0.3), judging("spike", "beta", 0.45)),
        (tibet(0.99), tibet(0.9901)),
    ];
    for (loaded, replayed) in pairs {
        let (own, events) = record(&loaded, PATH);
        assert!(own.within(), "{own:?}");
        let other = replay(&replayed, &events).unwrap().remove(0);
        println!("{other:?}");
        assert!(!other.within(), "{other:?}");
    }
}
