//! Recovery by time (RFC 8985): RACK and its probe.

use crate::pair::{MS, Pair, steady};
use crate::path::Fate;
use truckee_tcp::{Arg, Seq, Size, Spec, Stack, Time};

fn rack() -> Pair {
    of(&steady(10))
}

fn of(stack: &Stack) -> Pair {
    Pair::recovery(stack, &Spec::named("rack"))
}

fn late(ms: u64) -> Fate {
    Fate { late: ms * MS, ..Fate::default() }
}

#[test]
fn all_holes_are_repaired_as_soon_as_there_is_room() {
    let mut pair = rack().lose_segments(&[3, 4, 5]);
    pair.send_segments(40);
    pair.finish();
    // Reports have let new data out before it was clear that something is lost, and that is in the air.
    assert_eq!([3, 4, 5].map(|number| pair.times_of(number)[1]), [100, 100, 200].map(Time::ms));
    assert_eq!(pair.resent(), [3, 4, 5]);
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (1, 0));
}

/// Section 3.1: the whole flight but its beginning is lost. Section 3.2: so is a retransmission.
#[test]
fn a_retransmission_that_is_lost_is_found_without_the_timer() {
    let mut pair = rack().lose_segments(&[3, 3]);
    pair.send_segments(60);
    pair.finish();
    let times = pair.times_of(3);
    assert_eq!((times.len(), times[1], times[2]), (3, Time::ms(100), Time::ms(200)), "{times:?}");
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (1, 0));
}

/// Section 4.1: the end of a flight is lost, which no duplicate ACK shows.
#[test]
fn a_lost_tail_is_probed_and_repaired_before_the_timer_would_go_off() {
    let mut pair = rack().lose_segments(&[8, 9, 10]);
    pair.send_segments(10);
    pair.finish();
    // Segments 1 to 7 are acknowledged at 100 ms. Two round trips later the last segment goes again, and the report of
    // it shows at 400 ms that those before it are lost.
    assert_eq!(pair.times_of(10)[1], Time::ms(300));
    assert_eq!(pair.resent(), [10, 8, 9]);
    assert_eq!([8, 9].map(|number| pair.times_of(number)[1]), [Time::ms(400); 2]);
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (1, 0));
}

#[test]
fn a_probe_that_repairs_the_one_loss_at_the_end_costs_the_window_all_the_same() {
    let mut pair = rack().lose_segments(&[10]);
    pair.open();
    pair.write(10_000);
    pair.run_until(Time::ms(150));
    assert_eq!(pair.resent(), []);
    pair.run_until(Time::ms(550));
    assert_eq!(pair.resent(), [10], "at 300 ms and a delayed ACK's time");
    assert_eq!(pair.ssthresh(), 10.0, "nothing shows yet which of the two came");
    pair.write(10_000);
    pair.run_until(Time::ms(800));
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (1, 0));
    assert!(pair.ssthresh() < 10.0);
    pair.deliver_all();
}

#[test]
fn new_data_is_the_better_probe_and_goes_beyond_the_window() {
    let mut pair = rack().lose_segments(&[9, 10]);
    pair.open();
    pair.write(40_000);
    pair.run_to(|p| p.sender.outstanding().una() == Seq::at(8001));
    let sent = pair.sender.outstanding().max();
    pair.run_until(pair.now);
    assert!(sent >= Seq::at(11_001));
    pair.deliver_all();
    assert_eq!(pair.books.counts().timeouts, 0);
}

#[test]
fn without_the_probe_a_lost_tail_waits_for_the_timer() {
    let recovery = Spec::named("rack").with("tlp", Arg::Flag(false));
    let mut pair = Pair::recovery(&steady(10), &recovery).lose_segments(&[8, 9, 10]);
    pair.send_segments(10);
    pair.finish();
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (0, 1));
}

/// Segments are overtaken by one or two at first, and one by five later.
#[test]
fn what_is_overtaken_by_less_than_the_window_is_not_taken_for_lost() {
    let mut pair = of(&Stack { rwnd: Size::Segments(10.0), ..steady(10) });
    let mut fates = vec![late(0); 40];
    (fates[7], fates[22]) = (late(2), late(20));
    // The ACKs of a round come 1 ms apart.
    pair.path.forward = fates.into();
    pair.path.back = (0..10).map(late).collect();
    pair.send_segments(60);
    pair.finish();
    let counts = pair.books.counts();
    assert_eq!((pair.resent(), counts.timeouts), (vec![], 0), "25 ms are let pass once reordering was seen");
    assert_eq!(counts.fast_retransmits, 0);
}

#[test]
fn without_reordering_seen_three_reports_are_enough_and_fewer_wait_for_a_quarter_of_the_round_trip() {
    let mut pair = rack().lose_segments(&[9]);
    pair.send_segments(10); // only segment 10 is behind it
    pair.finish();
    assert_eq!(pair.times_of(9)[1], Time::ms(125), "the ACK of 10 at 100 ms, and a quarter of 100 ms");
    let mut pair = rack().lose_segments(&[7]);
    pair.send_segments(10);
    pair.finish();
    assert_eq!(pair.times_of(7)[1], Time::ms(100));
}

#[test]
fn where_the_probe_is_lost_the_timer_has_the_last_word() {
    // Without a probe of new data; the one that goes again is lost, too.
    let mut pair = rack().lose_segments(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
    pair.send_segments(10);
    pair.finish();
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (0, 1));
    assert_eq!(pair.resent()[..2], [10, 1]);
}

/// RFC 7323, section 5.3: an ACK that was overtaken is dropped, and lets nothing leave.
#[test]
fn an_old_ack_is_dropped_with_timestamps() {
    use truckee_tcp::sender::Parts;
    use truckee_tcp::{Segment, Sender, flags, preset};
    let stack = Stack { timestamps: true, rwnd: Size::Bytes(1 << 20), ..steady(4) };
    let mut sender = Sender::new(&stack, Parts::of(preset::find("sack").unwrap()).unwrap());
    sender.open(Time::ZERO, &mut ());
    sender.write(100_000);
    while sender.poll_transmit(Time::ZERO, &mut ()).is_some() {}
    let ack = |number: u64, at: u64| Segment {
        ack: Seq::at(number),
        flags: flags::ACK,
        window: 1 << 20,
        ts_val: Time::ms(at),
        ..Segment::default()
    };
    sender.on_segment(Time::ms(100), &ack(3001, 60), &mut ());
    let window = sender.window().cwnd;
    sender.on_segment(Time::ms(110), &ack(4001, 50), &mut ());
    assert_eq!((sender.outstanding().una(), sender.window().cwnd), (Seq::at(3001), window));
}
