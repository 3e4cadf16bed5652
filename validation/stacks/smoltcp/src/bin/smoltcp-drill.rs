//! smoltcp for `truckee drill --target program`: its sockets, by the line protocol of docs/howto/drill.md.
//!
//! What smoltcp does not have is refused by name: timestamps unless they are asked for, ECN, probes of a tail, F-RTO,
//! duplicate SACKs, `tcp_info`.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::SystemTime;
use std::{env, io, process, thread};

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Medium, TunTapInterface, wait};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};

const ADDRESS: IpCidr = IpCidr::new(IpAddress::v4(192, 168, 0, 1), 16);
const MTU: usize = 1500;
const RECEIVE_BUFFER: usize = 65_535;
const SEND_BUFFER: usize = 1 << 20;
/// From here a client calls.
const CALLER: u16 = 50_000;
/// So long a call is not looked at, at most: a script's calls take place one after the other at one time.
const LOOK: Duration = Duration::from_micros(100);

fn main() {
    if let Err(error) = run() {
        eprintln!("smoltcp-drill: {error}");
        process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let device =
        env::var("TRUCKEE_DEVICE").map_err(|_| "expected a TUN device's descriptor in TRUCKEE_DEVICE")?;
    let descriptor = device.parse()?;
    let mut device = TunTapInterface::from_fd(descriptor, Medium::Ip, MTU)?;
    let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut device, Instant::now());
    interface.update_ip_addrs(|addresses| {
        // There is room for one.
        let _ = addresses.push(ADDRESS);
    });
    let mut stack = Stack::new(interface);
    let asked = listen();
    say("ready")?;
    loop {
        stack.interface.poll(Instant::now(), &mut device, &mut stack.sockets);
        loop {
            match asked.try_recv() {
                Ok(line) => say(&stack.asked(&line))?,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
            // What was written is sent at once.
            stack.interface.poll(Instant::now(), &mut device, &mut stack.sockets);
        }
        if let Some(answer) = stack.waiting.clone().and_then(|call| stack.now(&call)) {
            stack.waiting = None;
            say(&format!("returned {answer}"))?;
        }
        let delay = stack.interface.poll_delay(Instant::now(), &stack.sockets).unwrap_or(LOOK);
        wait(descriptor, Some(delay.min(LOOK)))?;
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// The lines of the standard input, until it ends.
fn listen() -> Receiver<String> {
    let (tell, told) = channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    told
}

/// A socket as the script sees it.
#[derive(Clone, Copy)]
struct Named {
    handle: SocketHandle,
    port: u16,
    returns: bool,
}

/// A call that waits.
#[derive(Clone)]
enum Call {
    Accept(i64, i64),
    Connect(i64),
    Read(i64, usize),
}

struct Stack {
    interface: Interface,
    sockets: SocketSet<'static>,
    named: BTreeMap<i64, Named>,
    waiting: Option<Call>,
    control: CongestionControl,
    timestamps: bool,
}

fn milliseconds() -> u32 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |passed| passed.as_millis() as u32)
}

impl Stack {
    fn new(interface: Interface) -> Self {
        Self {
            interface,
            sockets: SocketSet::new(Vec::new()),
            named: BTreeMap::new(),
            waiting: None,
            control: CongestionControl::Reno,
            timestamps: false,
        }
    }

    fn fresh(&mut self) -> SocketHandle {
        let buffer = |size| SocketBuffer::new(vec![0; size]);
        let mut socket = Socket::new(buffer(RECEIVE_BUFFER), buffer(SEND_BUFFER));
        socket.set_congestion_control(self.control);
        if self.timestamps {
            socket.set_tsval_generator(Some(milliseconds));
        }
        self.sockets.add(socket)
    }

    /// The answer to a line.
    fn asked(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<i64>().ok());
        match (words.first().copied(), number(1)) {
            (Some("there"), _) => "0".to_owned(),
            (Some("setting"), _) => self.setting(words.get(1).unwrap_or(&""), &words[2..].join(" ")),
            (Some("socket"), Some(fd)) => {
                let handle = self.fresh();
                self.named.insert(fd, Named { handle, port: 0, returns: false });
                fd.to_string()
            }
            (Some(name), Some(fd)) => match self.named.get(&fd).copied() {
                Some(socket) => self.called(name, fd, socket, &words),
                None => "-1 EBADF".to_owned(),
            },
            _ => format!("refused {line}: expected a call and a descriptor"),
        }
    }

    fn setting(&mut self, name: &str, value: &str) -> String {
        let done = "0".to_owned();
        match (name, value) {
            ("tcp_congestion_control", "reno") => self.control = CongestionControl::Reno,
            ("tcp_congestion_control", "cubic") => self.control = CongestionControl::Cubic,
            ("tcp_timestamps", "0" | "1") => self.timestamps = value == "1",
            // What it is, or has no part in.
            ("tcp_window_scaling" | "tcp_sack", "1") => {}
            ("tcp_ecn" | "tcp_early_retrans" | "tcp_frto" | "tcp_dsack", "0") => {}
            ("tcp_slow_start_after_idle" | "tcp_syn_linear_timeouts", "0") => {}
            ("tcp_rmem" | "tcp_wmem" | "tcp_no_metrics_save", _) => {}
            _ => return format!("refused smoltcp has no {name} of {value}"),
        }
        done
    }

    fn called(&mut self, name: &str, fd: i64, named: Named, words: &[&str]) -> String {
        let third = words.get(2).copied().unwrap_or("");
        let number = third.parse::<i64>().unwrap_or(0);
        match name {
            "bind" => {
                let port = words.get(3).and_then(|word| word.parse().ok()).unwrap_or(0);
                self.named.insert(fd, Named { port, ..named });
                "0".to_owned()
            }
            "listen" => match self.sockets.get_mut::<Socket>(named.handle).listen(named.port) {
                Ok(()) => "0".to_owned(),
                Err(error) => format!("refused smoltcp cannot listen: {error}"),
            },
            "accept" => self.or_wait(Call::Accept(fd, number), named.returns, "EAGAIN"),
            "connect" => self.connect(fd, named, words),
            "read" => self.or_wait(Call::Read(fd, number.max(0) as usize), named.returns, "EAGAIN"),
            "write" => {
                let socket = self.sockets.get_mut::<Socket>(named.handle);
                if !socket.may_send() {
                    return "-1 EPIPE".to_owned();
                }
                socket
                    .send_slice(&vec![0; number.max(0) as usize])
                    .map_or("-1 EPIPE".to_owned(), |n| n.to_string())
            }
            "shutdown" if third == "read" => "refused smoltcp closes both ways or its own".to_owned(),
            "shutdown" => {
                self.sockets.get_mut::<Socket>(named.handle).close();
                "0".to_owned()
            }
            "close" => {
                self.sockets.get_mut::<Socket>(named.handle).close();
                self.named.remove(&fd);
                "0".to_owned()
            }
            "fcntl" if third == "get" => if named.returns { "2050" } else { "2" }.to_owned(),
            "fcntl" => {
                self.named.insert(fd, Named { returns: third == "returns", ..named });
                "0".to_owned()
            }
            "setsockopt" => self.option(named, third, words.get(3).copied().unwrap_or("")),
            "info" => "refused smoltcp tells nothing of a connection".to_owned(),
            other => format!("refused smoltcp has no call {other}"),
        }
    }

    fn option(&mut self, named: Named, name: &str, value: &str) -> String {
        let socket = self.sockets.get_mut::<Socket>(named.handle);
        match (name, value) {
            ("SO_REUSEADDR", _) => {}
            ("TCP_NODELAY", "0" | "1") => socket.set_nagle_enabled(value == "0"),
            ("TCP_CONGESTION", "reno") => socket.set_congestion_control(CongestionControl::Reno),
            ("TCP_CONGESTION", "cubic") => socket.set_congestion_control(CongestionControl::Cubic),
            _ => return format!("refused smoltcp has no option {name} of {value}"),
        }
        "0".to_owned()
    }

    fn connect(&mut self, fd: i64, named: Named, words: &[&str]) -> String {
        let there = words.get(2).and_then(|word| word.parse::<Ipv4Address>().ok());
        let port = words.get(3).and_then(|word| word.parse::<u16>().ok());
        let (Some(there), Some(port)) = (there, port) else {
            return "refused connect: expected an address and a port".to_owned();
        };
        let socket = self.sockets.get_mut::<Socket>(named.handle);
        match socket.connect(self.interface.context(), (IpAddress::Ipv4(there), port), CALLER) {
            Ok(()) => self.or_wait(Call::Connect(fd), named.returns, "EINPROGRESS"),
            Err(_) if socket.state() == State::SynSent => "-1 EALREADY".to_owned(),
            Err(_) => "-1 EISCONN".to_owned(),
        }
    }

    fn or_wait(&mut self, call: Call, returns: bool, error: &str) -> String {
        match self.now(&call) {
            Some(answer) => answer,
            None if returns => format!("-1 {error}"),
            None => {
                self.waiting = Some(call);
                "waits".to_owned()
            }
        }
    }

    /// What a call comes to by now.
    fn now(&mut self, call: &Call) -> Option<String> {
        let fd = match *call {
            Call::Accept(fd, _) | Call::Connect(fd) | Call::Read(fd, _) => fd,
        };
        let named = *self.named.get(&fd)?;
        let socket = self.sockets.get_mut::<Socket>(named.handle);
        match *call {
            // Who listens becomes the connection: another takes its place.
            Call::Accept(_, new)
                if !matches!(socket.state(), State::Listen | State::SynReceived | State::Closed) =>
            {
                self.named.insert(new, Named { returns: false, ..named });
                let handle = self.fresh();
                // It is free and has a port: it can listen.
                let _ = self.sockets.get_mut::<Socket>(handle).listen(named.port);
                self.named.insert(fd, Named { handle, ..named });
                Some(new.to_string())
            }
            Call::Connect(_) if socket.state() == State::Closed => Some("-1 ECONNREFUSED".to_owned()),
            Call::Connect(_) if socket.state() != State::SynSent => Some("0".to_owned()),
            Call::Read(_, most) if socket.can_recv() => Some(
                socket.recv_slice(&mut vec![0; most]).map_or("-1 ENOTCONN".to_owned(), |n| n.to_string()),
            ),
            Call::Read(..) if socket.state() == State::Closed => Some("-1 ECONNRESET".to_owned()),
            Call::Read(..) if !socket.may_recv() => Some("0".to_owned()),
            _ => None,
        }
    }
}
