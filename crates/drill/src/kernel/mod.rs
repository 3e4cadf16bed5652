//! The running kernel's stack, in real time: sockets in a network namespace of its own, which has no name and vanishes with
//! the last thread in it, and a TUN device whose other end is the script's.

mod info;
mod packet;
mod place;
mod socket;

use crate::error::Error;
use crate::run::{Report, run};
use crate::script::{Call, Packet, Script, TcpOption, bits};
use crate::target::{Answer, Info, Refusal, Seen, Target};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use packet::Ends;
use place::{CALLER, HERE, PORT, THERE};
use socket2::Socket;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::Duration;
use truckee_host::Error as HostError;
use truckee_host::device;
use truckee_host::netns::{self, Address, Interface};
use truckee_host::punctual::{be_punctual, clock};
use truckee_host::rights::{Raised, in_folders};
use truckee_tcp::{Span, Time};

const PREFIX: u8 = 16;
/// A call that is to return at once has so long, and one that is to wait is looked at after so long.
const AT_ONCE: Duration = Duration::from_millis(200);
const SOON: Duration = Duration::from_millis(1);

/// Runs a script against the kernel's stack. Needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN.
///
/// # Errors
/// No right, no TUN device; a setting or a call that there is not.
pub fn drill(script: &Script) -> Result<Report, Error> {
    netns::nameless(|| {
        let mut kernel = Kernel::new(script)?;
        run(script, &mut kernel)
    })?
}

/// The stack of the namespace that this thread is in.
struct Kernel {
    tun: File,
    begin: Time,
    /// By the script's file descriptors; the one used last that is, or was to be, a connection.
    sockets: BTreeMap<i64, Arc<Socket>>,
    used: Option<i64>,
    /// Ports of the connection, the kernel's first, and the first number that the kernel drew.
    ports: (u16, u16),
    first: u32,
    sent: VecDeque<Seen>,
    waiting: Option<Waiting>,
    lateness: Span,
}

/// A call on a thread of its own.
struct Waiting {
    returned: Receiver<(Time, Answer, Option<Socket>)>,
    /// The script's name for a new socket.
    fd: i64,
}

impl Kernel {
    fn new(script: &Script) -> Result<Self, Error> {
        be_punctual(true);
        let _rights = Raised::live();
        for setting in &script.settings {
            set(&format!("net.ipv4.{}", setting.name), &setting.value).map_err(|e| {
                let why = format!("net.ipv4.{}={}: {e}", setting.name, setting.value);
                Error::Script { name: script.name.clone(), line: setting.line, why }
            })?;
        }
        Ok(Self {
            tun: tun()?,
            begin: clock(),
            sockets: BTreeMap::new(),
            used: None,
            ports: (PORT, CALLER),
            first: 0,
            sent: VecDeque::new(),
            waiting: None,
            lateness: Span::ZERO,
        })
    }

    fn gone(doing: &str, source: std::io::Error) -> Error {
        Error::Host(HostError::System { doing: doing.to_owned(), source })
    }

    /// Takes what the stack has sent.
    fn read(&mut self) -> Result<(), Error> {
        let mut bytes = [0; 2048];
        loop {
            match (&self.tun).read(&mut bytes) {
                Ok(n) => {
                    let at = self.now();
                    if let Some((packet, ends)) = packet::read(&bytes[..n]) {
                        self.take(at, packet, ends);
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(Self::gone("read from the TUN device", e)),
            }
        }
    }

    fn take(&mut self, at: Time, mut packet: Packet, ends: Ends) {
        if packet.has(bits::SYN) {
            self.first = packet.seq;
            self.ports = (ends.from.1, ends.to.1);
        }
        packet.seq = packet.seq.wrapping_sub(self.first);
        self.sent.push_back(Seen { at, packet });
    }

    /// Waits until then, or, if `one` segment is enough, until there is one; takes all that the stack sends meanwhile.
    fn pass(&mut self, until: Time, one: bool) -> Result<(), Error> {
        loop {
            self.read()?;
            if one && !self.sent.is_empty() {
                return Ok(());
            }
            let now = self.now();
            if now >= until {
                self.lateness = self.lateness.max(now - until);
                return Ok(());
            }
            let left = TimeSpec::from_duration((until - now).into());
            let mut wanted = [PollFd::new(self.tun.as_fd(), PollFlags::POLLIN)];
            // An interrupted wait is no error: the time is looked at in any case.
            let _ = ppoll(&mut wanted, Some(left), None);
        }
    }

    fn called(&mut self, call: &Call) -> Result<Answer, Refusal> {
        let named = call.result.filter(|&fd| fd >= 0);
        if call.name == "socket" {
            let fd = named.unwrap_or(3);
            return Ok(match socket::new() {
                Ok(socket) => {
                    self.sockets.insert(fd, Arc::new(socket));
                    Answer::Returned(fd, None)
                }
                Err(error) => socket::answer(Err(error)),
            });
        }
        let Some(&crate::script::Argument::Number(fd)) = call.arguments.first() else {
            return Err(format!("{}: the first argument is no file descriptor", call.name));
        };
        let Some(socket) = self.sockets.get(&fd).cloned() else { return Ok(Answer::failed("EBADF")) };
        if call.name == "close" {
            self.sockets.remove(&fd);
            return Ok(Answer::DONE);
        }
        let Some(work) = socket::work(call, &socket)? else { return socket::at_once(call, &socket) };
        if call.name != "accept" {
            self.used = Some(fd);
        }
        let begin = self.begin;
        let (tell, returned) = channel();
        let act = move || {
            let result = work();
            let at = clock();
            let (answer, new) = match result {
                Ok((value, new)) => (Answer::Returned(value, None), new),
                Err(error) => (socket::answer(Err(error)), None),
            };
            // Nobody waits for it any longer if the script is over.
            let _ = tell.send((Time::at(at - begin), answer, new));
        };
        std::thread::Builder::new().spawn(act).map_err(|e| format!("no thread for a call: {e}"))?;
        let patience = if call.until.is_some() { SOON } else { AT_ONCE };
        let fd = named.unwrap_or(fd + 1);
        match returned.recv_timeout(patience) {
            Ok((_, answer, new)) => Ok(self.keep(fd, answer, new)),
            Err(RecvTimeoutError::Timeout) => {
                self.waiting = Some(Waiting { returned, fd });
                Ok(Answer::Waits)
            }
            Err(RecvTimeoutError::Disconnected) => Err("the call's thread is gone".to_owned()),
        }
    }

    /// A new socket has the script's name.
    fn keep(&mut self, fd: i64, answer: Answer, new: Option<Socket>) -> Answer {
        match new {
            Some(new) => {
                self.sockets.insert(fd, Arc::new(new));
                self.used = Some(fd);
                Answer::Returned(fd, None)
            }
            None => answer,
        }
    }
}

/// A call that still waits ends, and its thread with it: the namespace would be there as long as the thread.
impl Drop for Kernel {
    fn drop(&mut self) {
        for socket in self.sockets.values() {
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
    }
}

/// Writes a sysctl of this thread's namespace.
fn set(name: &str, value: &str) -> std::io::Result<()> {
    in_folders(|| fs::write(format!("/proc/sys/{}", name.replace('.', "/")), value))
}

/// A TUN device of this namespace, up, with the kernel's address.
fn tun() -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
    let open = in_folders(|| options.open("/dev/net/tun"));
    let tun = OwnedFd::from(open.map_err(|e| match e.kind() {
        ErrorKind::PermissionDenied => HostError::without_right("open /dev/net/tun"),
        _ => HostError::System { doing: "open /dev/net/tun".to_owned(), source: e },
    })?);
    let name = device::make_tun(&tun, "tun%d")?;
    let address = Address { ip: HERE.into(), prefix: PREFIX };
    // Each segment on its own: what TCP hands over in one piece has PSH set where it is cut, at the kernel's own choice.
    let interface =
        Interface { name: &name, addresses: &[address], gso_max_segs: Some(1), ..Interface::default() };
    netns::configure_here(&interface)?;
    Ok(tun.into())
}

impl Target for Kernel {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn now(&self) -> Time {
        Time::at(clock() - self.begin)
    }

    fn wait(&mut self, until: Time) -> Result<(), Error> {
        self.pass(until, false)
    }

    fn inject(&mut self, packet: &Packet) -> Result<Result<(), Refusal>, Error> {
        let mut packet = packet.clone();
        packet.ack = packet.ack.map(|ack| ack.wrapping_add(self.first));
        for option in packet.options.iter_mut().flatten() {
            if let TcpOption::Sack(blocks) = option {
                for (from, to) in blocks {
                    (*from, *to) = (from.wrapping_add(self.first), to.wrapping_add(self.first));
                }
            }
        }
        let ends = Ends { from: (THERE, self.ports.1), to: (HERE, self.ports.0) };
        let Some(bytes) = packet::bytes(&packet, ends) else {
            return Ok(Err("its options do not fit into a header".to_owned()));
        };
        (&self.tun).write_all(&bytes).map_err(|e| Self::gone("write to the TUN device", e))?;
        Ok(Ok(()))
    }

    fn sent(&mut self, until: Time) -> Result<Option<Seen>, Error> {
        self.pass(until, true)?;
        Ok(self.sent.pop_front())
    }

    fn call(&mut self, call: &Call) -> Result<Result<Answer, Refusal>, Error> {
        let answer = self.called(call);
        self.read()?;
        Ok(answer)
    }

    fn waiting(&mut self) -> Result<Option<(Time, Answer)>, Error> {
        let Some(waiting) = &self.waiting else { return Ok(None) };
        let (at, answer, new) = match waiting.returned.try_recv() {
            Ok(returned) => returned,
            Err(TryRecvError::Empty) => return Ok(None),
            Err(TryRecvError::Disconnected) => {
                let source = std::io::Error::other("its thread is gone");
                return Err(Self::gone("make a call", source));
            }
        };
        let fd = waiting.fd;
        self.waiting = None;
        Ok(Some((at, self.keep(fd, answer, new))))
    }

    fn info(&mut self) -> Result<Result<Info, Refusal>, Error> {
        let Some(socket) = self.used.and_then(|fd| self.sockets.get(&fd)) else {
            return Ok(Err("there is no connection".to_owned()));
        };
        Ok(info::of(socket).map_err(|e| format!("tcp_info: {e}")))
    }

    fn lateness(&self) -> Span {
        self.lateness
    }
}
