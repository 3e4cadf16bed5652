//! A receiver alone: what it hands on, and when it answers at once (RFC 5681, section 4.2).

use crate::pair::stack;
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::{Receiver, Segment, Seq, Size, Spec, Stack, Time, flags};

/// A receiver that delays, and what it has delivered.
struct Bench {
    receiver: Receiver,
    delivered: u64,
}

impl Bench {
    fn new(stack: &Stack) -> Self {
        let policy = AnyAckPolicy::build(&Spec::named("delayed")).expect("an ACK policy").0;
        Self { receiver: Receiver::new(stack, policy, true), delivered: 0 }
    }

    /// Payload `[from, to)`, counted from 0; the ACK that leaves at once, if one does, counted likewise.
    fn receive(&mut self, from: u64, to: u64) -> Option<u64> {
        self.take(from, to, flags::ACK)
    }

    fn take(&mut self, from: u64, to: u64, flags: u8) -> Option<u64> {
        let segment =
            Segment { seq: Seq::at(from + 1), len: (to - from) as u32, flags, ..Segment::default() };
        self.receiver.on_segment(Time::ms(1), &segment, false, &mut ());
        self.delivered += self.receiver.delivered();
        let ack = self.receiver.poll_transmit(Time::ms(1)).map(|ack| ack.ack - Seq::FIRST);
        assert_eq!(self.receiver.poll_transmit(Time::ms(1)), None, "one ACK a segment");
        ack
    }
}

#[test]
fn what_is_out_of_order_fills_a_hole_or_came_before_is_acknowledged_at_once() {
    let mut bench = Bench::new(&stack());
    assert_eq!(bench.receive(0, 1000), None, "delayed");
    assert_eq!(bench.receive(3000, 4000), Some(1000), "beyond a hole");
    assert_eq!(bench.receive(1000, 2000), Some(2000), "fills a part of it");
    assert_eq!(bench.receive(2000, 3000), Some(4000), "fills the rest");
    assert_eq!(bench.receive(4000, 5000), None, "delayed again");
    assert_eq!(bench.receive(0, 1000), Some(5000), "a duplicate");
    assert_eq!(bench.delivered, 5000);
}

#[test]
fn overlapping_segments_are_delivered_once() {
    let mut bench = Bench::new(&stack());
    bench.receive(2000, 3000);
    bench.receive(4000, 5000);
    bench.receive(1500, 5500); // around both
    bench.receive(0, 1800);
    assert_eq!(bench.receiver.rcv_nxt(), Seq::at(5501));
    assert_eq!(bench.delivered, 5500);
}

#[test]
fn a_fin_beyond_a_hole_waits_for_it() {
    let mut bench = Bench::new(&stack());
    bench.receive(0, 1000);
    assert_eq!(bench.take(2000, 2500, flags::ACK | flags::FIN), Some(1000));
    assert!(!bench.receiver.finished());
    assert_eq!(bench.receive(1000, 2000), Some(2501), "FIN has a number of its own");
    assert!(bench.receiver.finished());
    assert_eq!(bench.delivered, 2500);
}

#[test]
fn what_begins_beyond_the_window_is_not_kept() {
    let mut bench = Bench::new(&Stack { rwnd: Size::Bytes(4000), ..stack() });
    assert_eq!(bench.receive(4000, 5000), Some(0));
    assert_eq!(bench.receive(3000, 4000), Some(0));
    bench.receive(0, 1000);
    assert_eq!(bench.receive(1000, 3000), Some(4000), "what began within it is");
}
