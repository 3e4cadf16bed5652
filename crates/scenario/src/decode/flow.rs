//! Flows: their ends, copies, algorithms and applications.

use super::diagnostics::{Diagnostics, MAX_TIME};
use super::ends::numbered;
use super::link::Wiring;
use super::reader::Reader;
use super::{algorithm, app, observe, stack};
use crate::document::tree::{Place, Table, Value};
use crate::model::{App, Flow, FlowSettings, Observe, Sender};
use crate::units::format_time;
use std::collections::BTreeSet;
use std::sync::Arc;
use truckee_tcp::{Profile, Span, Spec, Stack, Time};

/// Most flows of a scenario, copies included.
const MAX_FLOWS: u64 = 100_000;

/// Most connections that may be open at a time, over all flows: parallel ones of files, and that of requests beside that
/// of responses.
const MAX_CONNECTIONS: u64 = 200_000;

/// No host takes longer for a segment.
const MAX_PROCESSING: Span = Span::s(10);

/// A flow and where it was written.
pub(super) struct Placed<'d> {
    pub flow: Flow,
    pub place: &'d Place,
}

/// What `[defaults]` may give to all flows.
struct Settings {
    sender: Option<Sender>,
    receiver: Option<Spec>,
    observe: Observe,
    app: App,
    stack: Stack,
    processing: Span,
}

/// Reads all flows, copies written out. `defaults` is the table of that name.
pub(super) fn read<'d>(
    diag: &'d Diagnostics<'d>,
    items: &'d [Value],
    defaults: Option<&'d Value>,
    wiring: &Wiring<'_>,
    profile: Profile,
) -> Vec<Placed<'d>> {
    let defaults = defaults.and_then(|value| {
        let reader = Reader::of(diag, value, "the defaults")?;
        settings(&reader, profile);
        reader.finish();
        value.table()
    });
    let mut flows = Flows {
        diag,
        wiring,
        defaults,
        profile,
        names: BTreeSet::new(),
        list: Vec::new(),
        total: 0,
        connections: 0,
    };
    for (index, item) in items.iter().enumerate() {
        flows.entry(index, item);
    }
    flows.list
}

fn settings(reader: &Reader<'_>, profile: Profile) -> Settings {
    let stack = stack::read(reader, algorithm::stack_of(reader.get("sender"), profile));
    let app = reader.get("app").and_then(|value| app::read(reader.diag, value, stack.mss, profile));
    Settings {
        sender: algorithm::sender(reader.diag, reader.get("sender"), reader.place, profile),
        receiver: algorithm::receiver(reader.diag, reader.get("receiver"), reader.place, profile),
        observe: observe::read(reader),
        app: app.unwrap_or(App::Bulk),
        stack,
        processing: reader.time("processing", Span::ZERO, Span::ZERO..=MAX_PROCESSING, "ms"),
    }
}

struct Flows<'d, 'w> {
    diag: &'d Diagnostics<'d>,
    wiring: &'w Wiring<'w>,
    defaults: Option<&'d Table>,
    profile: Profile,
    names: BTreeSet<String>,
    list: Vec<Placed<'d>>,
    /// Flows asked for so far, also those that could not be made.
    total: u64,
    /// Connections of the flows made so far that may be open at a time.
    connections: u64,
}

/// What the copies of one `[[flow]]` share.
struct Entry<'d> {
    name: String,
    from: &'d Value,
    to: &'d Value,
    route: Option<&'d Value>,
    start: Time,
    start_every: Span,
    settings: Arc<FlowSettings>,
}

impl<'d> Flows<'d, '_> {
    /// One `[[flow]]`: a flow, or `count` copies of it.
    fn entry(&mut self, index: usize, item: &'d Value) {
        let diag = self.diag;
        let Some(reader) = Reader::of(diag, item, "a flow") else { return };
        let reader = reader.with_defaults(self.defaults);
        let name = match reader.own("name") {
            Some(value) => diag.name(value).unwrap_or_default().to_owned(),
            None => format!("flow-{}", index + 1),
        };
        let (from, to) = (reader.required_own("from", "\"server\""), reader.required_own("to", "\"phone\""));
        let count = self.copies(&reader, &name, [from, to]);
        let start =
            reader.own("start").and_then(|v| diag.moment(v, Span::ZERO..=MAX_TIME)).unwrap_or(Time::ZERO);
        let start_every = reader
            .own("start_every")
            .and_then(|v| diag.time(v, Span::ZERO..=MAX_TIME, "ms"))
            .unwrap_or(Span::ZERO);
        let stop = reader.own("stop").and_then(|v| diag.moment(v, Span::ns(1)..=MAX_TIME));
        let route = reader.own("route");
        let Settings { sender, receiver, observe, app, stack, processing } = settings(&reader, self.profile);
        reader.finish();
        let (Some(from), Some(to), Some(sender), Some(receiver)) = (from, to, sender, receiver) else {
            return;
        };
        self.count_connections(&app, count.unwrap_or(1), &name, &item.place);
        let settings = Arc::new(FlowSettings { sender, receiver, observe, app, stop, stack, processing });
        let entry = Entry { name, from, to, route, start, start_every, settings };
        match count {
            None => _ = self.flow(&entry, None, &item.place),
            // A copy that fails, fails like those after it.
            Some(count) => _ = (1..=count).try_for_each(|copy| self.flow(&entry, Some(copy), &item.place)),
        }
    }

    /// Makes one flow, or the copy of that number; `None` if something about it was wrong.
    fn flow(&mut self, entry: &Entry<'d>, copy: Option<u64>, place: &'d Place) -> Option<()> {
        let name = copy.map_or_else(|| entry.name.clone(), |copy| format!("{}.{copy}", entry.name));
        let later = entry.start_every.saturating_mul(copy.unwrap_or(1) - 1);
        let start = entry.start.saturating_add(later);
        let stopped = entry.settings.stop.filter(|stop| *stop <= start);
        if start > Time::at(MAX_TIME) || stopped.is_some() {
            let before = stopped.map_or_else(String::new, |stop| {
                format!(", but stops at {}", format_time(stop.since_start()))
            });
            let message = format!("flow \"{name}\" starts at {}{before}", format_time(start.since_start()));
            self.diag.report(place, message, Some("a start before its stop, within 10 years".into()), None);
            return None;
        }
        let (from, to) = self.wiring.pair(self.diag, entry.from, entry.to, copy)?;
        let route = match entry.route {
            Some(value) => Some(self.wiring.route(self.diag, value, (from, to), copy)?),
            None => None,
        };
        if !self.names.insert(name.clone()) {
            let message = format!("a second flow is called \"{name}\"");
            self.diag.report(place, message, Some("a name of its own".into()), None);
            return None;
        }
        let flow = Flow { name, from, to, start, route, settings: entry.settings.clone() };
        self.list.push(Placed { flow, place });
        Some(())
    }

    /// How many copies; `None` for a single flow without a number. Refuses too many before anything is made.
    fn copies(&mut self, reader: &Reader<'_>, name: &str, ends: [Option<&Value>; 2]) -> Option<u64> {
        let written = reader.own("count");
        let texts = ends.iter().flatten().filter_map(|value| value.text());
        let patterns: Vec<&str> = texts.filter(|text| text.contains('*')).collect();
        let copies = match written {
            Some(value) => self.diag.count(value, 1..=u64::MAX).or(Some(1)),
            None if patterns.is_empty() => None,
            None => Some(self.matching(&patterns)),
        };
        self.total = self.total.saturating_add(copies.unwrap_or(1));
        if self.total <= MAX_FLOWS {
            return copies;
        }
        let place = written.map_or(reader.place, |value| &value.place);
        let message = format!("flow \"{name}\" makes it {} flows in all", self.total);
        self.diag.report(place, message, Some(format!("at most {MAX_FLOWS} flows in a scenario")), None);
        Some(1)
    }

    /// Refuses too many connections before anything is made.
    fn count_connections(&mut self, app: &App, copies: u64, name: &str, place: &Place) {
        let before = self.connections;
        self.connections = before.saturating_add(copies.saturating_mul(app.connections()));
        if before <= MAX_CONNECTIONS && self.connections > MAX_CONNECTIONS {
            let message = format!("flow \"{name}\" makes it {} connections at a time", self.connections);
            self.diag.report(place, message, Some(format!("at most {MAX_CONNECTIONS} in a scenario")), None);
        }
    }

    /// Without a count there are as many copies as there are nodes for: s1, s2, … up to the first that is missing.
    fn matching(&self, patterns: &[&str]) -> u64 {
        let there = |copy: &u64| patterns.iter().all(|p| self.wiring.has_node(&numbered(p, Some(*copy))));
        (1..=MAX_FLOWS).take_while(there).count().max(1) as u64
    }
}
