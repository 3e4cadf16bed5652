//! The contract of a controller. Its members have files of their own, and [`super`] lists them.

use super::order::Order;
use crate::pace::{LEAST_BURST, Spacing};
use crate::relative_delay::CongestedRounds;
use crate::{Ack, Air, Cause, Departure, Loss, Time, Truth, Window};

/// What a controller wants to hear of. What it does not ask for spares every segment the trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    /// [`Controller::hear`].
    pub acks: bool,
    /// [`Controller::after_ack`].
    pub air: bool,
    /// [`Controller::on_sent`].
    pub departures: bool,
    /// [`Controller::pacing_rate`] may be asked.
    pub paces: bool,
    /// [`Air::rate`] is worked out, where `air` is asked for too.
    pub rates: bool,
}

impl Interest {
    /// Everything.
    pub const ALL: Self = Self { acks: true, air: true, departures: true, paces: true, rates: true };
}

/// The contract of a controller.
pub trait Controller: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// What it wants to hear of besides losses and what opens the window.
    fn interest(&self) -> Interest {
        Interest::ALL
    }
    /// Any ACK, before it changes anything.
    fn hear(&mut self, _ack: &Ack, _w: &Window) {}
    /// An ACK of `ack.newly_acked` > 0 bytes while no loss is being repaired and the window is what limits the sender: raises
    /// `w.cwnd`.
    fn on_ack(&mut self, ack: &Ack, w: &mut Window);
    /// A duplicate whose blocks report new data, where reports open the window as ACKs do
    /// ([`crate::recovery::Recovery::opens_by_reports`]).
    fn on_report(&mut self, _ack: &Ack, _w: &mut Window) {}
    /// An ACK of new data that does not open the window although no loss is being repaired: the window is not what limits the
    /// sender, or the ACK echoes congestion.
    fn on_unused(&mut self, _ack: &Ack) {}
    /// Any ACK, also duplicates and those that belong to the repair of a loss, after everything else that it brings.
    fn after_ack(&mut self, _ack: &Ack, _air: &Air, _w: &mut Window) {}
    /// A segment leaves.
    fn on_sent(&mut self, _sent: &Departure, _w: &Window) {}
    /// A loss event: sets `w.ssthresh` and `w.cwnd`, neither below one MSS, and says what it took the loss for.
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause;
    /// What the loss event has made of the window, which was `before` bytes until then. Not told where an ECN echo had
    /// reduced the window for the same round already.
    fn after_loss(&mut self, _loss: &Loss, _before: f64, _w: &mut Window) {}
    /// The last loss event was none: `w` is again what it was before.
    fn on_undo(&mut self, _now: Time, _w: &mut Window) {}
    /// Somebody outside the run says what the window and the pace are to be. Who decides these by itself heeds nothing.
    fn steer(&mut self, _order: &Order, _w: &mut Window) {}
    /// Bytes per second, headers included, at which to pace; `None`: as fast as the windows allow.
    fn pacing_rate(&self, _w: &Window) -> Option<f64> {
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
    /// Whether its window still holds after the sender has been idle (RFC 5681, section 4.1, says no).
    fn outlasts_idleness(&self) -> bool {
        false
    }
    /// Whether it needs the peer's timestamps ([`Ack::peer_time`]).
    fn wants_timestamps(&self) -> bool {
        false
    }
    /// In how many rounds which direction of the path was congested, where it looks at that.
    fn congested_rounds(&self) -> Option<CongestedRounds> {
        None
    }
    /// The estimate of the bandwidth it goes by, bit/s, where it goes by one.
    fn estimate(&self) -> Option<f64> {
        None
    }
    /// The truth, of which only an oracle takes notice.
    fn reveal(&mut self, _truth: Truth) {}
    /// Whether an oracle is in it, which [`Controller::reveal`] must tell the truth.
    fn wants_truth(&self) -> bool {
        false
    }
}
