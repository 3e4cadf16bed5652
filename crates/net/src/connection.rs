//! A connection in the network: a sender at one node, a receiver at another, and the paths between them.

use crate::Error;
use crate::births::{Births, Leaving};
use crate::record::Deliveries;
use std::sync::Arc;
use truckee_scenario::model::{App, Flow};
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
use truckee_tcp::sender::Parts;
use truckee_tcp::spec::Member;
use truckee_tcp::start::AnyStart;
use truckee_tcp::{Books, Endpoint, Observers, Receiver, Registry, Segment, Sender, Stack, Time, Transmit};

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
    stack: Arc<Stack>,
    parts: Parts,
    policy: AnyAckPolicy,
    observers: Option<Observers>,
    watchers: Option<Watchers>,
    wants_truth: bool,
    two_way: bool,
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
        let two_way = matches!(flow.app, App::RequestResponse { .. });
        let mut specs =
            [&flow.sender.response].into_iter().chain(flow.observe.estimators.iter().map(|(_, s)| s));
        let wants_truth = specs.any(|spec| spec.mentions(Oracle::INFO.name));
        Ok(Self {
            stack: Arc::new(stack),
            parts,
            policy,
            observers: watched.then_some(observers),
            watchers,
            wants_truth,
            two_way,
        })
    }

    /// Receivers have this policy from now on.
    pub fn set_policy(&mut self, policy: AnyAckPolicy) {
        self.policy = policy;
    }

    /// Whether a part of its senders must be told the truth about the path.
    pub fn wants_truth(&self) -> bool {
        self.wants_truth
    }

    /// A new connection: its ends, and the books of each direction.
    pub fn ends(&self) -> Ends {
        let books = Books::with(self.observers.clone());
        let watch = Watch::with(self.watchers.clone());
        let forward = Way { books, watch, ..Way::default() };
        let sender = Sender::sharing(&self.stack, self.parts.clone());
        let sack = sender.wants_sack();
        let (stack, policy) = (&self.stack, self.policy.clone());
        if self.two_way {
            let both = || Endpoint::both(stack, self.parts.clone(), policy.clone(), sack);
            return Ends { at: [both(), both()], forward, back: Some(Box::default()) };
        }
        let at = [Endpoint::of_sender(sender), Endpoint::of_receiver(Receiver::sharing(stack, policy, sack))];
        Ends { at, forward, back: None }
    }
}

/// The end at a flow's source, where its data is.
pub const SOURCE: usize = 0;
/// The end at its destination, which gets the data, and asks for it where there are requests.
pub const DESTINATION: usize = 1;

/// A connection's ends, and what the laboratory keeps of each direction.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Ends {
    /// At the flow's source, and at its destination.
    pub at: [Endpoint; 2],
    /// The direction of the flow's data.
    pub forward: Way,
    /// The other one, where requests travel.
    pub back: Option<Box<Way>>,
}

/// What the laboratory keeps of one direction of a connection.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Way {
    /// Those who watch its receiver.
    pub watch: Watch,
    /// When the data under way came into being.
    pub births: Births,
    /// What has been delivered.
    pub deliveries: Deliveries,
    /// What its sender does.
    pub books: Books,
}

/// Has an end of a two-way connection do something, and those hear of it who listen there.
macro_rules! heard {
    ($ends:ident.at[$end:expr].$method:ident($($arg:expr),* $(; $out:expr)?)) => {{
        let Ends { at, forward, back } = $ends;
        let Some(back) = back else { return Default::default() };
        match $end {
            SOURCE => at[SOURCE].$method($($arg,)* &mut (&mut forward.books, &mut back.watch), $($out)?),
            _ => at[DESTINATION].$method($($arg,)* &mut (&mut back.books, &mut forward.watch), $($out)?),
        }
    }};
}

impl Ends {
    /// Opens the connection: from the destination where that asks, else from the source.
    pub fn open(&mut self, now: Time) {
        match &mut self.back {
            None => self.at[SOURCE].open(now, &mut self.forward.books),
            Some(back) => {
                self.at[SOURCE].listen(now, &mut self.forward.books);
                self.at[DESTINATION].open(now, &mut back.books);
            }
        }
    }

    /// See [`Endpoint::on_segment`].
    #[inline(never)]
    pub fn on_segment(&mut self, end: usize, now: Time, segment: &Segment, congestion_experienced: bool) {
        if self.back.is_some() {
            heard!(self.at[end].on_segment(now, segment, congestion_experienced));
        } else if end == SOURCE {
            self.at[SOURCE].on_segment(now, segment, congestion_experienced, &mut self.forward.books);
        } else {
            self.at[DESTINATION].on_segment(now, segment, congestion_experienced, &mut self.forward.watch);
        }
    }

    /// See [`Sender::takes`].
    #[inline(always)]
    pub fn source_takes(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(tx) = self.at[SOURCE].tx_mut() else { return false };
        tx.takes(now, segment, &mut self.forward.books)
    }

    /// See [`Receiver::takes`].
    #[inline(always)]
    pub fn destination_takes(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(rx) = self.at[DESTINATION].rx_mut() else { return false };
        rx.takes(now, segment, &mut self.forward.watch)
    }

    /// See [`Endpoint::on_timer`].
    pub fn on_timer(&mut self, end: usize, now: Time) {
        match (end, &self.back) {
            (SOURCE, None) => self.at[SOURCE].on_timer(now, &mut self.forward.books),
            (_, None) => self.at[DESTINATION].on_timer(now, &mut self.forward.watch),
            _ => heard!(self.at[end].on_timer(now)),
        }
    }

    /// See [`Endpoint::transmit`].
    #[inline(never)]
    pub fn transmit(&mut self, end: usize, now: Time, out: &mut Transmit) -> bool {
        let due = match (&self.back, end) {
            (Some(_), _) => self.ask_both(end, now, out),
            (None, SOURCE) => self.at[SOURCE].transmit(now, &mut self.forward.books, out),
            (None, _) => self.at[DESTINATION].transmit(now, &mut self.forward.watch, out),
        };
        if due && end == SOURCE {
            self.forward.births.left(now, Leaving::of(out));
        }
        due
    }

    fn ask_both(&mut self, end: usize, now: Time, out: &mut Transmit) -> bool {
        heard!(self.at[end].transmit(now; out))
    }

    /// The same where data goes one way and nothing is out of the ordinary (`BURSTS`: but for bursts); whether there is
    /// something, or none, if [`Self::transmit`] is to be asked.
    #[inline(always)]
    pub fn transmit_plainly<const END: usize, const BURSTS: bool>(
        &mut self,
        now: Time,
        out: &mut Transmit,
    ) -> Option<bool> {
        if END == DESTINATION {
            let rx = self.at[DESTINATION].rx_mut().filter(|rx| rx.is_terse())?;
            let last = rx.acknowledge_next(now, &mut out.segment);
            out.last = last.unwrap_or_default();
            return Some(last.is_some());
        }
        let is_plain = |tx: &Sender| if BURSTS { tx.is_plain_in_bursts() } else { tx.is_plain() };
        let tx = self.at[SOURCE].tx_mut().filter(|tx| is_plain(tx))?;
        let way = &mut self.forward;
        let due = match BURSTS {
            true => tx.transmit_in_bursts(now, &mut way.books, out),
            false => tx.transmit_next(now, &mut way.books, out),
        };
        if due && (out.retransmission || way.births.are_told()) {
            way.births.left(now, Leaving::of(out));
        }
        Some(due)
    }

    /// The direction of what an end sends.
    #[inline]
    pub fn way_from(&mut self, end: usize) -> Option<&mut Way> {
        if end == SOURCE { Some(&mut self.forward) } else { self.back.as_deref_mut() }
    }

    /// The sender of the flow's data.
    pub fn sender(&self) -> Option<&Sender> {
        self.at[SOURCE].tx()
    }

    /// The receiver of the flow's data.
    pub fn receiver(&self) -> Option<&Receiver> {
        self.at[DESTINATION].rx()
    }
}

/// No timer armed.
pub const NEVER: Time = Time::MAX;

/// A slot for a connection; a flow over many connections uses it for one after the other. What every packet needs comes first,
/// in as few cache lines as can be.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Connection {
    /// Counts the connections in this slot.
    pub generation: u32,
    /// Whether its data goes one way, and nobody asks for anything but its outcome.
    pub plain: bool,
    /// Whether it is in use: opened, and not everything acknowledged yet.
    pub open: bool,
    /// Whether its time series are wanted.
    pub recorded: bool,
    /// Whether its sender must be told the truth about the path.
    pub wants_truth: bool,
    /// Way of the data.
    pub forward: Path,
    /// Way of the ACKs.
    pub back: Path,
    /// Time of the pending event for the timer of each end.
    pub armed: [Time; 2],
    /// Its ends.
    pub ends: Ends,
    /// Time of the pending event for the pacing at the source.
    pub pace_armed: Time,
    /// Index of the flow: see [`Self::flow`].
    pub flow: u32,
    /// Index among the flow's connections: see [`Self::lane`].
    pub lane: u32,
    /// Where its packets are wanted.
    pub tapped: Option<Vantage>,
    /// Whether the application waits for a delivery at each end.
    pub awaited: [bool; 2],
}

const _: () = assert!(size_of::<Connection>() <= 7 * 64);

impl Connection {
    /// Index of the flow.
    #[inline(always)]
    pub fn flow(&self) -> usize {
        self.flow as usize
    }

    /// Index among the flow's connections.
    pub fn lane(&self) -> usize {
        self.lane as usize
    }

    /// Its number among the flow's connections, where packets are noted.
    pub fn tap_number(&self) -> u32 {
        // A flow whose connections follow each other has one lane, one with many lanes has one connection a lane.
        self.generation.wrapping_add(self.lane * (1 << 16))
    }

    /// The application waits for deliveries at these ends.
    pub fn await_at(&mut self, ends: [bool; 2]) {
        self.awaited = ends;
        let asked = self.recorded || self.tapped.is_some() || self.wants_truth || ends != [false; 2];
        self.plain = self.ends.back.is_none() && !asked;
    }

    /// Whether it is in use and everything has been acknowledged.
    #[inline]
    pub fn finished(&self) -> bool {
        self.open && self.ends.at.iter().all(Endpoint::finished)
    }
}
