//! Windows that are made up: those which follow a definition to within a segment are told, others are not.

use super::*;
use crate::judge::Confidence;

const ROUND_TRIP: f64 = 0.15;

/// Windows that lose `left` of what they are at each loss, open by `open(window, time since the loss)` a round, and by
/// `longer` with a longer round trip; every other round is a segment off.
fn rounds(left: [f64; 2], open: impl Fn(f64, f64) -> f64, longer: f64) -> Rounds {
    let series = |begun: f64, count: usize| -> Vec<f64> {
        let mut window = begun;
        (0..count)
            .map(|k| {
                let seen = (window + f64::from(u8::from(k % 2 == 1))).min(256.0);
                window += open(window, (k + 2) as f64 * ROUND_TRIP);
                seen
            })
            .collect()
    };
    let first_loss = 160.0;
    let after_first = series(left[0] * first_loss, 20);
    let second_loss = after_first[19];
    let after_second = series(left[1] * second_loss, 6);
    let begun = after_second[5];
    Rounds {
        repetition: 1,
        round_trip_s: ROUND_TRIP,
        longer_s: 0.19,
        mss: 536,
        offered: 256.0,
        start: vec![10.0, 20.0, 40.0, 80.0],
        first_loss,
        after_first,
        second_loss,
        after_second,
        longer: (0..10).map(|k| begun + longer * f64::from(k)).collect(),
        timeouts: 0,
        ended: false,
    }
}

fn htcp(_: f64, t: f64) -> f64 {
    let late = (t - 1.0).max(0.0);
    1.0 + 10.0 * late + late * late / 4.0
}

#[test]
fn what_follows_a_definition_is_told() {
    let cases = [
        (Control::Reno, rounds([0.5, 0.5], |_, _| 1.0, 1.0)),
        (Control::Vegas, rounds([0.5, 0.5], |_, _| 1.0, -1.0)),
        (Control::Veno, rounds([0.8, 0.8], |_, _| 1.0, 0.5)),
        (Control::Westwood, rounds([0.1, 0.85], |_, _| 1.0, 1.0)),
        (Control::Htcp, rounds([0.5, 0.5], htcp, 5.0)),
        (Control::Htcp, rounds([0.5, 0.75], htcp, 5.0)),
        (Control::Illinois, rounds([0.875, 0.875], |_, _| 8.0, 0.5)),
    ];
    for (is, seen) in cases {
        let found = control(std::slice::from_ref(&seen));
        assert_eq!(found.is, Some(is), "{found:#?}");
        assert!(found.runner_up.is_some_and(|other| other != is), "{found:#?}");
    }
}

#[test]
fn a_window_that_is_the_receivers_alone_is_no_model_of_the_path() {
    let full = |n: usize| vec![256.0; n];
    let none = Rounds {
        start: full(1),
        first_loss: 256.0,
        after_first: full(9),
        second_loss: 256.0,
        after_second: full(6),
        longer: full(10),
        ..rounds([0.5, 0.5], |_, _| 1.0, 1.0)
    };
    assert_eq!(control(std::slice::from_ref(&none)).is, Some(Control::None));
    let bbr = Rounds { start: vec![10.0, 20.0, 40.0, 80.0], first_loss: 160.0, ..none };
    assert_eq!(control(std::slice::from_ref(&bbr)).is, Some(Control::Bbr));
}

#[test]
fn what_follows_none_and_what_is_too_little_is_not_told() {
    // A quarter of the window is left, which then falls.
    let odd = rounds([0.25, 0.25], |_, _| -1.5, -3.0);
    let few = Rounds { after_first: vec![80.0; 5], ended: true, ..odd.clone() };
    let timer = Rounds { timeouts: 1, ..rounds([0.5, 0.5], |_, _| 1.0, 1.0) };
    for seen in [&odd, &few, &timer] {
        let found = control(std::slice::from_ref(seen));
        assert_eq!(found.is, None, "{found:#?}");
        assert!(!found.evidence[0].is_empty());
    }
    assert!(control(&[few]).evidence[0].contains("--mss"));
    assert_eq!(control(&[]).confidence, Confidence::Low);
}
