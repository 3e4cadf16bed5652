//! A wire between two namespaces that delays packets and writes down what passed: two TUN devices and a thread each way.

use super::tun;
use crate::netns::{Address, Interface, Metrics, Netns, Route, configure};
use crate::session::Session;
use crate::stack::{self, End, Settings};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{Domain, Socket, Type};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub const SENDER: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 1);
pub const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 2);

/// A TCP segment that passed.
#[derive(Debug, Clone)]
pub struct Seen {
    pub at: Instant,
    /// Whether it came from the sender's side.
    pub forth: bool,
    pub flags: u8,
    pub seq: u32,
    pub ack: u32,
    /// As in the header: not scaled.
    pub window: u32,
    pub payload: u32,
    pub options: Vec<(u8, Vec<u8>)>,
}

pub const SYN: u8 = 2;
pub const ACK: u8 = 16;

impl Seen {
    fn of(packet: &[u8], forth: bool) -> Option<Self> {
        let ip = usize::from(packet.first()? & 15) * 4;
        if packet[0] >> 4 != 4 || packet[9] != 6 {
            return None;
        }
        let tcp = &packet[ip..];
        let word = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
        let header = usize::from(tcp[12] >> 4) * 4;
        let mut options = Vec::new();
        let mut rest = &tcp[20..header];
        while let [kind, tail @ ..] = rest {
            match kind {
                0 => break,
                1 => rest = tail,
                _ => {
                    let length = usize::from(tail[0]);
                    options.push((*kind, rest[2..length].to_vec()));
                    rest = &rest[length..];
                }
            }
        }
        Some(Self {
            at: Instant::now(),
            forth,
            flags: tcp[13],
            seq: word(4),
            ack: word(8),
            window: u32::from(u16::from_be_bytes([tcp[14], tcp[15]])),
            payload: (tcp.len() - header) as u32,
            options,
        })
    }

    pub fn option(&self, kind: u8) -> Option<&[u8]> {
        self.options.iter().find(|(k, _)| *k == kind).map(|(_, value)| value.as_slice())
    }
}

pub struct Wire {
    pub sender: Netns,
    pub receiver: Netns,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// The last packet with payload that came from the sender, and where to write more of the kind.
    last: Arc<Mutex<Vec<u8>>>,
    into_receiver: File,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    _session: Session,
}

/// Which of the packets with payload on their way forth are lost, counted from 1.
pub struct Lossy(pub &'static [usize]);

impl Wire {
    /// Both namespaces set up as one flow wants them.
    pub fn new(settings: &Settings, delay: Duration, lost: Lossy) -> Self {
        let session = Session::begin().unwrap();
        let mut ends = [
            ("s", SENDER, RECEIVER, settings.route, End::Sender),
            ("r", RECEIVER, SENDER, settings.route_back, End::Receiver),
        ]
        .map(|(name, own, other, metrics, end)| {
            let ns = Netns::create(&session.namespace(name)).unwrap();
            stack::apply(&ns, &stack::merge([("flow", end, settings)]).unwrap()).unwrap();
            // Every kernel has it, and it is the one that fills a window.
            ns.enter(|| fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "reno")).unwrap().unwrap();
            let tun = ns.enter(|| tun("tk0")).unwrap().unwrap();
            fcntl(&tun, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
            set_up(&ns, own, other, metrics, settings);
            (ns, tun)
        })
        .into_iter();
        let ((sender, tun_s), (receiver, tun_r)) = (ends.next().unwrap(), ends.next().unwrap());
        let (seen, last) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let into_receiver = tun_r.try_clone().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (back_r, back_s) = (tun_r.try_clone().unwrap(), tun_s.try_clone().unwrap());
        let pump = |from, to, forth, lost| {
            let (seen, last, stop) = (seen.clone(), last.clone(), stop.clone());
            std::thread::spawn(move || pump(from, to, forth, delay, lost, (&seen, &last), &stop))
        };
        let threads = vec![pump(tun_s, tun_r, true, lost.0), pump(back_r, back_s, false, &[])];
        Self { sender, receiver, seen, last, into_receiver, stop, threads, _session: session }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Has the receiver get the sender's last segment once more, with what this makes of its bytes.
    pub fn forge(&self, change: impl FnOnce(&mut [u8])) {
        let mut packet = self.last.lock().unwrap().clone();
        change(&mut packet);
        (&self.into_receiver).write_all(&packet).unwrap();
    }

    /// Sends so many bytes over a connection of its own, which are read as they come; the socket that sent them, and that
    /// which got them.
    pub fn send(&self, settings: &Settings, bytes: usize) -> (Socket, Socket) {
        let mut ends = self.open(settings);
        Self::send_more(&mut ends, settings, bytes);
        ends
    }

    /// Likewise, but the first segment alone before all else, so that the window is held from then on, however late the
    /// reader is.
    pub fn send_held(&self, settings: &Settings, bytes: usize) -> (Socket, Socket) {
        let mut ends = self.open(settings);
        let first = settings.sockets.mss as usize;
        Self::send_more(&mut ends, settings, first);
        Self::send_more(&mut ends, settings, bytes - first);
        ends
    }

    /// Likewise, but read when all has been acknowledged: segments that come while a program reads are acknowledged
    /// together, whatever is asked of the stack. The receiver's window must have room for all.
    pub fn send_unread(&self, settings: &Settings, bytes: usize) -> (Socket, Socket) {
        let mut ends = self.open(settings);
        Self::send_more_unread(&mut ends, bytes);
        ends
    }

    /// A connection with the flow's socket options: the end that sends, and the one that receives.
    fn open(&self, settings: &Settings) -> (Socket, Socket) {
        let address = SocketAddr::new(IpAddr::V4(RECEIVER), 5001);
        let socket = || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            settings.sockets.apply(socket.as_fd()).unwrap();
            socket
        };
        let listener = self.receiver.enter(socket).unwrap();
        listener.set_reuse_address(true).unwrap();
        listener.bind(&address.into()).unwrap();
        listener.listen(1).unwrap();
        let sender = self.sender.enter(socket).unwrap();
        sender.connect(&address.into()).unwrap();
        (sender, listener.accept().unwrap().0)
    }

    /// As [`Self::send_unread`], over a connection that there is.
    pub fn send_more_unread((sender, receiver): &mut (Socket, Socket), bytes: usize) {
        sender.write_all(&vec![7; bytes]).unwrap();
        truckee_testing::until("the last ACK", || unacknowledged(sender) == 0);
        receiver.read_exact(&mut vec![0; bytes]).unwrap();
    }

    /// Sends so many bytes over a connection that there is.
    pub fn send_more((sender, receiver): &mut (Socket, Socket), settings: &Settings, bytes: usize) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut buffer, mut total) = (vec![0; 1 << 20], 0);
                while total < bytes {
                    total += receiver.read(&mut buffer).unwrap();
                    settings.sockets.hold_window(&*receiver).unwrap();
                }
                assert_eq!(total, bytes);
            });
            sender.write_all(&vec![7; bytes]).unwrap();
        });
    }
}

/// Bytes that a socket has sent or is to send, of which none has been acknowledged.
pub fn unacknowledged(socket: &Socket) -> libc::c_int {
    let mut bytes = 0;
    // SAFETY: the socket is open, and SIOCOUTQ (which is TIOCOUTQ) writes an int.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    bytes
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

fn set_up(ns: &Netns, own: Ipv4Addr, other: Ipv4Addr, metrics: Metrics, settings: &Settings) {
    let addresses = [Address { ip: own.into(), prefix: 32 }];
    let routes = [Route { destination: other.into(), prefix: 32, metrics }];
    let interface = Interface {
        name: "tk0",
        addresses: &addresses,
        mtu: settings.mtu,
        txqueuelen: 10_000,
        gso_max_segs: settings.gso_max_segs,
        routes: &routes,
    };
    configure(ns, &interface).unwrap();
}

fn pump(
    mut from: File,
    mut to: File,
    forth: bool,
    delay: Duration,
    lost: &[usize],
    (seen, last): (&Mutex<Vec<Seen>>, &Mutex<Vec<u8>>),
    stop: &AtomicBool,
) {
    let mut travelling: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    let mut buffer = vec![0; 65_536];
    let mut data = 0;
    while !stop.load(Ordering::Relaxed) {
        while travelling.front().is_some_and(|(at, _)| *at <= Instant::now()) {
            let (_, packet) = travelling.pop_front().unwrap();
            to.write_all(&packet).unwrap();
        }
        while let Ok(length) = from.read(&mut buffer) {
            let Some(segment) = Seen::of(&buffer[..length], forth) else { continue };
            data += usize::from(segment.payload > 0);
            let kept = segment.payload == 0 || !lost.contains(&data);
            if forth && segment.payload > 0 {
                *last.lock().unwrap() = buffer[..length].to_vec();
            }
            seen.lock().unwrap().push(segment);
            if kept {
                travelling.push_back((Instant::now() + delay, buffer[..length].to_vec()));
            }
        }
        let wait = travelling.front().map(|(at, _)| at.saturating_duration_since(Instant::now()));
        let wait = wait.unwrap_or(Duration::from_millis(20)).as_millis() as u16;
        let mut wanted = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
        poll(&mut wanted, PollTimeout::from(wait)).unwrap();
    }
}
