//! What stands for the store where the laboratory is built without one: there is none, and whoever wants one is told so.

use crate::cell::{Key, Record};
use crate::grid::ScenarioDigest;
use crate::vary::Axis;
use crate::{Error, Grid};
use std::convert::Infallible;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub(crate) const FORMAT: u32 = 0;

/// There is none.
#[derive(Debug)]
pub(crate) struct Store(Infallible);

/// What would be said of a sweep.
#[expect(dead_code, reason = "nobody is there to read it")]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    pub(crate) truckee: String,
    pub(crate) engine: String,
    pub(crate) live: Option<bool>,
    pub(crate) build: String,
    pub(crate) scenario: String,
    pub(crate) axes: Vec<Axis>,
    pub(crate) metrics: Vec<String>,
    pub(crate) asked: Vec<String>,
    pub(crate) commands: Vec<Vec<String>>,
    pub(crate) builds: Vec<String>,
}

/// A record that would be kept.
#[expect(dead_code, reason = "nobody is there to read it")]
pub(crate) struct Kept {
    pub(crate) key: Key,
    pub(crate) seed: u64,
    pub(crate) record: Record,
}

/// What a final table would be of.
#[expect(dead_code, reason = "nobody is there to read it")]
pub(crate) struct Table<'t> {
    pub(crate) grid: &'t Grid,
    pub(crate) keys: &'t [Key],
    pub(crate) points_of: &'t dyn Fn(&Key) -> Range<usize>,
    pub(crate) seeds: &'t dyn Fn(usize) -> Vec<u64>,
    pub(crate) replaced: usize,
    pub(crate) live: bool,
}

impl Store {
    pub(crate) fn open(
        _: &Path,
        _: &Manifest,
        _: &[ScenarioDigest],
    ) -> Result<(Self, Option<String>), Error> {
        Err(Error::Internal("nothing is kept: the laboratory was built without its store".to_owned()))
    }

    pub(crate) fn refresh(
        &mut self,
        _: &[String],
        _: &mut dyn FnMut(Key, u64, Record) -> Option<(usize, usize)>,
    ) -> Result<Vec<String>, Error> {
        match self.0 {}
    }

    pub(crate) fn keep(&mut self, _: Kept, _: (usize, usize)) -> Result<(), Error> {
        match self.0 {}
    }

    pub(crate) fn flush(&mut self, _: bool) -> Result<bool, Error> {
        match self.0 {}
    }

    pub(crate) fn claim(&self, _: &str) -> Result<Option<File>, Error> {
        match self.0 {}
    }

    pub(crate) fn finish(&mut self, _: &Table<'_>, _: &[u32]) -> Result<(PathBuf, bool), Error> {
        match self.0 {}
    }

    pub(crate) fn close(self) -> Result<(), Error> {
        match self.0 {}
    }
}
