//! Calls on real sockets.

use super::place::{HERE, PORT, THERE};
use crate::script::{Argument, Call};
use crate::target::{Answer, Refusal};
use nix::errno::Errno;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// Room for what is read and written at once, bytes.
const MOST: usize = 16 << 20;

/// A call's answer out of what the system said.
pub fn answer(result: io::Result<i64>) -> Answer {
    match result {
        Ok(value) => Answer::Returned(value, None),
        Err(error) => {
            let name = error.raw_os_error().map(|raw| format!("{:?}", Errno::from_raw(raw)));
            Answer::Returned(-1, Some(name.unwrap_or_else(|| error.to_string())))
        }
    }
}

/// A new one.
pub fn new() -> io::Result<Socket> {
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))
}

/// What a call does that may wait, as something that a thread can do.
pub type Work = Box<dyn FnOnce() -> io::Result<(i64, Option<Socket>)> + Send>;

/// The work of a call that may wait; `None`: it is none of those.
pub fn work(call: &Call, socket: &Arc<Socket>) -> Result<Option<Work>, Refusal> {
    let socket = Arc::clone(socket);
    Ok(Some(match call.name.as_str() {
        "accept" => Box::new(move || socket.accept().map(|(new, _)| (0, Some(new)))),
        "connect" => {
            let there = SockAddr::from(SocketAddrV4::new(THERE, PORT));
            Box::new(move || socket.connect(&there).map(|()| (0, None)))
        }
        "read" | "recv" => {
            let most = bytes(call)?;
            Box::new(move || (&*socket).read(&mut vec![0; most]).map(|n| (n as i64, None)))
        }
        "write" | "send" => {
            let most = bytes(call)?;
            Box::new(move || (&*socket).write(&vec![0; most]).map(|n| (n as i64, None)))
        }
        _ => return Ok(None),
    }))
}

fn bytes(call: &Call) -> Result<usize, Refusal> {
    match call.arguments.get(2) {
        Some(&Argument::Number(n)) if (0..=MOST as i64).contains(&n) => Ok(n as usize),
        _ => Err(format!("{}: expected a number of bytes, 0 to {MOST}", call.name)),
    }
}

/// A call that never waits.
pub fn at_once(call: &Call, socket: &Socket) -> Result<Answer, Refusal> {
    let done = |result: io::Result<()>| answer(result.map(|()| 0));
    Ok(match call.name.as_str() {
        "bind" => done(socket.bind(&SockAddr::from(SocketAddrV4::new(HERE, PORT)))),
        "listen" => match call.arguments.get(1) {
            Some(&Argument::Number(n)) => done(socket.listen(n.clamp(0, 4096) as i32)),
            _ => return Err("listen: expected a number of connections that may wait".to_owned()),
        },
        "fcntl" => fcntl(call, socket)?,
        "setsockopt" => done(set_option(call, socket)?),
        "shutdown" => match word(call, 1).as_str() {
            "SHUT_RD" => done(socket.shutdown(Shutdown::Read)),
            "SHUT_WR" => done(socket.shutdown(Shutdown::Write)),
            "SHUT_RDWR" => done(socket.shutdown(Shutdown::Both)),
            _ => return Err("shutdown: expected SHUT_RD, SHUT_WR or SHUT_RDWR".to_owned()),
        },
        name => return Err(format!("the kernel's stack is not asked for {name}")),
    })
}

fn word(call: &Call, at: usize) -> String {
    match call.arguments.get(at) {
        Some(Argument::Word(word)) => word.clone(),
        _ => String::new(),
    }
}

fn fcntl(call: &Call, socket: &Socket) -> Result<Answer, Refusal> {
    match word(call, 1).as_str() {
        "F_GETFL" => {
            let waits = socket.nonblocking().map_err(|e| e.to_string())?;
            Ok(Answer::Returned(if waits { 0o4002 } else { 2 }, None))
        }
        "F_SETFL" => {
            let flags = call.arguments.get(2).map(Argument::words).unwrap_or_default();
            Ok(answer(socket.set_nonblocking(flags.contains(&"O_NONBLOCK")).map(|()| 0)))
        }
        _ => Err("fcntl: expected F_GETFL or F_SETFL".to_owned()),
    }
}

/// Bytes per second at the most, which has the kernel pace what leaves.
fn set_most_pace(socket: &Socket, rate: u32) -> io::Result<()> {
    // SAFETY: the kernel reads the four bytes of `rate`, which is there.
    let set = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const rate).cast(),
            size_of_val(&rate) as libc::socklen_t,
        )
    };
    Errno::result(set).map(drop).map_err(io::Error::from)
}

fn set_option(call: &Call, socket: &Socket) -> Result<io::Result<()>, Refusal> {
    let option = word(call, 2);
    let (text, number) = match call.arguments.get(3) {
        Some(Argument::Text(text)) => (Some(text), None),
        Some(Argument::List(list)) => match list.first() {
            Some(&Argument::Number(n)) => (None, u32::try_from(n).ok()),
            _ => (None, None),
        },
        _ => (None, None),
    };
    Ok(match (option.as_str(), text, number) {
        ("TCP_CONGESTION", Some(name), _) => socket.set_tcp_congestion(name.as_bytes()),
        ("SO_REUSEADDR", _, Some(n)) => socket.set_reuse_address(n != 0),
        ("SO_RCVBUF", _, Some(n)) => socket.set_recv_buffer_size(n as usize),
        ("SO_SNDBUF", _, Some(n)) => socket.set_send_buffer_size(n as usize),
        ("TCP_NODELAY", _, Some(n)) => socket.set_tcp_nodelay(n != 0),
        ("TCP_QUICKACK", _, Some(n)) => socket.set_tcp_quickack(n != 0),
        ("TCP_CORK", _, Some(n)) => socket.set_tcp_cork(n != 0),
        ("TCP_MAXSEG", _, Some(n)) => socket.set_tcp_mss(n),
        ("SO_MAX_PACING_RATE", _, Some(n)) => set_most_pace(socket, n),
        _ => {
            let known = "SO_MAX_PACING_RATE, SO_REUSEADDR, SO_RCVBUF, SO_SNDBUF, TCP_CONGESTION, TCP_CORK, TCP_MAXSEG, TCP_NODELAY, TCP_QUICKACK";
            return Err(format!("there is no option {option} of that value here; there are {known}"));
        }
    })
}
