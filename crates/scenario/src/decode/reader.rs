//! Reading tables by hand: a [`Reader`] hands out the values of a table's keys, remembers which keys were asked for,
//! and in the end refuses the others. [`Diagnostics`] gathers everything that is wrong; the decoders go on with a
//! default in place of a bad value, so that one go finds as many problems as it can.
//! Not for: what the keys mean.

use crate::document::Document;
use crate::document::tree::{Kind, Place, Table, Value};
use crate::error::{Error, Errors};
use crate::nearest::{did_you_mean, one_of};
use crate::units::{Dimension, Quantity, format_time, parse_as};
use std::cell::RefCell;
use std::ops::RangeInclusive;
use truckee_tcp::Nanos;

/// No time in a scenario is longer than this: ten years of 365 days, in nanoseconds. Sums of a few such times still
/// fit into 64 bits.
pub(crate) const MAX_TIME: Nanos = 10 * 365 * 86_400 * 1_000_000_000;
/// No rate is above this, in bit/s: a bit then takes a picosecond, a thousandth of what the clock can tell.
pub(crate) const MAX_RATE: f64 = 1e15;
/// No size is above this, in bytes.
pub(crate) const MAX_BYTES: u64 = 1_000_000_000_000_000_000;

/// Everything wrong that was found so far.
pub(crate) struct Diagnostics<'d> {
    pub document: &'d Document,
    list: RefCell<Vec<Error>>,
}

impl<'d> Diagnostics<'d> {
    pub fn new(document: &'d Document) -> Self {
        Self { document, list: RefCell::default() }
    }

    /// Reports a problem; the same one is reported once (a rate holds for two directions, a default for many flows).
    pub fn report(&self, place: &Place, message: String, expected: Option<String>, help: Option<String>) {
        let mut list = self.list.borrow_mut();
        if list.len() >= Errors::MAX {
            return;
        }
        let error = Error { message, place: Some(self.document.spot(place)), expected, help };
        if !list.contains(&error) {
            list.push(error);
        }
    }

    /// A value that will not do.
    pub fn refuse(&self, value: &Value, expected: &str) {
        self.report(
            &value.place,
            format!("{} cannot be used here", value.shown()),
            Some(expected.to_owned()),
            None,
        );
    }

    /// A name that is none of `known`; `family` says in words what they are.
    pub fn unknown_name<'c>(
        &self,
        place: &Place,
        family: &str,
        name: &str,
        known: impl Iterator<Item = &'c str> + Clone,
    ) {
        self.report(
            place,
            format!("there is no {family} \"{}\"", crate::document::tree::short(name)),
            Some(one_of(known.clone())),
            did_you_mean(name, known),
        );
    }

    /// `good` if nothing was wrong, else everything that was.
    pub fn finish<T>(self, good: T) -> Result<T, Errors> {
        let mut list = self.list.into_inner();
        // In the order of the file; overrides, which have no line, come first.
        list.sort_by_key(|error| error.place.as_ref().map(|place| (place.line, place.column)));
        if list.is_empty() { Ok(good) } else { Err(Errors { list }) }
    }

    /// A quantity of one of `dimensions`; `suggest` is the unit proposed where there is none.
    pub fn quantity(&self, value: &Value, dimensions: &[Dimension], suggest: &str) -> Option<Quantity> {
        let error = match &value.kind {
            Kind::Text(text) => match parse_as(text, dimensions, suggest) {
                Ok(quantity) => return Some(quantity),
                Err(error) => error,
            },
            Kind::Whole(_) | Kind::Real(_) => {
                let mut error = parse_as("", dimensions, suggest).err()?;
                error.message = format!("{} has no unit", value.shown());
                let positive = value.number().is_some_and(|n| n >= 0.0);
                error.help = positive.then(|| format!("write \"{}{suggest}\"", value.shown()));
                error
            }
            _ => {
                let mut error = parse_as("", dimensions, suggest).err()?;
                error.message = format!("{} cannot be used here", value.shown());
                error
            }
        };
        self.report(&value.place, error.message, error.expected, error.help);
        None
    }

    /// A time within `range`, nanoseconds.
    pub fn time(&self, value: &Value, range: RangeInclusive<Nanos>, suggest: &str) -> Option<Nanos> {
        let Quantity::Time(time) = self.quantity(value, &[Dimension::Time], suggest)? else { return None };
        if range.contains(&time) {
            return Some(time);
        }
        let upper = if *range.end() == MAX_TIME { "10 years".to_owned() } else { format_time(*range.end()) };
        let expected = match *range.start() {
            0 => format!("a time of at most {upper}"),
            1 => format!("a time above 0 and at most {upper}"),
            start => format!("a time from {} to {upper}", format_time(start)),
        };
        self.refuse(value, &expected);
        None
    }

    /// A rate above 0, bit/s.
    pub fn rate(&self, value: &Value) -> Option<f64> {
        let Quantity::Rate(rate) = self.quantity(value, &[Dimension::Rate], "Mbit/s")? else { return None };
        if rate > 0.0 && rate <= MAX_RATE {
            return Some(rate);
        }
        self.refuse(value, "a rate above 0 and at most 1000000Gbit/s");
        None
    }

    /// A rate in whole bit/s, at least 1.
    pub fn whole_rate(&self, value: &Value) -> Option<u64> {
        let rate = self.rate(value)?.round();
        if rate >= 1.0 {
            return Some(rate as u64);
        }
        self.refuse(value, "a rate of at least 1bit/s");
        None
    }

    /// A size in bytes within `range`; segments count `mss` bytes each.
    pub fn bytes(&self, value: &Value, range: RangeInclusive<u64>, mss: u32) -> Option<u64> {
        let bytes = match self.quantity(value, &[Dimension::Size, Dimension::Segments], "kB")? {
            Quantity::Bytes(bytes) => bytes,
            Quantity::Segments(n) => (n * f64::from(mss)).round() as u64,
            _ => return None,
        };
        if range.contains(&bytes) {
            return Some(bytes);
        }
        self.refuse(value, &format!("a size from {}B to {}B", range.start(), range.end()));
        None
    }

    /// A pure number that satisfies `fits`, which `expected` puts into words.
    pub fn number(&self, value: &Value, fits: impl Fn(f64) -> bool, expected: &str) -> Option<f64> {
        let number = value.number().filter(|x| fits(*x));
        if number.is_none() {
            self.refuse(value, expected);
        }
        number
    }

    /// A probability.
    pub fn probability(&self, value: &Value) -> Option<f64> {
        self.number(value, |p| (0.0..=1.0).contains(&p), "a probability from 0 to 1")
    }

    /// A whole number within `range`.
    pub fn count(&self, value: &Value, range: RangeInclusive<u64>) -> Option<u64> {
        if let Kind::Whole(n) = value.kind
            && let Ok(n) = u64::try_from(n)
            && range.contains(&n)
        {
            return Some(n);
        }
        let expected = match (*range.start(), *range.end()) {
            (0, u64::MAX) => "a whole number, not negative".to_owned(),
            (start, u64::MAX) => format!("a whole number of at least {start}"),
            (start, end) => format!("a whole number from {start} to {end}"),
        };
        self.refuse(value, &expected);
        None
    }

    /// A switch.
    pub fn flag(&self, value: &Value) -> Option<bool> {
        if let Kind::Flag(flag) = value.kind {
            return Some(flag);
        }
        self.refuse(value, "true or false");
        None
    }

    /// A text; `expected` says which.
    pub fn text<'v>(&self, value: &'v Value, expected: &str) -> Option<&'v str> {
        let text = value.text();
        if text.is_none() {
            self.refuse(value, expected);
        }
        text
    }

    /// A name people and files can carry: not empty, at most 100 characters, no control characters, no `*`, and no
    /// white space at its ends.
    pub fn name<'v>(&self, value: &'v Value) -> Option<&'v str> {
        let good = |text: &&str| {
            !text.is_empty()
                && text.trim() == *text
                && text.chars().count() <= 100
                && !text.contains(|c: char| c.is_control() || c == '*')
        };
        let name = value.text().filter(good);
        if name.is_none() {
            self.refuse(value, "a name of 1 to 100 characters, without \"*\" and control characters");
        }
        name
    }

    /// An array.
    pub fn list<'v>(&self, value: &'v Value, expected: &str) -> Option<&'v [Value]> {
        if let Kind::List(items) = &value.kind {
            return Some(items);
        }
        self.refuse(value, expected);
        None
    }
}

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
    pub fn time(
        &self,
        key: &'static str,
        default: Nanos,
        range: RangeInclusive<Nanos>,
        suggest: &str,
    ) -> Nanos {
        self.get(key).and_then(|value| self.diag.time(value, range, suggest)).unwrap_or(default)
    }

    /// A time that must be there; 1 ns in place of a bad one.
    pub fn required_time(
        &self,
        key: &'static str,
        range: RangeInclusive<Nanos>,
        example: &str,
    ) -> Option<Nanos> {
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

    /// A text that must be one of `known`.
    pub fn word(&self, value: &Value, known: &[&'static str]) -> Option<&'static str> {
        let text = self.diag.text(value, &one_of(known.iter().copied()))?;
        let found = known.iter().copied().find(|word| *word == text);
        if found.is_none() {
            self.diag.unknown_name(
                &value.place,
                &format!("kind of {}", self.what_bare()),
                text,
                known.iter().copied(),
            );
        }
        found
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
                format!("{} has no key \"{}\"", self.what, crate::document::tree::short(&entry.key)),
                Some(one_of(known())),
                did_you_mean(&entry.key, known()),
            );
        }
    }

    /// Ends the reading without looking for unknown keys: something already reported decides which keys there are.
    pub fn abandon(self) {}
}
