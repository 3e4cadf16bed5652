//! How late packets left: exact counts, beside the percentiles of [`super::delays`], for the rule that a run is judged
//! valid by.

use truckee_channel::Span;
use truckee_scenario::lateness::LATE_S;

/// How late the packets of a run left the emulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Late {
    /// Packets that left.
    pub packets: u64,
    /// Of them, those that left more than [`LATE_S`] after they were due.
    pub late: u64,
    /// The latest, ns after it was due.
    pub latest: Span,
}

impl Late {
    /// A packet has left so long after it was due.
    pub(super) fn add(&mut self, after: Span) {
        self.packets += 1;
        self.late += u64::from(after.as_f64() > LATE_S * 1e9);
        self.latest = self.latest.max(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_late_beyond_the_bound_only() {
        let mut late = Late::default();
        for after in [0, 2_000_000, 2_000_001, 7_000_000] {
            late.add(Span::ns(after));
        }
        assert_eq!(late, Late { packets: 4, late: 2, latest: Span::ms(7) });
    }
}
