//! How what is written lies in a Linux's send queue: in buffers, of which the last takes in what is written next. Not for: when
//! anything of it leaves, which is `offload.rs`'s, where its source stands.
//!
//! Each write tries to send by itself, and has no FIN yet then, whatever follows (`tcp_send_fin`); what does not go joins what waits.
//! A buffer holds as much as the largest burst, in whole segments, and no more than half of the peer's window (`tcp_xmit_size_goal`).
//! The end of a buffer that ends a write is pushed, and so is one by which half of the peer's window would be left unpushed
//! (`forced_push`). An application that has more to write does so 64 KiB at a time.

use crate::Seq;
use crate::pace::GSO_BYTES;
use std::collections::VecDeque;

/// Bytes that an application writes at a time.
const PIECE: u64 = 64 << 10;

/// What has been written and has not left.
#[derive(Debug, Clone)]
pub(super) struct Written {
    /// The buffer that is sent from.
    start: Seq,
    end: Seq,
    /// Up to where what was written lies in buffers.
    joined: Seq,
    /// Where what was written last begins.
    last: Seq,
    /// Up to where anything was pushed.
    pushed: Seq,
    /// Bytes that a buffer holds of what lies in buffers.
    most: u64,
    /// Ends of what has been written and has not been tried to send.
    fresh: VecDeque<Seq>,
}

impl Default for Written {
    fn default() -> Self {
        let [start, end, joined, last, pushed] = [Seq::FIRST; 5];
        Self { start, end, joined, last, pushed, most: 0, fresh: VecDeque::new() }
    }
}

/// Bytes that a buffer holds, for a peer with this window.
fn most(mss: u64, window: u64) -> u64 {
    ((GSO_BYTES as u64).min(window / 2) / mss.max(1)).max(1) * mss
}

impl Written {
    /// The application has written what lies between.
    pub fn write(&mut self, from: Seq, to: Seq) {
        if from < to {
            self.last = from;
            self.fresh.push_back(to);
        }
    }

    /// Whether everything that has been written lies in buffers, or has left.
    #[inline(always)]
    pub fn has_been_tried(&self) -> bool {
        self.fresh.is_empty()
    }

    /// Whether a write tries to send what comes at `next`.
    pub fn tries(&self, next: Seq) -> bool {
        self.fresh.back().is_some_and(|&end| end > next)
    }

    /// What could not leave waits for more: from `next` on, for a peer with this window. Whether there was any.
    pub fn join(&mut self, next: Seq, mss: u64, window: u64) -> bool {
        let Some(to) = self.fresh.pop_back() else { return false };
        self.fresh.clear();
        self.most = most(mss, window);
        if next < self.end && self.end >= self.joined {
            self.end = to.min(next + self.most);
        }
        self.joined = to;
        true
    }

    /// Up to where data is there to be sent, of which `next` is the next and `written` the end.
    #[inline]
    pub fn offered(&self, next: Seq, written: Seq) -> Seq {
        match self.fresh.is_empty() {
            true => written,
            false => self.fresh.iter().copied().find(|&end| end > next).unwrap_or(written),
        }
    }

    /// Comes to the buffer that `next` lies in, of what is `offered`: where that ends. One that is sent from while it is written to
    /// is filled again each time.
    pub fn head(&mut self, next: Seq, offered: Seq, mss: u64, window: u64) -> Seq {
        while self.fresh.front().is_some_and(|&end| end <= next) {
            self.joined = self.joined.max(self.fresh.pop_front().unwrap_or_default());
        }
        while self.end <= next && self.end < offered {
            if self.is_pushed(self.end, window) {
                self.pushed = self.end;
            }
            if self.end >= self.joined {
                self.most = most(mss, window);
            }
            self.start = self.end;
            self.end = offered.min(self.start + self.most);
        }
        if !self.fresh.is_empty() && self.end > self.joined {
            self.end = offered.min(next + self.most);
        }
        self.end
    }

    /// Whether what ends there has the end of a buffer that is pushed.
    pub fn is_pushed(&self, end: Seq, window: u64) -> bool {
        let pieces = |at: Seq| at.saturating_sub(self.last) / PIECE;
        let all = self.fresh.front().map_or(end == self.joined, |&written| end == written);
        end == self.end
            && (all
                || self.start < self.last
                || pieces(self.start) < pieces(end)
                || end - self.pushed > window / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;
    /// Half of it are 21 segments.
    const WINDOW: u64 = 42_000;

    fn seq(segments: u64) -> Seq {
        Seq::FIRST + MSS * segments
    }

    /// What is offered of `to` segments from `next` on, and where its buffer ends, segments.
    fn head(written: &mut Written, next: u64, to: u64) -> (u64, u64) {
        let offered = written.offered(seq(next), seq(to));
        let end = written.head(seq(next), offered, MSS, WINDOW);
        ((offered - Seq::FIRST) / MSS, (end - Seq::FIRST) / MSS)
    }

    #[test]
    fn each_write_that_can_leave_is_a_buffer_of_its_own_and_is_pushed() {
        let mut written = Written::default();
        (0..3).for_each(|k| written.write(seq(k), seq(k + 1)));
        for k in 0..3 {
            assert_eq!(head(&mut written, k, 3), (k + 1, k + 1));
            assert!(written.is_pushed(seq(k + 1), WINDOW));
        }
    }

    #[test]
    fn what_cannot_leave_joins_what_waits_up_to_half_of_the_window() {
        let mut written = Written::default();
        (0..3).for_each(|k| written.write(seq(k), seq(k + 1)));
        assert_eq!(head(&mut written, 0, 3), (1, 1));
        written.join(seq(1), MSS, WINDOW);
        assert_eq!(head(&mut written, 1, 3), (3, 3));
        // One of the buffer has left when more comes.
        written.write(seq(3), seq(60));
        written.join(seq(2), MSS, WINDOW);
        assert_eq!(head(&mut written, 2, 60), (60, 23));
        assert!(
            !written.is_pushed(seq(22), WINDOW) && written.is_pushed(seq(23), WINDOW),
            "a write ended in it"
        );
        assert_eq!(head(&mut written, 23, 60), (60, 44));
        assert!(!written.is_pushed(seq(44), WINDOW), "less than half of the window since");
    }

    #[test]
    fn a_buffer_that_leaves_while_it_is_written_is_filled_again() {
        let mut written = Written::default();
        written.write(Seq::FIRST, seq(200));
        let ends: Vec<(u64, u64)> = [0, 2, 8].map(|next| head(&mut written, next, 200)).into();
        assert_eq!(ends, [(200, 21), (200, 23), (200, 29)]);
        written.join(seq(10), MSS, WINDOW);
        let ends: Vec<(u64, u64)> = [12, 31, 52].map(|next| head(&mut written, next, 200)).into();
        assert_eq!(ends, [(200, 31), (200, 52), (200, 73)]);
    }

    #[test]
    fn of_one_long_write_each_64_kib_and_each_half_of_the_window_is_pushed() {
        let mut written = Written::default();
        written.write(Seq::FIRST, seq(200));
        written.join(Seq::FIRST, MSS, WINDOW);
        let pushed = |written: &mut Written, next| {
            let (_, end) = head(written, next, 200);
            (end, written.is_pushed(seq(end), WINDOW))
        };
        let ends: Vec<(u64, bool)> = [0, 21, 42, 63].map(|next| pushed(&mut written, next)).into();
        assert_eq!(ends, [(21, false), (42, true), (63, false), (84, true)]);
    }
}
