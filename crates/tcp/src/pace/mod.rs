//! How fast segments follow one another: pacing. Growth rules that compute a rate of their own (and starts that pace
//! their first window) come first; where they have none, this part decides.

mod per_window;
mod unpaced;

pub use per_window::PerWindow;
pub use unpaced::Unpaced;

use crate::Window;
use crate::spec::family;

/// The contract of pacing.
pub trait Pacing: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// Bytes per second, headers included; `None`: as fast as the windows allow.
    fn rate(&self, w: &Window) -> Option<f64>;
}

family! {
    /// Any pacing.
    pub enum AnyPacing: Pacing, "pacing" { Unpaced, PerWindow in Box }
    fn rate(&self, w: &Window) -> Option<f64>;
}
