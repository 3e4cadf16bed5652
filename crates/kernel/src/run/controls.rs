//! The congestion controls of a run: which flow has which, those of ours loaded for it and unloaded after it, and what
//! they record. Not for: what they compute (see `truckee-cc`).

use crate::Error;
use truckee_cc::{self as cc, Control, Event, Loaded, Port};
use truckee_host::session::Session;
use truckee_scenario::Scenario;

/// Most events that are kept, over all flows: some 400 MB. What comes after is not held against the definitions.
const MOST_EVENTS: usize = 4_000_000;

/// A program of ours at work for one or more flows.
struct Ours {
    port: Port,
    loaded: Loaded,
    events: Vec<Event>,
    /// Events that are missing: the ring had no room for them, or no more were kept.
    missing: u64,
    /// Of them, those that the ring had no room for.
    lost: u64,
    /// Whether there is no more room.
    full: bool,
}

/// The congestion controls of a run.
pub struct Controls {
    /// Of each flow.
    wanted: Vec<Control>,
    ours: Vec<Ours>,
}

/// What carries each flow's sender; refuses what no kernel does, and what this one lacks.
pub fn wanted(scenario: &Scenario) -> Result<Vec<Control>, Error> {
    let available = cc::available()?;
    let of = |flow: &truckee_scenario::model::Flow| {
        let control = match &flow.sender.native {
            Some(name) => Control::Native(name.clone()),
            None => cc::control_of(&flow.sender, &flow.stack).map_err(|e| of_flow(&flow.name, e))?,
        };
        match &control {
            Control::Native(name) if !available.contains(name) => Err(Error::Refused {
                place: format!("flow \"{}\"", flow.name),
                why: format!(
                    "this kernel has no congestion control \"{name}\", only {}; truckee cc list shows which can be loaded",
                    available.join(", ")
                ),
            }),
            _ => Ok(control),
        }
    };
    scenario.flows.iter().map(of).collect()
}

/// A refusal of a sender, with the flow's name.
fn of_flow(flow: &str, error: Error) -> Error {
    match error {
        Error::Refused { place, why } => Error::Refused { place: format!("flow \"{flow}\", {place}"), why },
        other => other,
    }
}

impl Controls {
    /// Loads those of ours, each once.
    pub fn load(session: &Session, wanted: Vec<Control>) -> Result<Self, Error> {
        let mut ours: Vec<Ours> = Vec::new();
        for control in &wanted {
            if let Control::Port(port) = control
                && !ours.iter().any(|o| o.port == *port)
            {
                let loaded = Loaded::load(port, &session.control(ours.len()), true)?;
                ours.push(Ours {
                    port: port.clone(),
                    loaded,
                    events: Vec::new(),
                    missing: 0,
                    lost: 0,
                    full: false,
                });
            }
        }
        Ok(Self { wanted, ours })
    }

    /// What the kernel calls a flow's congestion control.
    pub fn name(&self, flow: usize) -> String {
        match (&self.wanted[flow], self.of(flow)) {
            (Control::Native(name), _) => name.clone(),
            (_, Some(ours)) => ours.loaded.name().to_owned(),
            (Control::Port(_), None) => String::new(), // every port wanted is loaded
        }
    }

    fn of(&self, flow: usize) -> Option<&Ours> {
        match &self.wanted[flow] {
            Control::Native(_) => None,
            Control::Port(port) => self.ours.iter().find(|o| o.port == *port),
        }
    }

    /// Takes what has been recorded since the last time.
    pub fn take(&mut self) -> Result<(), Error> {
        let room = MOST_EVENTS / self.ours.len().max(1);
        for ours in &mut self.ours {
            let new = ours.loaded.events()?;
            ours.lost += new.lost;
            // A gap would let the definition go its own way: once events are missing, none is kept.
            ours.full |= new.lost > 0 || ours.events.len() + new.list.len() > room;
            if ours.full {
                ours.missing += new.list.len() as u64 + new.lost;
            } else {
                ours.events.extend(new.list);
            }
        }
        Ok(())
    }

    /// How many events were lost, since nobody took them in time.
    pub fn lost(&self) -> u64 {
        self.ours.iter().map(|ours| ours.lost).sum()
    }

    /// What a flow's program recorded of all its flows, and how many events are missing at the end; none for the
    /// kernel's own.
    pub fn events(&self, flow: usize) -> Option<(&Port, &[Event], u64)> {
        let ours = self.of(flow)?;
        Some((&ours.port, &ours.events, ours.missing))
    }
}
