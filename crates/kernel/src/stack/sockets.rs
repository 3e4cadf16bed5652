//! The options of a flow's sockets, at both ends.

use crate::Error;
use nix::sys::socket::{setsockopt, sockopt};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// What an skb of one segment costs a socket's buffer beside its payload, at most, bytes.
const OVERHEAD: u64 = 2048;

/// Options of a socket, to be set before it connects or listens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SocketSettings {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Largest segment, options counted, bytes (`TCP_MAXSEG`).
    pub maxseg: Option<u32>,
    /// The window to advertise, bytes.
    pub window: Option<u32>,
    /// Bytes that may be sent or waiting without being acknowledged.
    pub send_buffer: Option<u64>,
    /// Whether a short segment is sent at once (`TCP_NODELAY`, no Nagle).
    pub no_delay: bool,
}

impl SocketSettings {
    /// Sets them. Needs `CAP_NET_ADMIN` for buffers above the system's limits.
    pub fn apply(&self, socket: impl AsFd) -> Result<(), Error> {
        let socket = socket.as_fd();
        let doing =
            |what: &'static str| move |e: nix::Error| Error::system(format!("set {what} of a socket"), e);
        if let Some(maxseg) = self.maxseg {
            setsockopt(&socket, sockopt::TcpMaxSeg, &maxseg).map_err(doing("TCP_MAXSEG"))?;
        }
        if let Some(window) = self.window {
            let buffer = self.buffer(u64::from(window));
            setsockopt(&socket, sockopt::RcvBufForce, &buffer).map_err(doing("SO_RCVBUFFORCE"))?;
            clamp(socket, window).map_err(|e| Error::system("set TCP_WINDOW_CLAMP of a socket", e))?;
        }
        if let Some(bytes) = self.send_buffer {
            setsockopt(&socket, sockopt::SndBufForce, &self.buffer(bytes))
                .map_err(doing("SO_SNDBUFFORCE"))?;
        }
        if self.no_delay {
            setsockopt(&socket, sockopt::TcpNoDelay, &true).map_err(doing("TCP_NODELAY"))?;
        }
        Ok(())
    }

    fn buffer(&self, bytes: u64) -> usize {
        let segments = bytes.div_ceil(u64::from(self.mss.max(1)));
        usize::try_from(bytes + segments * OVERHEAD).unwrap_or(usize::MAX).min(i32::MAX as usize / 2)
    }
}

fn clamp(socket: BorrowedFd<'_>, window: u32) -> std::io::Result<()> {
    let value = libc::c_int::try_from(window).unwrap_or(libc::c_int::MAX);
    // SAFETY: the socket is open, and the option's value is an int of which the length is given.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if done < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}
