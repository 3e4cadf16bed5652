//! Why a command ends without success, and with which status.

use std::io;
use std::path::PathBuf;

/// A command's end without success.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A scenario cannot be used; carries its own `error:` and places.
    #[error(transparent)]
    Scenario(#[from] truckee_scenario::Errors),
    /// The laboratory refused or failed.
    #[error(transparent)]
    Lab(#[from] truckee_lab::Error),
    /// There is nothing to look at.
    #[error(transparent)]
    Look(#[from] truckee_look::Error),
    /// A capture cannot be read or written.
    #[error(transparent)]
    Capture(#[from] truckee_capture::Error),
    /// The live leg refused or failed.
    #[error(transparent)]
    Kernel(#[from] truckee_kernel::Error),
    /// A script cannot be used, or what it is held against is gone.
    #[error(transparent)]
    Drill(#[from] truckee_drill::Error),
    /// A repository's history cannot be asked.
    #[error("the history of {}: {reason}", .path.display())]
    History {
        /// What it was to be the history of.
        path: PathBuf,
        /// Why it is not there.
        reason: String,
    },
    /// The run could not finish, or a check failed.
    #[error("{0}")]
    Failed(String),
    /// Nothing failed, and nothing could be decided.
    #[error("{0}")]
    Undecided(String),
    /// A program that we ran ended with this status, which is passed on.
    #[error("the program ended with status {0}")]
    Status(u8),
    /// Something could not be written.
    #[error("cannot write: {0}")]
    Write(io::Error),
    /// Whoever read our output has had enough: no error to the user.
    #[error("closed pipe")]
    ClosedPipe,
}

impl From<truckee_scenario::Error> for Error {
    fn from(error: truckee_scenario::Error) -> Self {
        Self::Scenario(error.into())
    }
}

impl From<truckee_lab::MetricError> for Error {
    fn from(error: truckee_lab::MetricError) -> Self {
        truckee_lab::Error::from(error).into()
    }
}

impl From<truckee_kernel::shaped::Unwanted> for Error {
    fn from(unwanted: truckee_kernel::shaped::Unwanted) -> Self {
        use truckee_kernel::shaped::Unwanted;
        match unwanted {
            Unwanted::Text(errors) => errors.into(),
            Unwanted::Policy(error) => error.into(),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::ClosedPipe } else { Self::Write(error) }
    }
}

impl From<csv::Error> for Error {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => error.into(),
            other => Self::Failed(format!("cannot write CSV: {other:?}")),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        match error.io_error_kind() {
            Some(kind) => io::Error::from(kind).into(),
            None => Self::Failed(format!("cannot write JSON: {error}")),
        }
    }
}

impl Error {
    /// One rule for all commands. 2: to be mended in the command, or in the file that it names. 1: the machine cannot, the
    /// run could not finish, or a check failed. 3: nothing could be decided. Or what a program that we ran says.
    pub fn exit_status(&self) -> u8 {
        use truckee_kernel::Error as Kernel;
        use truckee_look::Error as Look;
        match self {
            Self::Capture(truckee_capture::Error::Write(_)) => 1,
            Self::Capture(_) => 2,
            Self::Drill(truckee_drill::Error::Host(_) | truckee_drill::Error::Ended { .. }) => 1,
            Self::Drill(_) => 2,
            Self::Usage(_) | Self::Scenario(_) | Self::Kernel(Kernel::Refused { .. }) => 2,
            Self::Look(Look::NoReport { .. }) => 2,
            Self::Look(Look::Lab(error)) => lab_status(error),
            Self::Look(_) => 1,
            Self::Lab(error) => lab_status(error),
            Self::Undecided(_) => 3,
            Self::Status(status) | Self::Kernel(Kernel::NotRun { status, .. }) => *status,
            Self::Kernel(_) | Self::History { .. } | Self::Failed(_) | Self::Write(_) | Self::ClosedPipe => 1,
        }
    }

    /// Says it on stderr.
    pub fn report(&self) {
        use std::io::Write as _;
        if matches!(self, Self::Status(_)) {
            return; // the program has said it
        }
        let text = self.to_string();
        let prefix = if text.starts_with("error:") { "" } else { "error: " };
        // Nobody is left to tell if stderr is closed.
        let _ = writeln!(io::stderr(), "{prefix}{text}");
    }
}

/// The same of what the laboratory says.
fn lab_status(error: &truckee_lab::Error) -> u8 {
    match error.fault() {
        truckee_lab::Fault::Question => 2,
        truckee_lab::Fault::Machine | truckee_lab::Fault::Program => 1,
    }
}
