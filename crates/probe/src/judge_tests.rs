//! Servers made of a rule, and what is said of them.

use super::*;

const MSS: u32 = 1000;

/// How a made server opens its window by an ACK for so many bytes.
#[derive(Debug, Clone, Copy)]
enum Rule {
    PerAck,
    /// At most so many segments an ACK.
    Bytes(u32),
    /// Per ACK, at most so many times the initial window.
    Capped(f64),
    /// Per ACK, at most so many times the window of the second round's beginning.
    CappedLater(f64),
    /// As `Bytes`, in segments as small as the smallest ACK.
    Shrinking,
    /// As `Bytes`, but a segment less for every so many ACKs.
    Discouraged(u32),
    Fixed,
}

/// What a made server of this initial window shows in a test; its answer has so many segments.
fn made(rule: Rule, window: u32, test: Test, repetition: u32, answer: u32) -> Observation {
    let pieces = test.pieces();
    let mut cwnd = f64::from(window);
    let (mut rounds, mut acks, mut acked) = (vec![window], 0, 0);
    let mut open = |segments: f64, top: f64, acks: &mut u32| -> f64 {
        *acks += 1;
        cwnd += match rule {
            Rule::PerAck | Rule::Capped(_) | Rule::CappedLater(_) => 1.0,
            Rule::Bytes(most) => segments.min(f64::from(most)),
            Rule::Shrinking | Rule::Discouraged(_) => segments,
            Rule::Fixed => 0.0,
        };
        cwnd = cwnd.min(top);
        cwnd
    };
    let early = if let Rule::Capped(factor) = rule { factor * f64::from(window) } else { f64::INFINITY };
    let mut late = early;
    if test == Test::G {
        open(f64::from(window), early, &mut acks);
        acked = window;
        rounds.push(window + acks.min(1)); // replaced below
        if let Rule::CappedLater(factor) = rule {
            late = factor * f64::from(window + 1);
        }
    }
    if test == Test::F {
        // An ACK covers no more than has come.
        let (mut left, mut come) = (3, window);
        while left > 0 {
            let covered = left.min(come);
            come = open(f64::from(covered), late, &mut acks) as u32;
            left -= covered;
        }
    } else {
        for _ in 0..3 * pieces {
            open(1.0 / f64::from(pieces), late, &mut acks);
        }
    }
    if test == Test::G {
        let first = match rule {
            Rule::Bytes(most) => most.min(window),
            Rule::Shrinking | Rule::Discouraged(_) => window,
            Rule::Fixed => 0,
            _ => 1,
        };
        rounds[1] = window + first;
    }
    acked += 3;
    let mut segments = (cwnd + 1e-9) as u32 - window + acked;
    if let Rule::Discouraged(every) = rule {
        segments -= (acks / every).min(segments);
    }
    let ended = window + segments >= answer;
    segments = segments.min(answer.saturating_sub(window));
    let size = if matches!(rule, Rule::Shrinking) { MSS / pieces } else { MSS };
    Observation {
        test,
        repetition,
        rtt_s: 0.04,
        status: Some(200),
        mss: MSS,
        window_segments: window,
        window_bytes: u64::from(window * MSS),
        handshake_segments: 0,
        rounds,
        acks,
        acked_segments: acked,
        acked_bytes: u64::from(acked * MSS),
        second_segments: segments,
        second_bytes: u64::from(segments * size),
        second_largest: size,
        late_segments: 0,
        retransmitted: 2,
        early_retransmissions: 0,
        began: "2026-11-24T00:00:00Z".into(),
        withheld: 0,
        data_bytes: 0,
        first_retransmission_s: Some(0.3),
        data_packets: window + segments,
        ended,
        missing_bytes: 0,
        ttl: 0,
        application_limited: false,
    }
}

fn all(rule: Rule, window: u32, repetitions: u32, answer: u32) -> Vec<Observation> {
    let times = (1..=repetitions).flat_map(|k| Test::ALL.map(|test| (test, k)));
    times.map(|(test, k)| made(rule, window, test, k, answer)).collect()
}

#[test]
fn every_rule_is_named_at_every_initial_window() {
    use Reaction::*;
    let rules = [
        (Rule::PerAck, PerAck, None),
        (Rule::Bytes(1), CountsBytes, Some(1)),
        (Rule::Bytes(2), CountsBytes, Some(2)),
        (Rule::Bytes(1000), CountsBytes, None),
        (Rule::CappedLater(1.5), Capped, None),
        (Rule::Shrinking, Harmed, None),
        (Rule::Fixed, Fixed, None),
    ];
    for (rule, reaction, limit) in rules {
        for window in [1, 2, 3, 4, 10, 30] {
            let verdict = judge(&all(rule, window, 3, 10_000)).unwrap();
            // Two ACKs cover the three segments of a smaller window: whether L is 1 is all they tell.
            let limit = limit.filter(|l| *l == 1 || window >= 3);
            assert_eq!(
                (verdict.reaction, verdict.limit),
                (reaction, limit),
                "{rule:?} {window}: {verdict:#?}"
            );
            assert_eq!((verdict.initial_window, verdict.mss), (window, MSS), "{rule:?}");
            assert_eq!((verdict.confidence, verdict.agreeing, verdict.judged), (Confidence::High, 3, 3));
        }
    }
}

#[test]
fn a_bound_is_named_with_its_factor_early_and_late() {
    for (rule, window, factor) in [
        (Rule::Capped(3.0), 3, 3.0),
        (Rule::Capped(3.0), 10, 3.0),
        (Rule::Capped(2.0), 10, 2.0),
        (Rule::CappedLater(3.0), 3, 3.0),
        (Rule::CappedLater(3.0), 10, 3.0),
    ] {
        let verdict = judge(&all(rule, window, 3, 10_000)).unwrap();
        assert_eq!(verdict.reaction, Reaction::Capped, "{rule:?} {window}: {verdict:#?}");
        assert!((verdict.cap.unwrap() - factor).abs() < 0.01, "{rule:?} {window}: {:?}", verdict.cap);
    }
}

#[test]
fn less_that_comes_the_more_acks_there_are_is_harm() {
    let verdict = judge(&all(Rule::Discouraged(6), 10, 3, 10_000)).unwrap();
    assert_eq!(verdict.reaction, Reaction::Harmed, "{verdict:#?}");
}

#[test]
fn as_many_bytes_in_more_and_smaller_segments_are_harm() {
    // As smoltcp 0.14 sends them when it knows the answer's end: small ones, and now and then a full one.
    let mut tests = all(Rule::Bytes(1), 2, 3, 10_000);
    for o in tests.iter_mut().filter(|o| o.test.pieces() > 1) {
        o.second_segments *= o.test.pieces().min(4);
    }
    let verdict = judge(&tests).unwrap();
    assert_eq!(verdict.reaction, Reaction::Harmed, "{verdict:#?}");
}

#[test]
fn the_predictions_of_split_follow_from_the_rule() {
    // An initial window of 3, the first three ACKs divided: 9, 12, 18, 30 and 42 segments in two rounds.
    let counts: Vec<u32> = all(Rule::PerAck, 3, 1, 1000).iter().take(5).map(|o| o.data_packets).collect();
    assert_eq!(counts, [9, 12, 18, 30, 42]);
}

#[test]
fn an_answer_that_is_over_bounds_the_gain_and_no_more() {
    // 10 + 6 + 6 + 12 + … segments: tests A to C fit, D, E and G do not.
    let verdict = judge(&all(Rule::PerAck, 10, 3, 32)).unwrap();
    assert_eq!(verdict.reaction, Reaction::PerAck, "{verdict:#?}");
    assert!(verdict.evidence.iter().any(|line| line.starts_with("E: the answer was over")), "{verdict:#?}");
    assert!(!verdict.gains.contains_key("E"), "{verdict:#?}");
    let fault = judge(&all(Rule::PerAck, 10, 3, 14)).unwrap_err();
    assert_eq!(fault, Fault::Short { bytes: 14_000, need: 25_000 });
}

#[test]
fn what_the_path_spoilt_is_not_used_and_nothing_is_said_of_nothing() {
    let mut tests = all(Rule::Bytes(1000), 10, 3, 1000);
    for o in tests.iter_mut().filter(|o| o.repetition == 1 && o.test == Test::E) {
        o.missing_bytes = 1000;
        o.second_segments = 30;
    }
    for o in tests.iter_mut().filter(|o| o.repetition == 2 && o.test == Test::D) {
        o.window_segments = 4; // cut short by a pause of the server
        o.second_segments += 6;
    }
    let verdict = judge(&tests).unwrap();
    assert_eq!(
        (verdict.reaction, verdict.confidence),
        (Reaction::CountsBytes, Confidence::High),
        "{verdict:#?}"
    );
    tests.iter_mut().for_each(|o| o.missing_bytes = 7);
    assert_eq!(judge(&tests), Err(Fault::Lost(7)));
    assert_eq!(judge(&[]), Err(Fault::TooFew));
}

#[test]
fn a_first_round_that_the_application_ended_is_no_window() {
    // In the first repetition the head was flushed alone.
    let mut tests = all(Rule::Bytes(1000), 10, 3, 1000);
    for o in tests.iter_mut().filter(|o| o.repetition == 1) {
        (o.window_segments, o.application_limited) = (1, true);
    }
    let verdict = judge(&tests).unwrap();
    assert_eq!((verdict.initial_window, verdict.confidence), (10, Confidence::Fair), "{verdict:#?}");
    for o in &mut tests {
        (o.window_segments, o.application_limited) = (1, true);
    }
    assert_eq!(judge(&tests), Err(Fault::ApplicationLimited));
}

#[test]
fn nothing_is_said_to_be_lost_where_nothing_was() {
    let mut tests = all(Rule::PerAck, 10, 3, 1000);
    for (k, o) in tests.iter_mut().enumerate() {
        o.window_segments = 1 + k as u32;
    }
    assert_eq!(judge(&tests), Err(Fault::Unsteady { least: 1, most: 21 }));
    let one = [made(Rule::PerAck, 10, Test::A, 1, 1000)];
    assert_eq!(judge(&one), Err(Fault::TooFew));
}

#[test]
fn a_server_that_stood_still_in_one_test_of_each_repetition_is_judged_by_the_others() {
    let stalled = |o: &mut Observation| (o.second_segments, o.second_bytes) = (1, u64::from(MSS));
    let mut tests = all(Rule::Bytes(2), 10, 3, 1000);
    for (repetition, test) in [(1, Test::C), (2, Test::A), (3, Test::E)] {
        let of = |o: &&mut Observation| o.repetition == repetition && o.test == test;
        tests.iter_mut().filter(of).for_each(stalled);
    }
    let verdict = judge(&tests).unwrap();
    assert_eq!(
        (verdict.reaction, verdict.limit, verdict.confidence, verdict.agreeing),
        (Reaction::CountsBytes, Some(2), Confidence::Low, 0),
        "nothing shows that it stood still: {verdict:#?}"
    );
    // Two of the three repetitions of E, and the counts say so.
    let mut tests = all(Rule::PerAck, 10, 3, 1000);
    for o in tests.iter_mut().filter(|o| o.test == Test::E && o.repetition < 3) {
        stalled(o);
        (o.late_segments, o.early_retransmissions) = if o.repetition == 1 { (5, 0) } else { (0, 2) };
    }
    let verdict = judge(&tests).unwrap();
    assert_eq!(
        (verdict.reaction, verdict.confidence, verdict.agreeing),
        (Reaction::PerAck, Confidence::High, 3),
        "{verdict:#?}"
    );
    // All three, late: so it is.
    tests.iter_mut().filter(|o| o.test == Test::E).for_each(|o| o.late_segments = 5);
    assert!(judge(&tests).unwrap().gains.contains_key("E"));
}

#[test]
fn repetitions_that_disagree_lower_the_confidence() {
    let tests = |rules: &[Rule]| -> Vec<Observation> {
        let each = rules.iter().enumerate().map(|(k, r)| (k as u32 + 1, *r));
        each.flat_map(|(k, r)| Test::ALL.map(|t| made(r, 10, t, k, 1000))).collect()
    };
    let (bytes, per_ack) = (Rule::Bytes(1000), Rule::PerAck);
    let said = |rules: &[Rule]| {
        let verdict = judge(&tests(rules)).unwrap();
        (verdict.reaction, verdict.confidence, verdict.agreeing)
    };
    assert_eq!(said(&[bytes]), (Reaction::CountsBytes, Confidence::Low, 1));
    assert_eq!(said(&[bytes, bytes]), (Reaction::CountsBytes, Confidence::Fair, 2));
    assert_eq!(said(&[bytes, per_ack, bytes]), (Reaction::CountsBytes, Confidence::Fair, 2));
    assert_eq!(said(&[bytes, per_ack, Rule::Fixed]).1, Confidence::Low);
}

#[test]
fn two_tests_do_and_one_does_not() {
    let only = |letters: &[Test]| {
        let tests: Vec<_> =
            all(Rule::PerAck, 10, 3, 1000).into_iter().filter(|o| letters.contains(&o.test)).collect();
        judge(&tests).map(|v| v.reaction)
    };
    assert_eq!(only(&[Test::A, Test::C]), Ok(Reaction::PerAck));
    assert!(only(&[Test::A]).is_err() && only(&[Test::A, Test::B]).is_err() && only(&[Test::C]).is_err());
}
