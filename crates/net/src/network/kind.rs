//! Kinds of components in an event's key: its upper four bits. At equal times the lower kind goes first.

use crate::agenda::Key;

pub const SHIFT: u32 = 60;
pub const CHANGE: Key = 0 << SHIFT;
/// The end of the warm-up, and regular readings.
pub const WARM: Key = 1 << SHIFT;
/// Index of the end of the warm-up among these; flow k reads its estimates as number k + 1.
pub const WARM_UP: usize = 0;
/// A queue that decides when packets leave it: what leaves makes room for what comes at the same time.
pub const SERVE: Key = 2 << SHIFT;
/// An arrival: the link in the middle, the lane in the lower [`LANE_BITS`].
pub const LINK: Key = 3 << SHIFT;
pub const APP: Key = 4 << SHIFT;
pub const SENDER: Key = 5 << SHIFT;
pub const RECEIVER: Key = 6 << SHIFT;
pub const SOURCE: Key = 7 << SHIFT;
pub const PACE: Key = 8 << SHIFT;
/// A medium has something to do, or, with [`MOVE`], a node is elsewhere, or, with [`ROAM`], at another access point.
pub const AIR: Key = 9 << SHIFT;
/// A router's timer may have run out.
pub const ROUTER: Key = 10 << SHIFT;
/// A mobile host.
pub const CELL: Key = 11 << SHIFT;
pub const MASK: Key = 15 << SHIFT;

/// Marks the number of a node that moves, in place of that of a medium.
pub const MOVE: Key = 1 << 40;
/// Marks the number of a node that roams, of which the lowest bit says what happens to it.
pub const ROAM: Key = 1 << 41;

const LANE_BITS: u32 = 28;
/// In place of a lane: the link has a transit of its own.
pub const NO_LANE: usize = (1 << LANE_BITS) - 1;

/// The key of the next arrival over a link, of the packets in a lane.
#[inline(always)]
pub fn arrival(link: u32, lane: usize) -> Key {
    LINK | Key::from(link) << LANE_BITS | lane as Key
}

/// The lane, of the index of an arrival.
#[inline(always)]
pub fn lane(index: usize) -> usize {
    index & NO_LANE
}

/// The link, of the index of an arrival.
#[inline(always)]
pub fn link(index: usize) -> usize {
    index >> LANE_BITS
}
