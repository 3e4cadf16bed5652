//! Whether the last loss event was one. What was sent again for it may have been late, and not lost.
//!
//! Two things show it. An ACK that covers the segment taken to be lost and echoes a timestamp from before the first
//! retransmission answers the original (the Eifel detection, RFC 3522, section 3.2): the first ACK that covers it decides. And
//! where the receiver reports every segment that was sent again as come twice, the originals had all come (RFC 3708, section 3,
//! after RFC 2883): that takes until the last of them has been reported, and ends with an ACK of what was sent behind the last
//! retransmission. Where nothing was sent again before the segment was acknowledged, nothing had been lost either (so does
//! Linux 6.18 take it, `tcp_may_undo`). With both signs reports are counted as Linux counts them (`tcp_check_dsack`): one of anything
//! that was not acknowledged yet at the loss event counts, if it is acknowledged by now, and there is no end to it before the
//! next event; but where more has come twice than was ever sent again, the path doubles packets, and a report tells nothing
//! (`tcp_dsack_seen`). Not for: what follows from it, which is [`super::Transfer::undo`]'s (RFC 4015).

use crate::stack::Undo;
use crate::{Seq, Time};

/// What an ACK says, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heard {
    /// Its number.
    pub ack: Seq,
    /// The timestamp that it echoes.
    pub echo: Option<Time>,
    /// What it reports to have come twice.
    pub dsack: Option<(Seq, Seq)>,
    /// What was unacknowledged before it.
    pub una: Seq,
}

/// What it says of the loss event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing yet.
    Open,
    /// It was one, or nothing will show that it was not.
    Genuine,
    /// Nothing had been lost.
    Spurious,
    /// The same, since what was taken to be lost was late.
    Late,
    /// As much, and it is too early to undo anything.
    Waiting,
}

/// A loss event that may have been none.
#[derive(Debug, Clone)]
pub(super) struct Doubt {
    by: Undo,
    /// What was unacknowledged when it was.
    una: Seq,
    /// End of the segment taken to be lost.
    lost: Seq,
    /// Whether that has been acknowledged.
    covered: bool,
    /// When something was first sent again.
    since: Option<Time>,
    /// What was sent again, and has not been reported to have come twice.
    again: Vec<(Seq, Seq)>,
    /// One after the highest number sent when the last of it left.
    sent: Seq,
}

impl Doubt {
    /// A segment that ends at `lost` has just been taken to be lost when all below `una` was acknowledged, and `by` this it may be
    /// shown not to have been.
    pub(super) fn of(by: Undo, una: Seq, lost: Seq) -> Self {
        Self { by, una, lost, covered: false, since: None, again: Vec::new(), sent: lost }
    }

    /// Numbers `from` to `to` leave again when everything below `max` had been sent.
    pub(super) fn on_resent(&mut self, now: Time, (from, to): (Seq, Seq), max: Seq) {
        self.since.get_or_insert(now);
        self.sent = max;
        if self.by.by_dsack() {
            self.again.push((from, to));
        }
    }

    /// The first that was sent again left before the event, and of what did so those numbers are still under way.
    pub(super) fn resent_before(&mut self, since: Time, again: impl Iterator<Item = (Seq, Seq)>) {
        self.since = Some(since);
        if self.by.by_dsack() {
            self.again.extend(again);
        }
    }

    /// Something within these numbers has been sent again besides.
    pub(super) fn expect(&mut self, range: (Seq, Seq)) {
        if self.by.by_dsack() {
            self.again.push(range);
        }
    }

    /// An ACK has come, before it changes anything; `waits`: what else was sent again has to be heard of before anything is undone.
    pub(super) fn weigh(&mut self, heard: &Heard, waits: bool) -> Verdict {
        if let Some((from, to)) = heard.dsack
            && self.by.by_dsack()
            && self.settle((from, to), heard.una)
        {
            return Verdict::Spurious;
        }
        if !self.covered && heard.ack >= self.lost {
            let original = self.by.by_timestamps()
                && self.since.zip(heard.echo).is_some_and(|(since, echo)| echo < since);
            if original && waits {
                return Verdict::Waiting;
            }
            self.covered = true;
            if original || self.since.is_none() {
                return Verdict::Late;
            }
        }
        let hopeless = self.again.is_empty() || heard.ack > self.sent && !self.counts();
        if self.covered && hopeless { Verdict::Genuine } else { Verdict::Open }
    }

    /// Whether reports are counted, whatever they are of (`tcp_check_dsack`).
    fn counts(&self) -> bool {
        self.by == Undo::Either
    }

    /// Whether nothing but a report can still say anything.
    pub(super) fn sleeps(&self) -> bool {
        self.covered && self.counts()
    }

    /// Something has come twice; whether that was the last of what was sent again.
    fn settle(&mut self, (from, to): (Seq, Seq), una: Seq) -> bool {
        let known = self.again.len();
        if self.counts() && to <= una {
            if to > self.una {
                self.again.pop();
            }
        } else if let Some(at) = self.again.iter().position(|sent| from < sent.1 && sent.0 < to) {
            self.again.swap_remove(at);
        }
        known > 0 && self.again.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seq: u64) -> Seq {
        Seq::at(seq)
    }

    /// Segment 1 of 1000 bytes was taken to be lost, and sent again at 500 ms when ten had been sent.
    fn resent(by: Undo) -> Doubt {
        let mut doubt = Doubt::of(by, at(1), at(1001));
        doubt.on_resent(Time::ms(500), (at(1), at(1001)), at(10_001));
        doubt
    }

    fn ack(number: u64, echo: u64) -> Heard {
        Heard { ack: at(number), echo: Some(Time::ms(echo)), dsack: None, una: at(1) }
    }

    fn twice(number: u64, from: u64) -> Heard {
        Heard { ack: at(number), echo: None, dsack: Some((at(from), at(from + 1000))), una: at(number) }
    }

    #[test]
    fn an_echo_from_before_the_retransmission_answers_the_original() {
        for by in [Undo::Timestamps, Undo::Either] {
            assert_eq!(resent(by).weigh(&ack(1001, 499), false), Verdict::Late);
        }
        assert_eq!(resent(Undo::Timestamps).weigh(&ack(1001, 500), false), Verdict::Genuine);
        assert_eq!(resent(Undo::Dsack).weigh(&ack(1001, 499), false), Verdict::Open, "not asked");
    }

    #[test]
    fn the_first_ack_that_covers_the_segment_decides() {
        let mut doubt = resent(Undo::Either);
        assert_eq!(doubt.weigh(&ack(1, 100), false), Verdict::Open, "a duplicate");
        assert_eq!(doubt.weigh(&ack(1001, 500), false), Verdict::Open, "a report may still come");
        assert_eq!(doubt.weigh(&ack(2001, 100), false), Verdict::Open, "an echo says nothing any more");
    }

    #[test]
    fn a_report_of_all_that_was_sent_again_shows_that_nothing_was_lost() {
        let mut doubt = resent(Undo::Dsack);
        doubt.on_resent(Time::ms(510), (at(4001), at(5001)), at(10_001));
        assert_eq!(doubt.weigh(&twice(10_001, 4001), false), Verdict::Open);
        assert_eq!(doubt.weigh(&twice(10_001, 7001), false), Verdict::Open, "not one of them");
        assert_eq!(doubt.weigh(&twice(10_001, 1), false), Verdict::Spurious);
    }

    #[test]
    fn what_was_sent_twice_again_is_to_be_reported_twice() {
        let mut doubt = resent(Undo::Dsack);
        doubt.on_resent(Time::ms(1500), (at(1), at(1001)), at(10_001));
        assert_eq!(doubt.weigh(&twice(1001, 1), false), Verdict::Open);
        assert_eq!(doubt.weigh(&twice(1001, 1), false), Verdict::Spurious);
    }

    #[test]
    fn an_ack_of_what_was_sent_behind_the_last_retransmission_ends_the_doubt() {
        let mut doubt = resent(Undo::Dsack);
        assert_eq!(doubt.weigh(&ack(10_001, 500), false), Verdict::Open);
        assert_eq!(doubt.weigh(&ack(10_002, 500), false), Verdict::Genuine);
    }

    #[test]
    fn as_linux_counts_them_reports_of_anything_since_tell_at_any_time() {
        let mut doubt = resent(Undo::Either);
        assert_eq!(doubt.weigh(&ack(20_001, 500), false), Verdict::Open);
        assert!(doubt.sleeps());
        assert_eq!(doubt.weigh(&twice(20_001, 25_001), false), Verdict::Open, "beyond a hole");
        assert_eq!(doubt.weigh(&twice(20_001, 15_001), false), Verdict::Spurious);
    }

    #[test]
    fn what_is_acknowledged_before_it_was_sent_again_was_not_lost() {
        for by in [Undo::Timestamps, Undo::Dsack, Undo::Either] {
            assert_eq!(Doubt::of(by, at(1), at(1001)).weigh(&ack(1001, 100), false), Verdict::Late);
        }
    }
}
