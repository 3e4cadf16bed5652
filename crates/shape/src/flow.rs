//! A connection as the BPF programs name it (`struct connection` of `bpf/layout.h`).

use super::layout::connection;

/// Bytes of one.
pub const SIZE: usize = size_of::<connection>();

/// Addresses and ports, as the program has them: a key of its maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Connection([u8; SIZE]);

impl Connection {
    /// One of these ports, the local one first, between addresses that are all 0.
    pub fn of_ports(local_port: u16, remote_port: u16) -> Self {
        connection { local_port, remote_port, ..connection::default() }.into()
    }

    /// The local port, and the peer's.
    pub fn ports(&self) -> (u16, u16) {
        let connection { local_port, remote_port, .. } = bytemuck::cast(self.0);
        (local_port, remote_port)
    }

    /// As a key of the program's maps.
    pub(crate) fn key(&self) -> &[u8] {
        &self.0
    }
}

impl From<connection> for Connection {
    fn from(told: connection) -> Self {
        Self(bytemuck::cast(told))
    }
}
