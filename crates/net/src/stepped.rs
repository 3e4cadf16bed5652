//! A run that goes on step by step, and whose senders are told between the steps what to do: for a program that learns.
//!
//! Some of its flows are steered: their controllers decide nothing ([`truckee_tcp::controller::Steered`]), losses are repaired
//! by SACK (RFC 6675), and each keeps the window and the pace that it was told last. All else is the scenario's. Where a run
//! stops on the way makes no difference to it: the same orders at the same times give the same digest.
//!
//! Not for: what a learner sees of it, and what that is worth to it.

use crate::network::Network;
use crate::{Error, Options, outcome, refuse_live};
use self_cell::self_cell;
use truckee_scenario::outcome::Drops;
use truckee_scenario::{Outcome, Scenario};
use truckee_tcp::controller::{Controller, Order, Steered};
use truckee_tcp::recovery::Sack;
use truckee_tcp::spec::Member;
use truckee_tcp::{Info, Registry, Span, Spec, Time};

/// What a flow's senders have counted and know at some moment, all connections of the flow together. Sizes in bytes, without
/// headers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Standing {
    /// Acknowledged cumulatively.
    pub acked: u64,
    /// Sent, what was sent again included.
    pub sent: u64,
    /// Sent again.
    pub resent: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Round-trip times that were taken.
    pub rtt_samples: u64,
    /// Their sum.
    pub rtt_sum: Span,
    /// The smallest, once known.
    pub rtt_min: Option<Span>,
    /// Congestion windows of the connections that are open.
    pub window: f64,
    /// What counts against them.
    pub in_flight: u64,
    /// What the path has lost of what was sent, by cause: no sender knows that. Counted from the end of the warm-up.
    pub drops: Drops,
}

/// What is known of a flow's path beforehand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// Of its slowest link at present, bit/s, headers included.
    pub rate: f64,
    /// Round-trip time of a full segment and its ACK where nothing waits.
    pub rtt: Span,
    /// Maximum segment size, bytes.
    pub mss: u32,
}

/// A network at work; `None` once its outcome has been taken.
type Ongoing<'a> = Option<Box<Network<'a>>>;

self_cell!(
    struct Owned {
        owner: Scenario,
        #[not_covariant]
        dependent: Ongoing,
    }
);

/// A run that goes on step by step.
pub struct Stepped {
    run: Owned,
    now: Time,
}

impl std::fmt::Debug for Stepped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stepped({} at {} s)", self.run.borrow_owner().name, self.now.seconds())
    }
}

/// As the scenario and its results name a steered sender.
const STEERED: Info = Info {
    name: "steered",
    summary: "a window and a pace that are told from outside",
    formula: "cwnd as told, whatever is lost",
    source: "the program that steers the run",
};

impl Stepped {
    /// At the beginning of a run of this scenario, of which the flows of these numbers are steered.
    pub fn new(scenario: Scenario, steered: &[usize]) -> Result<Self, Error> {
        Self::recording(scenario, steered, &Options::default())
    }

    /// The same, which records what these options ask for.
    pub fn recording(mut scenario: Scenario, steered: &[usize], options: &Options) -> Result<Self, Error> {
        refuse_live(&scenario)?;
        for &flow in steered {
            let sender = &mut scenario.flows[flow].sender;
            sender.label = STEERED.name.to_owned();
            sender.controller = Some(Spec::named(STEERED.name));
            sender.recovery = Spec::named(Sack::INFO.name);
        }
        let mut registry = Registry::new();
        // The name is free: this registry is new, and nothing built in is called so.
        registry.add::<dyn Controller>(STEERED, |_| Ok(Box::new(Steered::default()))).unwrap_or_default();
        let run = Owned::try_new(scenario.drawn().into_owned(), |scenario| {
            Network::new(scenario, options, &registry).map(|network| Some(Box::new(network)))
        })?;
        Ok(Self { run, now: Time::ZERO })
    }

    /// The time it has come to.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When it ends, if its flows are not done before.
    pub fn end(&self) -> Time {
        Time::at(self.run.borrow_owner().duration)
    }

    /// Has a flow that is steered keep this window and this pace from now on. Connections that it opens later hear of it, too.
    pub fn steer(&mut self, flow: usize, order: Order) -> Result<(), Error> {
        let sound = |x: Option<f64>| x.is_none_or(|x| x.is_finite() && x >= 0.0);
        if !sound(order.window) || !sound(order.pace) {
            return Err(Error::Order { flow: self.run.borrow_owner().flows[flow].name.clone(), order });
        }
        self.with(|network| network.steer(flow, order));
        Ok(())
    }

    /// Goes on up to a time; whether the run is over: at its end, or earlier where all flows are done and it ends with them.
    pub fn advance(&mut self, until: Time) -> Result<bool, Error> {
        let (over, now) = self.run.with_dependent_mut(|_, network| match network {
            Some(network) => Ok((network.advance(until)?, network.now)),
            None => Ok((true, until)),
        })?;
        self.now = now;
        Ok(over)
    }

    /// What a flow's senders have counted and know by now.
    pub fn standing(&self, flow: usize) -> Standing {
        self.ask(|network| network.standing(flow)).unwrap_or_default()
    }

    /// The smoothed round-trip time of a flow's first connection, once known.
    pub fn srtt(&self, flow: usize) -> Option<Span> {
        self.ask(|network| network.srtt(flow))?
    }

    /// What is known of a flow's path beforehand; nothing once the outcome has been taken.
    pub fn known(&self, flow: usize) -> Option<Known> {
        self.ask(|network| network.known(flow))
    }

    /// What has come of the run up to now, which ends it; nothing where that has been asked before. Its wall time is not known.
    pub fn outcome(&mut self) -> Option<Outcome> {
        self.run.with_dependent_mut(|scenario, network| {
            let mut network = network.take()?;
            network.close_books();
            Some(outcome::outcome(*network, scenario))
        })
    }

    fn with(&mut self, f: impl FnOnce(&mut Network<'_>)) {
        self.run.with_dependent_mut(|_, network| network.as_deref_mut().map(f));
    }

    fn ask<R>(&self, f: impl FnOnce(&Network<'_>) -> R) -> Option<R> {
        self.run.with_dependent(|_, network| network.as_deref().map(f))
    }
}
