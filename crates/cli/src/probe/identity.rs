//! Which TCP a server has, for reading: what was found, how surely, what it would be otherwise, and why.

use crate::human::{many, quantity};
use serde_json::Value;
use std::io::{self, Write};

/// Writes what a report says of it; nothing if that was not asked.
pub fn write(out: &mut dyn Write, report: &Value) -> io::Result<()> {
    let identity = &report["identity"];
    if identity.is_null() {
        return Ok(());
    }
    finding(out, "repairs losses", &identity["recovery"])?;
    let without = &identity["recovery_without_sack"];
    if !without.is_null() {
        finding(out, "without SACK", without)?;
    }
    finding(out, "congestion control", &identity["control"])?;
    fingerprint(out, &identity["fingerprint"])?;
    for fault in identity["faults"].as_array().into_iter().flatten() {
        let (part, time) = (word(&fault["part"]), &fault["repetition"]);
        writeln!(out, "  {part}, time {time}: {}", word(&fault["fault"]["words"]))?;
    }
    Ok(())
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn finding(out: &mut dyn Write, what: &str, found: &Value) -> io::Result<()> {
    let otherwise = found["runner_up"].as_str().map(|other| format!("; next {other}")).unwrap_or_default();
    match found["is"].as_str() {
        Some(is) => {
            let judged = found["judged"].as_u64().unwrap_or(0) as usize;
            let sure = word(&found["confidence"]);
            let agree = format!("{} of {} agree", found["agreeing"], many(judged, "repetition"));
            writeln!(out, "  {what}: {is}; confidence {sure}: {agree}{otherwise}")?;
        }
        None => writeln!(out, "  {what}: cannot tell{otherwise}")?,
    }
    found["evidence"]
        .as_array()
        .into_iter()
        .flatten()
        .try_for_each(|line| writeln!(out, "  - {}", word(line)))
}

fn fingerprint(out: &mut dyn Write, f: &Value) -> io::Result<()> {
    if f.is_null() {
        return Ok(());
    }
    let list = |key: &str| f[key].as_array().cloned().unwrap_or_default();
    let options: Vec<String> = list("options").iter().map(|o| word(o).to_owned()).collect();
    let scale = f["scale"].as_u64().map_or("none".to_owned(), |scale| scale.to_string());
    let mss = f["mss"].as_u64().map_or("none".to_owned(), |mss| mss.to_string());
    let before = f["handshake_segments"].as_u64().unwrap_or(0) as usize;
    let after =
        if before > 0 { format!(", after {} of TLS", many(before, "segment")) } else { String::new() };
    writeln!(
        out,
        "  stack: TTL {} of {}, window {} by 2^{scale}, MSS {mss}, options {}; initial window {} ({} bytes{after})",
        f["ttl"],
        f["first_ttl"],
        f["window"],
        options.join(" "),
        many(f["initial_window"].as_u64().unwrap_or(0) as usize, "segment"),
        f["initial_window_bytes"]
    )?;
    let again: Vec<String> =
        list("retransmissions_s").iter().filter_map(Value::as_f64).map(|s| quantity(s, "s")).collect();
    let again = if again.is_empty() { "none while watched".to_owned() } else { again.join(", ") };
    writeln!(out, "  retransmissions after {again}")
}
