//! An interface that the user names, read and written frame by frame (AF_PACKET). Its offloads are switched off while the
//! emulator has it, so that a frame is what it is on the wire, and restored afterwards.
//!
//! Frames come with the kernel's note on what its offloads have left undone (PACKET_VNET_HDR): a checksum that is not yet
//! worked out, as between two ends of a veth, travels along as such and is worked out behind. A frame that is yet to be
//! segmented does not pass: a loss would take many segments at once. It is counted.

use crate::Error;
use nix::errno::Errno;
use socket2::{Domain, Protocol, Socket, Type};
use std::ffi::c_int;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use truckee_host::device::Device;

/// Bytes of the kernel's note in front of each frame.
const NOTE: usize = 10;
/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Where the IP packet begins in what is read.
pub(super) const IP_AT: usize = NOTE + ETHERNET;

/// What waits to be read, bytes.
const BUFFER: c_int = 32 << 20;

/// Offloads by their names and ethtool's commands to read and to set them. Segmentation first: without checksums the
/// kernel switches it off by itself, and it could not be told what was set before.
const OFFLOADS: [(&str, u32, u32); 5] = [
    ("gro", 0x2b, 0x2c),
    ("tso", 0x1e, 0x1f),
    ("gso", 0x23, 0x24),
    ("tx-checksum", 0x16, 0x17),
    ("rx-checksum", 0x14, 0x15),
];

/// An interface in use by the emulator.
#[derive(Debug)]
pub struct Interface {
    name: String,
    socket: Socket,
    mtu: usize,
    /// Dropped last.
    _offloads: Offloads,
}

/// What was switched off and is switched on again.
#[derive(Debug)]
struct Offloads {
    device: Device,
    /// Commands that set it again.
    were_on: Vec<u32>,
}

impl Offloads {
    /// Switches off what is on.
    fn switch_off(device: Device) -> Result<Self, Error> {
        let mut offloads = Self { device, were_on: Vec::new() };
        for (_, get, set) in OFFLOADS {
            // A device without an offload does not know the command.
            if offloads.device.feature(get).is_ok_and(|on| on != 0)
                && offloads.device.set_feature(set, 0).is_ok()
            {
                offloads.were_on.push(set);
            }
        }
        Ok(offloads)
    }
}

impl Drop for Offloads {
    fn drop(&mut self) {
        // Checksums before what builds on them. An interface that is gone needs nothing.
        for set in self.were_on.iter().rev() {
            let _ = self.device.set_feature(*set, 1);
        }
    }
}

impl Interface {
    /// Takes the interface of this name in the namespace of the calling thread.
    ///
    /// # Errors
    /// There is none; no right to (CAP_NET_RAW, CAP_NET_ADMIN).
    pub fn open(name: &str) -> Result<Self, Error> {
        let device = Device::named(name)?;
        let (index, mtu) = (device.index()?, device.mtu()?);
        let refused = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::PermissionDenied => Error::without_right(&format!("read frames from {name}")),
            _ => Error::system(format!("read frames from {name}"), e),
        };
        let all = (libc::ETH_P_ALL as u16).to_be();
        // No protocol until it is bound: nothing of other interfaces is read.
        let socket = Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(0))).map_err(refused)?;
        socket.set_nonblocking(true).map_err(refused)?;
        set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &BUFFER).map_err(refused)?;
        set(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1).map_err(refused)?;
        // Otherwise we would read back what we send.
        set(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1).map_err(refused)?;
        let membership = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership).map_err(refused)?;
        let offloads = Offloads::switch_off(device)?;
        bind(&socket, index, all).map_err(refused)?;
        Ok(Self { name: name.to_owned(), socket, mtu: mtu as usize, _offloads: offloads })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads a frame, the kernel's note in front; `None`: there is none at present. `Some(None)`: there was one that is
    /// above the MTU or yet to be segmented.
    pub(super) fn read(&self, into: &mut [u8]) -> Result<Option<Option<usize>>, Error> {
        match (&self.socket).read(into) {
            Ok(bytes) if bytes < IP_AT || into[1] != 0 || bytes - IP_AT > self.mtu => Ok(Some(None)),
            Ok(bytes) => Ok(Some(Some(bytes))),
            Err(e) => match e.raw_os_error().map(Errno::from_raw) {
                Some(Errno::EAGAIN | Errno::EINTR | Errno::ENETDOWN) => Ok(None),
                _ => Err(Error::system(format!("read frames from {}", self.name), e)),
            },
        }
    }

    /// Sends a frame, note in front; `false`: the interface did not take it.
    pub(super) fn write(&self, frame: &[u8]) -> Result<bool, Error> {
        match (&self.socket).write(frame) {
            Ok(_) => Ok(true),
            Err(e) if e.raw_os_error() == Some(Errno::ENXIO as i32) => {
                Err(Error::Broken(format!("the interface {} is gone", self.name)))
            }
            Err(_) => Ok(false),
        }
    }

    /// Frames dropped since the last call because the emulator had not come to read them.
    pub(super) fn unread(&self) -> u64 {
        let mut stats = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut size = std::mem::size_of_val(&stats) as libc::socklen_t;
        // SAFETY: `stats` is what this option fills in, and `size` its size.
        let got = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                std::ptr::from_mut(&mut stats).cast(),
                &mut size,
            )
        };
        if got == 0 { u64::from(stats.tp_drops) } else { 0 }
    }
}

impl AsFd for Interface {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn set<T>(socket: &Socket, level: c_int, option: c_int, value: &T) -> std::io::Result<()> {
    let size = std::mem::size_of::<T>() as libc::socklen_t;
    // SAFETY: each caller passes the type that belongs to the option, and its size is given.
    let done = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), size)
    };
    Errno::result(done).map(drop).map_err(std::io::Error::from)
}

fn bind(socket: &Socket, index: i32, protocol: u16) -> std::io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: protocol,
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let size = std::mem::size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is of the socket's family, and its size is given.
    let done = unsafe { libc::bind(socket.as_raw_fd(), std::ptr::from_ref(&address).cast(), size) };
    Errno::result(done).map(drop).map_err(std::io::Error::from)
}
