//! A connection by the kernel's own TCP: bound first so that its port is known, opened, with TLS over it where the URL wants
//! it. Every wait has an end. Not for: what is done over it (see [`super::fetch`], [`super::connection`]).

use super::fault::{Fault, Stop};
use super::target::Target;
use super::tls::{Config, Tls};
use crate::Error;
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{ErrorKind, Read};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// So often it looks whether to stop.
const SLICE: Duration = Duration::from_millis(100);

/// How connections are made, and how long they are waited for.
#[derive(Debug, Clone)]
pub struct Manner {
    /// Largest segment to announce, bytes; `None`: what the path takes.
    pub mss: Option<u32>,
    /// For a connection, a handshake of TLS, the first byte of an answer, and an answer on the whole.
    pub patience: Duration,
}

/// A socket that is bound and not yet connected.
pub struct Bound {
    socket: Socket,
    remote: SocketAddr,
    /// Its port.
    pub port: u16,
}

impl Bound {
    /// A socket for a connection to `remote`.
    pub fn new(remote: SocketAddr, manner: &Manner) -> Result<Self, Stop> {
        let failed = |e: std::io::Error| Error::system("make a connection's socket", e);
        let socket = Socket::new(Domain::for_address(remote), Type::STREAM, None).map_err(failed)?;
        if let Some(mss) = manner.mss {
            setsockopt(&socket, sockopt::TcpMaxSeg, &mss).map_err(|e| failed(e.into()))?;
        }
        // However the process ends, the kernel aborts the connection and sends nothing on.
        socket.set_linger(Some(Duration::ZERO)).map_err(failed)?;
        socket.set_tcp_nodelay(true).map_err(failed)?;
        let any = if remote.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        socket.bind(&SockAddr::from(SocketAddr::new(any, 0))).map_err(failed)?;
        let port = socket.local_addr().map_err(failed)?.as_socket().map_or(0, |a| a.port());
        Ok(Self { socket, remote, port })
    }

    /// Connects it.
    pub fn connect(self, manner: &Manner) -> Result<TcpStream, Stop> {
        let connected = self.socket.connect_timeout(&SockAddr::from(self.remote), manner.patience);
        connected.map_err(|e| match e.kind() {
            ErrorKind::ConnectionRefused => Fault::Refused,
            ErrorKind::ConnectionReset => Fault::Reset("at its opening"),
            ErrorKind::TimedOut => {
                Fault::Unreachable(format!("no answer in {} s", manner.patience.as_secs()))
            }
            _ => Fault::Unreachable(e.to_string()),
        })?;
        Ok(self.socket.into())
    }
}

/// The time that is left, at most a slice of it; an end if there is none or if it is to stop.
pub fn slice(until: Instant, cancel: &AtomicBool) -> Result<Option<Duration>, Error> {
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    let left = until.saturating_duration_since(Instant::now());
    Ok((!left.is_zero()).then(|| left.min(SLICE)))
}

/// Waits, unless it is to stop.
pub fn pause(how_long: Duration, cancel: &AtomicBool) -> Result<(), Error> {
    let until = Instant::now() + how_long;
    while let Some(slice) = slice(until, cancel)? {
        std::thread::sleep(slice);
    }
    Ok(())
}

/// Does the handshake of TLS.
pub fn secure(
    stream: &mut TcpStream,
    target: &Target,
    config: &Config,
    manner: &Manner,
    cancel: &AtomicBool,
) -> Result<Tls, Stop> {
    let mut tls = Tls::new(config, &target.host())?;
    let until = Instant::now() + manner.patience;
    while tls.is_handshaking() {
        let seconds = manner.patience.as_secs();
        let left =
            slice(until, cancel)?.ok_or(Fault::Stalled { seconds, after: "in the handshake of TLS" })?;
        wait_for(stream, left)?;
        match tls.go_on(stream) {
            Ok(()) => {}
            Err(e) if is_wait(e.kind()) => {}
            Err(e) => return Err(handshake_fault(&e).into()),
        }
    }
    Ok(tls)
}

/// Reads on for `how_long` what follows a handshake: tickets, and nothing else as long as nothing is asked for.
pub fn idle(
    stream: &mut TcpStream,
    tls: &mut Tls,
    how_long: Duration,
    cancel: &AtomicBool,
) -> Result<(), Stop> {
    let until = Instant::now() + how_long;
    while let Some(left) = slice(until, cancel)? {
        wait_for(stream, left)?;
        match tls.go_on(stream) {
            Ok(()) => {}
            Err(e) if is_wait(e.kind()) => {}
            Err(e) => return Err(handshake_fault(&e).into()),
        }
    }
    Ok(())
}

fn handshake_fault(error: &std::io::Error) -> Fault {
    match error.kind() {
        ErrorKind::ConnectionReset => Fault::Reset("in the handshake of TLS"),
        ErrorKind::UnexpectedEof => Fault::Closed("in the handshake of TLS"),
        _ => Fault::Tls(error.to_string()),
    }
}

fn wait_for(stream: &TcpStream, left: Duration) -> Result<(), Error> {
    stream.set_read_timeout(Some(left)).map_err(|e| Error::system("wait for a server", e))
}

/// Whether a read ended for want of data.
fn is_wait(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Reads what comes within a slice; `None`: nothing; 0: the end.
pub fn read(
    stream: &mut impl Read,
    socket: &TcpStream,
    left: Duration,
    into: &mut [u8],
) -> Result<Option<usize>, Stop> {
    wait_for(socket, left)?;
    match stream.read(into) {
        Ok(n) => Ok(Some(n)),
        Err(e) if is_wait(e.kind()) => Ok(None),
        // A server of TLS that closes without saying so.
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(Some(0)),
        Err(e) if e.kind() == ErrorKind::ConnectionReset => Err(Fault::Reset("in its answer").into()),
        Err(e) => Err(Fault::Tls(e.to_string()).into()),
    }
}
