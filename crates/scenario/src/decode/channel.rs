//! What a medium does to packets: the tables under `channel`, `channel_back` and `channel_both`.

use super::diagnostics::{Diagnostics, MAX_TIME};
use super::reader::Reader;
use crate::document::tree::{Kind, Value};
use std::collections::HashMap;
use truckee_channel::{Counts, Deed, Delays, Effect, JitterDistribution, ReorderWhich, Script};
use truckee_tcp::{Span, Time};

/// The kinds of effects a channel can have.
const KINDS: [&str; 13] = [
    "bernoulli",
    "bit-errors",
    "gilbert",
    "bursts",
    "outages",
    "scripted",
    "delays",
    "correlated",
    "jitter",
    "duplicate",
    "reorder",
    "trace",
    "none",
];
/// Entries of a list of outages, lost packets or intervals.
const MAX_ENTRIES: usize = 1_000_000;

/// Numbers of the flows by name, for channels that lose packets of one flow.
pub(super) type FlowNumbers<'n> = HashMap<&'n str, u32>;

/// Reads a channel, a table or an array of tables, behind the effects already in `effects`.
pub(super) fn read(
    diag: &Diagnostics<'_>,
    value: &Value,
    flows: &FlowNumbers<'_>,
    effects: &mut Vec<Effect>,
) {
    let items = match &value.kind {
        Kind::List(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    for item in items {
        let Some(reader) = Reader::of(diag, item, "a channel") else { continue };
        let Some(kind) = reader.kind(&KINDS, None) else {
            reader.abandon();
            continue;
        };
        let effect = effect(&reader, kind, flows);
        if effect.is_some() || kind == "none" {
            reader.finish();
        } else {
            reader.abandon();
        }
        let second_trace = matches!(effect, Some(Effect::Trace(_)))
            && effects.iter().any(|effect| matches!(effect, Effect::Trace(_)));
        if second_trace {
            let message = "a second trace on the same direction".to_owned();
            diag.report(&item.place, message, Some("one trace, which is the link's capacity".into()), None);
        }
        effects.extend(effect);
    }
}

fn effect(reader: &Reader<'_>, kind: &str, flows: &FlowNumbers<'_>) -> Option<Effect> {
    Some(match kind {
        "bernoulli" => Effect::Bernoulli { per: reader.required_probability("per") },
        "bit-errors" => Effect::BitErrors { ber: reader.required_probability("ber") },
        "gilbert" => Effect::Gilbert {
            good: reader.required_time("good", Span::ns(1)..=MAX_TIME, "\"1s\"").unwrap_or(Span::ns(1)),
            bad: reader.required_time("bad", Span::ns(1)..=MAX_TIME, "\"50ms\"").unwrap_or(Span::ns(1)),
            per_good: reader.probability("per_good", 0.0),
            per_bad: reader.required_probability("per_bad"),
        },
        "bursts" => bursts(reader),
        "outages" => outages(reader)?,
        "scripted" => scripted(reader, flows),
        "delays" => delays(reader, flows)?,
        "correlated" => {
            let fits = |c: f64| (0.0..1.0).contains(&c);
            let correlation = reader.required("correlation", "0.25");
            Effect::Correlated {
                per: reader.required_probability("per"),
                correlation: correlation
                    .and_then(|v| reader.diag.number(v, fits, "a correlation from 0 to below 1"))
                    .unwrap_or(0.0),
            }
        }
        "jitter" => jitter(reader)?,
        "duplicate" => Effect::Duplicate {
            probability: reader.required_probability("probability"),
            after: reader.time("after", Span::ZERO, Span::ZERO..=MAX_TIME, "ms"),
        },
        "reorder" => reorder(reader)?,
        "trace" => {
            let file = reader.required("file", "\"link.trace\"")?;
            Effect::Trace(reader.diag.trace(file)?)
        }
        _ => return None,
    })
}

fn bursts(reader: &Reader<'_>) -> Effect {
    let every = reader.required_time("every", Span::ns(1)..=MAX_TIME, "\"10s\"");
    let longest = every.unwrap_or(MAX_TIME);
    let lasting = reader.required_time("lasting", Span::ns(1)..=longest, "\"100ms\"").unwrap_or(Span::ns(1));
    let phase = reader.get("phase").and_then(|value| match value.text() {
        Some("random") => None,
        _ => reader.diag.time(value, Span::ZERO..=longest.saturating_sub(Span::ns(1)), "s"),
    });
    let until = reader.get("until").and_then(|value| reader.diag.moment(value, Span::ZERO..=MAX_TIME));
    Effect::Bursts { every: every.unwrap_or(Span::ns(1)), lasting, until, phase }
}

fn outages(reader: &Reader<'_>) -> Option<Effect> {
    let Some(at) = reader.get("at") else {
        if reader.get("every").is_none() && reader.get("lasting").is_none() {
            let message = "outages without \"at\" or \"every\"".to_owned();
            let help = "write at = [[\"10s\", \"2s\"]], or every = \"60s\" and lasting = \"2s\"".to_owned();
            reader.diag.report(reader.place, message, Some("when the outages are".into()), Some(help));
            return None;
        }
        return Some(Effect::PoissonOutages {
            every: reader.required_time("every", Span::ns(1)..=MAX_TIME, "\"60s\"").unwrap_or(Span::ns(1)),
            lasting: reader.required_time("lasting", Span::ns(1)..=MAX_TIME, "\"2s\"").unwrap_or(Span::ns(1)),
        });
    };
    let pairs = pairs(reader, at, "a list of starts and lengths such as [[\"10s\", \"2s\"]]")?;
    let mut outages: Vec<(Time, Span)> = Vec::new();
    for (item, start, lasting) in pairs {
        let start = Time::at(start);
        let free = outages.last().map_or(Time::ZERO, |&(start, lasting)| start + lasting);
        if start < free {
            let message = "this outage begins before the one in front of it has ended".to_owned();
            reader.diag.report(
                &item.place,
                message,
                Some("outages in order of time, without overlap".into()),
                None,
            );
        }
        if lasting == Span::ZERO {
            reader.diag.report(
                &item.place,
                "an outage of no length".into(),
                Some("a length above 0".into()),
                None,
            );
        }
        outages.push((start, lasting));
    }
    Some(Effect::Outages { at: outages })
}

/// A list of pairs of times.
fn pairs<'v>(reader: &Reader<'_>, value: &'v Value, expected: &str) -> Option<Vec<(&'v Value, Span, Span)>> {
    let items = reader.diag.list(value, expected)?;
    if items.len() > MAX_ENTRIES {
        reader.diag.refuse(value, &format!("at most {MAX_ENTRIES} entries"));
        return None;
    }
    let pair = |item: &'v Value| {
        let Kind::List(pair) = &item.kind else {
            reader.diag.refuse(item, "a pair of times such as [\"10s\", \"2s\"]");
            return None;
        };
        let [first, second] = pair.as_slice() else {
            let message = format!("{} times in place of two", pair.len());
            reader.diag.report(&item.place, message, Some("a pair such as [\"10s\", \"2s\"]".into()), None);
            return None;
        };
        let first = reader.diag.time(first, Span::ZERO..=MAX_TIME, "s")?;
        Some((item, first, reader.diag.time(second, Span::ZERO..=MAX_TIME, "s")?))
    };
    Some(items.iter().filter_map(pair).collect())
}

/// The number of the flow that an effect is for.
fn flow(reader: &Reader<'_>, flows: &FlowNumbers<'_>) -> Option<u32> {
    reader.get("flow").and_then(|value| {
        let name = reader.diag.text(value, "the name of a flow")?;
        let number = flows.get(name).copied();
        if number.is_none() {
            let mut known: Vec<&str> = flows.keys().copied().collect();
            known.sort_unstable();
            reader.diag.unknown_name(&value.place, "flow", name, known.into_iter());
        }
        number
    })
}

fn delays(reader: &Reader<'_>, flows: &FlowNumbers<'_>) -> Option<Effect> {
    let flow = flow(reader, flows);
    let value = reader.required("by", "[\"0.2ms\", \"0s\", \"1ms\"]")?;
    let items = reader.diag.list(value, "a list of times such as [\"0.2ms\", \"0s\", \"1ms\"]")?;
    if items.len() > MAX_ENTRIES {
        reader.diag.refuse(value, &format!("at most {MAX_ENTRIES} entries"));
        return None;
    }
    let by = items.iter().filter_map(|item| reader.diag.time(item, Span::ZERO..=MAX_TIME, "ms"));
    Some(Effect::Delays(Delays { flow, by: by.collect() }))
}

fn scripted(reader: &Reader<'_>, flows: &FlowNumbers<'_>) -> Effect {
    let flow = flow(reader, flows);
    let packets = reader.get("packets").map_or_else(Vec::new, |value| ranges(reader.diag, value));
    let mut during: Vec<(Time, Time)> = Vec::new();
    if let Some(value) = reader.get("during") {
        let expected = "a list of intervals such as [[\"1s\", \"2s\"]]";
        for (item, from, to) in pairs(reader, value, expected).unwrap_or_default() {
            let (from, to) = (Time::at(from), Time::at(to));
            if from >= to || during.last().is_some_and(|(_, end)| from < *end) {
                let message = "intervals that are empty, overlap or go back in time".to_owned();
                reader.diag.report(
                    &item.place,
                    message,
                    Some("[from, to] pairs in order of time".into()),
                    None,
                );
            }
            during.push((from, to));
        }
    }
    if reader.get("packets").is_none() && reader.get("during").is_none() {
        let help = "write packets = [3, \"10..20\"] or during = [[\"1s\", \"2s\"]]".to_owned();
        let message = "a script without \"packets\" or \"during\"".to_owned();
        reader.diag.report(reader.place, message, Some("which packets are meant".into()), Some(help));
    }
    let counts = match reader.choice("counts", &["data", "all"]) {
        "all" => Counts::All,
        _ => Counts::Data,
    };
    let by = || reader.required_time("by", Span::ns(1)..=MAX_TIME, "\"30ms\"").unwrap_or(Span::ns(1));
    let does = match reader.choice("does", &["lose", "delay", "duplicate"]) {
        "delay" => Deed::Delay(by()),
        "duplicate" => Deed::Duplicate(by()),
        _ => Deed::Lose,
    };
    Effect::Scripted(Script { flow, counts, packets, during, does })
}

/// Ordinals of packets: numbers and `"first..last"`, both ends included, in rising order.
fn ranges(diag: &Diagnostics<'_>, value: &Value) -> Vec<(u64, u64)> {
    const EXPECTED: &str = "packet numbers from 1 on, such as [3, \"10..20\"]";
    let Some(items) = diag.list(value, EXPECTED) else { return Vec::new() };
    if items.len() > MAX_ENTRIES {
        diag.refuse(value, &format!("at most {MAX_ENTRIES} entries"));
        return Vec::new();
    }
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for item in items {
        let range = match &item.kind {
            Kind::Whole(n) => u64::try_from(*n).ok().map(|n| (n, n)),
            Kind::Text(text) => text
                .split_once("..")
                .and_then(|(first, last)| Some((first.trim().parse().ok()?, last.trim().parse().ok()?))),
            _ => None,
        };
        match range {
            Some((first, last)) if first >= 1 && first <= last => {
                if ranges.last().is_some_and(|(_, before)| first <= *before) {
                    let message = format!("{} is not above the number before it", item.shown());
                    diag.report(&item.place, message, Some("packet numbers in rising order".into()), None);
                }
                ranges.push((first, last));
            }
            _ => diag.refuse(item, EXPECTED),
        }
    }
    ranges
}

fn jitter(reader: &Reader<'_>) -> Option<Effect> {
    const KNOWN: [&str; 4] = ["uniform", "normal", "pareto", "table"];
    let word = reader.required("distribution", "\"uniform\"")?;
    let distribution = match reader.word(word, &KNOWN)? {
        "uniform" => JitterDistribution::Uniform {
            max: reader.required_time("max", Span::ZERO..=MAX_TIME, "\"10ms\"").unwrap_or(Span::ZERO),
        },
        "normal" => JitterDistribution::Normal {
            mean: reader.required_time("mean", Span::ZERO..=MAX_TIME, "\"10ms\"").unwrap_or(Span::ZERO),
            sd: reader.required_time("sd", Span::ZERO..=MAX_TIME, "\"2ms\"").unwrap_or(Span::ZERO),
        },
        "table" => JitterDistribution::Table {
            table: reader
                .required("file", "\"normal.dist\"")
                .and_then(|file| reader.diag.delay_table(file))?,
            mean: reader.required_time("mean", Span::ZERO..=MAX_TIME, "\"10ms\"").unwrap_or(Span::ZERO),
            sd: reader.required_time("sd", Span::ZERO..=MAX_TIME, "\"2ms\"").unwrap_or(Span::ZERO),
        },
        _ => JitterDistribution::Pareto {
            scale: reader.required_time("scale", Span::ns(1)..=MAX_TIME, "\"1ms\"").unwrap_or(Span::ns(1)),
            shape: reader
                .required("shape", "1.5")
                .and_then(|value| reader.diag.number(value, |x| x > 0.0, "a shape above 0"))
                .unwrap_or(1.0),
        },
    };
    let correlation_time = reader.time("correlation_time", Span::ZERO, Span::ZERO..=MAX_TIME, "ms");
    // Delays that go on from each other are those of one queue or one radio, which keep order.
    let keep_order = reader.flag("keep_order", !correlation_time.is_zero());
    Some(Effect::Jitter { distribution, correlation_time, keep_order })
}

fn reorder(reader: &Reader<'_>) -> Option<Effect> {
    let delay = reader.required_time("delay", Span::ns(1)..=MAX_TIME, "\"10ms\"").unwrap_or(Span::ns(1));
    let which = match (reader.get("every"), reader.get("probability")) {
        (Some(every), None) => ReorderWhich::Every(reader.diag.count(every, 1..=u64::MAX)?),
        (None, Some(p)) => ReorderWhich::Probability(reader.diag.probability(p)?),
        (every, _) => {
            let what = if every.is_some() { "both" } else { "neither" };
            let message = format!("{what} of \"every\" and \"probability\"");
            reader.diag.report(
                reader.place,
                message,
                Some("one of the two: which packets are held back".into()),
                None,
            );
            return None;
        }
    };
    Some(Effect::Reorder { which, delay })
}
