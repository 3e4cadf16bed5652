//! Segments made by hand, and what each question answers of them.

use super::acks::Acks;
use super::phases::Phase;
use super::retransmissions::Counts;
use super::*;
use crate::wire::flags;
use truckee_tcp::{LossKind, Time};

const MS: Span = Span::ms(1);
const SIZE: u32 = 1000;

/// One direction, told what passes and when (ms). Numbers are of the first byte; segments are of 1000 bytes.
pub(crate) struct Script {
    pub flow: Flow,
    id: u16,
    window: u64,
    stamps: bool,
}

impl Script {
    pub fn new() -> Self {
        Self { flow: Flow::new(Seq::FIRST), id: 0, window: 60_000, stamps: false }
    }

    /// Time stamps count milliseconds; the receiver's are 5000 ahead.
    fn stamped() -> Self {
        Self { stamps: true, ..Self::new() }
    }

    /// A segment that has not passed yet.
    pub fn made(&mut self, at: u64, seq: u64, len: u32, echo: u32) -> Data {
        self.id += 1;
        Data {
            now: Time::ms(at),
            seq: Seq::at(seq),
            end: Seq::at(seq + u64::from(len)),
            len,
            flags: flags::ACK,
            stamps: self.stamps.then_some((at as u32, echo)),
            id: Some(self.id),
            dropped: None,
        }
    }

    fn data_of(&mut self, at: u64, seq: u64, len: u32, echo: u32) -> (Sent, Option<LossKind>) {
        let data = self.made(at, seq, len, echo);
        let (sent, again) = self.flow.on_data(&data, SIZE);
        (sent, again.and_then(|again| again.event))
    }

    pub fn data(&mut self, at: u64, seq: u64) -> (Sent, Option<LossKind>) {
        self.data_of(at, seq, SIZE, 0)
    }

    /// Segments `first..` in a row, so many.
    fn burst(&mut self, at: u64, first: u64, segments: u64) {
        (0..segments).for_each(|k| {
            self.data(at, first + k * u64::from(SIZE));
        });
    }

    fn ack_with(&mut self, at: u64, ack: u64, more: impl FnOnce(&mut Ack)) -> Acked {
        let mut ack = Ack {
            now: Time::ms(at),
            ack: Seq::at(ack),
            window: self.window,
            pure: true,
            stamps: None,
            sack: Blocks::default(),
            duplicate: None,
            id: None,
        };
        more(&mut ack);
        self.flow.on_ack(&ack, SIZE)
    }

    pub fn ack(&mut self, at: u64, ack: u64) -> Acked {
        self.ack_with(at, ack, |_| {})
    }

    fn sack(&mut self, at: u64, ack: u64, blocks: &[(u64, u64)]) -> Acked {
        self.ack_with(at, ack, |a| {
            blocks.iter().for_each(|&(from, to)| a.sack.push(Seq::at(from), Seq::at(to)))
        })
    }

    fn again(&self) -> Counts {
        self.flow.retransmissions.counts
    }

    /// A connection whose round trip is known to be 100 ms: the next byte is 1001, the time 100.
    fn warm() -> Self {
        let mut script = Self::new();
        script.data(0, 1);
        script.ack(100, 1001);
        script
    }
}

#[test]
fn an_ack_of_a_fin_alone_is_none_of_a_segment() {
    let mut script = Script::new();
    script.data(0, 1);
    script.ack(100, 1001);
    let fin = Data { flags: flags::ACK | flags::FIN, end: Seq::at(1002), ..script.made(200, 1001, 0, 0) };
    script.flow.on_data(&fin, SIZE);
    script.ack(300, 1002);
    let acks = &script.flow.acks;
    assert_eq!((acks.counts.pure, acks.counts.advancing, acks.counts.of_one), (2, 2, 1));
    assert_eq!((acks.mean_bytes(), acks.largest()), (Some(1000.0), 1000));
}

#[test]
fn the_air_is_what_is_neither_acknowledged_nor_reported_by_sack() {
    let mut s = Script::new();
    s.burst(0, 1, 5);
    assert_eq!(s.flow.book.flight(), 5000);
    s.sack(10, 1001, &[(2001, 3001)]);
    assert_eq!(s.flow.book.flight(), 3000);
    s.sack(11, 1001, &[(2001, 4001)]);
    assert_eq!(s.flow.book.flight(), 2000);
    assert_eq!(s.flow.book.sacked_above(Seq::at(3001)), 1000);
    s.ack(12, 3501);
    assert_eq!(s.flow.book.flight(), 1000, "500 of what SACK had reported remain");
    s.ack(13, 5001);
    assert_eq!((s.flow.book.flight(), s.flow.book.sacked_above(Seq::ZERO)), (0, 0));
    assert_eq!(s.flow.throughput.most_in_flight, 5000);
}

#[test]
fn a_sack_of_what_was_never_sent_counts_nothing() {
    let mut s = Script::new();
    s.burst(0, 1, 2);
    s.sack(10, 1, &[(1001, 9_000_000)]);
    assert_eq!(s.flow.book.flight(), 1000);
    let acked = s.ack(11, 5001);
    assert_eq!((acked.newly, acked.unseen), (5000, 3000), "an ACK of what was not captured");
    assert_eq!(s.flow.book.highest(), Seq::at(5001));
    let (late, _) = s.data(12, 2001);
    assert!(late.late && !late.is_again(), "captured after its ACK: {late:?}");
}

#[test]
fn round_trips_are_from_the_segment_that_an_ack_answers() {
    let mut s = Script::new();
    s.data(0, 1);
    s.data(30, 1001);
    s.ack(100, 2001);
    assert_eq!(s.flow.rtt.last(), Some(70 * MS), "the last of two");
    s.data(110, 2001);
    s.data(400, 2001);
    s.ack(500, 3001);
    assert_eq!(s.flow.rtt.last(), None, "Karn");
    assert_eq!((s.flow.rtt.sequence.count, s.flow.rtt.sequence.min), (1, 70 * MS));
    s.burst(600, 3001, 3);
    s.sack(700, 3001, &[(4001, 6001)]);
    s.ack(900, 6001);
    assert_eq!(s.flow.rtt.last(), None, "SACK had reported it long before");
    s.data(1000, 7001);
    s.data(1200, 6001);
    s.ack(1200, 8001);
    assert_eq!(s.flow.rtt.last(), None, "it has waited for the one that filled the hole");
}

#[test]
fn quantiles_of_round_trips_stay_between_the_least_and_the_largest() {
    let mut s = Script::new();
    for k in 0..100 {
        s.data(1000 * k, 1 + 1000 * k);
        s.ack(1000 * k + if k < 97 { 100 } else { 700 }, 1 + 1000 * (k + 1));
    }
    let rtt = s.flow.rtt.sequence.report().unwrap();
    assert_eq!((rtt.count, rtt.min_s, rtt.max_s), (100, 0.1, 0.7));
    assert!((rtt.p50_s - 0.1).abs() < 0.0005 && (rtt.p95_s - 0.1).abs() < 0.0005, "{rtt:?}");
    assert!((rtt.p99_s - 0.7).abs() < 0.003 && rtt.p99_s <= rtt.max_s, "{rtt:?}");
}

#[test]
fn time_stamps_give_a_sample_of_the_first_segment_and_the_senders_side() {
    let mut s = Script::stamped();
    s.data_of(10, 1, SIZE, 0);
    s.data_of(30, 1001, SIZE, 0);
    s.ack_with(110, 2001, |a| a.stamps = Some((5000, 10)));
    assert_eq!((s.flow.rtt.stamps.count, s.flow.rtt.stamps.min), (1, 100 * MS));
    assert_eq!(s.flow.rtt.sender_side(), None);
    s.data_of(125, 2001, SIZE, 5000);
    s.data_of(150, 3001, SIZE, 5000);
    assert_eq!(s.flow.rtt.sender_side(), Some(15 * MS), "the least");
    let place = s.flow.rtt.place().unwrap();
    assert!((place - 15.0 / 95.0).abs() < 1e-9, "{place}");
}

#[test]
fn a_fast_retransmit_and_what_belongs_to_its_repair() {
    let mut s = Script::warm();
    s.burst(100, 1001, 8);
    (0..3).for_each(|k| {
        s.ack(200 + k, 1001);
    });
    assert_eq!(s.data(203, 1001).1, Some(LossKind::DupAcks));
    assert_eq!(s.data(210, 5001).1, None, "a second hole of the same window");
    s.ack(303, 5001);
    assert_eq!(s.data(304, 5001).1, None, "a partial ACK's");
    s.ack(404, 9001);
    let again = s.again();
    assert_eq!((again.segments, again.fast, again.fast_events, again.timeout_events), (3, 3, 1, 0));
    assert_eq!(s.flow.phases.present(), Phase::Avoidance);
}

#[test]
fn a_sack_block_above_is_reason_enough() {
    let mut s = Script::warm();
    s.burst(100, 1001, 4);
    s.sack(200, 1001, &[(2001, 3001)]);
    assert_eq!(s.data(202, 1001).1, Some(LossKind::DupAcks));
    assert_eq!(s.again().fast, 1);
}

#[test]
fn silence_before_the_first_byte_not_acknowledged_is_a_timeout() {
    let mut s = Script::warm();
    s.burst(100, 1001, 4);
    assert_eq!(s.data(600, 1001).1, Some(LossKind::Timeout));
    s.ack(700, 2001);
    assert_eq!(s.data(700, 2001).1, None, "the rest of the window goes again");
    assert_eq!(s.data(700, 3001).1, None);
    let again = s.again();
    assert_eq!((again.timeout, again.timeout_events, again.fast, again.unexplained), (3, 1, 0, 0));
    assert_eq!(s.flow.phases.present(), Phase::Recovery);
    s.ack(800, 5001);
    assert_eq!(s.flow.phases.present(), Phase::SlowStart, "slow start after a timeout");
}

#[test]
fn a_retransmission_that_was_lost_goes_again_after_a_timeout_although_data_went_on() {
    let mut s = Script::warm();
    s.burst(100, 1001, 4);
    s.sack(200, 1001, &[(2001, 3001)]);
    s.data(201, 1001);
    (0..8).for_each(|k| {
        s.data(210 + 100 * k, 5001 + 1000 * k);
        s.sack(310 + 100 * k, 1001, &[(2001, 6001 + 1000 * k)]);
    });
    assert_eq!(s.data(1201, 1001).1, Some(LossKind::Timeout));
    assert_eq!((s.again().fast, s.again().timeout, s.again().timeout_events), (1, 1, 1));
}

#[test]
fn a_timer_that_partial_acks_have_not_restarted_shows_in_a_segment_that_goes_again_too_soon() {
    let mut s = Script::warm();
    s.burst(100, 1001, 8);
    (0..3).for_each(|k| {
        s.ack(200 + k, 1001);
    });
    s.data(203, 1001);
    s.ack(303, 3001);
    assert_eq!(s.data(303, 3001).1, None, "a partial ACK's");
    assert_eq!(s.data(340, 3001).1, Some(LossKind::Timeout), "the timer's");
    assert_eq!(s.data(340, 4001).1, None, "and what follows it");
    assert_eq!((s.again().fast, s.again().timeout, s.again().unexplained), (2, 2, 0));
}

/// At the sender, with a round trip of 100 ms; the next byte is 1001, the time 100.
fn at_the_sender() -> Script {
    let mut script = Script::new();
    script.flow.rtt.on_handshake(Span::ZERO, Some(100 * MS));
    script.data(0, 1);
    script.ack(100, 1001);
    script
}

#[test]
fn what_is_lost_and_sent_again_while_a_sack_repair_goes_on_belongs_to_it() {
    let mut s = at_the_sender();
    s.burst(100, 1001, 6);
    s.sack(200, 1001, &[(2001, 5001)]);
    assert_eq!(s.data(200, 1001).1, Some(LossKind::DupAcks));
    s.burst(201, 7001, 4);
    s.sack(300, 1001, &[(2001, 7001)]);
    s.sack(301, 1001, &[(2001, 7001), (8001, 11_001)]);
    assert_eq!(s.data(301, 7001).1, None, "sent when the repair had begun, and lost like the first");
    s.ack(302, 7001);
    s.ack(401, 11_001);
    assert_eq!((s.again().fast, s.again().fast_events), (2, 1));
    s.burst(401, 11_001, 4);
    s.sack(501, 11_001, &[(12_001, 15_001)]);
    assert_eq!(s.data(501, 11_001).1, Some(LossKind::DupAcks), "all is acknowledged: another one");
}

#[test]
fn the_ack_that_ends_a_sack_repair_begins_another_where_it_shows_that_more_was_lost() {
    let mut s = at_the_sender();
    s.burst(100, 1001, 6);
    s.sack(200, 1001, &[(2001, 7001)]);
    s.data(200, 1001);
    s.burst(200, 7001, 5);
    s.sack(300, 1001, &[(2001, 7001), (8001, 11_001)]);
    assert_eq!(s.data(300, 7001).1, None, "of the same repair");
    s.sack(310, 7001, &[(8001, 12_001)]);
    assert_eq!(s.again().fast_events, 2, "7001 is in the air again already");
    s.burst(310, 12_001, 1);
    s.sack(400, 9001, &[(10_001, 12_001)]);
    assert_eq!((s.again().fast, s.again().fast_events), (2, 2));
}

#[test]
fn what_goes_again_after_a_timeout_belongs_to_it_although_sack_has_shown_data_behind_it() {
    let mut s = at_the_sender();
    s.burst(100, 1001, 8);
    s.sack(200, 1001, &[(4001, 5001)]);
    assert_eq!(s.data(1200, 1001).1, Some(LossKind::Timeout));
    s.sack(1300, 2001, &[(4001, 5001)]);
    assert_eq!(s.data(1300, 2001).1, None);
    assert_eq!(s.data(1300, 3001).1, None);
    assert_eq!((s.again().timeout, s.again().timeout_events, s.again().fast_events), (3, 1, 0));
}

#[test]
fn without_sack_three_duplicates_that_ask_for_another_segment_are_another_repair() {
    let mut s = at_the_sender();
    s.burst(100, 1001, 10);
    (0..3).for_each(|k| {
        s.ack(200 + k, 1001);
    });
    assert_eq!(s.data(202, 1001).1, Some(LossKind::DupAcks));
    // Reno: the partial ACK ends its repair, and the next hole asks anew.
    s.ack(302, 5001);
    (0..3).for_each(|k| {
        s.ack(303 + k, 5001);
    });
    assert_eq!(s.data(305, 5001).1, Some(LossKind::DupAcks));
    // NewReno: the partial ACK has been answered, and duplicates behind it ask for nothing.
    s.ack(405, 8001);
    assert_eq!(s.data(405, 8001).1, None);
    (0..3).for_each(|k| {
        s.ack(406 + k, 8001);
    });
    assert_eq!(s.data(900, 8001).1, Some(LossKind::Timeout), "it was lost again");
    assert_eq!((s.again().fast_events, s.again().timeout_events), (2, 1));
}

#[test]
fn a_sender_that_does_not_wait_for_the_third_duplicate_is_believed_where_it_answers_at_once() {
    let mut s = at_the_sender();
    s.burst(100, 1001, 3);
    s.ack(200, 1001);
    assert_eq!(s.data(200, 1001).1, Some(LossKind::DupAcks), "Vegas");
    s.ack(300, 4001);
    s.burst(300, 4001, 2);
    s.ack(400, 5001);
    assert_eq!(s.data(400, 5001).1, None, "it looks whether the next one is overdue, for the same loss");
    s.ack(500, 6001);
    assert_eq!((s.again().fast, s.again().fast_events, s.again().unexplained), (2, 1, 0));
}

#[test]
fn a_window_of_duplicates_that_takes_longer_than_a_timer_is_no_timeout_where_the_sender_answers_at_once() {
    let mut s = at_the_sender();
    for k in 0..40 {
        s.data(100 + 100 * k, 1001 + 1000 * k);
        s.ack(200 + 100 * k, 2001 + 1000 * k);
    }
    assert_eq!(s.flow.rtt.timeout(), 200 * MS, "the floor");
    s.burst(4200, 41_001, 5);
    // A queue has filled meanwhile.
    (0..3).for_each(|k| {
        s.ack(4500 + 50 * k, 41_001);
    });
    assert_eq!(s.data(4600, 41_001).1, Some(LossKind::DupAcks));
    assert_eq!((s.again().fast_events, s.again().timeout_events), (1, 0));
}

#[test]
fn the_last_segment_again_before_a_timeout_is_a_probe() {
    let mut s = Script::warm();
    s.burst(100, 1001, 3);
    s.ack(200, 2001);
    assert_eq!(s.data(390, 3001).1, None);
    let again = s.again();
    assert_eq!((again.probes, again.segments, again.timeout), (1, 1, 0));
}

#[test]
fn what_was_overtaken_is_not_sent_again_and_what_was_lost_before_is() {
    let mut s = Script::warm();
    s.data(100, 1001);
    s.id += 1;
    s.data(100, 3001);
    s.id -= 2;
    let (overtaken, _) = s.data(105, 2001);
    s.id += 1;
    assert!(overtaken.late && !overtaken.is_again());
    s.data(106, 5001);
    s.sack(207, 4001, &[(5001, 6001)]);
    let (lost, loss) = s.data(208, 4001);
    assert!(lost.is_again(), "a round trip later: {lost:?}");
    assert_eq!(loss, Some(LossKind::DupAcks));
    let again = s.again();
    assert_eq!((again.overtaken, again.segments, again.lost_before), (1, 1, 1));
    s.data(209, 7001);
    assert!(s.data(210, 6001).0.is_again(), "soon, but by its identification sent after 7001");
    assert_eq!((s.flow.throughput.unique_bytes, s.flow.throughput.missing_bytes), (8000, 0));
}

#[test]
fn the_same_packet_twice_is_a_copy_also_after_its_ack() {
    let mut s = Script::warm();
    s.data(100, 1001);
    s.id -= 1;
    assert!(s.data(101, 1001).0.copy);
    s.ack(200, 2001);
    s.id -= 1;
    assert!(s.data(201, 1001).0.copy);
    assert!(!s.data(202, 1001).0.copy, "another packet of the same bytes");
    assert_eq!((s.again().copies, s.again().segments), (2, 1));
}

#[test]
fn what_comes_later_than_a_timer_would_is_no_copy_though_its_identification_is_the_same() {
    let mut s = Script::warm();
    s.data(100, 1001);
    s.ack(150, 2001);
    s.id -= 1;
    let (again, _) = s.data(310, 1001);
    assert!(!again.copy && again.is_again() && again.needless, "{again:?}");
    assert_eq!((s.again().copies, s.again().segments, s.again().spurious), (0, 1, 1));
    s.data(400, 2001);
    (0..2).for_each(|k| {
        s.ack_with(500 + 250 * k, 2001, |a| a.id = Some(7));
    });
    assert_eq!((s.flow.acks.counts.copies, s.flow.acks.counts.duplicate), (0, 2));
}

#[test]
fn a_retransmission_proves_spurious_in_three_ways() {
    let mut s = Script::warm();
    s.data(100, 1001);
    s.ack(200, 2001);
    s.data(900, 1001);
    assert_eq!((s.again().spurious, s.again().spurious_acknowledged), (1, 1));
    s.data(1000, 2001);
    s.data(1600, 2001);
    s.ack_with(1700, 3001, |a| a.duplicate = Some((Seq::at(2001), Seq::at(3001))));
    assert_eq!((s.again().spurious, s.again().spurious_by_dsack, s.again().dsacks), (2, 1, 1));

    let mut s = Script::stamped();
    s.data(100, 1);
    s.data(700, 1);
    s.ack_with(710, 1001, |a| a.stamps = Some((5000, 100)));
    assert_eq!((s.again().spurious, s.again().spurious_by_stamp), (1, 1), "the first one's stamp");
    s.data(800, 1001);
    s.data(1400, 1001);
    s.ack_with(1500, 2001, |a| a.stamps = Some((5800, 1400)));
    assert_eq!(s.again().spurious, 1, "the second one's");
}

#[test]
fn probes_of_a_closed_window_and_keep_alives_are_no_retransmissions() {
    let mut s = Script::warm();
    s.window = 0;
    s.ack(110, 1001);
    s.data_of(400, 1001, 1, 0);
    s.ack(500, 1001);
    s.data_of(900, 1001, 1, 0);
    s.window = 5000;
    s.ack(1000, 1002);
    s.data_of(9000, 1001, 1, 0);
    let again = s.again();
    assert_eq!((again.segments, again.window_probes, again.keep_alives), (0, 1, 1));
    let w = &s.flow.windows;
    assert_eq!((w.closed, w.closed_for, w.min, w.max), (1, 890 * MS, Some(0), 60_000));
}

#[test]
fn acks_are_told_apart_by_how_much_they_cover() {
    let mut s = Script::new();
    s.burst(0, 1, 30);
    for (at, ack) in
        [(100, 334), (101, 667), (102, 1001), (103, 2001), (104, 4001), (105, 8001), (106, 20_001)]
    {
        s.ack(at, ack);
    }
    s.ack(107, 20_001);
    s.ack(108, 19_001);
    let c = s.flow.acks.counts;
    assert_eq!((c.pure, c.advancing, c.divided, c.of_one, c.of_two), (9, 7, 2, 2, 1));
    assert_eq!((c.of_three_or_four, c.of_nine_or_more, c.duplicate, c.old), (1, 1, 1, 1));
    assert_eq!(s.flow.acks.largest(), 12_000);
}

#[test]
fn an_ack_within_an_offloaded_piece_is_divided_only_if_it_ends_within_a_segment() {
    let mut s = Script::new();
    s.data_of(0, 1, 10_000, 0);
    s.ack(100, 1001);
    s.ack(101, 1501);
    s.ack(102, 4001);
    let c = s.flow.acks.counts;
    assert_eq!((c.of_one, c.divided, c.of_three_or_four), (1, 1, 1));
}

/// What a habit of acknowledging every so many bytes, with identifications so far apart, is called.
fn habit(step: u64, ids: u16) -> (Option<String>, Option<u64>) {
    let mut s = Script::new();
    let mut id = 0u16;
    s.burst(0, 1, 60);
    for k in 1..=60_000 / step {
        id = id.wrapping_add(ids);
        s.ack_with(100 + k, 1 + k * step, |a| a.id = Some(id));
    }
    (s.flow.acks.habit(SIZE), s.flow.acks.missing())
}

#[test]
fn habits_have_names_and_thinned_acks_leave_gaps_in_the_identifications() {
    assert_eq!(habit(250, 1).0.unwrap(), "divided by 4.0");
    assert_eq!(habit(1000, 1), (Some("every segment".into()), Some(0)));
    assert_eq!(habit(2000, 1).0.unwrap(), "every second segment");
    assert_eq!(habit(4000, 1), (Some("every 4.0 segments".into()), Some(0)));
    assert_eq!(habit(4000, 2), (Some("thinned on the way: every 4.0 segments".into()), Some(14)));
    assert_eq!(habit(4000, 9000).1, None, "identifications that do not count up say nothing");
    assert_eq!(Acks::default().habit(SIZE), None);
}

#[test]
fn an_ack_that_ends_a_gap_does_not_change_by_how_much_the_others_are_divided() {
    let mut s = Script::new();
    s.burst(0, 1, 60);
    (1..=40).for_each(|k| {
        s.ack(100 + k, 1 + 250 * k);
    });
    s.ack(200, 60_001);
    assert_eq!(s.flow.acks.habit(SIZE).unwrap(), "divided by 4.0");
}

#[test]
fn an_ack_of_what_was_not_captured_says_nothing_of_the_habit() {
    let mut s = Script::new();
    s.burst(0, 1, 10);
    (1..=5).for_each(|k| {
        s.ack(100 + k, 1 + 2000 * k);
    });
    s.ack(200, 500_000_001);
    s.data(210, 500_000_001);
    s.ack(310, 500_001_001);
    assert_eq!(s.flow.acks.habit(SIZE).unwrap(), "every second segment");
    assert_eq!((s.flow.acks.largest(), s.flow.acks.counts.unseen_bytes), (2000, 499_990_000));
    let mut s = Script::new();
    (1..=50).for_each(|k| {
        s.ack(100 * k, 1 + 9_000_000 * k);
    });
    assert_eq!(s.flow.acks.habit(SIZE), None, "no data was captured at all");
}

#[test]
fn rounds_double_in_slow_start_and_their_end_is_a_guess_of_avoidance() {
    let mut s = Script::new();
    let (mut seq, mut at) = (1, 0);
    for segments in [2u64, 4, 8, 16, 17, 18, 19] {
        s.burst(at, seq, segments);
        seq += segments * u64::from(SIZE);
        at += 100;
        s.ack(at, seq);
    }
    let rounds: Vec<u64> = s.flow.rounds.first().map(|r| r.bytes / 1000).collect();
    assert_eq!(rounds, [2, 4, 8, 16, 17, 18, 19]);
    assert_eq!(s.flow.rounds.initial(SIZE).unwrap().bytes, 2000);
    let turns = s.flow.phases.report(Time::ZERO);
    assert_eq!((turns.len(), turns[0].phase, turns[1].phase), (2, Phase::SlowStart, Phase::Avoidance));
    assert!((turns[1].t_s - 0.6).abs() < 1e-9, "17 after 16 and 18 after 17: {turns:?}");
}

#[test]
fn at_the_receiver_a_round_lasts_until_data_can_answer_an_ack() {
    let mut s = Script::new();
    s.flow.rtt.on_handshake(100 * MS, None);
    let (mut seq, mut at) = (1, 0);
    for segments in [2u64, 4, 8] {
        for k in 0..segments {
            s.data(at + 5 * k, seq);
            seq += u64::from(SIZE);
            s.ack(at + 5 * k, seq); // at once, as it is captured here
        }
        at += 100;
    }
    let rounds: Vec<u64> = s.flow.rounds.first().map(|r| r.bytes / 1000).collect();
    assert_eq!(rounds, [2, 4, 8]);
}

#[test]
fn a_greeting_is_not_the_initial_window() {
    let mut s = Script::new();
    s.data_of(0, 1, 37, 0);
    s.ack(100, 38);
    s.burst(100, 38, 10);
    s.ack(200, 10_038);
    assert_eq!(s.flow.rounds.initial(SIZE).unwrap().bytes, 10_000);
}

#[test]
fn the_rate_is_of_each_byte_once_over_the_time_of_news() {
    let mut s = Script::new();
    s.burst(0, 1, 4);
    s.ack(100, 4001);
    s.data(900, 1); // no news
    assert_eq!(s.flow.throughput.rate(), Some(4000.0 * 8.0 / 0.1));
    assert_eq!((s.flow.throughput.bytes, s.flow.throughput.unique_bytes), (5000, 4000));
    let over_time = s.flow.throughput.over_time.report(Time::ZERO).unwrap();
    let bytes: f64 = over_time.bps.iter().map(|bps| bps * over_time.step_s / 8.0).sum();
    assert!((bytes - 4000.0).abs() < 1e-6, "{over_time:?}");
}

mod random {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Event {
        Data(u64, u32),
        Ack(u64),
        Sack(u64, u64, u64),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            (1u64..30_000, 1u32..3000).prop_map(|(seq, len)| Event::Data(seq, len)),
            (0u64..35_000).prop_map(Event::Ack),
            (0u64..35_000, 0u64..35_000, 1u64..5000).prop_map(|(ack, from, len)| Event::Sack(ack, from, len)),
        ]
    }

    proptest! {
        #[test]
        fn whatever_passes_the_books_agree(events in prop::collection::vec(event(), 0..80)) {
            let mut s = Script::new();
            let mut seen = vec![false; 40_000];
            for (k, event) in events.into_iter().enumerate() {
                let at = 7 * k as u64;
                match event {
                    Event::Data(seq, len) => {
                        let (sent, _) = s.data_of(at, seq, len, 0);
                        prop_assert_eq!(sent.new + sent.filled + sent.again, u64::from(len));
                        seen[seq as usize..seq as usize + len as usize].fill(true);
                    }
                    Event::Ack(ack) => {
                        s.ack(at, ack.max(1));
                    }
                    Event::Sack(ack, from, len) => {
                        s.sack(at, ack.max(1), &[(from, from + len)]);
                    }
                }
                let book = &s.flow.book;
                prop_assert!(book.una() <= book.highest());
                prop_assert!(book.flight() <= book.highest() - book.una());
                let pieces: Vec<_> = book.pieces().collect();
                prop_assert!(pieces.windows(2).all(|w| w[0].end <= w[1].seq));
                prop_assert!(pieces.iter().all(|p| p.seq < p.end && p.end > book.una()));
            }
            let unique = seen.iter().filter(|&&byte| byte).count() as u64;
            prop_assert_eq!(s.flow.throughput.unique_bytes, unique);
            let again = s.again();
            prop_assert_eq!(again.fast + again.timeout + again.probes + again.unexplained, again.segments);
            prop_assert!(again.spurious <= again.segments);
        }
    }
}
