//! Radio media in simulated time, and nodes that move between them. Not for: what happens to packets on the way, which is
//! `network::media`'s; and the medium itself, which is `truckee-wireless`.

use crate::link::{Links, Role};
use crate::quick_start::Router;
use crate::routers::Routers;
use std::collections::BTreeMap;
use truckee_channel::random::stream_seed;
use truckee_scenario::Scenario;
use truckee_scenario::model::{NodeId, Routing};
use truckee_scenario::outcome::{FramePoint, HopPoint, MediumSeries, PlacePoint};
use truckee_tcp::{Span, Time};
use truckee_wireless::mobility::Mobility;
use truckee_wireless::{
    ConfigError, Counters, Failure, FrameReport, Kind, Medium, MediumConfig, NodeId as Number, Position,
};

/// A medium and its stations.
#[derive(Debug)]
pub struct Air {
    pub radio: Medium,
    /// Time of the pending event, [`Time::MAX`] if there is none.
    pub armed: Time,
    /// What it has to say is being told.
    pub telling: bool,
    /// The number among all links of the way out of its first station; the others follow.
    pub first: usize,
    /// The node of each station.
    pub nodes: Vec<NodeId>,
    /// Packets that a station takes over from its queue at most.
    pub taken_over: usize,
    /// What finds packets' way over it, where a protocol does.
    pub routers: Option<Box<Routers>>,
    /// What each station had done when measuring began, and for how long the medium had been busy to it; to all of them,
    /// the last.
    past: Vec<Counters>,
    past_busy: Vec<Span>,
    /// Places, frames and hops, where they are wanted.
    series: Option<Box<MediumSeries>>,
    /// By flow and station: to whom its data went on last, where that is wanted.
    last_hops: BTreeMap<(u32, u32), u32>,
}

impl Air {
    /// What is done from now on counts.
    pub fn begin_measuring(&mut self, now: Time) {
        self.past_busy = (0..=self.nodes.len()).map(|station| self.busy_so_far(station, now)).collect();
        self.past = (0..self.nodes.len()).map(|station| self.counters(station)).collect();
        if let Some(routers) = &mut self.routers {
            routers.begin_measuring();
        }
    }

    fn counters(&self, station: usize) -> Counters {
        self.radio.counters(Number(station as u32))
    }

    /// Notes where a station is, where that is wanted.
    pub fn note_place(&mut self, now: Time, station: u32, place: &Position) {
        if let Some(series) = &mut self.series {
            series.places.push(PlacePoint { t: now.seconds(), station, x: place.x, y: place.y });
        }
    }

    /// Notes a frame, where that is wanted.
    #[cold]
    pub fn note_frame(&mut self, frame: &FrameReport) {
        let Some(series) = &mut self.series else { return };
        series.frames.push(FramePoint {
            t: frame.start.seconds(),
            airtime: frame.airtime.seconds(),
            from: frame.from.0,
            to: frame.to.map(|to| to.0),
            kind: name_of_kind(frame.kind),
            rate: frame.rate.mbit() * 1e6,
            bytes: frame.bytes,
            packets: frame.packets,
            lost: frame.lost,
            failure: frame.failure.map(name_of_failure),
        });
    }

    /// Whether what happens over time is wanted.
    pub fn is_recorded(&self) -> bool {
        self.series.is_some()
    }

    /// Notes to whom a flow's data goes on from a station, where that is wanted and another one than before.
    pub fn note_hop(&mut self, now: Time, flow: u32, (from, to): (u32, u32)) {
        let Some(series) = &mut self.series else { return };
        if self.last_hops.insert((flow, from), to) != Some(to) {
            series.hops.push(HopPoint { t: now.seconds(), flow, from, to });
        }
    }

    /// What was noted up to the end.
    pub fn take_series(&mut self, end: Time) -> Option<MediumSeries> {
        for station in 0..self.nodes.len() as u32 {
            if let Some(place) = self.radio.position(Number(station)) {
                self.note_place(end, station, &place);
            }
        }
        self.series.take().map(|series| *series)
    }

    /// For how long the medium has been busy to a station since measuring began; behind the last station: for how long
    /// anybody has been sending.
    pub fn busy(&self, station: usize, now: Time) -> Span {
        self.busy_so_far(station, now) - self.past_busy[station]
    }

    fn busy_so_far(&self, station: usize, now: Time) -> Span {
        if station == self.nodes.len() {
            return self.radio.busy(now);
        }
        self.radio.busy_at(Number(station as u32), now)
    }

    /// What a station has done since measuring began.
    pub fn measured(&self, station: usize) -> Counters {
        let (mut all, past) = (self.counters(station), self.past[station]);
        all.airtime -= past.airtime;
        all.frames -= past.frames;
        all.attempts -= past.attempts;
        all.duplicates -= past.duplicates;
        all.failures.iter_mut().zip(past.failures).for_each(|(count, past)| *count -= past);
        all
    }
}

fn name_of_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Rts => "rts",
        Kind::Cts => "cts",
        Kind::CtsToSelf => "cts-to-self",
        Kind::Data => "data",
        Kind::Aggregate => "aggregate",
        Kind::Ack => "ack",
        Kind::BlockAck => "block-ack",
        Kind::BlockAckRequest => "block-ack-request",
    }
}

fn name_of_failure(failure: Failure) -> &'static str {
    match failure {
        Failure::Collision => "collision",
        Failure::Noise => "noise",
        Failure::Weak => "weak",
        Failure::Transmitting => "receiver-sending",
        Failure::Reserved => "reserved",
    }
}

/// A node that moves.
#[derive(Debug)]
pub struct Mover {
    pub node: NodeId,
    pub mobility: Mobility,
    /// When the leg that was noted last began; `None`: none was.
    pub noted: Option<Time>,
    /// Its stations: medium and number.
    pub stations: Vec<(usize, Number)>,
}

/// A medium that cannot be, by its name, and why not.
#[derive(Debug)]
pub struct Refused(pub String, pub ConfigError);

/// The media of a scenario, and its nodes that move. Stations have their ways out among the links. `recorded`: whether time
/// series are wanted; `asked`: whether any flow asks for rates.
pub fn build(
    scenario: &Scenario,
    links: &mut Links,
    (recorded, asked): (bool, bool),
) -> Result<(Vec<Air>, Vec<Mover>), Refused> {
    let mut media = Vec::with_capacity(scenario.media.len());
    for (index, medium) in scenario.media.iter().enumerate() {
        let refused = |error| Refused(medium.name.clone(), error);
        let places =
            medium.places(&scenario.nodes, &scenario.places, Some(scenario.seed)).map_err(refused)?;
        let places: Vec<Position> = places.into_iter().map(Option::unwrap_or_default).collect();
        let config = MediumConfig { frames: recorded, ..medium.config.clone() };
        let seed = stream_seed(scenario.seed, &format!("{}/medium", medium.name));
        let radio = Medium::new(&config, &medium.station_configs(&places), seed).map_err(refused)?;
        let first = links.len();
        for station in 0..medium.stations.len() {
            let role = Role {
                record_queue: recorded,
                // What a medium has left nobody knows: it grants nothing.
                router: asked.then(|| Router::new(false)),
                ..Role::default()
            };
            let name = scenario.station_name(index, station);
            links.add_station(&medium.queue, medium.nominal_rate(), scenario.seed, role, &name);
        }
        let nodes: Vec<NodeId> = medium.stations.iter().map(|station| station.node).collect();
        let routers = match &medium.routing {
            Routing::Static => None,
            Routing::Protocol(config) => {
                let seed = stream_seed(scenario.seed, &format!("{}/routing", medium.name));
                let routers = Routers::new(config, nodes.len(), seed).map_err(|error| {
                    let place = format!("routing {}", error.place);
                    refused(ConfigError { place, value: error.value, expected: error.expected })
                })?;
                Some(Box::new(routers))
            }
        };
        let past = vec![Counters::default(); nodes.len()];
        let past_busy = vec![Span::ZERO; nodes.len() + 1];
        let taken_over = medium.taken_over();
        let series = recorded.then(|| {
            let stations = nodes.iter().map(|node| scenario.nodes[*node].clone()).collect();
            Box::new(MediumSeries { medium: medium.name.clone(), stations, ..MediumSeries::default() })
        });
        let mut air = Air {
            radio,
            armed: Time::MAX,
            telling: false,
            first,
            nodes,
            taken_over,
            routers,
            past,
            past_busy,
            series,
            last_hops: BTreeMap::new(),
        };
        for (station, place) in (0..).zip(&places) {
            air.note_place(Time::ZERO, station, place);
        }
        media.push(air);
    }
    let mut movers = Vec::new();
    for place in scenario.places.iter().filter(|place| place.movement.moves()) {
        let stations: Vec<(usize, Number)> = scenario
            .media
            .iter()
            .enumerate()
            .filter_map(|(index, medium)| Some((index, Number(medium.station_of(place.node)? as u32))))
            .collect();
        let Some((medium, _)) = stations.first() else { continue };
        let mobility = place.movement.mobility(scenario.seed, &scenario.nodes[place.node]);
        let mobility = mobility.map_err(|error| Refused(scenario.media[*medium].name.clone(), error))?;
        movers.push(Mover { node: place.node, mobility, noted: None, stations });
    }
    Ok((media, movers))
}

/// Medium and station of a way out, if that is what a link is.
pub fn station(media: &[Air], link: usize) -> Option<(usize, usize)> {
    media.iter().enumerate().find_map(|(medium, air)| {
        let station = link.checked_sub(air.first)?;
        (station < air.nodes.len()).then_some((medium, station))
    })
}

/// What results call a hop.
pub fn hop_name(scenario: &Scenario, media: &[Air], link: usize) -> String {
    match station(media, link) {
        Some((medium, station)) => scenario.station_name(medium, station),
        None => scenario.link_name(link),
    }
}
