//! A shared radio medium as IEEE 802.11 has it: physical layers, propagation, medium access.

mod error;
pub mod phy;
pub mod propagation;

pub use error::ConfigError;
/// Points in time and spans of it, in nanoseconds: the only place where this crate says what they are.
pub use truckee_channel::{Nanos, Time};
