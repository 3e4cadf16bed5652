//! A connection as the BPF programs name it (`struct connection` of `bpf/layout.h`).

/// Bytes of one.
pub const SIZE: usize = 36;

/// Addresses and ports, as the program has them: a key of its maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Connection(pub [u8; SIZE]);

impl Connection {
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self(bytes.get(..SIZE)?.try_into().ok()?))
    }
}
