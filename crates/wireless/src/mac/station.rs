//! A station's state: what it waits for, and what it answers.

use super::contention::{Contention, NEVER};
use super::frame::{EVERYONE, Frame, Pending};
use super::plan::Plan;
use super::rate_control::{Control, RateControl};
use crate::config::{Aggregation, MediumConfig, Protection};
use crate::phy::{Modulation, Phy, Rate, Timing, bytes};
use crate::report::{Counters, Failure, Kind, Report};
use crate::{NodeId, Span, Time};
use std::collections::VecDeque;
use truckee_channel::random::{Xoshiro256PlusPlus, up_to};

/// What all stations go by.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub timing: Timing,
    pub phy: Phy,
    /// Of data, slowest first.
    pub rates: Vec<Rate>,
    pub basic: Vec<Rate>,
    /// The slowest of them.
    pub lowest: Rate,
    pub overhead: u32,
    pub rts_threshold: u32,
    pub short_retries: u32,
    pub long_retries: u32,
    pub voids_requests: bool,
    pub protection: Option<Protection>,
    pub aggregation: Option<Aggregation>,
    /// By [`Rate::number`].
    by_rate: [AtRate; Rate::COUNT],
}

/// What follows from the rate of a frame alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtRate {
    /// Preamble and header.
    pub header: Span,
    /// What answers the frame goes at this rate,
    pub answer: Rate,
    /// and lasts as long.
    pub cts: Span,
    pub ack: Span,
    pub block_ack: Span,
}

impl AtRate {
    fn new(rate: Rate, phy: &Phy, basic: &[Rate]) -> Self {
        let answer = rate.answer(basic);
        let [cts, ack, block_ack] =
            [bytes::CTS, bytes::ACK, bytes::BLOCK_ACK].map(|size| phy.airtime(answer, size));
        Self { header: phy.header(rate), answer, cts, ack, block_ack }
    }
}

impl Rules {
    pub fn of(config: &MediumConfig) -> Self {
        let lowest = config.basic_rates.iter().copied().min();
        let phy = config.standard.phy();
        Self {
            by_rate: Rate::all().map(|rate| AtRate::new(rate, &phy, &config.basic_rates)),
            timing: config.timing,
            phy,
            rates: config.standard.rates(),
            basic: config.basic_rates.clone(),
            lowest: lowest.unwrap_or(config.standard.rates()[0]),
            overhead: config.overhead,
            rts_threshold: config.rts_threshold,
            short_retries: config.short_retries.unwrap_or(u32::MAX),
            long_retries: config.long_retries.unwrap_or(u32::MAX),
            voids_requests: config.voids_requests,
            protection: config.protection,
            aggregation: config.aggregation,
        }
    }

    /// What follows from a frame's rate alone.
    #[inline(always)]
    pub fn at(&self, rate: Rate) -> &AtRate {
        &self.by_rate[rate.number()]
    }

    /// Everything that a receiver may have to read.
    pub fn modulations(&self) -> Vec<Modulation> {
        let ahead = self.protection.map(|(Protection::CtsToSelf(rate) | Protection::RtsCts(rate))| rate);
        let sent = self.rates.iter().chain(&self.basic).copied().chain(ahead);
        let rates = sent.flat_map(|rate| [rate, rate.answer(&self.basic)]);
        rates.flat_map(|rate| [rate, self.phy.header_bits(rate).1]).map(Rate::modulation).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing to send. A backoff may be running all the same.
    Idle,
    /// Waiting for its turn.
    Contending,
    /// Sending a frame of its own exchange.
    Sending,
    /// A SIFS before the data: a CTS has come, or was sent.
    Cleared,
    AwaitingCts,
    AwaitingAck,
}

/// What a station knows of one that it sends to.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub id: u32,
    pub next_seq: u64,
    pub control: Control,
    /// A packet was given up that the peer may be waiting for; how often it was told so in vain.
    pub request: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Station {
    pub contention: Contention,
    pub(super) state: State,
    /// When the state has something to do.
    pub(super) due: Time,
    /// When the answer has to be sent.
    answer_at: Time,
    answer: Option<Frame>,
    /// The answer has not begun in time, but something else was being read then.
    overdue: bool,
    pub(super) id: u32,
    pub(super) plan: Plan,
    pub(super) rng: Xoshiro256PlusPlus,
    /// On the way to the next station: what the exchange is about, oldest first.
    pub(super) flight: Vec<Pending>,
    pub(super) queue: VecDeque<Pending>,
    pub limit: usize,
    /// Whether anybody has more for it.
    pub tells_room: bool,
    /// Sorted by number.
    pub(super) peers: Vec<Peer>,
    /// Which of them was asked for last: mostly the one that is asked for next.
    last_peer: usize,
    /// Peers that have to be told what was given up.
    pub(super) requests: u32,
    rate: RateControl,
    pub counters: Counters,
    /// Since when the medium is busy, if it is, and for how long it was before.
    busy_since: Time,
    busy: Span,
}

impl Station {
    pub fn new(id: u32, rate: RateControl, limit: usize, rules: &Rules, rng: Xoshiro256PlusPlus) -> Self {
        Self {
            contention: Contention::new(&rules.timing),
            state: State::Idle,
            due: NEVER,
            answer_at: NEVER,
            answer: None,
            overdue: false,
            id,
            plan: Plan::none(rules.lowest),
            rng,
            flight: Vec::new(),
            queue: VecDeque::new(),
            limit,
            tells_room: true,
            peers: Vec::new(),
            last_peer: 0,
            requests: 0,
            rate,
            counters: Counters::default(),
            busy_since: Time::ZERO,
            busy: Span::ZERO,
        }
    }

    /// For how long the medium has been busy to it.
    pub fn busy(&self, now: Time) -> Span {
        self.busy + if self.contention.busy { now - self.busy_since } else { Span::ZERO }
    }

    /// When [`Station::on_timer`] is to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.due.min(self.answer_at)
    }

    /// Packets that wait or are on the way.
    pub fn pending(&self) -> impl Iterator<Item = &Pending> {
        self.flight.iter().chain(&self.queue)
    }

    /// Packets that would be accepted.
    pub fn room(&self) -> usize {
        self.limit - self.queue.len()
    }

    /// What waits goes to another access point.
    pub fn redirect(&mut self, access_point: u32) {
        self.queue.iter_mut().for_each(|p| p.next = access_point);
    }

    /// Takes what waits for another station out of the queue.
    pub fn withdraw(&mut self, next: u32, mut out: impl FnMut(u64)) {
        self.queue.retain(|p| {
            let stays = p.next != next;
            if !stays {
                out(p.id);
            }
            stays
        });
        let nothing_left = self.flight.is_empty() && self.queue.is_empty() && self.requests == 0;
        if nothing_left && self.state == State::Contending {
            // What is left of the backoff counts down all the same, as after an exchange.
            (self.state, self.due) = (State::Idle, NEVER);
        }
    }

    /// The laboratory notes what ended an attempt.
    pub fn note_failure(&mut self, failure: Failure) {
        let sending = self.plan.packets as usize;
        self.flight.iter_mut().take(sending).for_each(|p| p.failure = failure);
    }

    /// Packets of its exchange: for the laboratory's notes.
    pub fn flight_mut(&mut self) -> &mut [Pending] {
        &mut self.flight
    }

    /// A packet to send. False if the queue is full.
    pub fn offer(&mut self, now: Time, packet: Pending, rules: &Rules) -> bool {
        if self.queue.len() >= self.limit {
            return false;
        }
        self.queue.push_back(packet);
        if self.state == State::Idle {
            if self.contention.must_draw(now, &rules.timing) {
                self.draw(now);
            }
            self.contend(now, rules);
        }
        true
    }

    pub(super) fn draw(&mut self, now: Time) {
        let slots = up_to(&mut self.rng, u64::from(self.contention.window));
        self.contention.draw(now, slots as u32);
    }

    pub(super) fn contend(&mut self, now: Time, rules: &Rules) {
        self.state = State::Contending;
        self.due = self.contention.access(now, &rules.timing);
    }

    /// The medium is busy to it from now on, or is so no longer; whether its deadline is another one for that.
    #[inline(never)]
    pub fn turn(&mut self, now: Time, busy: bool, rules: &Rules) -> bool {
        if busy { self.on_busy(now, rules) } else { self.on_idle(now, rules) }
    }

    /// The medium is busy to it from now on; whether its deadline is another one for that.
    #[inline]
    pub fn on_busy(&mut self, now: Time, rules: &Rules) -> bool {
        if !self.contention.busy {
            self.busy_since = now;
        }
        self.contention.on_busy(now, &rules.timing);
        // Where the allocation vector covers what began, as it does an acknowledgement, the deadline lies behind that and
        // will nearly always be found the same again.
        let stops = self.state == State::Contending && self.contention.is_free(now);
        if stops {
            self.due = NEVER;
        }
        stops
    }

    /// The medium is so no longer; whether its deadline is another one for that.
    #[inline]
    fn on_idle(&mut self, now: Time, rules: &Rules) -> bool {
        self.busy += now - self.busy_since;
        self.contention.on_idle(now);
        let goes_on = self.state == State::Contending;
        if goes_on {
            self.due = self.contention.access(now, &rules.timing);
        }
        goes_on
    }

    /// The deadline has come. The frame to be sent now, if any. `reading`: the radio is in the middle of a frame.
    pub fn on_timer(
        &mut self,
        now: Time,
        reading: bool,
        rules: &Rules,
        out: &mut VecDeque<Report>,
    ) -> Option<Frame> {
        if self.answer_at <= now {
            self.answer_at = NEVER;
            return self.answer.take();
        }
        match self.state {
            State::Contending if !self.contention.busy => Some(self.begin(now, rules, out)),
            State::Cleared => Some(self.data(rules)),
            State::AwaitingCts | State::AwaitingAck if reading => {
                self.overdue = true;
                self.due = NEVER;
                None
            }
            State::AwaitingCts | State::AwaitingAck => {
                self.fail(now, rules, out);
                None
            }
            State::Contending | State::Idle | State::Sending => {
                self.due = NEVER;
                None
            }
        }
    }

    /// A frame of its own has been sent.
    pub fn on_sent(&mut self, now: Time, frame: &Frame, rules: &Rules, out: &mut VecDeque<Report>) {
        match frame.kind {
            Kind::Rts => self.wait(State::AwaitingCts, now + rules.timing.answer),
            Kind::CtsToSelf => self.wait(State::Cleared, now + rules.timing.sifs),
            Kind::Data if frame.to == EVERYONE => self.succeed(now, |_| true, rules, out),
            Kind::Data | Kind::Aggregate | Kind::BlockAckRequest => {
                self.wait(State::AwaitingAck, now + rules.timing.answer);
            }
            Kind::Cts | Kind::Ack | Kind::BlockAck => {}
        }
    }

    pub(super) fn wait(&mut self, state: State, until: Time) {
        self.state = state;
        self.due = until;
        self.overdue = false;
    }

    /// A frame for another station was read.
    pub fn on_overheard(&mut self, now: Time, frame: &Frame, rules: &Rules, out: &mut VecDeque<Report>) {
        self.contention.on_read();
        if frame.kind == Kind::Rts && rules.voids_requests {
            // 10.3.2.4: two SIFS, a CTS, aRxPHYStartDelay and two slots, of which the wait for an answer is a part.
            let cts = rules.at(frame.rate).cts;
            let patience = rules.timing.sifs + cts + rules.timing.answer + rules.timing.slot;
            self.contention.reserve_unless_idle(now, frame.nav, patience);
        } else {
            self.contention.reserve(now, frame.nav);
        }
        self.on_other(now, rules, out);
    }

    /// What came is not what was waited for: what was sent has failed (10.3.2.9).
    fn on_other(&mut self, now: Time, rules: &Rules, out: &mut VecDeque<Report>) {
        if matches!(self.state, State::AwaitingCts | State::AwaitingAck) {
            self.fail(now, rules, out);
        }
    }

    /// A frame ended that could not be read.
    pub fn on_garbled(&mut self, now: Time, rules: &Rules, out: &mut VecDeque<Report>) {
        self.contention.on_garbled(now);
        self.on_other(now, rules, out);
    }

    /// The beginning of a frame was lost again.
    pub fn on_lost(&mut self, now: Time, rules: &Rules, out: &mut VecDeque<Report>) {
        if self.overdue {
            self.on_other(now, rules, out);
        }
    }

    /// A frame for this station, or for everyone, was read. In a request for a block acknowledgement, `inbox` is what
    /// has come so far: the bitmap, and where the window begins. Why it is not answered, if it should be.
    pub fn on_frame(
        &mut self,
        now: Time,
        frame: &Frame,
        inbox: (u64, u64),
        rules: &Rules,
        out: &mut VecDeque<Report>,
    ) -> Option<Failure> {
        self.contention.on_read();
        match (frame.kind, self.state) {
            (Kind::Cts, State::AwaitingCts) if frame.from == self.plan.next => {
                let sending = self.plan.packets as usize;
                self.flight.iter_mut().take(sending).for_each(|p| p.short = 0);
                self.wait(State::Cleared, now + rules.timing.sifs);
                return None;
            }
            (Kind::Ack, State::AwaitingAck)
                if frame.from == self.plan.next && self.plan.kind == Kind::Data =>
            {
                self.succeed(now, |_| true, rules, out);
                return None;
            }
            (Kind::BlockAck, State::AwaitingAck)
                if frame.from == self.plan.next && self.plan.kind != Kind::Data =>
            {
                self.on_block_ack(now, frame, rules, out);
                return None;
            }
            _ => self.on_other(now, rules, out),
        }
        if frame.to == EVERYONE {
            return None;
        }
        let at = rules.at(frame.rate);
        let (kind, size, airtime) = match frame.kind {
            // 10.3.2.7: no answer where the medium is somebody else's.
            Kind::Rts if !self.contention.is_free(now) => return Some(Failure::Reserved),
            Kind::Rts => (Kind::Cts, bytes::CTS, at.cts),
            Kind::Data => (Kind::Ack, bytes::ACK, at.ack),
            Kind::Aggregate | Kind::BlockAckRequest => (Kind::BlockAck, bytes::BLOCK_ACK, at.block_ack),
            Kind::Cts | Kind::CtsToSelf | Kind::Ack | Kind::BlockAck => return None,
        };
        let rate = at.answer;
        let nav = frame.nav.saturating_sub(rules.timing.sifs + airtime);
        let (bitmap, first) = inbox;
        let (from, to) = (self.id, frame.from);
        let (packets, request) = (0, false);
        let answer =
            Frame { kind, from, to, rate, bytes: size, airtime, nav, packets, request, first, bitmap };
        self.answer = Some(answer);
        self.answer_at = now + rules.timing.sifs;
        None
    }

    /// Whether what became of an exchange has a part in the rate of the next.
    pub(super) fn learns_rates(&self) -> bool {
        !matches!(self.rate, RateControl::Fixed(_))
    }

    /// What this station knows of another.
    #[inline]
    pub(super) fn peer(&mut self, id: u32, rules: &Rules) -> &mut Peer {
        let i = self.peer_index(id, rules);
        &mut self.peers[i]
    }

    /// Where that stands.
    #[inline]
    pub(super) fn peer_index(&mut self, id: u32, rules: &Rules) -> usize {
        if self.peers.get(self.last_peer).is_none_or(|peer| peer.id != id) {
            self.last_peer = self.find_peer(id, rules);
        }
        self.last_peer
    }

    #[inline(never)]
    fn find_peer(&mut self, id: u32, rules: &Rules) -> usize {
        self.peers.binary_search_by_key(&id, |p| p.id).unwrap_or_else(|i| {
            let control = Control::new(self.rate, &rules.rates, &rules.phy);
            self.peers.insert(i, Peer { id, next_seq: 0, control, request: None });
            i
        })
    }

    /// Reports how many packets have room, where that is of interest.
    pub(super) fn tell_room(&self, at: Time, out: &mut VecDeque<Report>) {
        if self.tells_room {
            out.push_back(Report::Room { at, node: NodeId(self.id), packets: self.room() });
        }
    }
}
