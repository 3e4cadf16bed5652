//! Stacks in real time, behind a TUN device in a network namespace that has no name and vanishes with the last thread and
//! program in it: the running kernel's, and any program's.

mod info;
mod kernel;
mod line;
mod packet;
mod place;
mod program;
mod protocol;
mod socket;
mod watch;

pub use kernel::drill as on_kernel;
pub use program::drill as on_program;
