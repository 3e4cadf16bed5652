//! What only a running kernel can show, over a path of the tests' own. Skipped, with the reason, only where the machine
//! lacks something that they need.

#![cfg(live)]
#![allow(clippy::unwrap_used, clippy::panic)] // a test says so by failing

mod lossy;
mod ports;
