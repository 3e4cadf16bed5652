//! A shared radio medium as IEEE 802.11 has it: physical layers, propagation, medium access; a pure state machine, driven
//! by given times.
//!
//! A link promises a packet's departure when it accepts it. A medium cannot: when a packet leaves, and whether it
//! arrives, depends on what everybody else does meanwhile. So it is asked when something happens next, is let do it, and
//! is asked what there is to say of it:
//!
//! ```
//! use truckee_wireless::phy::{Preamble, Standard};
//! use truckee_wireless::{
//!     Destination, Medium, MediumConfig, NodeId, Packet, Position, RateControl, Report, StationConfig, Time,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = MediumConfig::of(Standard::B(Preamble::Long));
//! let stations = [0.0, 80.0].map(|x| StationConfig::at(Position::on_ground(x, 0.0), RateControl::Arf));
//! let mut medium = Medium::new(&config, &stations, 1)?;
//! medium.offer(NodeId(0), Packet { id: 7, bytes: 1_500, to: Destination::Node(NodeId(1)) })?;
//! let mut delivered = None;
//! while medium.next() < Time::MAX {
//!     medium.advance(medium.next());
//!     while let Some(report) = medium.report() {
//!         if let Report::Delivered { at, packet: 7, .. } = report {
//!             delivered = Some(at);
//!         }
//!     }
//! }
//! // The medium had been idle for less than a DIFS, 50 µs; 192 µs of preamble and header, 12,288 bits at 11 Mbit/s.
//! assert_eq!(delivered, Some(50_000 + 192_000 + 1_118_000));
//! # Ok(())
//! # }
//! ```
//!
//! # What it is
//!
//! - [`phy`]: 802.11b, a, g and n (one spatial stream, 20 MHz): airtimes to the nanosecond, interframe spaces, error rates
//!   by signal-to-interference-and-noise ratio. IEEE 802.11-2016; Miller 2003; Pei and Henderson 2009, 2010.
//! - [`propagation`]: free space, two-ray ground, log-distance; shadowing and Rayleigh or Rice fading in blocks of time.
//! - [`mobility`]: random waypoint with a stationary start, trajectories, traces of ns-2's `setdest`.
//! - Medium access: DCF (clause 10.3) with physical and virtual carrier sense, backoff, DIFS and EIFS, RTS and CTS,
//!   acknowledgements, retry limits, duplicates filtered; A-MPDU under immediate block acknowledgement (9.7, 10.24);
//!   protection of OFDM in 2.4 GHz; fixed rates, ARF, and one after Minstrel; ad hoc and infrastructure mode.
//! - Receivers: everything that arrives adds up. A frame is read if it is strong enough at its beginning; later ones
//!   disturb it for as long as they overlap, or capture the receiver. Hidden and exposed stations follow from that.
//! - Every frame that is not received has its [`Failure`], every packet that is given up its [`Loss`], by the packet's
//!   number.
//!
//! # What it is not
//!
//! - Routing, ARP, queues other than a plain FIFO: who has them offers packets one by one ([`Report::Room`]).
//! - Management: there are no beacons, scans or associations on the air. [`Medium::associate`] takes no time.
//! - EDCA with several access categories, power save, fragmentation, A-MSDU, more than one channel or spatial stream.
//! - Cells that mix standards: stations of 802.11b in a cell of 802.11g are there as protection, and not as stations.
//!
//! # Approximations
//!
//! - A frame takes the same time to all stations ([`MediumConfig::delay`]).
//! - A frame's power and what varies about it are those at its beginning.
//! - Carrier sense hears the sum of all powers, and begins and ends with them: what the standard allows to notice a frame
//!   is part of the slot. Who starts in the slot in which somebody else does collides.
//! - A frame that was lost before its header ended was not noticed: no EIFS follows.
//! - An answer counts as begun when it begins to arrive.
//! - Interference is noise; errors of bits are independent of each other between bursts of it.
//!
//! Same configuration, same calls, same seed: the same reports, on any machine. Each station has random streams of its
//! own, for its backoff and for its reception. A station that is added out of reach changes nothing.

mod config;
mod error;
mod mac;
mod medium;
pub mod mobility;
pub mod phy;
pub mod propagation;
mod report;

pub use config::{Aggregation, Destination, MediumConfig, NodeId, Packet, Protection, Role, StationConfig};
pub use error::ConfigError;
pub use mac::RateControl;
pub use medium::{MAX_PACKET, Medium, OfferError};
pub use propagation::{Position, Propagation};
pub use report::{Counters, Failure, FrameReport, Kind, Loss, Report};
/// A point in time: nanoseconds since the start. The only place, with the next, where this crate says what it is.
pub type Time = u64;
/// A span of time in nanoseconds.
pub type Nanos = u64;
