//! The receivers' ACK policies of a run. What the kernel does by itself it does: an ACK for every segment (a setting of the
//! route), or delayed ACKs as it has them. All else is a shaper in the receiver's namespace, with a policy a flow.

use super::place::{DEVICE, Place};
use crate::Error;
use std::collections::BTreeMap;
use truckee_host::stack::acknowledges_natively;
use truckee_path::FLOW_PORT;
use truckee_scenario::Scenario;
use truckee_scenario::model::{Changed, Flow, NodeId};
use truckee_scenario::outcome::THIS_RUN;
use truckee_shape::arrival::Record;
use truckee_shape::{Devices, Policy, Request, Scope, Shaper};
use truckee_tcp::Time;

/// Most connections of a node that are known at a time.
const MOST_FLOWS: u32 = 4096;
/// Most arrivals that are kept of a run, over all flows: some 400 MB. Verdicts on what comes after are not known.
const MOST_HEARD: usize = 4_000_000;
/// What a flow's receiver is to do in the course of a run.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// At first.
    policy: Policy,
    /// Then, each from its time on.
    changes: Vec<(Time, Policy)>,
}

/// What each flow's receiver is to do; none: what the kernel does by itself. Refuses what no kernel does.
pub fn wanted(scenario: &Scenario) -> Result<Vec<Option<Wanted>>, Error> {
    let of = |(index, flow): (usize, &Flow)| {
        let named = |e| match e {
            Error::Refused { place, why } => {
                Error::Refused { place: format!("flow \"{}\", {place}", flow.name), why }
            }
            other => other,
        };
        let mut changes = Vec::new();
        for change in &scenario.changes {
            if let Changed::Receiver { flow, policy } = &change.what
                && *flow == index
            {
                changes.push((change.at, Policy::of(policy).map_err(named)?));
            }
        }
        let native = acknowledges_natively(scenario.kernel.era, &flow.receiver) && changes.is_empty();
        let watched = !flow.observe.detectors.is_empty();
        if native && !watched {
            return Ok(None);
        }
        let policy = if native { Policy::as_it_is() } else { Policy::of(&flow.receiver).map_err(named)? };
        let policy = if watched { policy.heard() } else { policy };
        let changes = changes.into_iter().map(|(at, p)| (at, if watched { p.heard() } else { p })).collect();
        Ok(Some(Wanted { policy, changes }))
    };
    scenario.flows.iter().enumerate().map(of).collect()
}

/// A change that is still to come.
#[derive(Debug)]
struct Change {
    at: Time,
    flow: usize,
    policy: Policy,
}

/// The shapers of a run. Those without any flow to shape are not there.
#[derive(Debug)]
pub struct Receivers {
    shapers: Vec<Shaper>,
    /// The flows of each shaper, by their policy's index.
    flows: Vec<Vec<usize>>,
    /// In order of time.
    changes: Vec<Change>,
    /// What has arrived, by flow.
    heard: Vec<Vec<Record>>,
    /// Arrivals that were not kept.
    unheard: u64,
}

/// What the receivers of a run heard.
#[derive(Debug)]
pub struct Heard {
    /// What arrived, by flow.
    pub by_flow: Vec<Vec<Record>>,
    /// What is to be said of the run.
    pub notes: Vec<String>,
    /// Arrivals that were lost, since nobody took them in time.
    pub lost: u64,
}

impl Receivers {
    /// Begins to shape.
    pub fn start(scenario: &Scenario, place: &Place, wanted: Vec<Option<Wanted>>) -> Result<Self, Error> {
        let mut nodes: BTreeMap<NodeId, Vec<(usize, Policy)>> = BTreeMap::new();
        let mut changes = Vec::new();
        for (flow, wanted) in wanted.into_iter().enumerate() {
            let Some(wanted) = wanted else { continue };
            nodes.entry(scenario.flows[flow].to).or_default().push((flow, wanted.policy));
            changes.extend(wanted.changes.into_iter().map(|(at, policy)| Change { at, flow, policy }));
        }
        changes.sort_by_key(|change| change.at);
        let mut receivers = Self {
            shapers: Vec::new(),
            flows: Vec::new(),
            changes,
            heard: vec![Vec::new(); scenario.flows.len()],
            unheard: 0,
        };
        for (node, flows) in nodes {
            let ports = flows.iter().enumerate().map(|(k, (flow, _))| (FLOW_PORT + *flow as u16, k));
            let request = Request {
                scope: Scope::Ports(ports.collect()),
                devices: Devices::Named(vec![DEVICE.to_owned()]),
                namespace: Some(place.namespace(node)?.name().to_owned()),
                policies: flows.iter().map(|(_, policy)| policy.clone()).collect(),
                most_flows: MOST_FLOWS,
            };
            let shaper = Shaper::start(&request)?;
            shaper.listen();
            receivers.shapers.push(shaper);
            receivers.flows.push(flows.into_iter().map(|(flow, _)| flow).collect());
        }
        Ok(receivers)
    }

    /// Makes the changes whose time has come, and takes what has arrived; `now` is the time of the run.
    pub fn attend(&mut self, now: Time) -> Result<(), Error> {
        while self.changes.first().is_some_and(|change| change.at <= now) {
            let change = self.changes.remove(0);
            for (shaper, flows) in self.shapers.iter().zip(&self.flows) {
                if let Some(index) = flows.iter().position(|flow| *flow == change.flow) {
                    shaper.change(index, &change.policy)?;
                }
            }
        }
        self.take();
        self.shapers.iter().try_for_each(Shaper::check)
    }

    fn take(&mut self) {
        let mut kept: usize = self.heard.iter().map(Vec::len).sum();
        for (shaper, flows) in self.shapers.iter().zip(&self.flows) {
            for record in shaper.heard() {
                match flows.get(usize::from(record.policy)) {
                    Some(flow) if kept < MOST_HEARD => {
                        self.heard[*flow].push(record);
                        kept += 1;
                    }
                    _ => self.unheard += 1,
                }
            }
        }
    }

    /// Ends it.
    pub fn stop(mut self) -> Result<Heard, Error> {
        self.take();
        let mut notes = Vec::new();
        let (mut lost, mut unheld) = (0, 0);
        for shaper in self.shapers {
            let counts = shaper.stop()?;
            lost += counts.unheard;
            unheld += counts.unheld;
        }
        let unheard = self.unheard + lost;
        if unheard > 0 {
            notes.push(format!(
                "{THIS_RUN}{unheard} arrivals were heard of late: verdicts of detectors lack them"
            ));
        }
        if unheld > 0 {
            notes.push(format!("{THIS_RUN}{unheld} ACKs left that should have been held, for want of room"));
        }
        Ok(Heard { by_flow: self.heard, notes, lost })
    }
}
