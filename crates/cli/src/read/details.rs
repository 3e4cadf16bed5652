//! Everything about one connection: its handshake, and both directions side by side; the throughput over time, rounds and
//! phases of the one that more data went.

use crate::human::{NONE, count, optional, quantity};
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_capture::flow::phases::Phase;
use truckee_capture::handshake::Offer;
use truckee_capture::report::{Connection, Direction};

/// Writes all of it.
pub fn write(out: &mut dyn Write, c: &Connection) -> io::Result<()> {
    writeln!(out, "connection {}: {} to {}, {}", c.number, c.client, c.server, c.state)?;
    handshake(out, c)?;
    writeln!(out)?;
    let columns = [words(""), numbers("to server"), numbers("to client")];
    let (up, down) = (lines(&c.to_server), lines(&c.to_client));
    let rows = up.into_iter().zip(down).map(|((what, up), (_, down))| vec![what.to_owned(), up, down]);
    // What is neither way says nothing.
    layout::write(
        out,
        &columns,
        rows.filter(|row| row[1..].iter().any(|x| x != NONE && x != "0" && x != "0 B")),
    )?;
    let main = c.direction(c.main_way());
    throughput(out, main)?;
    rounds(out, main)?;
    phases(out, main)?;
    if c.cut_short > 0 {
        writeln!(out, "\noptions were cut off in {} packets by the snap length", count(c.cut_short))?;
    }
    if c.backwards > 0 {
        writeln!(out, "\n{} packets have a time before that of the one before", count(c.backwards))?;
    }
    Ok(())
}

fn handshake(out: &mut dyn Write, c: &Connection) -> io::Result<()> {
    let h = &c.handshake;
    for (who, offer) in [("client", h.client), ("server", h.server)] {
        match offer {
            Some(offer) => writeln!(out, "{who} offers: {}", offered(&offer))?,
            None => writeln!(out, "{who}: its SYN was not captured")?,
        }
    }
    writeln!(
        out,
        "handshake: {} to the server and back, {} to the client and back",
        optional(h.to_server_s, "s"),
        optional(h.to_client_s, "s")
    )
}

fn offered(o: &Offer) -> String {
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

/// What there is to say of a direction.
fn lines(d: &Direction) -> Vec<(&'static str, String)> {
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

/// Throughput over time as a row of bars, as many as fit on a line.
fn throughput(out: &mut dyn Write, d: &Direction) -> io::Result<()> {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const MOST: usize = 64;
    let Some(steps) = &d.throughput else { return Ok(()) };
    let together = steps.bps.len().div_ceil(MOST);
    let mean = |some: &[f64]| some.iter().sum::<f64>() / together as f64;
    let rates: Vec<f64> = steps.bps.chunks(together).map(mean).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    let bar = |rate: &f64| match rate / most {
        share if share > 0.0 => BARS[((share * 8.0) as usize).min(7)],
        _ => ' ',
    };
    let bars: String = rates.iter().map(bar).collect();
    let step = quantity(together as f64 * steps.step_s, "s");
    writeln!(
        out,
        "\nthroughput from {}, {step} a bar, up to {}",
        quantity(steps.start_s, "s"),
        quantity(most, "bit/s")
    )?;
    writeln!(out, "{}", bars.trim_end())
}

fn rounds(out: &mut dyn Write, d: &Direction) -> io::Result<()> {
    if d.rounds.is_empty() {
        return Ok(());
    }
    let columns = [
        numbers("round"),
        numbers("began"),
        numbers("data"),
        numbers("growth"),
        numbers("most in flight"),
        words("resent"),
    ];
    let rows = d.rounds.iter().enumerate().map(|(k, r)| {
        vec![
            (k + 1).to_string(),
            quantity(r.start_s, "s"),
            quantity(r.bytes as f64, "B"),
            r.growth.map_or(NONE.to_owned(), |g| format!("{g:.2}")),
            quantity(r.flight_bytes as f64, "B"),
            if r.resent { "yes" } else { "" }.to_owned(),
        ]
    });
    writeln!(out)?;
    layout::write(out, &columns, rows)?;
    let shown = d.rounds.len() as u64;
    if shown < d.round_count {
        writeln!(out, "and {} more", count(d.round_count - shown))?;
    }
    Ok(())
}

fn phases(out: &mut dyn Write, d: &Direction) -> io::Result<()> {
    if d.phases.is_empty() {
        return Ok(());
    }
    let name = |phase| match phase {
        Phase::SlowStart => "slow start",
        Phase::Avoidance => "congestion avoidance",
        Phase::Recovery => "recovery",
    };
    let turns: Vec<String> = d
        .phases
        .iter()
        .map(|turn| format!("{} from {}", name(turn.phase), quantity(turn.t_s, "s")))
        .collect();
    writeln!(out, "\nphases, as they look: {}", turns.join(", "))
}
