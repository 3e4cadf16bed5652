//! How a connection starts: the first window, and what sets it or its threshold before the growth rule takes over.
//!
//! A start is asked when the connection is established and, as long as it says that it has not ended, for every ACK.
//! It may set `w.cwnd` and `w.ssthresh`, and have the first window paced. After that it is out of the way.

mod contract;
mod freebsd;
mod jump_start;
mod packet_pair;
pub mod quick_start;
mod slow_start;

pub use contract::{Burst, Opening, Start};
pub use freebsd::FreeBsd;
pub use jump_start::JumpStart;
pub use packet_pair::FromPair;
pub use quick_start::QuickStart;
pub use slow_start::SlowStart;

use crate::spec::family;
use crate::{Ack, Window};

family! {
    /// Any start.
    pub enum AnyStart: Start, "start" { SlowStart, FreeBsd in Box, JumpStart in Box, QuickStart in Box, FromPair in Box }
    fn request(&self) -> Option<f64>;
    fn on_established(&mut self, opening: &Opening, w: &mut Window) -> Option<Burst>;
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) -> bool;
    fn on_loss(&mut self, w: &mut Window) -> bool;
}
