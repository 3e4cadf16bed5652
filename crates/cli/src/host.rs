//! What the command can only do as a part of the Python package, which brings what it takes.

use std::path::Path;
use truckee_lab::{Crew, Error};

/// The program that the command is a part of.
pub trait Host {
    /// Those who run cells for the scheduler at this address.
    ///
    /// # Errors
    /// There is none, or no way to speak to it.
    fn crew(&self, scheduler: &str) -> Result<Box<dyn Crew>, Error>;

    /// A folder that is the same as what is at this URL.
    ///
    /// # Errors
    /// There is no way to it.
    fn mirror(&self, url: &str) -> Result<Box<dyn Mirror>, Error>;
}

/// A folder that is kept the same as what is somewhere else.
pub trait Mirror {
    /// Where it is.
    fn folder(&self) -> &Path;

    /// Waits until there is there what is here, and ends it.
    ///
    /// # Errors
    /// It cannot be written there; it is here still.
    fn close(&mut self) -> Result<(), Error>;
}

/// A program that is the command and nothing else.
pub struct Alone;

impl Alone {
    fn lacks<T>(what: &str) -> Result<T, Error> {
        Err(Error::Crew(format!(
            "{what} needs the command of the Python package, which this one is not: pip install 'truckee[dask]'"
        )))
    }
}

impl Host for Alone {
    fn crew(&self, _: &str) -> Result<Box<dyn Crew>, Error> {
        Self::lacks("--scheduler")
    }

    fn mirror(&self, url: &str) -> Result<Box<dyn Mirror>, Error> {
        Self::lacks(&format!("--out {url}"))
    }
}
