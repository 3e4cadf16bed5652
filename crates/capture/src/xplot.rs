//! Time-sequence graphs in xplot's language, as tcptrace draws them (S. Ostermann).
//!
//! Each segment is a white line from its first to its last number, R above one that was sent again; the green line
//! below is what has been acknowledged, the yellow one above what the receiver allows; S and a purple line are selective
//! acknowledgements, 3 a duplicate ACK; X stands for a packet that the capture's writer notes as dropped. Numbers are
//! relative: the first byte is 1.

use crate::connection::{Connection, Step, Way};
use crate::error::Error;
use crate::flow::{Ack, Acked, Data, Sent};
use crate::table::Watch;
use crate::wire::Packet;
use std::io::{self, Write};
use truckee_tcp::{Seq, Span, Time};

/// Draws one direction of one connection while the capture is read.
pub struct Xplot<W: Write> {
    connection: u64,
    way: Way,
    out: W,
    /// When the last ACK passed, the number it said, and where the window then ended.
    last: Option<(Time, u64, u64)>,
    begun: bool,
    failed: Option<io::Error>,
}

impl<W: Write> Xplot<W> {
    /// Of the data that goes `way` in the connection of that number.
    pub fn new(connection: u64, way: Way, out: W) -> Self {
        Self { connection, way, out, last: None, begun: false, failed: None }
    }

    /// Ends the graph: where it was written to, and whether there was anything to draw.
    pub fn finish(mut self) -> Result<(W, bool), Error> {
        if self.begun {
            self.put(format_args!("go\n"));
        }
        let flushed = self.out.flush();
        match self.failed.map_or(flushed, Err) {
            Ok(()) => Ok((self.out, self.begun)),
            Err(error) => Err(Error::Write(error)),
        }
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        if self.failed.is_none() {
            self.failed = self.out.write_fmt(text).err();
        }
    }

    fn begin(&mut self, c: &Connection) {
        if !std::mem::replace(&mut self.begun, true) {
            let (from, to) =
                if self.way == Way::ToServer { (c.client, c.server) } else { (c.server, c.client) };
            self.put(format_args!(
                "timeval unsigned\ntitle\n{from}_==>_{to} (time sequence graph)\nxlabel\ntime\nylabel\nsequence number\n"
            ));
        }
    }

    fn on_data(&mut self, data: &Data, sent: &Sent, origin: Seq) {
        let (t, seq, end) =
            (Stamp(data.now), data.seq.saturating_sub(origin), data.end.saturating_sub(origin));
        self.put(format_args!("white\ndarrow {t} {end}\nuarrow {t} {seq}\nline {t} {seq} {t} {end}\n"));
        if sent.is_again() {
            self.put(format_args!("red\natext {t} {end}\nR\n"));
        }
        if data.dropped.is_some() {
            self.put(format_args!("orange\nx {t} {seq}\n"));
        }
    }

    fn on_ack(&mut self, ack: &Ack, acked: &Acked, origin: Seq) {
        let number = ack.ack.saturating_sub(origin);
        let edge = number + ack.window;
        let (now, then) = (Stamp(ack.now), self.last.replace((ack.now, number, edge)));
        if let Some((at, before, edge_before)) = then {
            let at = Stamp(at);
            self.put(format_args!(
                "green\nline {at} {before} {now} {before}\nline {now} {before} {now} {number}\n"
            ));
            self.put(format_args!(
                "yellow\nline {at} {edge_before} {now} {edge_before}\nline {now} {edge_before} {now} {edge}\n"
            ));
        }
        if acked.repeats {
            self.put(format_args!("green\ndtick {now} {number}\n"));
        }
        for &(from, to) in ack.sack.as_slice() {
            let (from, to) = (from.saturating_sub(origin), to.saturating_sub(origin));
            self.put(format_args!("purple\nline {now} {from} {now} {to}\nrtext {now} {to}\nS\n"));
        }
    }
}

/// A time as xplot reads it.
struct Stamp(Time);

impl std::fmt::Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0.ticks(Span::s(1)), self.0.ticks(Span::us(1)) % 1_000_000)
    }
}

impl<W: Write> Watch for Xplot<W> {
    fn wants(&mut self, connection: &Connection) -> bool {
        connection.number == self.connection
    }

    fn on_step(&mut self, connection: &Connection, _packet: &Packet, step: &Step) {
        let ours = step.way == Some(self.way);
        let origin = connection.flow(self.way).book.origin();
        if let Some((ack, acked)) = step.ack.as_ref().filter(|_| !ours) {
            self.begin(connection);
            self.on_ack(ack, acked, origin);
        }
        if let Some((data, sent)) = step.data.as_ref().filter(|_| ours) {
            self.begin(connection);
            self.on_data(data, sent, origin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::End;
    use crate::wire::{Ip, Options, Tcp, flags};

    fn packet(from: u8, seq: u32, ack: u32, len: u32) -> Packet {
        let end = |k: u8| End { address: [10, 0, 0, k].into(), port: u16::from(k) };
        let (source, destination) = (end(from), end(3 - from));
        let ip = Ip {
            source: source.address,
            destination: destination.address,
            id: None,
            congestion_experienced: false,
        };
        let tcp = Tcp {
            source: source.port,
            destination: destination.port,
            seq,
            ack,
            flags: flags::ACK,
            window: 100,
            len,
            options: Options::default(),
        };
        Packet { ip, tcp }
    }

    #[test]
    fn a_graph_has_segments_and_the_lines_of_acknowledgement_and_window() {
        let mut out = Vec::new();
        let mut xplot = Xplot::new(1, Way::ToServer, &mut out);
        let mut table = crate::table::Table::new(crate::Limits::default(), Some(&mut xplot));
        for (k, packet) in
            [packet(1, 1000, 1, 10), packet(2, 1, 1010, 0), packet(1, 1010, 1, 10), packet(2, 1, 1020, 0)]
                .iter()
                .enumerate()
        {
            table.on_packet(Time::ns(1_500_000_000 + k as u64 * 1000), packet, None);
        }
        table.finish();
        assert!(xplot.finish().unwrap().1);
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("timeval unsigned\ntitle\n10.0.0.1:1_==>_10.0.0.2:2"), "{text}");
        for line in [
            "line 1.500000 1 1.500000 11\n",
            "line 1.500002 11 1.500002 21\n",
            "line 1.500001 11 1.500003 11\nline 1.500003 11 1.500003 21\n",
            "line 1.500001 111 1.500003 111\n",
        ] {
            assert!(text.contains(line), "{line} not in {text}");
        }
        assert!(text.ends_with("go\n"));
    }
}
