//! What the emulator is made from: a scenario's lanes, the ways through them, its cross traffic and its changes.

use super::lane::Lane;
use super::refusals;
use crate::Error;
use truckee_channel::{Time, stream};
use truckee_scenario::Scenario;
use truckee_scenario::arrivals::Process;
use truckee_scenario::model::{Change, LinkChange, NodeId};
use truckee_scenario::route::{Hop, Routes};

/// Ends a way.
pub(super) const END: u32 = u32::MAX;

/// How packets find their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wiring {
    /// By the addresses of the run's nodes.
    ByAddress,
    /// What one of two ends sends goes to the other, whatever it is.
    Pair,
}

/// A flow as far as its packets have to be known.
#[derive(Debug)]
pub(super) struct FlowPlan {
    pub from: NodeId,
    pub to: NodeId,
    /// Starts of its ways.
    pub forward: u32,
    pub back: u32,
}

/// A source of cross traffic.
#[derive(Debug)]
pub(super) struct Source {
    pub traffic: u32,
    pub process: Process,
    pub way: u32,
    pub packet: u32,
    pub stop: Time,
}

/// Everything that is known before the first packet.
#[derive(Debug)]
pub struct Plan {
    pub(super) wiring: Wiring,
    pub(super) lanes: Vec<Lane>,
    /// Lane after lane, each way closed by [`END`].
    pub(super) ways: Vec<u32>,
    pub(super) endpoints: Vec<NodeId>,
    /// Start of the way from the endpoint of one position to that of another, row by row; [`END`]: there is none.
    pub(super) between: Vec<u32>,
    pub(super) flows: Vec<FlowPlan>,
    pub(super) sources: Vec<Source>,
    pub(super) traffic: Vec<String>,
    pub(super) changes: Vec<(Time, LinkChange)>,
    /// From the end of the warm-up to the end of the run.
    pub(super) measured: (Time, Time),
}

impl Plan {
    /// The network of a scenario between the nodes that have flows.
    ///
    /// # Errors
    /// [`Error::Refused`] where the scenario asks for what the emulator does not do.
    pub fn of(scenario: &Scenario) -> Result<Self, Error> {
        let scenario = &*scenario.drawn();
        refusals::check(scenario)?;
        let mut plan = Self::empty(scenario, Wiring::ByAddress);
        plan.endpoints = scenario.flows.iter().flat_map(|f| [f.from, f.to]).collect();
        plan.endpoints.sort_unstable();
        plan.endpoints.dedup();
        let mut routes = Routes::new(&scenario.nodes, &scenario.links);
        plan.add_flows(scenario, &mut routes)?;
        plan.add_traffic(scenario, &mut routes)?;
        plan.join_endpoints(&mut routes);
        Ok(plan)
    }

    /// One link of a scenario on its own, between its two ends: whatever enters at one leaves at the other. The
    /// scenario's flows and traffic are left out, the changes of this link obeyed.
    ///
    /// # Errors
    /// [`Error::Refused`] as above.
    pub fn of_link(scenario: &Scenario, link: usize) -> Result<Self, Error> {
        let mut alone = scenario.drawn().into_owned();
        (alone.flows, alone.traffic) = (Vec::new(), Vec::new());
        let Some(one) = scenario.links.get(link) else {
            let why = format!("there are {} links", scenario.links.len());
            return Err(Error::Refused { place: format!("link {link}"), why });
        };
        refusals::check_link(one, &scenario.nodes)?;
        alone.links = vec![one.clone()];
        alone.changes.retain_mut(|change| match &mut change.what {
            truckee_scenario::model::Changed::Link(of) if of.link == link => {
                of.link = 0;
                true
            }
            _ => false,
        });
        let mut plan = Self::empty(&alone, Wiring::Pair);
        plan.endpoints = vec![one.first, one.second];
        let (there, back) = (plan.add_way(&[0]), plan.add_way(&[1]));
        plan.between = vec![END, there, back, END];
        Ok(plan)
    }

    fn empty(scenario: &Scenario, wiring: Wiring) -> Self {
        let measured = (Time::at(scenario.warmup), Time::at(scenario.duration));
        let changes = scenario.changes.iter().filter_map(|c: &Change| Some((c.at, c.of_link()?.clone())));
        Self {
            wiring,
            lanes: lanes(scenario, measured),
            ways: Vec::new(),
            endpoints: Vec::new(),
            between: Vec::new(),
            flows: Vec::new(),
            sources: Vec::new(),
            traffic: scenario.traffic.iter().map(|t| t.name.clone()).collect(),
            changes: changes.collect(),
            measured,
        }
    }

    /// The nodes that need a namespace and a [`crate::Tun`] in it.
    pub fn endpoints(&self) -> &[NodeId] {
        &self.endpoints
    }

    fn add_flows(&mut self, scenario: &Scenario, routes: &mut Routes<'_>) -> Result<(), Error> {
        for flow in &scenario.flows {
            let hops = way(routes, &format!("flow \"{}\"", flow.name), (flow.from, flow.to), &flow.route)?;
            // ACKs go back the same way.
            let back: Vec<u32> = hops.iter().rev().map(|lane| lane ^ 1).collect();
            let (forward, back) = (self.add_way(&hops), self.add_way(&back));
            self.flows.push(FlowPlan { from: flow.from, to: flow.to, forward, back });
        }
        Ok(())
    }

    fn add_traffic(&mut self, scenario: &Scenario, routes: &mut Routes<'_>) -> Result<(), Error> {
        for (index, traffic) in scenario.traffic.iter().enumerate() {
            let place = format!("traffic \"{}\"", traffic.name);
            let hops = way(routes, &place, (traffic.from, traffic.to), &traffic.route)?;
            let way = self.add_way(&hops);
            for k in 1..=traffic.sources {
                let rng = stream(scenario.seed, &format!("{}.{k}", traffic.name));
                self.sources.push(Source {
                    traffic: index as u32,
                    process: Process::new(&traffic.arrivals, traffic.packet, traffic.start, rng),
                    way,
                    packet: traffic.packet,
                    stop: traffic.stop.unwrap_or(Time::at(scenario.duration)),
                });
            }
        }
        Ok(())
    }

    /// The ways between endpoints, for what belongs to no flow.
    fn join_endpoints(&mut self, routes: &mut Routes<'_>) {
        let n = self.endpoints.len();
        self.between = vec![END; n * n];
        // In order of the target's hub, as the search for routes likes it.
        let mut pairs: Vec<(usize, usize)> = (0..n * n).map(|k| (k / n, k % n)).collect();
        pairs.sort_by_key(|&(_, to)| routes.hub(self.endpoints[to]));
        for (from, to) in pairs.into_iter().filter(|(from, to)| from != to) {
            if let Some(hops) = routes.path(self.endpoints[from], self.endpoints[to]) {
                self.between[from * n + to] = self.add_way(&numbers(&hops));
            }
        }
    }

    fn add_way(&mut self, lanes: &[u32]) -> u32 {
        let start = self.ways.len() as u32;
        self.ways.extend_from_slice(lanes);
        self.ways.push(END);
        start
    }
}

/// Two lanes a link, named as the simulator names a link's directions: of link k, 2k is forward and 2k + 1 back.
fn lanes(scenario: &Scenario, measured: (Time, Time)) -> Vec<Lane> {
    let both = scenario.links.iter().flat_map(|link| [&link.forward, &link.back]);
    let named = both.zip((0..).map(|direction| scenario.link_name(direction)));
    named.map(|(direction, name)| Lane::new(direction, &name, scenario.seed, measured)).collect()
}

fn numbers(hops: &[Hop]) -> Vec<u32> {
    hops.iter().filter_map(|hop| hop.direction()).collect()
}

/// The lanes of the way between two ends: along `route` where one is written, else as the routes lead.
fn way(
    routes: &mut Routes<'_>,
    place: &str,
    (from, to): (NodeId, NodeId),
    route: &Option<Vec<NodeId>>,
) -> Result<Vec<u32>, Error> {
    let hops = match route {
        Some(nodes) => routes.along(nodes).ok(),
        None => routes.path(from, to),
    };
    let lanes = hops.map(|hops| numbers(&hops)).filter(|lanes| !lanes.is_empty());
    lanes.ok_or_else(|| Error::Refused { place: place.into(), why: "no links join its ends".into() })
}
