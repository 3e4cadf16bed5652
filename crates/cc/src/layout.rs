//! What passes between the program and this crate, as the program's own source has it (`bpf/params.h`, `bpf/event.h` and `bpf/told.h`): the build makes these
//! types of what clang says of it.

use bytemuck::{Pod, Zeroable};

#[allow(
    clippy::all,
    clippy::panic,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    reason = "libbpf-cargo writes this file, and more than the types, which alone are used"
)]
mod made {
    include!(concat!(env!("OUT_DIR"), "/layout.rs"));
}

pub(super) use made::types::{
    curve, ends, estimator, event, flag, growth, kind, losses, params, predictor, response, stretch,
};

// SAFETY: numbers and arrays of them, of which any bits are a value.
unsafe impl Zeroable for event {}
// SAFETY: likewise; what lies between them for their alignment is a field, too, so that no byte is without value.
unsafe impl Pod for event {}

// SAFETY: numbers and arrays of them, of which any bits are a value.
unsafe impl Zeroable for params {}
// SAFETY: likewise; what lies between them for their alignment is a field, too, so that no byte is without value.
unsafe impl Pod for params {}

// SAFETY: numbers, of which any bits are a value.
unsafe impl Zeroable for ends {}
// SAFETY: likewise, and there is nothing between them.
unsafe impl Pod for ends {}

// SAFETY: numbers and arrays of them, of which any bits are a value.
unsafe impl Zeroable for losses {}
// SAFETY: likewise, all of one size, so that there is nothing between them.
unsafe impl Pod for losses {}
