//! What changes in mid run: the tables under `[[change]]`, each of a link or of a flow's receiver.

use super::algorithm;
use super::diagnostics::{Diagnostics, MAX_TIME};
use super::reader::Reader;
use crate::document::tree::Value;
use crate::model::{Change, Changed, LinkChange, Which};
use std::borrow::Cow;
use std::collections::HashMap;
use truckee_tcp::{Profile, Span, Time};

/// What can change, by name.
pub(super) struct Known<'k> {
    pub links: &'k HashMap<Cow<'k, str>, usize>,
    pub flows: &'k [&'k str],
}

/// Reads all changes, and puts them in order of time.
pub(super) fn read(
    diag: &Diagnostics<'_>,
    items: &[Value],
    known: &Known<'_>,
    duration: Span,
) -> Vec<Change> {
    let mut changes: Vec<Change> =
        items.iter().filter_map(|item| entry(diag, item, known, duration)).flatten().collect();
    changes.sort_by_key(|change| change.at);
    changes
}

fn entry(diag: &Diagnostics<'_>, item: &Value, known: &Known<'_>, duration: Span) -> Option<Vec<Change>> {
    let reader = Reader::of(diag, item, "a change")?;
    let at = reader.required_time("at", Span::ZERO..=duration, "\"30s\"");
    let what = match reader.get("flow") {
        Some(value) => receiver(&reader, value, known.flows),
        None => link(&reader, known.links).map(|change| vec![Changed::Link(change)]),
    };
    reader.finish();
    let at = Time::at(at?);
    Some(what?.into_iter().map(|what| Change { at, what }).collect())
}

/// Another ACK policy for a flow, or for all copies of it.
fn receiver(reader: &Reader<'_>, flow: &Value, names: &[&str]) -> Option<Vec<Changed>> {
    let diag = reader.diag;
    if let Some(link) = reader.get("link") {
        diag.refuse(link, "a change of a link or of a flow, not of both");
    }
    let name = diag.text(flow, "the name of a flow")?;
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    let is_copy =
        |of: &str| of.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')).is_some_and(number);
    let flows: Vec<usize> = (0..names.len()).filter(|&k| names[k] == name || is_copy(names[k])).collect();
    if flows.is_empty() {
        diag.unknown_name(&flow.place, "flow", name, names.iter().copied());
    }
    let value = reader.required("receiver", "\"delayed\"");
    let policy =
        value.and_then(|value| algorithm::receiver(diag, Some(value), &value.place, Profile::Rfc))?;
    Some(flows.into_iter().map(|flow| Changed::Receiver { flow, policy: policy.clone() }).collect())
}

fn link(reader: &Reader<'_>, links: &HashMap<Cow<'_, str>, usize>) -> Option<LinkChange> {
    let diag = reader.diag;
    let link = reader.required("link", "\"server-router\"").and_then(|value| {
        let name = diag.text(value, "the name of a link")?;
        let index = links.get(name).copied();
        if index.is_none() {
            let mut known: Vec<&str> = links.keys().map(Cow::as_ref).collect();
            known.sort_unstable();
            diag.unknown_name(&value.place, "link", name, known.into_iter());
        }
        index
    });
    let direction = match reader.get("direction") {
        Some(value) => match reader.word(value, &["both", "forward", "back"]) {
            Some("forward") => Which::Forward,
            Some("back") => Which::Back,
            _ => Which::Both,
        },
        None => Which::Both,
    };
    let rate = reader.get("rate").and_then(|value| diag.whole_rate(value));
    let delay = reader.get("delay").and_then(|value| diag.time(value, Span::ZERO..=MAX_TIME, "ms"));
    let up = reader.get("up").and_then(|value| diag.flag(value));
    if ["rate", "delay", "up"].iter().all(|key| reader.get(key).is_none()) {
        let message = "a change that changes nothing".to_owned();
        let expected = "one of the keys \"rate\", \"delay\" and \"up\"".to_owned();
        diag.report(reader.place, message, Some(expected), None);
    }
    Some(LinkChange { link: link?, direction, rate, delay, up })
}
