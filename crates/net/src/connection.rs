//! A connection in the network: a sender at one node, a receiver at another, and the paths between them.

use crate::Error;
use crate::births::Births;
use crate::record::Deliveries;
use truckee_scenario::model::Flow;
use truckee_scenario::outcome::Vantage;
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::controller::AnyController;
use truckee_tcp::detect::{AnyDetector, Watch, Watchers};
use truckee_tcp::estimate::{AnyEstimator, Oracle};
use truckee_tcp::growth::AnyGrowth;
use truckee_tcp::pace::AnyPacing;
use truckee_tcp::predict::AnyPredictor;
use truckee_tcp::recovery::AnyRecovery;
use truckee_tcp::response::AnyResponse;
use truckee_tcp::sender::{Parts, State};
use truckee_tcp::spec::Member;
use truckee_tcp::start::AnyStart;
use truckee_tcp::{Books, Observers, Receiver, Registry, Sender, Stack, Time};

/// A stretch of the table of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// Position of its first link.
    pub start: u32,
    /// Number of links.
    pub len: u32,
}

impl Path {
    /// Whether the position is on it.
    pub fn holds(&self, at: u32) -> bool {
        (self.start..self.start + self.len).contains(&at)
    }
}

/// What new connections of a flow are made of.
#[derive(Debug, Clone)]
pub struct Template {
    stack: Stack,
    parts: Parts,
    policy: AnyAckPolicy,
    observers: Option<Observers>,
    watchers: Option<Watchers>,
    wants_truth: bool,
}

impl Template {
    /// The template of a flow.
    pub fn new(flow: &Flow, registry: &Registry) -> Result<Self, Error> {
        let refused = |error: truckee_tcp::SpecError| Error::Refused { flow: flow.name.clone(), error };
        let controller = match &flow.sender.controller {
            Some(controller) => AnyController::build_among(controller, registry).map_err(refused)?.0,
            None => {
                let growth = AnyGrowth::build_among(&flow.sender.growth, registry).map_err(refused)?.0;
                let response = AnyResponse::build_among(&flow.sender.response, registry).map_err(refused)?.0;
                let pacing = AnyPacing::build_among(&flow.sender.pacing, registry).map_err(refused)?.0;
                AnyController::of_parts(growth, response, pacing)
            }
        };
        let parts = Parts {
            recovery: AnyRecovery::build_among(&flow.sender.recovery, registry).map_err(refused)?.0,
            controller,
            start: AnyStart::build_among(&flow.sender.start, registry).map_err(refused)?.0,
        };
        let policy = AnyAckPolicy::build_among(&flow.receiver, registry).map_err(refused)?.0;
        let predictors = flow.observe.predictors.iter();
        let estimators = flow.observe.estimators.iter();
        let observers = Observers::new(
            predictors
                .map(|(_, spec)| Ok(AnyPredictor::build_among(spec, registry).map_err(refused)?.0))
                .collect::<Result<_, _>>()?,
            estimators
                .map(|(_, spec)| Ok(AnyEstimator::build_among(spec, registry).map_err(refused)?.0))
                .collect::<Result<_, _>>()?,
        );
        let detectors: Vec<AnyDetector> = flow
            .observe
            .detectors
            .iter()
            .map(|(_, spec)| Ok(AnyDetector::build_among(spec, registry).map_err(refused)?.0))
            .collect::<Result<_, _>>()?;
        let watchers = (!detectors.is_empty()).then(|| Watchers::new(detectors));
        let watched = !(flow.observe.predictors.is_empty() && flow.observe.estimators.is_empty());
        let mut stack = flow.stack.clone();
        stack.timestamps |= parts.want_timestamps();
        let mut specs =
            [&flow.sender.response].into_iter().chain(flow.observe.estimators.iter().map(|(_, s)| s));
        let wants_truth = specs.any(|spec| spec.mentions(Oracle::INFO.name));
        Ok(Self { stack, parts, policy, observers: watched.then_some(observers), watchers, wants_truth })
    }

    /// Receivers have this policy from now on.
    pub fn set_policy(&mut self, policy: AnyAckPolicy) {
        self.policy = policy;
    }

    /// Whether a part of its senders must be told the truth about the path.
    pub fn wants_truth(&self) -> bool {
        self.wants_truth
    }

    /// Both ends of a new connection.
    pub fn ends(&self) -> Ends {
        let sender = Sender::new(&self.stack, self.parts.clone());
        let receiver = Receiver::new(&self.stack, self.policy.clone(), sender.wants_sack());
        Ends {
            sender,
            books: Books::with(self.observers.clone()),
            receiver,
            watch: Watch::with(self.watchers.clone()),
            births: Births::default(),
        }
    }
}

/// Both ends of a connection, and what the laboratory keeps of each.
#[derive(Debug)]
pub struct Ends {
    /// The end with the data.
    pub sender: Sender,
    /// What it does.
    pub books: Books,
    /// The end that gets it.
    pub receiver: Receiver,
    /// Those who watch that end.
    pub watch: Watch,
    /// When the data under way came into being.
    pub births: Births,
}

/// No timer armed.
pub const NEVER: Time = Time::MAX;

/// A slot for a connection; a flow over many connections uses it for one after the other.
#[derive(Debug)]
pub struct Connection {
    /// Its ends.
    pub ends: Ends,
    /// Index of the flow.
    pub flow: usize,
    /// Index among the flow's connections.
    pub lane: usize,
    /// Counts the connections in this slot.
    pub generation: u32,
    /// Way of the data.
    pub forward: Path,
    /// Way of the ACKs.
    pub back: Path,
    /// Time of the pending event for the sender's timer.
    pub sender_armed: Time,
    /// Time of the pending event for the sender's pacing.
    pub pace_armed: Time,
    /// Time of the pending event for the receiver's timer.
    pub receiver_armed: Time,
    /// Whether it is in use: opened, and not everything acknowledged yet.
    pub open: bool,
    /// Whether it carries requests, against the direction of the flow's data.
    pub reverse: bool,
    /// Whether its time series are wanted.
    pub recorded: bool,
    /// Where its packets are wanted.
    pub tapped: Option<Vantage>,
    /// Whether the application waits for a delivery.
    pub awaited: bool,
    /// Whether its sender must be told the truth about the path.
    pub wants_truth: bool,
    /// What has been delivered in this slot.
    pub deliveries: Deliveries,
}

impl Connection {
    /// Its number among the flow's connections, where packets are noted.
    pub fn tap_number(&self) -> u32 {
        // A flow whose connections follow each other has one lane, one with many lanes has one connection a lane.
        self.generation.wrapping_add(self.lane as u32 * (1 << 16))
    }

    /// Whether it is in use and everything has been acknowledged.
    pub fn finished(&self) -> bool {
        self.open && self.ends.sender.state() == State::Finished
    }
}
