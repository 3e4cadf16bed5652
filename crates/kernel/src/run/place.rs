//! Where a run takes place: a namespace for each of the scenario's endpoints, with its end of the path, its addresses
//! and routes, and its stack set as the flows want it.

use crate::Error;
use std::collections::{BTreeMap, BTreeSet};
use truckee_host::netns::{Address, Interface, Metrics, Netns, Route, configure};
use truckee_host::session::Session;
use truckee_host::stack::{self, End, Settings, Sysctl};
use truckee_path::{Plan, Tun, address};
use truckee_scenario::Scenario;
use truckee_scenario::model::{Change, Changed, Flow, NodeId};
use truckee_tcp::Spec;

/// What an endpoint's end of the path is called in its namespace.
pub const DEVICE: &str = "path0";
/// Packets that the device holds for the emulator: more than any window of the scenarios in question.
const QUEUE: u32 = 10_000;
/// Bits of an address that stands for one node.
const HOST: u8 = 32;

/// The namespaces of a run.
pub struct Place {
    nodes: BTreeMap<NodeId, Netns>,
    tuns: Vec<(NodeId, Tun)>,
}

/// What each flow wants of the stacks at its ends, in the scenario's order; refuses what no kernel does.
pub fn stacks(scenario: &Scenario) -> Result<Vec<Settings>, Error> {
    let changing: BTreeSet<usize> = scenario.changes.iter().filter_map(receiver_of).collect();
    let of = |(index, flow): (usize, &Flow)| {
        // A receiver that changes its policy wants an ACK for every segment to carry each of them out.
        let every = Spec::named("every");
        let receiver = if changing.contains(&index) { &every } else { &flow.receiver };
        stack::of_flow(&scenario.kernel, &flow.name, &flow.stack, &flow.sender.recovery.name, receiver)
    };
    let all = scenario.flows.iter().enumerate().map(of).collect::<Result<Vec<_>, _>>()?;
    // Those that disagree are refused before anything is made.
    for node in scenario.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect::<BTreeSet<_>>() {
        sysctls(scenario, &all, node)?;
        routes(scenario, &all, node)?;
    }
    Ok(all)
}

/// The flow whose receiver a change is of.
fn receiver_of(change: &Change) -> Option<usize> {
    match &change.what {
        Changed::Receiver { flow, .. } => Some(*flow),
        Changed::Link(_) => None,
    }
}

/// The flows with an end at a node: name, which end, and what they want.
fn at<'a>(
    scenario: &'a Scenario,
    stacks: &'a [Settings],
    node: NodeId,
) -> impl Iterator<Item = (&'a str, End, &'a Settings)> {
    scenario.flows.iter().zip(stacks).flat_map(move |(flow, settings)| {
        let ends = [(flow.from, End::Sender), (flow.to, End::Receiver)];
        ends.into_iter()
            .filter(move |(at, _)| *at == node)
            .map(move |(_, end)| (flow.name.as_str(), end, settings))
    })
}

fn sysctls(scenario: &Scenario, stacks: &[Settings], node: NodeId) -> Result<Vec<Sysctl>, Error> {
    stack::merge(at(scenario, stacks, node))
}

/// A route to each node that a node exchanges data with.
fn routes(scenario: &Scenario, stacks: &[Settings], node: NodeId) -> Result<Vec<Route>, Error> {
    let mut wishes: BTreeMap<NodeId, Vec<(&str, Metrics)>> = BTreeMap::new();
    for (flow, settings) in scenario.flows.iter().zip(stacks) {
        for (here, there, metrics) in
            [(flow.from, flow.to, settings.route), (flow.to, flow.from, settings.route_back)]
        {
            if here == node {
                wishes.entry(there).or_default().push((&flow.name, metrics));
            }
        }
    }
    let route = |(there, wishes)| {
        let metrics = stack::merge_metrics(wishes)?;
        Ok(Route { destination: address(there).into(), prefix: HOST, metrics })
    };
    wishes.into_iter().map(route).collect()
}

impl Place {
    /// Makes the namespaces, each with its end of the path.
    pub fn make(
        session: &Session,
        scenario: &Scenario,
        plan: &Plan,
        stacks: &[Settings],
    ) -> Result<Self, Error> {
        let mut place = Self { nodes: BTreeMap::new(), tuns: Vec::new() };
        for &node in plan.endpoints() {
            let namespace = Netns::create(&session.namespace(&scenario.nodes[node]))?;
            let tun = namespace.enter(|| Tun::create(DEVICE))??;
            stack::apply(&namespace, &sysctls(scenario, stacks, node)?)?;
            let here = || at(scenario, stacks, node).map(|(_, _, settings)| settings);
            let interface = Interface {
                name: DEVICE,
                addresses: &[Address { ip: address(node).into(), prefix: HOST }],
                mtu: here().map(|s| s.mtu).max().unwrap_or(0),
                txqueuelen: QUEUE,
                gso_max_segs: here().filter_map(|s| s.gso_max_segs).min(),
                routes: &routes(scenario, stacks, node)?,
            };
            configure(&namespace, &interface)?;
            place.nodes.insert(node, namespace);
            place.tuns.push((node, tun));
        }
        Ok(place)
    }

    /// The ends of the path, once.
    pub fn take_tuns(&mut self) -> Vec<(NodeId, Tun)> {
        std::mem::take(&mut self.tuns)
    }

    /// The namespace of an endpoint.
    pub fn namespace(&self, node: NodeId) -> Result<&Netns, Error> {
        self.nodes.get(&node).ok_or_else(|| Error::Broken(format!("node {node} has no namespace")))
    }

    /// What the kernel knows the namespaces by.
    pub fn inodes(&self) -> Vec<u64> {
        self.nodes.values().map(Netns::inode).collect()
    }
}
