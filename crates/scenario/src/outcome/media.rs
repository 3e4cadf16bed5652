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
    /// Share of the time that any frame was on the air: channel busy time, to somebody who hears all stations.
    pub busy: f64,
    /// One entry a station.
    pub stations: Vec<StationOutcome>,
    /// What its routing protocol did, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingOutcome>,
}

/// What a routing protocol did, all stations together.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct RoutingOutcome {
    /// `aodv`, `olsr` or `dsdv`.
    pub protocol: String,
    /// Packets of routing sent, each hop counted.
    pub packets: u64,
    /// Bytes of them, headers of IP and UDP included.
    pub bytes: u64,
    /// Packets of routing that a full queue or the retry limit ended; the stations' drops have none of them.
    pub packets_lost: u64,
    /// Messages in them, by name.
    pub messages: Vec<MessagesOutcome>,
    /// Packets of data that have crossed the medium.
    pub crossed: u64,
    /// Mean number of hops they took.
    pub mean_hops: f64,
    /// Changes of the next hop to a destination, all stations and destinations together.
    pub route_changes: u64,
    /// Packets of data that ended since there was no way, by the protocol's reason.
    pub lost: Vec<(&'static str, u64)>,
    /// Packets of data that wait for a route at the end of the run.
    pub held: u64,
}

impl RoutingOutcome {
    /// All reasons there are for which a packet of data may have no way.
    pub fn reasons() -> impl Iterator<Item = &'static str> {
        truckee_routing::Cause::ALL.iter().map(|cause| cause.name())
    }
}

/// Messages of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct MessagesOutcome {
    /// Of what kind: `RREQ`, …
    pub name: &'static str,
    /// How many were sent, each hop counted.
    pub messages: u64,
    /// Bytes of them, without headers of IP and UDP.
    pub bytes: u64,
}

impl MessagesOutcome {
    /// Names of all kinds that there are, of whatever protocol.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        truckee_routing::Kind::ALL.iter().map(|kind| kind.name())
    }
}

/// What happened on one medium over time. Stations are named by their places in the list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MediumSeries {
    /// Its name.
    pub medium: String,
    /// Names of the stations' nodes.
    pub stations: Vec<String>,
    /// Where each is: the first at 0, then wherever one turns, sets off or arrives; straight on in between.
    pub places: Vec<PlacePoint>,
    /// Each frame, in order of their ends.
    pub frames: Vec<FramePoint>,
    /// By whom data of flows goes on: the first at the station where it comes to the medium, then wherever the next station
    /// is another one than before.
    pub hops: Vec<HopPoint>,
}

/// By whom a flow's data goes on from a station, from then on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HopPoint {
    /// s.
    pub t: f64,
    /// Which, by its place among the run's flows.
    pub flow: u32,
    /// The station.
    pub from: u32,
    /// The next one.
    pub to: u32,
}

/// Where a station is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacePoint {
    /// s.
    pub t: f64,
    /// Which.
    pub station: u32,
    /// To the east, metres.
    pub x: f64,
    /// To the north, metres.
    pub y: f64,
}

/// A frame on the air.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FramePoint {
    /// When it began, s.
    pub t: f64,
    /// How long it was on the air, s.
    pub airtime: f64,
    /// Its sender.
    pub from: u32,
    /// Its receiver; none if it is for everyone.
    pub to: Option<u32>,
    /// `rts`, `cts`, `cts-to-self`, `data`, `aggregate`, `ack`, `block-ack` or `block-ack-request`.
    pub kind: &'static str,
    /// That of its data part, bit/s.
    pub rate: f64,
    /// Bytes with all headers.
    pub bytes: u32,
    /// Packets in it.
    pub packets: u32,
    /// Those of them that its receiver did not get.
    pub lost: u32,
    /// Why its receiver did not get it, or the last of them: `collision`, `noise`, `weak`, `receiver-sending` or
    /// `reserved`.
    pub failure: Option<&'static str>,
}

/// What one station of a medium did.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct StationOutcome {
    /// `node@medium`.
    pub name: String,
    /// Share of the time that it was sending.
    pub airtime: f64,
    /// Share of the time that the medium was busy where it is: it sent, read a frame or sensed a carrier.
    pub busy: f64,
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
