//! The options of a flow's sockets, at both ends.

use crate::Error;
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// What a segment is taken to cost a socket's buffer beside its payload, bytes. Measured when sending: 850 to 2200, by
/// payload; the doubling below makes up for what is above.
const OVERHEAD: u64 = 2048;
/// What the kernel keeps of a buffer for its own books: half, until it has seen how large segments really are.
const SHARE: u64 = 2;

/// An ample sender's buffer, bytes: as the kernel counts, several hundred Mbit/s over 300 ms.
const AMPLE: usize = 16 << 20;

/// Options of a socket.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SocketSettings {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Largest segment, options counted, bytes (`TCP_MAXSEG`).
    pub maxseg: Option<u32>,
    /// The window to advertise, bytes. The kernel offers whole segments of it.
    pub window: Option<u32>,
    /// Whether the sender's buffer is ample: the application writes without waiting for what is acknowledged.
    pub ample: bool,
    /// Whether a short segment is sent at once (`TCP_NODELAY`, no Nagle).
    pub no_delay: bool,
}

impl SocketSettings {
    /// Sets them, at either end, before the socket connects or listens; sockets accepted from it inherit them. Needs
    /// `CAP_NET_ADMIN` for buffers above the system's limits.
    pub fn apply(&self, socket: impl AsFd) -> Result<(), Error> {
        let socket = socket.as_fd();
        let doing =
            |what: &'static str| move |e: nix::Error| Error::system(format!("set {what} of a socket"), e);
        if let Some(maxseg) = self.maxseg {
            setsockopt(&socket, sockopt::TcpMaxSeg, &maxseg).map_err(doing("TCP_MAXSEG"))?;
        }
        if let Some(window) = self.window {
            // Ample: the window is to be what it is, also while data waits for a hole to be filled.
            let buffer = usize::try_from(buffer(window, self.mss)).unwrap_or(usize::MAX);
            setsockopt(&socket, sockopt::RcvBufForce, &buffer).map_err(doing("SO_RCVBUFFORCE"))?;
            clamp(socket, window)?;
        }
        if self.ample {
            setsockopt(&socket, sockopt::SndBufForce, &AMPLE).map_err(doing("SO_SNDBUFFORCE"))?;
        }
        if self.no_delay {
            setsockopt(&socket, sockopt::TcpNoDelay, &true).map_err(doing("TCP_NODELAY"))?;
        }
        Ok(())
    }

    /// Holds the receiver's window: to be called after every read of data. When the kernel first sees how large the
    /// segments are, it forgets the clamp and lets the window grow to what the buffer takes (`tcp_measure_rcv_mss`).
    pub fn hold_window(&self, socket: impl AsFd) -> Result<(), Error> {
        let Some(window) = self.window else { return Ok(()) };
        let socket = socket.as_fd();
        if clamped(socket)? > window { clamp(socket, window) } else { Ok(()) }
    }
}

/// A buffer that holds so many bytes in segments, bytes, as `SO_RCVBUF` counts it: the kernel doubles it, and counts the
/// cost of each segment in.
pub(super) fn buffer(bytes: u32, mss: u32) -> u64 {
    let (bytes, mss) = (u64::from(bytes), u64::from(mss.max(1)));
    let cost = bytes + (bytes.div_ceil(mss) + 1) * OVERHEAD;
    (cost * SHARE).min(i32::MAX as u64 / 2)
}

fn clamp(socket: BorrowedFd<'_>, window: u32) -> Result<(), Error> {
    let value = libc::c_int::try_from(window).unwrap_or(libc::c_int::MAX);
    let size = size_of_val(&value) as libc::socklen_t;
    let option = libc::TCP_WINDOW_CLAMP;
    // SAFETY: the socket is open, and the option's value is an int of which the size is given.
    let done = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, option, (&raw const value).cast(), size)
    };
    if done < 0 {
        return Err(Error::system("set TCP_WINDOW_CLAMP of a socket", io::Error::last_os_error()));
    }
    Ok(())
}

fn clamped(socket: BorrowedFd<'_>) -> Result<u32, Error> {
    let mut value: libc::c_int = 0;
    let mut size = size_of_val(&value) as libc::socklen_t;
    let option = libc::TCP_WINDOW_CLAMP;
    // SAFETY: the socket is open, and the kernel writes an int at most, as the size says.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            option,
            (&raw mut value).cast(),
            &raw mut size,
        )
    };
    if done < 0 {
        return Err(Error::system("read TCP_WINDOW_CLAMP of a socket", io::Error::last_os_error()));
    }
    Ok(u32::try_from(value).unwrap_or(0))
}
