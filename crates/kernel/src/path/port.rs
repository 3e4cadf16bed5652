//! Where packets enter and leave the emulator: a TUN device or an interface.

use super::interface::{self, Interface};
use super::tun::Tun;
use crate::Error;
use std::os::fd::{AsFd, BorrowedFd};

/// What went through a port.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct PortCounters {
    /// The device's name.
    pub name: String,
    /// Packets read.
    pub read: u64,
    /// Packets written.
    pub written: u64,
    /// Packets the device did not take, being down or out of memory.
    pub refused: u64,
    /// Frames above the interface's MTU, or yet to be segmented: not forwarded.
    pub oversized: u64,
    /// Packets lost before the emulator came to read them. They are in no book: a run that has any was too fast for
    /// this machine.
    pub unread: u64,
}

/// A way in and out of the emulator.
#[derive(Debug)]
pub enum Port {
    /// A TUN device.
    Tun(Tun),
    /// An interface.
    Interface(Interface),
}

impl From<Tun> for Port {
    fn from(tun: Tun) -> Self {
        Self::Tun(tun)
    }
}

impl From<Interface> for Port {
    fn from(interface: Interface) -> Self {
        Self::Interface(interface)
    }
}

impl Port {
    /// The device's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Tun(tun) => tun.name(),
            Self::Interface(interface) => interface.name(),
        }
    }

    /// Where the IP packet begins in a frame.
    pub(super) fn ip_at(&self) -> usize {
        match self {
            Self::Tun(_) => 0,
            Self::Interface(_) => interface::IP_AT,
        }
    }

    /// Reads a frame; `None`: there is none at present. `Some(None)`: there was one that is not forwarded.
    pub(super) fn read(&self, into: &mut [u8]) -> Result<Option<Option<usize>>, Error> {
        match self {
            Self::Tun(tun) => Ok(tun.read(into)?.map(Some)),
            Self::Interface(interface) => interface.read(into),
        }
    }

    /// Writes a frame; `false`: the device did not take it.
    pub(super) fn write(&self, frame: &[u8]) -> Result<bool, Error> {
        match self {
            Self::Tun(tun) => tun.write(frame),
            Self::Interface(interface) => interface.write(frame),
        }
    }

    pub(super) fn unread(&self) -> u64 {
        match self {
            Self::Tun(tun) => tun.unread(),
            Self::Interface(interface) => interface.unread(),
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(tun) => tun.as_fd(),
            Self::Interface(interface) => interface.as_fd(),
        }
    }
}
