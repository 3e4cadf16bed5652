//! From a parsed document to a [`Scenario`]: the order in which its tables are read, and what can only be known when
//! all of them are (routes, and queue sizes that depend on them). Each table has a module of its own.
//!
//! Everything is read even if something is wrong, so that one go reports as much as it can.

mod algorithm;
mod app;
mod cells;
mod change;
mod channel;
mod diagnostics;
mod ends;
mod flow;
mod kernel;
mod link;
mod medium;
mod node;
mod observe;
mod preset;
mod queue;
mod reader;
mod roaming;
mod routes;
mod stack;
mod topology;
mod traffic;

use crate::Scenario;
use crate::document::Document;
use crate::document::tree::{Place, Value};
use crate::error::Errors;
use crate::units::format_time;
use diagnostics::{Diagnostics, MAX_TIME};
pub(crate) use medium::rate_name;
use reader::Reader;
use std::borrow::Cow;
use std::collections::HashMap;
use topology::LinkTable;
use truckee_tcp::{Profile, Registry, Span};

impl Document {
    /// Resolves the document: units to numbers, names to indices, every default filled in.
    ///
    /// # Errors
    /// Everything that is wrong with the file and its overrides, as far as it can be told in one go.
    pub fn scenario(&self) -> Result<Scenario, Errors> {
        self.scenario_among(&self.foreign)
    }

    /// As [`Self::scenario`], with these foreign algorithms in place of the document's own.
    ///
    /// # Errors
    /// As there.
    pub fn scenario_among(&self, registry: &Registry) -> Result<Scenario, Errors> {
        let diag = Diagnostics::new(self, registry);
        let scenario = top(&diag, self);
        diag.finish(scenario)
    }
}

fn top(diag: &Diagnostics<'_>, document: &Document) -> Scenario {
    let start = Place::File { start: 0, end: 0 };
    let top = Reader::new(diag, &document.root, &start, "a scenario");
    let duration = top.required_time("duration", Span::ns(1)..=MAX_TIME, "\"300s\"").unwrap_or(MAX_TIME);
    let seed = top.count("seed", 1, 0..=u64::MAX);
    let warmup = top.time("warmup", Span::ZERO, Span::ZERO..=MAX_TIME, "s");
    if let Some(value) = top.get("warmup").filter(|_| warmup >= duration) {
        diag.refuse(value, &format!("a warm-up shorter than the duration, {}", format_time(duration)));
    }
    let stop_when_done = top.flag("stop_when_done", true);
    let kernel = kernel::read(&top);
    let profile =
        Profile::find(top.choice("profile", &Profile::ALL.map(|p| p.info().name))).unwrap_or_default();

    let mut tables = top.get("topology").map_or_else(Vec::new, |value| topology::expand(diag, value));
    for item in section(&top, "link") {
        match item.table() {
            Some(table) => {
                let table = Cow::Borrowed(table);
                tables.push(LinkTable { table, place: &item.place, between: Vec::new() });
            }
            None => diag.refuse(item, "a table that describes a link"),
        }
    }
    let (placed, shared) = (section(&top, "node"), section(&top, "medium"));
    if tables.is_empty() && top.get("topology").is_none() && shared.is_empty() {
        let help = "write [[link]] with between = [\"server\", \"phone\"] and rate = \"10Mbit/s\"".to_owned();
        diag.report(
            &start,
            "a scenario without links".into(),
            Some("a [[link]], a topology or a [[medium]]".into()),
            Some(help),
        );
    }
    let mut wiring = link::wire(diag, &tables);
    let before = diag.problems();
    let mut placed = node::read(diag, placed, &mut wiring);
    let media = medium::read(diag, shared, &placed, &wiring);
    roaming::read(diag, &mut placed, &media, &wiring, duration);
    let all_placed = diag.problems() == before;
    let defaults = top.get("defaults");
    let flows = flow::read(diag, section(&top, "flow"), defaults, &wiring, profile);
    let traffic = traffic::read(diag, section(&top, "traffic"), &wiring, profile);

    let numbers = flows.iter().enumerate().map(|(i, placed)| (placed.flow.name.as_str(), i as u32)).collect();
    let (mut links, drafts) = wiring.links(&numbers, duration);
    let change_tables = section(&top, "change");
    let mut by_name: HashMap<Cow<'_, str>, usize> = HashMap::new();
    if !change_tables.is_empty() {
        by_name.extend(links.iter().enumerate().map(|(i, link)| (link.label(&wiring.nodes), i)));
    }
    let flow_names: Vec<&str> = flows.iter().map(|placed| placed.flow.name.as_str()).collect();
    let known = change::Known { links: &by_name, flows: &flow_names };
    let changes = change::read(diag, change_tables, &known, duration);
    let rest = cells::Rest {
        wiring: &wiring,
        links: &links,
        flows: &flows,
        traffic: &traffic,
        changes: &changes,
        duration,
    };
    let cells =
        top.get("cells").filter(|_| wiring.complete).and_then(|value| cells::read(diag, value, &rest));
    top.finish();

    // Of many nodes the names lie among what the reader needed them for: copies lie together, and leave that room whole.
    let nodes = wiring.nodes.clone();
    let complete = wiring.complete;
    drop((by_name, wiring));
    let places: Vec<_> = placed.iter().map(|placed| placed.place.clone()).collect();
    medium::check_changes(diag, &media, changes.len());
    if all_placed {
        // Whoever is missing may be just who is in reach.
        medium::check_reach(diag, &media, &nodes, (&placed, &places));
    }
    let media: Vec<_> = media.into_iter().map(|placed| placed.medium).collect();
    let network = routes::Joined { nodes: &nodes, links: &links, media: &media, places: &places };
    let crossings = routes::check(diag, &network, &flows, &traffic, complete && all_placed);
    routes::size_queues(&mut links, &drafts, &crossings);
    Scenario {
        name: document.label(),
        duration,
        warmup,
        seed,
        stop_when_done,
        nodes,
        links,
        places,
        media,
        flows: flows.into_iter().map(|placed| placed.flow).collect(),
        traffic: traffic.into_iter().map(|placed| placed.traffic).collect(),
        changes,
        cells,
        kernel,
    }
}

/// The entries of an array of tables; none if it is not there.
fn section<'d>(top: &Reader<'d>, key: &'static str) -> &'d [Value] {
    let value = top.get(key);
    value
        .and_then(|value| top.diag.list(value, &format!("an array of tables, [[{key}]]")))
        .unwrap_or_default()
}
