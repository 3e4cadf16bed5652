//! What passes between the program and this crate, as the program's own source has it (`bpf/layout.h`): the build makes these
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

pub(super) use made::types::{adapting, arrival, connection, counts, deadline, frame, manner, mode, setup};

macro_rules! plain {
    ($($structure:ident),+) => {
        $(
            // SAFETY: numbers and arrays of them, of which any bits are a value.
            unsafe impl Zeroable for $structure {}
            // SAFETY: likewise; what lies between them for their alignment is a field, too, so that no byte is without value.
            unsafe impl Pod for $structure {}
        )+
    };
}

plain!(arrival, connection, counts, deadline, frame, manner, setup);
