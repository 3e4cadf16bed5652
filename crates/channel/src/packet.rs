//! A packet as a channel sees it, and what becomes of it. Not for: headers and payload; a channel reads none.

use crate::{Span, Time};

/// The flow number of packets that belong to no TCP flow.
pub const CROSS_TRAFFIC: u32 = u32::MAX;

/// The longest extra delay a channel gives, about 146 years: with it, `at` plus a delay cannot overflow for any `at`
/// below 2^63.
pub const MAX_EXTRA: Span = Span::ns(1 << 62);

/// A packet as a channel sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// When it enters the medium: the end of its transmission.
    pub at: Time,
    /// Its bytes on the wire.
    pub bytes: u32,
    /// Number of its flow in the scenario; [`CROSS_TRAFFIC`] for none.
    pub flow: u32,
    /// Whether it carries payload.
    pub data: bool,
}

/// Why a channel lost a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loss {
    /// Noise, or a script's order.
    Error,
    /// The link was away: an outage or a handoff.
    Outage,
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It never arrives.
    Lost(Loss),
    /// It arrives.
    Arrives {
        /// Delay on top of the link's own.
        extra: Span,
        /// Delay of a second copy on top of the link's own, at least `extra`; `None`: there is no copy.
        copy: Option<Span>,
    },
}

/// A packet's fate while the effects of a channel act on it, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Passage {
    lost: Option<Loss>,
    extra: Span,
    copy: Option<Span>,
}

impl Passage {
    /// Loses the packet. The first cause counts.
    pub fn lose(&mut self, cause: Loss) {
        self.lost.get_or_insert(cause);
    }

    /// Whether an effect has lost it.
    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Delays the packet, and its copy if it has one already.
    pub fn delay(&mut self, by: Span) {
        self.extra = later(self.extra, by);
        self.copy = self.copy.map(|copy| later(copy, by));
    }

    /// The delay so far.
    pub fn extra(&self) -> Span {
        self.extra
    }

    /// Adds a copy that arrives `after` later. There is one copy at most: of two, the earlier one.
    pub fn duplicate(&mut self, after: Span) {
        let copy = later(self.extra, after);
        self.copy = Some(self.copy.map_or(copy, |other| other.min(copy)));
    }
}

/// The sum of two delays, within [`MAX_EXTRA`].
fn later(delay: Span, by: Span) -> Span {
    delay.saturating_add(by).min(MAX_EXTRA)
}

impl From<Passage> for Fate {
    fn from(passage: Passage) -> Self {
        match passage.lost {
            Some(cause) => Fate::Lost(cause),
            None => Fate::Arrives { extra: passage.extra, copy: passage.copy },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cause_of_a_loss_counts() {
        let mut passage = Passage::default();
        passage.lose(Loss::Outage);
        passage.lose(Loss::Error);
        assert_eq!(Fate::from(passage), Fate::Lost(Loss::Outage));
    }

    #[test]
    fn delays_add_up_and_carry_the_copy_along() {
        let mut passage = Passage::default();
        passage.delay(Span::ns(10));
        passage.duplicate(Span::ns(5));
        passage.delay(Span::ns(100));
        assert_eq!(Fate::from(passage), Fate::Arrives { extra: Span::ns(110), copy: Some(Span::ns(115)) });
        passage.duplicate(Span::ns(1));
        assert_eq!(Fate::from(passage), Fate::Arrives { extra: Span::ns(110), copy: Some(Span::ns(111)) });
    }

    #[test]
    fn delays_saturate_below_overflow() {
        let mut passage = Passage::default();
        passage.delay(Span::MAX);
        passage.duplicate(Span::MAX);
        passage.delay(Span::MAX);
        assert_eq!(Fate::from(passage), Fate::Arrives { extra: MAX_EXTRA, copy: Some(MAX_EXTRA) });
    }
}
