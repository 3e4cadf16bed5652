//! What people look at: [`figure`]s as SVG, and [`report`] pages of what runs, sweeps, studies and comparisons left on disk.
//!
//! Not for: measuring anything: numbers come from the laboratory (`truckee-lab`) as they are.

#[cfg(feature = "pages")]
pub mod capture;
mod error;
#[cfg(feature = "pages")]
pub mod figure;
pub mod report;
#[cfg(feature = "pages")]
pub mod study;

pub use error::Error;
