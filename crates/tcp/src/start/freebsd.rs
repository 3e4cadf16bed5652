//! FreeBSD's start: the first ACK opens the window by two segments instead of one.
//!
//! From the stack's initial window on (1 segment in FreeBSD 3.0, as in the preset `rfc2581`) the first ACK of new data
//! adds one segment to what the growth rule adds: 1 segment goes out, then 3. After that the start is out of the way; a
//! loss before the first ACK ends it too. Source: Cheskis 2006 (TCP Taba), section 3.1.1.2,
//! which saw it and knows no reason.

use super::Start;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Ack, Window};

/// One segment more for the first ACK.
#[derive(Debug, Clone, Default)]
pub struct FreeBsd;

impl Member for FreeBsd {
    const INFO: Info = Info {
        name: "freebsd",
        summary: "as slow start, but the first ACK opens the window by two segments",
        formula: "cwnd = initial_window; first ACK: cwnd += MSS, besides the growth rule's step",
        source: "Cheskis 2006 (TCP Taba), section 3.1.1.2",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl Start for FreeBsd {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) -> bool {
        let first = ack.newly_acked > 0;
        w.cwnd += if first { w.mss } else { 0.0 };
        !first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;
    use crate::growth::tests::window;
    use crate::growth::{Growth, PerAck};

    #[test]
    fn the_first_ack_of_new_data_makes_three_segments_of_one() {
        let mut w = window(1.0, 100.0);
        assert!(!FreeBsd.on_ack(&Ack::of_bytes(Time::ns(1), 1000), &mut w), "that was all");
        PerAck.on_ack(&Ack::of_bytes(Time::ns(1), 1000), &mut w);
        assert_eq!(w.cwnd, 3000.0);
    }

    #[test]
    fn a_duplicate_is_not_the_first_ack() {
        let mut w = window(1.0, 100.0);
        let duplicate = Ack { duplicate: true, ..Ack::of_bytes(Time::ns(1), 0) };
        assert!(FreeBsd.on_ack(&duplicate, &mut w));
        assert_eq!(w.cwnd, 1000.0);
    }

    #[test]
    fn a_loss_before_the_first_ack_ends_it() {
        assert!(!FreeBsd.on_loss(&mut window(1.0, 2.0)));
    }
}
