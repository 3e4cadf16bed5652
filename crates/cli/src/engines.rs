//! The engines this program has, and which of them an argument may name.
//!
//! Not for: what an engine does, or whether a scenario suits it.

use crate::error::Error;
use crate::human::NONE;
use crate::interrupt;
use clap::ValueEnum;
use std::sync::OnceLock;
use truckee_lab::{Engine, EngineName, Engines, Registry};

/// An engine as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// The packet-level simulator
    Sim,
    /// The TCP stack of this machine's kernel, in real time
    Kernel,
}

impl Choice {
    /// The engine's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Kernel => "kernel",
        }
    }
}

/// The engines of this program.
pub fn here() -> &'static Registry {
    static HERE: OnceLock<Registry> = OnceLock::new();
    HERE.get_or_init(|| truckee_engines::all(interrupt::cancel()))
}

/// The engine that an argument names.
pub fn find(choice: Choice) -> Result<&'static dyn Engine, Error> {
    Ok(here().find(choice.name()).map_err(truckee_lab::Error::from)?)
}

/// Whether the runs of the engine that an argument names are live, whether or not it can run here.
pub fn is_live(choice: Choice) -> bool {
    here().get(choice.name()).is_some_and(Engine::is_live)
}

/// Engines in words; a study of drives alone needs none.
pub fn named(engines: &[EngineName]) -> String {
    let names: Vec<_> = engines.iter().map(EngineName::to_string).collect();
    if names.is_empty() { NONE.to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_has_the_name_it_is_found_by() {
        for choice in Choice::value_variants() {
            let value = choice.to_possible_value().map(|v| v.get_name().to_owned());
            assert_eq!(value.as_deref(), Some(choice.name()));
            let engine = here().get(choice.name()).unwrap();
            assert_eq!((engine.name(), engine.is_live()), (choice.name(), is_live(*choice)));
        }
        assert!(find(Choice::Sim).is_ok() && is_live(Choice::Kernel) && !is_live(Choice::Sim));
        assert_eq!(here().names(), ["sim", "kernel", "probe"]);
    }
}
