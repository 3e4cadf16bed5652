//! How members are built, from their arguments; and members that come from elsewhere, algorithms of a user's own, beside
//! those that are built in.
//!
//! A member is built from its [`Args`], which hold the arguments given, hand out declared defaults, check ranges, and
//! remember what was asked for, so that unknown arguments can be refused and every default can be shown.
//!
//! A [`Registry`] is handed to whoever builds members by name; a scenario then names a foreign one as any other. Foreign code
//! is not trusted: what it does wrong (a window that is not a number, a pace below zero, a panic) becomes a [`Fault`] that
//! names the member and unwinds, for the run to end with. Built-in members pay nothing for it.

use crate::Span;
use crate::custom::Custom;
use crate::spec::{Arg, Info, Spec, SpecError};
use std::any::Any;
use std::ops::RangeInclusive;
use std::sync::Arc;

pub use crate::custom::Fault;

/// A family, which is the trait of its members.
pub trait Family: 'static {
    /// In words: "growth rule".
    const FAMILY: &'static str;
    /// What is built in.
    const BUILT_IN: &'static [Info];
}

/// Builds a member from its arguments.
type Make<T> = Box<dyn Fn(&mut Args<'_>) -> Result<Box<T>, SpecError> + Send + Sync>;

#[derive(Clone)]
struct Entry {
    family: &'static str,
    info: Info,
    /// A [`Make`] of the family's trait.
    make: Arc<dyn Any + Send + Sync>,
}

/// A name that the family has already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is a {family} named \"{name}\" already, expected a name of its own")]
pub struct Taken {
    /// The family.
    pub family: &'static str,
    /// The name.
    pub name: &'static str,
}

/// Foreign members, by family and name.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|e| (e.family, e.info.name))).finish()
    }
}

impl Registry {
    /// Without any.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Adds a member of the family `T`, a trait object such as `dyn Growth`.
    pub fn add<T: Family + ?Sized>(
        &mut self,
        info: Info,
        make: impl Fn(&mut Args<'_>) -> Result<Box<T>, SpecError> + Send + Sync + 'static,
    ) -> Result<(), Taken> {
        if T::BUILT_IN.iter().chain(self.of(T::FAMILY)).any(|known| known.name == info.name) {
            return Err(Taken { family: T::FAMILY, name: info.name });
        }
        let make: Make<T> = Box::new(make);
        self.entries.push(Entry { family: T::FAMILY, info, make: Arc::new(make) });
        Ok(())
    }

    /// The foreign members of a family.
    pub fn of(&self, family: &str) -> impl Iterator<Item = &Info> {
        self.entries.iter().filter(move |e| e.family == family).map(|e| &e.info)
    }

    /// Builds the foreign member of that name, if there is one.
    pub(crate) fn build<T: Family + ?Sized>(
        &self,
        args: &mut Args<'_>,
        name: &str,
    ) -> Option<Result<Custom<T>, SpecError>> {
        let entry = self.entries.iter().find(|e| e.family == T::FAMILY && e.info.name == name)?;
        let make = entry.make.downcast_ref::<Make<T>>()?;
        Some(make(args).map(|member| Custom::new(entry.info.name, member)))
    }
}

/// A member of a family that can be built from arguments.
pub trait Member: Sized {
    /// Name, rule and source.
    const INFO: Info;
    /// Builds the member, asking `args` for each parameter it knows.
    fn build(args: &mut Args) -> Result<Self, SpecError>;
}

/// Any member of a family, as the family's list has it.
pub trait AnyMember: Sized {
    /// Builds the member that `spec` names, built in or in the registry; also returns the spec with every default filled in.
    fn build_among(spec: &Spec, registry: &Registry) -> Result<(Self, Spec), SpecError>;
}

/// The arguments of one member while it is built.
#[derive(Debug)]
pub struct Args<'r> {
    member: String,
    given: Vec<(String, Arg)>,
    resolved: Vec<(String, Arg)>,
    registry: &'r Registry,
}

/// Where nothing foreign is known.
static BUILT_IN: Registry = Registry::new();

impl Args<'static> {
    /// The arguments of `spec`, whose members are built in.
    pub fn new(spec: &Spec) -> Self {
        Args::among(spec, &BUILT_IN)
    }
}

impl<'r> Args<'r> {
    /// The arguments of `spec`, whose members are built in or in the registry.
    pub fn among(spec: &Spec, registry: &'r Registry) -> Self {
        Self { member: spec.name.clone(), given: spec.args.clone(), resolved: Vec::new(), registry }
    }

    fn take(&mut self, name: &str) -> Option<Arg> {
        let at = self.given.iter().position(|(n, _)| n == name)?;
        Some(self.given.remove(at).1)
    }

    /// The error for a parameter of this member.
    pub fn bad(&self, param: &str, value: &dyn std::fmt::Debug, expected: &str) -> SpecError {
        SpecError::BadValue {
            member: self.member.clone(),
            param: param.to_owned(),
            value: format!("{value:?}"),
            expected: expected.to_owned(),
        }
    }

    /// A pure number within `range`.
    pub fn number(&mut self, name: &str, default: f64, range: RangeInclusive<f64>) -> Result<f64, SpecError> {
        let value = match self.take(name) {
            None => default,
            Some(Arg::Number(x)) if range.contains(&x) => x,
            Some(other) => {
                let expected = format!("a number from {} to {}", range.start(), range.end());
                return Err(self.bad(name, &other, &expected));
            }
        };
        self.resolved.push((name.to_owned(), Arg::Number(value)));
        Ok(value)
    }

    /// A whole number within `range`.
    pub fn count(&mut self, name: &str, default: u64, range: RangeInclusive<u64>) -> Result<u64, SpecError> {
        let value = match self.take(name) {
            None => default,
            Some(Arg::Number(x)) if x >= 0.0 && libm::floor(x) == x && range.contains(&(x as u64)) => {
                x as u64
            }
            Some(other) => {
                let expected = format!("a whole number from {} to {}", range.start(), range.end());
                return Err(self.bad(name, &other, &expected));
            }
        };
        self.resolved.push((name.to_owned(), Arg::Number(value as f64)));
        Ok(value)
    }

    /// A time within `range` (nanoseconds).
    pub fn time(
        &mut self,
        name: &str,
        default: Span,
        range: RangeInclusive<Span>,
    ) -> Result<Span, SpecError> {
        let value = match self.take(name) {
            None => default,
            Some(Arg::Time(t)) if range.contains(&t) => t,
            Some(other) => {
                let s = |t: Span| t.seconds();
                let expected = format!("a time from {} s to {} s", s(*range.start()), s(*range.end()));
                return Err(self.bad(name, &other, &expected));
            }
        };
        self.resolved.push((name.to_owned(), Arg::Time(value)));
        Ok(value)
    }

    /// A rate within `range` (bit/s).
    pub fn rate(&mut self, name: &str, default: f64, range: RangeInclusive<f64>) -> Result<f64, SpecError> {
        let value = match self.take(name) {
            None => default,
            Some(Arg::Rate(r)) if range.contains(&r) => r,
            Some(other) => {
                let expected = format!("a rate from {} bit/s to {} bit/s", range.start(), range.end());
                return Err(self.bad(name, &other, &expected));
            }
        };
        self.resolved.push((name.to_owned(), Arg::Rate(value)));
        Ok(value)
    }

    /// A switch.
    pub fn flag(&mut self, name: &str, default: bool) -> Result<bool, SpecError> {
        let value = match self.take(name) {
            None => default,
            Some(Arg::Flag(x)) => x,
            Some(other) => return Err(self.bad(name, &other, "true or false")),
        };
        self.resolved.push((name.to_owned(), Arg::Flag(value)));
        Ok(value)
    }

    /// One of the given words; the first is the default.
    pub fn choice(&mut self, name: &str, words: &[&'static str]) -> Result<&'static str, SpecError> {
        let value = match self.take(name) {
            None => words[0],
            Some(Arg::Name(given)) => match words.iter().find(|w| **w == given) {
                Some(word) => word,
                None => return Err(self.bad(name, &given, &format!("one of {}", words.join(", ")))),
            },
            Some(other) => return Err(self.bad(name, &other, &format!("one of {}", words.join(", ")))),
        };
        self.resolved.push((name.to_owned(), Arg::Name(value.to_owned())));
        Ok(value)
    }

    /// Refuses a parameter that means nothing beside those asked for before; `expected` says what would do.
    pub fn refuse(&mut self, name: &str, expected: &str) -> Result<(), SpecError> {
        match self.take(name) {
            None => Ok(()),
            Some(given) => Err(self.bad(name, &given, expected)),
        }
    }

    /// Another family's member: a name, to which the arguments not yet taken pass on (flat form), or a table of its
    /// own (nested form). `build` is that family's builder; it returns the member and its spec with all defaults.
    pub fn member<T>(
        &mut self,
        name: &str,
        default: &str,
        build: impl FnOnce(&Spec, &Registry) -> Result<(T, Spec), SpecError>,
    ) -> Result<T, SpecError> {
        self.inner(name, default, true, build)
    }

    /// As [`Self::member`], where arguments not yet taken do not pass on: for a second family's member.
    pub fn own_member<T>(
        &mut self,
        name: &str,
        default: &str,
        build: impl FnOnce(&Spec, &Registry) -> Result<(T, Spec), SpecError>,
    ) -> Result<T, SpecError> {
        self.inner(name, default, false, build)
    }

    fn inner<T>(
        &mut self,
        name: &str,
        default: &str,
        passes_on: bool,
        build: impl FnOnce(&Spec, &Registry) -> Result<(T, Spec), SpecError>,
    ) -> Result<T, SpecError> {
        let taken = self.take(name);
        let named = |name: &str, args| Spec { name: name.to_owned(), args };
        let mut rest = || if passes_on { std::mem::take(&mut self.given) } else { Vec::new() };
        let spec = match taken {
            None => named(default, rest()),
            Some(Arg::Name(n)) => named(&n, rest()),
            Some(Arg::Spec(spec)) => spec,
            Some(other) => return Err(self.bad(name, &other, "a name, or { name = { … } }")),
        };
        let (member, resolved) = build(&spec, self.registry)?;
        self.resolved.push((name.to_owned(), Arg::Spec(resolved)));
        Ok(member)
    }

    /// Ends the building: an argument nobody asked for is an error; otherwise the spec with every default filled in.
    pub fn finish(self) -> Result<Spec, SpecError> {
        if let Some((param, _)) = self.given.first() {
            return Err(SpecError::UnknownParam {
                member: self.member,
                param: param.clone(),
                known: self.resolved.into_iter().map(|(n, _)| n).collect(),
            });
        }
        Ok(Spec { name: self.member, args: self.resolved })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_arguments_are_refused_with_the_known_ones() {
        let mut args = Args::new(&Spec::named("m").with("beta", Arg::Number(1.0)));
        args.number("alpha", 0.5, 0.0..=1.0).unwrap();
        let error = args.finish().unwrap_err();
        assert_eq!(
            error,
            SpecError::UnknownParam { member: "m".into(), param: "beta".into(), known: vec!["alpha".into()] }
        );
    }

    #[test]
    fn defaults_are_filled_in_and_ranges_checked() {
        let mut args = Args::new(&Spec::named("m"));
        assert_eq!(args.time("timeout", Span::ns(5), Span::ZERO..=Span::ns(10)), Ok(Span::ns(5)));
        assert_eq!(args.finish().unwrap().args, vec![("timeout".to_owned(), Arg::Time(Span::ns(5)))]);
        let mut args = Args::new(&Spec::named("m").with("l", Arg::Number(1.5)));
        assert!(matches!(args.count("l", 1, 1..=2), Err(SpecError::BadValue { .. })));
    }
}
