//! Everything about one connection: its handshake, and both directions side by side; the throughput over time, rounds and
//! phases of the one that more data went.

use crate::human::{NONE, count, optional, quantity};
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_capture::flow::phases::Phase;
use truckee_capture::report::{Connection, Direction};
use truckee_look::capture::{lines, offered};

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
