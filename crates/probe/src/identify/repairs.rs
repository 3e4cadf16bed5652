//! One connection of which two segments of a window are left out as if the path had lost them: what repairs them, and when.
//!
//! The twenty-fifth and the twenty-eighth segment (TBIT takes the thirteenth and the sixteenth: Padhye and Floyd 2001,
//! section 3.3), by which any window has opened so far that half of it is used up by the duplicates for the rest. Every other one is answered at once, until the first repair comes. That is answered after a
//! pause, in which a sender that needs no ACK for the second repair sends it; then nothing more is answered, so that what
//! comes is the answer to this one ACK, or the timer's.
//!
//! Not for: what it means (see [`crate::recovery`]).

use super::receiver::Receiver;
use crate::connection::Connection;
use crate::fault::Fault;
use crate::identity::{Repairs, Second};
use crate::log::Segment;
use crate::peer::Peer;
use crate::recovery::IN_TIME_S;
use crate::stop::Stop;
use std::time::Duration;
use truckee_scenario::Cancel;
use truckee_tcp::{Span, Time};

/// Which segments are left out, from 0 on.
const LOST: [u32; 2] = [24, 27];
/// So much longer than a round trip the repairs are waited for; and the pause between the first and its ACK, at most: the
/// timer, which waits 200 ms longer than a round trip at least, has begun anew by the first.
const IN_TIME: Span = Span::truncated(IN_TIME_S * 1e9);
const LONGEST_PAUSE: Span = Span::ms(120);
const LEAST_PAUSE: Span = Span::ms(20);
/// How long a timer may take that repairs a loss (RFC 6298: a second, and twice that).
const TIMER: Span = Span::s(4);
/// What follows a loss and comes again with it: so many segments.
const BEHIND: u32 = 4;
/// Later than this nothing may be done that is due.
const LATE: Span = Span::ms(60);
/// The duplicates go so far apart at most, or by this part of a round trip: of a batch some count one only.
const APART: Span = Span::ms(1);
const APART_SHARE: u64 = 32;
/// Segments of an answer that suffices.
const ENOUGH: u64 = 64;

/// A segment that is left out.
type Lost = (u32, u32);

/// Runs it over a connection that the server has answered.
pub fn run<P: Peer>(
    connection: &mut Connection<P>,
    repetition: u32,
    sack: bool,
    patience: Duration,
    cancel: &Cancel,
) -> Result<Repairs, Stop> {
    let rtt: Span = connection.rtt.into();
    let may = 2 * Span::from(patience) + 40 * rtt + 2 * TIMER;
    let mut r = Receiver::new(connection, sack, (may, LATE), cancel);
    r.ask(patience)?;
    let (lost, duplicates, third, repair) = first(&mut r, patience)?;
    // The first repair waits for its ACK.
    let partial = r.keep(&repair);
    let mut seen = Repairs {
        repetition,
        rtt_s: rtt.seconds(),
        mss: r.log.largest(),
        sack,
        duplicates,
        first_s: third.map(|third| repair.time.saturating_sub(third).seconds()),
        new_segments: 0,
        second: Second::Later,
        again: 0,
    };
    let mut reply = partial;
    let pause = repair.time.saturating_add((rtt + LEAST_PAUSE).min(LONGEST_PAUSE));
    while let Some(segment) = r.next(pause)? {
        seen.new_segments += u32::from(segment.new);
        if covers(&segment, lost[1]) {
            seen.second = Second::Unasked;
        } else {
            seen.again += u32::from(behind(&segment, lost[1], seen.mss));
        }
        reply = r.keep(&segment);
    }
    r.stood(pause)?;
    if seen.second == Second::Later {
        let sent = r.now();
        // The first repair shows the path's round trip without the server's handshake.
        let trip = third.map_or(rtt, |third| rtt.min(repair.time.saturating_sub(third)));
        let (before, until) = (sent.saturating_add(trip * 7 / 8), sent.saturating_add(rtt + IN_TIME));
        r.reply(&reply)?;
        while let Some(segment) = r.next(until)? {
            // The server had not heard of it when it sent that.
            seen.new_segments += u32::from(segment.new && segment.time < sent.saturating_add(rtt));
            if covers(&segment, lost[1]) {
                let unasked = sack && segment.time < before;
                seen.second = if unasked { Second::Unasked } else { Second::OnPartialAck };
            } else {
                seen.again += u32::from(behind(&segment, lost[1], seen.mss));
            }
        }
    }
    if r.log.missing() > 0 {
        return Err(Fault::Lost(r.log.missing()).into());
    }
    Ok(seen)
}

/// Until the first repair: what was left out, how many duplicates went, when the third did, and the repair.
fn first<P: Peer>(
    r: &mut Receiver<'_, P>,
    patience: Duration,
) -> Result<([Lost; 2], u32, Option<Time>, Segment), Stop> {
    let mut lost: Vec<Lost> = Vec::new();
    let (mut count, mut acked, mut duplicates, mut third) = (0, 0, 0, None);
    let mut until = r.now().saturating_add(patience.into());
    loop {
        // Of an answer that is over no more comes by itself.
        let soon = r.now().saturating_add(3 * r.rtt() + IN_TIME);
        let Some(segment) = r.next(if r.is_over() && lost.len() < 2 { soon.min(until) } else { until })?
        else {
            return Err(match lost.len() {
                // Nobody reads on who waits for the end of an answer that is over.
                0 | 1 if r.is_over() => Fault::Short { bytes: r.log.bytes(), need: need(r) },
                0 | 1 => Fault::Stalled {
                    seconds: patience.as_secs(),
                    after: "before there was a window to lose of",
                },
                _ => Fault::Stalled { seconds: TIMER.ticks(Span::s(1)), after: "after a loss" },
            }
            .into());
        };
        if let Some(first) = lost.first().copied()
            && covers(&segment, first)
        {
            // With a window so small that there was no second one, there are no three duplicates either.
            let second = lost.get(1).copied().unwrap_or((u32::MAX, u32::MAX));
            return Ok(([first, second], duplicates, third, segment));
        }
        if segment.new {
            count += 1;
            if LOST.contains(&(count - 1)) {
                lost.push((segment.start, segment.end));
                until = r.now().saturating_add(3 * r.rtt() + TIMER);
                continue;
            }
        }
        let reply = r.keep(&segment);
        r.reply(&reply)?;
        if reply.ack > acked {
            acked = reply.ack;
        } else if !lost.is_empty() {
            duplicates += 1;
            if duplicates == 3 {
                third = Some(r.now());
            }
            // Unless many wait for theirs.
            if r.now().saturating_sub(segment.time) < LATE / 3 {
                r.sleep(APART.min(r.rtt() / APART_SHARE));
            }
        }
    }
}

/// Bytes that suffice.
fn need<P: Peer>(r: &Receiver<'_, P>) -> u64 {
    ENOUGH * u64::from(r.log.largest())
}

fn covers(segment: &Segment, (start, _): Lost) -> bool {
    segment.start <= start && start < segment.end
}

/// Whether it is one of those behind a loss, which had come.
fn behind(segment: &Segment, (_, end): Lost, mss: u32) -> bool {
    !segment.new && (end..end.saturating_add(BEHIND * mss)).contains(&segment.start)
}
