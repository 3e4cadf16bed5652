//! The text of a file with its overrides written into it: what was overridden stands where the old value stood, what is new
//! beside its neighbours, and every comment stays.
//!
//! Both trees are walked side by side, that of the text and that with overrides: where a value of the second is no longer in
//! the text, the text is changed. Not for: what an override reaches, which `set` knows.

use super::tree::{Entry, Kind, Place, Table, Value};
use std::fmt::Write;
use std::ops::Range;

/// `text`, of which `before` is the tree, as one of which `after` is the tree.
pub(super) fn text(text: &str, before: &Table, after: &Table) -> String {
    let mut changes = Vec::new();
    tables(text, before, after, None, &mut changes);
    // From the end, so that what lies before stays in its place. Of two at one place the later one goes behind.
    changes.sort_by_key(|(at, _)| at.start);
    let mut new = text.to_owned();
    for (at, written) in changes.into_iter().rev() {
        new.replace_range(at, &written);
    }
    new
}

type Changes = Vec<(Range<usize>, String)>;

/// `within` is where the table stands, in braces or below its heading; the whole file's stands nowhere.
fn tables(text: &str, before: &Table, after: &Table, within: Option<&Range<usize>>, changes: &mut Changes) {
    let (mut inside, mut below) = (String::new(), String::new());
    let braces = within.is_some_and(|at| text[at.clone()].starts_with('{'));
    for entry in &after.entries {
        match before.get(&entry.key) {
            Some(old) => values(text, old, &entry.value, changes),
            None if braces => {
                // Between what is there and the brace.
                inside.push_str(if before.entries.is_empty() && inside.is_empty() { "" } else { ", " });
                pair(entry, &mut inside);
            }
            None => {
                below.push('\n');
                pair(entry, &mut below);
            }
        }
    }
    let last = before.entries.iter().rev().find_map(|entry| line(text, entry));
    match within {
        Some(at) if braces && !inside.is_empty() => {
            let end = last.map_or(at.start + 1, |last| last.end);
            let spaced = if before.entries.is_empty() { format!(" {inside} ") } else { inside };
            changes.push((end..end, spaced));
        }
        _ if !below.is_empty() => match (last, within) {
            (Some(last), _) => changes.push((end_of_line(text, last.end), below)),
            (None, Some(at)) => changes.push((end_of_line(text, at.end), below)),
            (None, None) => changes.push((0..0, format!("{}\n", below.trim_start()))),
        },
        _ => {}
    }
}

fn values(text: &str, before: &Value, after: &Value, changes: &mut Changes) {
    // An override may be the value itself, or lie within what it has left in its place.
    match (&before.kind, &after.kind, span(&before.place)) {
        (_, _, None) => {}
        (Kind::Table(old), Kind::Table(new), at) if span(&after.place).is_some() => {
            tables(text, old, new, at.as_ref(), changes);
        }
        (Kind::List(old), Kind::List(new), _) if old.len() == new.len() && span(&after.place).is_some() => {
            old.iter().zip(new).for_each(|(old, new)| values(text, old, new, changes));
        }
        (old, new, Some(at)) => {
            // A name that became a table of arguments has kept its place.
            let named = matches!((old, new), (Kind::Text(_), Kind::Table(_)));
            if named || span(&after.place).is_none() {
                let mut written = String::new();
                value(after, &mut written);
                changes.push((at, written));
            }
        }
    }
}

fn span(place: &Place) -> Option<Range<usize>> {
    match place {
        Place::File { start, end } => Some(*start..*end),
        Place::Override { .. } => None,
    }
}

/// Where an entry's value stands, if that is beside its key and not below a heading.
fn line(text: &str, entry: &Entry) -> Option<Range<usize>> {
    let at = span(&entry.value.place)?;
    let key = span(&entry.key_place)?;
    let between = text.get(key.end..at.start)?;
    between.trim_start_matches(['"', '\'']).trim().starts_with('=').then_some(at)
}

/// After what else stands in the line, such as a comment.
fn end_of_line(text: &str, from: usize) -> Range<usize> {
    let end = text[from..].find('\n').map_or(text.len(), |line| from + line);
    end..end
}

fn pair(entry: &Entry, out: &mut String) {
    key(&entry.key, out);
    out.push_str(" = ");
    value(&entry.value, out);
}

fn key(key: &str, out: &mut String) {
    if !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        out.push_str(key);
    } else {
        quoted(key, out);
    }
}

fn quoted(text: &str, out: &mut String) {
    let _ = write!(out, "{}", toml::Value::String(text.to_owned()));
}

/// As TOML has it, in one line.
fn value(value: &Value, out: &mut String) {
    match &value.kind {
        Kind::Text(text) => quoted(text, out),
        Kind::Date(text) => out.push_str(text),
        Kind::Whole(number) => {
            let _ = write!(out, "{number}");
        }
        Kind::Real(number) => {
            let _ = write!(out, "{}", toml::Value::Float(*number));
        }
        Kind::Flag(flag) => {
            let _ = write!(out, "{flag}");
        }
        Kind::List(items) => {
            out.push('[');
            for (k, item) in items.iter().enumerate() {
                out.push_str(if k == 0 { "" } else { ", " });
                self::value(item, out);
            }
            out.push(']');
        }
        Kind::Table(table) if table.entries.is_empty() => out.push_str("{}"),
        Kind::Table(table) => {
            out.push_str("{ ");
            for (k, entry) in table.entries.iter().enumerate() {
                out.push_str(if k == 0 { "" } else { ", " });
                pair(entry, out);
            }
            out.push_str(" }");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Document;

    const TEXT: &str = r#"# A path.
duration = "10s" # short

[[link]]
between = ["ä", "b"]
rate    = "1Mbit/s"
queue   = { kind = "drop-tail", size = "bdp" }

[[flow]]
from   = "ä"
to     = "b"
sender = "newreno" # the plain one

[[flow]]
from     = "ä"
to       = "b"
sender   = "reno"
receiver = { division = {} }
"#;

    fn set(sets: &[(&str, &str)]) -> String {
        let mut document = Document::parse("t.toml", TEXT).unwrap();
        for (path, value) in sets {
            document.set(path, value).unwrap();
        }
        let text = document.overwritten();
        // It is the same scenario, with nothing overridden.
        let again = Document::parse("t.toml", &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let shown = |document: Document| match document.scenario() {
            Ok(scenario) => format!("{scenario:?}"),
            Err(errors) => panic!("{errors}\n{text}"),
        };
        assert_eq!(shown(again), shown(document), "{text}");
        text
    }

    #[test]
    fn what_is_overridden_stands_where_it_stood() {
        assert_eq!(set(&[]), TEXT);
        let text = set(&[("flow.sender", "sack"), ("duration", "20s"), ("queue.size", "0.5bdp")]);
        let expected = TEXT
            .replace("newreno", "sack")
            .replace("\"reno\"", "\"sack\"")
            .replace("\"10s\"", "\"20s\"")
            .replace("size = \"bdp\"", "size = \"0.5bdp\"");
        assert_eq!(text, expected);
        let text = set(&[("flow.1.sender", r#"{ growth = "byte-counting" }"#), ("link.0.between.1", "b")]);
        assert!(text.contains(r#"sender   = { growth = "byte-counting" }"#), "{text}");
    }

    #[test]
    fn what_is_new_stands_beside_its_neighbours() {
        let text = set(&[("seed", "7"), ("flow.0.receiver", "delayed"), ("link.delay", "5ms")]);
        assert!(text.contains("duration = \"10s\" # short\nseed = 7\n\n[[link]]"), "{text}");
        assert!(text.contains("# the plain one\nreceiver = \"delayed\"\n\n"), "{text}");
        assert!(text.contains("size = \"bdp\" }\ndelay = \"5ms\"\n"), "{text}");
        let text = set(&[("flow.1.receiver.division.n", "3"), ("flow.1.receiver.division.first", "2")]);
        assert!(text.contains("receiver = { division = { n = 3, first = 2 } }"), "{text}");
        let text = set(&[("queue_back.size", "9packets"), ("link.queue.kind", "red")]);
        assert!(
            text.contains(
                "queue   = { kind = \"red\", size = \"bdp\" }\nqueue_back = { size = \"9packets\" }\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_name_becomes_a_table_of_its_arguments() {
        let text = set(&[("flow.0.receiver", "delayed"), ("flow.0.receiver.delayed.timeout", "50ms")]);
        assert!(text.contains("receiver = { delayed = { timeout = \"50ms\" } }"), "{text}");
    }
}
