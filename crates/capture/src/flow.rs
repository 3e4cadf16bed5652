//! One direction of a connection: the data one way, and the ACKs that answer it.
//!
//! Every question has a module of its own, which hears of each segment and each ACK after the [`book`] has sorted it in:
//! what is new, what was there before, what it acknowledges. Sequence numbers are 64-bit; SYN is number 0 and the first
//! byte of data number 1 or, where the beginning was not captured, the first byte seen that much after [`ORIGIN`].
//!
//! All is told as seen where it was captured: at the sender, at the receiver, or in between. What the sender knows when
//! it sends is then older than what has passed here, by [`rtt::Rtt::sender_side`].
//!
//! Not for: which packet belongs to which connection, and numbers on the wire; [`crate::table`] knows.

pub mod acks;
pub mod book;
mod memory;
pub mod phases;
pub mod quantiles;
pub mod retransmissions;
pub mod rounds;
pub mod rtt;
mod segment;
pub mod steps;
pub mod throughput;
pub mod windows;

pub use book::{Acked, Before, Book, ORIGIN, Sent};
pub use segment::{Ack, Blocks, Data};

use retransmissions::Verdict;
use segment::closes;
use truckee_tcp::{Seq, Span};

/// Everything that is known of one direction.
#[derive(Debug, Clone)]
pub struct Flow {
    /// What is in the air.
    pub book: Book,
    /// Round-trip times.
    pub rtt: rtt::Rtt,
    /// What was sent again, and why.
    pub retransmissions: retransmissions::Retransmissions,
    /// How the receiver acknowledges.
    pub acks: acks::Acks,
    /// What went in each round trip.
    pub rounds: rounds::Rounds,
    /// Slow start and congestion avoidance, as they look.
    pub phases: phases::Phases,
    /// What the receiver offers.
    pub windows: windows::Windows,
    /// Packets, bytes, rates.
    pub throughput: throughput::Throughput,
}

impl Flow {
    /// A direction that begins with number `first`.
    pub fn new(first: Seq) -> Self {
        Self {
            book: Book::new(first),
            rtt: rtt::Rtt::default(),
            retransmissions: retransmissions::Retransmissions::default(),
            acks: acks::Acks::default(),
            rounds: rounds::Rounds::default(),
            phases: phases::Phases::default(),
            windows: windows::Windows::default(),
            throughput: throughput::Throughput::default(),
        }
    }

    /// Whether neither data nor an ACK of it has passed.
    pub(crate) fn is_untouched(&self) -> bool {
        self.throughput.segments == 0 && self.throughput.acked_bytes == 0
    }

    /// Bytes that it takes, beside its own: what [`crate::table`] bounds over all connections.
    pub(crate) fn size(&self) -> usize {
        self.book.size()
            + self.rtt.size()
            + self.retransmissions.size()
            + self.rounds.size()
            + self.phases.size()
            + self.throughput.over_time.size()
    }

    /// Data, or FIN, has passed. What it was and, if it was sent again, what for.
    pub fn on_data(&mut self, data: &Data, segment_size: u32) -> (Sent, Option<Verdict>) {
        let before =
            Before { flight: self.book.flight(), una: self.book.una(), highest: self.book.highest() };
        let sent = self.book.sent(data, self.rtt.reordering());
        let mut verdict = None;
        self.throughput.on_sent(data, &sent, self.book.flight());
        self.rtt.on_sent(data);
        if closes(data.flags) {
            self.acks.on_fin(data.end - 1);
        }
        if data.len > 0 {
            let d = self.rtt.sender_side().unwrap_or(Span::ZERO);
            if let Some(round) = self.rounds.on_sent(data, &sent, before.flight, d) {
                self.phases.on_round(&round, segment_size);
            }
            let view = retransmissions::View { book: &self.book, rtt: &self.rtt, windows: &self.windows };
            verdict = self.retransmissions.on_sent(data, &sent, &before, &view);
            if let Some(verdict) = verdict {
                self.phases.on_retransmission(data.now, verdict.kind, self.book.highest());
            }
        }
        (sent, verdict)
    }

    /// An ACK has passed. What it says.
    pub fn on_ack(&mut self, ack: &Ack, segment_size: u32) -> Acked {
        let acked = self.book.acked(ack);
        self.rtt.on_ack(ack, &acked);
        self.acks.on_ack(ack, &acked, segment_size);
        self.rounds.on_ack(ack, &acked);
        self.phases.on_ack(ack);
        self.windows.on_ack(ack);
        self.throughput.on_ack(ack, &acked);
        self.retransmissions.on_ack(ack, &acked, &self.book);
        acked
    }
}

#[cfg(test)]
pub(crate) mod tests;
