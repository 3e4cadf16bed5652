//! How what is written lies in a Linux's send queue: in buffers, of which the last takes in what is written next. Not for: when
//! anything of it leaves, which is `offload.rs`'s, where its source stands.
//!
//! Each write tries to send by itself, and has no FIN yet then, whatever follows (`tcp_send_fin`); what does not go joins what waits.
//! A buffer holds as much as the largest burst, in whole segments, and no more than half of the widest window that the
//! peer has had (`tcp_xmit_size_goal`).
//! The end of a buffer is pushed where a write ends with it, and where more than half of that window would be left unpushed
//! since the last end of a write (`forced_push`): the end of a write in the midst of a buffer counts, but what the next write adds
//! to that takes its PSH away again (`tcp_sendmsg_locked`). What has been written last of all is pushed. An application that has more
//! to write does so 64 KiB at a time.

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
    /// Where each write begins and ends that the buffer which is sent from has anything of, or one after it.
    writes: VecDeque<(Seq, Seq)>,
    /// Up to where a buffer was pushed.
    pushed: Seq,
    /// Bytes that a buffer holds of what lies in buffers, and half of the peer's widest window as these were written.
    most: u64,
    half: u64,
    /// Ends of what has been written and has not been tried to send.
    fresh: VecDeque<Seq>,
}

impl Default for Written {
    fn default() -> Self {
        let [start, end, joined, pushed] = [Seq::FIRST; 4];
        let (writes, fresh) = (VecDeque::new(), VecDeque::new());
        Self { start, end, joined, writes, pushed, most: 0, half: 0, fresh }
    }
}

/// Bytes that a buffer holds, for a peer whose widest window this was.
fn most(mss: u64, window: u64) -> u64 {
    ((GSO_BYTES as u64).min(window / 2) / mss.max(1)).max(1) * mss
}

impl Written {
    /// The application has written what lies between.
    pub fn write(&mut self, from: Seq, to: Seq) {
        if from < to {
            self.writes.push_back((from, to));
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
        (self.most, self.half) = (most(mss, window), window / 2);
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
    #[inline]
    pub fn head(&mut self, next: Seq, offered: Seq, mss: u64, window: u64) -> Seq {
        if next < self.end && self.fresh.is_empty() {
            return self.end; // as nearly always
        }
        self.come_to(next, offered, mss, window)
    }

    #[inline(never)]
    fn come_to(&mut self, next: Seq, offered: Seq, mss: u64, window: u64) -> Seq {
        while self.fresh.front().is_some_and(|&end| end <= next) {
            self.joined = self.joined.max(self.fresh.pop_front().unwrap_or_default());
        }
        while self.end <= next && self.end < offered {
            if self.is_pushed(self.end) {
                self.pushed = self.end;
            }
            if self.end >= self.joined {
                (self.most, self.half) = (most(mss, window), window / 2);
            }
            self.start = self.end;
            self.end = offered.min(self.start + self.most);
            while self.writes.pop_front_if(|&mut (_, to)| to <= self.start).is_some() {}
        }
        if !self.fresh.is_empty() && self.end > self.joined {
            self.end = offered.min(next + self.most);
        }
        self.end
    }

    /// Whether what ends there has the end of a buffer that is pushed.
    #[inline(always)]
    pub fn is_pushed(&self, end: Seq) -> bool {
        end == self.end && self.is_end_pushed()
    }

    #[inline(never)]
    fn is_end_pushed(&self) -> bool {
        let end = self.end;
        self.fresh.front().map_or(end == self.joined, |&written| end == written)
            || self.writes.iter().find(|(_, to)| end <= *to).is_some_and(|&write| self.is_marked(end, write))
    }

    /// Whether the end of a buffer is, which lies in this write.
    fn is_marked(&self, end: Seq, (from, to): (Seq, Seq)) -> bool {
        let written = end.saturating_sub(from);
        let last = from + written / PIECE * PIECE;
        end == to || end == last || end - self.pushed.max(last) > self.half
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
            assert!(written.is_pushed(seq(k + 1)));
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
        assert!(!written.is_pushed(seq(23)), "the next write took PSH away, and counts from where it began");
        assert_eq!(head(&mut written, 23, 60), (60, 44));
        assert!(written.is_pushed(seq(44)), "more than half of the window since");
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

    /// Ends of the buffers of 200 segments, with whether they are pushed; nothing leaves before all is written.
    fn ends(written: &mut Written, to: u64) -> Vec<(u64, bool)> {
        let (mut ends, mut next) = (Vec::new(), 0);
        while next < to {
            (_, next) = head(written, next, to);
            ends.push((next, written.is_pushed(seq(next))));
        }
        ends
    }

    #[test]
    fn of_a_long_write_a_buffer_is_pushed_by_which_half_of_the_window_would_be_unpushed_since_64_kib_ended() {
        let mut written = Written::default();
        written.write(Seq::FIRST, seq(130));
        written.join(Seq::FIRST, MSS, WINDOW);
        // 64 KiB end after 65.5 segments: the third buffer's PSH is taken away, and the fourth has 18.5 since.
        let pushed =
            [(21, false), (42, true), (63, false), (84, false), (105, true), (126, false), (130, true)];
        assert_eq!(ends(&mut written, 130), pushed);
    }

    #[test]
    fn the_end_of_a_write_pushes_the_buffer_that_ends_with_it_and_no_other() {
        let mut written = Written::default();
        (0..30).for_each(|k| written.write(seq(3 * k), seq(3 * k + 3)));
        written.join(Seq::FIRST, MSS, WINDOW + 2 * MSS);
        let pushed = [(22, false), (44, false), (66, true), (88, false), (90, true)];
        assert_eq!(ends(&mut written, 90), pushed, "of three segments each");
    }
}
