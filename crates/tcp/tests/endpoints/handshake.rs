//! The side that is called: its SYN-ACK, and what the handshake leaves behind.

use crate::pair::{MS, stack};
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::{Receiver, Segment, Seq, Spec, Stack, Time, flags};

fn called(syn_ack_timer: bool) -> Receiver {
    let stack = Stack { handshake: true, timestamps: true, syn_ack_timer, ..stack() };
    let every = AnyAckPolicy::build(&Spec::named("every")).expect("an ACK policy").0;
    let mut receiver = Receiver::new(&stack, every, false);
    hear(&mut receiver, 0, &Segment { flags: flags::SYN, ts_val: Time::ms(1), ..Segment::default() });
    receiver
}

fn hear(receiver: &mut Receiver, ms: u64, segment: &Segment) {
    receiver.on_segment(Time::ms(ms), segment, false, &mut ());
}

/// When it sends something by itself, ms, up to a minute, given nothing.
fn departures(receiver: &mut Receiver) -> Vec<u64> {
    let mut at = Vec::new();
    while receiver.poll_transmit(Time::ms(at.last().copied().unwrap_or(0))).is_some() {
        let Some(next) = receiver.deadline() else { break };
        receiver.on_timer(next);
        at.push(next.nanos() / MS.nanos());
    }
    at
}

#[test]
fn a_syn_ack_without_an_answer_is_sent_again_after_twice_as_long_each_time_five_times() {
    assert_eq!(departures(&mut called(true)), [1000, 3000, 7000, 15_000, 31_000]);
    assert_eq!(departures(&mut called(false)), [], "it waits for the SYN to come again");
}

#[test]
fn the_answer_ends_that() {
    let mut receiver = called(true);
    assert!(receiver.poll_transmit(Time::ZERO).is_some());
    hear(
        &mut receiver,
        100,
        &Segment { flags: flags::ACK, seq: Seq::FIRST, ack: Seq::FIRST, ..Segment::default() },
    );
    assert_eq!(receiver.deadline(), None);
}

/// RFC 7323, section 4.3: what carries no data has a timestamp to echo, too.
#[test]
fn the_timestamp_of_a_bare_ack_is_echoed() {
    let mut receiver = called(false);
    assert!(receiver.poll_transmit(Time::ZERO).is_some());
    let answer = Segment { flags: flags::ACK, seq: Seq::FIRST, ack: Seq::FIRST, ..Segment::default() };
    hear(&mut receiver, 100, &Segment { ts_val: Time::ms(90), ..answer });
    let beyond = Segment { seq: Seq::at(1001), len: 1000, ts_val: Time::ms(95), ..answer };
    hear(&mut receiver, 101, &beyond);
    let ack = receiver.poll_transmit(Time::ms(101)).expect("an ACK");
    assert_eq!(ack.ts_ecr, Time::ms(90), "and not that of what lies beyond a hole");
}
