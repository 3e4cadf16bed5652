//! What a foreign member may leave, and what it may answer.

use crate::ack::{AckSink, Honesty, Learnt, Manner};
use crate::controller::{Interest, Order};
use crate::custom::Sound;
use crate::detect::{Floats, Phase};
use crate::outstanding::Sent;
use crate::pace::Spacing;
use crate::recovery::{Advance, Reported};
use crate::relative_delay::CongestedRounds;
use crate::sender::Transfer;
use crate::start::{Burst, Opening};
use crate::wheel::Wheel;
use crate::{Ack, Air, Arrival, Cause, Departure, Loss, Report, SackBlocks, Seq, Span, Time, Truth, Window};

impl Sound for Window {
    fn fault(&self) -> Option<String> {
        if !(self.cwnd.is_finite() && self.cwnd >= 1.0) {
            return Some(format!("left a cwnd of {} bytes, expected one segment at least", self.cwnd));
        }
        let sound = self.ssthresh >= 0.0; // not a number is not
        (!sound).then(|| format!("left an ssthresh of {} bytes, expected 0 at least", self.ssthresh))
    }
}

impl Sound for Transfer {
    fn fault(&self) -> Option<String> {
        self.window.fault()
    }
}

impl Sound for f64 {
    fn fault(&self) -> Option<String> {
        let sound = self.is_finite() && *self >= 0.0;
        (!sound).then(|| format!("answered {self}, expected a number from 0 on"))
    }
}

impl Sound for Burst {
    fn fault(&self) -> Option<String> {
        self.rate.fault()
    }
}

/// Whatever it says can be gone on with.
macro_rules! sound {
    ($($type:ty),+ $(,)?) => { $(impl Sound for $type {})+ };
}

sound! {
    (), bool, u32, u64, usize, Ack, AckSink, Advance, Air, Arrival, Cause, CongestedRounds, Departure, Floats, Honesty, Interest, Learnt<'_>, Loss, Manner,
    Opening, Order, Phase, Report<'_>, Reported, SackBlocks, Sent, Seq, Span, Spacing, Time, Truth, Wheel,
}
