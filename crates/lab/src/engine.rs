//! What turns a question into an answer: the seam between the laboratory and the engines.

use crate::error::Missing;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::time::Duration;
use truckee_measure::closest;
use truckee_scenario::outcome::Vantage;
use truckee_scenario::{Outcome, Scenario};

/// The engine that is meant where nothing is said; who has one of that name is another question.
pub(crate) const SIMULATOR: &str = "sim";
/// Threads of a live sweep for each core: its runs are real time, and idle for most of it.
const LIVE_RUNS_PER_CORE: usize = 2;
/// As many, where it is known how many its scenarios bear.
const BORNE_RUNS_PER_CORE: usize = 8;

/// Why a run has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{reason}")]
pub struct Failure {
    /// In words.
    pub reason: String,
    /// Whether it befell this run, as a machine in want of something does it: made again, it may go well. Else every run of
    /// the scenario fails.
    pub once: bool,
}

impl From<String> for Failure {
    /// One that every run of the scenario has.
    fn from(reason: String) -> Self {
        Self { reason, once: false }
    }
}

impl From<&str> for Failure {
    /// The same.
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}

/// Something that runs scenarios. The same scenario with the same seed must give the same outcome (but for
/// `wall_s`) on a deterministic engine, and the same digest. A live engine gives no digest: an empty string.
pub trait Engine: Send + Sync {
    /// Its name in files and results; see [`EngineName`] for what one looks like.
    fn name(&self) -> &str;

    /// Runs one scenario to its end, with time series where asked for.
    fn run(&self, scenario: &Scenario, series: bool) -> Result<Outcome, Failure>;

    /// The same with time series and every packet of the flows at that end of theirs, for a capture.
    fn run_tapped(&self, _scenario: &Scenario, _vantage: Vantage) -> Result<Outcome, Failure> {
        Err(format!("the {} engine keeps no packets", self.name()).into())
    }

    /// Why it can run the scenario on no machine: what is to be mended in the file. Nothing is run.
    fn refuses(&self, _scenario: &Scenario) -> Option<String> {
        None
    }

    /// What this machine lacks to run it, in words that follow "the kernel engine"; `None`: nothing.
    fn lacks(&self) -> Option<String> {
        None
    }

    /// Whether its runs happen in real time, on a real stack: none ends before its time, and no two are the same.
    fn is_live(&self) -> bool {
        false
    }

    /// Where each of its runs goes by the live one of its seed, which is made before: how, for whoever reads the comparison.
    fn goes_by_live_runs(&self) -> Option<&str> {
        None
    }

    /// What of the program decides the records of this engine: a hash of sources and locked dependencies, say. Records of
    /// one build are never taken for those of another.
    fn build(&self) -> Cow<'_, str> {
        Cow::Borrowed(env!("CARGO_PKG_VERSION"))
    }

    /// How long a run takes at most; `None` where it takes as long as the machine needs.
    fn takes(&self, scenario: &Scenario) -> Option<Duration> {
        self.is_live().then(|| Duration::from(scenario.duration))
    }
}

/// An engine's name as files and commands give it: up to 64 lower-case letters, digits, dots, `-` and `_`, since folders are
/// called by it. Whether there is one of that name, whoever hands over [`Engines`] knows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct EngineName(String);

/// So long may a name be.
const LONGEST_NAME: usize = 64;

impl EngineName {
    /// As written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for EngineName {
    /// The simulator's, which is meant where nothing is said.
    fn default() -> Self {
        Self(SIMULATOR.to_owned())
    }
}

/// The simulator comes first where engines stand in order, the others by their letters.
impl Ord for EngineName {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0 != SIMULATOR, &self.0).cmp(&(other.0 != SIMULATOR, &other.0))
    }
}

impl PartialOrd for EngineName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TryFrom<String> for EngineName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-_".contains(c);
        let begins = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        if begins && text.len() <= LONGEST_NAME && text.chars().all(fits) {
            return Ok(Self(text));
        }
        Err(format!(
            "\"{text}\" is no engine's name: up to {LONGEST_NAME} lower-case letters, digits, dots, - and _, a letter or digit \
             first"
        ))
    }
}

impl From<EngineName> for String {
    fn from(name: EngineName) -> Self {
        name.0
    }
}

impl std::str::FromStr for EngineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.to_owned().try_into()
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where engines come from: what a caller of the laboratory hands over. Any crate may have some of its own; [`Registry`] is
/// a list of them, and an engine by itself is one that has no others.
pub trait Engines {
    /// The names there are, in the order in which they are to be shown.
    fn names(&self) -> Vec<&str>;

    /// The engine of this name, whether or not this machine can run it.
    fn get(&self, name: &str) -> Option<&dyn Engine>;

    /// The engine of this name, if there is one and this machine can run it.
    ///
    /// # Errors
    /// There is none; or what it lacks here.
    fn find(&self, name: &str) -> Result<&dyn Engine, Missing> {
        let engine = self.get(name).ok_or_else(|| {
            let known = self.names();
            Missing::Unknown {
                name: name.to_owned(),
                near: closest(name, known.iter().copied()),
                known: known.into_iter().map(str::to_owned).collect(),
            }
        })?;
        match engine.lacks() {
            None => Ok(engine),
            Some(reason) => Err(Missing::NotHere { engine: name.to_owned(), reason }),
        }
    }
}

impl<E: Engine> Engines for E {
    fn names(&self) -> Vec<&str> {
        vec![self.name()]
    }

    fn get(&self, name: &str) -> Option<&dyn Engine> {
        (name == self.name()).then_some(self)
    }
}

/// Engines by their names, in the order in which they were added.
#[derive(Default)]
pub struct Registry(Vec<Box<dyn Engine>>);

impl Registry {
    /// With one more; it takes the place of one that has its name.
    #[must_use]
    pub fn with(mut self, engine: impl Engine + 'static) -> Self {
        match self.0.iter_mut().find(|there| there.name() == engine.name()) {
            Some(there) => *there = Box::new(engine),
            None => self.0.push(Box::new(engine)),
        }
        self
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.names()).finish()
    }
}

impl Engines for Registry {
    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|engine| engine.name()).collect()
    }

    fn get(&self, name: &str) -> Option<&dyn Engine> {
        self.0.iter().find(|engine| engine.name() == name).map(AsRef::as_ref)
    }
}

/// How many runs go at once unless told otherwise: one a core, or two where they are live.
pub fn default_jobs(engine: &dyn Engine) -> usize {
    if engine.is_live() { LIVE_RUNS_PER_CORE * cores() } else { cores() }
}

/// How many live runs go at once unless told otherwise, where `most` are known to bear each other's company.
pub(crate) fn borne_jobs(most: usize) -> usize {
    most.min(BORNE_RUNS_PER_CORE * cores())
}

/// Cores of this machine; where their number is not told, one is sure.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, scenario};

    #[test]
    fn a_live_run_takes_its_time_and_more_go_at_once() {
        let (live, not) = (Fake::live(), Fake::new());
        let ten_seconds = scenario("s", 10_000_000_000);
        assert_eq!(
            (live.takes(&ten_seconds), not.takes(&ten_seconds)),
            (Some(Duration::from_secs(10)), None)
        );
        assert_eq!(default_jobs(&live), 2 * default_jobs(&not));
        assert_eq!((borne_jobs(1), borne_jobs(10_000)), (1, 8 * default_jobs(&not)));
    }

    #[derive(Deserialize)]
    struct Key {
        engine: EngineName,
    }

    #[test]
    fn a_name_is_what_a_file_says_and_no_path() {
        for name in ["sim", "kernel", "ns-3.41", "my_engine"] {
            let key: Key = toml::from_str(&format!("engine = \"{name}\"")).unwrap();
            assert_eq!(
                (key.engine.as_str(), serde_json::to_value(&key.engine).unwrap()),
                (name, name.into())
            );
        }
        let long = "x".repeat(65);
        for name in ["", "../sim", "a/b", ".", "Sim", "ns 3", "é", long.as_str()] {
            let error = toml::from_str::<Key>(&format!("engine = \"{name}\"")).err().unwrap();
            assert!(error.to_string().contains("is no engine's name: up to 64"), "{name}: {error}");
        }
    }

    #[test]
    fn an_engine_is_found_by_its_name_and_what_is_not_there_is_told_from_what_cannot_run_here() {
        struct Elsewhere;
        impl Engine for Elsewhere {
            fn name(&self) -> &str {
                "elsewhere"
            }
            fn run(&self, _: &Scenario, _: bool) -> Result<Outcome, Failure> {
                Err("not here".into())
            }
            fn lacks(&self) -> Option<String> {
                Some("needs another machine".to_owned())
            }
        }
        let engines = Registry::default().with(Fake::new()).with(Elsewhere).with(Fake::of_build("b"));
        assert_eq!(engines.names(), ["sim", "elsewhere"]);
        assert_eq!(engines.find("sim").unwrap().build(), "b", "the one that came later");
        let why = |name| engines.find(name).err().unwrap().to_string();
        assert_eq!(why("elsewhere"), "the elsewhere engine needs another machine");
        let said =
            "there is no engine \"elswhere\"; there are \"sim\", \"elsewhere\"; did you mean \"elsewhere\"?";
        assert_eq!(why("elswhere"), said);
        let alone = Fake::live().find("ns-3").err().unwrap().to_string();
        assert_eq!(alone, "there is no engine \"ns-3\"; there is only \"kernel\"");
        assert!(engines.get("elsewhere").is_some(), "it is known all the same");
    }
}
