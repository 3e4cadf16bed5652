//! A connection as the BPF programs name it (`struct connection` of `bpf/packet.h`).

/// Bytes of one.
pub(crate) const SIZE: usize = 36;

/// Addresses and ports, as the program has them: a key of its maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Connection(pub [u8; SIZE]);

impl Connection {
    pub fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self(bytes.get(..SIZE)?.try_into().ok()?))
    }
}
