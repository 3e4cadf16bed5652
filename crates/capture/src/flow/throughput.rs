//! Packets, bytes and rates of one direction.

use super::book::{Acked, Sent};
use super::segment::{Ack, Data, closes};
use super::steps::Steps;
use truckee_tcp::{Span, Time};

/// What has passed.
#[derive(Debug, Clone, Default)]
pub struct Throughput {
    /// Segments with payload, as captured; doubled packets included.
    pub segments: u64,
    /// Payload of all of them, bytes.
    pub bytes: u64,
    /// Payload, each byte once.
    pub unique_bytes: u64,
    /// Payload that never passed here although data behind it did, bytes.
    pub missing_bytes: u64,
    /// The largest payload, bytes: above the segment size where offloads made longer packets.
    pub largest: u32,
    /// The largest number of bytes in the air.
    pub most_in_flight: u64,
    /// Bytes acknowledged.
    pub acked_bytes: u64,
    /// When the first data passed.
    pub first: Option<Time>,
    /// When the last new data, or the last ACK of new data, passed.
    pub last: Time,
    /// Payload over time, each byte once.
    pub over_time: Steps,
}

impl Throughput {
    pub(super) fn on_sent(&mut self, data: &Data, sent: &Sent, flight: u64) {
        self.most_in_flight = self.most_in_flight.max(flight);
        if data.len == 0 {
            return;
        }
        let fin = u64::from(closes(data.flags));
        let news = (sent.new + sent.filled).saturating_sub(fin);
        self.segments += 1;
        self.bytes += u64::from(data.len);
        self.unique_bytes += news;
        let missing = self.missing_bytes + sent.skipped;
        self.missing_bytes = missing.saturating_sub(sent.filled - sent.before);
        self.largest = self.largest.max(data.len);
        self.first.get_or_insert(data.now);
        self.over_time.add(data.now, news);
        if news > 0 {
            self.last = data.now;
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, acked: &Acked) {
        if acked.newly > 0 {
            self.acked_bytes += acked.newly;
            self.last = self.last.max(ack.now);
        }
    }

    /// Payload, each byte once, over the time from the first data to the last news of it; bit/s.
    pub fn rate(&self) -> Option<f64> {
        let span = self.last.checked_sub(self.first?).filter(|&span| span > Span::ZERO)?;
        Some(self.unique_bytes as f64 * 8e9 / span.as_f64())
    }
}
