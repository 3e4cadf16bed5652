//! A lossy path between two network namespaces, for tests of congestion controls: two TUN devices and a thread between
//! them that limits the rate, queues, marks, delays, swells, drops each n-th packet, goes dark until the sender's timer has
//! gone off, and cuts ACKs. What a test needs happens by the count of packets, so that it happens whatever time the machine
//! takes. The namespaces are their threads' own and vanish with them. Not for: measuring anything; that is the path
//! emulator's.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Socket, Type};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What the path is like.
#[derive(Debug, Clone, Copy)]
pub struct Path {
    /// Bit/s towards the receiver.
    pub rate: f64,
    /// Packets that wait at most.
    pub queue: usize,
    /// One way.
    pub delay: Duration,
    /// Each so many-th packet with data is lost; 0: none.
    pub every: usize,
    /// From each so many-th packet with data on none arrives, until one is sent for the third time since: at most one of
    /// these was a probe for a lost tail, so the retransmission timer has gone off. 0: never.
    pub dark: usize,
    /// How packets are kept back for longer now and then.
    pub swell: Swell,
    /// Whether each segment is acknowledged by itself: at once, and while nobody reads, since segments that come meanwhile
    /// are acknowledged together.
    pub each: bool,
    /// Packets that wait from which on those that are ECN-capable are marked.
    pub mark: usize,
    /// Into how many each ACK that advances is cut.
    pub cut: u32,
    /// Bytes that the receiver's window is at most; 0: what its kernel gives. Without SACK a sender that overshoots the queue
    /// by hundreds of segments repairs one a round trip, and without timestamps none of them is a sample that ends its
    /// timer's backing off: minutes, of nothing that a test looks at.
    pub window: usize,
    /// Settings of the sender's namespace.
    pub sysctls: &'static [&'static str],
}

/// By how much longer packets take, as they are counted. Each time it is more than the time before, so that sooner or later a
/// round trip is longer than any that a machine standing still has made before.
#[derive(Debug, Clone, Copy)]
pub enum Swell {
    /// By nothing.
    None,
    /// The last thirty of each hundred by 60 ms, and by 20 ms more each time.
    Steps,
    /// Slowly more and less again, within four hundred, up to 60 ms, and to 40 ms more each time.
    Slopes,
}

impl Swell {
    fn of(self, count: usize) -> Duration {
        let ms = match self {
            Self::None => 0.0,
            Self::Steps if count % 100 < 70 => 0.0,
            Self::Steps => 60.0 + 20.0 * (count / 100) as f64,
            Self::Slopes => {
                let up = (count % 400).min(400 - count % 400) as f64 / 200.0;
                up * (60.0 + 40.0 * (count / 400) as f64)
            }
        };
        Duration::from_secs_f64(ms / 1e3)
    }
}

fn tun(name: &str, own: &str, sysctls: &[&str]) -> File {
    unshare(CloneFlags::CLONE_NEWNET).unwrap();
    let file = File::options().read(true).write(true).open("/dev/net/tun").unwrap();
    let mut request = [0u8; 40];
    request[..name.len()].copy_from_slice(name.as_bytes());
    request[16..18].copy_from_slice(&0x1001u16.to_ne_bytes()); // IFF_TUN | IFF_NO_PI
    // SAFETY: TUNSETIFF reads and writes a struct ifreq, which has 40 bytes.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), 0x4004_54ca, request.as_mut_ptr()) };
    assert_eq!(done, 0, "TUNSETIFF: {}", std::io::Error::last_os_error());
    for args in [
        format!("addr add {own}/24 dev {name}"),
        format!("link set {name} up txqueuelen 10000"),
        "link set lo up".into(),
    ] {
        assert!(Command::new("ip").args(args.split(' ')).status().unwrap().success(), "ip {args}");
    }
    for set in sysctls {
        let (key, value) = set.split_once('=').unwrap();
        std::fs::write(format!("/proc/sys/net/ipv4/{key}"), value).unwrap();
    }
    file
}

/// Packets on their way: when each arrives.
#[derive(Default)]
struct Way {
    packets: VecDeque<(Instant, Vec<u8>)>,
    free: Option<Instant>,
}

/// The sequence number of a packet that carries data.
fn sequence(packet: &[u8]) -> Option<u32> {
    let header = 20 + usize::from(packet.get(32)? >> 4) * 4;
    (packet.len() > header).then(|| u32::from_be_bytes([packet[24], packet[25], packet[26], packet[27]]))
}

/// What becomes of the packets with data on their way forth, by their count.
#[derive(Default)]
struct Fates {
    /// Packets with data so far.
    count: usize,
    /// While it is dark: how often each has been sent since.
    dark: Option<HashMap<u32, u32>>,
}

impl Fates {
    fn is_lost(&mut self, path: &Path, packet: &[u8]) -> bool {
        let Some(number) = sequence(packet) else { return false };
        self.count += 1;
        if path.dark > 0 && self.count.is_multiple_of(path.dark) {
            self.dark.get_or_insert_default();
        }
        if let Some(sent) = &mut self.dark {
            let times = sent.entry(number).or_default();
            *times += 1;
            if *times < 3 {
                return true;
            }
            self.dark = None;
        }
        path.every > 0 && self.count.is_multiple_of(path.every)
    }
}

impl Way {
    fn take(&mut self, path: &Path, packet: &[u8], now: Instant, limited: bool, longer: Duration) {
        let leaves = self.free.filter(|free| *free > now && limited).unwrap_or(now);
        let took = Duration::from_secs_f64(packet.len() as f64 * 8.0 / path.rate);
        let waiting = (leaves - now).as_secs_f64() / took.as_secs_f64();
        if limited && waiting > path.queue as f64 {
            return;
        }
        let mut packet = packet.to_vec();
        if limited && waiting > path.mark as f64 && packet[1] & 3 != 0 {
            packet[1] |= 3;
            let sum = checksum(&[&packet[..10], &packet[12..20]]);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        let leaves = leaves + if limited { took } else { Duration::ZERO };
        self.free = Some(leaves);
        self.packets.push_back((leaves + path.delay + longer, packet));
    }

    fn deliver(&mut self, to: &mut File, now: Instant) {
        while self.packets.front().is_some_and(|(at, _)| *at <= now) {
            let (_, packet) = self.packets.pop_front().unwrap();
            to.write_all(&packet).unwrap();
        }
    }
}

/// The Internet checksum of these pieces, each of an even number of bytes.
fn checksum(pieces: &[&[u8]]) -> u16 {
    let words = pieces.iter().flat_map(|piece| piece.chunks_exact(2));
    let sum: u32 = words.map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// Cuts ACKs: one that advances becomes several, the last of them itself.
struct Cutter {
    into: u32,
    last: Option<u32>,
}

impl Cutter {
    fn cut(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        let number =
            |at: usize| u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]]);
        let header = usize::from(packet[32] >> 4) * 4;
        let (ack, pure) = (number(28), packet.len() == 20 + header && packet[33] == 0x10);
        let advance = self.last.map_or(0, |last| ack.wrapping_sub(last));
        self.last = Some(ack);
        if !pure || self.into < 2 || advance < self.into || advance > 1 << 30 {
            return vec![packet.to_vec()];
        }
        let part = |k: u32| {
            let mut part = packet.to_vec();
            part[28..32].copy_from_slice(&(ack - (self.into - k) * (advance / self.into)).to_be_bytes());
            part[36..38].fill(0);
            let length = (header as u16).to_be_bytes();
            let sum = checksum(&[&part[12..20], &[0, 6], &length, &part[20..]]);
            part[36..38].copy_from_slice(&sum.to_be_bytes());
            part
        };
        (1..=self.into).map(part).collect()
    }
}

fn forward(mut near: File, mut far: File, path: Path, stop: &AtomicBool) {
    let (mut to_far, mut to_near) = (Way::default(), Way::default());
    let mut fates = Fates::default();
    let mut buffer = vec![0; 65_536];
    let mut cutter = Cutter { into: path.cut, last: None };
    while !stop.load(Ordering::Relaxed) {
        let next = [&to_far, &to_near].into_iter().filter_map(|w| w.packets.front()).map(|p| p.0).min();
        let wait = next.map_or(Duration::from_millis(20), |at| at.saturating_duration_since(Instant::now()));
        let mut fds =
            [PollFd::new(near.as_fd(), PollFlags::POLLIN), PollFd::new(far.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::try_from(wait.as_millis() as i32).unwrap()).unwrap();
        let ready = fds.map(|fd| fd.any().unwrap_or(false));
        let now = Instant::now();
        if ready[0] {
            let n = near.read(&mut buffer).unwrap();
            if !fates.is_lost(&path, &buffer[..n]) {
                to_far.take(&path, &buffer[..n], now, true, path.swell.of(fates.count));
            }
        }
        if ready[1] {
            let n = far.read(&mut buffer).unwrap();
            for part in cutter.cut(&buffer[..n]) {
                to_near.take(&path, &part, now, false, Duration::ZERO);
            }
        }
        to_far.deliver(&mut far, now);
        to_near.deliver(&mut near, now);
    }
}

/// Sends over the path, by the congestion control of that name, until `enough` says so, which is asked again and again, and
/// once when all is over.
pub fn send(path: Path, control: &str, mut enough: impl FnMut() -> bool) {
    let (stop, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (listening, tell_listening) = std::sync::mpsc::channel::<()>();
    let (tuns, devices) = std::sync::mpsc::channel::<(bool, File)>();
    let receiver = {
        let (tuns, stop) = (tuns.clone(), stop.clone());
        thread::spawn(move || receive(path, &tuns, &listening, &stop))
    };
    let sender = {
        let (control, over) = (control.to_owned(), over.clone());
        thread::spawn(move || {
            tuns.send((true, tun("near", "10.9.8.1", path.sysctls))).unwrap();
            tell_listening.recv().unwrap();
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.set_tcp_congestion(control.as_bytes()).unwrap();
            socket.connect(&SocketAddr::from(([10, 9, 8, 2], 5001)).into()).unwrap();
            socket.set_linger(Some(Duration::ZERO)).unwrap(); // nothing of it outlives the test
            socket.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
            let block = vec![0u8; 65_536];
            while !over.load(Ordering::Relaxed) {
                let _ = (&socket).write(&block);
            }
        })
    };
    let mut ends: Vec<(bool, File)> = vec![devices.recv().unwrap(), devices.recv().unwrap()];
    ends.sort_by_key(|(near, _)| !near);
    let far = ends.pop().unwrap().1;
    let near = ends.pop().unwrap().1;
    let forwarder = {
        let stop = stop.clone();
        thread::spawn(move || forward(near, far, path, &stop))
    };
    truckee_testing::until("enough to hold a port against", || {
        assert!(!sender.is_finished() && !forwarder.is_finished(), "the connection has ended by itself");
        enough()
    });
    over.store(true, Ordering::Relaxed);
    sender.join().unwrap();
    stop.store(true, Ordering::Relaxed);
    forwarder.join().unwrap();
    receiver.join().unwrap();
    enough();
}

fn receive(
    path: Path,
    tuns: &std::sync::mpsc::Sender<(bool, File)>,
    listening: &std::sync::mpsc::Sender<()>,
    stop: &AtomicBool,
) {
    tuns.send((false, tun("far", "10.9.8.2", &["tcp_ecn=1"]))).unwrap();
    if path.each {
        let route = "route replace 10.9.8.0/24 dev far src 10.9.8.2 quickack 1";
        assert!(Command::new("ip").args(route.split(' ')).status().unwrap().success(), "ip {route}");
    }
    let socket = std::net::TcpListener::bind("10.9.8.2:5001").unwrap();
    if path.each {
        setsockopt(&socket, sockopt::RcvBufForce, &(8 << 20)).unwrap();
    }
    if path.window > 0 {
        // The kernel doubles it and gives half of that as window.
        setsockopt(&socket, sockopt::RcvBuf, &path.window).unwrap();
    }
    listening.send(()).unwrap();
    let (mut connection, _) = socket.accept().unwrap();
    connection.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut buffer = vec![0; 1 << 16];
    while path.each && !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(20));
    }
    while !stop.load(Ordering::Relaxed) {
        if let Ok(0) = connection.read(&mut buffer) {
            break;
        }
    }
}
