//! How the receiver acknowledges: every segment, every second, parts of segments, or many at once.
//!
//! Counted are segments that do nothing but acknowledge. An ACK of less than a segment that ends within one is a divided
//! one; one of more than two segments is stretched. An ACK of data that was not captured says nothing of this. Where ACKs
//! are missing, the identifications of the receiver's IPv4 packets tell whether it sent fewer or the network has thinned
//! them: most systems count them up by one a packet.

use super::book::{Acked, COPIED_WITHIN};
use super::segment::Ack;
use serde::Serialize;
use truckee_tcp::{Seq, Time};

/// Identifications further apart than this say nothing.
const FAR: u16 = 1000;
/// Share of neighbours that must count up for identifications to be believed.
const CREDIBLE: f64 = 0.9;

/// Counts of ACKs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Segments that do nothing but acknowledge.
    pub pure: u64,
    /// Of them, those that acknowledge new data.
    pub advancing: u64,
    /// Of all segments that acknowledge new data, those that end within a segment.
    pub divided: u64,
    /// Those of one segment (more than a half, less than one and a half).
    pub of_one: u64,
    /// Those of two.
    pub of_two: u64,
    /// Those of three or four.
    pub of_three_or_four: u64,
    /// Those of five to eight.
    pub of_five_to_eight: u64,
    /// Those of nine and more.
    pub of_nine_or_more: u64,
    /// Duplicates (RFC 5681, section 2).
    pub duplicate: u64,
    /// Those that are duplicates by RFC 6675 alone: SACK brings news, but the window is another.
    pub duplicate_by_sack: u64,
    /// Of pure ACKs, those that only open or close the window.
    pub window_updates: u64,
    /// Of pure ACKs, those older than one that has passed.
    pub old: u64,
    /// Doubled packets.
    pub copies: u64,
    /// Bytes acknowledged that were not captured.
    pub unseen_bytes: u64,
}

/// Keeps count of them.
#[derive(Debug, Clone, Default)]
pub struct Acks {
    /// The counts.
    pub counts: Counts,
    bytes: u64,
    largest: u64,
    window: u64,
    last_ack: Seq,
    last_id: Option<u16>,
    last_at: Time,
    /// The number of the FIN, which is no byte of data.
    fin: Option<Seq>,
    /// ACKs of parts of segments, those that complete one included, and their bytes.
    parts: u64,
    part_bytes: u64,
    /// Whether the ACK before ended within a segment.
    was_within: bool,
    neighbours: u64,
    rising: u64,
    missing: u64,
}

impl Acks {
    pub(super) fn on_ack(&mut self, ack: &Ack, acked: &Acked, segment_size: u32) {
        if ack.pure && self.follow_id(ack) {
            self.counts.copies += 1;
            return;
        }
        let c = &mut self.counts;
        c.pure += u64::from(ack.pure);
        c.unseen_bytes += acked.unseen;
        if acked.newly > 0 {
            c.advancing += u64::from(ack.pure);
            let bytes = acked.newly - u64::from(self.fin.is_some_and(|fin| fin + 1 == ack.ack));
            if acked.unseen == 0 && bytes > 0 {
                self.bytes += bytes;
                self.largest = self.largest.max(bytes);
                self.advance(acked.within, bytes, u64::from(segment_size.max(1)));
            }
        } else if ack.pure {
            let same_window = ack.window == self.window;
            match () {
                () if acked.old => c.old += 1,
                () if acked.repeats && same_window => c.duplicate += 1,
                () if acked.sacked > 0 => c.duplicate_by_sack += 1,
                () if !same_window => c.window_updates += 1,
                () => {}
            }
        }
        (self.window, self.last_ack, self.last_at) = (ack.window, ack.ack, ack.now);
    }

    /// An ACK of so many bytes of data, which ends `within` a piece.
    fn advance(&mut self, within: Option<u64>, bytes: u64, size: u64) {
        let c = &mut self.counts;
        // An offloaded piece is many segments: what matters is whether the ACK ends at an edge of one of them.
        let within = within.is_some_and(|at| at % size != 0);
        let continues = std::mem::replace(&mut self.was_within, within);
        if (within || continues) && bytes < size {
            self.parts += 1;
            self.part_bytes += bytes;
        }
        if within && bytes < size {
            c.divided += 1;
            return;
        }
        match (bytes + size / 2) / size {
            0 | 1 => c.of_one += 1,
            2 => c.of_two += 1,
            3 | 4 => c.of_three_or_four += 1,
            5..=8 => c.of_five_to_eight += 1,
            _ => c.of_nine_or_more += 1,
        }
    }

    /// Follows the identifications; whether this is the packet before once more.
    fn follow_id(&mut self, ack: &Ack) -> bool {
        let Some(id) = ack.id.filter(|&id| id != 0) else { return false };
        let Some(last) = self.last_id.replace(id) else { return false };
        if id == last {
            let soon = ack.now.saturating_sub(self.last_at) < COPIED_WITHIN;
            return soon && ack.ack == self.last_ack && ack.window == self.window;
        }
        self.neighbours += 1;
        let step = id.wrapping_sub(last);
        if step < FAR {
            self.rising += 1;
            self.missing += u64::from(step - 1);
        }
        false
    }

    /// The FIN has passed, at this number.
    pub(super) fn on_fin(&mut self, number: Seq) {
        self.fin = Some(number);
    }

    /// Data of the receiver has passed: as many identifications as it was cut into, which does not show.
    pub(crate) fn forget_id(&mut self) {
        self.last_id = None;
    }

    /// Packets of the receiver between its ACKs that have not passed here, by their identifications; none where those
    /// do not count up.
    pub fn missing(&self) -> Option<u64> {
        let credible = self.neighbours > 10 && self.rising as f64 >= CREDIBLE * self.neighbours as f64;
        credible.then_some(self.missing)
    }

    /// Mean bytes an ACK acknowledges.
    pub fn mean_bytes(&self) -> Option<f64> {
        let c = &self.counts;
        let all =
            c.divided + c.of_one + c.of_two + c.of_three_or_four + c.of_five_to_eight + c.of_nine_or_more;
        (all > 0).then(|| self.bytes as f64 / all as f64)
    }

    /// The most bytes that an ACK has acknowledged.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// In words: what most ACKs are.
    pub fn habit(&self, segment_size: u32) -> Option<String> {
        let c = &self.counts;
        let stretched = c.of_three_or_four + c.of_five_to_eight + c.of_nine_or_more;
        let all = c.divided + c.of_one + c.of_two + stretched;
        if all < 4 {
            return None;
        }
        let size = f64::from(segment_size.max(1));
        let segments = self.mean_bytes()? / size;
        // Of the parts alone: an ACK that ends a gap covers as much as came behind it.
        let parts = size * self.parts as f64 / self.part_bytes.max(1) as f64;
        let most = |n: u64| 2 * n > all;
        let thinned = self.missing().is_some_and(|missing| 4 * missing > c.pure);
        Some(match () {
            () if most(self.parts) => format!("divided by {parts:.1}"),
            () if most(stretched) && thinned => format!("thinned on the way: every {segments:.1} segments"),
            () if most(stretched) => format!("every {segments:.1} segments"),
            () if most(c.of_one) => "every segment".to_owned(),
            () if most(c.of_two) => "every second segment".to_owned(),
            () => format!("mixed: every {segments:.1} segments"),
        })
    }
}
