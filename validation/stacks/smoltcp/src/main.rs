//! A web server on smoltcp, to be probed: any request is answered by the same file of zeros.
//!
//! `smoltcp-server DESCRIPTOR CONTROL BYTES`: a TUN device's descriptor; `reno`, `cubic` or `none`; the file's size. All
//! of smoltcp's settings but the congestion control and the buffers are its defaults.

use std::os::fd::RawFd;
use std::{env, fmt, process};

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Medium, TunTapInterface, wait};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address, Ipv6Address};

const ADDRESSES: [IpCidr; 2] = [
    IpCidr::new(IpAddress::v4(10, 78, 0, 2), 24),
    IpCidr::new(IpAddress::v6(0xfd78, 0, 0, 0, 0, 0, 0, 2), 64),
];
const GATEWAY: Ipv4Address = Ipv4Address::new(10, 78, 0, 1);
const GATEWAY6: Ipv6Address = Ipv6Address::new(0xfd78, 0, 0, 0, 0, 0, 0, 1);
const PORT: u16 = 80;
const MTU: usize = 1500;
/// A listening socket of smoltcp takes one connection.
const CONNECTIONS: usize = 8;
const RECEIVE_BUFFER: usize = 65_536;
const SEND_BUFFER: usize = 1 << 20;
/// A request longer than this is no request.
const REQUEST_LIMIT: usize = 16_384;

fn main() {
    if let Err(error) = serve() {
        eprintln!("smoltcp-server: {error}");
        process::exit(1);
    }
}

fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let [_, descriptor, control, size] = &env::args().collect::<Vec<_>>()[..] else {
        return Err("expected DESCRIPTOR CONTROL BYTES".into());
    };
    let descriptor: RawFd = descriptor.parse()?;
    let control = match control.as_str() {
        "reno" => CongestionControl::Reno,
        "cubic" => CongestionControl::Cubic,
        "none" => CongestionControl::None,
        other => return Err(format!("no congestion control {other:?}, only reno, cubic, none").into()),
    };
    let reply = reply(size.parse()?);

    let mut device = TunTapInterface::from_fd(descriptor, Medium::Ip, MTU)?;
    let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut device, Instant::now());
    interface.update_ip_addrs(|addresses| {
        for address in ADDRESSES {
            // There is room for two.
            let _ = addresses.push(address);
        }
    });
    interface.routes_mut().add_default_ipv4_route(GATEWAY)?;
    interface.routes_mut().add_default_ipv6_route(GATEWAY6)?;

    let mut sockets = SocketSet::new(vec![]);
    let mut connections: Vec<Connection> =
        (0..CONNECTIONS).map(|_| Connection::new(&mut sockets, control)).collect();
    loop {
        interface.poll(Instant::now(), &mut device, &mut sockets);
        for connection in &mut connections {
            connection.serve(sockets.get_mut(connection.socket), &reply)?;
        }
        // What was written above is sent at once.
        interface.poll(Instant::now(), &mut device, &mut sockets);
        let longest = Duration::from_millis(1000);
        let delay = interface.poll_delay(Instant::now(), &sockets).unwrap_or(longest);
        wait(descriptor, Some(delay.min(longest)))?;
    }
}

/// The answer to any request.
fn reply(size: usize) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
    );
    [head.into_bytes(), vec![0; size]].concat()
}

/// One socket: it listens, reads a request, sends the answer, closes, and listens again.
struct Connection {
    socket: SocketHandle,
    control: CongestionControl,
    request: Vec<u8>,
    sent: usize,
}

impl Connection {
    fn new(sockets: &mut SocketSet<'_>, control: CongestionControl) -> Self {
        let buffer = |size| SocketBuffer::new(vec![0; size]);
        let socket = Socket::new(buffer(RECEIVE_BUFFER), buffer(SEND_BUFFER));
        Self { socket: sockets.add(socket), control, request: Vec::new(), sent: 0 }
    }

    fn serve(&mut self, socket: &mut Socket<'_>, reply: &[u8]) -> Result<(), Refused> {
        if socket.state() == State::Closed {
            (self.request, self.sent) = (Vec::new(), 0);
            // A socket that is used again would begin with the window that its last connection has ended with.
            socket.set_congestion_control(self.control);
            return socket.listen(PORT).map_err(|error| Refused(format!("cannot listen: {error}")));
        }
        if socket.can_recv() {
            let read = socket.recv(|bytes| {
                self.request.extend_from_slice(bytes);
                (bytes.len(), ())
            });
            read.map_err(|error| Refused(format!("cannot read: {error}")))?;
        }
        if self.request.len() > REQUEST_LIMIT {
            socket.abort();
        } else if self.request.windows(4).any(|end| end == b"\r\n\r\n") && socket.can_send() {
            let written = socket.send_slice(&reply[self.sent..]);
            self.sent += written.map_err(|error| Refused(format!("cannot write: {error}")))?;
            if self.sent == reply.len() {
                socket.close();
            }
        } else if !socket.may_recv() && socket.may_send() && self.sent == 0 {
            // The peer has closed without a request.
            socket.close();
        }
        Ok(())
    }
}

/// smoltcp has refused what should be possible in the socket's state.
#[derive(Debug)]
struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}
