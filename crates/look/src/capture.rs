//! What there is to say of a captured connection, in words: the same on a page as in the command's tables.
//!
//! Not for: JSON and CSV, which have every digit.

use truckee_capture::handshake::Offer;
use truckee_capture::report::Direction;
use truckee_lab::human::{NONE, count, optional, quantity};

/// What an end offers in its SYN.
pub fn offered(o: &Offer) -> String {
    let mut parts = vec![o.mss.map_or("no MSS".to_owned(), |mss| format!("MSS {mss}"))];
    parts.push(format!("window {}", o.window));
    parts.extend(o.window_scale.map(|scale| format!("scale {scale}")));
    let switches = [
        (o.sack, "SACK"),
        (o.timestamps, "timestamps"),
        (o.ecn, "ECN"),
        (o.fast_open, "Fast Open"),
        (o.multipath, "Multipath TCP"),
    ];
    parts.extend(switches.into_iter().filter(|(on, _)| *on).map(|(_, name)| name.to_owned()));
    if o.sent > 1 {
        parts.push(format!("sent {} times", o.sent));
    }
    parts.join(", ")
}

/// What there is to say of a direction: names, and values or dashes.
pub fn lines(d: &Direction) -> Vec<(&'static str, String)> {
    let bytes = |n: u64| quantity(n as f64, "B");
    let (again, acks) = (&d.retransmissions, &d.acks);
    let time = |x: Option<f64>| optional(x, "s");
    let mut lines = vec![
        ("packets", count(d.packets)),
        ("segments with data", count(d.segments)),
        ("data, each byte once", bytes(d.unique_bytes)),
        ("data not captured", if d.missing_bytes > 0 { bytes(d.missing_bytes) } else { "0".to_owned() }),
        ("segment size", bytes(u64::from(d.segment_size))),
        (
            "largest captured (offloads)",
            if d.offloaded { bytes(u64::from(d.largest_segment)) } else { NONE.to_owned() },
        ),
        ("throughput", optional(d.throughput_bps, "bit/s")),
        ("RTT by sequence numbers: min", time(d.rtt.map(|r| r.min_s))),
        ("  mean", time(d.rtt.map(|r| r.mean_s))),
        ("  median", time(d.rtt.map(|r| r.p50_s))),
        ("  95th percentile", time(d.rtt.map(|r| r.p95_s))),
        ("  max", time(d.rtt.map(|r| r.max_s))),
        ("RTT by time stamps: min", time(d.rtt_by_stamps.map(|r| r.min_s))),
        ("  mean", time(d.rtt_by_stamps.map(|r| r.mean_s))),
        ("  median", time(d.rtt_by_stamps.map(|r| r.p50_s))),
        ("  95th percentile", time(d.rtt_by_stamps.map(|r| r.p95_s))),
        ("to the sender and back", time(d.sender_side_s)),
        ("captured at", place(d.place)),
        ("most in flight", bytes(d.most_in_flight_bytes)),
        ("initial window", d.initial_window_bytes.map_or(NONE.to_owned(), bytes)),
        ("  segments", optional(d.initial_window_segments, "")),
        ("rounds", count(d.round_count)),
        ("segments sent again", count(again.segments)),
        ("  in fast retransmit", count(again.fast)),
        ("  after a timeout", count(again.timeout)),
        ("  probes of the tail", count(again.probes)),
        ("  unexplained", count(again.unexplained)),
        ("  lost before they came here", count(again.lost_before)),
        ("spurious", count(again.spurious)),
        ("  acknowledged before", count(again.spurious_acknowledged)),
        ("  by DSACK", count(again.spurious_by_dsack)),
        ("  by time stamps", count(again.spurious_by_stamp)),
        ("repairs by fast retransmit", count(again.fast_events)),
        ("timeouts", count(again.timeout_events)),
        ("segments overtaken", count(again.overtaken)),
        ("packets doubled", count(again.copies)),
        ("window probes", count(again.window_probes)),
        ("keep-alives", count(again.keep_alives)),
        ("marked (CE)", count(d.ecn_marked)),
    ];
    lines.extend([
        ("pure ACKs that answer", count(acks.pure)),
        ("  duplicate", count(acks.duplicate)),
        ("  duplicate by SACK alone", count(acks.duplicate_by_sack)),
        ("  within a segment (divided)", count(acks.divided)),
        ("  of one segment", count(acks.of_one)),
        ("  of two", count(acks.of_two)),
        ("  of three or four", count(acks.of_three_or_four)),
        ("  of five to eight", count(acks.of_five_to_eight)),
        ("  of nine and more", count(acks.of_nine_or_more)),
        ("  old", count(acks.old)),
        ("  window updates", count(acks.window_updates)),
        ("  doubled", count(acks.copies)),
        ("  lost or thinned before they came here", d.acks_missing.map_or(NONE.to_owned(), count)),
        ("ACKs per segment", optional(d.acks_per_segment, "")),
        ("acknowledged", d.ack_habit.clone().unwrap_or_else(|| NONE.to_owned())),
        ("data acknowledged, not captured", bytes(acks.unseen_bytes)),
        ("largest window", d.window_bytes.map_or(NONE.to_owned(), |(_, max)| bytes(max))),
        ("times closed", count(d.zero_windows)),
        ("  for", if d.zero_windows > 0 { quantity(d.zero_window_s, "s") } else { NONE.to_owned() }),
    ]);
    lines
}

fn place(place: Option<f64>) -> String {
    match place {
        None => NONE.to_owned(),
        Some(x) if x < 0.1 => "the sender".to_owned(),
        Some(x) if x > 0.9 => "the receiver".to_owned(),
        Some(x) => format!("{:.0} % of the way", 100.0 * x),
    }
}
