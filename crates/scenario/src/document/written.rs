//! The values of a file where they are written: for a program that changes a number or a name in the text itself.
//!
//! Not for: what is left out (see [`crate::explain`]), and whether a value makes sense where it stands.

use super::tree::{Kind, Place, Table, Value};
use crate::units;
use serde::Serialize;
use std::ops::Range;

/// A number or a name of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Written {
    /// Its way through the file, as [`Document::set`](super::Document::set) takes it: `link.0.queue.size`.
    pub path: String,
    /// From where to where it goes in the text, in bytes, quotation marks included.
    pub at: Range<usize>,
    /// The table in braces that it stands in, likewise.
    pub table: Option<Range<usize>>,
    /// What it is.
    #[serde(flatten)]
    pub value: Scalar,
}

/// What is written at a place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Scalar {
    /// A number without a unit.
    Number {
        /// As it is read.
        number: f64,
        /// Whether it is written without a fraction.
        whole: bool,
    },
    /// A number with one. The products of rate and round trip, `"2bdp"`, count as such.
    Quantity {
        /// As it is written.
        number: f64,
        /// Its name.
        unit: String,
    },
    /// A name, or another text.
    Name {
        /// Without its quotation marks.
        name: String,
    },
    /// Yes or no.
    Flag {
        /// Which.
        flag: bool,
    },
}

/// All of a table and below, in the order written.
pub(super) fn of(root: &Table, text: &str) -> Vec<Written> {
    let mut all = Vec::new();
    entries(root, "", None, text, &mut all);
    all
}

fn entries(table: &Table, path: &str, within: Option<&Range<usize>>, text: &str, all: &mut Vec<Written>) {
    for entry in &table.entries {
        let path = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
        value(&entry.value, path, within, text, all);
    }
}

fn value(value: &Value, path: String, within: Option<&Range<usize>>, text: &str, all: &mut Vec<Written>) {
    // What was overridden stands in no text.
    let Place::File { start, end } = value.place else { return };
    let at = start..end;
    let scalar = match &value.kind {
        Kind::Whole(number) => Scalar::Number { number: *number as f64, whole: true },
        Kind::Real(number) => Scalar::Number { number: *number, whole: false },
        Kind::Flag(flag) => Scalar::Flag { flag: *flag },
        Kind::Text(name) => scalar(name),
        Kind::Date(_) => return,
        Kind::List(list) => {
            for (k, one) in list.iter().enumerate() {
                self::value(one, format!("{path}.{k}"), within, text, all);
            }
            return;
        }
        Kind::Table(table) => {
            let braces = text.get(at.clone()).is_some_and(|written| written.starts_with('{'));
            return entries(table, &path, braces.then_some(&at), text, all);
        }
    };
    all.push(Written { path, at, table: within.cloned(), value: scalar });
}

fn scalar(name: &str) -> Scalar {
    let quantity = match name.strip_suffix("bdp").map(str::trim_end) {
        Some("") => Some((1.0, "bdp")),
        Some(products) => products.parse().ok().map(|number| (number, "bdp")),
        None => units::parts(name),
    };
    match quantity {
        Some((number, unit)) => Scalar::Quantity { number, unit: unit.to_owned() },
        None => Scalar::Name { name: name.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    #[test]
    fn each_value_is_told_with_its_place_and_the_table_in_braces_around_it() {
        let text = r#"
            duration = "10s"
            seed = 3
            [[link]]
            between = ["ä", "b"]
            queue = { kind = "drop-tail", size = "0.5bdp" }
            channel = [{ kind = "bernoulli", per = 1e-3 }]
            [[flow]]
            ecn = true
        "#;
        let document = Document::parse("x.toml", text).unwrap();
        let written = document.written();
        let shown: Vec<_> = written.iter().map(|w| (w.path.as_str(), &text[w.at.clone()])).collect();
        let expected = [
            ("duration", "\"10s\""),
            ("seed", "3"),
            ("link.0.between.0", "\"ä\""),
            ("link.0.between.1", "\"b\""),
            ("link.0.queue.kind", "\"drop-tail\""),
            ("link.0.queue.size", "\"0.5bdp\""),
            ("link.0.channel.0.kind", "\"bernoulli\""),
            ("link.0.channel.0.per", "1e-3"),
            ("flow.0.ecn", "true"),
        ];
        assert_eq!(shown, expected);
        assert_eq!(written[0].value, Scalar::Quantity { number: 10.0, unit: "s".into() });
        assert_eq!(written[5].value, Scalar::Quantity { number: 0.5, unit: "bdp".into() });
        assert_eq!(written[1].value, Scalar::Number { number: 3.0, whole: true });
        assert_eq!(&text[written[7].table.clone().unwrap()], "{ kind = \"bernoulli\", per = 1e-3 }");
        assert!(written[0].table.is_none() && written[8].table.is_none());
    }

    #[test]
    fn what_is_overridden_has_no_place_in_the_text() {
        let mut document = Document::parse("x.toml", "seed = 3\nduration = \"10s\"").unwrap();
        document.set("seed", "4").unwrap();
        assert_eq!(document.written().iter().map(|w| w.path.as_str()).collect::<Vec<_>>(), ["duration"]);
    }
}
