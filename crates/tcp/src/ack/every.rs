//! One ACK per segment. Source: RFC 9293, section 3.8.6.3, without the option of delaying.

use super::{AckPolicy, AckSink, Manner};
use crate::Arrival;
use crate::spec::{Args, Info, Member, SpecError};

/// Acknowledges every segment.
#[derive(Debug, Clone, Default)]
pub struct Every;

impl Member for Every {
    const INFO: Info = Info {
        name: "every",
        summary: "one ACK per segment, at once",
        formula: "ACK rcv_nxt on every data segment",
        source: "RFC 9293, section 3.8.6.3",
    };
    fn build(_: &mut Args) -> Result<Self, SpecError> {
        Ok(Self)
    }
}

impl AckPolicy for Every {
    #[inline]
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        out.ack(segment.rcv_nxt);
    }

    fn has_timer(&self) -> bool {
        false
    }

    fn manner(&self) -> Option<Manner> {
        Some(Manner::EVERY)
    }
}
