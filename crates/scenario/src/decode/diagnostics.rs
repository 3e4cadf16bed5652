//! Gathering everything that is wrong with a scenario, and checking single values: each check returns the value, or
//! reports it where it was written and returns nothing, so that the decoders can go on with a default.
//! Not for: which keys a table has, which the [`Reader`](super::reader::Reader) sees to.

use crate::document::Document;
use crate::document::tree::{Kind, Place, Value};
use crate::error::{Error, Errors, short};
use crate::nearest::{did_you_mean, one_of};
use crate::units::{Dimension, Quantity, format_time, parse_as};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use truckee_channel::{CapacityTrace, DelayTable};
use truckee_tcp::{Registry, Span, Time};

/// No time in a scenario is longer than this: ten years of 365 days, in nanoseconds. Sums of a few such times still
/// fit into 64 bits.
pub(crate) const MAX_TIME: Span = Span::s(10 * 365 * 86_400);
/// No rate is above this, in bit/s: a bit then takes a picosecond, a thousandth of what the clock can tell.
pub(crate) const MAX_RATE: f64 = 1e15;
/// No size is above this, in bytes.
pub(crate) const MAX_BYTES: u64 = 1_000_000_000_000_000_000;

/// Everything wrong that was found so far.
pub(crate) struct Diagnostics<'d> {
    pub document: &'d Document,
    /// Members of families that are not built in.
    pub registry: &'d Registry,
    list: RefCell<Vec<Error>>,
    /// Places and messages of the errors in `list`.
    seen: RefCell<HashSet<((usize, usize), String)>>,
}

impl<'d> Diagnostics<'d> {
    pub fn new(document: &'d Document, registry: &'d Registry) -> Self {
        Self { document, registry, list: RefCell::default(), seen: RefCell::default() }
    }

    /// Reports a problem; the same one is reported once (a rate holds for two directions, a default for many flows).
    pub fn report(&self, place: &Place, message: String, expected: Option<String>, help: Option<String>) {
        if self.is_full() || !self.seen.borrow_mut().insert((place.identity(), message.clone())) {
            return;
        }
        let place = Some(Box::new(self.document.spot(place)));
        self.list.borrow_mut().push(Error { message, place, expected, help });
    }

    /// How many problems there are so far: who reads a part can tell whether all of it was good.
    pub fn problems(&self) -> usize {
        self.list.borrow().len()
    }

    /// Whether no more problems are collected: time to stop looking for nearest names.
    fn is_full(&self) -> bool {
        self.list.borrow().len() >= Errors::MAX
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

    /// A text that must be one of `known`; `what` they are, in words.
    pub fn choice(&self, value: &Value, what: &str, known: &[&'static str]) -> Option<&'static str> {
        let text = self.text(value, &one_of(known.iter().copied()))?;
        let found = known.iter().copied().find(|word| *word == text);
        if found.is_none() {
            self.unknown_name(&value.place, what, text, known.iter().copied());
        }
        found
    }

    /// A name that is none of `known`; `family` says in words what they are.
    pub fn unknown_name<'c>(
        &self,
        place: &Place,
        family: &str,
        name: &str,
        known: impl Iterator<Item = &'c str> + Clone,
    ) {
        if self.is_full() {
            return;
        }
        self.report(
            place,
            format!("there is no {family} \"{}\"", short(name)),
            Some(one_of(known.clone())),
            did_you_mean(name, known),
        );
    }

    /// The trace file that `value` names.
    pub fn trace(&self, value: &Value) -> Option<Arc<CapacityTrace>> {
        let file = self.text(value, "the path of a trace file, relative to the scenario's folder")?;
        match self.document.trace(file) {
            Ok(trace) => Some(trace),
            Err(error) => {
                let help =
                    "a trace file has one line a delivery opportunity: milliseconds, not falling".to_owned();
                self.report(&value.place, error.to_string(), Some("a usable trace file".into()), Some(help));
                None
            }
        }
    }

    /// The table of a distribution that `value` names.
    pub fn delay_table(&self, value: &Value) -> Option<Arc<DelayTable>> {
        let file = self.text(value, "the path of a table, relative to the scenario's folder")?;
        let read = self
            .document
            .text_of(file)
            .and_then(|text| DelayTable::parse(file, &text).map_err(|error| error.to_string()));
        match read {
            Ok(table) => Some(Arc::new(table)),
            Err(message) => {
                let help = "netem's tables have whole numbers, 8192 a standard deviation".to_owned();
                self.report(&value.place, message, Some("a usable table".into()), Some(help));
                None
            }
        }
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

    /// A time within `range`.
    pub fn time(&self, value: &Value, range: RangeInclusive<Span>, suggest: &str) -> Option<Span> {
        let Quantity::Time(time) = self.quantity(value, &[Dimension::Time], suggest)? else { return None };
        if range.contains(&time) {
            return Some(time);
        }
        let upper = if *range.end() == MAX_TIME { "10 years".to_owned() } else { format_time(*range.end()) };
        let expected = match *range.start() {
            Span::ZERO => format!("a time of at most {upper}"),
            least if least == Span::ns(1) => format!("a time above 0 and at most {upper}"),
            start => format!("a time from {} to {upper}", format_time(start)),
        };
        self.refuse(value, &expected);
        None
    }

    /// A point in time so long after the start.
    pub fn moment(&self, value: &Value, range: RangeInclusive<Span>) -> Option<Time> {
        self.time(value, range, "s").map(Time::at)
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

    /// A length, speed, power, ratio or frequency within `range`, in its base unit; `expected` says in words which.
    pub fn real(
        &self,
        value: &Value,
        dimension: Dimension,
        range: RangeInclusive<f64>,
        expected: &str,
    ) -> Option<f64> {
        let (Quantity::Length(real)
        | Quantity::Speed(real)
        | Quantity::Power(real)
        | Quantity::Ratio(real)
        | Quantity::Frequency(real)) = self.quantity(value, &[dimension], dimension.usual_unit())?
        else {
            return None;
        };
        if range.contains(&real) {
            return Some(real);
        }
        self.refuse(value, expected);
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
            let percent = value.text().and_then(|text| text.trim().strip_suffix('%'));
            let share = percent.and_then(|n| n.trim().parse::<f64>().ok()).map(|n| n / 100.0);
            let help = share.filter(|x| fits(*x)).map(|x| format!("write {x}"));
            let message = format!("{} cannot be used here", value.shown());
            self.report(&value.place, message, Some(expected.to_owned()), help);
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
