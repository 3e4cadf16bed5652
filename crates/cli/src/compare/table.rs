//! A comparison as a person reads it: a block a flow and a link, a row a metric, a column an engine.

use crate::human::{self, many, percent, quantity, with_interval};
use crate::layout::{self, numbers, words};
use std::io::{self, Write};
use truckee_lab::compare::{Against, Comparison, Held, Row, Subject, Verdict};

/// A link that lost nothing and was idle for longer than this share of the time says little.
const BUSY: f64 = 0.5;

/// Writes all of it.
pub fn write(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    for flow in &comparison.flows {
        let sender = flow.sender.as_deref().unwrap_or_default();
        let receiver = flow.receiver.as_deref().unwrap_or_default();
        writeln!(out, "{}: {sender}, {receiver} ACKs", flow.name)?;
        block(out, comparison, flow)?;
        writeln!(out)?;
    }
    let (busy, quiet): (Vec<&Subject>, Vec<_>) = comparison.links.iter().partition(|l| matters(l));
    for link in busy {
        writeln!(out, "{}", link.name)?;
        block(out, comparison, link)?;
        writeln!(out)?;
    }
    if !quiet.is_empty() {
        let quiet = many(quiet.len(), "direction");
        writeln!(out, "{quiet} that lost nothing and were mostly idle: --format json shows all")?;
    }
    let seeds: Vec<_> = comparison.seeds.iter().map(u64::to_string).collect();
    let times = comparison.engines.iter().map(|side| {
        let took = format!("{} in {}", quantity(side.simulated_s, "s"), quantity(side.wall_s, "s"));
        format!("{}: {took}", side.name)
    });
    let times = times.collect::<Vec<_>>().join("; ");
    match seeds.as_slice() {
        [seed] => writeln!(out, "{}, seed {seed}; {times}", comparison.scenario)?,
        [first, .., last] => {
            writeln!(out, "{}, seeds {first} to {last}, paired; {times}", comparison.scenario)?;
            let confidence = percent(comparison.confidence);
            writeln!(out, "± half the width of the mean's {confidence} interval; (…) the interval itself")?;
        }
        [] => {}
    }
    for note in &comparison.notes {
        writeln!(out, "note: {note}")?;
    }
    if let Some(live) = &comparison.live {
        writeln!(out, "{live}")?;
        for side in comparison.engines.iter().filter(|side| !side.invalid_seeds.is_empty()) {
            let seeds: Vec<_> = side.invalid_seeds.iter().map(u64::to_string).collect();
            writeln!(out, "invalid on {}: seeds {}", side.name, seeds.join(", "))?;
        }
    }
    tolerances(out, comparison)
}

fn matters(link: &Subject) -> bool {
    let most = |row: &Row| row.values.iter().filter_map(|v| v.mean).fold(0.0, f64::max);
    link.metrics.iter().any(|row| most(row) > if row.share { BUSY } else { 0.0 })
}

fn block(out: &mut dyn Write, comparison: &Comparison, subject: &Subject) -> io::Result<()> {
    let first = comparison.engines.first().map_or("", |e| e.name.as_str());
    let others = || comparison.engines.iter().skip(1);
    let compared: Vec<String> = others().map(|e| format!("{} : {first}", e.name)).collect();
    let mut columns = vec![words("metric")];
    columns.extend(comparison.engines.iter().map(|e| numbers(&e.name)));
    columns.extend(compared.iter().map(|c| numbers(c)));
    // What none has, or all have none of, says nothing; but that nothing was delivered must be said.
    let has = |row: &Row| row.values.iter().any(|v| v.mean.is_some_and(|mean| mean != 0.0));
    let told = |row: &&Row| has(row) || row.metric == "goodput_bps";
    layout::write(out, &columns, subject.metrics.iter().filter(told).map(row))
}

fn row(row: &Row) -> Vec<String> {
    let value = |estimate: &truckee_lab::stats::Estimate| {
        let Some(mean) = estimate.mean else { return human::NONE.to_owned() };
        let shown = match (row.share, estimate.half_width) {
            (true, None) => percent(mean),
            (true, Some(half)) => with_interval(100.0 * mean, Some(100.0 * half), "%"),
            (false, half) => with_interval(mean, half, row.unit),
        };
        match estimate.incomplete {
            0 => shown,
            without => format!("{shown} (of {} of {})", estimate.n, estimate.n + without),
        }
    };
    let mut cells = vec![row.metric.to_owned()];
    cells.extend(row.values.iter().map(value));
    cells.extend(row.against.iter().map(|against| compared(against, row.share)));
    cells
}

/// A ratio, or for shares the difference in percentage points.
fn compared(against: &Against, share: bool) -> String {
    let point = |x: f64| match share {
        true => format!("{:+.2}", 100.0 * x),
        false => format!("{x:.3}"),
    };
    let Some(middle) = (if share { against.difference } else { against.ratio }) else {
        // 0 : 0 has no ratio, and needs none.
        return if against.difference == Some(0.0) { "=".to_owned() } else { human::NONE.to_owned() };
    };
    let unit = if share { " points" } else { "" };
    match against.interval {
        Some((low, high)) => format!("{}{unit} ({} … {})", point(middle), point(low), point(high)),
        None => format!("{}{unit}", point(middle)),
    }
}

/// A distance as its tolerance was written: in per cent, or in the metric's unit.
pub fn distance(held: &Held, distance: f64) -> String {
    if held.tolerance.ends_with('%') { percent(distance) } else { quantity(distance, "") }
}

/// The ends of what a tolerance was judged by, in the same; empty where it has no interval.
pub fn span(held: &Held) -> String {
    held.interval.map_or_else(String::new, |(low, high)| {
        format!(" ({} … {})", distance(held, low), distance(held, high))
    })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Broken => "BEYOND",
        Verdict::Undecided => "undecided",
        Verdict::NotJudged => "not judged",
    }
}

fn tolerances(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    if comparison.tolerances.is_empty() {
        return Ok(());
    }
    let columns = [words("tolerance"), words("of"), words("on"), numbers("off by"), words("verdict")];
    writeln!(out)?;
    layout::write(
        out,
        &columns,
        comparison.tolerances.iter().map(|held| {
            let off = held.off.map_or_else(|| human::NONE.to_owned(), |off| distance(held, off));
            let cells = [&held.tolerance, &held.subject, &held.engine].map(String::clone).into_iter();
            cells.chain([off, word(held.verdict).to_owned()]).collect()
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_lab::compare::Tolerance;
    use truckee_scenario::Outcome;
    use truckee_scenario::outcome::{FlowOutcome, LinkOutcome};

    fn outcome(engine: &str, seed: u64, goodput_bps: f64, retransmitted_segments: u64) -> Outcome {
        let flow = FlowOutcome {
            name: "one".into(),
            sender: "newreno".into(),
            receiver: "every".into(),
            goodput_bps,
            segments_sent: 1000,
            retransmitted_segments,
            ..FlowOutcome::default()
        };
        let link = |name: &str, utilisation| LinkOutcome {
            name: name.into(),
            utilisation,
            ..LinkOutcome::default()
        };
        Outcome {
            truckee: String::new(),
            engine: engine.into(),
            scenario: "s".into(),
            seed,
            digest: String::new(),
            simulated_s: 10.0,
            wall_s: 1.0,
            events: 1,
            flows: vec![flow],
            links: vec![link("a-b", 0.9), link("b-a", 0.1)],
            media: Vec::new(),
            traffic: Vec::new(),
            jain: None,
            ports: Vec::new(),
            notes: Vec::new(),
            hosts: Vec::new(),
            lateness: None,
            timers_age: None,
            series: Vec::new(),
            queues: Vec::new(),
            air: Vec::new(),
        }
    }

    fn written(comparison: &Comparison) -> String {
        let mut text = Vec::new();
        write(&mut text, comparison).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// The words of the line that begins with `who`.
    fn line(text: &str, who: &str) -> Vec<String> {
        let line = text.lines().find(|l| l.starts_with(who)).unwrap_or_default();
        line.split("  ").filter(|cell| !cell.is_empty()).map(|cell| cell.trim().to_owned()).collect()
    }

    #[test]
    fn engines_are_columns_and_the_last_column_compares_them() {
        let sides = [vec![outcome("sim", 1, 8e6, 20)], vec![outcome("kernel", 1, 7e6, 35)]];
        let text = written(&Comparison::new(&sides).unwrap());
        assert!(text.starts_with("one: newreno, every ACKs\n"), "{text}");
        assert_eq!(line(&text, "metric"), ["metric", "sim", "kernel", "kernel : sim"]);
        assert_eq!(line(&text, "goodput_bps"), ["goodput_bps", "8 Mbit/s", "7 Mbit/s", "0.875"]);
        assert_eq!(line(&text, "retransmitted_share")[1..], ["2 %", "3.50 %", "+1.50 points"]);
        assert!(!text.contains("timeouts"), "there were none: {text}");
        assert_eq!(line(&text, "utilisation")[1..], ["90 %", "90 %", "+0.00 points"]);
        assert!(!text.contains("accuracy"), "nobody judged: {text}");
        assert!(
            text.contains("1 direction that lost nothing") && text.contains("s, seed 1; sim: 10 s in 1 s")
        );
    }

    #[test]
    fn several_seeds_show_intervals_and_tolerances_their_verdict() {
        let sides = [("sim", 8e6, 0.0), ("kernel", 7e6, 0.5e6)].map(|(engine, goodput, more)| {
            (1..=3).map(|seed| outcome(engine, seed, goodput + more * seed as f64, 20)).collect::<Vec<_>>()
        });
        let mut comparison = Comparison::new(&sides).unwrap();
        comparison.hold(&["goodput=1%", "retransmitted=1%"].map(|t| Tolerance::parse(t).unwrap())).unwrap();
        let text = written(&comparison);
        let goodput = line(&text, "goodput_bps");
        assert!(
            goodput[2].contains('±') && goodput[3].starts_with("1.000 (") && goodput[3].contains('…'),
            "{text}"
        );
        assert!(text.contains("seeds 1 to 3, paired"));
        assert_eq!(line(&text, "goodput=1%")[1..], ["one", "kernel", "0 %", "undecided"]);
        assert_eq!(line(&text, "retransmitted=1%")[4..], ["holds"]);
        comparison.tolerances[0].verdict = Verdict::Broken;
        assert_eq!(line(&written(&comparison), "goodput=1%")[4..], ["BEYOND"]);
    }
}
