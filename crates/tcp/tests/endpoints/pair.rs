//! A sender and a receiver on a path, driven in virtual time. Segments are numbered from 1 by their place in the data.

use crate::invariants::Invariants;
use crate::path::{Fate, Path};
use std::collections::BTreeMap;
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::controller::AnyController;
use truckee_tcp::growth::AnyGrowth;
use truckee_tcp::pace::AnyPacing;
use truckee_tcp::recovery::AnyRecovery;
use truckee_tcp::response::AnyResponse;
use truckee_tcp::sender::{Parts, State};
use truckee_tcp::start::AnyStart;
use truckee_tcp::{
    Books, Cause, Receiver, Segment, Sender, Seq, Size, Span, Spec, Stack, Time, Transmission as Number,
    Transmit, flags, preset,
};

pub const MS: Span = Span::ms(1);
pub const MSS: u32 = 1000;

/// A stack whose numbers are easy to follow: 1000-byte segments, an initial window of one, exact clock.
pub fn stack() -> Stack {
    Stack { mss: MSS, initial_window: Size::Segments(1.0), handshake: false, ..Stack::default() }
}

/// The same with an initial window of `segments` and congestion avoidance from there on.
pub fn steady(segments: u64) -> Stack {
    let window = Size::Bytes(segments * u64::from(MSS));
    Stack { initial_window: window, initial_ssthresh: Some(window), ..stack() }
}

pub fn parts(recovery: &Spec, growth: &Spec, response: &Spec) -> Parts {
    let start = AnyStart::build(&Spec::named("slow-start")).expect("a start").0;
    let pacing = AnyPacing::build(&Spec::named("none")).expect("pacing").0;
    product(recovery, growth, response, start, pacing)
}

/// The same with this start and this pacing.
pub fn product(recovery: &Spec, growth: &Spec, response: &Spec, start: AnyStart, pacing: AnyPacing) -> Parts {
    let growth = AnyGrowth::build(growth).expect("a growth rule").0;
    let response = AnyResponse::build(response).expect("a loss response").0;
    Parts {
        recovery: AnyRecovery::build(recovery).expect("a recovery").0,
        controller: AnyController::of_parts(growth, response, pacing),
        start,
    }
}

/// A data segment as it left the sender, or a SYN.
#[derive(Debug, Clone, Copy)]
pub struct Transmission {
    pub at: Time,
    pub number: u64,
    pub segment: Segment,
    pub transmission: Option<Number>,
    /// Whether its data was sent before.
    pub again: bool,
}

enum Packet {
    Data(Segment, bool),
    Ack(Segment),
}

pub struct Pair {
    pub now: Time,
    pub sender: Sender,
    pub books: Books,
    pub receiver: Receiver,
    pub path: Path,
    /// Everything the sender sent, in order.
    pub sent: Vec<Transmission>,
    /// Every ACK that left the receiver.
    pub acks: Vec<(Time, Segment)>,
    /// Payload handed to the receiving application.
    pub delivered: u64,
    written: u64,
    mss: u32,
    invariants: Invariants,
    /// Packets on their way, by arrival and order.
    air: BTreeMap<(Time, u64), Packet>,
    ordinal: u64,
    /// What is to be said of transmissions to come: segment, how many went before, cause.
    told: Vec<(u64, usize, Cause)>,
}

impl Pair {
    /// A sender of these parts and a receiver of this policy, 50 ms apart.
    pub fn of(stack: &Stack, parts: Parts, policy: &Spec) -> Self {
        let stack = &Stack { timestamps: stack.timestamps || parts.want_timestamps(), ..stack.clone() };
        let sender = Sender::new(stack, parts);
        let sack = sender.wants_sack();
        let policy = AnyAckPolicy::build(policy).expect("an ACK policy").0;
        Self {
            now: Time::ZERO,
            receiver: Receiver::new(stack, policy, sack),
            sender,
            books: Books::default(),
            path: Path::new(50 * MS),
            sent: Vec::new(),
            acks: Vec::new(),
            delivered: 0,
            written: 0,
            mss: stack.mss,
            invariants: Invariants::new(stack),
            air: BTreeMap::new(),
            ordinal: 0,
            told: Vec::new(),
        }
    }

    /// A preset against a receiver that acknowledges every segment.
    pub fn preset(stack: &Stack, name: &str) -> Self {
        let preset = preset::find(name).expect("a preset");
        Self::of(stack, Parts::of(preset).expect("a preset's parts"), &Spec::named("every"))
    }

    /// A recovery, per-ack and halving, against a receiver that acknowledges every segment.
    pub fn recovery(stack: &Stack, recovery: &Spec) -> Self {
        Self::of(
            stack,
            parts(recovery, &Spec::named("per-ack"), &Spec::named("halve")),
            &Spec::named("every"),
        )
    }

    /// The first transmission of each of these segments is lost (twice where named twice, and so on).
    pub fn lose_segments(mut self, numbers: &[u64]) -> Self {
        for &number in numbers {
            *self.path.losses.entry(number).or_default() += 1;
        }
        self
    }

    /// The packets sent to the receiver with these ordinals, from 0, are lost.
    pub fn lose_forward(mut self, ordinals: &[usize]) -> Self {
        self.path.forward = fates(ordinals);
        self
    }

    /// The packets sent to the sender with these ordinals, from 0, are lost.
    pub fn lose_back(mut self, ordinals: &[usize]) -> Self {
        self.path.back = fates(ordinals);
        self
    }

    /// Opens, writes so many full segments and closes.
    pub fn send_segments(&mut self, segments: u64) {
        self.send_file(segments * u64::from(self.mss));
    }

    /// Opens, writes so many bytes and closes.
    pub fn send_file(&mut self, bytes: u64) {
        self.open();
        self.write(bytes);
        self.sender.close();
        self.pump();
    }

    /// Writes so many bytes and closes, before anything of it leaves.
    pub fn write_and_close(&mut self, bytes: u64) {
        self.sender.write(bytes);
        self.written += bytes;
        self.sender.close();
        self.pump();
    }

    pub fn open(&mut self) {
        self.sender.open(self.now, &mut self.books);
        self.pump();
    }

    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
        self.written += bytes;
        self.pump();
    }

    /// Goes on until nothing is left to happen. Everything written must then have come.
    pub fn deliver_all(&mut self) {
        self.run_out();
        assert_eq!(self.delivered, self.written, "bytes delivered");
    }

    /// Goes on until nothing is left to happen. Everything written must then have been sent and acknowledged.
    pub fn run_out(&mut self) {
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < 400_000, "the run does not end: {:?}", self.sender.outstanding());
        }
        assert_eq!(self.sender.unsent(), 0);
        assert!(self.sender.outstanding().is_empty());
        assert_eq!(
            self.books.counts().segments,
            self.sent.iter().filter(|t| t.segment.len > 0).count() as u64
        );
    }

    /// As [`Self::deliver_all`], for a sender that has been closed: it must have finished too.
    pub fn finish(&mut self) {
        self.deliver_all();
        assert_eq!(self.sender.state(), State::Finished);
    }

    /// Goes on up to and including `time`.
    pub fn run_until(&mut self, time: Time) {
        while self.next_event().is_some_and(|next| next <= time) {
            self.step();
        }
        self.now = self.now.max(time);
    }

    /// Goes on until the condition holds; it must come to hold.
    pub fn run_to(&mut self, condition: impl Fn(&Self) -> bool) {
        while !condition(self) {
            assert!(self.step(), "nothing left to happen");
        }
    }

    /// When segment `number` was sent: at first and again.
    pub fn times_of(&self, number: u64) -> Vec<Time> {
        self.data().filter(|t| t.number == number).map(|t| t.at).collect()
    }

    /// Numbers of the segments sent in `[from, to)`.
    pub fn numbers_within(&self, from: Time, to: Time) -> Vec<u64> {
        self.data().filter(|t| t.at >= from && t.at < to).map(|t| t.number).collect()
    }

    /// Numbers of the segments sent again, in order.
    pub fn resent(&self) -> Vec<u64> {
        self.data().filter(|t| t.again).map(|t| t.number).collect()
    }

    /// cwnd in segments.
    pub fn cwnd(&self) -> f64 {
        self.sender.window().cwnd / f64::from(self.mss)
    }

    /// ssthresh in segments.
    pub fn ssthresh(&self) -> f64 {
        self.sender.window().ssthresh / f64::from(self.mss)
    }

    fn data(&self) -> impl Iterator<Item = &Transmission> {
        self.sent.iter().filter(|t| t.segment.len > 0)
    }

    fn next_event(&self) -> Option<Time> {
        let arrival = self.air.first_key_value().map(|(&(at, _), _)| at);
        [arrival, self.sender.deadline(), self.sender.release(), self.receiver.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Handles the next event; false if there is none.
    fn step(&mut self) -> bool {
        let Some(at) = self.next_event() else { return false };
        assert!(at >= self.now, "time goes back");
        self.now = at;
        if let Some(entry) = self.air.first_entry().filter(|e| e.key().0 == at) {
            match entry.remove() {
                Packet::Data(segment, marked) => {
                    self.receiver.on_segment(at, &segment, marked, &mut ());
                    self.delivered += self.receiver.delivered();
                }
                Packet::Ack(ack) => self.sender.on_segment(at, &ack, &mut self.books),
            }
        } else if self.sender.deadline() == Some(at) {
            self.sender.on_timer(at, &mut self.books);
        } else if self.sender.release() != Some(at) {
            self.receiver.on_timer(at);
        }
        self.pump();
        true
    }

    /// Lets both ends send what they want to.
    fn pump(&mut self) {
        let before = self.sent.len();
        loop {
            self.invariants.before(&self.sender);
            let Some(sent) = self.sender.poll_transmit(self.now, &mut self.books) else { break };
            self.invariants.sent(&self.sender, &sent);
            self.forward(&sent);
            assert!(self.sent.len() - before < 100_000, "the sender does not stop sending");
        }
        while let Some(ack) = self.receiver.poll_transmit(self.now) {
            self.acks.push((self.now, ack));
            for ack in self.path.divided(&ack) {
                let fate = self.path.ack_fate();
                self.launch(fate, || Packet::Ack(ack));
            }
        }
        self.invariants.after(&self.sender, &self.books, &self.receiver, self.delivered);
    }

    /// The laboratory tells that this transmission of segment `number` is lost, after so many others of it, or will be.
    pub fn tell(&mut self, number: u64, before: usize, cause: Cause) {
        self.told.push((number, before, cause));
        let sent: Vec<_> = self.data().filter(|t| t.number == number).copied().collect();
        if let Some(sent) = sent.get(before) {
            self.note(number, before, sent.transmission, sent.segment.end());
        }
    }

    fn note(&mut self, number: u64, before: usize, transmission: Option<Number>, end: Seq) {
        let told = self.told.iter().position(|&(n, b, _)| (n, b) == (number, before));
        if let (Some(at), Some(transmission)) = (told, transmission) {
            self.books.note_drop(transmission, end, self.told.remove(at).2);
        }
    }

    fn forward(&mut self, sent: &Transmit) {
        let segment = sent.segment;
        let number = segment.seq.saturating_sub(Seq::FIRST) / u64::from(self.mss) + 1;
        let fate = self.path.data_fate(&segment, number);
        if segment.len > 0 || segment.has(flags::SYN | flags::FIN) {
            let before = self.data().filter(|t| t.number == number).count();
            self.note(number, before, sent.number, segment.end());
            self.sent.push(Transmission {
                at: self.now,
                number,
                segment,
                transmission: sent.number,
                again: sent.retransmission,
            });
        }
        self.launch(fate, || Packet::Data(segment, fate.marked));
    }

    fn launch(&mut self, fate: Fate, packet: impl Fn() -> Packet) {
        if fate.lost {
            return;
        }
        for _ in 0..=fate.copies {
            self.ordinal += 1;
            self.air.insert((self.now + self.path.delay + fate.late, self.ordinal), packet());
        }
    }
}

fn fates(lost: &[usize]) -> std::collections::VecDeque<Fate> {
    let last = lost.iter().max().map_or(0, |&last| last + 1);
    (0..last).map(|k| if lost.contains(&k) { Fate::LOST } else { Fate::default() }).collect()
}
