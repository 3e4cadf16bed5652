//! How a member of a family is named and parameterised from outside.
//!
//! A scenario names a member (`"delayed"`) or gives it arguments (`{ delayed = { timeout = "100ms" } }`); both become
//! a [`Spec`]. A member is built from its [`Args`], which hold the arguments given, hand out declared defaults, check
//! ranges, and remember what was asked for, so that unknown arguments can be refused and every default can be shown.
//! Not for: reading files or units; the caller has turned text into numbers already.

use crate::{Registry, Span};
use std::ops::RangeInclusive;

/// What everyone may know of a family member: shown by `truckee variants` and in the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// The name a scenario uses.
    pub name: &'static str,
    /// One sentence: what it does.
    pub summary: &'static str,
    /// Its rule, in one line of plain text.
    pub formula: &'static str,
    /// Where it was published: RFC and section, or paper.
    pub source: &'static str,
}

/// A member of a family that can be built from arguments.
pub trait Member: Sized {
    /// Name, rule and source.
    const INFO: Info;
    /// Builds the member, asking `args` for each parameter it knows.
    fn build(args: &mut Args) -> Result<Self, SpecError>;
}

/// A family member by name, with its arguments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spec {
    /// The member's name.
    pub name: String,
    /// Its arguments, in the order written.
    pub args: Vec<(String, Arg)>,
}

impl Spec {
    /// A member without arguments.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), args: Vec::new() }
    }

    /// Whether a member of that name is in it, itself or as an argument.
    pub fn mentions(&self, name: &str) -> bool {
        self.name == name
            || self.args.iter().any(|(_, arg)| match arg {
                Arg::Spec(spec) => spec.mentions(name),
                Arg::Name(word) => word == name,
                _ => false,
            })
    }

    /// Adds an argument.
    pub fn with(mut self, name: &str, value: Arg) -> Self {
        self.args.push((name.to_owned(), value));
        self
    }
}

/// An argument's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    /// A pure number.
    Number(f64),
    /// A time, in nanoseconds.
    Time(Span),
    /// A rate, in bit/s.
    Rate(f64),
    /// A size in bytes.
    Bytes(u64),
    /// A size in segments of the flow's MSS, or packets.
    Segments(f64),
    /// A switch.
    Flag(bool),
    /// A word: usually another family's member.
    Name(String),
    /// Another family's member with its own arguments.
    Spec(Spec),
}

/// Why a [`Spec`] cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// No member of that family has this name.
    #[error("there is no {family} named \"{name}\"")]
    UnknownMember {
        /// The family, in words: "growth rule".
        family: &'static str,
        /// What was asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// The member has no such parameter.
    #[error("\"{member}\" has no parameter \"{param}\"")]
    UnknownParam {
        /// The member.
        member: String,
        /// What was given.
        param: String,
        /// The parameters there are.
        known: Vec<String>,
    },
    /// The parameter's value cannot be used.
    #[error("\"{member}\": {param} is {value}, expected {expected}")]
    BadValue {
        /// The member.
        member: String,
        /// The parameter.
        param: String,
        /// What was given.
        value: String,
        /// What would do.
        expected: String,
    },
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

/// Declares a family's list: an enum with static dispatch over its trait, and its builder. The trait's methods are
/// repeated behind the list, without bodies, so that they can be passed on. A member from elsewhere ([`Registry`]) is one more
/// variant, whose answers are checked. A large member that is chosen seldom is `in Box`, so that the others stay small.
///
/// ```ignore
/// family! {
///     /// Doc comment.
///     pub enum AnyGrowth: Growth, "growth rule" { PerAck, ByteCounting }
///     fn on_ack(&mut self, ack: &Ack, w: &mut Window);
/// }
/// ```
macro_rules! family {
    (@methods $Members:tt) => {};
    (@methods $Members:tt fn $name:ident(&mut $self:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)?; $($rest:tt)*) => {
        #[inline]
        fn $name(&mut $self $(, $arg: $ty)*) $(-> $ret)? { family!(@call tell $self $name ($($arg),*) [$($arg)*] $Members) }
        family!(@methods $Members $($rest)*);
    };
    (@methods $Members:tt fn $name:ident(&$self:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)?; $($rest:tt)*) => {
        #[inline]
        fn $name(&$self $(, $arg: $ty)*) $(-> $ret)? { family!(@call ask $self $name ($($arg),*) [$($arg)*] $Members) }
        family!(@methods $Members $($rest)*);
    };
    (@call $how:ident $self:ident $name:ident $args:tt [$($arg:ident)*] ($($Member:ident)+)) => {
        match $self {
            $(Self::$Member(member) => member.$name $args,)+
            Self::Custom(custom) => {
                let answer = custom.$how(stringify!($name), |member| member.$name $args);
                $(custom.check(stringify!($name), &$arg);)*
                custom.check(stringify!($name), &answer);
                answer
            }
        }
    };
    (@type $Member:ident) => { $Member };
    (@type $Member:ident Box) => { Box<$Member> };
    ($(#[$meta:meta])* pub enum $Any:ident : $Trait:ident, $family:literal { $($Member:ident $(in $Box:ident)?),+ $(,)? } $($methods:tt)*) => {
        $(#[$meta])*
        #[allow(missing_docs, clippy::large_enum_variant)] // the members document themselves
        #[derive(Debug, Clone)]
        pub enum $Any { $($Member(family!(@type $Member $($Box)?)),)+ Custom($crate::registry::Custom<dyn $Trait>) }

        dyn_clone::clone_trait_object!($Trait);

        impl $crate::registry::Family for dyn $Trait {
            const FAMILY: &'static str = $family;
            const BUILT_IN: &'static [$crate::spec::Info] = $Any::MEMBERS;
        }

        impl $Any {
            /// What is built in of this family.
            pub const MEMBERS: &'static [$crate::spec::Info] = &[$(<$Member as $crate::spec::Member>::INFO),+];

            /// Builds the built-in member that `spec` names; also returns the spec with every default filled in.
            pub fn build(
                spec: &$crate::spec::Spec,
            ) -> Result<(Self, $crate::spec::Spec), $crate::spec::SpecError> {
                Self::build_among(spec, &$crate::Registry::new())
            }

            /// Builds the member that `spec` names, built in or in the registry.
            pub fn build_among(
                spec: &$crate::spec::Spec,
                registry: &$crate::Registry,
            ) -> Result<(Self, $crate::spec::Spec), $crate::spec::SpecError> {
                use $crate::spec::{Args, Member as _, SpecError};
                let mut args = Args::among(spec, registry);
                $(if spec.name == $Member::INFO.name {
                    let member = $Member::build(&mut args)?;
                    return Ok((Self::$Member(member.into()), args.finish()?));
                })+
                if let Some(custom) = registry.build::<dyn $Trait>(&mut args, &spec.name) {
                    return Ok((Self::Custom(custom?), args.finish()?));
                }
                Err(SpecError::UnknownMember {
                    family: $family,
                    name: spec.name.clone(),
                    known: Self::MEMBERS.iter().chain(registry.of($family)).map(|m| m.name).collect(),
                })
            }
        }

        impl $Trait for $Any { family!(@methods ($($Member)+) $($methods)*); }
    };
}
pub(crate) use family;

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
