//! Pacing spaces departures: a segment that has left says when the next one may. Not for: at which rate, which is the
//! controller's or the start's.

use super::Sender;
use crate::controller::Controller;
use crate::pace::Spacing;
use crate::segment::Segment;
use crate::{Span, Time, Transmission};

/// How many segments of a connection Linux lets go unspaced: what follows the tenth is the first to wait.
const UNSPACED: u32 = 9;

impl Sender {
    /// This transmission has left: when what follows may.
    #[inline(never)]
    pub(super) fn pace(&mut self, now: Time, number: Transmission, segment: &Segment) {
        let t = &self.t;
        let opening = self.burst.as_deref().filter(|burst| now < burst.until);
        let (rate, spacing) = match opening {
            Some(burst) => (Some(burst.rate), Spacing::Wire),
            None if t.interest.paces => (t.controller.pacing_rate(&t.window), t.controller.spacing()),
            None => (None, Spacing::Wire),
        };
        let (burst, ahead) = self.offload.as_mut().map_or((Some(1), 0), |offload| offload.begun(now));
        if let Some(rate) = rate {
            let gap = |bytes: u32| Span::truncated(f64::from(bytes) / rate.max(1.0) * 1e9);
            let from = self.release.max(now);
            self.release = match spacing {
                Spacing::Wire => from + gap(segment.wire_bytes()),
                Spacing::Linux if number.0.saturating_add(ahead) < UNSPACED => from,
                // The first of a burst pays for all of it, since it is late as a whole.
                Spacing::Linux => burst.map_or(from, |segments| {
                    let (gap, late) = (gap(segment.len * segments), from - self.release);
                    from + gap - late.min(gap / 2)
                }),
            };
        }
        self.held = now < self.release && ahead == 0;
    }
}
