//! A shared radio medium as IEEE 802.11 has it: physical layers, propagation, medium access.

mod config;
mod error;
mod mac;
mod medium;
pub mod phy;
pub mod propagation;
mod report;

pub use config::{Aggregation, Destination, MediumConfig, NodeId, Packet, Protection, Role, StationConfig};
pub use error::ConfigError;
pub use mac::RateControl;
pub use medium::{MAX_PACKET, Medium, OfferError};
pub use propagation::{Position, Propagation};
pub use report::{Counters, Failure, FrameReport, Kind, Loss, Report};
/// Points in time and spans of it, in nanoseconds: the only place where this crate says what they are.
pub use truckee_channel::{Nanos, Time};
