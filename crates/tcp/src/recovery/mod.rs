//! How a loss is noticed and repaired.
//!
//! A recovery watches ACKs, decides that a segment is lost, asks the [`Transfer`] once per loss event for the response
//! to it, inflates and deflates the window while it repairs (inflation belongs to recovery, whatever the response
//! set), and names the segments to send again. It does not decide how far the window falls (that is
//! [`crate::response`]) nor how it grows otherwise ([`crate::growth`]).

mod beyond;
mod contract;
mod duplicates;
pub mod frto;
mod newreno;
pub mod prr;
mod rack;
mod reno;
mod sack;
mod sack1;
mod scoreboard;
mod stand_ins;
mod tahoe;
mod vegas;
mod vegas_ns2;

use contract::LAST_ACK;
pub use contract::{Advance, DUP_THRESH, Recovery, Reported};
use duplicates::{Duplicates, Inflation};
pub use newreno::NewReno;
pub use rack::Rack;
pub use reno::Reno;
pub use sack::Sack;
pub use sack1::Sack1;
pub use tahoe::{Tahoe, TahoeNoFastRetransmit};
pub use vegas::Vegas;
pub use vegas_ns2::VegasNs2;

use crate::outstanding::Sent;
use crate::sender::Transfer;
use crate::spec::family;
use crate::{Ack, Report, SackBlocks, Seq, Time};

family! {
    /// Any recovery.
    pub enum AnyRecovery: Recovery, "recovery" { Tahoe, TahoeNoFastRetransmit, Reno, NewReno, Vegas in Box, VegasNs2 in Box, Sack, Sack1 in Box, Rack in Box }
    fn on_advance(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) -> Advance;
    fn on_duplicate(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>);
    fn on_sent(&mut self, sent: &Sent, t: &mut Transfer);
    fn on_delivered(&mut self, now: Time, sent: &Sent, echo: Option<Time>, t: &Transfer);
    fn on_quiet_advance(&mut self, now: Time, t: &Transfer);
    fn hears_departures(&self) -> bool;
    fn deadline(&self, t: &Transfer) -> Option<Time>;
    fn on_timer(&mut self, now: Time, t: &mut Transfer, report: &mut Report<'_>);
    fn has_timer(&self) -> bool;
    fn on_echo(&mut self, brought: u64, flight: u64, t: &mut Transfer);
    fn displaces(&self, t: &Transfer) -> Option<Time>;
    fn on_timeout(&mut self, now: Time, t: &mut Transfer);
    fn on_late(&mut self, ack: Seq, t: &Transfer);
    fn waits_to_undo(&self, ack: Seq) -> bool;
    fn opens_by_reports(&self) -> Option<u64>;
    fn on_undo(&mut self, t: &mut Transfer);
    fn on_undone(&mut self, t: &mut Transfer);
    fn deflated(&self, t: &Transfer) -> f64;
    fn retransmission(&mut self, t: &Transfer) -> Option<usize>;
    fn idle(&self) -> bool;
    fn quiet(&self) -> bool;
    fn last_resort(&mut self, t: &Transfer) -> Option<usize>;
    fn holds(&self, t: &Transfer) -> bool;
    fn probes(&self) -> bool;
    fn counts_probes(&self) -> bool;
    fn counts_air(&self) -> bool;
    fn in_flight(&self, t: &Transfer) -> u64;
    fn duplicates(&self) -> u32;
    fn repairing(&self) -> bool;
    fn reducing(&self, t: &Transfer) -> bool;
    fn wants_sack(&self) -> bool;
    fn reported(&self, ack: Seq, sack: &SackBlocks, t: &Transfer) -> Reported;
}
