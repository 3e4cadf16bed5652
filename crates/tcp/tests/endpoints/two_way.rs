//! Two endpoints that both send and receive, over one connection.

use crate::pair::{MS, MSS, stack};
use crate::path::{Fate, below};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use truckee_tcp::ack::{AckPolicy, AnyAckPolicy, Honesty};
use truckee_tcp::sender::Parts;
use truckee_tcp::stack::{Autotuning, Ecn};
use truckee_tcp::{Books, Endpoint, Segment, Seq, Span, Spec, Stack, Time, flags, preset};

const DELAY: Span = Span::ms(50);

/// A client, which opens, and a server.
struct Duplex {
    now: Time,
    ends: [Endpoint; 2],
    books: [Books; 2],
    delivered: [u64; 2],
    /// Fates of what each end sends, in order.
    fates: [VecDeque<Fate>; 2],
    sent: [Vec<(Time, Segment)>; 2],
    air: BTreeMap<(Time, u64), (usize, Segment)>,
    ordinal: u64,
}

const CLIENT: usize = 0;
const SERVER: usize = 1;

impl Duplex {
    fn new(stack: &Stack, sender: &str, policy: &str) -> Self {
        let end = || {
            let parts = Parts::of(preset::find(sender).expect("a preset")).expect("its parts");
            let policy = AnyAckPolicy::build(&Spec::named(policy)).expect("an ACK policy").0;
            let sack = sender == "sack";
            Endpoint::both(stack, parts, policy, sack)
        };
        Self {
            now: Time::ZERO,
            ends: [end(), end()],
            books: Default::default(),
            delivered: [0; 2],
            fates: Default::default(),
            sent: Default::default(),
            air: BTreeMap::new(),
            ordinal: 0,
        }
    }

    fn open(&mut self) {
        let [client, server] = &mut self.ends;
        server.listen(Time::ZERO, &mut self.books[SERVER]);
        client.open(Time::ZERO, &mut self.books[CLIENT]);
        self.pump();
    }

    fn write(&mut self, end: usize, bytes: u64) {
        self.ends[end].tx_mut().expect("it sends").write(bytes);
        self.pump();
    }

    fn close(&mut self) {
        for end in &mut self.ends {
            end.tx_mut().expect("it sends").close();
        }
        self.pump();
    }

    fn pump(&mut self) {
        for k in [CLIENT, SERVER] {
            while let Some(sent) = self.ends[k].poll_transmit(self.now, &mut self.books[k]) {
                self.sent[k].push((self.now, sent.segment));
                assert!(self.sent[k].len() < 100_000, "it does not stop sending");
                let fate = self.fates[k].pop_front().unwrap_or_default();
                for _ in 0..u8::from(!fate.lost) * (1 + fate.copies) {
                    self.ordinal += 1;
                    self.air.insert((self.now + DELAY + fate.late, self.ordinal), (1 - k, sent.segment));
                }
            }
        }
    }

    fn next(&self) -> Option<Time> {
        let arrival = self.air.first_key_value().map(|(key, _)| key.0);
        let timers = self.ends.iter().flat_map(|end| [end.deadline(), end.release()]).flatten();
        arrival.into_iter().chain(timers).min()
    }

    fn step(&mut self) -> bool {
        let Some(at) = self.next() else { return false };
        assert!(at >= self.now);
        self.now = at;
        if let Some(entry) = self.air.first_entry().filter(|e| e.key().0 == at) {
            let (k, segment) = entry.remove();
            self.ends[k].on_segment(at, &segment, false, &mut self.books[k]);
            self.delivered[k] += self.ends[k].rx().expect("it receives").delivered();
        } else {
            for k in [CLIENT, SERVER] {
                if self.ends[k].deadline().is_some_and(|d| d <= at) {
                    self.ends[k].on_timer(at, &mut self.books[k]);
                }
            }
        }
        self.pump();
        true
    }

    fn run(&mut self) {
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < 400_000, "the run does not end");
        }
    }

    fn run_until(&mut self, time: Time) {
        while self.next().is_some_and(|next| next <= time) {
            self.step();
        }
        self.now = time;
    }

    fn pure_acks(&self, end: usize) -> usize {
        let pure = |s: &&(Time, Segment)| s.1.seq_len() == 0;
        self.sent[end].iter().filter(pure).count()
    }
}

fn two_way() -> Stack {
    Stack { handshake: true, ..stack() }
}

#[test]
fn a_response_carries_the_ack_of_its_request_and_cancels_its_delay() {
    let mut duplex = Duplex::new(&two_way(), "newreno", "delayed");
    duplex.open();
    duplex.write(CLIENT, 300);
    duplex.run_until(Time::ms(151)); // SYN, SYN-ACK, then the request with the ACK of the handshake
    assert_eq!(duplex.delivered, [0, 300]);
    duplex.write(SERVER, 500);
    let (at, response) = *duplex.sent[SERVER].last().unwrap();
    assert_eq!((at, response.len, response.ack), (Time::ms(151), 500, Seq::at(301)));
    duplex.run();
    assert_eq!(duplex.delivered, [500, 300]);
    assert_eq!(duplex.pure_acks(SERVER), 0, "nothing is left to the timer of delayed ACKs");
    assert_eq!(duplex.pure_acks(CLIENT), 1, "the response's");
    assert_eq!((duplex.books[CLIENT].counts().timeouts, duplex.books[SERVER].counts().timeouts), (0, 0));
}

#[test]
fn data_both_ways_at_once_is_no_row_of_duplicates() {
    let mut duplex = Duplex::new(&two_way(), "newreno", "every");
    duplex.open();
    duplex.write(CLIENT, 200 * u64::from(MSS));
    duplex.write(SERVER, 200 * u64::from(MSS));
    duplex.close();
    duplex.run();
    assert_eq!(duplex.delivered, [200_000; 2]);
    for k in [CLIENT, SERVER] {
        let counts = duplex.books[k].counts();
        assert_eq!((counts.retransmitted_segments, counts.fast_retransmits, counts.timeouts), (0, 0, 0));
        assert!(duplex.ends[k].finished());
    }
}

#[test]
fn each_fin_is_repaired_and_so_is_the_one_of_an_end_that_only_receives() {
    // The FINs are the third packets of either end: SYN, ACK, FIN; SYN-ACK, ACK of the FIN, FIN.
    for (lost_by, ordinal) in [(CLIENT, 2), (SERVER, 1), (SERVER, 2)] {
        let mut duplex = Duplex::new(&two_way(), "newreno", "every");
        duplex.fates[lost_by] =
            (0..=ordinal).map(|k| Fate { lost: k == ordinal, ..Fate::default() }).collect();
        duplex.open();
        duplex.run_until(Time::ms(500));
        duplex.close();
        duplex.run();
        assert!(duplex.ends.iter().all(Endpoint::finished), "{lost_by} {ordinal}");
        assert!(duplex.ends.iter().all(|end| end.rx().unwrap().finished()));
    }
    // A receiver alone answers the FIN with its own; where the ACK of that dies, it asks again.
    let policy = AnyAckPolicy::build(&Spec::named("every")).unwrap().0;
    let mut receiver = Endpoint::receiver(&two_way(), policy, false);
    let segment =
        |seq, flag| Segment { seq, ack: Seq::FIRST, flags: flags::ACK | flag, ..Segment::default() };
    receiver.on_segment(Time::ZERO, &Segment { flags: flags::SYN, ..Segment::default() }, false, &mut ());
    assert!(receiver.poll_transmit(Time::ZERO, &mut ()).unwrap().segment.has(flags::SYN));
    receiver.on_segment(Time::ms(100), &segment(Seq::FIRST, 0), false, &mut ());
    receiver.on_segment(Time::ms(100), &segment(Seq::FIRST, flags::FIN), false, &mut ());
    let fin = receiver.poll_transmit(Time::ms(100), &mut ()).unwrap().segment;
    assert!(fin.has(flags::FIN) && fin.ack == Seq::at(2) && fin.seq == Seq::FIRST);
    let mut times = Vec::new();
    for _ in 0..3 {
        let at = receiver.deadline().unwrap();
        times.push(at.ticks(MS));
        receiver.on_timer(at, &mut ());
        assert_eq!(receiver.poll_transmit(at, &mut ()).map(|sent| sent.segment), Some(fin));
        assert_eq!(receiver.poll_transmit(at, &mut ()), None);
    }
    assert_eq!(times, [1100, 3100, 7100], "after an RTO of a second, doubled each time");
    receiver.on_segment(Time::s(8), &Segment { ack: Seq::at(2), ..segment(Seq::at(2), 0) }, false, &mut ());
    assert_eq!(receiver.deadline(), None);
}

#[test]
fn a_conversation_without_handshake_needs_none() {
    let mut duplex = Duplex::new(&stack(), "newreno", "delayed");
    duplex.open();
    duplex.write(SERVER, 700);
    duplex.write(CLIENT, 300);
    duplex.close();
    duplex.run();
    assert_eq!(duplex.delivered, [700, 300]);
    assert!(duplex.sent.iter().flatten().all(|(_, s)| !s.has(flags::SYN | flags::FIN)));
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate =
        (prop::bool::weighted(0.15), prop::bool::weighted(0.1), below(120 * MS), prop::bool::weighted(0.05));
    let fate = fate.prop_map(|(lost, late, by, twice)| Fate {
        lost,
        late: if late { by } else { Span::ZERO },
        copies: u8::from(twice),
        marked: false,
    });
    prop::collection::vec(fate, 0..60)
}

proptest! {
    #[test]
    fn every_byte_comes_once_in_both_directions_whatever_the_path_does(
        (sender, policy) in (
            prop::sample::select(&["newreno", "sack", "cubic", "bbr", "vegas", "tahoe"][..]),
            prop::sample::select(AnyAckPolicy::MEMBERS),
        ),
        (there, back) in (fates(), fates()),
        messages in prop::collection::vec((0usize..2, 1u64..20_000, below(3000 * MS)), 1..12),
        (handshake, timestamps) in any::<(bool, bool)>(),
        ecn in prop::sample::select(&[Ecn::Off, Ecn::Classic, Ecn::Accurate][..]),
        rwnd_autotuning in prop::sample::select(&Autotuning::ALL[..]),
    ) {
        let honest = AnyAckPolicy::build(&Spec::named(policy.name)).unwrap().0.honesty() == Honesty::Honest;
        let policy = if honest { policy.name } else { "every" };
        let stack = Stack { handshake, timestamps, ecn, rwnd_autotuning, ..stack() };
        let mut duplex = Duplex::new(&stack, sender, policy);
        duplex.fates = [there.into(), back.into()];
        duplex.open();
        let mut written = [0; 2];
        for (end, bytes, pause) in messages {
            written[end] += bytes;
            duplex.write(end, bytes);
            duplex.run_until(duplex.now + pause);
        }
        duplex.close();
        duplex.run();
        prop_assert_eq!(duplex.delivered, [written[1], written[0]]);
        prop_assert!(duplex.ends.iter().all(Endpoint::finished));
    }
}
