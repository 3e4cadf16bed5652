//! What the build scripts of the live leg's crates share: whether there is a live leg to build, the compiling of BPF
//! programs, and the types that these share with the crate. Types of the kernel that several programs read are in `include/`.
//!
//! Not for: anything at run time; only build scripts import it.

#[cfg(target_os = "linux")]
mod build;

#[cfg(target_os = "linux")]
pub use build::{compile, live};
