//! The same answers as tshark and tcptrace, on captures of real transfers over the path emulator: with loss, reordering,
//! doubling, outages; at the sender and at the receiver. Where the tools differ from us, or from each other, the test
//! says who is right and holds both to what they say.
//!
//! `tests/data/*.pcap.gz`: Linux 6.18 to itself by iperf3, 20 Mbit/s and 20 ms each way, a queue of 40 packets. The
//! emulator's own counts of what it lost and doubled stand below as the truth.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use std::path::{Path, PathBuf};
use std::process::Command;
use truckee_capture::report::Direction;
use truckee_capture::{Capture, Limits, read, source};

/// A capture, and what there is to know of its data connection.
struct Case {
    name: &'static str,
    /// Segments with data, sent again as seen here, overtaken, doubled.
    segments: u64,
    again: u64,
    overtaken: u64,
    copies: u64,
}

const fn case(name: &'static str, segments: u64, again: u64, overtaken: u64, copies: u64) -> Case {
    Case { name, segments, again, overtaken, copies }
}

const CASES: [Case; 8] = [
    case("lossy-sender", 370, 8, 0, 0),
    case("lossy-receiver", 361, 8, 0, 0),
    case("reorder-sender", 502, 40, 0, 0),
    case("reorder-receiver", 399, 40, 8, 0),
    case("doubled-sender", 491, 63, 0, 0),
    case("doubled-receiver", 397, 63, 0, 8),
    case("outage-sender", 701, 250, 0, 0),
    case("outage-receiver", 451, 231, 0, 0),
];

fn packed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("{name}.pcap.gz"))
}

fn ours(name: &str) -> Capture {
    let source = source::open(&packed(name)).unwrap();
    read(source, Limits::default(), None, |_| true).unwrap()
}

/// The data of iperf3's data connection, which is the second.
fn data(capture: &Capture) -> &Direction {
    &capture.connections[1].to_server
}

/// A capture as the tools read it, and the folder it is in.
fn unpacked(name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("capture.pcap");
    let mut packed = source::open(&packed(name)).unwrap();
    std::io::copy(&mut packed, &mut std::fs::File::create(&path).unwrap()).unwrap();
    (dir, path)
}

/// What a tool prints; the test is skipped where it is not installed.
fn said(tool: &str, arguments: &[&str]) -> Option<String> {
    let done = Command::new(tool).args(arguments).output().map_err(|e| format!("{tool} cannot be run: {e}"));
    Some(String::from_utf8_lossy(&truckee_testing::given(done)?.stdout).into_owned())
}

/// A packet of the second connection as tshark sees it.
struct Seen {
    to_server: bool,
    len: u64,
    rtt: Option<f64>,
    duplicate: bool,
    again: bool,
    out_of_order: bool,
}

/// All of them.
fn tshark(path: &Path) -> Option<Vec<Seen>> {
    const FIELDS: [&str; 6] = [
        "tcp.dstport",
        "tcp.len",
        "tcp.analysis.ack_rtt",
        "tcp.analysis.duplicate_ack",
        "tcp.analysis.retransmission",
        "tcp.analysis.out_of_order",
    ];
    let mut arguments = vec!["-r", path.to_str().unwrap(), "-Y", "tcp.stream==1", "-T", "fields"];
    FIELDS.iter().for_each(|field| arguments.extend(["-e", field]));
    let text = said("tshark", &arguments)?;
    let seen = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        Seen {
            to_server: fields[0] == "5201",
            len: fields[1].parse().unwrap(),
            rtt: fields[2].parse().ok(),
            duplicate: !fields[3].is_empty(),
            again: !fields[4].is_empty(),
            out_of_order: !fields[5].is_empty(),
        }
    };
    Some(text.lines().map(seen).collect())
}

/// The number that tcptrace prints after this label for the second connection, from client to server.
fn tcptrace(text: &str, label: &str) -> f64 {
    let second = text.split("TCP connection 2:").nth(1).expect("two connections");
    let line = second.lines().find(|l| l.trim_start().starts_with(label)).expect(label);
    let value = line.split(label).nth(1).unwrap().split_whitespace().next().unwrap();
    value.parse().unwrap()
}

#[test]
fn counts_are_those_that_the_emulator_knows() {
    for case in &CASES {
        let capture = ours(case.name);
        let again = &data(&capture).retransmissions;
        let counts = (data(&capture).segments, again.segments, again.overtaken, again.copies);
        assert_eq!(counts, (case.segments, case.again, case.overtaken, case.copies), "{}", case.name);
        assert_eq!((capture.ended_early.as_ref(), capture.skipped.len()), (None, 0), "{}", case.name);
        let at_sender = case.name.ends_with("sender");
        let place = data(&capture).place.unwrap();
        assert!(if at_sender { place < 0.1 } else { place > 0.9 }, "{}: {place}", case.name);
    }
}

/// What the sender of `outage-sender` sends again it sends because its timer went off, six times (after 0.25, 0.25, 0.20,
/// 0.49, 0.99 and 0.25 s of silence), although SACK soon shows data behind.
#[test]
fn after_an_outage_all_that_goes_again_belongs_to_the_timer() {
    let capture = ours("outage-sender");
    let again = &data(&capture).retransmissions;
    assert_eq!((again.timeout_events, again.timeout, again.fast_events), (6, 250, 0), "{again:?}");
}

#[test]
fn packets_bytes_round_trips_and_duplicates_are_tsharks_and_its_retransmissions_are_explained() {
    for case in &CASES {
        let (capture, (_dir, path)) = (ours(case.name), unpacked(case.name));
        let Some(seen) = tshark(&path) else { return };
        let data = data(&capture);
        let sent = || seen.iter().filter(|s| s.to_server);
        assert_eq!(data.packets, sent().count() as u64, "{}", case.name);
        assert_eq!(data.bytes, sent().map(|s| s.len).sum::<u64>(), "{}", case.name);
        assert_eq!(data.segments, sent().filter(|s| s.len > 0).count() as u64, "{}", case.name);

        // tshark's round trips are of the segment whose end an ACK names, also if that was sent again or SACK had long
        // reported it; ours are not. So theirs are more, and the smallest may be one that Karn forbids.
        let rtts: Vec<f64> = seen.iter().filter(|s| !s.to_server).filter_map(|s| s.rtt).collect();
        let least = rtts.iter().copied().fold(f64::INFINITY, f64::min);
        let own = data.rtt.unwrap();
        assert!(own.min_s > least - 2e-6 && own.min_s < least + 1e-3, "{}: {own:?} {least}", case.name);
        let n = rtts.len() as u64;
        let (acks, again) = (&data.acks, &data.retransmissions);
        assert!(own.count <= n && own.count + again.segments >= n, "{}: {own:?}, tshark {n}", case.name);

        // tshark's duplicates need nothing to be in the air: it counts the answers to copies too.
        let theirs = seen.iter().filter(|s| !s.to_server && s.duplicate).count() as u64;
        let most = acks.duplicate + acks.copies + again.dsacks + 1;
        assert!(theirs + 1 >= acks.duplicate && theirs <= most, "{}: {acks:?}, tshark {theirs}", case.name);

        // Before a packet has left nothing can overtake it; tshark takes what comes within a round trip for reordered.
        let repeated = sent().filter(|s| s.len > 0 && (s.again || s.out_of_order)).count() as u64;
        if case.name.ends_with("sender") {
            assert_eq!((repeated, again.overtaken), (again.segments, 0), "{}", case.name);
        }
    }
}

#[test]
fn at_the_sender_retransmissions_are_tcptraces() {
    for case in CASES.iter().filter(|c| c.name.ends_with("sender")) {
        let (capture, (_dir, path)) = (ours(case.name), unpacked(case.name));
        let Some(text) = said("tcptrace", &["-lrn", path.to_str().unwrap()]) else { return };
        let again = &data(&capture).retransmissions;
        // tcptrace counts a SYN that was sent again among the data.
        let syn = capture.connections[1].syn_again.min(1) as f64;
        assert_eq!(tcptrace(&text, "rexmt data pkts:") - syn, again.segments as f64, "{}", case.name);
        assert_eq!(tcptrace(&text, "actual data pkts:"), data(&capture).segments as f64, "{}", case.name);
        assert_eq!(
            tcptrace(&text, "unique bytes sent:"),
            data(&capture).unique_bytes as f64,
            "{}",
            case.name
        );
    }
}

#[test]
fn at_the_receiver_tcptrace_takes_copies_for_retransmissions_and_repairs_for_reordering() {
    for case in CASES.iter().filter(|c| c.name.ends_with("receiver")) {
        let (capture, (_dir, path)) = (ours(case.name), unpacked(case.name));
        let Some(text) = said("tcptrace", &["-lrn", path.to_str().unwrap()]) else { return };
        let again = &data(&capture).retransmissions;
        let syn = capture.connections[1].syn_again.min(1) as f64;
        let theirs = tcptrace(&text, "rexmt data pkts:") - syn + tcptrace(&text, "outoforder pkts:");
        let own = again.segments + again.overtaken + again.copies;
        assert_eq!(theirs, own as f64, "{}: {again:?}", case.name);
        assert!(tcptrace(&text, "outoforder pkts:") >= again.lost_before as f64, "{}", case.name);
    }
}
