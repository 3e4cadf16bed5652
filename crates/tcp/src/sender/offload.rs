//! Bursts as they leave a Linux: how many segments go down as one (TSO autosizing), which wait for more (TSO deferral), and how
//! much may lie in the host's own queue (TCP small queues).
//!
//! *Autosizing*: a burst holds what the pacing rate sends in 1/1024 s, and 64 KiB/2^(RTTmin/512 µs) more on a short path, 2 segments
//! at the least, or what an algorithm (BBR) has, and 64 KiB at the most; the rate is the controller's or else Linux's share of the window ([`crate::pace::Linux`]), paced or
//! not. No burst takes more than half of the window. Pacing lets a burst out whole and spaces the next one by all of it.
//! Where the peer's window is what ends a burst of several, its last segment is as much as has room there.
//! *Deferral*: where less than a burst, than a third of the window and than what waits would go, while the next ACK is due within
//! min(1 ms, SRTT/2) and something left within the last millisecond, it waits for that ACK; not while a loss is repaired.
//! *Small queues*: no burst begins while more lies in the host's queue than the pace sends in 1/1024 s, or two bursts if that is
//! more, 4 MiB at the most, unless no more than one burst is outstanding; twice as much for what is sent again.
//!
//! Left to the reader here: what is sent again goes by itself, as far as bursts go; a segment counts with its bytes on the wire where the kernel counts memory; queues of radio interfaces are not told. Source: Linux 6.18, `tcp_tso_autosize`, `tcp_cwnd_test`,
//! `tcp_tso_should_defer`, `tcp_small_queue_check`, `tcp_write_xmit`; net.ipv4.tcp_min_tso_segs (2), tcp_tso_rtt_log (9),
//! tcp_tso_win_divisor (3), tcp_limit_output_bytes (4 MiB).

use super::Sender;
use super::bursts::{BURSTS_A_SECOND, Offload, autosize};
use crate::controller::Controller;
use crate::pace::{LEAST_BURST, Pacing};
use crate::recovery::Recovery;
use crate::{Seq, Span, Time, flags};

/// tcp_tso_win_divisor.
const WINDOW_DIVISOR: u64 = 3;
/// What is waited for at most, and what counts as just having sent.
const SOON: Span = Span::ms(1);
/// tcp_limit_output_bytes.
const QUEUE_MOST: f64 = 4_194_304.0;

impl Sender {
    /// Whether a driver is to say how long the host's own queue keeps what leaves ([`Self::note_queued`]).
    #[inline]
    pub fn minds_queue(&self) -> bool {
        self.offload.as_ref().is_some_and(|offload| offload.small_queues)
    }

    /// What has just left, so many bytes on the wire, leaves the host's own queue then.
    pub fn note_queued(&mut self, bytes: u32, leaves: Time) {
        if let Some(offload) = &mut self.offload {
            offload.queue.push_back((leaves, bytes));
            offload.queued += u64::from(bytes);
        }
    }

    /// Whether a burst that waits for more is what keeps the window from being full.
    pub(super) fn is_deferred(&self) -> bool {
        self.offload.as_ref().is_some_and(|offload| offload.deferred)
    }

    /// Whether pacing or the host's queue hold back whatever is next.
    #[inline]
    pub(super) fn is_held(&mut self, now: Time) -> bool {
        let paced = now < self.release;
        match &self.offload {
            Some(offload) if offload.is_under_way(now) => false,
            Some(offload) if offload.small_queues && !paced => self.is_held_by_queue(now),
            _ => paced,
        }
    }

    #[inline(never)]
    fn is_held_by_queue(&mut self, now: Time) -> bool {
        let again = self.recovery.repairing();
        let rate = self.pace_rate().unwrap_or(f64::MAX);
        let (outstanding, mss) = (self.t.out.len() as u64, self.segment_size);
        let Some(offload) = self.offload.as_mut().filter(|offload| outstanding > offload.burst) else {
            return false;
        };
        let limit = (2 * offload.burst * mss) as f64;
        let limit = limit.max(rate / BURSTS_A_SECOND).min(QUEUE_MOST);
        let lets_in = offload.lets_in(now, if again { 2.0 * limit } else { limit });
        offload.until = lets_in.unwrap_or(now);
        lets_in.is_some()
    }

    /// What the pace is or, where bursts or the host's queue ask for it, would be: sk_pacing_rate, bytes per second.
    pub fn pace_rate(&self) -> Option<f64> {
        let (t, w) = (&self.t, &self.t.window);
        let own = if t.interest.paces { t.controller.pacing_rate(w) } else { None };
        let shared = || self.offload.as_ref().and_then(|offload| offload.pace.rate(w));
        own.or_else(shared)
    }

    /// Whether the window has room for a segment, however small, where small ones may be in the air: the kernel counts segments
    /// (`tcp_cwnd_test`).
    #[inline]
    pub(super) fn has_room_for_one(&self, in_flight: u64) -> bool {
        // In 32 bits, more than any window has (RFC 7323, section 2.3): of 64 the conversion alone is a dozen instructions.
        let (cwnd, size) = (self.t.window.cwnd as u32, self.segment_size as u32);
        in_flight + u64::from(size) <= u64::from(cwnd - cwnd % size)
    }

    /// Whether a burst has begun now that is not through.
    #[inline(always)]
    pub(super) fn is_burst_under_way(&self, now: Time) -> bool {
        self.offload.as_ref().is_some_and(|offload| offload.is_under_way(now))
    }

    /// New data may leave, as far as the windows go: whether it does now, in the burst under way or in one that begins with it.
    /// `room`: bytes that the peer's window has room for; `in_flight`: bytes in the air.
    #[inline(always)]
    pub(super) fn goes_in_burst(&mut self, now: Time, room: u64, in_flight: u64) -> bool {
        match &mut self.offload {
            Some(offload) if offload.is_under_way(now) => {
                (offload.follows, offload.left) = (true, offload.left - 1);
                true
            }
            Some(_) => self.begins_burst(now, room, in_flight),
            None => true,
        }
    }

    #[inline(never)]
    fn begins_burst(&mut self, now: Time, room: u64, in_flight: u64) -> bool {
        let tso = self.offload.as_ref().is_some_and(|offload| offload.tso);
        let burst = if tso { self.next_burst(now, room, in_flight) } else { Some((1, false)) };
        let Some(offload) = &mut self.offload else { return true };
        let Some((burst, to_edge)) = burst else {
            offload.deferred = self.t.window.cwnd < (in_flight + room) as f64;
            self.join_writes();
            return false;
        };
        (offload.deferred, offload.to_edge) = (false, to_edge);
        (offload.left, offload.burst, offload.began, offload.follows) = (burst - 1, burst, now, false);
        true
    }

    /// Up to where there is data that may be tried to send.
    #[inline(always)]
    pub(super) fn offered(&self) -> Seq {
        let offload = self.offload.as_ref().filter(|offload| offload.tso);
        offload.map_or(self.written, |offload| offload.written.offered(self.t.out.nxt(), self.written))
    }

    /// Whether the application has closed, as far as what comes next knows: a write that tries to send by itself does not.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        let tries = |offload: &Offload| offload.tso && offload.written.tries(self.t.out.nxt());
        self.closed && !self.offload.as_deref().is_some_and(tries)
    }

    /// What has been written and could not leave joins what waits; whether there was any.
    #[inline(always)]
    pub(super) fn join_writes(&mut self) -> bool {
        let (next, mss) = (self.t.out.nxt(), self.segment_size);
        let fresh = self.offload.as_mut().filter(|offload| !offload.written.has_been_tried());
        fresh.is_some_and(|offload| offload.written.join(next, mss, offload.widest))
    }

    /// PSH on the last segment of a burst of several, and on the end of a buffer that is pushed (`__tcp_transmit_skb`).
    #[inline]
    pub(super) fn push_flag(&self, end: Seq) -> u8 {
        let pushed = self.offload.as_ref().is_some_and(|offload| {
            offload.tso && offload.left == 0 && (offload.burst > 1 || offload.written.is_pushed(end))
        });
        if pushed { flags::PSH } else { 0 }
    }

    /// What a segment of so many bytes, with FIN or not, is cut to where it is the last of its burst and the window's edge, `limit`,
    /// is within it.
    #[inline]
    pub(super) fn cut_at_edge(&self, now: Time, (len, fin): (u64, bool), limit: Seq) -> (u64, bool) {
        match &self.offload {
            Some(offload) if offload.to_edge && offload.is_under_way(now) && offload.left == 1 => {
                (len.min(limit.saturating_sub(self.t.out.nxt())), false)
            }
            _ => (len, fin),
        }
    }

    /// Segments of the burst that begins now, and whether the last is part of one, up to the edge of the peer's window
    /// (`tcp_mss_split_point`); none: it waits for more.
    fn next_burst(&mut self, now: Time, room: u64, in_flight: u64) -> Option<(u64, bool)> {
        let (mss, next, offered) = (self.segment_size, self.t.out.nxt(), self.offered());
        let end = match &mut self.offload {
            Some(offload) => offload.written.head(next, offered, mss, offload.widest),
            None => offered,
        };
        let (cwnd, may_wait) = (self.t.window.cwnd, self.is_ack_near(now));
        // Room for one segment is a burst of one, whatever the pace is.
        if !may_wait && (room == mss || (cwnd as u64) < in_flight + 2 * mss) {
            return Some((1, false));
        }
        let (cwnd, air) = (cwnd as u64 / mss, in_flight.div_ceil(mss));
        // What goes although the window is full (a probe, limited transmit, the only segment) goes by itself.
        let open = cwnd.saturating_sub(air).max(1);
        let most = self.most_in_burst(mss, open);
        let quota = open.min((cwnd / 2).max(1)).min(most);
        // A buffer that is less than may go takes in what is next (`tcp_grow_skb`).
        let waiting = end.saturating_sub(next).max(quota * mss).min(offered - next);
        let one = waiting <= mss || cwnd <= air || !self.plain && self.recovery.probes();
        let last = next + waiting == self.written;
        if may_wait && !one && self.waits_for_more([room, open * mss, most * mss], waiting, last) {
            return None;
        }
        let (burst, whole) = (quota.min(waiting.div_ceil(mss)), (room / mss).max(1));
        // A write that tries to send by itself has nothing next yet that its buffer could take in.
        let tries = self.offload.as_ref().is_some_and(|offload| offload.written.tries(next));
        let held = if tries { end.saturating_sub(next) } else { waiting };
        let to_edge = !one && room > mss && !room.is_multiple_of(mss) && room < held.min(burst * mss);
        // Another small one in the air keeps this one back (`tcp_mss_split_point`, `tcp_nagle_check`).
        let waits = |offload: &Offload| !offload.eager && offload.has_small(self.t.out.una());
        if to_edge && !self.offload.as_deref().is_some_and(waits) {
            return Some((whole + 1, true));
        }
        Some((burst.min(whole).max(1), false))
    }

    /// Segments that a burst may have, where the window is `open` for so many; or as few as any may have, where that is all that matters.
    fn most_in_burst(&self, mss: u64, open: u64) -> u64 {
        if open < LEAST_BURST && !self.t.interest.paces {
            return LEAST_BURST;
        }
        let rate = self.pace_rate().unwrap_or(f64::MAX);
        autosize(rate, mss, self.t.least_rtt(), self.t.controller.least_burst(rate))
    }

    /// Whether something has left just now, and the next ACK is due so soon that a burst may wait for it.
    fn is_ack_near(&self, now: Time) -> bool {
        let t = &self.t;
        let (Some(head), Some(srtt)) = (t.out.get(0), t.window.srtt) else { return false };
        let late = (head.sent + srtt).saturating_sub(now) > SOON.min(srtt / 2);
        let spoke = self.offload.as_ref().map_or(Time::ZERO, |offload| offload.spoke);
        let paused = || now.saturating_sub(t.last_sent.max(self.release).max(spoke)) > SOON;
        !(late || paused() || !self.plain && self.recovery.repairing())
    }

    /// `tcp_tso_should_defer` where the next ACK is near, of what the peer's window and the congestion window have room for, a burst's
    /// most, and what the first buffer holds, the `last` or not.
    fn waits_for_more(&self, [send_win, cong_win, most]: [u64; 3], waiting: u64, last: bool) -> bool {
        let limit = send_win.min(cong_win);
        let third = self.peer_window.min(self.t.window.cwnd as u64) / WINDOW_DIVISOR;
        let fills = limit >= most || !last && limit >= waiting || limit >= third;
        // Only what is short of room gains by waiting; the last data of all never does.
        !fills && (limit <= waiting || !(self.closed && last))
    }
}
