//! A sender that asks for an ACK rate, with receivers that obey and others.

use crate::pair::{MS, Pair, parts, steady};
use std::collections::BTreeSet;
use truckee_tcp::segment::{ACK_RATE_BYTES, HEADER_BYTES, IMMEDIATE_ACK};
use truckee_tcp::{Spec, Stack, Time};

fn pair(ack_rate_request: u8, policy: &str) -> Pair {
    let stack = Stack { ack_rate_request, ..steady(40) };
    let parts = parts(&Spec::named("newreno"), &Spec::named("byte-counting"), &Spec::named("halve"));
    Pair::of(&stack, parts, &Spec::named(policy))
}

#[test]
fn one_ack_covers_as_many_segments_as_were_asked_for() {
    for (asked, acks) in [(0, 100), (1, 200), (4, 50), (8, 25), (20, 10)] {
        let mut pair = pair(asked, "requested");
        pair.send_segments(200);
        pair.deliver_all();
        assert_eq!(pair.acks.len(), acks, "{asked} segments per ACK");
    }
}

#[test]
fn no_more_than_half_a_window_is_asked_for() {
    let mut pair = pair(127, "requested");
    pair.send_segments(200);
    assert_eq!(pair.sent[0].segment.request, 20, "of a window of 40");
    pair.deliver_all();
}

#[test]
fn the_request_is_repeated_until_a_segment_that_carried_it_is_acknowledged() {
    let mut pair = pair(8, "requested").lose_segments(&[1]);
    pair.send_segments(200);
    pair.deliver_all();
    let requests = |from, to| {
        let sent = pair.sent.iter().filter(|t| t.at >= from && t.at < to);
        sent.map(|t| t.segment.request).collect::<BTreeSet<_>>()
    };
    assert_eq!(
        requests(Time::ZERO, Time::ms(200)),
        [8].into(),
        "the first window, and what duplicates of segment 1 let out"
    );
    assert_eq!(
        requests(Time::ms(200), Time::ms(400)),
        [0].into(),
        "segment 1 has been acknowledged after its repair"
    );
}

#[test]
fn the_option_costs_its_bytes_and_a_receiver_that_does_not_know_it_ignores_it() {
    let mut asked = pair(8, "delayed");
    asked.send_segments(200);
    let first = asked.sent[0].segment;
    assert_eq!(first.wire_bytes(), HEADER_BYTES + ACK_RATE_BYTES + first.len);
    asked.deliver_all();
    assert_eq!(asked.acks.len(), 100);
}

#[test]
fn the_last_segment_of_a_message_is_acknowledged_at_once() {
    let mut pair = pair(8, "requested");
    pair.open();
    pair.write(20_000);
    pair.run_until(pair.now + 500 * MS);
    pair.write(3_000); // less than the rate: the timer would have to acknowledge it
    let begun = pair.now;
    assert_eq!(pair.sent.last().map(|t| t.segment.request), Some(IMMEDIATE_ACK));
    pair.deliver_all();
    assert_eq!(pair.now - begun, 100 * MS);
}
