//! Why a command ends without success, and with which status.

use std::io;

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
    /// The live leg refused or failed.
    #[error(transparent)]
    Kernel(#[from] truckee_kernel::Error),
    /// The run could not finish, or a check failed.
    #[error("{0}")]
    Failed(String),
    /// Something could not be written.
    #[error("cannot write: {0}")]
    Write(io::Error),
    /// Whoever read our output has had enough: no error to the user.
    #[error("closed pipe")]
    ClosedPipe,
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
    /// 1: the run could not finish, or a check failed; 2: bad usage or bad input.
    pub fn exit_status(&self) -> u8 {
        use truckee_kernel::Error as Kernel;
        use truckee_lab::Error as Lab;
        match self {
            Self::Usage(_) | Self::Scenario(_) | Self::Kernel(Kernel::Refused { .. }) => 2,
            Self::Lab(
                Lab::Engine { .. }
                | Lab::Write { .. }
                | Lab::Read { .. }
                | Lab::Compare { .. }
                | Lab::Figure { .. }
                | Lab::Internal(_),
            ) => 1,
            // What the user named, wrote or asked for.
            Self::Lab(_) => 2,
            Self::Kernel(_) | Self::Failed(_) | Self::Write(_) | Self::ClosedPipe => 1,
        }
    }

    /// Says it on stderr.
    pub fn report(&self) {
        use std::io::Write as _;
        let text = self.to_string();
        let prefix = if text.starts_with("error:") { "" } else { "error: " };
        // Nobody is left to tell if stderr is closed.
        let _ = writeln!(io::stderr(), "{prefix}{text}");
    }
}
