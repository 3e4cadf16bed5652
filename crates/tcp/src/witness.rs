//! Who is told what a sender does, and who alone knows what became of it.
//!
//! A sender decides; it keeps no books. Whoever drives it hands a [`Witness`] along with each call: it hears of every
//! event, changes nothing, and is asked for the truth where an oracle is in charge. [`crate::Books`] is the one that
//! counts; `()` hears nothing; a test brings its own. Not for: anything that a decision hangs on, but an oracle's.

use crate::ack::AckPolicy;
use crate::{Ack, Arrival, Cause, Departure, Loss, Span, Time, Window};

/// Number of a transmission: what a connection sends with sequence numbers of its own, in order. A segment sent again has
/// another one, and what became of it is another story. Whole for the first four thousand million, and counted from 0 anew
/// then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Transmission(pub u32);

/// The laboratory's knowledge of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathTruth {
    /// Bit/s that this flow could have: what cross traffic leaves of the bottleneck, over the number of its TCP flows.
    pub available: f64,
    /// Round-trip time of a full segment and its ACK without queueing.
    pub rtt: Span,
}

/// What an oracle is told, and nobody else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Truth {
    /// What the segment of the loss event at hand died of when it was last sent; `None`: it was not dropped.
    Fate(Option<Cause>),
    /// What the path is like.
    Path(PathTruth),
}

/// Hears of a sender, or of a receiver. Every method may be left out.
pub trait Witness {
    /// The connection is opened.
    fn on_open(&mut self, _now: Time) {}
    /// Data may flow.
    fn on_established(&mut self, _now: Time) {}
    /// A segment has come, before anything changes; `open`: whether not everything has been acknowledged yet.
    fn on_segment(&mut self, _now: Time, _w: &Window, _open: bool) {}
    /// It acknowledges something that was sent.
    fn on_acknowledgement(&mut self) {}
    /// It does so for new data, or is a duplicate; the window has not changed yet.
    fn on_ack(&mut self, _ack: &Ack, _w: &Window) {}
    /// The first ACK of a round has come.
    fn on_round(&mut self) {}
    /// All that was in the air when the round began is acknowledged.
    fn on_round_over(&mut self) {}
    /// An ACK or a timeout has been dealt with.
    fn on_settled(&mut self, _now: Time, _w: &Window) {}
    /// The retransmission timer has gone off, before anything changes.
    fn on_timeout(&mut self, _now: Time, _w: &Window, _open: bool) {}
    /// A loss event, whose response took it for `verdict`; `lost`: the transmission taken to be lost, where there is one.
    fn on_loss(&mut self, _loss: &Loss, _lost: Option<Transmission>, _verdict: Cause) {}
    /// A loss event was none: the window is what it was before.
    fn on_undo(&mut self, _now: Time, _w: &Window) {}
    /// A segment with data or FIN leaves.
    fn on_sent(&mut self, _sent: &Departure, _number: Transmission) {}
    /// At the receiver, a segment with data has come, and the policy has heard of it.
    fn on_arrival(&mut self, _arrival: &Arrival, _policy: &dyn AckPolicy) {}
    /// What became of a transmission, where the laboratory knows; `None`: it was not dropped.
    fn fate(&self, _sent: Transmission) -> Option<Cause> {
        None
    }
}

impl Witness for () {}

/// Has both hear.
macro_rules! both {
    ($($method:ident($($arg:ident: $type:ty),*);)+) => {
        /// Two who hear of the same; the first knows the truth, or else the second.
        impl<A: Witness, B: Witness> Witness for (&mut A, &mut B) {
            $(#[inline]
            fn $method(&mut self, $($arg: $type),*) {
                self.0.$method($($arg),*);
                self.1.$method($($arg),*);
            })+
            fn fate(&self, sent: Transmission) -> Option<Cause> {
                self.0.fate(sent).or_else(|| self.1.fate(sent))
            }
        }
    };
}

both! {
    on_open(now: Time);
    on_established(now: Time);
    on_segment(now: Time, w: &Window, open: bool);
    on_acknowledgement();
    on_ack(ack: &Ack, w: &Window);
    on_round();
    on_round_over();
    on_settled(now: Time, w: &Window);
    on_timeout(now: Time, w: &Window, open: bool);
    on_loss(loss: &Loss, lost: Option<Transmission>, verdict: Cause);
    on_undo(now: Time, w: &Window);
    on_sent(sent: &Departure, number: Transmission);
    on_arrival(arrival: &Arrival, policy: &dyn AckPolicy);
}

/// The way of a loss event to the witness. A recovery passes it on to [`crate::sender::Transfer::lose`], and can ask it
/// nothing.
pub struct Report<'a>(&'a mut dyn Witness);

impl<'a> Report<'a> {
    /// To this witness.
    pub fn to(witness: &'a mut dyn Witness) -> Self {
        Self(witness)
    }

    pub(crate) fn witness(&mut self) -> &mut dyn Witness {
        self.0
    }
}
