//! Routers of a medium's stations in simulated time, and what packets that go by them have to remember. Not for: what they
//! decide, which is `truckee-routing`'s; and carrying it out, which is `network::routing`'s.

use crate::packet::PacketId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use truckee_routing::{Cause, Config, ConfigError, Counters, Interface, Kind, Message, NodeId, Router};
use truckee_scenario::outcome::{MessagesOutcome, RoutingOutcome};
use truckee_tcp::{Span, Time};

/// In place of a station: all of them.
pub const EVERYONE: u32 = u32::MAX;
/// A station has one interface.
pub const RADIO: Interface = Interface(0);
/// What a packet's time to live is when it comes to a medium.
pub const TTL: u8 = 64;

/// The routers of a medium.
#[derive(Debug)]
pub struct Routers {
    protocol: &'static str,
    /// By station, as all that follows.
    pub of: Vec<Box<dyn Router>>,
    /// Time of the pending timer, [`Time::MAX`] if there is none.
    pub armed: Vec<Time>,
    /// Next stations whose packets the router wants back as they come out of the queue.
    pub broken: Vec<BTreeSet<u32>>,
    pub books: Books,
    /// What each had sent when measuring began.
    past: Vec<Counters>,
}

/// What is counted since measuring began.
#[derive(Debug, Default)]
pub struct Books {
    pub route_changes: u64,
    /// Packets of routing that a full queue or the retry limit ended.
    pub packets_lost: u64,
    /// Packets that have crossed the medium, and their hops.
    pub crossed: u64,
    pub hops: u64,
    pub lost: BTreeMap<Cause, u64>,
}

impl Routers {
    /// Of so many stations, for a run of this seed.
    pub fn new(config: &Config, stations: usize, seed: u64) -> Result<Self, ConfigError> {
        let router = |station: usize| config.router(NodeId(station as u32), 1, seed);
        Ok(Self {
            protocol: config.name(),
            of: (0..stations).map(router).collect::<Result<_, _>>()?,
            armed: vec![Time::MAX; stations],
            broken: vec![BTreeSet::new(); stations],
            books: Books::default(),
            past: vec![Counters::default(); stations],
        })
    }

    /// What is done from now on counts.
    pub fn begin_measuring(&mut self) {
        self.books = Books::default();
        self.past = self.of.iter().map(|router| router.counters().clone()).collect();
    }

    /// What has been done since measuring began.
    pub fn outcome(&self) -> RoutingOutcome {
        let sum = |of: &dyn Fn(&Counters) -> u64| -> u64 {
            self.of.iter().zip(&self.past).map(|(router, past)| of(router.counters()) - of(past)).sum()
        };
        let messages = Kind::ALL.iter().map(|&kind| MessagesOutcome {
            name: kind.name(),
            messages: sum(&|counters| counters.of(kind).0),
            bytes: sum(&|counters| counters.of(kind).1),
        });
        let books = &self.books;
        RoutingOutcome {
            protocol: self.protocol.to_owned(),
            packets: sum(&|counters| counters.packets),
            bytes: sum(&|counters| counters.bytes),
            messages: messages.filter(|of| of.messages > 0).collect(),
            packets_lost: books.packets_lost,
            crossed: books.crossed,
            mean_hops: if books.crossed > 0 { books.hops as f64 / books.crossed as f64 } else { 0.0 },
            route_changes: books.route_changes,
            lost: books.lost.iter().map(|(cause, count)| (cause.name(), *count)).collect(),
            held: self.of.iter().map(|router| router.held() as u64).sum(),
        }
    }
}

/// What packets on media with routers have to remember beyond themselves.
#[derive(Debug, Default)]
pub struct Travel {
    /// By packet of data: the stations at which it came to the medium and leaves it, and its time to live.
    journeys: Vec<Journey>,
    /// What routers say, by number, and numbers that are free.
    messages: Vec<Option<Message>>,
    free: Vec<usize>,
    /// Packets with messages for everyone that have been sent, and when.
    sent: VecDeque<(Time, PacketId)>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Journey {
    pub origin: u32,
    /// The station at which it leaves the medium.
    pub exit: u32,
    pub ttl: u8,
}

impl Travel {
    /// A packet of data comes to a medium.
    pub fn begin(&mut self, id: PacketId, origin: u32, exit: u32) {
        let at = id as usize;
        if at >= self.journeys.len() {
            self.journeys.resize(at + 1, Journey::default());
        }
        self.journeys[at] = Journey { origin, exit, ttl: TTL };
    }

    /// What is known of a packet that came to a medium.
    pub fn of(&mut self, id: PacketId) -> &mut Journey {
        &mut self.journeys[id as usize]
    }

    /// Keeps a message; its number.
    pub fn keep(&mut self, message: Message) -> usize {
        let number = self.free.pop().unwrap_or(self.messages.len());
        if number == self.messages.len() {
            self.messages.push(None);
        }
        self.messages[number] = Some(message);
        number
    }

    /// The message of a number.
    pub fn message(&self, number: usize) -> Option<&Message> {
        self.messages.get(number)?.as_ref()
    }

    /// Nobody asks for it any longer.
    pub fn forget(&mut self, number: usize) {
        if self.messages[number].take().is_some() {
            self.free.push(number);
        }
    }

    /// A packet for everyone has been sent: it is at all who hear it within a millisecond.
    pub fn leave(&mut self, now: Time, id: PacketId) {
        self.sent.push_back((now + Span::ms(1), id));
    }

    /// A packet for everyone that is there by now, whoever has heard it.
    pub fn gone(&mut self, now: Time) -> Option<PacketId> {
        let &(at, id) = self.sent.front()?;
        (at < now).then(|| self.sent.pop_front())?;
        Some(id)
    }
}
