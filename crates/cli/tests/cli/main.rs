//! The command as a user meets it, in all that needs neither a right nor the running kernel. What does is in `live`.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

mod command;
mod doctor_and_clean;
#[cfg(target_os = "linux")]
mod exec;
mod import;
mod kill;
#[cfg(target_os = "linux")]
mod path;
#[cfg(target_os = "linux")]
mod probe;
mod read;
mod share;
mod study;
