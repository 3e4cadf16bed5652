//! Where packets enter and leave the emulator: a TUN device or an interface.

use super::interface::{self, Interface};
use super::tun::Tun;
use crate::Error;
use std::os::fd::{AsFd, BorrowedFd};

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
