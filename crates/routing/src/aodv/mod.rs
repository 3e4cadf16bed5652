//! Ad hoc on-demand distance vector routing. Source: RFC 3561 (Perkins, Belding-Royer and Das 2003).

mod message;
mod sequence;

pub use message::{Body, Message, Rrep, Rreq};
pub use sequence::SequenceNumber;
