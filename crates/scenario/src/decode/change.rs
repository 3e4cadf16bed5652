//! What changes in mid run: the tables under `[[change]]`.

use super::diagnostics::{Diagnostics, MAX_TIME};
use super::reader::Reader;
use crate::document::tree::Value;
use crate::model::{Change, Which};
use std::collections::HashMap;
use truckee_tcp::Nanos;

/// Reads all changes, and puts them in order of time.
pub(super) fn read(
    diag: &Diagnostics<'_>,
    items: &[Value],
    links: &HashMap<&str, usize>,
    duration: Nanos,
) -> Vec<Change> {
    let mut changes: Vec<Change> =
        items.iter().filter_map(|item| entry(diag, item, links, duration)).collect();
    changes.sort_by_key(|change| change.at);
    changes
}

fn entry(
    diag: &Diagnostics<'_>,
    item: &Value,
    links: &HashMap<&str, usize>,
    duration: Nanos,
) -> Option<Change> {
    let reader = Reader::of(diag, item, "a change")?;
    let at = reader.required_time("at", 0..=duration, "\"30s\"");
    let link = reader.required("link", "\"server-router\"").and_then(|value| {
        let name = diag.text(value, "the name of a link")?;
        let index = links.get(name).copied();
        if index.is_none() {
            let mut known: Vec<&str> = links.keys().copied().collect();
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
    let delay = reader.get("delay").and_then(|value| diag.time(value, 0..=MAX_TIME, "ms"));
    let up = reader.get("up").and_then(|value| diag.flag(value));
    if ["rate", "delay", "up"].iter().all(|key| reader.get(key).is_none()) {
        let message = "a change that changes nothing".to_owned();
        diag.report(
            reader.place,
            message,
            Some("one of the keys \"rate\", \"delay\" and \"up\"".into()),
            None,
        );
    }
    reader.finish();
    Some(Change { at: at?, link: link?, direction, rate, delay, up })
}
