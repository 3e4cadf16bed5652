//! A TUN device: packets that the stack of its namespace sends are read here, and what is written here that stack gets.
//! Without offloads, so that each packet is a real one of at most the MTU, checksum and all: right for losses by packet.

use crate::Error;
use nix::errno::Errno;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use truckee_host::device::{self, Device};
use truckee_host::rights::in_folders;

/// How many packets may wait for the emulator to read them. What waits here has not entered the path: this is room for
/// the emulator's being late, not a queue of the scenario.
const QUEUE: u32 = 10_000;

/// A TUN device. It goes when this is dropped.
#[derive(Debug)]
pub struct Tun {
    name: String,
    tun: File,
    device: Device,
    /// The namespace's table of devices, opened in it, to read from anywhere what was dropped before it could be read.
    devices: File,
}

impl Tun {
    /// Makes a device of this name in the namespace of the calling thread: down, without addresses, MTU 1500. For a `%d`
    /// in the name the kernel puts a number that is free.
    ///
    /// # Errors
    /// The name is taken or cannot be one; no right to make one (CAP_NET_ADMIN), or no `/dev/net/tun`.
    pub fn create(name: &str) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
        let open = in_folders(|| options.open("/dev/net/tun"));
        let tun = OwnedFd::from(open.map_err(|e| match e.kind() {
            std::io::ErrorKind::PermissionDenied => Error::without_right("open /dev/net/tun"),
            _ => Error::system("open /dev/net/tun", e),
        })?);
        let name = device::make_tun(&tun, name)?;
        let device = Device::named(&name)?;
        device.set_queue(QUEUE)?;
        let devices = File::open("/proc/thread-self/net/dev");
        let devices = devices.map_err(|e| Error::system("open /proc/thread-self/net/dev", e))?;
        Ok(Self { name, tun: tun.into(), device, devices })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives it an address, with the length of the prefix that is reached through it. It has one IPv4 address at most.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_address(&self, address: IpAddr, prefix: u8) -> Result<(), Error> {
        self.device.set_address(address, prefix)
    }

    /// Sets its MTU, bytes of an IP packet.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_mtu(&self, mtu: u32) -> Result<(), Error> {
        self.device.set_mtu(mtu)
    }

    /// Takes it up.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn up(&self) -> Result<(), Error> {
        self.device.up()
    }

    /// Reads a packet; `None`: there is none at present.
    pub(super) fn read(&self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        match (&self.tun).read(into) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e)
                if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted) =>
            {
                Ok(None)
            }
            Err(e) => Err(self.gone(e)),
        }
    }

    /// Gives the stack a packet; `false`: it did not take it, being down or out of memory.
    pub(super) fn write(&self, packet: &[u8]) -> Result<bool, Error> {
        match (&self.tun).write(packet) {
            Ok(_) => Ok(true),
            Err(e) if e.raw_os_error() == Some(Errno::EBADFD as i32) => Err(self.gone(e)),
            Err(_) => Ok(false),
        }
    }

    fn gone(&self, source: std::io::Error) -> Error {
        if source.raw_os_error() == Some(Errno::EBADFD as i32) {
            return Error::Broken(format!(
                "the TUN device {} is gone: somebody removed it or its namespace",
                self.name
            ));
        }
        Error::system(format!("read from the TUN device {}", self.name), source)
    }

    /// Packets that the kernel dropped because the emulator had not come to read them.
    pub(super) fn unread(&self) -> u64 {
        let mut text = vec![0; 64 << 10];
        let Ok(bytes) = self.devices.read_at(&mut text, 0) else { return 0 };
        drops_of(&String::from_utf8_lossy(&text[..bytes]), &self.name)
    }
}

/// The drops on transmission in a table of devices as in `/proc/net/dev`.
fn drops_of(table: &str, name: &str) -> u64 {
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'));
    let column = line.and_then(|line| line.split_whitespace().nth(11));
    column.and_then(|n| n.parse().ok()).unwrap_or(0)
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_read_from_the_table() {
        let table = "Inter-|   Receive                                                |  Transmit\n \
                     face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
                     lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0\n  \
                     tun0:       1       2    3    4    5     6          7         8        9      10   11   12   13    14      15         16\n";
        assert_eq!(drops_of(table, "tun0"), 12);
        assert_eq!(drops_of(table, "lo"), 0);
        assert_eq!(drops_of(table, "tun"), 0);
    }
}
