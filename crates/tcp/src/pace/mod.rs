//! How fast segments follow one another: pacing. Growth rules that compute a rate of their own (and starts that pace
//! their first window) come first; where they have none, this part decides.

mod contract;
mod per_window;
mod unpaced;

pub use contract::Pacing;
pub use per_window::PerWindow;
pub use unpaced::Unpaced;

use crate::Window;
use crate::spec::family;

family! {
    /// Any pacing.
    pub enum AnyPacing: Pacing, "pacing" { Unpaced, PerWindow in Box }
    fn rate(&self, w: &Window) -> Option<f64>;
}
