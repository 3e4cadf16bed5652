//! The contract of a growth rule. Its members have files of their own, and [`super`] lists them.

use crate::pace::{LEAST_BURST, Spacing};
use crate::relative_delay::CongestedRounds;
use crate::{Ack, Air, Departure, Loss, Time, Window};

/// The contract of a growth rule.
pub trait Growth: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// An ACK of `ack.newly_acked` > 0 bytes.
    fn on_ack(&mut self, ack: &Ack, w: &mut Window);
    /// A duplicate whose blocks report new data, where reports open the window as ACKs do
    /// ([`crate::recovery::Recovery::opens_by_reports`]).
    fn on_report(&mut self, _ack: &Ack, _w: &mut Window) {}
    /// An ACK of new data that does not open the window although no loss is being repaired: the window is not what limits the
    /// sender, or the ACK echoes congestion.
    fn on_unused(&mut self, _ack: &Ack) {}
    /// A loss event; the response has set the window, which was `before` bytes until then.
    fn on_loss(&mut self, _loss: &Loss, _before: f64, _w: &mut Window) {}
    /// The last loss event was none: `w` is again what it was before.
    fn on_undo(&mut self, _now: Time, _w: &mut Window) {}
    /// Any ACK, also duplicates and those that belong to the repair of a loss, after everything else that it brings.
    fn after_ack(&mut self, _ack: &Ack, _air: &Air, _w: &mut Window) {}
    /// A segment leaves.
    fn on_sent(&mut self, _sent: &Departure, _w: &Window) {}
    /// Whether it wants to hear through [`Growth::after_ack`] and [`Growth::on_sent`], or may pace. One that does not
    /// spares every segment the trouble.
    fn listens(&self) -> bool {
        true
    }
    /// Bytes per second at which to pace; `None`: the rule does not mind.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// What of a segment counts towards that rate, and when.
    fn spacing(&self) -> Spacing {
        Spacing::Wire
    }
    /// Segments of a burst at the least, where several are handed over at once, at a pace in bytes per second (Linux, min_tso_segs).
    fn least_burst(&self, _rate: f64) -> u64 {
        LEAST_BURST
    }
    /// In how many rounds which direction of the path was congested, where it looks at that.
    fn congested_rounds(&self) -> Option<CongestedRounds> {
        None
    }
    /// Whether its window still holds after the sender has been idle (RFC 5681, section 4.1, says no).
    fn outlasts_idleness(&self) -> bool {
        false
    }
    /// Whether it needs the peer's timestamps ([`Ack::peer_time`]).
    fn wants_timestamps(&self) -> bool {
        false
    }
}
