//! Where this build has no live leg.

use super::{Counts, Error, Policy, Request};

/// Shapes ACKs where this build has no live leg: not at all.
#[derive(Debug)]
pub struct Shaper(std::convert::Infallible);

impl Shaper {
    /// There is no live leg to start.
    pub fn start(_: &Request) -> Result<Self, Error> {
        Err(Error::NotBuilt)
    }
    /// Cannot be asked for.
    pub fn change(&self, _: usize, _: &Policy) -> Result<(), Error> {
        match self.0 {}
    }
    /// Cannot be asked for.
    pub fn counts(&self) -> Result<Counts, Error> {
        match self.0 {}
    }
    /// Cannot be asked for.
    pub fn check(&self) -> Result<(), Error> {
        match self.0 {}
    }
    /// Cannot be asked for.
    pub fn devices(&self) -> Vec<String> {
        match self.0 {}
    }
    /// Cannot be asked for.
    pub fn stop(self) -> Result<Counts, Error> {
        match self.0 {}
    }
}
