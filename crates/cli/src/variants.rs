//! `truckee variants`: everything that can be named in a scenario or a sweep, with formula and source.

use crate::error::Error;
use crate::kinds;
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::iter;
use truckee_lab::metric;
use truckee_scenario::explain_stack;
use truckee_scenario::units::{format_bytes, format_rate, format_time};
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::controller::AnyController;
use truckee_tcp::detect::AnyDetector;
use truckee_tcp::estimate::AnyEstimator;
use truckee_tcp::growth::AnyGrowth;
use truckee_tcp::pace::AnyPacing;
use truckee_tcp::predict::AnyPredictor;
use truckee_tcp::preset::{PRESETS, Preset, Setting};
use truckee_tcp::recovery::AnyRecovery;
use truckee_tcp::response::AnyResponse;
use truckee_tcp::start::AnyStart;
use truckee_tcp::{Arg, Info, Profile, Spec, SpecError, Stack};

/// List everything that can be named, or show one name with its parameters
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A preset, profile, algorithm, channel, queue, application or metric
    name: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  truckee variants
  truckee variants newreno-lp
  truckee variants ns-2
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
    /// What stands for a profile where it is written by hand.
    Profile(ByHand),
    /// A member of a family.
    Member(Spec),
    /// A value of a key, as TOML.
    Kind(&'static str),
    /// What a metric belongs to and its unit.
    Metric(metric::Info),
}

/// What a profile sets, as one may write it instead.
struct ByHand {
    /// Keys of a flow, with their values as TOML.
    flow: Vec<(String, String)>,
    /// Parts of presets, by the member's name: key and what stands for it.
    parts: Vec<(&'static str, Vec<(&'static str, Spec)>)>,
    /// Keys of ON/OFF traffic.
    traffic: Vec<(&'static str, &'static str)>,
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

/// All of them as JSON has them, each with the place where a scenario names it.
pub fn placed() -> Result<Vec<Value>, Error> {
    let groups = groups().map_err(|e| Error::Failed(e.to_string()))?;
    let one = |group: &Group, entry: &Entry| {
        let mut said = as_json(group, entry);
        said["place"] = group.place.as_str().into();
        said
    };
    Ok(groups.iter().flat_map(|group| group.entries.iter().map(|entry| one(group, entry))).collect())
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
        Group {
            title: "profiles",
            place: "profile = \"NAME\"".into(),
            entries: Profile::ALL
                .map(|profile| Entry { info: profile.info(), usage: Usage::Profile(by_hand(profile)) })
                .into(),
        },
        family("recoveries", "sender = { recovery = … }", AnyRecovery::MEMBERS, |s| {
            Ok(AnyRecovery::build(s)?.1)
        })?,
        family("growth rules", "sender = { growth = … }", AnyGrowth::MEMBERS, |s| {
            Ok(AnyGrowth::build(s)?.1)
        })?,
        family("controllers", "sender = { controller = … }", AnyController::MEMBERS, |s| {
            Ok(AnyController::build(s)?.1)
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

/// The difference between a profile and none.
fn by_hand(profile: Profile) -> ByHand {
    let without = Stack::default();
    let (with, without) = (explain_stack(&profile.stack(without.clone())), explain_stack(&without));
    let other = with.lines().filter(|line| without.lines().all(|known| known != *line));
    let flow = other.filter_map(|line| line.split_once(" = ")).map(|(k, v)| (k.to_owned(), v.to_owned()));
    let receiver = profile.receiver().map(|spec| ("receiver".to_owned(), spec_toml(&spec)));
    let families = [
        ("recovery", AnyRecovery::MEMBERS),
        ("growth", AnyGrowth::MEMBERS),
        ("response", AnyResponse::MEMBERS),
    ];
    let mut parts: Vec<(&str, Vec<(&str, Spec)>)> = Vec::new();
    for (key, members) in families {
        for member in members {
            let ordinary = Spec::named(member.name);
            let part = if key == "growth" { profile.growth(ordinary) } else { profile.part(ordinary) };
            if part == Spec::named(member.name) {
                continue;
            }
            match parts.iter_mut().find(|(name, _)| *name == member.name) {
                Some((_, keys)) => keys.push((key, part)),
                None => parts.push((member.name, vec![(key, part)])),
            }
        }
    }
    let traffic = if profile.whole_packets() { vec![("bursts", "\"packets\"")] } else { Vec::new() };
    ByHand { flow: flow.chain(receiver).collect(), parts, traffic }
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
            let defaults =
                if matches!(usage, Usage::Profile(_)) { "" } else { ", every parameter at its default" };
            writeln!(out, "  in a scenario{defaults}:")?;
            for line in toml(group, info.name, usage) {
                writeln!(out, "    {line}")?;
            }
            if let Usage::Profile(by_hand) = usage {
                show_by_hand(out, by_hand)?;
            }
        }
    }
    Ok(())
}

fn show_by_hand(out: &mut dyn Write, by_hand: &ByHand) -> io::Result<()> {
    let flow = by_hand.flow.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let parts = by_hand.parts.iter().map(|(name, parts)| {
        (format!("of a preset with {name}"), vec![format!("sender = {}", sender_toml(parts))])
    });
    let traffic = by_hand.traffic.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let (each, on_off) = ("of each flow".to_owned(), "of ON/OFF traffic".to_owned());
    for (of, lines) in iter::once((each, flow)).chain(parts).chain([(on_off, traffic)]) {
        let lines: Vec<String> = lines;
        if !lines.is_empty() {
            writeln!(out, "  or by hand, {of}:")?;
        }
        for line in lines {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
}

/// How a scenario writes what has this name.
fn toml(group: &Group, name: &str, usage: &Usage) -> Vec<String> {
    match usage {
        Usage::Profile(_) => vec![group.place.replace("NAME", name)],
        Usage::Preset(parts, settings) => {
            let sender = format!("sender = {}", sender_toml(parts));
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

fn sender_toml(parts: &[(&str, Spec)]) -> String {
    let parts = parts.iter().map(|(key, spec)| format!("{key} = {}", spec_toml(spec)));
    format!("{{ {} }}", parts.collect::<Vec<_>>().join(", "))
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
        Usage::Profile(ByHand { flow, parts, traffic }) => {
            let flow = flow.iter().map(|(key, value)| (key.clone(), value.clone().into()));
            let parts =
                parts.iter().flat_map(|(name, parts)| parts.iter().map(move |(key, spec)| (name, key, spec)));
            let parts = parts.map(|(name, key, spec)| (format!("{key}.{name}"), spec_toml(spec).into()));
            let traffic = traffic.iter().map(|(key, value)| ((*key).to_owned(), (*value).into()));
            flow.chain(parts).chain(traffic).collect()
        }
        Usage::Kind(_) => Map::new(),
        Usage::Metric(m) => {
            Map::from_iter([("unit".to_owned(), m.unit.into()), ("of".to_owned(), m.of.into())])
        }
    };
    json!({
        "group": group.title, "name": name, "summary": summary, "formula": formula, "source": source,
        "parameters": parameters, "scenario": toml(group, name, &entry.usage).join("\n"),
    })
}

#[cfg(test)]
mod tests;
