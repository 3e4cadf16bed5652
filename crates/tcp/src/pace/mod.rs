//! How fast segments follow one another: pacing. Growth rules that compute a rate of their own (and starts that pace
//! their first window) come first; where they have none, this part decides.

mod contract;
mod linux;
mod per_window;
mod unpaced;

pub use contract::{Pacing, Spacing};
pub use linux::{GSO_BYTES, LEAST_BURST, Linux};
pub use per_window::PerWindow;
pub use unpaced::Unpaced;

use crate::spec::family;
use crate::{Ack, Window};

family! {
    /// Any pacing.
    pub enum AnyPacing: Pacing, "pacing" { Unpaced, PerWindow in Box, Linux in Box }
    fn rate(&self, w: &Window) -> Option<f64>;
    fn after_ack(&mut self, ack: &Ack, w: &Window);
    fn listens(&self) -> bool;
    fn spacing(&self) -> Spacing;
}
