//! Direct drives of algorithms, as a study sees them: something with a name that gives [`Data`].
//!
//! Not for: what is driven, and how: whoever knows the algorithms says that (`truckee-engines`).

use super::Data;
use crate::Error;
use std::fmt::Debug;
use std::sync::Arc;

/// One algorithm, or several of a family, fed a list of events.
pub trait Drive: Debug + Send + Sync {
    /// What checks and figures call it.
    fn name(&self) -> &str;

    /// Feeds the events to each member.
    ///
    /// # Errors
    /// A member cannot take them.
    fn run(&self) -> Result<Data, Error>;
}

/// Who can read the `[[drive]]` tables of studies.
pub trait Drives {
    /// Those of a study's file, whose other tables are not looked at; an error in words, with its place.
    ///
    /// # Errors
    /// One cannot be understood.
    fn read(&self, study: &str) -> Result<Vec<Arc<dyn Drive>>, String>;

    /// Whether a drive may give a metric of that name.
    fn is_metric(&self, name: &str) -> bool;
}

/// Nobody: a study must have none.
impl Drives for () {
    fn read(&self, study: &str) -> Result<Vec<Arc<dyn Drive>>, String> {
        let table: toml::Table = study.parse().map_err(|e: toml::de::Error| e.to_string())?;
        match table.get("drive") {
            Some(_) => Err("a [[drive]] is there, and nobody was given who can drive algorithms".to_owned()),
            None => Ok(Vec::new()),
        }
    }

    fn is_metric(&self, _: &str) -> bool {
        false
    }
}
