//! How a member of a family is named and parameterised from outside.
//!
//! A scenario names a member (`"delayed"`) or gives it arguments (`{ delayed = { timeout = "100ms" } }`); both become
//! a [`Spec`].
//! Not for: reading files or units; the caller has turned text into numbers already.

use crate::Span;

pub(crate) use crate::family::family;
pub use crate::registry::{Args, Member};

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
