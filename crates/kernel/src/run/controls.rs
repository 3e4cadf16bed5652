//! The congestion controls of a run: which flow has which, those of ours loaded for it and unloaded after it, and what
//! they record; and what the path tells those that go by the truth. Not for: what they compute (see `truckee-cc`).

use crate::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use truckee_cc::{self as cc, Control, Event, Loaded, Port, Teller};
use truckee_host::session::Session;
use truckee_path::{FLOW_PORT, LossListener, Missing};
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
    /// How often one that goes by the truth could not be told.
    untold: Arc<AtomicU64>,
}

/// Those that are told of losses, by flow.
#[derive(Debug)]
struct Tellers {
    of: Vec<Option<Teller>>,
    untold: Arc<AtomicU64>,
}

impl LossListener for Tellers {
    fn wants(&self, flow: usize) -> bool {
        self.of.get(flow).is_some_and(Option::is_some)
    }

    fn hear(&mut self, flow: usize, client_port: u16, missing: &[Missing]) {
        let Some(teller) = self.of.get(flow).and_then(Option::as_ref) else { return };
        let told = missing.iter().map(|m| (m.first, m.bytes, m.cause.verdict()));
        if teller.tell(FLOW_PORT + flow as u16, client_port, told).is_err() {
            self.untold.fetch_add(1, Ordering::Relaxed);
        }
    }
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
        Ok(Self { wanted, ours, untold: Arc::default() })
    }

    /// Whom the path has to tell of losses as they happen; none where no sender goes by the truth.
    pub fn listener(&self) -> Result<Option<Box<dyn LossListener>>, Error> {
        let of = (0..self.wanted.len()).map(|flow| {
            let told = self.of(flow).filter(|ours| ours.port.wants_truth());
            told.map(|ours| ours.loaded.teller()).transpose()
        });
        let of: Vec<Option<Teller>> = of.collect::<Result<_, _>>()?;
        if of.iter().all(Option::is_none) {
            return Ok(None);
        }
        Ok(Some(Box::new(Tellers { of, untold: Arc::clone(&self.untold) })))
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

    /// How many events were lost, since nobody took them in time, and how many losses nobody could be told of.
    pub fn lost(&self) -> u64 {
        self.ours.iter().map(|ours| ours.lost).sum::<u64>() + self.untold.load(Ordering::Relaxed)
    }

    /// What a flow's program recorded of all its flows, and how many events are missing at the end; none for the
    /// kernel's own.
    pub fn events(&self, flow: usize) -> Option<(&Port, &[Event], u64)> {
        let ours = self.of(flow)?;
        Some((&ours.port, &ours.events, ours.missing))
    }
}
