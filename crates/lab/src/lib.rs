//! From runs to answers.
//!
//! An [`Engine`] turns a scenario into an [`Outcome`](truckee_scenario::Outcome). A [`sweep`] runs a grid of scenarios
//! under many seeds, keeps every finished run ([`store`]) and sums them up in a [`table`] with confidence intervals
//! ([`stats`]). A [`study`] is a sweep with published values and checks. [`compare`](mod@compare) holds two engines'
//! answers to the same question side by side.
//!
//! Without the feature `store` it keeps nothing on disk, and is built for WebAssembly as well.
//!
//! Not for: engines themselves (`truckee-engines`), what people look at (`truckee-look`), printing, progress bars,
//! arguments (the command does these); nothing here knows how a network or a protocol works.

mod address;
pub mod cell;
pub mod compare;
#[cfg(feature = "store")]
pub mod disk;
pub mod engine;
mod error;
pub mod grid;
#[cfg(feature = "store")]
pub mod output;
pub mod realtime;
pub mod rows;
#[cfg(feature = "store")]
pub mod store;
#[cfg(not(feature = "store"))]
#[path = "sweep/unstored.rs"]
mod store;
pub mod study;
pub mod sweep;
pub mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod validity;
pub mod vary;

pub use address::Address;
pub use cell::{Asked, Cell, Key, NoRecord, Record, Task};
pub use engine::{Engine, EngineName, Engines, Failure, Registry};
pub use error::{Error, Fault, Missing};
pub use grid::Grid;
pub use rows::{Row, Rows};
pub use sweep::{Crew, Plan, Progress, Runs, Sweep, sweep};
pub use truckee_human as human;
pub use truckee_measure::{Error as MetricError, Metric, metric, stats};
pub use truckee_scenario::Cancel;
