//! Destination-sequenced distance vector routing. Source: Perkins and Bhagwat, Highly dynamic
//! destination-sequenced distance-vector routing (DSDV) for mobile computers, SIGCOMM 1994.

mod message;

pub use message::{Advertised, Update};
