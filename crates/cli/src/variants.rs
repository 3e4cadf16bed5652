//! `truckee variants`: everything that can be named in a scenario or a sweep, with formula and source.

use crate::error::Error;
use crate::kinds;
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::iter;
use truckee_lab::metric;
use truckee_scenario::units::{format_bytes, format_rate, format_time};
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::detect::AnyDetector;
use truckee_tcp::estimate::AnyEstimator;
use truckee_tcp::growth::AnyGrowth;
use truckee_tcp::pace::AnyPacing;
use truckee_tcp::predict::AnyPredictor;
use truckee_tcp::preset::{PRESETS, Preset, Setting};
use truckee_tcp::recovery::AnyRecovery;
use truckee_tcp::response::AnyResponse;
use truckee_tcp::start::AnyStart;
use truckee_tcp::{Arg, Info, Spec, SpecError};

/// List everything that can be named, or show one name with its parameters
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A preset, algorithm, channel, queue, application or metric
    name: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  truckee variants
  truckee variants newreno-lp
  truckee variants gilbert";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading
    Table,
    /// One array of objects
    Json,
}

/// One thing that can be named.
struct Entry {
    info: Info,
    /// What it is written as in a scenario, all defaults filled in.
    usage: Usage,
}

enum Usage {
    /// A sender's parts, key and member, and what it sets in the stack.
    Preset(Vec<(&'static str, Spec)>, &'static [Setting]),
    /// A member of a family.
    Member(Spec),
    /// A value of a key, as TOML.
    Kind(&'static str),
    /// What a metric belongs to and its unit.
    Metric(metric::Info),
}

/// Things of one sort.
struct Group {
    title: &'static str,
    /// Where a scenario names them.
    place: String,
    entries: Vec<Entry>,
}

/// Lists, or shows what has that name.
pub fn variants(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Error> {
    let mut groups = groups().map_err(|e| Error::Failed(e.to_string()))?;
    if let Some(name) = &arguments.name {
        let names: Vec<&str> = groups.iter().flat_map(|g| &g.entries).map(|e| e.info.name).collect();
        if !names.contains(&name.as_str()) {
            return Err(Error::Usage(unknown(name, &names)));
        }
        for group in &mut groups {
            group.entries.retain(|e| e.info.name == *name);
        }
        groups.retain(|g| !g.entries.is_empty());
    }
    match (arguments.format, &arguments.name) {
        (Format::Json, _) => {
            let all: Vec<Value> =
                groups.iter().flat_map(|g| g.entries.iter().map(|e| as_json(g, e))).collect();
            serde_json::to_writer_pretty(&mut *out, &all)?;
            writeln!(out)?;
        }
        (Format::Table, None) => list(out, &groups)?,
        (Format::Table, Some(_)) => show(out, &groups)?,
    }
    Ok(())
}

/// Every name there is, once.
pub fn names() -> Result<Vec<&'static str>, Error> {
    let groups = groups().map_err(|e| Error::Failed(e.to_string()))?;
    let mut names: Vec<&'static str> = groups.iter().flat_map(|g| &g.entries).map(|e| e.info.name).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

fn unknown(name: &str, names: &[&str]) -> String {
    let likeness = |known: &&str| strsim::jaro_winkler(name, known);
    let nearest =
        names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).filter(|n| likeness(n) > 0.7);
    let help = match nearest {
        Some(nearest) => format!("did you mean \"{nearest}\"?"),
        None => "`truckee variants` lists all".to_owned(),
    };
    format!("nothing is named \"{name}\"; {help}")
}

fn groups() -> Result<Vec<Group>, SpecError> {
    let presets = PRESETS.iter().map(preset).collect::<Result<_, _>>()?;
    let mut groups = vec![
        Group { title: "senders", place: "sender = \"NAME\"".into(), entries: presets },
        family("recoveries", "sender = { recovery = … }", AnyRecovery::MEMBERS, |s| {
            Ok(AnyRecovery::build(s)?.1)
        })?,
        family("growth rules", "sender = { growth = … }", AnyGrowth::MEMBERS, |s| {
            Ok(AnyGrowth::build(s)?.1)
        })?,
        family("starts", "sender = { start = … }", AnyStart::MEMBERS, |s| Ok(AnyStart::build(s)?.1))?,
        family("pacings", "sender = { pacing = … }", AnyPacing::MEMBERS, |s| Ok(AnyPacing::build(s)?.1))?,
        family("loss responses", "sender = { response = … }", AnyResponse::MEMBERS, |s| {
            Ok(AnyResponse::build(s)?.1)
        })?,
        family(
            "loss predictors",
            "response = { by-cause = { predictor = … } }",
            AnyPredictor::MEMBERS,
            |s| Ok(AnyPredictor::build(s)?.1),
        )?,
        family(
            "bandwidth estimators",
            "response = { to-estimate = { estimator = … } }",
            AnyEstimator::MEMBERS,
            |s| Ok(AnyEstimator::build(s)?.1),
        )?,
        family("slow-start detectors", "observe = { detectors = […] }", AnyDetector::MEMBERS, |s| {
            Ok(AnyDetector::build(s)?.1)
        })?,
        family("ACK policies", "receiver = …", AnyAckPolicy::MEMBERS, |s| Ok(AnyAckPolicy::build(s)?.1))?,
    ];
    groups.extend(kinds::KEYS.iter().map(|key| Group {
        title: key.title,
        place: format!("{} = {{ kind = \"NAME\", … }}", key.key),
        entries: key.kinds.iter().map(|k| Entry { info: k.info, usage: Usage::Kind(k.example) }).collect(),
    }));
    let metrics = metric::list().into_iter().map(|m| Entry {
        info: Info { name: m.name, summary: m.summary, formula: "", source: "" },
        usage: Usage::Metric(m),
    });
    groups.push(Group {
        title: "metrics",
        place: "--metric NAME; of one flow, link, …: --metric flow.NAME.METRIC".into(),
        entries: metrics.collect(),
    });
    Ok(groups)
}

fn family(
    title: &'static str,
    place: &str,
    members: &[Info],
    resolve: impl Fn(&Spec) -> Result<Spec, SpecError>,
) -> Result<Group, SpecError> {
    let entry =
        |info: &Info| Ok(Entry { info: *info, usage: Usage::Member(resolve(&Spec::named(info.name))?) });
    let entries = members.iter().map(entry).collect::<Result<_, SpecError>>()?;
    Ok(Group { title, place: place.to_owned(), entries })
}

/// How a sender starts and paces is only said where that is not the ordinary way.
const ORDINARY: [&str; 2] = ["slow-start", "none"];

fn preset(preset: &Preset) -> Result<Entry, SpecError> {
    let mut parts = vec![
        ("recovery", AnyRecovery::build(&preset.recovery())?.1),
        ("growth", AnyGrowth::build(&preset.growth())?.1),
        ("response", AnyResponse::build(&preset.response())?.1),
    ];
    let more =
        [("start", AnyStart::build(&preset.start())?.1), ("pacing", AnyPacing::build(&preset.pacing())?.1)];
    parts.extend(
        more.into_iter().zip(ORDINARY).filter(|((_, part), o)| part.name != *o).map(|(part, _)| part),
    );
    Ok(Entry { info: preset.info, usage: Usage::Preset(parts, preset.settings()) })
}

fn list(out: &mut dyn Write, groups: &[Group]) -> io::Result<()> {
    let width =
        groups.iter().flat_map(|g| &g.entries).map(|e| e.info.name.chars().count()).max().unwrap_or(0);
    for (k, group) in groups.iter().enumerate() {
        if k > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}: {}", group.title, group.place)?;
        for Entry { info, .. } in &group.entries {
            writeln!(out, "  {:width$}  {}", info.name, info.summary)?;
            let rule = [info.formula, info.source].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>();
            if !rule.is_empty() {
                writeln!(out, "  {:width$}    {}", "", rule.join("  — "))?;
            }
        }
    }
    writeln!(out, "\n`truckee variants NAME` shows one with its parameters and their defaults.")
}

fn show(out: &mut dyn Write, groups: &[Group]) -> io::Result<()> {
    let mut first = true;
    for group in groups {
        for Entry { info, usage } in &group.entries {
            if !std::mem::take(&mut first) {
                writeln!(out)?;
            }
            writeln!(out, "{} ({}): {}", info.name, group.title, info.summary)?;
            for (what, text) in [("rule", info.formula), ("source", info.source)] {
                if !text.is_empty() {
                    writeln!(out, "  {what:7} {text}")?;
                }
            }
            if let Usage::Metric(metric) = usage {
                let unit = if metric.unit.is_empty() { "none, a pure number" } else { metric.unit };
                writeln!(out, "  unit    {unit}")?;
                writeln!(out, "  of each {}", metric.of)?;
                continue;
            }
            writeln!(out, "  in a scenario, every parameter at its default:")?;
            for line in toml(group, usage) {
                writeln!(out, "    {line}")?;
            }
        }
    }
    Ok(())
}

/// How a scenario writes it.
fn toml(group: &Group, usage: &Usage) -> Vec<String> {
    match usage {
        Usage::Preset(parts, settings) => {
            let parts = parts.iter().map(|(key, spec)| format!("{key} = {}", spec_toml(spec)));
            let sender = format!("sender = {{ {} }}", parts.collect::<Vec<_>>().join(", "));
            let settings = settings.iter().map(|s| format!("{} = {}", s.key(), arg_toml(&s.value())));
            iter::once(sender).chain(settings).collect()
        }
        Usage::Member(spec) => vec![group.place.replace('…', &spec_toml(spec))],
        Usage::Kind(example) => {
            let key = group.place.split(" =").next().unwrap_or_default();
            vec![format!("{key} = {example}")]
        }
        Usage::Metric(_) => Vec::new(),
    }
}

fn spec_toml(spec: &Spec) -> String {
    if spec.args.is_empty() {
        return format!("\"{}\"", spec.name);
    }
    let args = spec.args.iter().map(|(name, arg)| format!("{name} = {}", arg_toml(arg)));
    format!("{{ {} = {{ {} }} }}", spec.name, args.collect::<Vec<_>>().join(", "))
}

fn arg_toml(arg: &Arg) -> String {
    match arg {
        Arg::Number(x) => x.to_string(),
        Arg::Time(t) => format!("\"{}\"", format_time(*t)),
        Arg::Rate(r) => format!("\"{}\"", format_rate(*r)),
        Arg::Bytes(b) => format!("\"{}\"", format_bytes(*b)),
        Arg::Segments(n) => format!("\"{n}segments\""),
        Arg::Flag(flag) => flag.to_string(),
        Arg::Name(name) => format!("\"{name}\""),
        Arg::Spec(spec) => spec_toml(spec),
    }
}

fn as_json(group: &Group, entry: &Entry) -> Value {
    let Info { name, summary, formula, source } = entry.info;
    let parameters: Map<String, Value> = match &entry.usage {
        Usage::Member(spec) => spec.args.iter().map(|(n, a)| (n.clone(), arg_toml(a).into())).collect(),
        Usage::Preset(parts, settings) => {
            let parts = parts.iter().map(|(key, spec)| ((*key).to_owned(), spec_toml(spec).into()));
            let settings = settings.iter().map(|s| (s.key().to_owned(), arg_toml(&s.value()).into()));
            parts.chain(settings).collect()
        }
        Usage::Kind(_) => Map::new(),
        Usage::Metric(m) => {
            Map::from_iter([("unit".to_owned(), m.unit.into()), ("of".to_owned(), m.of.into())])
        }
    };
    json!({
        "group": group.title, "name": name, "summary": summary, "formula": formula, "source": source,
        "parameters": parameters, "scenario": toml(group, &entry.usage).join("\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_scenario::Document;
    use truckee_tcp::preset;

    #[test]
    fn a_preset_names_its_start_and_pacing_only_where_they_are_not_the_ordinary_ones() {
        for preset in preset::PRESETS {
            let Usage::Preset(parts, _) = super::preset(preset).unwrap().usage else { panic!("no preset") };
            let named = |key: &str| parts.iter().find(|(k, _)| *k == key).map(|(_, spec)| spec.name.clone());
            for (key, spec, ordinary) in
                [("start", preset.start(), "slow-start"), ("pacing", preset.pacing(), "none")]
            {
                let expected = (spec.name != ordinary).then_some(spec.name);
                assert_eq!(named(key), expected, "{key} of {}", preset.info.name);
            }
        }
    }

    #[test]
    fn a_preset_shows_what_it_sets_in_the_stack() {
        let groups = groups().unwrap();
        let shown = |name: &str| {
            let entry = groups[0].entries.iter().find(|e| e.info.name == name).unwrap();
            toml(&groups[0], &entry.usage).split_off(1)
        };
        assert_eq!(shown("rfc2581"), ["initial_window = \"1segments\"", "send_buffer = \"64KiB\""]);
        assert_eq!(shown("harmed"), ["initial_window = \"3segments\"", "segment_from_acks = true"]);
        assert!(shown("newreno").is_empty());
    }

    #[test]
    fn every_part_of_a_sender_is_a_family_in_the_list() {
        let groups = groups().unwrap();
        for (title, member) in [("starts", "slow-start"), ("pacings", "none"), ("growth rules", "per-ack")] {
            let group = groups.iter().find(|g| g.title == title).unwrap();
            assert!(group.entries.iter().any(|e| e.info.name == member), "{title}: {member}");
        }
    }

    #[test]
    fn what_is_shown_of_a_sender_or_receiver_can_be_pasted_into_a_scenario() {
        for group in groups().unwrap() {
            for entry in &group.entries {
                let line = toml(&group, &entry.usage).join("\n");
                let line = match line.split_once(" = ") {
                    Some(("sender" | "receiver", _)) => line,
                    Some(("response", _)) => format!("sender = {{ {line} }}"),
                    // Kinds have a test of their own.
                    _ => continue,
                };
                let text = format!(
                    "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n\
                     [[flow]]\nfrom = \"a\"\nto = \"b\"\n{line}\n"
                );
                if let Err(errors) = Document::parse("shown.toml", &text).and_then(|d| d.scenario()) {
                    panic!("{}: {errors}", entry.info.name);
                }
            }
        }
    }
}
