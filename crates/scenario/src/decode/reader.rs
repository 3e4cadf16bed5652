//! Reading tables by hand: a [`Reader`] hands out the values of a table's keys, remembers which keys were asked for,
//! and in the end refuses the others. Not for: what the keys mean.

use super::diagnostics::Diagnostics;
use crate::document::tree::{Place, Table, Value};
use crate::error::short;
use crate::nearest::{did_you_mean, one_of};
use std::cell::RefCell;
use std::ops::RangeInclusive;
use truckee_tcp::Span;

/// One table while it is read.
pub(crate) struct Reader<'a> {
    pub diag: &'a Diagnostics<'a>,
    /// Where the table was written.
    pub place: &'a Place,
    /// What it is, for messages: `a link`.
    what: &'static str,
    table: &'a Table,
    /// Where a key is looked for that the table does not have.
    defaults: Option<&'a Table>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Reader<'a> {
    pub fn new(diag: &'a Diagnostics<'a>, table: &'a Table, place: &'a Place, what: &'static str) -> Self {
        Self { diag, place, what, table, defaults: None, asked: RefCell::default() }
    }

    /// Reads `value`, which must be a table.
    pub fn of(diag: &'a Diagnostics<'a>, value: &'a Value, what: &'static str) -> Option<Self> {
        match value.table() {
            Some(table) => Some(Self::new(diag, table, &value.place, what)),
            None => {
                diag.refuse(value, &format!("a table that describes {what}"));
                None
            }
        }
    }

    /// Looks for missing keys in `defaults`.
    pub fn with_defaults(mut self, defaults: Option<&'a Table>) -> Self {
        self.defaults = defaults;
        self
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &'static str) -> Option<&'a Value> {
        self.ask(key);
        self.table.get(key).or_else(|| self.defaults.and_then(|defaults| defaults.get(key)))
    }

    /// The value of a key of this very table, whatever the defaults say.
    pub fn own(&self, key: &'static str) -> Option<&'a Value> {
        self.ask(key);
        self.table.get(key)
    }

    fn ask(&self, key: &'static str) {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
        }
    }

    /// The value of a key that must be there; `example` shows what to write.
    pub fn required(&self, key: &'static str, example: &str) -> Option<&'a Value> {
        self.need(key, self.get(key), example)
    }

    /// The same for a key that has no defaults.
    pub fn required_own(&self, key: &'static str, example: &str) -> Option<&'a Value> {
        self.need(key, self.own(key), example)
    }

    fn need(&self, key: &'static str, value: Option<&'a Value>, example: &str) -> Option<&'a Value> {
        if value.is_none() {
            let help = Some(format!("write {key} = {example}"));
            self.diag.report(
                self.place,
                format!("{} without \"{key}\"", self.what),
                Some(format!("the key \"{key}\"")),
                help,
            );
        }
        value
    }

    /// A time, or `default`.
    pub fn time(&self, key: &'static str, default: Span, range: RangeInclusive<Span>, suggest: &str) -> Span {
        self.get(key).and_then(|value| self.diag.time(value, range, suggest)).unwrap_or(default)
    }

    /// A time that must be there; 1 ns in place of a bad one.
    pub fn required_time(
        &self,
        key: &'static str,
        range: RangeInclusive<Span>,
        example: &str,
    ) -> Option<Span> {
        let suggest = if example.ends_with("ms\"") { "ms" } else { "s" };
        self.required(key, example).and_then(|value| self.diag.time(value, range, suggest))
    }

    /// A probability, or `default`.
    pub fn probability(&self, key: &'static str, default: f64) -> f64 {
        self.get(key).and_then(|value| self.diag.probability(value)).unwrap_or(default)
    }

    /// A probability that must be there.
    pub fn required_probability(&self, key: &'static str) -> f64 {
        self.required(key, "0.01").and_then(|value| self.diag.probability(value)).unwrap_or(0.0)
    }

    /// A rate that must be there, bit/s.
    pub fn required_rate(&self, key: &'static str) -> f64 {
        self.required(key, "\"10Mbit/s\"").and_then(|value| self.diag.rate(value)).unwrap_or(1.0)
    }

    /// A switch, or `default`.
    pub fn flag(&self, key: &'static str, default: bool) -> bool {
        self.get(key).and_then(|value| self.diag.flag(value)).unwrap_or(default)
    }

    /// A whole number, or `default`.
    pub fn count(&self, key: &'static str, default: u64, range: RangeInclusive<u64>) -> u64 {
        self.get(key).and_then(|value| self.diag.count(value, range)).unwrap_or(default)
    }

    /// The word under `kind`, which must be one of `known`; `default` if it may be missing.
    pub fn kind(&self, known: &[&'static str], default: Option<&'static str>) -> Option<&'static str> {
        let value = match (self.get("kind"), default) {
            (Some(value), _) => value,
            (None, Some(default)) => return Some(default),
            (None, None) => self.required("kind", &format!("\"{}\"", known.first().unwrap_or(&"")))?,
        };
        self.word(value, known)
    }

    /// The text under `key`, which must be one of `known`; the first of them where there is none, or a bad one.
    pub fn choice(&self, key: &'static str, known: &[&'static str]) -> &'static str {
        let given = self.get(key).and_then(|value| self.diag.choice(value, key, known));
        given.or(known.first().copied()).unwrap_or_default()
    }

    /// A text that must be one of `known`.
    pub fn word(&self, value: &Value, known: &[&'static str]) -> Option<&'static str> {
        self.diag.choice(value, &format!("kind of {}", self.what_bare()), known)
    }

    fn what_bare(&self) -> &'static str {
        self.what.trim_start_matches("a ").trim_start_matches("an ")
    }

    /// Ends the reading: keys nobody asked for are refused.
    pub fn finish(self) {
        let asked = self.asked.into_inner();
        for entry in self.table.entries.iter().filter(|entry| !asked.contains(&entry.key.as_str())) {
            let known = || asked.iter().copied();
            self.diag.report(
                &entry.key_place,
                format!("{} has no key \"{}\"", self.what, short(&entry.key)),
                Some(one_of(known())),
                did_you_mean(&entry.key, known()),
            );
        }
    }

    /// Ends the reading without looking for unknown keys: something already reported decides which keys there are.
    pub fn abandon(self) {}
}
