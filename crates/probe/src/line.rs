//! A connection by the kernel's own TCP: bound first so that its port is known, opened, with TLS over it where the URL wants
//! it. Every wait has an end, however little comes at a time. Not for: what is done over it (see [`super::fetch`], [`super::connection`]).

use super::fault::Fault;
use super::stop::Stop;
use super::target::Target;
use super::tls::{Config, Tls};
use crate::Error;
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use truckee_scenario::Cancel;

/// So often it looks whether to stop.
const SLICE: Duration = Duration::from_millis(100);

/// How connections are made, and how long they are waited for.
#[derive(Debug, Clone)]
pub struct Manner {
    /// Largest segment to announce, bytes; `None`: what the path takes.
    pub mss: Option<u32>,
    /// How long a server is waited for: until a connection stands, with TLS; and then for its answer.
    pub patience: Duration,
    /// When the connection must stand.
    pub until: Instant,
}

impl Manner {
    /// That of a connection that is opened now.
    pub fn new(mss: Option<u32>, patience: Duration) -> Self {
        Self { mss, patience, until: Instant::now() + patience }
    }
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
        let failed = |e: io::Error| Error::system("make a connection's socket", e);
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
        let left = manner.until.saturating_duration_since(Instant::now());
        // No time at all would be an error of its own.
        let left = left.max(Duration::from_millis(1));
        let connected = self.socket.connect_timeout(&SockAddr::from(self.remote), left);
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
pub fn slice(until: Instant, cancel: &Cancel) -> Result<Option<Duration>, Error> {
    if cancel.is_cancelled() {
        return Err(Error::Interrupted);
    }
    let left = until.saturating_duration_since(Instant::now());
    Ok((!left.is_zero()).then(|| left.min(SLICE)))
}

/// Waits, unless it is to stop.
pub fn pause(how_long: Duration, cancel: &Cancel) -> Result<(), Error> {
    let until = Instant::now() + how_long;
    while let Some(slice) = slice(until, cancel)? {
        std::thread::sleep(slice);
    }
    Ok(())
}

/// A stream whose reads end at a time, or when it is to stop: TLS reads on as long as anything comes.
struct Timed<'a> {
    stream: &'a mut TcpStream,
    until: Instant,
    cancel: &'a Cancel,
}

impl Read for Timed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match slice(self.until, self.cancel) {
            Ok(Some(left)) => {
                self.stream.set_read_timeout(Some(left))?;
                self.stream.read(into)
            }
            // Whoever called looks why.
            _ => Err(ErrorKind::TimedOut.into()),
        }
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Does the handshake of TLS.
pub fn secure(
    stream: &mut TcpStream,
    target: &Target,
    config: &Config,
    manner: &Manner,
    cancel: &Cancel,
) -> Result<Tls, Stop> {
    let mut tls = Tls::new(config, &target.host())?;
    while tls.is_handshaking() {
        let seconds = manner.patience.as_secs();
        slice(manner.until, cancel)?.ok_or(Fault::Stalled { seconds, after: "in the handshake of TLS" })?;
        go_on(&mut tls, Timed { stream, until: manner.until, cancel })?;
    }
    Ok(tls)
}

/// Reads on for `how_long` what follows a handshake: tickets, and nothing else as long as nothing is asked for.
pub fn idle(stream: &mut TcpStream, tls: &mut Tls, how_long: Duration, cancel: &Cancel) -> Result<(), Stop> {
    let until = Instant::now() + how_long;
    while slice(until, cancel)?.is_some() {
        go_on(tls, Timed { stream, until, cancel })?;
    }
    Ok(())
}

/// Goes on until nothing has come for a slice.
fn go_on(tls: &mut Tls, mut stream: Timed<'_>) -> Result<(), Fault> {
    match tls.go_on(&mut stream) {
        Err(e) if !is_wait(e.kind()) => Err(handshake_fault(&e)),
        _ => Ok(()),
    }
}

fn handshake_fault(error: &io::Error) -> Fault {
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

/// Reads what comes within a slice; `None`: nothing; 0: the end. `come`: whether anything has come before.
pub fn read(
    stream: &mut TcpStream,
    left: Duration,
    into: &mut [u8],
    come: bool,
) -> Result<Option<usize>, Stop> {
    wait_for(stream, left)?;
    match stream.read(into) {
        Ok(n) => Ok(Some(n)),
        Err(e) if is_wait(e.kind()) => Ok(None),
        // A server of TLS that closes without saying so.
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(Some(0)),
        Err(e) if e.kind() == ErrorKind::ConnectionReset => {
            Err(Fault::Reset(if come { "in its answer" } else { "after the request" }).into())
        }
        Err(e) => Err(Fault::Tls(e.to_string()).into()),
    }
}
