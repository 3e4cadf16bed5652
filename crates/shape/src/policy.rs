//! An ACK policy that a kernel's egress can carry out.

#[cfg(live)]
use super::layout::adapting;
use crate::Error;
#[cfg(live)]
use truckee_tcp::Span;
use truckee_tcp::Spec;
use truckee_tcp::ack::{AckPolicy, AnyAckPolicy, Honesty, Manner};

/// The most parts into which the program cuts an ACK: the cap of the live leg.
pub const MOST_PARTS: u64 = 32;
/// How far apart arrivals are told of to a policy that counts what comes in an interval. The shortest interval that it
/// can have is as long.
#[cfg(live)]
const COARSE: Span = Span::ms(1);

/// Whether a policy is told of arrivals, and how soon.
#[cfg(live)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adapting {
    Fixed,
    Promptly,
    InPassing,
}

#[cfg(live)]
impl Adapting {
    /// As the program has it.
    pub(super) fn number(self) -> u8 {
        let number = match self {
            Self::Fixed => adapting::FIXED,
            Self::Promptly => adapting::PROMPTLY,
            Self::InPassing => adapting::IN_PASSING,
        };
        number.0 as u8
    }
}

/// An ACK policy of `truckee-tcp`, checked to be one that the live leg may and can carry out.
#[derive(Debug, Clone)]
#[cfg_attr(not(live), allow(dead_code))] // without the live leg it is checked and no more
pub struct Policy {
    spec: Spec,
    fresh: AnyAckPolicy,
    manner: Manner,
    aligned: bool,
    /// Whether arrivals are told of although it has no use for them.
    heard: bool,
}

impl Policy {
    /// The policy that `spec` names.
    ///
    /// # Errors
    /// There is none of that name or with such values; it lies, which the live leg never does; it needs what no real
    /// sender says; it cuts an ACK into more than 32 parts.
    pub fn of(spec: &Spec) -> Result<Self, Error> {
        let refused = |why: String| Error::Refused { place: format!("ACK policy \"{}\"", spec.name), why };
        let (fresh, spec) = AnyAckPolicy::build(spec).map_err(|e| refused(e.to_string()))?;
        if fresh.honesty() != Honesty::Honest {
            let why = "its ACKs are not true, and on a real network only true ones leave; use --engine sim";
            return Err(Error::Refused { place: format!("ACK policy \"{}\"", spec.name), why: why.into() });
        }
        let Some(manner) = fresh.manner() else {
            let why = "it goes by requests that no real sender makes; use --engine sim";
            return Err(Error::Refused { place: format!("ACK policy \"{}\"", spec.name), why: why.into() });
        };
        let parts = match &fresh {
            // What it cuts into while it cuts; the manner of the first moment may be to wait and see.
            AnyAckPolicy::Division(_) | AnyAckPolicy::Taba(_) => parts_of(&spec),
            _ => manner.parts,
        };
        if parts > MOST_PARTS {
            let why =
                format!("n is {parts}: on a real network an ACK is cut into {MOST_PARTS} parts at most");
            return Err(Error::Refused { place: format!("ACK policy \"{}\"", spec.name), why });
        }
        let aligned = matches!(fresh, AnyAckPolicy::Every(_) | AnyAckPolicy::Delayed(_));
        Ok(Self { spec, fresh, manner, aligned, heard: false })
    }

    /// ACKs as the stack sends them.
    #[cfg(live)]
    pub fn as_it_is() -> Self {
        let fresh = AnyAckPolicy::Every(truckee_tcp::ack::Every);
        Self { spec: Spec::named("every"), fresh, manner: Manner::EVERY, aligned: false, heard: false }
    }

    /// With somebody listening to what arrives.
    #[cfg(live)]
    pub fn heard(self) -> Self {
        Self { heard: true, ..self }
    }

    /// How the program tells of arrivals. A detector's verdict is wanted at the next ACK; what goes by whole rounds or
    /// intervals may have it some milliseconds late.
    #[cfg(live)]
    pub fn adapting(&self) -> Adapting {
        match self.adapts() {
            _ if self.heard || self.fresh.phase().is_some() => Adapting::Promptly,
            true => Adapting::InPassing,
            false => Adapting::Fixed,
        }
    }

    /// Its name and values, every default filled in.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// A fresh one, for a new connection.
    #[cfg(live)]
    pub fn fresh(&self) -> AnyAckPolicy {
        self.fresh.clone()
    }

    /// What it does at the beginning of a connection.
    #[cfg(live)]
    pub fn manner(&self) -> Manner {
        self.manner
    }

    /// Whether an ACK that covers more than it should is cut at segments.
    #[cfg(live)]
    pub fn is_aligned(&self) -> bool {
        self.aligned
    }

    /// Arrivals nearer than this to one told of may be told of with a later one, as one segment: a policy that goes by how
    /// much comes in a tenth of a second learns the same from them. 0: it goes by the times between segments, or somebody
    /// else does.
    #[cfg(live)]
    pub fn grain(&self) -> Span {
        match self.fresh {
            AnyAckPolicy::Accumulated(_) if !self.heard => COARSE,
            _ => Span::ZERO,
        }
    }

    /// Whether it has to hear of arriving data.
    #[cfg(live)]
    pub fn adapts(&self) -> bool {
        self.fresh.adapts()
    }
}

fn parts_of(spec: &Spec) -> u64 {
    let n = spec.args.iter().find(|(name, _)| *name == "n");
    match n {
        Some((_, truckee_tcp::Arg::Number(n))) => *n as u64,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_tcp::Arg;

    #[test]
    fn what_lies_or_goes_too_far_is_refused_by_name() {
        let refused = |spec: &Spec| Policy::of(spec).unwrap_err().to_string();
        let many = |name: &str| Spec::named(name).with("n", Arg::Number(33.0));
        for (spec, word) in [
            (Spec::named("optimistic"), "true"),
            (Spec::named("spoofed-duplicates"), "true"),
            (Spec::named("requested"), "requests"),
            (many("division"), "32"),
            (many("taba"), "32"),
            (Spec::named("evry"), "no ACK policy"),
        ] {
            let said = refused(&spec);
            assert!(said.contains(&spec.name) && said.contains(word), "{said}");
        }
        for name in ["every", "delayed", "division", "taba", "accumulated", "accumulated-full"] {
            assert_eq!(Policy::of(&Spec::named(name)).unwrap().spec().name, name);
        }
        assert!(Policy::of(&Spec::named("division").with("n", Arg::Number(32.0))).is_ok());
    }
}
