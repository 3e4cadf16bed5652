//! Links: which nodes they join ([`wire`]), then, once the flows are known, what each direction does ([`Wiring::links`]).
//! Queue sizes in bandwidth-delay products stay open until the routes are known.

use super::channel::{self, FlowNumbers};
use super::diagnostics::{Diagnostics, MAX_TIME};
use super::preset;
use super::queue::{self, QueueDraft};
use super::reader::Reader;
use super::topology::LinkTable;
use crate::document::tree::{Kind, Place, Value};
use crate::model::{Direction, Link, NodeId, Steps};
use crate::units::format_time;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use truckee_channel::{ChannelConfig, Effect, Span};

/// Most steps of the links of one table.
const MAX_STEPS: u64 = 1_000_000;
/// Most links of a scenario.
const MAX_LINKS: usize = 250_000;

/// The nodes, and which links join them.
#[derive(Default)]
pub(super) struct Wiring<'d> {
    pub nodes: Vec<String>,
    numbers: HashMap<String, NodeId>,
    links: Vec<Wired>,
    /// The tables of links, each still open.
    tables: Vec<Reader<'d>>,
    names: HashSet<String>,
    /// Ends of the links without a name of their own.
    unnamed: HashSet<(NodeId, NodeId)>,
    /// Whether every link's ends could be read. If not, a node missing here may well be in the file.
    pub complete: bool,
}

/// A link whose ends are known and whose table is still open.
struct Wired {
    /// Where it is not `first-second`.
    name: Option<Box<str>>,
    first: NodeId,
    second: NodeId,
    /// Index of its table.
    table: usize,
}

/// Reads the ends and names of all links.
pub(super) fn wire<'d>(diag: &'d Diagnostics<'d>, tables: &'d [LinkTable<'d>]) -> Wiring<'d> {
    let mut wiring = Wiring { complete: true, ..Wiring::default() };
    let mut left = MAX_LINKS;
    for LinkTable { table, place, between } in tables {
        if between.len().max(1) > left {
            let all: usize = tables.iter().map(|t| t.between.len().max(1)).sum();
            wiring.complete = false;
            diag.report(place, format!("{all} links"), Some(format!("at most {MAX_LINKS} links")), None);
            break;
        }
        left -= between.len().max(1);
        let reader = Reader::new(diag, table, place, "a link").with_defaults(preset::of(table));
        if between.is_empty() && !wiring.read_ends(diag, &reader, place) {
            continue;
        }
        for (first, second) in between {
            wiring.join(diag, None, place, (first, second));
        }
        wiring.tables.push(reader);
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
    /// Joins the nodes that a link's own table names. Whether it does.
    fn read_ends(&mut self, diag: &Diagnostics<'_>, reader: &Reader<'_>, place: &Place) -> bool {
        let ends = reader.required("between", "[\"first\", \"second\"]").and_then(|value| ends(diag, value));
        let own = reader.own("name");
        match ends {
            Some(ends) => self.join(diag, own, place, ends),
            None => self.complete = false,
        }
        ends.is_some()
    }

    /// Joins two nodes by a link of the next table.
    fn join(
        &mut self,
        diag: &Diagnostics<'_>,
        own: Option<&Value>,
        place: &Place,
        (first, second): (&str, &str),
    ) {
        let by_ends = format!("{first}-{second}");
        let (name, own_name) = match own.map(|value| diag.name(value).unwrap_or_default()) {
            Some(name) if name != by_ends => (name.to_owned(), Some(name.into())),
            _ => (by_ends, None),
        };
        let (first, second) = (self.number(first), self.number(second));
        let parallel = own.is_none() && !self.unnamed.insert((first.min(second), first.max(second)));
        if parallel || self.names.contains(&name) {
            let place = own.map_or(place, |value| &value.place);
            let help = parallel
                .then(|| "two links between the same nodes need names: write name = \"…\"".to_owned());
            diag.report(
                place,
                format!("a second link is called \"{name}\""),
                Some("a name of its own".into()),
                help,
            );
        }
        self.names.insert(name);
        self.links.push(Wired { name: own_name, first, second, table: self.tables.len() });
    }

    /// Reads the rest of all links, and closes their tables. Links of one table share what it says.
    pub fn links(&mut self, flows: &FlowNumbers<'_>, duration: Span) -> (Vec<Link>, Vec<Drafts>) {
        let mut links = Vec::with_capacity(self.links.len());
        let mut drafts = Vec::with_capacity(self.links.len());
        let mut many = vec![0u64; self.tables.len()];
        self.links.iter().for_each(|wired| many[wired.table] += 1);
        let mut wired = std::mem::take(&mut self.links).into_iter().peekable();
        for (table, reader) in std::mem::take(&mut self.tables).into_iter().enumerate() {
            if let Some(value) = reader.own("preset") {
                reader.word(value, &preset::NAMES);
            }
            let like = Like::read(&Open { reader: &reader }, flows);
            let often = like
                .steps
                .as_ref()
                .map_or(0, |steps| many[table].saturating_mul(duration.ticks(steps.every)));
            if let Some(value) = reader.get("steps").filter(|_| often > MAX_STEPS) {
                let message = format!("{often} steps in {}", format_time(duration));
                reader.diag.report(&value.place, message, Some(format!("at most {MAX_STEPS}")), None);
            }
            reader.finish();
            while let Some(Wired { name, first, second, .. }) = wired.next_if(|wired| wired.table == table) {
                let (forward, back) = (like.forward.clone(), like.back.clone());
                let (quick_start, steps) = (like.quick_start, like.steps.clone());
                links.push(Link { name, first, second, forward, back, quick_start, steps });
                drafts.push(like.drafts.clone());
            }
        }
        (links, drafts)
    }

    /// The number of the node called `name`, which may be new.
    pub fn number(&mut self, name: &str) -> NodeId {
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

    /// The node called `name`, if there is one.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.numbers.get(name).copied()
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

/// The queues of both directions, as far as they are known.
pub(super) type Drafts = Rc<[QueueDraft; 2]>;

/// What the links of one table have in common.
struct Like {
    forward: Arc<Direction>,
    back: Arc<Direction>,
    quick_start: bool,
    steps: Option<Arc<Steps>>,
    drafts: Drafts,
}

impl Like {
    fn read(open: &Open<'_>, flows: &FlowNumbers<'_>) -> Self {
        let effects = [FORWARD, BACK].map(|keys| open.effects(&keys, flows));
        let recorded = effects.each_ref().map(|effects| effects.iter().find_map(mean_rate));
        let (forward, back) =
            (open.rate(&FORWARD, recorded[0], recorded[1]), open.rate(&BACK, recorded[1], recorded[0]));
        let queues = [FORWARD, BACK].map(|keys| open.queue(&keys));
        let [first_effects, second_effects] = effects;
        let direction = |rate, keys: &Keys, draft: &QueueDraft, effects| {
            Arc::new(Direction {
                rate,
                delay: open
                    .either(keys.delay, FORWARD.delay, |value| {
                        open.reader.diag.time(value, Span::ZERO..=MAX_TIME, "ms")
                    })
                    .unwrap_or(Span::ZERO),
                queue: draft.queue.clone(),
                ack_filter: draft.ack_filter,
                after_channel: draft.after_channel,
                channel: ChannelConfig { effects },
            })
        };
        let forward = direction(forward, &FORWARD, &queues[0], first_effects);
        let back = direction(back, &BACK, &queues[1], second_effects);
        let quick_start = open.reader.flag("quick_start", true);
        Self {
            back: if back == forward { forward.clone() } else { back },
            forward,
            quick_start,
            steps: open.reader.get("steps").and_then(|value| steps(open.reader.diag, value)).map(Arc::new),
            drafts: Rc::new(queues),
        }
    }
}

/// When and to what a link's rate and delay step.
fn steps(diag: &Diagnostics<'_>, value: &Value) -> Option<Steps> {
    let reader = Reader::of(diag, value, "a link's steps")?;
    let every = reader.required_time("every", Span::ms(1)..=MAX_TIME, "\"15s\"");
    let delays = |value: &Value| diag.time(value, Span::ZERO..=MAX_TIME, "ms");
    let delay = reader.get("delay").and_then(|value| range(diag, value, "[\"10ms\", \"30ms\"]", delays));
    let rates = ["rate", "rate_back"].map(|key| {
        let value = reader.get(key)?;
        range(diag, value, "[\"50Mbit/s\", \"150Mbit/s\"]", |value| diag.whole_rate(value))
    });
    if ["delay", "rate", "rate_back"].iter().all(|key| reader.get(key).is_none()) {
        let expected = "one of the keys \"delay\", \"rate\" and \"rate_back\"".to_owned();
        diag.report(reader.place, "steps that change nothing".into(), Some(expected), None);
    }
    reader.finish();
    let [rate, rate_back] = rates;
    Some(Steps { every: every?, delay, rate, rate_back })
}

/// The least and the most of what is drawn.
fn range<T: PartialOrd>(
    diag: &Diagnostics<'_>,
    value: &Value,
    example: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Option<(T, T)> {
    let expected = format!("the least and the most, such as {example}");
    let [least, most] = diag.list(value, &expected)? else {
        diag.refuse(value, &expected);
        return None;
    };
    let (least, most) = (read(least)?, read(most)?);
    if least > most {
        diag.report(&value.place, "the least is above the most".into(), Some(expected), None);
        return None;
    }
    Some((least, most))
}

/// A link's table that is still open.
struct Open<'r> {
    reader: &'r Reader<'r>,
}

impl Open<'_> {
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
