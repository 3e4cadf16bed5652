//! Physical layers of IEEE 802.11: how long a frame is on the air, how often it is destroyed, and the times that medium
//! access goes by. Not for: who may send when (medium access), how strong a frame arrives (propagation).
//!
//! Clauses and tables are those of IEEE 802.11-2016.

mod airtime;
mod error_rate;
mod rate;
mod timing;

pub use airtime::{Band, GuardInterval, Phy, Preamble};
pub use error_rate::{ErrorTables, bit_error_rate, needed_ratio};
pub use rate::{Dsss, Mcs, Modulation, Ofdm, Rate};
pub use timing::{Slot, Standard, Timing};

/// What a frame exchange consists of, in bytes with the FCS (9.3).
pub mod bytes {
    /// Acknowledgement (9.3.1.4).
    pub const ACK: u32 = 14;
    /// Clear to send (9.3.1.3).
    pub const CTS: u32 = 14;
    /// Request to send (9.3.1.2).
    pub const RTS: u32 = 20;
    /// Compressed block acknowledgement (9.3.1.9.3).
    pub const BLOCK_ACK: u32 = 32;
    /// Compressed block acknowledgement request (9.3.1.8.3).
    pub const BLOCK_ACK_REQUEST: u32 = 24;
    /// Header (three addresses) and FCS of a data frame (9.3.2.1).
    pub const DATA: u32 = 28;
    /// The same of a QoS data frame, which high throughput uses.
    pub const QOS_DATA: u32 = 30;
    /// LLC and SNAP header of an IP packet (RFC 1042).
    pub const SNAP: u32 = 8;
    /// Delimiter that precedes each frame of an A-MPDU (9.7.1).
    pub const DELIMITER: u32 = 4;
}
