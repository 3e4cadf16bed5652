//! One connection that is offered every option, and of which nothing is answered: the handshake, the first round, and when the
//! timer sends it again. Not for: naming a system by it.

use super::receiver::Receiver;
use crate::connection::Connection;
use crate::identity::Fingerprint;
use crate::peer::Peer;
use crate::route::first_ttl;
use crate::stop::Stop;
use crate::wire::{Agreed, Header, option_words};
use std::time::Duration;
use truckee_scenario::Cancel;
use truckee_tcp::{Span, Time};

/// The first round is over when nothing has come for half a round trip, this at least.
const LEAST_QUIET: Span = Span::ms(2);
/// The timer is watched for so long: three retransmissions of a second that doubles.
pub const WATCH: Span = Span::s(8);
/// Nothing is due, so that what comes may be read late.
const LATE: Span = Span::s(60);

/// Runs it over a connection that the server has answered thus.
pub fn run<P: Peer>(
    connection: &mut Connection<P>,
    header: &Header,
    agreed: &Agreed,
    patience: Duration,
    cancel: &Cancel,
) -> Result<Fingerprint, Stop> {
    let quiet = (Span::from(connection.rtt) / 2).max(LEAST_QUIET);
    let may = 2 * Span::from(patience) + WATCH;
    let handshake_segments = connection.handshake;
    let mut r = Receiver::new(connection, agreed.sack, (may, LATE), cancel);
    r.ask(patience)?;
    let mut last: Option<Time> = None;
    while let Some(segment) = r.next(last.unwrap_or(r.now()).saturating_add(quiet))? {
        last = Some(segment.time);
    }
    let (initial_window, initial_window_bytes) = (r.log.news(), r.log.bytes());
    let began = last.unwrap_or(r.now());
    let until = began.saturating_add(WATCH);
    let mut again: Vec<f64> = Vec::new();
    while let Some(segment) = r.next(until)? {
        // One timeout may send several.
        let after = segment.time.saturating_sub(began).seconds();
        if !segment.new && again.last().is_none_or(|last| after - last > quiet.seconds().max(0.05)) {
            again.push(after);
        }
    }
    Ok(Fingerprint {
        ttl: header.ttl,
        first_ttl: first_ttl(header.ttl),
        whole: header.whole,
        window: header.window,
        mss: agreed.mss,
        scale: agreed.scale,
        options: option_words(&header.options),
        initial_window,
        initial_window_bytes,
        handshake_segments,
        retransmissions_s: again,
    })
}
