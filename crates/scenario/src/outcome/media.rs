//! What happened on media that stations share.

use super::Drops;
use serde::Serialize;

/// What happened on one medium.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct MediumOutcome {
    /// Its name.
    pub name: String,
    /// Share of the time that frames were on the air, each counted for itself: above 1 where stations send at once.
    pub airtime: f64,
    /// One entry a station.
    pub stations: Vec<StationOutcome>,
}

/// What one station of a medium did.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct StationOutcome {
    /// `node@medium`.
    pub name: String,
    /// Share of the time that it was sending.
    pub airtime: f64,
    /// Packets that came to its queue and were accepted.
    pub packets: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Frames sent, answers and reservations among them.
    pub frames: u64,
    /// Attempts to send a packet or to reserve the medium for it.
    pub attempts: u64,
    /// Attempts, of frames or of packets in them, that whom they were for did not receive since somebody else's frame was
    /// on the air.
    pub collisions: u64,
    /// The same, destroyed by noise.
    pub noise: u64,
    /// The same, too weak to be noticed.
    pub weak: u64,
    /// The same, the receiver having been sending.
    pub receiver_sending: u64,
    /// Requests that were not answered, the medium being reserved for others at the receiver.
    pub reserved: u64,
    /// Packets that came again and were not handed up.
    pub duplicates: u64,
    /// Packets that ended here: in the queue, or at the retry limit, by what ended the last attempt.
    pub drops: Drops,
    /// Packets marked by ECN.
    pub ecn_marks: u64,
    /// Mean number of packets waiting in the queue, those the station has taken over not counted.
    pub mean_queue_packets: f64,
    /// Mean time a packet waited there, s.
    pub mean_wait_s: f64,
}
