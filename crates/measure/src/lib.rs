//! One number out of an outcome, by its name ([`metric`]), and means of such numbers with intervals ([`stats`]).
//!
//! Not for: runs, which the laboratory (`truckee-lab`) makes and keeps; how numbers read (`truckee-human`).

mod error;
pub mod metric;
pub mod stats;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use error::{Error, closest};
pub use metric::Metric;
