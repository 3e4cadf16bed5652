//! Links: which nodes they join ([`wire`]), then, once the flows are known, what each direction does ([`Wired::link`]).
//! Queue sizes in bandwidth-delay products stay open until the routes are known.

use super::channel::{self, FlowNumbers};
use super::diagnostics::{Diagnostics, MAX_TIME};
use super::queue::{self, QueueDraft};
use super::reader::Reader;
use super::topology::LinkTable;
use crate::document::tree::{Kind, Value};
use crate::model::{Direction, Link, NodeId};
use std::collections::{BTreeSet, HashMap};
use truckee_channel::{ChannelConfig, Effect};

/// Most links of a scenario.
const MAX_LINKS: usize = 200_000;

/// The nodes, and which links join them.
#[derive(Default)]
pub(super) struct Wiring<'d> {
    pub nodes: Vec<String>,
    numbers: HashMap<String, NodeId>,
    pub links: Vec<Wired<'d>>,
    /// Whether every link's ends could be read. If not, a node missing here may well be in the file.
    pub complete: bool,
}

/// A link whose ends are known and whose table is still open.
pub(super) struct Wired<'d> {
    pub name: String,
    first: NodeId,
    second: NodeId,
    reader: Reader<'d>,
}

/// Reads the ends and names of all links.
pub(super) fn wire<'d>(diag: &'d Diagnostics<'d>, tables: &'d [LinkTable<'d>]) -> Wiring<'d> {
    let mut wiring = Wiring { complete: true, ..Wiring::default() };
    if let Some((_, place)) = tables.get(MAX_LINKS) {
        wiring.complete = false;
        diag.report(
            place,
            format!("{} links", tables.len()),
            Some(format!("at most {MAX_LINKS} links")),
            None,
        );
    }
    let mut names = BTreeSet::new();
    let mut unnamed = BTreeSet::new();
    for (table, place) in tables.iter().take(MAX_LINKS) {
        let reader = Reader::new(diag, table, place, "a link");
        let ends = reader.required("between", "[\"first\", \"second\"]").and_then(|value| ends(diag, value));
        let own = reader.own("name");
        let Some((first, second)) = ends else {
            wiring.complete = false;
            continue;
        };
        let name = match own {
            Some(value) => diag.name(value).unwrap_or_default().to_owned(),
            None => format!("{first}-{second}"),
        };
        let (first, second) = (wiring.number(first), wiring.number(second));
        let parallel = own.is_none() && !unnamed.insert((first.min(second), first.max(second)));
        if parallel || !names.insert(name.clone()) {
            let place = own.map_or(*place, |value| &value.place);
            let help = parallel
                .then(|| "two links between the same nodes need names: write name = \"…\"".to_owned());
            diag.report(
                place,
                format!("a second link is called \"{name}\""),
                Some("a name of its own".into()),
                help,
            );
        }
        wiring.links.push(Wired { name, first, second, reader });
    }
    wiring
}

/// The two nodes under `between`.
fn ends<'v>(diag: &Diagnostics<'_>, value: &'v Value) -> Option<(&'v str, &'v str)> {
    const EXPECTED: &str = "two nodes such as [\"server\", \"router\"]";
    let items = diag.list(value, EXPECTED)?;
    let [first, second] = items else {
        let message = format!("{} names in place of two", items.len());
        diag.report(&value.place, message, Some(EXPECTED.to_owned()), None);
        return None;
    };
    let ends = (diag.name(first)?, diag.name(second)?);
    if ends.0 == ends.1 {
        let message = format!("a link from \"{}\" to itself", ends.0);
        diag.report(&value.place, message, Some("two different nodes".into()), None);
        return None;
    }
    Some(ends)
}

impl Wiring<'_> {
    fn number(&mut self, name: &str) -> NodeId {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.nodes.len();
        self.nodes.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The node called `name`; reported at `value` if there is none.
    pub fn node(&self, diag: &Diagnostics<'_>, value: &Value, name: &str) -> Option<NodeId> {
        let number = self.numbers.get(name).copied();
        if number.is_none() && self.complete {
            diag.unknown_name(&value.place, "node", name, self.nodes.iter().map(String::as_str));
        }
        number
    }

    /// Whether there is a node called `name`.
    pub fn has_node(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }
}

/// Keys of one direction.
struct Keys {
    rate: &'static str,
    delay: &'static str,
    queue: &'static str,
    channel: &'static str,
}

const FORWARD: Keys = Keys { rate: "rate", delay: "delay", queue: "queue", channel: "channel" };
const BACK: Keys =
    Keys { rate: "rate_back", delay: "delay_back", queue: "queue_back", channel: "channel_back" };

impl Wired<'_> {
    /// Reads the rest of the link, and closes its table.
    pub fn link(self, flows: &FlowNumbers<'_>) -> (Link, [QueueDraft; 2]) {
        let effects = [FORWARD, BACK].map(|keys| self.effects(&keys, flows));
        let recorded = effects.each_ref().map(|effects| effects.iter().find_map(mean_rate));
        let (forward, back) =
            (self.rate(&FORWARD, recorded[0], recorded[1]), self.rate(&BACK, recorded[1], recorded[0]));
        let queues = [FORWARD, BACK].map(|keys| self.queue(&keys));
        let [first_effects, second_effects] = effects;
        let direction = |rate, keys: &Keys, draft: &QueueDraft, effects| Direction {
            rate,
            delay: self
                .either(keys.delay, FORWARD.delay, |value| self.reader.diag.time(value, 0..=MAX_TIME, "ms"))
                .unwrap_or(0),
            queue: draft.queue.clone(),
            ack_filter: draft.ack_filter,
            after_channel: draft.after_channel,
            channel: ChannelConfig { effects },
        };
        let link = Link {
            first: self.first,
            second: self.second,
            forward: direction(forward, &FORWARD, &queues[0], first_effects),
            back: direction(back, &BACK, &queues[1], second_effects),
            quick_start: self.reader.flag("quick_start", true),
            name: self.name,
        };
        self.reader.finish();
        (link, queues)
    }

    /// What `read` makes of the value under `key` or, without one, under `otherwise`.
    fn either<T>(
        &self,
        key: &'static str,
        otherwise: &'static str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        self.reader.get(key).or_else(|| self.reader.get(otherwise)).and_then(read)
    }

    fn effects(&self, keys: &Keys, flows: &FlowNumbers<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for key in [keys.channel, "channel_both"] {
            if let Some(value) = self.reader.get(key) {
                channel::read(self.reader.diag, value, flows, &mut effects);
            }
        }
        effects
    }

    /// The rate as written, else that of the direction's trace, else that of the other direction's.
    fn rate(&self, keys: &Keys, recorded: Option<u64>, other: Option<u64>) -> u64 {
        let written = self.reader.get(keys.rate).or_else(|| {
            let shared = self.reader.get(FORWARD.rate);
            shared.filter(|_| recorded.is_none() || keys.rate == FORWARD.rate)
        });
        match (written, recorded.or(other)) {
            (Some(value), _) => self.reader.diag.whole_rate(value),
            (None, Some(rate)) => Some(rate),
            (None, None) if self.has_trace() => None,
            (None, None) => {
                self.reader.required(FORWARD.rate, "\"10Mbit/s\"");
                None
            }
        }
        .unwrap_or(1)
    }

    /// Whether a trace is written anywhere in the link: if it could not be read, a missing rate is no second problem.
    fn has_trace(&self) -> bool {
        let is_trace =
            |value: &Value| value.table().and_then(|t| t.get("kind")).and_then(Value::text) == Some("trace");
        ["channel", "channel_back", "channel_both"].iter().filter_map(|key| self.reader.get(key)).any(
            |value| match &value.kind {
                Kind::List(items) => items.iter().any(is_trace),
                _ => is_trace(value),
            },
        )
    }

    fn queue(&self, keys: &Keys) -> QueueDraft {
        self.either(keys.queue, FORWARD.queue, |value| queue::read(self.reader.diag, value))
            .unwrap_or_else(QueueDraft::unlimited)
    }
}

/// The mean rate of a trace.
fn mean_rate(effect: &Effect) -> Option<u64> {
    let Effect::Trace(trace) = effect else { return None };
    Some((trace.mean_rate().round() as u64).max(1))
}
