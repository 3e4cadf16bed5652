//! What is said of servers, for reading: a verdict, and the counts behind it.

use super::identity;
use crate::human::{many, quantity};
use crate::layout::{self, numbers, words};
use serde::Deserialize;
use serde_json::Value;
use std::io::{self, Write};
use truckee_engines::probe::Kept;
use truckee_kernel::probe::{Confidence, Observation, Route, Test, Verdict};

/// Writes one block a server.
pub fn write(out: &mut dyn Write, servers: &[Kept]) -> io::Result<()> {
    for (k, server) in servers.iter().enumerate() {
        if k > 0 {
            writeln!(out)?;
        }
        one(out, server)?;
    }
    Ok(())
}

fn one(out: &mut dyn Write, Kept { report, tests, .. }: &Kept) -> io::Result<()> {
    let text = |pointer: &str| report.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let address = match text("/address") {
        "" => String::new(),
        address => format!(" ({address})"),
    };
    writeln!(out, "{}{address}", text("/tested"))?;
    way(out, report)?;
    identity::write(out, report)?;
    match Verdict::deserialize(&report["verdict"]) {
        Ok(verdict) => say(out, &verdict)?,
        // Who did not ask for tests need not be told that there were none.
        Err(_) if ["unasked", "own"].contains(&text("/not_judged/name")) => {}
        Err(_) => writeln!(out, "  not judged: {}", text("/not_judged/words"))?,
    }
    if !tests.is_empty() {
        writeln!(out)?;
        counts(out, tests)?;
    }
    for fault in report["faults"].as_array().into_iter().flatten() {
        let (test, time) = (fault["test"].as_str().unwrap_or_default(), &fault["repetition"]);
        writeln!(out, "test {test}, time {time}: {}", fault["fault"]["words"].as_str().unwrap_or_default())?;
    }
    Ok(())
}

/// The way to it, as far as it was asked for; how many routers are on the way back, as far as that is known.
fn way(out: &mut dyn Write, report: &Value) -> io::Result<()> {
    if let Some(hops) = report["hops"].as_u64() {
        writeln!(out, "  {} on the way back, by its TTL", many(hops as usize, "router"))?;
    }
    let Ok(route) = Route::deserialize(&report["route"]) else { return Ok(()) };
    for hop in &route.hops {
        let who = hop.address.map_or("no answer".to_owned(), |address| address.to_string());
        let took = hop.rtt_s.map(|s| format!(", {}", quantity(s, "s"))).unwrap_or_default();
        let there = if route.reached && hop.ttl as usize == route.hops.len() { ", reached" } else { "" };
        writeln!(out, "  {:>2}  {who}{took}{there}", hop.ttl)?;
    }
    Ok(())
}

fn say(out: &mut dyn Write, v: &Verdict) -> io::Result<()> {
    let sure = match v.confidence {
        Confidence::High => "high",
        Confidence::Fair => "fair",
        Confidence::Low => "low",
    };
    let detail = match (v.limit, v.cap) {
        (Some(l), _) => format!(", L = {l}"),
        (_, Some(cap)) => format!(" at {cap:.1} times the window"),
        _ => String::new(),
    };
    writeln!(
        out,
        "  {}{detail}; confidence {sure}: {} of {} agree",
        v.reaction.words(),
        v.agreeing,
        many(v.judged as usize, "repetition")
    )?;
    let tls = match v.handshake_segments {
        0 => String::new(),
        n => format!(", after {} of a handshake, which may have opened it", many(n as usize, "segment")),
    };
    writeln!(
        out,
        "  initial window {} ({} bytes{tls}); segments of {} bytes",
        many(v.initial_window as usize, "segment"),
        v.initial_window_bytes,
        v.mss
    )?;
    let r = &v.retransmission;
    let first = r.first_s.map_or("none while watched".into(), |s| {
        format!("the first after {}, {} in all", quantity(s, "s"), quantity(r.segments, ""))
    });
    let probe = if r.tail_probe { "; a probe for a lost tail before" } else { "" };
    writeln!(out, "  retransmissions: {first}{probe}")?;
    v.evidence.iter().try_for_each(|line| writeln!(out, "  - {line}"))
}

fn counts(out: &mut dyn Write, tests: &[Observation]) -> io::Result<()> {
    let columns = [
        words("test"),
        numbers("runs"),
        numbers("ACKs"),
        numbers("first round"),
        numbers("second round"),
        numbers("bytes"),
        numbers("retransmitted"),
    ];
    let mut made: Vec<Test> = tests.iter().map(|o| o.test).collect();
    made.sort_unstable();
    made.dedup();
    let rows = made.into_iter().filter_map(|test| {
        let of: Vec<&Observation> = tests.iter().filter(|o| o.test == test).collect();
        let span = |value: &dyn Fn(&Observation) -> u64| span(of.iter().map(|o| value(o)));
        Some(vec![
            test.to_string(),
            of.len().to_string(),
            span(&|o| o.acks.into())?,
            span(&|o| o.window_segments.into())?,
            span(&|o| o.second_segments.into())?,
            span(&|o| o.second_bytes)?,
            span(&|o| o.retransmitted.into())?,
        ])
    });
    layout::write(out, &columns, rows)
}

/// The one value, or the least and the most.
fn span(values: impl Iterator<Item = u64> + Clone) -> Option<String> {
    let (least, most) = (values.clone().min()?, values.max()?);
    Some(if least == most { least.to_string() } else { format!("{least}–{most}") })
}
