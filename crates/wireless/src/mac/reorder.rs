//! What a station does with packets that arrive: duplicates are filtered, and what a block acknowledgement covers is put
//! in order.

use super::frame::Pending;

/// What arrives from one sender.
#[derive(Debug, Clone)]
pub(crate) enum Inbox {
    /// One frame at a time: a frame that is sent again, with the last one's sequence number, is the last one (10.3.2.11).
    Plain(Option<u64>),
    /// Under a block acknowledgement (10.24.7): up to 64 from `next` on may be held back until those before them are
    /// there.
    Ordered {
        /// The first that has not been handed up.
        next: u64,
        held: Box<[Option<Pending>; WINDOW as usize]>,
    },
}

/// Sequence numbers a bitmap covers.
pub(crate) const WINDOW: u64 = 64;

impl Inbox {
    pub fn plain() -> Self {
        Self::Plain(None)
    }

    pub fn ordered() -> Self {
        Self::Ordered { next: 0, held: Box::new([None; WINDOW as usize]) }
    }

    /// A packet has arrived; those that may be handed up now go to `out`. False if it is a duplicate.
    pub fn accept(&mut self, packet: &Pending, retry: bool, mut out: impl FnMut(&Pending)) -> bool {
        match self {
            Self::Plain(last) => {
                if retry && *last == Some(packet.seq) {
                    return false;
                }
                *last = Some(packet.seq);
                out(packet);
                true
            }
            Self::Ordered { next, held } => {
                if packet.seq < *next
                    || held[(packet.seq % WINDOW) as usize].is_some_and(|p| p.seq == packet.seq)
                {
                    return false;
                }
                if packet.seq >= *next + WINDOW {
                    release(next, held, packet.seq + 1 - WINDOW, &mut out);
                }
                held[(packet.seq % WINDOW) as usize] = Some(*packet);
                release_in_order(next, held, &mut out);
                true
            }
        }
    }

    /// The sender no longer sends anything before `first`.
    pub fn skip_to(&mut self, first: u64, mut out: impl FnMut(&Pending)) {
        if let Self::Ordered { next, held } = self {
            release(next, held, first, &mut out);
            release_in_order(next, held, &mut out);
        }
    }

    /// Which of 64 from `first` on are here, or were.
    pub fn bitmap(&self, first: u64) -> u64 {
        match self {
            Self::Plain(_) => 0,
            Self::Ordered { next, held } => (0..WINDOW).fold(0, |bits, i| {
                let seq = first + i;
                let here = seq < *next || held[(seq % WINDOW) as usize].is_some_and(|p| p.seq == seq);
                bits | u64::from(here) << i
            }),
        }
    }

    /// Where the window begins.
    pub fn next(&self) -> u64 {
        match self {
            Self::Plain(last) => last.map_or(0, |last| last + 1),
            Self::Ordered { next, .. } => *next,
        }
    }

    /// Packets that have arrived but wait for others.
    pub fn held(&self) -> impl Iterator<Item = &Pending> {
        let held = match self {
            Self::Plain(_) => [].as_slice(),
            Self::Ordered { held, .. } => held.as_slice(),
        };
        held.iter().flatten()
    }
}

type Held = [Option<Pending>; WINDOW as usize];

/// Hands up everything before `until`, whatever is missing.
fn release(next: &mut u64, held: &mut Held, until: u64, out: &mut impl FnMut(&Pending)) {
    // Nothing is held beyond a window.
    let last = until.min(*next + WINDOW);
    for seq in *next..last {
        if let Some(packet) = held[(seq % WINDOW) as usize].take() {
            out(&packet);
        }
    }
    *next = (*next).max(until);
}

fn release_in_order(next: &mut u64, held: &mut Held, out: &mut impl FnMut(&Pending)) {
    while let Some(packet) = held[(*next % WINDOW) as usize].take() {
        out(&packet);
        *next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(seq: u64) -> Pending {
        Pending { seq, ..Pending::new(seq, 100, 0, 1, 1) }
    }

    /// What an inbox hands up on these.
    fn handed(inbox: &mut Inbox, seqs: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut out = Vec::new();
        for seq in seqs {
            inbox.accept(&packet(seq), true, |p| out.push(p.seq));
        }
        out
    }

    #[test]
    fn a_frame_that_was_acknowledged_in_vain_is_a_duplicate() {
        let mut inbox = Inbox::plain();
        assert_eq!(handed(&mut inbox, [0, 0, 1, 2, 2, 2]), [0, 1, 2]);
        // Without the retry bit it is another frame, whatever its number.
        assert!(inbox.accept(&packet(2), false, |_| ()));
    }

    #[test]
    fn what_arrives_out_of_order_waits() {
        let mut inbox = Inbox::ordered();
        assert_eq!(handed(&mut inbox, [1, 3]), []);
        assert_eq!(inbox.bitmap(0), 0b1010);
        assert_eq!(inbox.held().count(), 2);
        assert_eq!(handed(&mut inbox, [0]), [0, 1]);
        assert_eq!(handed(&mut inbox, [3, 1, 2]), [2, 3]);
        assert_eq!((inbox.next(), inbox.held().count(), inbox.bitmap(2)), (4, 0, 0b11));
    }

    #[test]
    fn what_was_given_up_is_no_longer_waited_for() {
        let mut inbox = Inbox::ordered();
        assert_eq!(handed(&mut inbox, [1, 2, 4]), []);
        let mut out = Vec::new();
        inbox.skip_to(1, |p| out.push(p.seq));
        assert_eq!(out, [1, 2]);
        // A number beyond the window says the same.
        assert_eq!(handed(&mut inbox, [70]), [4]);
        assert_eq!(inbox.next(), 7);
        inbox.skip_to(1_000, |p| out.push(p.seq));
        assert_eq!((out, inbox.next()), (vec![1, 2, 70], 1_000));
    }
}
