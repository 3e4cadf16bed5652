//! The handshake of TLS over a connection that is of our making from the first SYN on. What the server says is answered when
//! the set round trip is over, as is all that follows: a server that learns its path from its certificates learns the same.
//! Then nothing is asked for in a while, so that the window which they have opened is back where it began. Not for:
//! handshakes by the kernel's TCP (see [`crate::line`]).

use crate::Error;
use crate::connection::Connection;
use crate::fault::Fault;
use crate::log::Log;
use crate::open::idle;
use crate::peer::Peer;
use crate::stop::Stop;
use crate::tls::Tls;
use std::time::Duration;
use truckee_scenario::Cancel;
use truckee_tcp::{Span, Time};

/// What has not been answered in so long is said again.
const AGAIN: Span = Span::s(1);
/// So often it looks whether to stop.
const SLICE: Span = Span::ms(100);
/// No handshake is longer, bytes, nor has more packets.
const MOST: u64 = 64 << 10;
const MOST_PACKETS: usize = 1000;

/// Does the handshake, and makes the connection one that asks for `request`. `held`: by so much longer than the path's a
/// round trip is to be.
pub fn secure<P: Peer>(
    connection: &mut Connection<P>,
    tls: &mut Tls,
    request: &[u8],
    held: Span,
    patience: Duration,
    cancel: &Cancel,
) -> Result<(), Stop> {
    let until = connection.now().saturating_add(held);
    connection.sleep(until);
    connection.greet()?;
    let until = connection.now().saturating_add(patience.into());
    let log = connection.log();
    let mut handshake = Handshake { connection, log, held, until, patience, segments: 0, cancel };
    while tls.is_handshaking() {
        let flight = tls.seal(&[])?;
        handshake.say(flight);
        handshake.converse(tls)?;
    }
    handshake.rest()?;
    let sealed = tls.seal(request)?;
    handshake.say(sealed);
    let segments = handshake.segments;
    connection.handshake = segments;
    Ok(())
}

struct Handshake<'a, P: Peer> {
    connection: &'a mut Connection<P>,
    /// What has come since we said something.
    log: Log,
    held: Span,
    /// When it must be over, and how long that is.
    until: Time,
    patience: Duration,
    /// Segments of the server's with payload.
    segments: u32,
    cancel: &'a Cancel,
}

impl<P: Peer> Handshake<'_, P> {
    /// Has this be what is said next: all before has come to the server.
    fn say(&mut self, flight: Vec<u8>) {
        self.connection.go_on(&self.log, flight);
        self.log = self.connection.log();
    }

    /// Says what is to be said until the server has answered it in full.
    fn converse(&mut self, tls: &mut Tls) -> Result<(), Stop> {
        let (mut again, mut read) = (self.connection.now(), 0);
        while tls.is_handshaking() && !tls.has_to_say() {
            if self.connection.now() >= again {
                self.connection.ask()?;
                let patient = AGAIN.max(3 * Span::from(self.connection.rtt)) + self.held;
                again = self.connection.now().saturating_add(patient);
            }
            self.hear(again)?;
            if let Some(come) = self.log.text.get(read..) {
                // What has gone wrong in TLS is the fault, though the server may have closed upon it.
                tls.open(come)?;
                read = self.log.text.len();
            }
            self.check()?;
        }
        Ok(())
    }

    /// Answers what still comes, for as long as the window needs to be back where it began.
    fn rest(&mut self) -> Result<(), Stop> {
        let until = self.connection.now().saturating_add(idle(self.connection.rtt).into());
        self.until = until.saturating_add(Span::from(self.patience));
        while self.connection.now() < until {
            self.hear(until)?;
            self.check()?;
        }
        Ok(())
    }

    /// Waits until then at most, and acknowledges what has come when it has been held.
    fn hear(&mut self, until: Time) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            return Err(Error::Interrupted.into());
        }
        let before = self.log.segments.len();
        let soon = self.connection.now().saturating_add(SLICE);
        let Some(came) = self.connection.take(&mut self.log, until.min(self.until).min(soon))? else {
            return Ok(());
        };
        if self.log.segments.len() == before {
            return Ok(()); // an ACK is not answered
        }
        self.connection.sleep(came.saturating_add(self.held));
        let now = self.connection.now();
        while self.log.packets < MOST_PACKETS && self.connection.take(&mut self.log, now)?.is_some() {}
        self.segments += (self.log.segments.len() - before) as u32;
        self.connection.acknowledge(&self.log, self.log.contiguous())?;
        Ok(())
    }

    fn check(&self) -> Result<(), Fault> {
        let within = "in the handshake of TLS";
        match () {
            () if self.log.reset => Err(Fault::Reset(within)),
            () if self.log.fin.is_some() => Err(Fault::Closed(within)),
            () if self.log.load() > MOST || self.log.packets >= MOST_PACKETS => Err(Fault::Flood),
            () if self.connection.now() >= self.until => {
                Err(Fault::Stalled { seconds: self.patience.as_secs(), after: within })
            }
            () => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "secure_tests.rs"]
mod tests;
