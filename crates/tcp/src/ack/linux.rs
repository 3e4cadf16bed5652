//! Delayed ACKs as Linux has them: quick ACKs where the sender is taken to be starting, and a delay that follows the data.
//!
//! The first segments, sixteen ACKs at the most, are acknowledged one by one, and so are those after a pause longer than a
//! timeout, and after one that came twice; each ACK counts, a duplicate one too. Then an ACK covers two segments, or waits: for
//! an estimate of the time between segments, from 40 to 200 ms, and no longer than the round trip where that is known; one that
//! is due within a quarter of it when another segment comes goes at once. The estimate goes half the way to 40 ms where
//! segments follow within 20 ms, and to what has passed where that is less than it. There are no quick ACKs for
//! as long as data goes the other way (ping-pong), since that carries them: from data that left within the estimate of what came last
//! to an ACK that nothing has carried in time, or to a segment that comes twice; `ping_pong`: so from the beginning, as an application asks for with TCP_QUICKACK.
//!
//! `reads`: the application reads all that comes at once. Then what is pushed, and what is shorter than a segment, is acknowledged as
//! it is read, unless data goes the other way, and the second of two short ones even then.
//!
//! An ACK of a buffer that is more than half full ends quick ones.
//!
//! Behind a hole three ACKs leave at once, the one that tells of a part of it filled among them; with SACK later ones are summed
//! up, a twentieth of the round trip long or 1 ms, whichever is shorter. They leave at once where a third block begins, or one is
//! added to that is not among the two latest; what did that then has no ACK of its own (`tcp_sack_compress_send_ack`).
//!
//! RFC 5681, section 4.2, allows all of it but the summing up, and describes none. Source: Linux 6.18, `tcp_event_data_recv`,
//! `tcp_incr_quickack`, `tcp_dec_quickack_mode`, `__tcp_ack_snd_check`, `tcp_send_delayed_ack`, `tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`; constants `TCP_ATO_MIN`,
//! `TCP_DELACK_MIN`, `TCP_DELACK_MAX`, `TCP_MAX_QUICKACKS`, `tcp_comp_sack_delay_ns`; from memory, and held against the running
//! kernel by what it sends. While the receiver's window opens ([`crate::stack::Autotuning`]) each segment has an ACK (`tcp_grow_window`).

use super::{AckPolicy, AckSink, Manner};
use crate::spec::{Args, Info, Member, SpecError};
use crate::wheel::{self, TICK, Wheel};
use crate::{Arrival, Seq, Span, Time};

/// Quick ACKs at a time, at the most.
const MOST_QUICK: u64 = 16;
/// The shortest delay, and what the estimate begins with.
const SHORTEST: Span = Span::ms(40);
/// The longest.
const LONGEST: Span = Span::ms(200);
/// Duplicate ACKs that leave at once (`TCP_FASTRETRANS_THRESH`), and how long later ones are summed up at the most: this, or
/// the round trip over so many.
const DUPLICATES: u32 = 3;
const SUMMED_UP: Span = Span::ms(1);
const PARTS_OF_ROUND: u64 = 20;
/// How much later the host may end that (`net.ipv4.tcp_comp_sack_slack_ns`), and does where nothing else wakes it.
const SLACK: Span = Span::us(100);
/// As many as are summed up at the most (`net.ipv4.tcp_comp_sack_nr`).
const MOST_SUMMED_UP: u32 = 44;
/// What stands for the timeout as long as there is no round-trip time.
const INITIAL_TIMEOUT: Span = Span::s(1);

/// Quick ACKs, then delayed ones.
#[derive(Debug, Clone)]
pub struct Linux {
    quickly: bool,
    /// The application reads what comes at once.
    reads: bool,
    /// Data goes the other way, and carries the ACKs.
    ping_pong: bool,
    /// Quick ACKs still to send.
    quick: u64,
    /// The estimate of the time between segments, ATO, and whether there is one: what comes beyond a hole before anything else may
    /// begin it, and then the first data is no beginning any more.
    delay: Span,
    begun: bool,
    last: Option<Time>,
    /// The round-trip time as this end has measured it, and whether it sends data itself: if not, the handshake was all that it
    /// could measure.
    srtt: Option<Span>,
    sends: bool,
    /// Bytes that a full segment is taken to have.
    segment: u32,
    /// When an ACK is due that waits, as it was set and as the host's timer goes off.
    deadline: Option<(Time, Time)>,
    wheel: Option<Wheel>,
    /// ACKs that have told of the same hole, and when those that are summed up leave.
    duplicates: u32,
    summed_up: Option<Time>,
    /// How many are summed up so far.
    kept_back: u32,
    /// Whether those have just left for a segment, which asks for none then.
    answered: bool,
    /// Segments since the last ACK that were short, two at the most, or one where the last was pushed (`ICSK_ACK_PUSHED2`).
    pushes: u8,
    /// Whether reading what came last has let an ACK go.
    read: bool,
    /// Whether the buffer is more than half full.
    cramped: bool,
}

impl Member for Linux {
    const INFO: Info = Info {
        name: "linux",
        summary: "quick ACKs at the beginning, after a pause and out of order; then one per two segments, or after 40 to 200 ms",
        formula: "min(16, window/2 segments) quick ones; then more than a segment, or ATO: halfway to 40 ms or to the time between segments, ≤ RTT",
        source: "Linux 6.18, tcp_event_data_recv, tcp_send_delayed_ack; RFC 5681, section 4.2",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        Ok(Self {
            quickly: args.flag("quick", true)?,
            reads: args.flag("reads", true)?,
            ping_pong: args.flag("ping_pong", false)?,
            quick: 0,
            delay: SHORTEST,
            begun: false,
            last: None,
            srtt: None,
            sends: false,
            segment: 0,
            deadline: None,
            wheel: None,
            duplicates: 0,
            summed_up: None,
            kept_back: 0,
            answered: false,
            pushes: 0,
            read: false,
            cramped: false,
        })
    }
}

impl Linux {
    /// The sender is taken to start: half a window of quick ACKs, sixteen at the most, two at the least.
    fn be_quick(&mut self, window: u32) {
        if self.quickly {
            let half = u64::from(window / (2 * self.segment.max(1)));
            self.quick = self.quick.max(half.clamp(2, MOST_QUICK));
        }
    }

    /// What has passed since the segment before tells how long to wait for the next.
    fn hear(&mut self, arrival: &Arrival) {
        if let Some(rtt) = arrival.rtt {
            let further = |srtt: Span| if self.sends { (7 * srtt + rtt) / 8 } else { srtt };
            self.srtt = Some(self.srtt.map_or(rtt, further));
        }
        if arrival.bytes < self.segment {
            self.pushes = (self.pushes + 1).min(2);
        } else {
            self.segment = arrival.bytes;
            self.pushes = self.pushes.max(u8::from(arrival.pushed));
        }
        let timeout = self.timeout();
        let now = self.tick(arrival.now);
        let last = self.last.replace(now).unwrap_or(now);
        if !std::mem::replace(&mut self.begun, true) {
            self.be_quick(arrival.window);
            return self.delay = SHORTEST;
        }
        let passed = now.saturating_sub(last);
        if passed <= SHORTEST / 2 {
            self.delay = self.part(self.delay, 2) + SHORTEST / 2;
        } else if passed < self.delay {
            self.delay = (self.part(self.delay, 2) + passed).min(timeout);
        } else if passed > timeout {
            self.be_quick(arrival.window);
        }
    }

    /// This end's own retransmission timeout: of one sample its variation is half of it (RFC 6298, rule 2.2), and 200 ms at the
    /// least.
    fn timeout(&self) -> Span {
        let variation = |srtt: Span| if self.sends { LONGEST } else { LONGEST.max(2 * srtt) };
        self.srtt.map_or(INITIAL_TIMEOUT, |srtt| srtt + variation(srtt))
    }

    /// Whether reading what has come lets an ACK go: of two short segments also where data goes the other way.
    fn is_read(&self) -> bool {
        self.reads && self.pushes > u8::from(self.ping_pong)
    }

    /// A time as the estimate sees it: when the present tick began, where there are ticks.
    fn tick(&self, now: Time) -> Time {
        self.wheel.map_or(now, |wheel| wheel.tick_began(now))
    }

    /// One part of so many of a time, in whole ticks where there are ticks.
    fn part(&self, span: Span, parts: u64) -> Span {
        let part = span / parts;
        if self.wheel.is_some() { part.nanos() / TICK.nanos() * TICK } else { part }
    }

    fn is_quick(&self) -> bool {
        self.quick > 0 && !self.ping_pong
    }

    /// How long an ACK waits at the most.
    fn patience(&self) -> Span {
        let round = self.srtt.map_or(LONGEST, |srtt| srtt.max(SHORTEST));
        let longest = self.delay.min(round).min(LONGEST);
        if self.wheel.is_some() { wheel::ticks(longest) * TICK } else { longest }
    }

    fn send(&mut self, number: Seq, out: &mut AckSink) {
        self.pass();
        self.leave(number, out);
    }

    /// An ACK leaves, which counts among the quick ones.
    fn pass(&mut self) {
        self.settle();
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                (self.delay, self.begun) = (SHORTEST, true); // tcp_dec_quickack_mode
            }
        }
    }

    /// An ACK leaves that nothing has asked for: a quick one only where one was about to leave (`tcp_dec_quickack_mode`,
    /// `inet_csk_ack_scheduled`).
    fn pass_if_due(&mut self) {
        if self.deadline.is_some() || self.summed_up.is_some() { self.pass() } else { self.settle() }
    }

    /// An ACK leaves: no more quick ones where the buffer fills (`__tcp_select_window`).
    fn settle(&mut self) {
        if self.cramped {
            self.quick = 0;
        }
    }

    fn leave(&mut self, number: Seq, out: &mut AckSink) {
        self.clear();
        out.ack(number);
    }

    /// Nothing waits for an ACK any more.
    fn clear(&mut self) {
        (self.deadline, self.summed_up) = (None, None);
        (self.kept_back, self.pushes) = (0, 0);
    }

    /// An ACK waits, or leaves if one does that is due within a quarter of the time (`tcp_send_delayed_ack`).
    fn wait(&mut self, now: Time, number: Seq, out: &mut AckSink) {
        let (began, patience) = (self.tick(now), self.patience());
        let soon = self.deadline.is_some_and(|(set, _)| set <= began + self.part(patience, 4));
        if soon {
            self.send(number, out);
        } else {
            let at = began + patience;
            let anew = (at, self.wheel.map_or(at, |wheel| wheel.goes_off(now, patience)));
            self.deadline = Some(self.deadline.map_or(anew, |before| before.min(anew)));
        }
    }

    /// Data has come, and there is a hole, of which it may have filled a part.
    fn beyond(&mut self, arrival: &Arrival, out: &mut AckSink) {
        if self.duplicates < DUPLICATES || !arrival.sack || self.kept_back == MOST_SUMMED_UP {
            self.duplicates = (self.duplicates + 1).min(DUPLICATES);
            return self.send(arrival.rcv_nxt, out);
        }
        self.kept_back += 1;
        if self.summed_up.is_none() {
            let part = self.srtt.map_or(SUMMED_UP, |srtt| srtt / PARTS_OF_ROUND);
            self.summed_up = Some(arrival.now + part.min(SUMMED_UP) + SLACK);
        }
    }
}

impl AckPolicy for Linux {
    fn on_segment(&mut self, arrival: &Arrival, out: &mut AckSink) {
        let twice = !arrival.in_order && arrival.end <= arrival.rcv_nxt;
        (self.cramped, self.read) = (arrival.cramped, false);
        if arrival.in_order {
            self.hear(arrival);
            self.duplicates = 0;
        } else if twice {
            self.be_quick(arrival.window);
            (self.delay, self.begun, self.ping_pong) = (SHORTEST, true, false); // tcp_enter_quickack_mode
        }
        if arrival.opens && self.quickly {
            self.quick |= 1; // tcp_grow_window
        }
        if std::mem::take(&mut self.answered) {
            return;
        }
        // What was acknowledged before is answered beside all that (`tcp_send_dupack`).
        if twice && arrival.end < arrival.rcv_nxt.earlier(arrival.unacked) {
            self.pass_if_due();
            return self.leave(arrival.rcv_nxt, out);
        }
        // A second segment counts where the window does not close for it; before a hole an ACK is due anyway, which counts otherwise.
        let full = arrival.unacked > u64::from(self.segment) && !arrival.narrows;
        if full || self.is_quick() || twice {
            self.send(arrival.rcv_nxt, out);
        } else if !arrival.in_order || arrival.hole {
            self.beyond(arrival, out);
        } else if self.is_read() || arrival.urgent {
            self.read = !arrival.urgent;
            self.send(arrival.rcv_nxt, out);
        } else {
            self.wait(arrival.now, arrival.rcv_nxt, out);
        }
    }

    fn on_block(&mut self, rcv_nxt: Seq, out: &mut AckSink) {
        if self.kept_back > 0 {
            self.answered = true;
            self.send(rcv_nxt, out);
        }
    }

    fn on_pure_ack(&mut self, now: Time, number: Seq, out: &mut AckSink) {
        if self.deadline.is_some() {
            self.wait(now, number, out); // `tcp_rcv_established`, `tcp_ack_snd_check`
        }
    }

    fn on_timer(&mut self, now: Time, rcv_nxt: Seq, out: &mut AckSink) {
        if self.summed_up.is_some_and(|at| at <= now) {
            self.send(rcv_nxt, out);
        } else if self.deadline.is_some_and(|(_, at)| at <= now) {
            // Nothing has followed in time: longer next time; nor has anything carried it (`tcp_delack_timer_handler`).
            self.delay = match std::mem::take(&mut self.ping_pong) {
                true => SHORTEST,
                false => (2 * self.delay).min(self.timeout()),
            };
            self.send(rcv_nxt, out);
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline.map(|(_, at)| at).into_iter().chain(self.summed_up).min()
    }

    fn on_data(&mut self, now: Time) {
        self.sends = true;
        // A reply, if it leaves within the estimate of what came (`tcp_event_data_sent`).
        let soon = |last: Time| self.tick(now).saturating_sub(last) < self.delay;
        self.ping_pong |= self.last.is_some_and(soon);
    }

    fn on_carried(&mut self, _: Seq) {
        self.pass_if_due();
        (self.deadline, self.summed_up) = (None, None);
    }

    fn set_timers(&mut self, wheel: Option<Wheel>) {
        self.wheel = wheel;
    }

    fn follows_reading(&self) -> bool {
        self.read
    }

    fn manner(&self) -> Option<Manner> {
        let covers = if self.is_quick() { 1 } else { 2 };
        Some(Manner { covers, wait: self.patience(), ..Manner::EVERY })
    }
}

#[cfg(test)]
mod tests;
