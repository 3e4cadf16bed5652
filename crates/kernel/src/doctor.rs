//! What this machine can do.

pub fn check_run() -> Result<(), crate::Error> { Ok(()) }
