//! How far apart times of two traces may be: a jiffy, what the live path was late at the most, and what each round trip over
//! it took longer, as the handshake's shows. Not for: what is late.

use super::events::Trace;
use truckee_tcp::Span;

/// A tick of a kernel that counts 250 of them in a second.
pub const JIFFY: Span = Span::ms(4);

/// How far times may be apart.
pub struct Slack {
    least: Span,
    /// A round trip, and by how much it differs.
    round: Option<(Span, Span)>,
}

impl Slack {
    /// Between these two, the first of which says how long a round trip is.
    pub fn of(traces: [&Trace; 2]) -> Self {
        let late = traces.map(|trace| trace.late);
        let openings = traces[0].opening.zip(traces[1].opening);
        Self {
            least: JIFFY + late[0] + late[1],
            round: openings.map(|(a, b)| (a.max(Span::ns(1)), a.abs_diff(b))),
        }
    }

    /// At that time.
    pub fn at(&self, at: Span) -> Span {
        let rounds =
            self.round.map_or(Span::ZERO, |(round, more)| Span::truncated(at / round * more.as_f64()));
        self.least + rounds
    }
}
