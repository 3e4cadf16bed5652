//! What tests of the live leg's crates share: whether one can run here, and a wire to run it over.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)] // a test says so by failing

pub mod wire;

pub use crate::doctor::trial::tun;

use crate::doctor::{Capability, check};

/// Whether a test can be run here; skips it if not. Beside what is given it needs what that rests on.
pub fn able(needs: &[Capability]) -> bool {
    let all = check(&[Capability::Privileges], &[]).and_then(|()| check(needs, &[]));
    truckee_testing::given(all).is_some()
}
