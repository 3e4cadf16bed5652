//! The engines this program has, and which of them an argument may name.
//!
//! Not for: what an engine does, or whether a scenario suits it.

use crate::error::Error;
use crate::human;
use crate::interrupt;
use crate::progress::note;
use clap::ValueEnum;
use std::sync::OnceLock;
use std::time::Duration;
use truckee_lab::realtime::LivePlan;
use truckee_lab::{Engine, Engines, Registry};

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

/// Says on stderr what live runs are about to take: whoever waits that long should know before.
pub fn announce(plan: &LivePlan) {
    let &LivePlan { ref engine, runs, at_once, at_most } = plan;
    let side_by_side = match (runs, at_once) {
        (1, _) => String::new(),
        (_, 1) => ", one at a time".to_owned(),
        (_, n) => format!(", {n} at once"),
    };
    note(&format!("{engine}: {}{side_by_side}: {} at most", human::many(runs, "live run"), long(at_most)));
}

/// A time as people say it: `45 s`, `12 min`, `2 h 5 min`.
pub fn long(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    let minutes = seconds.div_ceil(60);
    match (seconds, minutes) {
        (0..=119, _) => format!("{seconds} s"),
        (_, 0..=119) => format!("{minutes} min"),
        _ if minutes.is_multiple_of(60) => format!("{} h", minutes / 60),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
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

    #[test]
    fn times_are_in_words() {
        let cases = [
            (0.0, "0 s"),
            (44.2, "45 s"),
            (119.0, "119 s"),
            (121.0, "3 min"),
            (7200.0, "2 h"),
            (7500.0, "2 h 5 min"),
        ];
        for (seconds, words) in cases {
            assert_eq!(long(Duration::from_secs_f64(seconds)), words);
        }
    }
}
