//! What of a study's file decides verdicts.

use std::collections::BTreeMap;
use toml::{Table, Value};

/// Keys that decide nothing: texts, what is drawn, how many live runs a machine bears, and beside what.
const OF_THE_STUDY: [&str; 9] =
    ["title", "setup", "source", "calibrated", "parallel", "alone", "figure", "map", "check"];
const OF_A_SWEEP: [&str; 2] = ["quick", "metrics"];
const OF_A_CHECK: [&str; 5] = ["name", "note", "differs", "unit", "full_only"];

/// What a study's file claims.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claims {
    /// The study.
    pub(super) id: String,
    /// What decides the verdicts of all checks.
    setup: Table,
    /// What each check demands, by its name. Two checks may share one.
    checks: BTreeMap<String, Vec<Table>>,
}

/// What is different.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) setup: bool,
    pub(super) new: Vec<String>,
    pub(super) changed: Vec<String>,
    pub(super) gone: Vec<String>,
}

impl Claims {
    /// Those of a file's text; `None` if it is no study's.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut study: Table = text.parse().ok()?;
        let id = study.get("id")?.as_str()?.to_owned();
        let checks = match study.get_mut("check").map(Value::as_array_mut) {
            Some(Some(checks)) => std::mem::take(checks),
            _ => Vec::new(),
        };
        let mut by_name: BTreeMap<String, Vec<Table>> = BTreeMap::new();
        for check in checks {
            let Value::Table(mut check) = check else { return None };
            let name = check.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            without(&mut check, &OF_A_CHECK);
            demand_alone(&mut check);
            by_name.entry(name).or_default().push(plain(check));
        }
        without(&mut study, &OF_THE_STUDY);
        scenario(&mut study);
        for sweep in study.get_mut("sweep").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Table(sweep) = sweep {
                without(sweep, &OF_A_SWEEP);
                scenario(sweep);
            }
        }
        Some(Self { id, setup: plain(study), checks: by_name })
    }

    /// What is different from these earlier claims; all is new where there were none.
    pub(super) fn since(&self, then: Option<&Self>) -> Difference {
        let none = BTreeMap::new();
        let before = then.map_or(&none, |then| &then.checks);
        let names = |those: &BTreeMap<String, Vec<Table>>, keep: &dyn Fn(&str, &[Table]) -> bool| {
            those.iter().filter(|(name, tables)| keep(name, tables)).map(|(name, _)| name.clone()).collect()
        };
        Difference {
            setup: then.is_some_and(|then| then.setup != self.setup),
            new: names(&self.checks, &|name, _| !before.contains_key(name)),
            changed: names(&self.checks, &|name, now| before.get(name).is_some_and(|then| then != now)),
            gone: names(before, &|name, _| !self.checks.contains_key(name)),
        }
    }
}

fn without(table: &mut Table, keys: &[&str]) {
    table.retain(|key, _| !keys.contains(&key));
}

/// Leaves of what is written in words only whether it is there.
fn demand_alone(check: &mut Table) {
    for (key, word) in [("reference", "source"), ("rival", "name"), ("cause", "name")] {
        if let Some(Value::Table(table)) = check.get_mut(key) {
            without(table, &[word]);
        }
    }
    if let Some(loosened) = check.get_mut("loosened") {
        *loosened = Value::Boolean(true);
    }
}

/// A scenario by what it says, whatever its comments and its layout.
fn scenario(table: &mut Table) {
    if let Some(Value::String(text)) = table.get("scenario")
        && let Ok(read) = text.parse::<Table>()
    {
        table.insert("scenario".to_owned(), Value::Table(read));
    }
}

/// With numbers that do not depend on how they are written.
fn plain(table: Table) -> Table {
    fn value(from: Value) -> Value {
        match from {
            Value::Integer(n) => Value::Float(n as f64),
            Value::Array(list) => Value::Array(list.into_iter().map(value).collect()),
            Value::Table(table) => Value::Table(plain(table)),
            other => other,
        }
    }
    table.into_iter().map(|(key, from)| (key, value(from))).collect()
}
