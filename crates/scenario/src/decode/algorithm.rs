//! Senders and receivers by name or by parts: texts and tables to [`Spec`]s, which the families of the `tcp` crate
//! check and complete with their defaults; what they refuse is reported where it was written.
//! Not for: which algorithms there are.

use super::diagnostics::Diagnostics;
use super::reader::Reader;
use crate::document::tree::{Entry, Kind, Place, Value};
use crate::error::short;
use crate::model::Sender;
use crate::nearest::{did_you_mean, one_of};
use crate::units::{Quantity, parse};
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::controller::AnyController;
use truckee_tcp::growth::AnyGrowth;
use truckee_tcp::pace::AnyPacing;
use truckee_tcp::preset::{self, PRESETS, Preset};
use truckee_tcp::recovery::AnyRecovery;
use truckee_tcp::response::AnyResponse;
use truckee_tcp::start::AnyStart;
use truckee_tcp::{Arg, Profile, Registry, Spec, SpecError, Stack};

/// The sender of a flow that names none.
pub(super) const DEFAULT_SENDER: &str = "newreno";
/// What stands before the name of a congestion control of the running kernel.
const NATIVE: &str = "kernel:";
/// Longest name of one (TCP_CA_NAME_MAX less the end).
const MAX_NATIVE: usize = 15;
/// The ACK policy of a flow that names none.
pub(super) const DEFAULT_RECEIVER: &str = "every";

/// A family's builder, reduced to the spec with every default filled in.
pub(super) type Resolve = fn(&Spec, &Registry) -> Result<Spec, SpecError>;

fn recovery(spec: &Spec, registry: &Registry) -> Result<Spec, SpecError> {
    AnyRecovery::build_among(spec, registry).map(|(_, resolved)| resolved)
}

fn growth(spec: &Spec, registry: &Registry) -> Result<Spec, SpecError> {
    AnyGrowth::build_among(spec, registry).map(|(_, resolved)| resolved)
}

fn response(spec: &Spec, registry: &Registry) -> Result<Spec, SpecError> {
    AnyResponse::build_among(spec, registry).map(|(_, resolved)| resolved)
}

fn start(spec: &Spec, registry: &Registry) -> Result<Spec, SpecError> {
    AnyStart::build_among(spec, registry).map(|(_, resolved)| resolved)
}

fn pacing(spec: &Spec, registry: &Registry) -> Result<Spec, SpecError> {
    AnyPacing::build_among(spec, registry).map(|(_, resolved)| resolved)
}

fn controller(spec: &Spec, registry: &Registry) -> Result<Spec, SpecError> {
    AnyController::build_among(spec, registry).map(|(_, resolved)| resolved)
}

fn ack_policy(spec: &Spec, registry: &Registry) -> Result<Spec, SpecError> {
    AnyAckPolicy::build_among(spec, registry).map(|(_, resolved)| resolved)
}

/// A preset in a profile, and where it is named.
#[derive(Clone, Copy)]
struct Base<'a> {
    preset: &'static Preset,
    profile: Profile,
    place: &'a Place,
}

/// Reads a sender: a preset's name, or a table of parts. `place` is the flow's, for a sender that is not written.
pub(super) fn sender(
    diag: &Diagnostics<'_>,
    value: Option<&Value>,
    place: &Place,
    profile: Profile,
) -> Option<Sender> {
    let base = |place, name| find(diag, place, name).map(|preset| Base { preset, profile, place });
    let Some(value) = value else { return parts(diag, None, base(place, DEFAULT_SENDER)?) };
    match &value.kind {
        Kind::Text(name) if name.starts_with(NATIVE) => native(diag, value, name),
        Kind::Text(name) => parts(diag, None, base(&value.place, name)?),
        Kind::Table(_) => {
            let reader = Reader::of(diag, value, "a sender")?;
            let preset = match reader.get("preset") {
                Some(name) => find(diag, &name.place, diag.text(name, "the name of a preset")?),
                None => find(diag, &value.place, DEFAULT_SENDER),
            };
            let base = preset.map(|preset| Base { preset, profile, place: &value.place });
            let sender = base.and_then(|base| parts(diag, Some(&reader), base));
            reader.finish();
            sender
        }
        _ => {
            diag.refuse(value, "a preset such as \"newreno\", or a table of parts");
            None
        }
    }
}

/// The stack of a sender's preset in a profile, where the flow sets nothing itself. What is wrong with the sender, [`sender`]
/// reports.
pub(super) fn stack_of(value: Option<&Value>, profile: Profile) -> Stack {
    let preset = value.and_then(|value| value.table().and_then(|table| table.get("preset")).or(Some(value)));
    let name = preset.and_then(Value::text).unwrap_or(DEFAULT_SENDER);
    let base = profile.stack(Stack::default());
    match preset::find(name) {
        Some(preset) => preset.stack(base),
        None => base,
    }
}

fn find(diag: &Diagnostics<'_>, place: &Place, name: &str) -> Option<&'static Preset> {
    let preset = preset::find(name);
    if preset.is_none() {
        unknown(diag, place, "sender", name, PRESETS.iter().map(|preset| preset.info.name));
    }
    preset
}

/// Reports a name that no member of the family has. There are too many to list them all.
fn unknown<'c>(
    diag: &Diagnostics<'_>,
    place: &Place,
    family: &str,
    name: &str,
    known: impl Iterator<Item = &'c str>,
) {
    let message = format!("there is no {family} \"{}\"", short(name));
    let expected = "the name of one; `truckee variants` lists them all".to_owned();
    diag.report(place, message, Some(expected), did_you_mean(name, known));
}

/// The product of a preset's parts and those that take their place.
fn parts(diag: &Diagnostics<'_>, reader: Option<&Reader<'_>>, base: Base<'_>) -> Option<Sender> {
    let Base { preset, profile, place } = base;
    let get = |key| reader.and_then(|reader| reader.get(key));
    let written = ["recovery", "growth", "response", "start", "pacing"].map(get);
    let recovery = part(diag, written[0], profile.part(preset.recovery()), recovery, place);
    let growth = part(diag, written[1], profile.growth(preset.growth()), growth, place);
    let response = part(diag, written[2], profile.part(preset.response()), response, place);
    let start = part(diag, written[3], preset.start(), start, place);
    let pacing = part(diag, written[4], preset.pacing(), pacing, place);
    let whole = get("controller");
    if let (Some(whole), true) = (whole, [1, 2, 4].iter().any(|&part| written[part].is_some())) {
        diag.refuse(whole, "either a controller, or growth, response and pacing: it is all three");
    }
    let controller = whole.map(|value| part(diag, Some(value), Spec::default(), controller, place));
    let controller = match controller {
        Some(controller) => Some(controller?),
        None => None,
    };
    let label = get("label").and_then(|value| diag.name(value)).map(str::to_owned);
    let (recovery, growth, response, start, pacing) = (recovery?, growth?, response?, start?, pacing?);
    let untouched = controller.is_none() && written.iter().all(Option::is_none);
    let label = label.unwrap_or_else(|| match untouched {
        true => preset.info.name.to_owned(),
        false => {
            let middle = match &controller {
                Some(controller) => vec![controller],
                None => vec![&growth, &response],
            };
            let parts = [&recovery].into_iter().chain(middle).map(|spec| spec.name.as_str());
            // How it starts and paces is said where that is not the ordinary way.
            let more = [(&start, "slow-start"), (&pacing, "none")].into_iter();
            let more = more.filter(|(spec, ordinary)| spec.name != *ordinary).map(|(s, _)| s.name.as_str());
            parts.chain(more).collect::<Vec<_>>().join("+")
        }
    });
    Some(Sender { label, recovery, growth, response, start, pacing, controller, native: None })
}

/// A congestion control of the running kernel, which only its engine has. Where a preset of that name recovers by SACK, so
/// does this one.
fn native(diag: &Diagnostics<'_>, value: &Value, label: &str) -> Option<Sender> {
    let name = label.trim_start_matches(NATIVE);
    let usable = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !(1..=MAX_NATIVE).contains(&name.len()) || !name.chars().all(usable) {
        diag.refuse(value, "a congestion control of the kernel, such as \"kernel:cubic\"");
        return None;
    }
    let namesake = preset::find(name).filter(|preset| preset.recovery().name == "sack");
    let preset = namesake.map_or_else(|| find(diag, &value.place, DEFAULT_SENDER), Some)?;
    let base = parts(diag, None, Base { preset, profile: Profile::Rfc, place: &value.place })?;
    Some(Sender { label: label.to_owned(), native: Some(name.to_owned()), ..base })
}

/// Reads a receiver's ACK policy.
pub(super) fn receiver(
    diag: &Diagnostics<'_>,
    value: Option<&Value>,
    place: &Place,
    profile: Profile,
) -> Option<Spec> {
    let default = profile.receiver().unwrap_or_else(|| Spec::named(DEFAULT_RECEIVER));
    part(diag, value, default, ack_policy, place)
}

/// One part: as written or, if it is not, `default`; with all its defaults filled in.
fn part(
    diag: &Diagnostics<'_>,
    value: Option<&Value>,
    default: Spec,
    resolve: Resolve,
    place: &Place,
) -> Option<Spec> {
    let given = match value {
        Some(value) => spec(diag, value)?,
        None => default,
    };
    resolved(diag, &given, value, resolve, place)
}

/// The spec with all its defaults filled in; what its family refuses is reported where it was written.
pub(super) fn resolved(
    diag: &Diagnostics<'_>,
    given: &Spec,
    value: Option<&Value>,
    resolve: Resolve,
    place: &Place,
) -> Option<Spec> {
    match resolve(given, diag.registry) {
        Ok(resolved) => Some(resolved),
        Err(error) => {
            report(diag, &error, value, place);
            None
        }
    }
}

/// A member's name, or a table with that name as its only key and the arguments below it.
pub(super) fn spec(diag: &Diagnostics<'_>, value: &Value) -> Option<Spec> {
    match &value.kind {
        Kind::Text(name) => return Some(Spec::named(name)),
        Kind::Table(table) => {
            if let [entry] = table.entries.as_slice()
                && let Kind::Table(arguments) = &entry.value.kind
            {
                let read = |e: &Entry| Some((e.key.clone(), argument(diag, &e.value)?));
                let args: Vec<_> = arguments.entries.iter().map(read).collect::<Option<_>>()?;
                return Some(Spec { name: entry.key.clone(), args });
            }
        }
        _ => {}
    }
    diag.refuse(value, "a name, or a name with its arguments: { name = { key = value } }");
    None
}

fn argument(diag: &Diagnostics<'_>, value: &Value) -> Option<Arg> {
    Some(match &value.kind {
        Kind::Text(text) => match parse(text) {
            Some(Quantity::Time(time)) => Arg::Time(time),
            Some(Quantity::Rate(rate)) => Arg::Rate(rate),
            Some(Quantity::Bytes(bytes)) => Arg::Bytes(bytes),
            Some(Quantity::Packets(n) | Quantity::Segments(n)) => Arg::Segments(n),
            // No member has a parameter in metres or decibels.
            Some(_) | None => Arg::Name(text.clone()),
        },
        Kind::Flag(flag) => Arg::Flag(*flag),
        Kind::Whole(_) | Kind::Real(_) => Arg::Number(diag.number(value, |_| true, "a finite number")?),
        Kind::Table(_) => Arg::Spec(spec(diag, value)?),
        Kind::List(_) | Kind::Date(_) => {
            diag.refuse(value, "a number, a quantity with its unit, a name or a table");
            return None;
        }
    })
}

/// Reports what a family refused, at the key or name in `value` that it is about.
fn report(diag: &Diagnostics<'_>, error: &SpecError, value: Option<&Value>, place: &Place) {
    let whole = value.map_or(place, |value| &value.place);
    match error {
        SpecError::UnknownMember { family, name, known } => {
            let place = value.and_then(|value| named(value, name)).unwrap_or(whole);
            unknown(diag, place, family, name, known.iter().copied());
        }
        SpecError::UnknownParam { member, param, known } => {
            let place = value.and_then(|value| keyed(value, member, param)).map_or(whole, |(key, _)| key);
            let known = || known.iter().map(String::as_str);
            let expected = match known().next() {
                Some(_) => one_of(known()),
                None => "no parameters: it has none".to_owned(),
            };
            let message = format!("\"{member}\" has no parameter \"{param}\"");
            diag.report(place, message, Some(expected), did_you_mean(param, known()));
        }
        SpecError::BadValue { member, param, value: given, expected } => {
            let found = value.and_then(|value| keyed(value, member, param));
            let (place, given) = match found {
                Some((_, value)) => (&value.place, value.shown()),
                None => (whole, given.clone()),
            };
            let message = format!("\"{member}\": {param} is {given}");
            let number =
                found.and_then(|(_, value)| value.number()).filter(|_| expected.starts_with("a time"));
            // Someone who writes 200 means milliseconds.
            let unit = |n: f64| if n >= 10.0 { "ms" } else { "s" };
            diag.report(
                place,
                message,
                Some(expected.clone()),
                number.map(|n| format!("write \"{n}{}\"", unit(n))),
            );
        }
    }
}

/// The place of a name, as a text or as a key, within a value; the innermost, since what is around it has been built.
fn named<'v>(value: &'v Value, name: &str) -> Option<&'v Place> {
    match &value.kind {
        Kind::Text(text) if text == name => Some(&value.place),
        Kind::Table(table) => table.entries.iter().find_map(|entry| {
            named(&entry.value, name).or_else(|| (entry.key == name).then_some(&entry.key_place))
        }),
        _ => None,
    }
}

/// The key `param` within a value and what it holds: below the key `member` if there is one, else the first anywhere
/// (arguments may be written beside the name of the member they belong to).
fn keyed<'v>(value: &'v Value, member: &str, param: &str) -> Option<(&'v Place, &'v Value)> {
    fn first<'v>(value: &'v Value, param: &str) -> Option<(&'v Place, &'v Value)> {
        value.table()?.entries.iter().find_map(|entry| match entry.key == param {
            true => Some((&entry.key_place, &entry.value)),
            false => first(&entry.value, param),
        })
    }
    fn below<'v>(value: &'v Value, member: &str) -> Option<&'v Value> {
        value.table()?.entries.iter().find_map(|entry| match entry.key == member {
            true => Some(&entry.value),
            false => below(&entry.value, member),
        })
    }
    below(value, member).and_then(|inner| first(inner, param)).or_else(|| first(value, param))
}
