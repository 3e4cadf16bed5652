//! Reports of what came twice (RFC 2883), and loss events that were none (RFC 3522, 3708, 4015).

use crate::pair::{MS, Pair, steady};
use crate::path::Fate;
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::recovery::AnyRecovery;
use truckee_tcp::stack::Undo;
use truckee_tcp::{Receiver, Segment, Seq, Size, Spec, Stack, Time, flags};

/// A receiver that reports, and what it says to segments of `[from, to)`: the ACK's number and its blocks.
struct Reports(Receiver);

impl Reports {
    /// It has all below `nxt`.
    fn of(stack: &Stack, nxt: u64) -> Self {
        let stack = Stack { dsack: true, ..stack.clone() };
        let policy = AnyAckPolicy::build(&Spec::named("every")).expect("an ACK policy").0;
        let mut reports = Self(Receiver::new(&stack, policy, true));
        reports.to(1, nxt);
        reports
    }

    fn to(&mut self, from: u64, to: u64) -> (u64, Vec<(u64, u64)>) {
        let segment =
            Segment { seq: Seq::at(from), len: (to - from) as u32, flags: flags::ACK, ..Segment::default() };
        self.0.on_segment(Time::ms(1), &segment, false, &mut ());
        let ack = self.0.poll_transmit(Time::ms(1)).expect("an ACK");
        let blocks = ack.sack.iter(ack.ack).map(|(from, to)| (from.number(), to.number()));
        (ack.ack.number(), blocks.collect())
    }
}

#[test]
fn a_duplicate_is_reported_once_rfc_2883_section_4_1_1() {
    let mut receiver = Reports::of(&steady(10), 4000);
    assert_eq!(receiver.to(3000, 3500), (4000, vec![(3000, 3500)]));
    assert_eq!(receiver.to(4000, 4500), (4500, vec![]));
}

#[test]
fn a_duplicate_is_reported_before_what_is_out_of_order_rfc_2883_section_4_1_2() {
    let mut receiver = Reports::of(&steady(10), 4000);
    assert_eq!(receiver.to(4500, 5000), (4000, vec![(4500, 5000)]));
    assert_eq!(receiver.to(3000, 3500), (4000, vec![(3000, 3500), (4500, 5000)]));
}

#[test]
fn a_duplicate_out_of_order_is_reported_with_the_block_it_lies_in_rfc_2883_section_4_1_3() {
    let mut receiver = Reports::of(&steady(10), 4000);
    receiver.to(4500, 5000);
    receiver.to(5000, 5500);
    assert_eq!(receiver.to(5000, 5500), (4000, vec![(5000, 5500), (4500, 5500)]));
}

#[test]
fn of_a_segment_that_came_in_part_that_part_is_reported_rfc_2883_section_4_2() {
    let mut receiver = Reports::of(&steady(10), 1000);
    receiver.to(1500, 2000);
    assert_eq!(receiver.to(500, 1500), (2000, vec![(500, 1000)]), "below the acknowledgement");
    receiver.to(3000, 3500);
    receiver.to(4000, 4500);
    // Of two parts that had come the first (section 4.2.3).
    assert_eq!(receiver.to(2500, 4500), (2000, vec![(3000, 3500), (2500, 4500)]));
}

#[test]
fn a_report_takes_the_place_of_the_last_block_where_options_are_full() {
    let mut receiver = Reports::of(&Stack { timestamps: true, ..steady(20) }, 1000);
    for from in [2000, 3000, 4000, 5000] {
        receiver.to(from, from + 500);
    }
    let (ack, blocks) = receiver.to(500, 1000);
    assert_eq!((ack, blocks), (1000, vec![(500, 1000), (5000, 5500), (4000, 4500)]));
}

fn undoing(undo: Undo, recovery: &str) -> Pair {
    let stack = Stack { timestamps: true, dsack: true, undo, rwnd: Size::Segments(10.0), ..steady(10) };
    Pair::recovery(&stack, &Spec::named(recovery))
}

fn late(ms: u64) -> Fate {
    Fate { late: ms * MS, ..Fate::default() }
}

/// Segment 13 is overtaken by more than three, and comes 20 ms late.
fn overtaken(undo: Undo, recovery: &str) -> Pair {
    let mut pair = undoing(undo, recovery);
    pair.path.forward = [vec![late(0); 12], vec![late(20)]].concat().into();
    pair.send_segments(60);
    pair.run_to(|p| p.books.counts().fast_retransmits == 1);
    assert_eq!((pair.now, pair.ssthresh()), (Time::ms(200), 5.0));
    pair
}

#[test]
fn a_fast_retransmit_of_what_was_only_overtaken_is_undone() {
    for (undo, recovery, after) in [
        (Undo::Timestamps, "newreno", 20 * MS),
        (Undo::Timestamps, "sack", 20 * MS),
        (Undo::Either, "sack", 20 * MS),
        (Undo::Dsack, "sack", 100 * MS), // the retransmission has to come, and its report to come back
    ] {
        let mut pair = overtaken(undo, recovery);
        let since = pair.now;
        pair.run_to(|p| p.books.counts().undone == 1);
        assert_eq!(pair.now - since, after, "{undo:?}, {recovery}");
        assert!(pair.cwnd() >= 10.0 && pair.ssthresh() >= 10.0, "{undo:?}, {recovery}: {}", pair.cwnd());
        assert!(!pair.sender.repairing());
        pair.finish();
        // With SACK a rescue goes with it, since the receiver's window lets out nothing new.
        let again: &[u64] = if recovery == "sack" { &[13, 22] } else { &[13] };
        assert_eq!((&pair.resent()[..], pair.books.counts().timeouts), (again, 0), "{undo:?}, {recovery}");
    }
}

#[test]
fn without_that_the_window_stays_what_the_loss_left() {
    let mut pair = overtaken(Undo::Never, "sack");
    pair.finish();
    assert_eq!(pair.books.counts().undone, 0);
}

#[test]
fn a_loss_that_was_one_is_not_undone() {
    for undo in Undo::ALL {
        for recovery in AnyRecovery::MEMBERS {
            let mut pair = undoing(undo, recovery.name).lose_segments(&[13, 15, 27, 27]);
            pair.send_segments(60);
            pair.finish();
            let counts = pair.books.counts();
            assert_eq!(counts.undone, 0, "{undo:?}, {}", recovery.name);
        }
    }
}

/// The ACKs of the second round are late by more than the timer waits, and so is that of what goes again.
#[test]
fn a_timeout_because_acks_are_late_is_undone_by_the_first_of_them() {
    // Where a path is silent for two round trips, a probe of RACK-TLP goes out before.
    for recovery in AnyRecovery::MEMBERS.iter().filter(|member| member.name != "rack") {
        let mut pair = undoing(Undo::Timestamps, recovery.name);
        pair.path.back = [vec![late(0); 10], vec![late(1500); 11]].concat().into();
        pair.send_segments(60);
        pair.run_to(|p| p.books.counts().timeouts == 1);
        pair.run_to(|p| p.sender.outstanding().una() > Seq::at(10_001));
        assert_eq!(pair.books.counts().undone, 1, "{}", recovery.name);
        assert!(pair.cwnd() >= 10.0 && pair.ssthresh() >= 10.0, "{}: {}", recovery.name, pair.cwnd());
        pair.finish();
        assert_eq!((pair.resent(), pair.books.counts().timeouts), (vec![11], 1), "{}", recovery.name);
    }
}
