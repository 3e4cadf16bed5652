//! What of the program decides the records of its engines (`build.rs` works it out).

/// What decides the simulator's records: the digits of its sources and of the versions that they are built on.
pub const SIMULATOR_BUILD: &str = env!("TRUCKEE_SIM_BUILD");
/// The same of the live engines, whether or not they are built in.
pub const KERNEL_BUILD: &str = env!("TRUCKEE_KERNEL_BUILD");
