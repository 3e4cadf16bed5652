//! How a connection was opened, and what its ends agreed on.

use crate::wire::{Options, Tcp, flags};
use serde::Serialize;
use truckee_tcp::{Span, Time};

/// The largest shift of a window (RFC 7323, section 2.3).
const LARGEST_SCALE: u8 = 14;

/// A SYN or SYN-ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Opening {
    first: Time,
    last: Time,
    count: u64,
    window: u16,
    options: Options,
    ecn: bool,
}

/// The three segments that open a connection, as far as they were captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Handshake {
    syn: Option<Opening>,
    syn_ack: Option<Opening>,
    completed: Option<Time>,
}

/// What an end offers when it opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// Maximum segment size that it takes, bytes.
    pub mss: Option<u16>,
    /// Window scale, a power of two.
    pub window_scale: Option<u8>,
    /// Window, bytes; not scaled in a handshake.
    pub window: u16,
    /// Whether it takes selective acknowledgements.
    pub sack: bool,
    /// Whether it brings time stamps.
    pub timestamps: bool,
    /// Whether it takes part in ECN (RFC 3168).
    pub ecn: bool,
    /// Whether it asks for or grants TCP Fast Open.
    pub fast_open: bool,
    /// Whether it offers Multipath TCP.
    pub multipath: bool,
    /// How often the segment was seen.
    pub sent: u64,
}

/// A handshake, as it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Report {
    /// What the client offers; none: its SYN was not captured.
    pub client: Option<Offer>,
    /// What the server offers; none: its SYN-ACK was not captured.
    pub server: Option<Offer>,
    /// From the last SYN to the SYN-ACK, seconds: the round trip from here to the server.
    pub to_server_s: Option<f64>,
    /// From the last SYN-ACK to the ACK, seconds: the round trip from here to the client.
    pub to_client_s: Option<f64>,
}

impl Handshake {
    /// A segment of the client, or of the server, has passed.
    pub(crate) fn on_segment(&mut self, now: Time, from_client: bool, tcp: &Tcp) {
        if tcp.has(flags::SYN) {
            let ecn = if from_client {
                tcp.flags & (flags::ECE | flags::CWR) == flags::ECE | flags::CWR
            } else {
                tcp.has(flags::ECE) && !tcp.has(flags::CWR)
            };
            let place = if from_client { &mut self.syn } else { &mut self.syn_ack };
            match place {
                Some(opening) => (opening.last, opening.count) = (now, opening.count + 1),
                None => {
                    let (window, options) = (tcp.window, tcp.options);
                    *place = Some(Opening { first: now, last: now, count: 1, window, options, ecn });
                }
            }
        } else if from_client && tcp.has(flags::ACK) && !tcp.has(flags::RST) && self.syn_ack.is_some() {
            self.completed.get_or_insert(now);
        }
    }

    /// Whether the client's SYN was captured.
    pub fn has_syn(&self) -> bool {
        self.syn.is_some()
    }

    /// From here to the server and back, where neither SYN nor SYN-ACK was sent again.
    pub(crate) fn to_server(self) -> Option<Span> {
        let (syn, syn_ack) = (self.syn?, self.syn_ack?);
        (syn.count == 1 && syn_ack.count == 1).then(|| syn_ack.first.saturating_sub(syn.first))
    }

    /// From here to the client and back, where no SYN-ACK was sent again.
    pub(crate) fn to_client(self) -> Option<Span> {
        let syn_ack = self.syn_ack.filter(|s| s.count == 1)?;
        Some(self.completed?.saturating_sub(syn_ack.first))
    }

    /// The power of two that windows of the client, or of the server, are scaled by; none: not known, since not both
    /// SYNs were captured.
    pub(crate) fn scale(&self, of_client: bool) -> Option<u8> {
        let (client, server) = (self.syn?.options.scale, self.syn_ack?.options.scale);
        match (client, server) {
            (Some(client), Some(server)) => Some(if of_client { client } else { server }.min(LARGEST_SCALE)),
            _ => Some(0),
        }
    }

    /// Bytes of payload that a segment to that end may have, by what that end said and whether there are time stamps.
    pub(crate) fn segment_size(&self, to_client: bool) -> Option<u32> {
        const STAMPS: u32 = 12;
        let end = if to_client { self.syn } else { self.syn_ack }?;
        let stamps = self.both(|o| o.options.timestamps.is_some());
        let mss = u32::from(end.options.mss?);
        Some(mss.saturating_sub(if stamps { STAMPS } else { 0 })).filter(|&size| size > 0)
    }

    fn both(&self, has: impl Fn(&Opening) -> bool) -> bool {
        self.syn.as_ref().is_some_and(&has) && self.syn_ack.as_ref().is_some_and(&has)
    }

    /// Whether both ends take selective acknowledgements.
    pub(crate) fn agrees_on_sack(&self) -> bool {
        self.both(|o| o.options.sack_permitted)
    }

    /// How often each end repeated its SYN.
    pub(crate) fn again(&self) -> u64 {
        let again = |o: Option<Opening>| o.map_or(0, |o| o.count - 1);
        again(self.syn) + again(self.syn_ack)
    }

    /// As it is written.
    pub fn report(&self) -> Report {
        let offer = |o: Opening| Offer {
            mss: o.options.mss,
            window_scale: o.options.scale,
            window: o.window,
            sack: o.options.sack_permitted,
            timestamps: o.options.timestamps.is_some(),
            ecn: o.ecn,
            fast_open: o.options.fast_open,
            multipath: o.options.multipath,
            sent: o.count,
        };
        Report {
            client: self.syn.map(offer),
            server: self.syn_ack.map(offer),
            to_server_s: self.to_server().map(Span::seconds),
            to_client_s: self.to_client().map(Span::seconds),
        }
    }
}
