//! A parsed file as a tree of our own whose every key and value knows where it was written. Later stages report
//! problems at those places long after the TOML parser is gone. Not for: what any key means.

use crate::error::short;
use std::ops::Range;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// Where a key or a value was written.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Byte offsets in the file.
    File { start: usize, end: usize },
    /// In an override, `--set path=value`: in its path if `key`, else in its value.
    Override { given: Arc<Override>, key: bool },
}

/// An override as it was given.
#[derive(Debug)]
pub(crate) struct Override {
    pub path: String,
    pub value: String,
}

impl Place {
    /// A number pair that is the same for the same place only.
    pub fn identity(&self) -> (usize, usize) {
        match self {
            Place::File { start, end } => (*start, *end),
            Place::Override { given, key } => (Arc::as_ptr(given) as usize, usize::from(*key)),
        }
    }
}

impl From<Range<usize>> for Place {
    fn from(span: Range<usize>) -> Self {
        Place::File { start: span.start, end: span.end }
    }
}

/// A value and where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub kind: Kind,
    pub place: Place,
}

/// A value's content.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Text(String),
    Whole(i128),
    Real(f64),
    Flag(bool),
    /// A date or time of day: no key wants one, but the message must be able to show it.
    Date(String),
    List(Vec<Value>),
    Table(Table),
}

/// A table: its entries in the order written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: String,
    pub key_place: Place,
    pub value: Value,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }

    /// Sets a key, in its old position if it was there.
    pub fn put(&mut self, key: &str, key_place: Place, value: Value) {
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => (entry.key_place, entry.value) = (key_place, value),
            None => self.entries.push(Entry { key: key.to_owned(), key_place, value }),
        }
    }

    /// The tree of a parsed TOML table. The parser limits the depth, so recursion is safe.
    pub fn from_toml(table: &DeTable<'_>) -> Self {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref().to_string(),
                key_place: key.span().into(),
                value: Value::from_toml(value.get_ref(), value.span()),
            })
            .collect();
        // The parser sorts by name; messages and arguments follow the order written.
        entries.sort_by_key(|entry| match entry.key_place {
            Place::File { start, .. } => start,
            Place::Override { .. } => usize::MAX,
        });
        Self { entries }
    }
}

impl Value {
    /// The tree of a parsed TOML value.
    pub fn from_toml(value: &DeValue<'_>, span: Range<usize>) -> Self {
        let kind = match value {
            DeValue::String(text) => Kind::Text(text.to_string()),
            DeValue::Integer(n) => {
                i128::from_str_radix(n.as_str(), n.radix()).map_or(Kind::Real(f64::INFINITY), Kind::Whole)
            }
            DeValue::Float(x) => Kind::Real(x.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => Kind::Flag(*flag),
            DeValue::Datetime(date) => Kind::Date(date.to_string()),
            DeValue::Array(list) => {
                Kind::List(list.iter().map(|item| Value::from_toml(item.get_ref(), item.span())).collect())
            }
            DeValue::Table(table) => Kind::Table(Table::from_toml(table)),
        };
        Self { kind, place: span.into() }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn table(&self) -> Option<&Table> {
        match &self.kind {
            Kind::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.kind {
            Kind::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The number, whole or not; `None` for anything else, NaN and infinities included.
    pub fn number(&self) -> Option<f64> {
        match self.kind {
            Kind::Whole(n) => Some(n as f64),
            Kind::Real(x) if x.is_finite() => Some(x),
            _ => None,
        }
    }

    /// The value as messages show it: scalars as written, the rest by kind.
    pub fn shown(&self) -> String {
        match &self.kind {
            Kind::Text(text) => format!("\"{}\"", short(text)),
            Kind::Whole(n) => n.to_string(),
            Kind::Real(x) => x.to_string(),
            Kind::Flag(flag) => flag.to_string(),
            Kind::Date(date) => format!("the date {date}"),
            Kind::List(_) => "an array".to_owned(),
            Kind::Table(_) => "a table".to_owned(),
        }
    }

    /// Gives this value and all below it another place: what an override wrote was written in the override.
    pub fn put_at(&mut self, place: &Place) {
        self.place = place.clone();
        match &mut self.kind {
            Kind::List(items) => items.iter_mut().for_each(|item| item.put_at(place)),
            Kind::Table(table) => {
                for entry in &mut table.entries {
                    entry.key_place = place.clone();
                    entry.value.put_at(place);
                }
            }
            _ => {}
        }
    }
}
