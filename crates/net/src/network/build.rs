//! Building a network from its scenario: links, paths, flows, sources, and which links can be fused.

use super::aside::Aside;
use super::changes::behind;
use super::lookahead::MANY;
use super::readings::Load;
use super::tables::Tables;
use super::{END, FUSED, FlowState, Network, Readings, Source, kind};
use crate::agenda::{Agenda, Key};
use crate::air;
use crate::app::Application;
use crate::cells::Cells;
use crate::connection::{Connection, NEVER, Path, Template};
use crate::digest::Digest;
use crate::lanes::Lanes;
use crate::link::{Links, Role};
use crate::packet::Pool;
use crate::quick_start::Router;
use crate::record::{FlowBook, Recorded, TrafficBook, Verdicts};
use crate::roaming;
use crate::{Error, Options};
use std::collections::HashMap;
use std::sync::Arc;
use truckee_channel::random::stream;
use truckee_channel::{ChannelConfig, Effect, JitterDistribution};
use truckee_scenario::Scenario;
use truckee_scenario::arrivals::Process;
use truckee_scenario::model::{App, Change, Changed, Direction, Flow, FlowSettings, Limit, Queue};
use truckee_scenario::outcome::{FlowSeries, OWN_ESTIMATE};
use truckee_scenario::route::{Hop, Routes, backwards};
use truckee_tcp::Registry;
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::{Span, Time};

impl<'a> Network<'a> {
    /// Builds the network of a scenario.
    pub fn new(scenario: &'a Scenario, options: &Options, registry: &Registry) -> Result<Self, Error> {
        let mut changes = vec![false; scenario.links.len()];
        let of_links = || scenario.changes.iter().filter_map(Change::of_link);
        of_links().for_each(|change| changes[change.link] = true);
        let cells = Cells::of(scenario).map(Box::new);
        if let Some(cells) = &cells {
            (0..).zip(&mut changes).for_each(|(link, of)| *of |= cells.radio_of(2 * link).is_some());
        }
        let asked = scenario.asks_for_rates();
        let mut links = Links::of(scenario);
        for (index, (l, changes)) in scenario.links.iter().zip(changes).enumerate() {
            for (direction, index) in [(&l.forward, 2 * index), (&l.back, 2 * index + 1)] {
                let router = asked.then(|| Router::new(l.quick_start));
                let role = Role { changes, record_queue: options.series, router };
                links.add(direction, scenario.seed, role, || scenario.link_name(index));
            }
        }
        let (media, movers) = air::build(scenario, &mut links, (options.series, asked)).map_err(refused)?;
        let mut network = Self {
            scenario,
            changing: of_links().next().is_some() || cells.is_some() || roams(scenario),
            straight: false,
            policies: policies(scenario, registry)?,
            end: Time::at(scenario.duration),
            until: Time::at(scenario.duration),
            look: Time::ZERO,
            cancel: options.cancel.clone(),
            agenda: Agenda::default(),
            tables: None,
            links,
            media,
            movers,
            roamers: Vec::new(),
            travel: Default::default(),
            lanes: Lanes::default(),
            aside: Aside::empty(),
            paths: Vec::new(),
            packets: Pool::default(),
            connections: Vec::new(),
            flows: Vec::with_capacity(scenario.flows.len()),
            sources: Vec::new(),
            traffic: scenario.traffic.iter().map(|_| TrafficBook::default()).collect(),
            digest: Digest::default(),
            events: 0,
            now: Time::ZERO,
            warm: scenario.warmup.is_zero(),
            unfinished: scenario.flows.len(),
            certain: if may_stop(scenario) { Time::ZERO } else { Time::at(scenario.duration) },
            looks_ahead: false,
            drops_ahead: Vec::new(),
            load: None,
            commands: Vec::new(),
            lost: Vec::new(),
            cells,
        };
        let places = (scenario.media.as_slice(), scenario.places.as_slice());
        let routes = Routes::with_media(&scenario.nodes, &scenario.links, places, Some(scenario.seed));
        let mut routes = routes.map_err(|(medium, error)| refused(air::Refused(medium.to_owned(), error)))?;
        network.hide_radio(&mut routes);
        network.roamers = roaming::build(scenario, &mut network.media, &mut routes);
        network.add_flows(options, registry, &mut routes)?;
        network.add_traffic(&mut routes)?;
        network.straight = !network.changing && network.media.is_empty();
        network.looks_ahead = network.connections.len() >= MANY;
        network.tables = network.changing.then(|| Box::new(Tables::of(routes)));
        network.arm_roamers();
        network.arm_movers();
        network.start_routers();
        let feeders = network.find_fused();
        network.wire_up(&feeders);
        for (index, change) in scenario.changes.iter().enumerate() {
            network.agenda.push(change.at, kind::CHANGE | index as Key);
        }
        if !network.warm {
            network.agenda.push(Time::at(scenario.warmup), kind::WARM | kind::WARM_UP as Key);
        }
        network.begin_cells();
        let truth = network.connections.iter().any(|c| c.wants_truth);
        if truth || network.flows.iter().any(|f| f.readings.is_some()) {
            network.load = Some(Load::default());
            network.recount_load();
        }
        Ok(network)
    }

    pub(super) fn add_flows(
        &mut self,
        options: &Options,
        registry: &Registry,
        routes: &mut Routes<'_>,
    ) -> Result<(), Error> {
        let scenario = self.scenario;
        // Flows with the same ends share their way.
        let mut ways: HashMap<(usize, usize), (Path, Path)> = HashMap::new();
        let mut alike: Option<(&Arc<FlowSettings>, Arc<Template>)> = None;
        let connections: u64 = scenario.flows.iter().map(|flow| flow.app.connections()).sum();
        self.connections.reserve_exact(connections as usize);
        for (index, flow) in scenario.flows.iter().enumerate() {
            let host = (flow.processing > Span::ZERO).then(|| self.add_host(flow));
            let mobile = self.cells.as_ref().is_some_and(|cells| cells.concern(flow.from, flow.to));
            let own_way = host.is_some() || flow.route.is_some() || mobile;
            let known = ways.get(&(flow.from, flow.to)).filter(|_| !own_way);
            let (forward, back) = match known {
                Some(known) => *known,
                None => {
                    let ends = (flow.from, flow.to);
                    let way = match self.mobile_ways(routes, Some(index), &flow.name, ends)? {
                        Some(ways) => ways,
                        None => {
                            let route = flow.route.as_deref();
                            let hops = self.hops_between(routes, &flow.name, flow.from, flow.to, route)?;
                            let (links, back) = (self.numbers(&hops), self.numbers(&backwards(&hops)));
                            (self.add_path(&behind(host, &links)), self.add_path(&back))
                        }
                    };
                    if !own_way {
                        ways.insert((flow.from, flow.to), way);
                    }
                    way
                }
            };
            let process = match &flow.app {
                App::Segments { arrivals, size, .. } => {
                    let rng = stream(scenario.seed, &format!("{}/app", flow.name));
                    Some(Process::new(arrivals, *size, flow.start, rng))
                }
                _ => None,
            };
            let app = Application::new(flow, process);
            let template = match &alike {
                Some((settings, template)) if Arc::ptr_eq(settings, &flow.settings) => Arc::clone(template),
                _ => {
                    let template = Arc::new(Template::new(flow, registry)?);
                    alike = Some((&flow.settings, template.clone()));
                    template
                }
            };
            let first_connection = self.connections.len();
            for lane in 0..app.lanes() {
                self.connections.push(Connection {
                    ends: template.ends(),
                    flow: index as u32,
                    lane: lane as u32,
                    generation: 0,
                    forward,
                    back,
                    armed: [NEVER; 2],
                    pace_armed: NEVER,
                    plain: false,
                    open: false,
                    recorded: options.series || options.packets.is_some(),
                    tapped: options.packets,
                    awaited: [false; 2],
                    wants_truth: template.wants_truth(),
                });
            }
            let series = (options.series || options.packets.is_some())
                .then(|| FlowSeries { flow: flow.name.clone(), ..FlowSeries::default() })
                .map(|series| Box::new(Recorded { series, ..Recorded::default() }));
            let (predictors, detectors) = (flow.observe.predictors.len(), flow.observe.detectors.len());
            let watched = predictors > 0 || detectors > 0 || scenario.has_detector(index);
            let verdicts = watched.then(|| Box::new(Verdicts::of(predictors, detectors)));
            let book = FlowBook { series, verdicts, ..FlowBook::default() };
            let own = flow.sender.goes_by_estimate().then(|| OWN_ESTIMATE.to_owned());
            let names: Vec<String> =
                own.into_iter().chain(flow.observe.estimators.iter().map(|(name, _)| name.clone())).collect();
            let readings = (!names.is_empty()).then(|| Box::new(Readings::new(names, flow.observe.every)));
            self.flows.push(FlowState {
                app,
                template,
                book,
                readings,
                first_connection,
                host,
                armed: flow.start,
                order: None,
            });
            self.agenda.push(flow.start, kind::APP | index as Key);
        }
        Ok(())
    }

    /// A sending host that takes its time: a link of the flow's own, without a rate to speak of, whose jitter keeps order.
    /// It is no link of the scenario, and in no results.
    fn add_host(&mut self, flow: &Flow) -> u32 {
        let distribution = JitterDistribution::Uniform { max: flow.processing };
        let jitter = Effect::Jitter { distribution, correlation_time: Span::ZERO, keep_order: true };
        let direction = Direction {
            rate: INSTANT,
            delay: Span::ZERO,
            queue: Queue::DropTail { limit: Limit::None },
            ack_filter: false,
            after_channel: false,
            channel: ChannelConfig { effects: vec![jitter] },
        };
        let name = || format!("{}/host", flow.name);
        self.links.add(&direction, self.scenario.seed, Role::default(), name);
        (self.links.len() - 1) as u32
    }

    pub(super) fn add_traffic(&mut self, routes: &mut Routes<'_>) -> Result<(), Error> {
        let scenario = self.scenario;
        for (index, traffic) in scenario.traffic.iter().enumerate() {
            let ends = (traffic.from, traffic.to);
            let path = match self.mobile_ways(routes, None, &traffic.name, ends)? {
                Some((path, _)) => path,
                None => {
                    let route = traffic.route.as_deref();
                    let hops = self.hops_between(routes, &traffic.name, traffic.from, traffic.to, route)?;
                    self.add_path(&self.numbers(&hops))
                }
            };
            for k in 1..=traffic.sources {
                let rng = stream(scenario.seed, &format!("{}.{k}", traffic.name));
                let mut process = Process::new(&traffic.arrivals, traffic.packet, traffic.start, rng);
                let first = process.next();
                self.agenda.push(first, kind::SOURCE | self.sources.len() as Key);
                self.sources.push(Source {
                    traffic: index,
                    process,
                    path,
                    packet: traffic.packet,
                    stop: traffic.stop.unwrap_or(Time::at(scenario.duration)),
                    rate: 0.0,
                });
            }
        }
        Ok(())
    }

    pub(super) fn hops_between(
        &self,
        routes: &mut Routes<'_>,
        name: &str,
        from: usize,
        to: usize,
        via: Option<&[usize]>,
    ) -> Result<Vec<Hop>, Error> {
        let hops = match via {
            Some(nodes) => routes.along(nodes).ok(),
            None => routes.path(from, to),
        };
        hops.filter(|hops| !hops.is_empty()).ok_or_else(|| Error::NoRoute {
            flow: name.to_owned(),
            from: self.scenario.nodes[from].clone(),
            to: self.scenario.nodes[to].clone(),
        })
    }

    pub(super) fn add_path(&mut self, links: &[u32]) -> Path {
        let path = Path { start: self.paths.len() as u32, len: links.len() as u32 };
        self.paths.extend_from_slice(links);
        self.paths.push(END);
        path
    }

    /// Finds the links whose arrivals can be worked out one hop ahead: all they carry comes from one other link, which
    /// keeps its order and its properties for the whole run, and what it has accepted. Marks them in the table of paths.
    /// Returns of each link the one that feeds it, if it is such a link.
    pub(super) fn find_fused(&mut self) -> Vec<Option<u32>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Feeder {
            Unknown,
            One(u32),
            Other,
        }
        let mut feeders = vec![Feeder::Unknown; self.links.len()];
        let mut previous = END;
        for &link in &self.paths {
            if link != END {
                let feeder = &mut feeders[link as usize];
                *feeder = match *feeder {
                    _ if previous == END => Feeder::Other,
                    Feeder::Unknown => Feeder::One(previous),
                    Feeder::One(one) if one == previous => Feeder::One(one),
                    _ => Feeder::Other,
                };
            }
            previous = link;
        }
        // Where routes can change, anything may come from anywhere.
        let of_links = || self.scenario.changes.iter().filter_map(Change::of_link);
        let steady = self.cells.is_none()
            && !roams(self.scenario)
            && !of_links().any(|c| c.up.is_some() || c.delay.is_some());
        let mut changes = vec![false; self.scenario.links.len()];
        of_links().for_each(|change| changes[change.link] = true);
        // Hosts come after the scenario's links, and never change.
        let fixed = |link: usize| steady && !changes.get(link / 2).is_some_and(|changes| *changes);
        let keeps = |link: usize| fixed(link) && self.links.keeps_packets(link);
        let feeder = |(link, feeder)| match feeder {
            // A queue that decides at departures is fed when packets come, and not before.
            Feeder::One(from) if fixed(link) && !self.links.is_active(link) && keeps(from as usize) => {
                Some(from)
            }
            _ => None,
        };
        let fused: Vec<Option<u32>> = feeders.into_iter().enumerate().map(feeder).collect();
        let marked = |link: &&mut u32| fused.get(**link as usize).is_some_and(Option::is_some);
        self.paths.iter_mut().filter(marked).for_each(|link| *link |= FUSED);
        fused
    }

    /// Gives links their wires: those that are alike share one, if what they carry comes at once to the same node, or from
    /// the same link.
    fn wire_up(&mut self, feeders: &[Option<u32>]) {
        const FED: u64 = 1 << 32;
        let scenario = self.scenario;
        let group = |index: usize| {
            feeders[index].map_or_else(|| scenario.far_end(index) as u64, |from| FED | u64::from(from))
        };
        let direction = |index: usize| {
            let link = &scenario.links[index / 2];
            if index.is_multiple_of(2) { &*link.forward } else { &*link.back }
        };
        self.links.wire_up(&mut self.lanes, direction, group);
    }
}

/// Bit/s of what takes no time.
const INSTANT: u64 = 1_000_000_000_000_000;

/// A medium that cannot be.
fn refused(air::Refused(medium, error): air::Refused) -> Error {
    Error::Medium { medium, error }
}

/// Whether any node goes from access point to access point.
fn roams(scenario: &Scenario) -> bool {
    scenario.places.iter().any(|place| place.roam.is_some())
}

/// Whether a run may end before its time, because all flows are done.
fn may_stop(scenario: &Scenario) -> bool {
    let ends = |flow: &Flow| flow.stop.is_some() || !matches!(flow.app, App::Bulk);
    scenario.stop_when_done && !scenario.flows.is_empty() && scenario.flows.iter().all(ends)
}

/// Of each change the ACK policy that it brings, if it brings one.
fn policies(scenario: &Scenario, registry: &Registry) -> Result<Vec<Option<AnyAckPolicy>>, Error> {
    let of = |change: &Change| match &change.what {
        Changed::Link(_) => Ok(None),
        Changed::Receiver { flow, policy } => {
            let refused = |error| Error::Refused { flow: scenario.flows[*flow].name.clone(), error };
            AnyAckPolicy::build_among(policy, registry).map(|(policy, _)| Some(policy)).map_err(refused)
        }
    };
    scenario.changes.iter().map(of).collect()
}
