//! The receive window as Linux tunes it: dynamic right-sizing.
//!
//! Two bounds decide what is advertised. The window opens with what comes, two segments for each (`tcp_grow_window`), from some
//! 64 KB on, as far as the buffer of the moment has room; and the buffer is made larger for what the application has taken in
//! within a round trip: room for twice that, and, while that grows, for twice its growth beside, so that a sender in slow start
//! is not held up (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`). Neither is ever taken back, and nor is a promised right edge, which
//! each ACK rounds up (`tcp_select_window`).
//!
//! The application reads at once, but not before an ACK of what has come leaves, which has that charged to the window; the ACK of
//! a second segment waits for it where it would tell of less than the one before (`__tcp_ack_snd_check`). Where reading makes
//! room for twice what the peer knows of, or more, an ACK tells (`__tcp_cleanup_rbuf`).
//!
//! Windows here are bytes of payload: half of the buffer's bytes (`tcp_adv_win_scale` = 1), and from 6.6 on only until a segment of
//! more than 536 bytes shows what share of a packet's memory is payload (`scaling_ratio`). A packet takes a power of two here that
//! has room for its headers and the kernel's own notes, and 256 bytes more, as on the kernel's own virtual devices: 0.63 of it is
//! payload where segments are of 1448 bytes, and other devices have other shares. Pressure of memory is not here.
//!
//! Source: W. Feng, M. Fisk, M. Gardner, E. Weigle, *Dynamic Right-Sizing*, 2002; Linux 6.18, net/ipv4/tcp_input.c,
//! `tcp_measure_rcv_mss`, `tcp_rcv_rtt_update`, `tcp_rcv_rtt_measure`, `tcp_rcv_rtt_measure_ts`, `tcp_init_buffer_space`, tcp.c,
//! `tcp_set_window_clamp`, and tcp_output.c, `tcp_select_initial_window`, `__tcp_select_window`.

use crate::rtt::timestamps_apart;
use crate::stack::Autotuning;
use crate::{Seq, Span, Stack, Time};

/// The buffer's window in the beginning: half of `tcp_rmem[1]`, 131,072 bytes.
const FIRST: u64 = 65_536;
/// What of a packet's memory is neither payload nor left over: headers of IPv4 and TCP with timestamps, room before them, and
/// what stands behind (`skb_shared_info`); and what describes it (`sk_buff`), bytes.
const WITHIN: u64 = 52 + 64 + 320;
const BESIDE: u64 = 256;
/// What a segment is taken to have at first (`TCP_MSS_DEFAULT`).
const SEGMENT: u32 = 536;
/// A segment that is smaller opens no window (`tcp_event_data_recv`).
const SMALL: u32 = 128;
/// Segments of what an application is taken to have taken in before anything came (`TCP_INIT_CWND`).
const BEFORE: u64 = 10;

/// A data segment that has been sorted in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Came {
    pub(super) now: Time,
    pub(super) bytes: u32,
    /// The timestamp that it echoes, if any.
    pub(super) echo: Option<Time>,
    pub(super) rcv_nxt: Seq,
    /// One after its own last byte: behind it may lie what had come before.
    pub(super) end: Seq,
    /// Bytes beyond a hole, and how far they reach beyond `rcv_nxt`.
    pub(super) waiting: u64,
    pub(super) reach: u64,
    /// Whether it lies beyond a hole itself.
    pub(super) beyond: bool,
    /// Whether it brings what has not come before.
    pub(super) new: bool,
    /// Whether all of it lies below what was acknowledged last: then it is answered and tells nothing (`tcp_sequence`).
    pub(super) old: bool,
}

/// What of ACKs leaves when the application is about to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    Not,
    Before,
    /// Before, but only for a second segment since the one before it.
    ForSecond,
    /// Because of it.
    After,
}

/// The window's state.
#[derive(Debug, Clone)]
pub(super) struct Autotuned {
    rule: Autotuning,
    mss: u64,
    /// The most that the window may be (half of `tcp_rmem[2]`).
    most: u64,
    /// What windows are multiples of: the unit that the field is scaled by, a power of two.
    unit: u64,
    /// The buffer's window (`tcp_full_space`), and what of it may be advertised (`window_clamp`).
    buffer: u64,
    clamp: u64,
    /// How far the window has opened (`rcv_ssthresh`).
    open: u64,
    /// What of 256 bytes of buffer is payload (`scaling_ratio`), and what of the window the memory of a largest segment takes.
    share: u64,
    charged: u64,
    /// The right edge promised, and up to where the application has read.
    edge: Seq,
    at: Seq,
    /// What there is room for before it has read what came last and after, as far as the window has opened; what was told of last;
    /// and the window from then on, where an ACK is to leave before.
    room: [u64; 2],
    told: u32,
    next: Option<u32>,
    /// The round-trip time (`rcv_rtt_est`).
    rtt: Option<Span>,
    /// Which timestamp was last taken for it.
    echoed: Time,
    /// The largest segment seen (`rcv_mss`).
    largest: u32,
    /// Without timestamps: since when, and up to which number a window of data lasts.
    lap: Option<(Time, Seq)>,
    /// The interval being measured: since when, from which number on; and what was taken in over the largest before
    /// (`rcvq_space`).
    since: Option<Time>,
    from: Seq,
    taken: u64,
}

impl Autotuned {
    /// Of a connection that begins, if its window is tuned.
    pub(super) fn of(stack: &Stack) -> Option<Box<Self>> {
        if stack.rwnd_autotuning == Autotuning::Off {
            return None;
        }
        let (mss, most) = (u64::from(stack.mss), u64::from(stack.advertised_window()));
        let unit = if stack.window_scaling { unit(2 * most) } else { 1 };
        let most = most - most % unit;
        let open = u64::from(stack.first_window());
        let buffer = FIRST.min(most);
        // A segment of it is kept back at first.
        let clamp = if buffer < most && buffer > 2 * mss { buffer - mss } else { buffer };
        Some(Box::new(Self {
            rule: stack.rwnd_autotuning,
            mss,
            most,
            unit,
            buffer,
            clamp,
            open: open.min(clamp),
            share: 128,
            charged: 0,
            edge: Seq::FIRST + open,
            at: Seq::FIRST,
            room: [open; 2],
            told: stack.first_window(),
            next: None,
            rtt: None,
            echoed: Time::ZERO,
            largest: 0,
            lap: None,
            since: None,
            from: Seq::FIRST,
            taken: open.min(BEFORE * mss).max(1),
        }))
    }

    /// The handshake is over: the first measurement begins.
    pub(super) fn begin(&mut self, now: Time) {
        self.since.get_or_insert(now);
    }

    /// Data has come: the window from `rcv_nxt` on of an ACK that leaves before it is read, and whether it has opened for it.
    #[inline(always)]
    pub(super) fn hear(&mut self, came: &Came) -> (u32, bool) {
        if came.bytes > self.largest.max(SEGMENT) && self.rule == Autotuning::Linux {
            self.weigh(u64::from(came.bytes));
        }
        if !came.old {
            self.time(came);
        }
        let opened = came.new && self.open_for(came);
        if came.beyond && came.new && self.rule == Autotuning::Linux {
            self.make_room(self.taken, came.reach);
        }
        // An ACK that leaves before the rest is read tells nothing of the room that reading makes.
        let buffer = self.buffer;
        if !came.beyond {
            self.measure(came);
        }
        let taken = self.charge(came.waiting + (came.rcv_nxt.max(self.at) - self.at));
        self.at = came.rcv_nxt;
        // Mostly all of it is free, read or not.
        let whole = self.open + taken <= buffer;
        self.room = if whole { [self.open; 2] } else { self.room_for(buffer, taken, came.waiting) };
        (self.window(self.room[0]), opened)
    }

    /// What there is room for in a buffer of which so much is taken, and where so many bytes wait behind a hole once the rest is
    /// read.
    #[inline(never)]
    fn room_for(&self, buffer: u64, taken: u64, waiting: u64) -> [u64; 2] {
        let free = |buffer: u64, taken: u64| self.open.min(buffer.saturating_sub(taken));
        let (before, after) = (free(buffer, taken), free(self.buffer, self.charge(waiting)));
        // No window closes for what is read in a moment.
        [if before < self.mss { after } else { before }, after]
    }

    /// Whether reading changes nothing of what ACKs tell; `leaves`: whether one does before.
    #[inline(always)]
    pub(super) fn is_read_already(&self, leaves: bool) -> bool {
        self.room[0] == self.room[1] && (leaves || 2 * self.edge.saturating_sub(self.at) > self.clamp)
    }

    /// Whether an ACK that leaves before the application reads tells of a smaller window than the last one.
    pub(super) fn narrows(&self) -> bool {
        self.in_units(self.room[0]) < u64::from(self.told)
    }

    /// The application reads what there is, and an ACK leaves like that, if before with this window. Whether one more leaves after,
    /// and the window of the next that does.
    pub(super) fn read(&mut self, window: u32, leaves: Leaves) -> (bool, u32) {
        let after = self.room[1];
        let waits = match leaves {
            Leaves::Not | Leaves::Before => false,
            Leaves::ForSecond => self.narrows(),
            Leaves::After => true,
        };
        let first = (leaves != Leaves::Not && !waits).then_some(window);
        let window = self.window(after);
        let edge = first.map_or(self.edge, |first| self.edge.max(self.at + u64::from(first)));
        let known = 2 * edge.saturating_sub(self.at);
        let tells = !waits && known <= self.clamp && u64::from(window) >= known.max(1);
        self.next = first.is_some().then_some(window);
        (tells, first.unwrap_or(window))
    }

    /// A segment leaves that tells of this window: the window after it, if it is another.
    #[inline(always)]
    pub(super) fn promise(&mut self, window: u32) -> Option<u32> {
        self.told = window;
        self.edge = self.edge.max(self.at + u64::from(window));
        self.next.take()
    }

    /// Whether what has come and is not taken in takes more than half of the buffer.
    #[inline(always)]
    pub(super) fn is_cramped(&self, came: &Came) -> bool {
        let taken = self.charge(came.waiting) + (came.rcv_nxt.max(self.at) - self.at);
        self.buffer.saturating_sub(taken) < self.clamp.min(self.buffer) / 2
    }

    /// What so many bytes beyond a hole take of the window: by the memory of their packets, of which the share that is taken to be
    /// payload is rounded down.
    fn charge(&self, waiting: u64) -> u64 {
        if waiting == 0 || self.charged == 0 {
            waiting
        } else if waiting == u64::from(self.largest) {
            self.charged // as nearly always
        } else {
            waiting * self.charged / u64::from(self.largest)
        }
    }

    /// A segment of so many bytes shows what of the buffer is payload.
    #[inline(never)]
    fn weigh(&mut self, bytes: u64) {
        let memory = (bytes + WITHIN).next_power_of_two() + BESIDE;
        let share = ((bytes << 8) / memory).max(1);
        let anew = |window: u64, old: u64| (u128::from(window) * u128::from(share) / u128::from(old)) as u64;
        let old = std::mem::replace(&mut self.share, share);
        self.charged = (memory * share) >> 8;
        self.buffer = anew(self.buffer, old).min(self.most);
        let promised = self.edge - self.at;
        if self.buffer < self.clamp {
            self.open = self.open.min(self.buffer);
        } else {
            self.open = self.open.max(promised.min(self.buffer));
        }
        self.clamp = self.buffer;
        self.taken = self.taken.min(self.clamp);
    }

    /// Takes the round-trip time, by the echo of a full segment or, without timestamps, by a window of data.
    #[inline(always)]
    fn time(&mut self, came: &Came) {
        self.largest = self.largest.max(came.bytes);
        match came.echo {
            Some(echo) if echo == self.echoed => {}
            Some(echo) => {
                self.echoed = echo; // of a small one too, and then no full one after it is a sample
                let rtt = timestamps_apart(echo, came.now);
                if !rtt.is_zero() && came.bytes >= self.largest {
                    self.sample(rtt, false);
                }
            }
            None => {
                let over = self.lap.filter(|&(_, end)| came.rcv_nxt >= end);
                if let Some((since, _)) = over {
                    self.sample(came.now.saturating_sub(since), true);
                }
                if over.is_some() || self.lap.is_none() {
                    self.lap = Some((came.now, self.edge.max(came.rcv_nxt)));
                }
            }
        }
    }

    /// The least of what a window has taken, which may be longer than a round trip; of samples by timestamps the smoothed one, and
    /// from 6.16 on the least at once.
    #[inline]
    fn sample(&mut self, rtt: Span, by_window: bool) {
        let rtt = rtt.max(Span::us(1));
        self.rtt = Some(match self.rtt {
            None => rtt,
            Some(old) if by_window => old.min(rtt),
            Some(old) if rtt < old && self.rule == Autotuning::Linux => rtt,
            Some(old) => (7 * old + rtt) / 8,
        });
    }

    /// Two segments for each that comes.
    #[inline(always)]
    fn open_for(&mut self, came: &Came) -> bool {
        // As nearly always once it has opened: what comes in order is charged itself.
        let own = if came.beyond { 0 } else { u64::from(came.bytes) };
        let most = self.clamp.min(self.buffer.saturating_sub(own));
        if self.open >= most || came.bytes < SMALL {
            return false;
        }
        // What is in order is charged to the buffer by then, and what lies beyond a hole is not.
        let charged = match came.beyond {
            true => self.charge(came.waiting.saturating_sub(came.bytes.into())),
            // Nor has the application taken in what a hole was filled for yet.
            false => {
                self.charge(came.waiting) + (came.rcv_nxt.max(self.at) - self.at).max(u64::from(came.bytes))
            }
        };
        let room = self.clamp.min(self.buffer.saturating_sub(charged)).saturating_sub(self.open);
        let step = room.min(2 * self.mss.max(u64::from(came.bytes)));
        self.open += step;
        step > 0
    }

    /// The application takes in all that is in order, packet by packet. A round trip after the measurement began it is over, at the
    /// first of them: what still waits behind that counts as not taken in.
    #[inline(always)]
    fn measure(&mut self, came: &Came) {
        let since = *self.since.get_or_insert(came.now);
        let Some(rtt) = self.rtt else { return };
        if came.now.saturating_sub(since) < rtt {
            return;
        }
        let waits = if self.rule == Autotuning::Linux { came.rcv_nxt - came.end } else { 0 };
        let taken = (came.end - self.from).saturating_sub(waits);
        if taken > self.taken {
            self.make_room(taken, came.reach);
        }
        (self.since, self.from) = (Some(came.now), came.end);
    }

    /// Makes the buffer hold what comes of `taken` bytes in a round trip, and up to `reach` beyond a hole.
    #[inline(never)]
    fn make_room(&mut self, taken: u64, reach: u64) {
        let twice = match self.rule {
            Autotuning::Linux61 => 2 * taken + 16 * self.mss,
            _ => 2 * taken,
        };
        let grown = u128::from(twice) * u128::from(taken - self.taken.min(taken)) / u128::from(self.taken);
        self.taken = taken;
        let ahead = if self.rule == Autotuning::Linux { reach } else { 0 };
        let wanted = u128::from(twice) + 2 * grown + u128::from(ahead);
        let wanted = wanted.min(u128::from(self.most)) as u64;
        if wanted > self.buffer {
            (self.buffer, self.clamp) = (wanted, wanted);
        }
    }

    /// The window where so much is free, or what is promised already, in whole units.
    #[inline(always)]
    fn window(&self, free: u64) -> u32 {
        u32::try_from(self.in_units(free.max(self.edge.saturating_sub(self.at)))).unwrap_or(u32::MAX)
    }

    fn in_units(&self, bytes: u64) -> u64 {
        (bytes + (self.unit - 1)) & !(self.unit - 1)
    }
}

/// What one in a window's field stands for where the buffer may have so many bytes (`tcp_select_initial_window`).
fn unit(bytes: u64) -> u64 {
    1 << bytes.max(1).ilog2().saturating_sub(15).min(14)
}

#[cfg(test)]
mod tests;
