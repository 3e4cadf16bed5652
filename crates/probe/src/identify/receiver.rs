//! A receiver of our own, which may leave out segments as if the path had lost them. What it keeps it answers as any
//! receiver does (RFC 5681, section 4.2; RFC 2018), one ACK a segment that has come and never one more. Not for: which
//! segments are left out, and when ACKs go (see [`super::repairs`], [`super::rounds`]).

use crate::Error;
use crate::connection::{Connection, WINDOW};
use crate::fault::Fault;
use crate::log::{Log, Segment};
use crate::peer::Peer;
use crate::ranges::Ranges;
use crate::stop::Stop;
use crate::wire::MOST_SACKS;
use std::collections::VecDeque;
use std::time::Duration;
use truckee_scenario::Cancel;
use truckee_tcp::{Span, Time};

/// A request without an answer is repeated after so long.
const REPEAT: Span = Span::s(1);
/// So often it looks whether to stop.
const SLICE: Span = Span::ms(100);
/// A server may send so much, bytes, in so many segments.
const MOST: u64 = 12 * WINDOW as u64;
const MOST_SEGMENTS: usize = 40_000;

/// An ACK that is owed to a segment.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Bytes of the answer that have come without a gap.
    pub ack: u32,
    /// Whether something has come beyond.
    pub gap: bool,
    /// What that is, the newest first, where the server wants to know.
    blocks: Vec<(u32, u32)>,
}

/// The receiver.
pub struct Receiver<'a, P: Peer> {
    connection: &'a mut Connection<P>,
    /// All that came, what is left out among it.
    pub log: Log,
    kept: Ranges,
    /// Those that have come and not been looked at.
    fresh: VecDeque<Segment>,
    sack: bool,
    owed: u32,
    cancel: &'a Cancel,
    /// When it must be over, and how long that is.
    until: Time,
    may: Span,
    /// So late it may do what is due.
    late: Span,
}

impl<'a, P: Peer> Receiver<'a, P> {
    /// One that has to be done within `may`, and does what is due with no more than `late`.
    pub fn new(
        connection: &'a mut Connection<P>,
        sack: bool,
        (may, late): (Span, Span),
        cancel: &'a Cancel,
    ) -> Self {
        let (log, until) = (connection.log(), connection.now().saturating_add(may));
        let (kept, fresh) = Default::default();
        Self { connection, log, kept, fresh, sack, owed: 0, cancel, until, may, late }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.connection.now()
    }

    /// The round-trip time of the path.
    pub fn rtt(&self) -> Span {
        self.connection.rtt.into()
    }

    /// Does nothing for so long.
    pub fn sleep(&mut self, how_long: Span) {
        let until = self.now().saturating_add(how_long);
        self.connection.sleep(until);
    }

    /// Ends the handshake and asks, until the answer begins.
    pub fn ask(&mut self, patience: Duration) -> Result<(), Stop> {
        let until = self.now().saturating_add(patience.into());
        let mut again = self.now();
        self.connection.greet()?;
        while self.log.segments.is_empty() {
            if self.now() >= again {
                self.connection.ask()?;
                again = self.now().saturating_add(REPEAT.max(3 * self.rtt()));
            }
            self.take(again.min(until))?;
            if self.log.segments.is_empty() && self.log.fin.is_some() {
                return Err(Fault::Closed("without an answer").into());
            }
            if self.log.segments.is_empty() && self.now() >= until {
                return Err(Fault::Stalled { seconds: patience.as_secs(), after: "after the request" }.into());
            }
        }
        Ok(())
    }

    /// The next segment with payload, waiting until then at most.
    pub fn next(&mut self, until: Time) -> Result<Option<Segment>, Stop> {
        loop {
            if let Some(segment) = self.fresh.pop_front() {
                return Ok(Some(segment));
            }
            if self.take(until)?.is_none() && self.now() >= until {
                return Ok(None);
            }
        }
    }

    fn take(&mut self, until: Time) -> Result<Option<Time>, Stop> {
        if self.cancel.is_cancelled() {
            return Err(Error::Interrupted.into());
        }
        let until = until.min(self.until).min(self.now().saturating_add(SLICE)).max(self.now());
        let before = self.log.segments.len();
        let came = self.connection.take(&mut self.log, until)?;
        self.fresh.extend(&self.log.segments[before..]);
        self.stood(came.unwrap_or(until))?;
        if self.now() >= self.until {
            return Err(Fault::Slow { bytes: self.log.bytes(), seconds: self.may.ticks(Span::s(1)) }.into());
        }
        if self.log.reset {
            let nothing = self.log.segments.is_empty();
            return Err(Fault::Reset(if nothing { "after the request" } else { "in its answer" }).into());
        }
        if self.log.load() > MOST || self.log.packets.max(self.log.segments.len()) > MOST_SEGMENTS {
            return Err(Fault::Flood.into());
        }
        Ok(came)
    }

    /// What was due then is done now: is that too late?
    pub fn stood(&self, due: Time) -> Result<(), Fault> {
        let late = self.now().saturating_sub(due);
        if late > self.late {
            return Err(Fault::Stood { milliseconds: late.ticks(Span::ms(1)) });
        }
        Ok(())
    }

    /// Keeps a segment: the ACK that is owed to it.
    pub fn keep(&mut self, segment: &Segment) -> Reply {
        self.kept.add(segment.start, segment.end);
        self.owed += 1;
        let ack = self.kept.contiguous();
        let mut blocks = Vec::new();
        if self.sack {
            let newest = self.kept.around(segment.start).filter(|(from, _)| *from > ack);
            blocks.extend(newest);
            let others = self.kept.apart().filter(|block| Some(*block) != newest);
            blocks.extend(others.take(MOST_SACKS - blocks.len()));
        }
        Reply { ack, gap: self.kept.end() > ack, blocks }
    }

    /// Sends an ACK. For one that was owed to an earlier segment a later one may go, and none for none.
    pub fn reply(&mut self, reply: &Reply) -> Result<(), Error> {
        debug_assert!(self.owed > 0 && reply.ack <= self.log.contiguous(), "an ACK that is not owed");
        if self.owed > 0 {
            self.owed -= 1;
            self.connection.reply(reply.ack.min(self.log.contiguous()), &reply.blocks)?;
        }
        Ok(())
    }

    /// Whether the answer has come to its end.
    pub fn is_over(&self) -> bool {
        self.log.fin.is_some()
    }
}
