//! The connections of a capture, one a row; and their directions, one a line of CSV.

use crate::human::{NONE, count, many, optional, percent, quantity};
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_capture::Capture;
use truckee_capture::report::{Connection, Direction};

/// Writes all of it.
pub fn write(out: &mut dyn Write, capture: &Capture) -> io::Result<()> {
    if capture.connections.is_empty() {
        writeln!(out, "no TCP connections")?;
    } else {
        let columns = [
            numbers("#"),
            words("client"),
            words("server"),
            numbers("began"),
            numbers("lasted"),
            numbers("to server"),
            numbers("to client"),
            numbers("rate"),
            numbers("RTT: min"),
            numbers("mean"),
            numbers("resent"),
            numbers("fast retransmits"),
            numbers("timeouts"),
            numbers("spurious"),
            words("acknowledged"),
        ];
        let rows = capture.connections.iter().map(|c| row(c, capture.began_s));
        layout::write(out, &columns, rows)?;
    }
    let others = &capture.others;
    if others.connections > 0 {
        writeln!(
            out,
            "and {}: {} packets, {}, {} segments resent",
            many(others.connections as usize, "smaller connection"),
            count(others.packets),
            quantity(others.bytes as f64, "B"),
            count(others.retransmitted_segments),
        )?;
    }
    if capture.left_out > 0 {
        writeln!(out, "and {} left out", many(capture.left_out as usize, "connection"))?;
    }
    foot(out, capture)
}

fn foot(out: &mut dyn Write, capture: &Capture) -> io::Result<()> {
    write!(
        out,
        "\n{}: {} packets, {} of them TCP, in {}",
        capture.format,
        count(capture.packets),
        count(capture.tcp_packets),
        quantity(capture.lasted_s, "s"),
    )?;
    let skipped: Vec<String> =
        capture.skipped.iter().map(|(why, n)| format!("{why}: {}", count(*n))).collect();
    if !skipped.is_empty() {
        write!(out, "; passed over: {}", skipped.join(", "))?;
    }
    writeln!(out)
}

/// A connection; what is told of one direction is told of the one that more data went.
fn row(c: &Connection, origin: f64) -> Vec<String> {
    let main = c.direction(c.main_way());
    let again = &main.retransmissions;
    let rtt = main.whole_rtt_s();
    vec![
        c.number.to_string(),
        c.client.clone(),
        c.server.clone(),
        quantity(c.began_s - origin, "s"),
        quantity(c.lasted_s, "s"),
        quantity(c.to_server.unique_bytes as f64, "B"),
        quantity(c.to_client.unique_bytes as f64, "B"),
        optional(main.throughput_bps, "bit/s"),
        optional(rtt.map(|(min, _)| min), "s"),
        optional(rtt.map(|(_, mean)| mean), "s"),
        main.resent_share().map_or(NONE.to_owned(), percent),
        count(again.fast_events),
        count(again.timeout_events),
        count(again.spurious),
        main.ack_habit.clone().unwrap_or_else(|| NONE.to_owned()),
    ]
}

/// The columns of CSV: SI units, empty where there is no value.
pub const CSV: [&str; 39] = [
    "number",
    "from",
    "to",
    "began_s",
    "lasted_s",
    "state",
    "packets",
    "segments",
    "bytes",
    "unique_bytes",
    "acked_bytes",
    "missing_bytes",
    "segment_size",
    "throughput_bps",
    "rtt_min_s",
    "rtt_mean_s",
    "rtt_p50_s",
    "rtt_p95_s",
    "rtt_p99_s",
    "rtt_max_s",
    "rtt_samples",
    "sender_side_s",
    "place",
    "most_in_flight_bytes",
    "initial_window_bytes",
    "resent_segments",
    "resent_bytes",
    "fast_retransmits",
    "fast_segments",
    "timeouts",
    "timeout_segments",
    "probes",
    "unexplained",
    "spurious",
    "overtaken",
    "copies",
    "pure_acks",
    "segments_per_ack",
    "zero_windows",
];

/// The values of [`CSV`].
pub fn csv_row(c: &Connection, from: &str, to: &str, d: &Direction) -> [String; CSV.len()] {
    let optional = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
    let again = &d.retransmissions;
    [
        c.number.to_string(),
        from.to_owned(),
        to.to_owned(),
        c.began_s.to_string(),
        c.lasted_s.to_string(),
        c.state.to_owned(),
        d.packets.to_string(),
        d.segments.to_string(),
        d.bytes.to_string(),
        d.unique_bytes.to_string(),
        d.acked_bytes.to_string(),
        d.missing_bytes.to_string(),
        d.segment_size.to_string(),
        optional(d.throughput_bps),
        optional(d.rtt.map(|r| r.min_s)),
        optional(d.rtt.map(|r| r.mean_s)),
        optional(d.rtt.map(|r| r.p50_s)),
        optional(d.rtt.map(|r| r.p95_s)),
        optional(d.rtt.map(|r| r.p99_s)),
        optional(d.rtt.map(|r| r.max_s)),
        d.rtt.map_or(0, |r| r.count).to_string(),
        optional(d.sender_side_s),
        optional(d.place),
        d.most_in_flight_bytes.to_string(),
        d.initial_window_bytes.map(|b| b.to_string()).unwrap_or_default(),
        again.segments.to_string(),
        again.bytes.to_string(),
        again.fast_events.to_string(),
        again.fast.to_string(),
        again.timeout_events.to_string(),
        again.timeout.to_string(),
        again.probes.to_string(),
        again.unexplained.to_string(),
        again.spurious.to_string(),
        again.overtaken.to_string(),
        again.copies.to_string(),
        d.acks.pure.to_string(),
        optional(d.segments_per_ack),
        d.zero_windows.to_string(),
    ]
}
