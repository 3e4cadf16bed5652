//! Arbitrary operations on a sender alone: a peer that lies, a driver that dawdles, time in any steps. Nothing may
//! panic or overflow, and what holds of a sender by itself must go on holding.
//!
//! Runs as an ordinary test; `cargo bolero test arbitrary::…` runs it under a fuzzer, `BOLERO_RANDOM_ITERATIONS` sets
//! the number of cases here.

use crate::invariants::Invariants;
use crate::pair::MS;
use bolero::{TypeGenerator, check};
use truckee_tcp::sender::Parts;
use truckee_tcp::stack::{Autotuning, Ecn, Undo};
use truckee_tcp::{
    Books, Cause, Profile, SackBlocks, Segment, Sender, Seq, Size, Span, Stack, Time, Transmission, flags,
    preset,
};

#[derive(Debug, Clone, Copy, TypeGenerator)]
enum Operation {
    Write(u16),
    /// Closes in one of eight cases, so that most conversations are long.
    Close {
        roll: u8,
        unsent: bool,
    },
    /// Acknowledges this share, in 255ths, of what is outstanding.
    Acknowledge(u8, Extras),
    /// Acknowledges nothing new, so often.
    Repeat(u8, Extras),
    /// Any number at all, near what is outstanding or far from it.
    Garbage {
        number: u64,
        far: bool,
        flags: u8,
        len: u16,
        extras: Extras,
    },
    /// The timer goes off when it is due …
    Timer,
    /// … or is asked before its time.
    EarlyTimer,
    /// Waits for pacing.
    Release,
    /// Up to four hours and a half.
    WaitMilliseconds(u32),
    WaitNanoseconds(u8),
    NoteDrop {
        from: u16,
        len: u16,
        wireless: bool,
    },
}

/// What an ACK says beside its number.
#[derive(Debug, Clone, Copy, TypeGenerator)]
struct Extras {
    window: Option<u32>,
    blocks: [(u16, u16); 4],
    count: u8,
    echo: bool,
    timestamp: u64,
}

#[derive(Debug, Clone, TypeGenerator)]
struct Case {
    preset: u8,
    settings: u8,
    mss: u8,
    initial_window: u16,
    operations: Vec<Operation>,
}

impl Case {
    fn window(&self) -> u64 {
        u64::from(self.initial_window >> 4)
    }

    fn stack(&self) -> Stack {
        let on = |bit: u8| self.settings & (1 << bit) != 0;
        let segment_from_acks = self.mss >= 200;
        // Small, so that windows hold many segments; but where segments are to shrink, above the least.
        let mss = (1 + u32::from(self.mss % 100)) * if segment_from_acks { 20 } else { 1 };
        Stack {
            mss,
            segment_from_acks,
            ack_rate_request: self.mss / 2,
            initial_window: Size::Bytes(self.window()),
            min_rto: if on(0) { Span::ZERO } else { 200 * MS },
            clock: if on(1) { Span::ZERO } else { 500 * MS },
            timestamps: on(2),
            dsack: on(5),
            undo: Undo::ALL[usize::from(self.settings >> 2 & 3)],
            limited_transmit: on(3),
            ecn: [Ecn::Off, Ecn::Classic, Ecn::Accurate][usize::from(on(4)) + usize::from(on(4) && on(6))],
            rwnd_autotuning: if on(3) { Autotuning::Off } else { Autotuning::Linux },
            handshake: on(5),
            send_buffer: on(6).then_some(Size::Bytes(self.window())),
            initial_ssthresh: on(7).then_some(Size::Segments(4.0)),
            ..self.profile().stack(Stack::default())
        }
    }

    fn profile(&self) -> Profile {
        if self.preset < 128 { Profile::Rfc } else { Profile::Ns2 }
    }
}

struct Harness {
    now: Time,
    sender: Sender,
    books: Books,
    invariants: Invariants,
    window: u32,
    /// Keeps the flags of a lying peer from mattering twice.
    stack: Stack,
}

impl Harness {
    fn new(case: &Case) -> Self {
        let preset = &preset::PRESETS[usize::from(case.preset) % preset::PRESETS.len()];
        let stack = case.stack();
        let parts = Parts::under(case.profile(), preset).expect("a preset's parts");
        let sender = Sender::new(&stack, parts);
        let invariants = Invariants::new(&stack).with_any_window();
        Self {
            now: Time::ZERO,
            sender,
            books: Books::default(),
            invariants,
            window: stack.advertised_window(),
            stack,
        }
    }

    fn apply(&mut self, operation: Operation) {
        let (una, max) = (self.sender.outstanding().una(), self.sender.outstanding().max());
        match operation {
            Operation::Write(bytes) => {
                self.sender.write(u64::from(bytes >> 3));
            }
            Operation::Close { roll: 32.., .. } => {}
            Operation::Close { unsent: false, .. } => self.sender.close(),
            Operation::Close { unsent: true, .. } => self.sender.close_unsent(),
            Operation::Acknowledge(share, extras) => {
                self.acknowledge(una + (max - una) * u64::from(share) / 255, 0, 0, extras);
            }
            Operation::Repeat(times, extras) => {
                for _ in 0..times % 8 {
                    self.acknowledge(una, 0, 0, extras);
                    self.speak();
                }
            }
            Operation::Garbage { number, far, flags, len, extras } => {
                let number = if far { Seq::at(number >> 16) } else { una.earlier(50) + number % 4000 };
                self.acknowledge(number, flags, len, extras);
            }
            Operation::Timer => {
                if let Some(deadline) = self.sender.deadline() {
                    self.now = self.now.max(deadline);
                    self.sender.on_timer(self.now, &mut self.books);
                }
            }
            Operation::Release => self.now = self.sender.release().unwrap_or(self.now).max(self.now),
            Operation::EarlyTimer => self.sender.on_timer(self.now, &mut self.books),
            Operation::WaitMilliseconds(ms) => self.now += u64::from(ms >> 8) * MS,
            Operation::WaitNanoseconds(ns) => self.now += Span::ns(u64::from(ns)),
            Operation::NoteDrop { from, len, wireless } => {
                let cause = if wireless { Cause::Wireless } else { Cause::Congestion };
                self.books.note_drop(Transmission(from.into()), una + u64::from(len), cause);
            }
        }
    }

    fn acknowledge(&mut self, ack: Seq, flag: u8, len: u16, extras: Extras) {
        self.window = extras.window.unwrap_or(self.window);
        let mut sack = SackBlocks::default();
        for &(gap, len) in extras.blocks.iter().take(usize::from(extras.count % 5)) {
            let span = self.sender.outstanding().max() - self.sender.outstanding().una() + 10;
            let from = ack + 1 + u64::from(gap) % span;
            sack.push(ack, from, from + 1 + u64::from(len) % span);
        }
        let segment = Segment {
            seq: Seq::FIRST,
            ack,
            window: self.window,
            len: u32::from(len),
            ts_val: Time::ns(extras.timestamp),
            ts_ecr: if self.stack.timestamps {
                Time::ns(extras.timestamp % (self.now.nanos() + 2))
            } else {
                Time::ZERO
            },
            sack,
            flags: flags::ACK | flag | if extras.echo { flags::ECE } else { 0 },
            ..Segment::default()
        };
        self.sender.on_segment(self.now, &segment, &mut self.books);
    }

    /// Lets the sender send all it wants to.
    fn speak(&mut self) {
        for sent in 0.. {
            assert!(sent < 2_000_000, "the sender does not stop sending");
            self.invariants.before(&self.sender);
            let Some(segment) = self.sender.poll_transmit(self.now, &mut self.books) else { break };
            self.invariants.sent(&self.sender, &segment);
        }
        self.invariants.sender_alone(&self.sender, &self.books);
    }
}

#[test]
fn no_sequence_of_operations_upsets_a_sender() {
    check!().with_type::<Case>().with_iterations(40_000).for_each(|case| {
        let mut harness = Harness::new(case);
        harness.sender.open(Time::ZERO, &mut harness.books);
        harness.speak();
        for &operation in &case.operations {
            harness.apply(operation);
            harness.speak();
        }
    });
}
