//! F-RTO: was a timeout spurious? It looks before anything but the first segment is sent again.
//!
//! After a timeout the first unacknowledged segment goes again. The ACK of it, if it does not cover everything, lets new data
//! out in place of more of the old. If the next ACK then covers, or reports by SACK, something that had not been
//! acknowledged and was sent before the timeout, that was not sent again: it was late, and the timeout spurious. An ACK
//! of the new data, or one that brings no news, says that something is missing. A timeout within the repair of another is
//! not looked at. Source: RFC 5682, section 3.1 (with SACK).
//!
//! Not for: what follows from it. An undo is [`crate::sender::Transfer::undo`]'s, after RFC 4015.

use crate::Seq;

/// An ACK as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// Its number.
    pub ack: Seq,
    /// Whether that advances.
    pub advances: bool,
    /// Whether its SACK blocks report something for the first time.
    pub news: bool,
    /// One after the highest number that it acknowledges or that SACK has reported.
    pub highest: Seq,
    /// Whether it delivers what was sent once, and before the timeout, as far as the recovery knows. Linux 6.18 needs no other
    /// sign (`tcp_process_loss`): a segment that was not sent again can only have been late.
    pub original: bool,
}

/// What an ACK says of the timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Nothing, or nothing yet.
    Open,
    /// New data may go out, two segments at most, and nothing again.
    Probe,
    /// It was none that could be told to be spurious: the window is to be so many segments at most, and the repair goes on.
    Genuine(u32),
    /// What had been sent before it arrived after it.
    Spurious,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Step {
    #[default]
    Idle,
    /// The first segment has been sent again.
    Asked,
    /// New data may go out.
    Probing,
}

/// Looks at one timeout at a time.
#[derive(Debug, Clone, Copy, Default)]
pub struct FRto {
    step: Step,
    /// RecoveryPoint: one after the highest number sent before the timeout.
    recover: Seq,
}

impl FRto {
    /// The timer has gone off when everything below `max` had been sent; `again`: before the repair of an earlier timeout
    /// had ended.
    pub fn on_timeout(&mut self, max: Seq, again: bool) {
        self.step = if again { Step::Idle } else { Step::Asked };
        self.recover = max;
    }

    /// An ACK has come.
    pub fn on_ack(&mut self, heard: &Heard) -> Finding {
        match self.step {
            Step::Idle => Finding::Open,
            _ if heard.original => self.found(Finding::Spurious),
            Step::Asked if !heard.advances => Finding::Open,
            Step::Asked if heard.ack >= self.recover => self.found(Finding::Genuine(2)),
            Step::Asked => {
                self.step = Step::Probing;
                Finding::Probe
            }
            Step::Probing if heard.highest > self.recover => self.found(Finding::Genuine(3)),
            Step::Probing if heard.advances || heard.news => self.found(Finding::Spurious),
            Step::Probing => self.found(Finding::Genuine(3)),
        }
    }

    /// Another repair has begun: there is nothing to find any more.
    pub fn stop(&mut self) {
        self.step = Step::Idle;
    }

    fn found(&mut self, finding: Finding) -> Finding {
        self.step = Step::Idle;
        finding
    }

    /// Whether nothing may be sent again for now but the first segment, once.
    pub fn holds_back(&self) -> bool {
        self.step != Step::Idle
    }

    /// There was no new data to send, or no window for it: the repair goes on as it would without this. Whether that was
    /// asked of it; `max`: one after the highest number sent.
    pub fn give_up(&mut self, max: Seq) -> bool {
        let nothing_new = self.step == Step::Probing && max == self.recover;
        if nothing_new {
            self.step = Step::Idle;
        }
        nothing_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments of 1000 bytes had been sent.
    fn timed_out() -> FRto {
        let mut frto = FRto::default();
        frto.on_timeout(Seq::at(10_001), false);
        assert!(frto.holds_back());
        frto
    }

    fn ack(number: u64) -> Heard {
        let number = Seq::at(number);
        Heard { ack: number, advances: true, news: false, highest: number, original: false }
    }

    fn duplicate(news: bool, highest: u64) -> Heard {
        Heard { ack: Seq::at(1001), advances: false, news, highest: Seq::at(highest), original: false }
    }

    #[test]
    fn two_acks_of_what_was_sent_before_show_a_spurious_timeout() {
        let mut frto = timed_out();
        assert_eq!(frto.on_ack(&ack(1001)), Finding::Probe);
        assert_eq!(frto.on_ack(&ack(2001)), Finding::Spurious);
        assert!(!frto.holds_back());
        assert_eq!(frto.on_ack(&ack(3001)), Finding::Open);
    }

    #[test]
    fn so_does_a_block_that_reports_what_was_sent_before() {
        let mut frto = timed_out();
        assert_eq!(frto.on_ack(&duplicate(true, 5001)), Finding::Open, "the first ACK is still to come");
        assert_eq!(frto.on_ack(&ack(1001)), Finding::Probe);
        assert_eq!(frto.on_ack(&duplicate(true, 7001)), Finding::Spurious);
    }

    #[test]
    fn a_duplicate_without_news_or_of_new_data_shows_a_loss() {
        for told in [duplicate(false, 1001), duplicate(true, 11_001), ack(10_501)] {
            let mut frto = timed_out();
            frto.on_ack(&ack(1001));
            assert_eq!(frto.on_ack(&told), Finding::Genuine(3), "{told:?}");
        }
    }

    #[test]
    fn where_it_is_known_what_was_sent_once_one_delivery_of_that_is_enough() {
        for told in [ack(2001), ack(10_001), duplicate(true, 5001)] {
            let told = Heard { original: true, ..told };
            assert_eq!(timed_out().on_ack(&told), Finding::Spurious, "{told:?}");
        }
    }

    #[test]
    fn an_ack_of_everything_tells_nothing() {
        assert_eq!(timed_out().on_ack(&ack(10_001)), Finding::Genuine(2));
    }

    #[test]
    fn a_timeout_within_the_repair_of_another_is_not_looked_at() {
        let mut frto = timed_out();
        frto.on_timeout(Seq::at(10_001), true);
        assert_eq!((frto.holds_back(), frto.on_ack(&ack(1001))), (false, Finding::Open));
    }

    #[test]
    fn without_new_data_it_gives_up() {
        let mut frto = timed_out();
        assert!(!frto.give_up(Seq::at(10_001)), "the first segment is on its way");
        frto.on_ack(&ack(1001));
        assert!(!frto.give_up(Seq::at(11_001)), "new data has left");
        assert!(frto.give_up(Seq::at(10_001)));
        assert!(!frto.holds_back());
    }
}
