//! What nodes of a Cellular IP network know of mobile hosts, and where these are. Decided from given times; no packet is sent
//! here. Not for: the way of packets, which the network sees to.

mod cache;
mod twins;

pub use cache::Cache;
pub use twins::Twins;

use crate::packet::PacketId;
use std::collections::VecDeque;
use truckee_channel::random::{Xoshiro256PlusPlus, exponential, stream};
use truckee_scenario::Scenario;
use truckee_scenario::cells::{radio, uplinks};
use truckee_scenario::model::{self, Handoff, MobileHost, Moves, NodeId};
use truckee_scenario::outcome::HostOutcome;
use truckee_tcp::{Span, Time};

/// No link, no station, no host.
pub const NONE: u32 = u32::MAX;

/// A Cellular IP network in operation. Stations are numbered as in the scenario, the gateway is 0 and they follow.
pub struct Cells<'s> {
    pub config: &'s model::Cells,
    /// Of each node the number of its station, or [`NONE`]; of its host, likewise.
    station_of: Vec<u32>,
    host_of: Vec<u32>,
    /// Of each station the link towards the gateway, and the station at its far end; the gateway has none.
    up: Vec<u32>,
    parent: Vec<usize>,
    /// Of each direction of a link whether it leads towards the gateway.
    rises: Vec<bool>,
    /// Of each direction of a link whether it is one between a host and a station, and of which host.
    radio: Vec<u32>,
    pub hosts: Vec<Host<'s>>,
    /// Route and paging cache of each host at each station, host by host.
    caches: Vec<Caches>,
    pub twins: Twins,
    /// Of each flow with a mobile host the links from its other end to the gateway; none where both are mobile.
    pub wired: Vec<Vec<u32>>,
    /// Links that one call found.
    found: Vec<u32>,
}

#[derive(Debug, Clone, Default)]
struct Caches {
    route: Cache,
    paging: Cache,
}

/// What a host is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It hears its station.
    Attached,
    /// It does, and is about to go to the station of this number.
    Leaving(usize),
    /// It is tuning in to that one.
    Tuning(usize),
}

/// A mobile host.
pub struct Host<'s> {
    pub config: &'s MobileHost,
    /// The station that it hears, or heard last.
    pub station: usize,
    pub phase: Phase,
    /// Since when it hears its station.
    pub since: Time,
    /// By station the link to it from there, and where in the table of paths the way begins that its packets take at first; or
    /// [`NONE`].
    pub links: Vec<u32>,
    pub firsts: Vec<u32>,
    /// When it is idle, if nothing happens.
    pub active_until: Time,
    /// When it sent its last packet.
    pub sent: Time,
    /// When its next update packet is looked at; other events of that kind are of before.
    pub armed: Time,
    /// Its next move, of those that are given.
    pub next: usize,
    rng: Xoshiro256PlusPlus,
    /// What is held back where its ways meet.
    pub held: Option<Hold>,
    pub book: HostOutcome,
}

/// Packets of a new way that wait until the host has come.
#[derive(Debug)]
pub struct Hold {
    /// The station where the ways meet, and the link by which the new one leaves.
    pub station: usize,
    pub link: u32,
    pub lasts: Span,
    pub packets: VecDeque<(Time, PacketId)>,
}

/// What a control packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Control {
    /// Makes or refreshes mappings of route caches, and of paging caches.
    Route,
    /// The same before a handoff: the old mappings are still those of the host's station.
    Semisoft,
    /// Those of paging caches alone.
    Paging,
}

impl Control {
    /// By its number.
    pub fn of(number: u8) -> Self {
        match number {
            0 => Self::Route,
            1 => Self::Semisoft,
            _ => Self::Paging,
        }
    }
}

impl<'s> Cells<'s> {
    /// The network of a scenario, each host known along the way from its first station to the gateway.
    pub fn of(scenario: &'s Scenario) -> Option<Self> {
        let config = scenario.cells.as_ref()?;
        let nodes = scenario.nodes.len();
        let (mut station_of, mut host_of) = (vec![NONE; nodes], vec![NONE; nodes]);
        let stations: Vec<NodeId> =
            [config.gateway].into_iter().chain(config.stations.iter().copied()).collect();
        (0..).zip(&stations).for_each(|(number, node)| station_of[*node] = number);
        (0..).zip(&config.hosts).for_each(|(number, host)| host_of[host.node] = number);
        let directions = 2 * scenario.links.len();
        let (mut rises, mut radio_of) = (vec![false; directions], vec![NONE; directions]);
        let uplinks = uplinks(config, &scenario.links);
        let up: Vec<u32> = stations.iter().map(|node| uplinks.get(node).copied().unwrap_or(NONE)).collect();
        let above = |link: &u32| match *link {
            NONE => 0,
            link => station_of[scenario.far_end(link as usize)] as usize,
        };
        let parent = up.iter().map(above).collect();
        up[1..].iter().for_each(|link| rises[*link as usize] = true);
        let mut hosts = Vec::with_capacity(config.hosts.len());
        for (number, host) in (0..).zip(&config.hosts) {
            let down = radio(&scenario.links, host.node);
            let links: Vec<u32> =
                stations.iter().map(|node| down.get(node).copied().unwrap_or(NONE)).collect();
            for link in links.iter().filter(|link| **link != NONE) {
                (radio_of[*link as usize], radio_of[(*link ^ 1) as usize]) = (number, number);
                rises[(*link ^ 1) as usize] = true;
            }
            let name = scenario.nodes[host.node].clone();
            hosts.push(Host {
                config: host,
                station: station_of[host.at] as usize,
                phase: Phase::Attached,
                since: Time::ZERO,
                firsts: vec![NONE; links.len()],
                links,
                active_until: Time::ZERO,
                sent: Time::ZERO,
                armed: Time::MAX,
                next: 0,
                rng: stream(scenario.seed, &format!("{name}/moves")),
                held: None,
                book: HostOutcome { name, ..HostOutcome::default() },
            });
        }
        let caches = vec![Caches::default(); hosts.len() * stations.len()];
        let (twins, wired) = (Twins::default(), vec![Vec::new(); scenario.flows.len()]);
        let mut cells = Self {
            config,
            station_of,
            host_of,
            up,
            parent,
            rises,
            radio: radio_of,
            hosts,
            caches,
            twins,
            wired,
            found: Vec::new(),
        };
        for host in 0..cells.hosts.len() {
            let chain = cells.chain(host);
            for link in chain {
                let station = cells.station_of[scenario.far_end(link as usize)] as usize;
                cells.on_control(host, station, link, Control::Route, Time::ZERO);
            }
        }
        Some(cells)
    }

    /// Whether an end of a flow or of traffic is a mobile host.
    pub fn concern(&self, from: NodeId, to: NodeId) -> bool {
        self.host(from).is_some() || self.host(to).is_some()
    }

    /// The station of a node.
    pub fn station(&self, node: NodeId) -> Option<usize> {
        Some(self.station_of[node]).filter(|station| *station != NONE).map(|station| station as usize)
    }

    /// The host of a node.
    pub fn host(&self, node: NodeId) -> Option<usize> {
        Some(self.host_of[node]).filter(|host| *host != NONE).map(|host| host as usize)
    }

    /// Whether a direction of a link leads towards the gateway, within the network.
    pub fn rises(&self, link: usize) -> bool {
        self.rises.get(link).is_some_and(|rises| *rises)
    }

    /// The host whose radio link it is, if it is one.
    pub fn radio_of(&self, link: usize) -> Option<usize> {
        self.radio.get(link).filter(|host| **host != NONE).map(|host| *host as usize)
    }

    /// The link towards the gateway from a station that is not the gateway.
    pub fn up(&self, station: usize) -> Option<u32> {
        Some(self.up[station]).filter(|link| *link != NONE)
    }

    /// The links from a host, by its station, to the gateway.
    pub fn chain(&self, host: usize) -> Vec<u32> {
        let host = &self.hosts[host];
        let mut chain = vec![host.links[host.station] ^ 1];
        let mut station = host.station;
        while let Some(link) = self.up(station) {
            chain.push(link);
            station = self.parent[station];
        }
        chain
    }

    /// A control packet of a host comes to a station by a link; it goes on in any case.
    pub fn on_control(&mut self, host: usize, station: usize, link: u32, control: Control, now: Time) {
        let (route_timeout, paging_timeout) = (self.config.route_timeout, self.config.paging_timeout);
        let down = link ^ 1;
        let at = self.place(host, station);
        let Caches { route, paging } = &mut self.caches[at];
        paging.update(down, now.saturating_add(paging_timeout));
        if control == Control::Paging {
            return;
        }
        if control == Control::Semisoft {
            self.found.clear();
            route.valid(now, &mut self.found);
            let meets = self.found.iter().any(|other| *other != down);
            let host = &mut self.hosts[host];
            if let Handoff::Semisoft { hold, .. } = host.config.handoff
                && meets
                && hold > Span::ZERO
                && host.held.is_none()
            {
                host.held = Some(Hold { station, link: down, lasts: hold, packets: VecDeque::new() });
            }
        }
        if control == Control::Route && self.config.replace {
            route.clear();
        }
        route.update(down, now.saturating_add(route_timeout));
    }

    /// Another packet of a host comes to a station by a link.
    pub fn on_rising(&mut self, host: usize, station: usize, link: u32, now: Time) {
        let (route_timeout, paging_timeout) = (self.config.route_timeout, self.config.paging_timeout);
        let at = self.place(host, station);
        self.caches[at].route.refresh(link ^ 1, now, now.saturating_add(route_timeout));
        self.caches[at].paging.refresh(link ^ 1, now, now.saturating_add(paging_timeout));
    }

    /// The links by which packets for a host leave a station, the newest way first: those of its route cache or, where that
    /// knows nothing, of its paging cache. To be given back by [`Self::give_back`].
    pub fn links_down(&mut self, host: usize, station: usize, now: Time) -> Vec<u32> {
        let mut links = std::mem::take(&mut self.found);
        links.clear();
        let at = self.place(host, station);
        self.caches[at].route.valid(now, &mut links);
        if links.is_empty() {
            self.caches[at].paging.valid(now, &mut links);
        }
        links
    }

    /// The list is not needed any longer.
    pub fn give_back(&mut self, links: Vec<u32>) {
        self.found = links;
    }

    fn place(&self, host: usize, station: usize) -> usize {
        host * self.up.len() + station
    }
}

impl Host<'_> {
    /// Whether it hears what its station sends over this link and what begins to reach it at `begins`.
    pub fn hears(&self, link: u32, begins: Time) -> bool {
        !matches!(self.phase, Phase::Tuning(_)) && self.links[self.station] == link && begins >= self.since
    }

    /// Whether it is idle at `now`: only its paging area is known then.
    pub fn is_idle(&self, now: Time) -> bool {
        now >= self.active_until
    }

    /// When it moves first, or next after the handoff that has just begun or ended at `now`, of moves that are not given.
    pub fn next_move(&mut self, now: Time) -> Option<Time> {
        match &self.config.moves {
            Moves::Given(moves) => moves.get(self.next).map(|(at, _)| *at),
            Moves::Round { every, poisson: false, .. } => Some(now.saturating_add(*every)),
            Moves::Round { every, poisson: true, .. } => {
                Some(now.saturating_add(exponential(&mut self.rng, *every).max(Span::ns(1))))
            }
        }
    }

    /// Where it moves now; `here`: the node of its station.
    pub fn target(&mut self, here: NodeId) -> Option<NodeId> {
        match &self.config.moves {
            Moves::Given(moves) => {
                self.next += 1;
                moves.get(self.next - 1).map(|(_, to)| *to)
            }
            Moves::Round { among, .. } => {
                let at = among.iter().position(|node| *node == here);
                among.get(at.map_or(0, |at| (at + 1) % among.len())).copied()
            }
        }
    }
}
