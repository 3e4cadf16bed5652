//! Two runs of one scenario, segment by segment, as their senders saw them: whether the same was sent, when, and where they
//! part for the first time.
//!
//! [`Trace`] is what passed at a flow's sender, whichever engine ran it; [`Comparison`] holds two of them against each other;
//! a [`Cause`] is what the program can say of why they part. [`tapped`] makes any engine keep what is needed, and
//! [`beside_the_live_runs`] gives a simulation the ticks of the kernel that it is held against, and the lateness of its path.
//!
//! Not for: means over runs and what a metric is (`truckee_lab::compare`), or how any of it looks.

mod align;
mod beside;
mod cause;
mod events;
mod pair;
mod slack;
#[cfg(test)]
mod tests;
mod wrapped;

pub use align::{Comparison, Difference, Row};
pub use beside::beside_the_live_runs;
pub use cause::Cause;
pub use events::{Event, Passed, Trace, Window};
pub use pair::as_late;
pub use slack::JIFFY;
pub use wrapped::{Wrapped, tapped};
