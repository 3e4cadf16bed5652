//! A prober that stands still in the middle of a test, under a clock of the test's own: what comes meanwhile waits, and what
//! the server's timers do they do.

use super::tests::*;
use super::*;
use crate::wire::{Arrival, Departure};

/// A peer of a prober that stands still once, from a time on and for so long: whatever it does then ends that much later.
struct Still<P> {
    peer: P,
    from: Time,
    long: Span,
}

impl<P: Peer> Still<P> {
    /// After something was done: has it stood still meanwhile?
    fn stand(&mut self) {
        let now = self.peer.now();
        if !self.long.is_zero() && now >= self.from {
            let until = now.max(self.from + std::mem::take(&mut self.long));
            self.peer.sleep(until);
        }
    }
}

impl<P: Peer> Peer for Still<P> {
    fn now(&self) -> Time {
        self.peer.now()
    }

    fn next(&mut self, until: Time) -> Result<Option<Arrival>, Error> {
        let come = self.peer.next(until);
        self.stand();
        come
    }

    fn send(&mut self, segment: &Departure<'_>) -> Result<(), Error> {
        let sent = self.peer.send(segment);
        self.stand();
        sent
    }

    fn sleep(&mut self, until: Time) {
        self.peer.sleep(until);
        self.stand();
    }
}

const BODY: u32 = 200_000;
const WINDOW_SEGMENTS: u32 = 10;

/// What a test of an honest server of ten segments shows, whose prober stands still from then on for so long.
fn stalled(which: Test, rtt: Span, from: Span, long: Span) -> Done {
    let mut server = Honest::new(rtt, WINDOW_SEGMENTS, &[(Span::ZERO, BODY)]);
    server.rto = Some(300 * MS + rtt);
    test_by(server, which, rtt, |peer| Still { peer, from: BEGAN + from, long })
}

/// What is counted, and what the judge goes by.
fn counts(seen: &Observation) -> [u32; 6] {
    let disturbed = seen.late_segments + seen.early_retransmissions + u32::from(seen.application_limited);
    [
        seen.window_segments,
        seen.second_segments,
        seen.acks,
        seen.acked_segments,
        seen.rounds.len() as u32,
        disturbed,
    ]
}

#[test]
fn a_prober_that_stands_still_counts_the_same_or_says_that_it_stood_still() {
    let mut said = 0;
    for which in [Test::A, Test::C, Test::E, Test::F, Test::G] {
        for rtt in [MS / 10, 40 * MS] {
            let calm = counts(&stalled(which, rtt, Span::ZERO, Span::ZERO).came.unwrap());
            for long in [5 * MS, 50 * MS, 150 * MS, 250 * MS, SECOND, 12 * SECOND, 30 * SECOND] {
                for from in (0..80).map(|k| k * 5 * MS / 2 + MS / 4) {
                    let came = stalled(which, rtt, from, long).came;
                    match came {
                        Ok(seen) => {
                            assert_eq!(
                                counts(&seen),
                                calm,
                                "{which:?}, {long:?} ns from {from:?} on: {seen:#?}"
                            )
                        }
                        Err(Stop::Fault(Fault::Stood { milliseconds })) => {
                            said += 1;
                            assert!(
                                milliseconds * MS <= long && long >= STILL.into(),
                                "{milliseconds} of {long:?} ns"
                            );
                        }
                        other => panic!("{which:?}, {long:?} ns from {from:?} on: {other:?}"),
                    }
                }
            }
        }
    }
    assert!(said > 100, "{said}");
}

#[test]
fn a_prober_that_stands_still_past_its_deadline_does_not_call_the_server_slow() {
    let long = Span::from(TIMES.rounds + TIMES.patience);
    for from in [Span::ZERO, 30 * MS, 70 * MS] {
        let came = stalled(Test::E, Span::ms(40), from, long).came;
        assert!(matches!(came, Err(Stop::Fault(Fault::Stood { .. }))), "{came:?}");
    }
}

#[test]
fn what_waits_when_a_prober_goes_on_after_the_end_counts_still() {
    // The ACKs are away after 60 ms, what they open comes by 100 ms; the watch ends in between.
    let calm = stalled(Test::F, Span::ms(40), Span::ZERO, Span::ZERO).came.unwrap();
    let seen = stalled(Test::F, Span::ms(40), Span::ms(70), 2 * Span::from(TIMES.watch)).came.unwrap();
    assert_eq!((counts(&seen), seen.second_segments), (counts(&calm), 6));
}
