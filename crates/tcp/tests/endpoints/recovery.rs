//! How Tahoe, Reno and NewReno notice and repair losses. Ten segments a round, 100 ms a round, unless said otherwise.

use crate::pair::{MS, Pair, stack, steady};
use crate::path::Fate;
use truckee_tcp::{Arg, Cause, Seq, Span, Spec, Stack, Time};

fn newreno(variant: &str) -> Spec {
    Spec::named("newreno").with("variant", Arg::Name(variant.to_owned()))
}

#[test]
fn tahoe_goes_back_and_slow_starts() {
    let mut pair = Pair::preset(&steady(10), "tahoe").lose_segments(&[5, 8]);
    pair.send_segments(40);
    pair.run_to(|p| p.books.counts().fast_retransmits == 1);
    assert_eq!((pair.now, pair.cwnd(), pair.ssthresh()), (Time::ms(100), 1.0, 5.0));
    pair.run_until(Time::ms(150));
    assert_eq!(pair.sender.outstanding().flight(), 1000, "one segment again");
    pair.finish();
    assert_eq!(pair.resent(), [5, 8, 9], "9 had come, but follows 8");
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (1, 0));
}

#[test]
fn tahoe_starts_its_timer_anew_with_the_fast_retransmit() {
    let mut pair = Pair::preset(&steady(10), "tahoe").lose_segments(&[1, 1]);
    pair.send_segments(10);
    pair.finish();
    assert_eq!(pair.times_of(1), [0, 100, 1100].map(Time::ms));
}

#[test]
fn tahoe_without_fast_retransmit_waits_for_the_timer() {
    let mut pair = Pair::preset(&steady(10), "tahoe-nofr").lose_segments(&[5]);
    pair.send_segments(40);
    pair.finish();
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (0, 1));
    assert_eq!(pair.times_of(5)[1], Time::ms(1100), "an RTO after the last ACK of new data");
}

#[test]
fn reno_leaves_recovery_at_the_first_new_ack() {
    let mut pair = Pair::preset(&steady(10), "reno").lose_segments(&[5]);
    pair.send_segments(40);
    pair.run_to(|p| p.sender.repairing());
    assert_eq!(
        (pair.cwnd(), pair.ssthresh()),
        (8.0, 5.0),
        "half, and what three duplicates show to have left"
    );
    pair.run_to(|p| !p.sender.repairing());
    assert_eq!((pair.now, pair.cwnd()), (Time::ms(200), 5.0));
    pair.finish();
    assert_eq!((pair.resent(), pair.books.counts().timeouts), (vec![5], 0));
}

#[test]
fn reno_leaves_three_losses_in_a_window_to_the_timer() {
    let mut pair = Pair::preset(&steady(10), "reno").lose_segments(&[3, 4, 5]);
    pair.send_segments(40);
    pair.finish();
    assert_eq!((pair.times_of(3)[1], pair.books.counts().timeouts), (Time::ms(100), 1));
}

#[test]
fn newreno_repairs_one_hole_a_round() {
    let mut pair = Pair::preset(&steady(10), "newreno").lose_segments(&[3, 4, 5]);
    pair.send_segments(40);
    pair.finish();
    let repaired = [3, 4, 5].map(|number| pair.times_of(number)[1]);
    assert_eq!(repaired, [100, 200, 300].map(Time::ms));
    assert_eq!(pair.resent(), [3, 4, 5]);
    assert_eq!((pair.books.counts().fast_retransmits, pair.books.counts().timeouts), (1, 0));
}

#[test]
fn a_partial_ack_takes_what_it_acknowledges_from_the_window_and_gives_one_segment_back() {
    let mut pair = Pair::preset(&steady(10), "newreno").lose_segments(&[3, 6]);
    pair.send_segments(40);
    pair.run_to(|p| p.resent() == [3]);
    pair.run_until(Time::ms(199));
    let una = pair.sender.outstanding().una();
    pair.run_to(|p| p.sender.outstanding().una() > una);
    // 3 to 12 in the air: 5 + 6 duplicates by 100 ms; two more from 11 and 12, one from the segment that 12 let go …
    let duplicates = pair.acks.iter().filter(|(_, ack)| ack.ack == una).count() as f64 - 1.0;
    assert_eq!(pair.cwnd(), 5.0 + duplicates - 3.0 + 1.0);
    assert_eq!(pair.resent(), [3, 6]);
    pair.finish();
}

#[test]
fn newreno_leaves_recovery_with_ssthresh_or_with_what_is_in_the_air() {
    for (exit, expected) in [("ssthresh", 5.0), ("flight", 2.0)] {
        let recovery = Spec::named("newreno").with("exit", Arg::Name(exit.to_owned()));
        let mut pair = Pair::recovery(&steady(10), &recovery).lose_segments(&[1]);
        pair.send_segments(10); // nothing new to send in recovery, so nothing is in the air at its end
        pair.run_to(|p| p.sender.repairing());
        pair.run_to(|p| !p.sender.repairing());
        assert_eq!(pair.cwnd(), expected, "{exit}");
    }
}

#[test]
fn impatient_newreno_gives_many_holes_to_the_timer_and_the_steady_one_does_not() {
    let holes: Vec<u64> = (5..20).collect();
    for (variant, timeouts) in [("impatient", 1), ("slow-but-steady", 0)] {
        let mut pair = Pair::recovery(&steady(30), &newreno(variant)).lose_segments(&holes);
        pair.send_segments(60);
        pair.finish();
        assert_eq!(pair.books.counts().timeouts, timeouts, "{variant}");
    }
}

#[test]
fn a_window_that_is_kept_lets_out_a_burst_unless_the_repair_begins_bare() {
    for (entry, at_once) in [(3.0, &[5, 15, 16, 17][..]), (0.0, &[5])] {
        let recovery = Spec::named("newreno").with("entry", Arg::Number(entry));
        let kept = Spec::named("by-cause").with("predictor", Arg::Name("always-wireless".to_owned()));
        let parts = crate::pair::parts(&recovery, &Spec::named("per-ack"), &kept);
        let mut pair = Pair::of(&steady(10), parts, &Spec::named("every")).lose_segments(&[5]);
        pair.send_segments(40);
        pair.run_to(|p| p.sender.repairing());
        let numbers: Vec<_> = pair.sent.iter().map(|t| t.number).collect();
        assert_eq!(numbers[14..], *at_once, "entry = {entry}: after ten and one for each of four ACKs");
    }
}

#[test]
fn duplicates_of_what_a_timeout_sent_needlessly_start_no_fast_retransmit() {
    for preset in ["tahoe", "reno", "newreno", "sack"] {
        let mut pair = Pair::preset(&steady(10), preset);
        let late = Fate { late: 1050 * MS, ..Fate::default() }; // the timer goes off at 1000 ms
        pair.path.forward = [late; 10].into();
        pair.send_segments(40);
        pair.finish();
        let counts = pair.books.counts();
        let at_recover = pair.acks.iter().filter(|(_, ack)| ack.ack == Seq::at(10_001)).count();
        assert!(preset == "sack" || at_recover > 3, "{preset}: {at_recover} ACKs were to be misunderstood");
        assert_eq!((counts.timeouts, counts.fast_retransmits), (1, 0), "{preset}");
    }
}

#[test]
fn two_duplicates_are_taken_for_reordering() {
    for preset in ["tahoe", "reno", "newreno", "sack"] {
        let mut pair = Pair::preset(&steady(10), preset);
        pair.path.forward = [Fate { late: Span::ns(1), ..Fate::default() }].into();
        pair.send_segments(3);
        pair.finish();
        assert_eq!(pair.books.counts().fast_retransmits, 0, "{preset}");
        assert_eq!(pair.acks.len(), 3, "{preset}");
    }
}

#[test]
fn lost_acks_cost_nothing_when_a_later_one_comes() {
    for preset in ["tahoe", "reno", "newreno", "sack"] {
        let mut pair = Pair::preset(&steady(10), preset).lose_back(&[0, 1, 2, 5, 7]);
        pair.send_segments(40);
        pair.finish();
        assert!(pair.resent().is_empty(), "{preset}");
    }
}

#[test]
fn the_loss_of_a_repair_is_left_to_the_timer() {
    for preset in ["reno", "newreno", "sack"] {
        let mut pair = Pair::preset(&steady(10), preset).lose_segments(&[5, 5]);
        pair.send_segments(40);
        pair.finish();
        let counts = pair.books.counts();
        assert_eq!((counts.timeouts, counts.fast_retransmits), (1, 1), "{preset}");
    }
}

#[test]
fn a_timeout_of_a_repair_that_was_not_dropped_is_spurious() {
    let mut pair = Pair::preset(&steady(10), "newreno").lose_segments(&[5]);
    pair.send_segments(40);
    pair.tell(5, 0, Cause::Congestion);
    pair.run_to(|p| p.sender.repairing());
    let judged = |pair: &Pair| pair.books.counts().judged;
    assert_eq!((judged(&pair).congestion, judged(&pair).spurious), (1, 0));
    let late = pair.sender.deadline().unwrap();
    pair.sender.on_timer(late, &mut pair.books);
    assert_eq!((judged(&pair).congestion, judged(&pair).spurious), (1, 1), "the repair was on its way");
}

#[test]
fn a_timeout_of_a_repair_that_was_dropped_has_the_cause_of_that_drop() {
    let mut pair = Pair::preset(&steady(10), "newreno").lose_segments(&[5]);
    pair.send_segments(40);
    pair.tell(5, 0, Cause::Congestion);
    pair.run_to(|p| p.sender.repairing());
    pair.tell(5, 1, Cause::Wireless);
    pair.tell(5, 0, Cause::Congestion); // as a drop from a long queue would be told: last
    let late = pair.sender.deadline().unwrap();
    pair.sender.on_timer(late, &mut pair.books);
    let judged = pair.books.counts().judged;
    assert_eq!((judged.congestion, judged.wireless, judged.spurious), (1, 1, 0));
}

#[test]
fn the_true_cause_of_a_loss_is_that_of_the_segment_that_was_lost() {
    for (cause, congestion, wireless) in [(Cause::Congestion, 1, 0), (Cause::Wireless, 0, 1)] {
        let mut pair = Pair::preset(&steady(10), "newreno-lp(ideal)").lose_segments(&[5]);
        pair.send_segments(40);
        pair.tell(5, 0, cause);
        pair.run_to(|p| p.sender.repairing());
        // The ideal predictor keeps the whole flight where the loss was noise.
        assert_eq!(pair.ssthresh(), if wireless == 1 { 10.0 } else { 5.0 });
        pair.finish();
        let counts = *pair.books.counts();
        assert_eq!(
            (counts.judged.congestion, counts.judged.wireless, counts.judged.spurious),
            (congestion, wireless, 0)
        );
        assert_eq!((counts.judged.congestion_right, counts.judged.wireless_right), (congestion, wireless));
    }
}

#[test]
fn limited_transmit_gets_the_third_duplicate_out_of_a_small_window() {
    for preset in ["tahoe", "reno", "newreno", "sack"] {
        for (limited_transmit, timeouts) in [(true, 0), (false, 1)] {
            let stack = Stack { limited_transmit, ..steady(3) };
            let mut pair = Pair::preset(&stack, preset).lose_segments(&[1]);
            pair.send_segments(10);
            pair.finish();
            assert_eq!(pair.books.counts().timeouts, timeouts, "{preset}, {limited_transmit}");
        }
    }
}

#[test]
fn what_limited_transmit_released_does_not_count_when_the_window_is_halved() {
    let stack = Stack { limited_transmit: true, ..steady(6) };
    let mut pair = Pair::preset(&stack, "newreno").lose_segments(&[1]);
    pair.send_segments(20);
    pair.run_to(|p| p.sender.repairing());
    assert_eq!((pair.sender.outstanding().flight(), pair.ssthresh()), (8000, 3.0));
    pair.finish();
}

#[test]
fn limited_transmit_does_not_widen_the_window_of_a_go_back() {
    let mut pair = Pair::preset(&Stack { limited_transmit: true, ..steady(10) }, "tahoe").lose_segments(&[5]);
    pair.send_segments(40);
    pair.run_to(|p| p.books.counts().fast_retransmits == 1);
    let at = pair.now;
    pair.run_until(at);
    assert_eq!(pair.resent(), [5], "one segment, although duplicates go on coming");
    pair.finish();
}

#[test]
fn limited_transmit_releases_new_data_only() {
    let mut pair = Pair::preset(&Stack { limited_transmit: true, ..steady(4) }, "newreno");
    // After the timeout the first segment comes twice: its second ACK, at 1130 ms, is a duplicate.
    pair.path.forward =
        [1030, 1300, 1300, 1300].map(|late| Fate { late: late * MS, ..Fate::default() }).into();
    pair.send_segments(10);
    pair.finish();
    assert_eq!(pair.numbers_within(Time::s(1), Time::ms(1101)), [1, 2, 3], "slow start again");
    assert_eq!(
        pair.acks[..2].iter().map(|(at, ack)| (*at, ack.ack)).collect::<Vec<_>>(),
        [(Time::ms(1050), Seq::at(1001)), (Time::ms(1080), Seq::at(1001))]
    );
    assert!(pair.numbers_within(Time::ms(1101), Time::ms(1150)).is_empty());
}

#[test]
fn slow_start_doubles_the_window_of_a_fresh_sender_each_round() {
    let mut pair = Pair::preset(&stack(), "newreno");
    pair.send_segments(31);
    pair.finish();
    let rounds =
        [0, 1, 2, 3, 4].map(|k| pair.numbers_within(Time::ms(k * 100), Time::ms((k + 1) * 100)).len());
    assert_eq!(rounds, [1, 2, 4, 8, 16]);
}
