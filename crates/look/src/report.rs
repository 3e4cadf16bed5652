//! Pages worth looking at: one self-contained HTML file of what a run, a sweep, a study or a comparison left on disk.
//!
//! A page holds its tables as HTML and its figures as numbers, which scripts within the page hand to uPlot; nothing is
//! fetched from anywhere. `write` looks at a directory and knows what it is of; [`of_run`] has the
//! same of a run in memory, for a page that makes runs itself.
//!
//! Not for: static figures (see [`crate::figure`]), and nothing is measured here.

mod air;
#[cfg(feature = "pages")]
pub mod capture;
#[cfg(feature = "pages")]
mod compare;
mod embed;
mod flow;
mod model;
#[cfg(feature = "pages")]
mod pages;
mod points;
#[cfg(feature = "pages")]
mod read;
#[cfg(feature = "pages")]
mod render;
mod run;
#[cfg(feature = "pages")]
mod several;
#[cfg(feature = "pages")]
pub(crate) mod study;
#[cfg(feature = "pages")]
mod sweep;
mod thin;
#[cfg(feature = "pages")]
mod trace;
mod value;

#[cfg(feature = "pages")]
pub use pages::write;
#[cfg(feature = "pages")]
pub use render::{NAME, SCRIPTS, STYLES};

use crate::Error;
use serde::Serialize;
use truckee_scenario::Outcome;

/// A run's page, for scripts that make one of it while it is open.
#[derive(Serialize)]
struct Live<'a> {
    /// Sections with tables and, without their numbers, figures.
    page: &'a model::Page,
    /// The figures' numbers, as a page has them within.
    data: embed::Embedded<'a>,
}

/// What the page of a run says and shows, as JSON: the same that `write` makes of the run on disk.
///
/// # Errors
/// It cannot be encoded, which is a fault of ours.
pub fn of_run(outcome: &Outcome) -> Result<String, Error> {
    let result = serde_json::to_value(outcome).map_err(|e| encoding(&e))?;
    live(&run::page(&result, &points::Recorded::of(outcome)))
}

/// The same of a run on disk: of what it wrote into `dir`.
///
/// # Errors
/// It cannot be read.
#[cfg(feature = "pages")]
pub fn of_recorded(dir: &std::path::Path) -> Result<String, Error> {
    live(&run::page(&read::json(&dir.join("result.json"))?, &read::recorded(dir)?))
}

fn live(page: &model::Page) -> Result<String, Error> {
    serde_json::to_string(&Live { page, data: embed::Embedded::new(page) }).map_err(|e| encoding(&e))
}

fn encoding(error: &serde_json::Error) -> Error {
    Error::Internal(format!("cannot encode the page: {error}"))
}
