//! Pacing spaces departures: a segment that has left says when the next one may. Not for: at which rate, which is the
//! controller's or the start's.

use super::Sender;
use crate::controller::Controller;
use crate::pace::Spacing;
use crate::{Span, Time, Transmission};

/// How many segments of a connection Linux lets go unspaced: what follows the tenth is the first to wait.
const UNSPACED: u32 = 9;

impl Sender {
    /// This transmission has left, of so many bytes of payload and on the wire: when what follows may. It is told of numbers and
    /// not of the segment, which otherwise has to be in memory for whoever does not pace, too.
    #[inline(never)]
    pub(super) fn pace(&mut self, now: Time, number: Transmission, payload: u32, wire: u32) {
        match self.t.controller.wire_rate() {
            Some(rate) if self.burst.is_none() && self.offload.is_none() => {
                self.release = self.release.max(now) + gap(wire, rate);
                self.held = now < self.release;
            }
            _ => self.pace_any(now, number, payload, wire),
        }
    }

    #[inline(never)]
    fn pace_any(&mut self, now: Time, number: Transmission, payload: u32, wire: u32) {
        let t = &self.t;
        let opening = self.burst.as_deref().filter(|burst| now < burst.until);
        let (rate, spacing) = match opening {
            Some(burst) => (Some(burst.rate), Spacing::Wire),
            None if t.interest.paces => (t.controller.pacing_rate(&t.window), t.controller.spacing()),
            None => (None, Spacing::Wire),
        };
        let (burst, ahead) = self.offload.as_mut().map_or((Some(1), 0), |offload| offload.begun(now));
        if let Some(rate) = rate {
            let from = self.release.max(now);
            self.release = match spacing {
                Spacing::Wire => from + gap(wire, rate),
                Spacing::Linux if number.0.saturating_add(ahead) < UNSPACED => from,
                // The first of a burst pays for all of it, since it is late as a whole.
                Spacing::Linux => burst.map_or(from, |segments| {
                    let (gap, late) = (gap(payload * segments, rate), from - self.release);
                    from + gap - late.min(gap / 2)
                }),
            };
        }
        self.held = now < self.release && ahead == 0;
    }
}

/// How long so many bytes take at a rate of bytes per second.
#[inline(always)]
fn gap(bytes: u32, rate: f64) -> Span {
    // Signed: a conversion of few instructions, where that of all u64 takes twelve. At a byte a second 2³² take less than 2⁶³ ns.
    Span::ns((f64::from(bytes) / rate.max(1.0) * 1e9) as i64 as u64)
}
