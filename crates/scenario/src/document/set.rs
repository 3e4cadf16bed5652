//! Overrides: which values a path such as `flow.download.sender` or `channel.per_bad` names, and putting a new one
//! there. Not for: whether the new value makes sense, which is seen when the document is resolved.

use super::tree::{Kind, Override, Place, Table, Value};
use crate::error::{Error, Errors, Spot};
use crate::nearest::{did_you_mean, one_of};
use std::sync::Arc;
use toml::de::DeValue;

/// The keys of a file's top level.
pub(crate) const TOP_LEVEL: [&str; 15] = [
    "duration",
    "seed",
    "warmup",
    "stop_when_done",
    "kernel",
    "profile",
    "topology",
    "defaults",
    "link",
    "node",
    "medium",
    "flow",
    "traffic",
    "change",
    "cells",
];
/// Those that hold arrays of named tables.
const SECTIONS: [&str; 6] = ["link", "node", "medium", "flow", "traffic", "change"];
/// Keys of links that may be set by themselves where there is one link only.
const OF_LINKS: [&str; 12] = [
    "rate",
    "delay",
    "queue",
    "channel",
    "rate_back",
    "delay_back",
    "queue_back",
    "channel_back",
    "channel_both",
    "quick_start",
    "preset",
    "steps",
];
/// Keys of tables, which are begun where a path leads into one that is not there.
const TABLES: [&str; 17] = [
    "topology",
    "defaults",
    "kernel",
    "queue",
    "queue_back",
    "channel",
    "channel_back",
    "channel_both",
    "steps",
    "sender",
    "receiver",
    "app",
    "observe",
    "propagation",
    "aggregation",
    "move",
    "roam",
];

/// Overrides what `path` names in `root`.
pub(super) fn set(root: &mut Table, path: &str, value: &str) -> Result<(), Errors> {
    let given = Arc::new(Override { path: path.to_owned(), value: value.to_owned() });
    let steps: Vec<&str> = path.split('.').collect();
    if let Some(empty) = steps.iter().position(|step| step.trim().is_empty()) {
        let miss = Miss { step: empty, message: "a part of the path is empty".to_owned(), known: Vec::new() };
        return Err(miss.into_error(&given, &steps).into());
    }
    let mut setter = Setter { new: parse_value(&given)?, miss: None, begin: false, given };
    // What is there comes first, wherever it is; only then is anything begun.
    for begin in [false, true] {
        (setter.begin, setter.miss) = (begin, None);
        if setter.descend(root, &steps) > 0 {
            return Ok(());
        }
    }
    let miss = setter.miss.take().unwrap_or(Miss {
        step: 0,
        message: format!("\"{path}\" names nothing in this scenario"),
        known: TOP_LEVEL.iter().map(|key| (*key).to_owned()).collect(),
    });
    Err(miss.into_error(&setter.given, &steps).into())
}

/// The place of an override in messages: the last step of its path, or its value.
pub(super) fn spot(given: &Override, key: bool) -> Spot {
    let (path, value) = (given.path.as_str(), given.value.as_str());
    if key {
        Spot::in_override(path, value, path.rfind('.').map_or(0, |dot| dot + 1), path.len())
    } else {
        Spot::in_override(path, value, path.len() + 1, path.len() + 1 + value.len())
    }
}

/// A TOML value or, if the text is none, a bare string. A text that sets out as an array, a table or a quoted string
/// was meant as one, so it must be one.
fn parse_value(given: &Arc<Override>) -> Result<Value, Errors> {
    let text = given.value.trim();
    let place = Place::Override { given: Arc::clone(given), key: false };
    // TOML wants a digit before the point; people do not.
    let whole = match text.strip_prefix('.') {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_digit()) => format!("0{text}"),
        _ => text.to_owned(),
    };
    match DeValue::parse(&whole) {
        Ok(parsed) => {
            let mut value = Value::from_toml(parsed.get_ref(), parsed.span());
            value.put_at(&place);
            Ok(value)
        }
        Err(error) if text.starts_with(['{', '[', '"', '\'']) => Err(Errors::from(Error {
            message: format!("not a TOML value: {}", error.message()),
            place: Some(Box::new(spot(given, false))),
            expected: None,
            help: None,
        })),
        Err(_) => Ok(Value { kind: Kind::Text(text.to_owned()), place }),
    }
}

/// A step of the path that led nowhere.
struct Miss {
    step: usize,
    message: String,
    known: Vec<String>,
}

impl Miss {
    fn into_error(self, given: &Override, steps: &[&str]) -> Error {
        let start = steps.iter().take(self.step).map(|step| step.len() + 1).sum::<usize>();
        let step = steps.get(self.step).copied().unwrap_or_default();
        let known = || self.known.iter().map(String::as_str);
        Error {
            place: Some(Box::new(Spot::in_override(&given.path, &given.value, start, start + step.len()))),
            expected: (!self.known.is_empty()).then(|| one_of(known())),
            help: did_you_mean(step, known()),
            message: self.message,
        }
    }
}

/// The new value on its way down the tree. Each method returns how many values it replaced.
struct Setter {
    new: Value,
    given: Arc<Override>,
    miss: Option<Miss>,
    /// Whether tables that are not there are begun.
    begin: bool,
}

impl Setter {
    fn descend(&mut self, root: &mut Table, steps: &[&str]) -> usize {
        let first = steps[0];
        if SECTIONS.contains(&first) && steps.len() > 1 {
            self.in_section(root, steps)
        } else if TOP_LEVEL.contains(&first) {
            self.in_table(root, steps, 0, true)
        } else {
            self.in_links(root, steps)
        }
    }

    /// `link.…`, `flow.…`: an entry by number, by name, or all of them.
    fn in_section(&mut self, root: &mut Table, steps: &[&str]) -> usize {
        let section = steps[0];
        let mut names = Vec::new();
        if let Some(Value { kind: Kind::List(items), .. }) = root.get_mut(section) {
            names = items.iter().enumerate().map(|(i, item)| entry_name(section, i, item)).collect();
            let entries = items.len();
            if let Ok(index) = steps[1].parse::<usize>() {
                let Some(item) = items.get_mut(index) else {
                    return self.missed(
                        1,
                        format!(
                            "there is no {section} {index}: they count from 0 to {}",
                            entries.saturating_sub(1)
                        ),
                        names,
                    );
                };
                return self.in_entry(item, steps, 2);
            }
            if let Some((index, next)) = by_name(&names, steps) {
                return items.get_mut(index).map_or(0, |item| self.in_entry(item, steps, next));
            }
            let all: usize = items.iter_mut().map(|item| self.in_value(item, steps, 1, true)).sum();
            if all > 0 {
                return all;
            }
        }
        if section == "flow"
            && let Some(defaults) = root.get_mut("defaults")
        {
            let shared = self.in_value(defaults, steps, 1, false);
            if shared > 0 {
                return shared;
            }
        }
        if names.is_empty() {
            let known = root.keys().map(str::to_owned).collect();
            return self.missed(0, format!("this scenario has no [[{section}]]"), known);
        }
        self.missed(1, format!("no {section} has the name or the key \"{}\"", steps[1]), names)
    }

    fn in_entry(&mut self, item: &mut Value, steps: &[&str], next: usize) -> usize {
        if next >= steps.len() {
            let keys = item.table().map_or_else(Vec::new, |table| table.keys().map(str::to_owned).collect());
            return self.missed(
                steps.len() - 1,
                format!("the path ends at a {}, not at a key of it", steps[0]),
                keys,
            );
        }
        self.in_value(item, steps, next, true)
    }

    /// A link's key alone: all links, and the topology, that have it; where none does, the only one there is.
    fn in_links(&mut self, root: &mut Table, steps: &[&str]) -> usize {
        let mut known: Vec<String> = TOP_LEVEL.iter().map(|key| (*key).to_owned()).collect();
        let mut set = 0;
        for section in ["topology", "link"] {
            let holders: Vec<&mut Value> = match root.get_mut(section) {
                Some(Value { kind: Kind::List(items), .. }) => items.iter_mut().collect(),
                Some(table) => vec![table],
                None => Vec::new(),
            };
            for table in holders.into_iter().filter_map(Value::table_mut) {
                if table.get(steps[0]).is_some() {
                    set += self.in_table(table, steps, 0, false);
                } else {
                    known.extend(table.keys().map(str::to_owned));
                }
            }
        }
        if set == 0 && self.begin && OF_LINKS.contains(&steps[0]) {
            return self.in_only_link(root, steps);
        }
        if set == 0 {
            known.sort();
            known.dedup();
            self.missed(0, format!("\"{}\" is no key of the file, nor of any link in it", steps[0]), known);
        }
        set
    }

    /// A key that no link has yet: of the one link there is.
    fn in_only_link(&mut self, root: &mut Table, steps: &[&str]) -> usize {
        let key = steps[0];
        let mut holders = Vec::new();
        if root.get("topology").is_some() {
            holders.push("topology".to_owned());
        }
        if let Some(Value { kind: Kind::List(items), .. }) = root.get("link") {
            holders.extend(
                items.iter().enumerate().map(|(i, item)| format!("link.{}", entry_name("link", i, item))),
            );
        }
        match holders.as_slice() {
            [] => self.missed(0, format!("there is no link whose \"{key}\" it could be"), Vec::new()),
            [one] => {
                let section = if one == "topology" { "topology" } else { "link" };
                let holder = match root.get_mut(section) {
                    Some(Value { kind: Kind::List(items), .. }) => items.first_mut(),
                    table => table,
                };
                holder.and_then(Value::table_mut).map_or(0, |table| self.in_table(table, steps, 0, true))
            }
            several => {
                let known = several.iter().map(|holder| format!("{holder}.{key}")).collect();
                self.missed(0, format!("no link has \"{key}\" yet, and there are several: say which"), known)
            }
        }
    }

    fn in_value(&mut self, value: &mut Value, steps: &[&str], at: usize, create: bool) -> usize {
        let is_name = matches!(&value.kind, Kind::Text(text) if text == steps[at]);
        if is_name && at + 2 == steps.len() {
            // `receiver = "delayed"` and `receiver.delayed.timeout`: the name becomes a table of arguments.
            let place = self.place(true);
            let mut table = Table::default();
            table.put(
                steps[at],
                place.clone(),
                Value { kind: Kind::Table(Table::default()), place: place.clone() },
            );
            value.kind = Kind::Table(table);
        }
        let shown = value.shown();
        match &mut value.kind {
            Kind::Table(table) => self.in_table(table, steps, at, create),
            Kind::List(items) => self.in_list(items, steps, at),
            _ => self.missed(
                at,
                format!("{shown} has no keys, so nothing is called \"{}\" in it", steps[at]),
                Vec::new(),
            ),
        }
    }

    fn in_list(&mut self, items: &mut [Value], steps: &[&str], at: usize) -> usize {
        let entries = items.len();
        match steps[at].parse::<usize>() {
            Ok(index) => match items.get_mut(index) {
                Some(item) if at + 1 == steps.len() => {
                    *item = self.new.clone();
                    1
                }
                Some(item) => self.in_value(item, steps, at + 1, true),
                None => {
                    self.missed(at, format!("the array has {entries} entries, counted from 0"), Vec::new())
                }
            },
            Err(_) => items.iter_mut().map(|item| self.in_value(item, steps, at, false)).sum(),
        }
    }

    /// The key `steps[at]` of a table, or what is below it. A last step that is not there yet is added if `create`, and
    /// so are tables on the way to it where they may be begun.
    fn in_table(&mut self, table: &mut Table, steps: &[&str], at: usize, create: bool) -> usize {
        let key = steps[at];
        if at + 1 == steps.len() {
            if create || table.get(key).is_some() {
                table.put(key, self.place(true), self.new.clone());
                return 1;
            }
        } else if let Some(value) = table.get_mut(key) {
            return self.in_value(value, steps, at + 1, true);
        } else if create && self.begin && TABLES.contains(&key) {
            let place = self.place(true);
            let empty = Value { kind: Kind::Table(Table::default()), place: place.clone() };
            table.put(key, place, empty);
            return table.get_mut(key).map_or(0, |value| self.in_value(value, steps, at + 1, true));
        }
        let known = table.keys().map(str::to_owned).collect();
        self.missed(at, format!("there is no \"{key}\" here"), known)
    }

    fn place(&self, key: bool) -> Place {
        Place::Override { given: Arc::clone(&self.given), key }
    }

    /// Remembers the miss that came furthest; of equals the last, which knows most.
    fn missed(&mut self, step: usize, message: String, known: Vec<String>) -> usize {
        let old = self.miss.take();
        let mut new = Miss { step, message, known };
        if let Some(old) = old {
            if old.step > step {
                new = old;
            } else if old.step == step {
                new.known.extend(old.known);
                new.known.sort();
                new.known.dedup();
            }
        }
        self.miss = Some(new);
        0
    }
}

/// The name by which an entry of a section is addressed: its own, or the default it will get.
fn entry_name(section: &str, index: usize, item: &Value) -> String {
    let table = item.table();
    if let Some(name) = table.and_then(|t| t.get("name")).and_then(Value::text) {
        return name.to_owned();
    }
    if section == "link"
        && let Some(Kind::List(ends)) = table.and_then(|t| t.get("between")).map(|v| &v.kind)
        && let [first, second] = ends.as_slice()
        && let (Some(first), Some(second)) = (first.text(), second.text())
    {
        return format!("{first}-{second}");
    }
    format!("{section}-{}", index + 1)
}

/// The entry whose name the path's steps after the first spell, and the step after it. Names may contain dots; the
/// longest one wins.
fn by_name(names: &[String], steps: &[&str]) -> Option<(usize, usize)> {
    (2..=steps.len()).rev().find_map(|next| {
        let spelt = steps[1..next].join(".");
        names.iter().position(|name| *name == spelt).map(|index| (index, next))
    })
}
