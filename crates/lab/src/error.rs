//! What can go wrong between a run and an answer.

use std::path::{Path, PathBuf};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An axis cannot be understood.
    #[error("axis \"{text}\": {reason}")]
    Vary {
        /// What was given.
        text: String,
        /// What is wrong with it and what would do.
        reason: String,
    },
    /// A metric that there is not, or of what the outcome does not have.
    #[error(transparent)]
    Metric(#[from] truckee_measure::Error),
    /// The scenario, or the scenario with a grid point's values, cannot be used.
    #[error("{}{reason}", at_point(.point))]
    Scenario {
        /// The grid point's values, in words; empty for the scenario itself.
        point: String,
        /// The reader's message.
        reason: String,
    },
    /// The engine could not run a cell.
    #[error("{}seed {seed}: {reason}", at_point(.point))]
    Engine {
        /// The grid point's values, in words.
        point: String,
        /// The seed.
        seed: u64,
        /// The engine's message.
        reason: String,
    },
    /// A cell that is to be run would not be the same here.
    #[error(
        "cell {wanted} is {here} here: this build ({build}), or a file that the scenario names, is another one"
    )]
    OtherCell {
        /// As it was asked for.
        wanted: crate::Address,
        /// What it would be.
        here: crate::Address,
        /// The build of the engine here.
        build: String,
    },
    /// A directory holds no sweep.
    #[error("{} holds no sweep: there is no sweep.json in it", .dir.display())]
    NoSweep {
        /// The directory.
        dir: PathBuf,
    },
    /// A directory was written by version 0.1, which kept runs otherwise.
    #[error(
        "{} holds a sweep of truckee 0.1, which kept runs otherwise: `truckee report` still shows it; give another directory",
        .dir.display()
    )]
    OldSweep {
        /// The directory.
        dir: PathBuf,
    },
    /// A file cannot be written. What was finished before stays.
    #[error("cannot write {}: {source}{}", .path.display(), full(.source))]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {reason}", .path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A directory holds results of something else.
    #[error("{} holds a different sweep: {what}; give another directory", .dir.display())]
    OtherSweep {
        /// The directory.
        dir: PathBuf,
        /// In what it differs.
        what: String,
    },
    /// A directory holds servers that were probed otherwise.
    #[error(
        "{}: the servers there were probed otherwise (tests, repetitions, segment size, times, or version); give another directory",
        .dir.display()
    )]
    OtherCampaign {
        /// The directory.
        dir: PathBuf,
    },
    /// Another process writes to the directory.
    #[error("another sweep is writing to {}", .dir.display())]
    Locked {
        /// The directory.
        dir: PathBuf,
    },
    /// A study's file cannot be used.
    #[error("{file}: {reason}")]
    Study {
        /// The file, or the built-in study's id.
        file: String,
        /// What is wrong, with its place.
        reason: String,
    },
    /// No built-in study has this id and no file this path.
    #[error("there is no study \"{id}\"{}", nearest(.near))]
    UnknownStudy {
        /// What was asked for.
        id: String,
        /// The id most like it.
        near: Option<String>,
    },
    /// Runs cannot be compared.
    #[error("cannot compare: {reason}")]
    Compare {
        /// Why.
        reason: String,
    },
    /// A tolerance cannot be understood, or is of something that is not there.
    #[error("tolerance \"{text}\": {reason}")]
    Tolerance {
        /// What was given.
        text: String,
        /// What is wrong with it and what would do.
        reason: String,
    },
    /// An engine cannot be had here.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// Those who run cells elsewhere are lost, or cannot run them.
    #[error("{0}")]
    Crew(String),
    /// A thread pool could not be started, or a table not be encoded.
    #[error("{0}")]
    Internal(String),
}

/// Why an engine cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// Nobody has one of this name: it is to be mended where it stands.
    #[error("there is no engine \"{name}\"; {}{}", those(.known), nearest(.near))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
        /// The name most like it.
        near: Option<String>,
    },
    /// This machine cannot run it.
    #[error("the {engine} engine {reason}")]
    NotHere {
        /// Which.
        engine: String,
        /// What is missing, in words that follow "the kernel engine"; where more is told is added by who shows it.
        reason: String,
    },
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// What was asked for: it is to be mended in the question, or in a file that it names.
    Question,
    /// This machine's, or of what is on it: elsewhere, or later, the same may go well.
    Machine,
    /// This program's.
    Program,
}

impl Error {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Engine { .. }
            | Self::Write { .. }
            | Self::Read { .. }
            | Self::Crew(_)
            | Self::Missing(Missing::NotHere { .. })
            | Self::Locked { .. } => Fault::Machine,
            Self::Internal(_) => Fault::Program,
            _ => Fault::Question,
        }
    }

    /// Whether the very same may go well later, without anything being mended: a directory that somebody else has, a disk
    /// that is full. Of a run that failed, [`crate::Failure::once`] says it.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Locked { .. } | Self::Write { .. } | Self::Crew(_))
    }

    /// A write error on `path`.
    pub fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    /// A read error on `path`.
    pub fn read(path: &Path, reason: impl ToString) -> Self {
        Self::Read { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// The name of `known` most like `name`, if any is near enough to be meant.
pub(crate) fn nearest(near: &Option<String>) -> String {
    near.as_ref().map(|n| format!("; did you mean \"{n}\"?")).unwrap_or_default()
}

fn those(names: &[String]) -> String {
    match names {
        [] => "there is none at all".to_owned(),
        [one] => format!("there is only \"{one}\""),
        all => format!("there are \"{}\"", all.join("\", \"")),
    }
}

fn at_point(point: &str) -> String {
    if point.is_empty() { String::new() } else { format!("at {point}: ") }
}

fn full(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "; what was finished is kept, the same command goes on once there is room"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_whose_fault_it_is_and_whether_it_passes() {
        let locked = Error::Locked { dir: "d".into() };
        let metric = Error::from(truckee_measure::Error::UnknownMetric { name: "x".into(), near: None });
        let read = Error::read(Path::new("f"), "torn");
        assert_eq!((locked.fault(), locked.is_transient()), (Fault::Machine, true));
        assert_eq!((metric.fault(), metric.is_transient()), (Fault::Question, false));
        assert_eq!((read.fault(), read.is_transient()), (Fault::Machine, false));
        assert_eq!(Error::Internal(String::new()).fault(), Fault::Program);
    }
}
