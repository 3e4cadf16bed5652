//! Medium access: the distributed coordination function of IEEE 802.11-2016, clause 10.3, as a station runs it. Not for:
//! what is on the air and who hears it, which the medium knows.
//!
//! A station is fed what its radio tells (busy, idle, a frame read, a frame that could not be read, its own frame sent)
//! and asked at its deadline what to send.

mod contention;
mod exchange;
mod frame;
mod plan;
mod rate_control;
mod reorder;
mod station;

pub(crate) use exchange::in_aggregate;
pub(crate) use frame::{EVERYONE, Frame, Pending};
pub use rate_control::RateControl;
pub(crate) use reorder::Inbox;
pub(crate) use station::{Rules, Station};
