//! The sockets of a probe: one that sees what comes of the server (AF_PACKET), one that sends segments of our own making
//! (raw IP), and the rule that keeps the kernel's own TCP still meanwhile. Nothing of it is attached to an interface, and
//! all of it goes with the process.
//!
//! Needs `CAP_NET_RAW` to be opened, and afterwards nothing but `CAP_NET_ADMIN`, without which newer kernels let no rule
//! be put on a socket of TCP: [`confine`] gives every other capability up.
//!
//! Not for: what is sent and when (see [`super::observe`]).

use super::clock::Clock;
use super::fault::Fault;
use super::stop::Stop;
use super::wire::{Arrival, Ends};
use crate::Error;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{ControlMessageOwned, LinkAddr, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use rustix::thread::CapabilitySet;
use socket2::{Domain, Protocol, SockAddr, SockFilter, SockRef, Socket, Type};
use std::ffi::c_int;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;
use truckee_host::rights;
use truckee_host::user::User;
use truckee_tcp::Span;
use truckee_tcp::Time;

/// Bytes of the kernel's note in front of each frame (PACKET_VNET_HDR), and where it says how large a segment is.
const NOTE: usize = 10;
const SEGMENT_AT: usize = 4;
const ETHERNET: usize = 14;
/// EtherType of a tag that is still in the frame, and its bytes.
const TAGGED: [u8; 2] = [0x81, 0x00];
const TAG: usize = 4;
/// What waits to be read, bytes: more than any server may send within a test.
const BUFFER: usize = 8 << 20;
/// The kernel's largest packet, and its headers.
const PACKET: usize = (64 << 10) + 256;
/// So much of a handshake is looked at, packets and bytes.
const MOST_WAITING: usize = 20_000;
const MOST_WAITING_BYTES: usize = 4 << 20;

/// The sockets.
#[derive(Debug)]
pub struct Sockets {
    capture: Socket,
    raw4: Socket,
    /// None where there is no IPv6.
    raw6: Option<Socket>,
    clock: Clock,
}

const SEEING: &str = "see what comes of a server";

/// A frame that was read: by which interface and of which kind of link it came, when, and its bytes.
struct Frame {
    interface: usize,
    kind: u16,
    time: Time,
    bytes: usize,
}

impl Frame {
    /// The packet in it, if it is one of the connection.
    fn read(&self, buffer: &[u8], ends: &Ends) -> Option<Seen> {
        let frame = buffer.get(..self.bytes)?;
        let segment = frame.get(SEGMENT_AT..SEGMENT_AT + 2).map_or(0, |b| u16::from_ne_bytes([b[0], b[1]]));
        let arrival = Arrival::read(ip_of(frame, self.kind)?, ends, segment, self.time)?;
        Some(Seen { interface: self.interface, arrival })
    }
}

/// A packet that came, and the interface it came by: one that passes a bridge or a bond is seen at each of them.
#[derive(Debug)]
pub struct Seen {
    /// Its index.
    pub interface: usize,
    /// The packet.
    pub arrival: Arrival,
}

impl Sockets {
    /// Opens them.
    ///
    /// # Errors
    /// No right to (`CAP_NET_RAW`).
    pub fn open() -> Result<Self, Error> {
        let refused = |e: io::Error| match e.kind() {
            io::ErrorKind::PermissionDenied => Error::Missing {
                what: "no right to see and send packets of a connection".into(),
                mend: "run as root, or with CAP_NET_RAW and CAP_NET_ADMIN".into(),
            },
            _ => Error::system("open the sockets of a probe", e),
        };
        // No protocol until it is aimed: nothing is read before.
        let capture = Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(0))).map_err(refused)?;
        capture.set_nonblocking(true).map_err(refused)?;
        // A smaller buffer does too where the right to force it is missing.
        if setsockopt(&capture, sockopt::RcvBufForce, &BUFFER).is_err() {
            capture.set_recv_buffer_size(BUFFER).map_err(refused)?;
        }
        setsockopt(&capture, sockopt::ReceiveTimestampns, &true).map_err(|e| refused(e.into()))?;
        set(&capture, libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1).map_err(refused)?;
        let raw = |domain| Socket::new(domain, Type::RAW, Some(Protocol::from(libc::IPPROTO_RAW)));
        let raw4 = raw(Domain::IPV4).map_err(refused)?;
        let raw6 = raw(Domain::IPV6).ok();
        // Whether this kernel lets us, before anybody is contacted.
        Socket::new(Domain::IPV4, Type::STREAM, None)
            .and_then(|socket| socket.attach_filter(&nothing()))
            .map_err(refused)?;
        Ok(Self { capture, raw4, raw6, clock: Clock::new() })
    }

    /// From now on what comes from `remote` to our port `local` is seen, and nothing else.
    pub fn aim(&self, remote: SocketAddr, local: u16) -> Result<(), Error> {
        let doing = |e| Error::system("watch a connection", e);
        self.capture.attach_filter(&nothing()).map_err(doing)?;
        while let Ok(Some(_)) = self.frame(&mut vec![0; PACKET]) {}
        let protocol = if remote.is_ipv4() { libc::ETH_P_IP } else { libc::ETH_P_IPV6 };
        bind(&self.capture, (protocol as u16).to_be()).map_err(doing)?;
        self.capture.attach_filter(&filter(remote, local)).map_err(doing)
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The next packet that comes by this interface, waiting until `until` at most; `None`: there was none.
    pub fn next(&self, ends: &Ends, interface: usize, until: Time) -> Result<Option<Arrival>, Error> {
        let mut buffer = vec![0; PACKET];
        loop {
            let Some(frame) = self.frame(&mut buffer)? else {
                self.clock.nothing_waits();
                let left = until.saturating_sub(self.now());
                if left.is_zero() || !self.wait(left)? {
                    return Ok(None);
                }
                continue;
            };
            if let Some(seen) = frame.read(&buffer, ends).filter(|seen| seen.interface == interface) {
                return Ok(Some(seen.arrival));
            }
            // What is of no use may come without an end, too.
            if self.now() >= until {
                return Ok(None);
            }
        }
    }

    /// All that waits to be read.
    pub fn waiting(&self, ends: &Ends) -> Result<Vec<Seen>, Stop> {
        let (mut buffer, mut all, mut bytes) = (vec![0; PACKET], Vec::new(), 0);
        for _ in 0..MOST_WAITING {
            let Some(frame) = self.frame(&mut buffer)? else {
                self.clock.nothing_waits();
                return Ok(all);
            };
            bytes += frame.bytes;
            if bytes > MOST_WAITING_BYTES {
                break;
            }
            // A packet of the connection before may have passed its filter before that was taken away.
            all.extend(frame.read(&buffer, ends));
        }
        Err(Fault::Flood.into())
    }

    /// Waits for something to read; whether it is worth looking again.
    pub fn wait(&self, left: Span) -> Result<bool, Error> {
        let timeout = TimeSpec::from_duration(left.into());
        let mut fds = [PollFd::new(self.capture.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut fds, Some(timeout), None) {
            Ok(0) | Err(Errno::EINTR) => Ok(false),
            Ok(_) => Ok(true),
            Err(e) => Err(Error::system(SEEING, e)),
        }
    }

    /// One frame; `None`: none waits.
    fn frame(&self, buffer: &mut [u8]) -> Result<Option<Frame>, Error> {
        let mut space = cmsg_space!(libc::timespec);
        let mut slices = [IoSliceMut::new(buffer)];
        let flags = MsgFlags::MSG_DONTWAIT;
        let failed = |e: Errno| Error::system(SEEING, e);
        match recvmsg::<LinkAddr>(self.capture.as_raw_fd(), &mut slices, Some(&mut space), flags) {
            Ok(message) => {
                let stamp = message.cmsgs().map_err(failed)?.find_map(|c| match c {
                    ControlMessageOwned::ScmTimestampns(t) => Some(Duration::from(t)),
                    _ => None,
                });
                let time = stamp.map_or_else(|| self.now(), |stamp| self.clock.came(stamp));
                let (interface, kind) = message.address.map_or((0, 0), |a| (a.ifindex(), a.hatype()));
                Ok(Some(Frame { interface, kind, time, bytes: message.bytes }))
            }
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENETDOWN) => Ok(None),
            Err(e) => Err(failed(e)),
        }
    }

    /// Sends an IP packet.
    pub fn send(&self, packet: &[u8], to: SocketAddr) -> Result<(), Error> {
        let doing = |e| Error::system(format!("send a segment to {}", to.ip()), e);
        let socket = if to.is_ipv4() { Some(&self.raw4) } else { self.raw6.as_ref() };
        let socket = socket.ok_or_else(|| doing(Errno::EAFNOSUPPORT.into()))?;
        let mut to = to;
        to.set_port(0); // a raw socket takes it for a protocol
        match socket.send_to(packet, &SockAddr::from(to)) {
            // The device's queue is full: the packet is lost as packets are.
            Err(e) if e.raw_os_error() == Some(libc::ENOBUFS) => Ok(()),
            done => done.map(drop).map_err(doing),
        }
    }
}

/// Has the kernel's TCP see no more of what comes to this socket: it neither acknowledges nor answers.
pub fn still(stream: &TcpStream) -> io::Result<()> {
    SockRef::from(stream).attach_filter(&nothing())
}

/// A socket that the kernel takes for one of an established connection, of which nothing is sent and nothing heard: it keeps the
/// port ours, and the kernel's TCP from answering what comes (`TCP_REPAIR`, which needs `CAP_NET_ADMIN`). Closed, it says
/// nothing either.
pub fn silent(remote: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(remote), Type::STREAM, None)?;
    set(&socket, libc::IPPROTO_TCP, libc::TCP_REPAIR, 1)?;
    let any: IpAddr =
        if remote.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    socket.bind(&SockAddr::from(SocketAddr::new(any, 0)))?;
    socket.connect(&SockAddr::from(remote))?;
    let stream = TcpStream::from(socket);
    still(&stream)?;
    Ok(stream)
}

/// What the kernel knows of a connection that is established.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The smoothed round-trip time.
    pub rtt: Duration,
    /// Shift of the window we advertise, bits.
    pub scale: u8,
    /// Segments that the server has not acknowledged.
    pub unacked: u32,
}

/// Asks it.
pub fn known(stream: &TcpStream) -> io::Result<Known> {
    // SAFETY: the structure is plain numbers, for which zero is a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut size = size_of_val(&info) as libc::socklen_t;
    // SAFETY: `info` is what this option fills in, and `size` its size.
    let got = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut size,
        )
    };
    Errno::result(got).map_err(io::Error::from)?;
    // Two fields of four bits each: the second is ours.
    let scales = info.tcpi_snd_rcv_wscale;
    let scale = if cfg!(target_endian = "little") { scales >> 4 } else { scales & 15 };
    Ok(Known { rtt: Duration::from_micros(info.tcpi_rtt.into()), scale, unacked: info.tcpi_unacked })
}

/// Gives up every capability of this process but `CAP_NET_ADMIN`, for good. To be called when the sockets are open and
/// before any thread is started.
pub fn confine() -> Result<(), Error> {
    rights::keep_only(CapabilitySet::NET_ADMIN)
}

/// The same, and this process becomes that of who typed the command.
pub fn confine_as_invoking() -> Result<(), Error> {
    User::invoking()?.become_it_with(CapabilitySet::NET_ADMIN)
}

/// The IP packet in a frame of this kind of link (`ARPHRD_`), the kernel's note in front.
fn ip_of(frame: &[u8], kind: u16) -> Option<&[u8]> {
    let frame = frame.get(NOTE..)?;
    match kind {
        libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => {
            let tagged = frame.get(ETHERNET - 2..ETHERNET)? == TAGGED;
            frame.get(ETHERNET + if tagged { TAG } else { 0 }..)
        }
        // Those without a header of their own: TUN, tunnels, PPP.
        _ => Some(frame),
    }
}

const SKF_NET_OFF: i32 = -0x10_0000;
const SKF_AD_PKTTYPE: i32 = -0x1000 + 4;
const PACKET_OUTGOING: u32 = 4;

fn nothing() -> [SockFilter; 1] {
    [SockFilter::new((libc::BPF_RET | libc::BPF_K) as u16, 0, 0, 0)]
}

/// What the kernel goes by: TCP from `remote` to our port, incoming, no fragments. Classic BPF.
fn filter(remote: SocketAddr, local: u16) -> Vec<SockFilter> {
    let net = |offset: u32| (SKF_NET_OFF as u32).wrapping_add(offset);
    // Instructions, and after a comparison what must be equal.
    let mut tests: Vec<(Vec<(u32, u32)>, u32)> = Vec::new();
    let (word, half, byte) = (libc::BPF_W, libc::BPF_H, libc::BPF_B);
    let load = |size: u32, at: u32| (libc::BPF_LD | size | libc::BPF_ABS, net(at));
    let and = |mask: u32| (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask);
    let indirect = |at: u32| (libc::BPF_LD | half | libc::BPF_IND, net(at));
    let ports = u32::from(remote.port());
    match remote {
        SocketAddr::V4(remote) => {
            tests.push((vec![load(byte, 0), and(0xf0)], 0x40));
            tests.push((vec![load(byte, 9)], 6));
            tests.push((vec![load(half, 6), and(0x3fff)], 0));
            tests.push((vec![load(word, 12)], u32::from(*remote.ip())));
            let header = vec![
                load(byte, 0),
                and(0xf),
                (libc::BPF_ALU | libc::BPF_LSH | libc::BPF_K, 2),
                (libc::BPF_MISC | libc::BPF_TAX, 0),
                indirect(0),
            ];
            tests.push((header, ports));
            tests.push((vec![indirect(2)], u32::from(local)));
        }
        SocketAddr::V6(remote) => {
            tests.push((vec![load(byte, 0), and(0xf0)], 0x60));
            tests.push((vec![load(byte, 6)], 6));
            for (k, part) in remote.ip().octets().chunks(4).enumerate() {
                let part = u32::from_be_bytes([part[0], part[1], part[2], part[3]]);
                tests.push((vec![load(word, 8 + 4 * k as u32)], part));
            }
            tests.push((vec![load(half, 40)], ports));
            tests.push((vec![load(half, 42)], u32::from(local)));
        }
    }
    let mut program = vec![
        SockFilter::new((libc::BPF_LD | byte | libc::BPF_ABS) as u16, 0, 0, SKF_AD_PKTTYPE as u32),
        SockFilter::new((libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, 0, 1, PACKET_OUTGOING),
    ];
    program.extend(nothing());
    for (instructions, equal) in tests {
        program.extend(instructions.iter().map(|(code, k)| SockFilter::new(*code as u16, 0, 0, *k)));
        let compare = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        program.push(SockFilter::new(compare, 1, 0, equal));
        program.extend(nothing());
    }
    program.push(SockFilter::new((libc::BPF_RET | libc::BPF_K) as u16, 0, 0, u32::MAX));
    program
}

fn set(socket: &Socket, level: c_int, option: c_int, value: c_int) -> io::Result<()> {
    let size = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the socket is open, and the option's value is an int of which the size is given.
    let done =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), size) };
    Errno::result(done).map(drop).map_err(io::Error::from)
}

/// Reads this protocol from every interface.
fn bind(socket: &Socket, protocol: u16) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: protocol,
        sll_ifindex: 0,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let size = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is of the socket's family, and its size is given.
    let done = unsafe { libc::bind(socket.as_raw_fd(), std::ptr::from_ref(&address).cast(), size) };
    Errno::result(done).map(drop).map_err(io::Error::from)
}
