//! The contract of pacing. Its members have files of their own, and [`super`] lists them.

use crate::Window;

/// The contract of pacing.
pub trait Pacing: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {
    /// Bytes per second, headers included; `None`: as fast as the windows allow.
    fn rate(&self, w: &Window) -> Option<f64>;
}
