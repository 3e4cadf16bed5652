//! Values as TOML writes them.

use crate::units::{format_bytes, format_rate, format_time};
use truckee_tcp::{Size, Span, Time};

/// A text in quotes.
pub fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A number as TOML writes it: with a point or exponent, unless it is whole.
pub fn number(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 { format!("{}", x as i64) } else { format!("{x:?}") }
}

pub fn time(t: Span) -> String {
    quoted(&format_time(t))
}

pub fn moment(t: Time) -> String {
    time(t.since_start())
}

pub fn rate(r: f64) -> String {
    quoted(&format_rate(r))
}

pub fn bytes(b: u64) -> String {
    quoted(&format_bytes(b))
}

pub fn size(size: Size) -> String {
    match size {
        Size::Bytes(b) => bytes(b),
        Size::Segments(n) => quoted(&format!("{n}segments")),
    }
}

/// Inline table under construction.
#[derive(Default)]
pub struct Inline(Vec<String>);

impl Inline {
    pub fn kind(kind: &str) -> Self {
        Self::default().with("kind", quoted(kind))
    }

    pub fn with(mut self, key: &str, value: String) -> Self {
        self.0.push(format!("{} = {value}", bare_or_quoted(key)));
        self
    }

    pub fn with_some(self, key: &str, value: Option<String>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub fn end(self) -> String {
        if self.0.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", self.0.join(", ")) }
    }
}

fn bare_or_quoted(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { quoted(key) }
}

pub fn array(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}
