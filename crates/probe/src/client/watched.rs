//! A program that is run so that its connections to one host are made to us: a filter of seccomp, which it and all that it
//! starts have from before their first instruction on, has the kernel hold each of their calls of connect() until we have
//! looked whom it is for. One for the host we make ourselves, on the program's own socket, to a socket of ours on the loopback;
//! every other goes on as it was meant. No more rights are needed for it than those over a program of the same user.
//!
//! It ends with us, however we end: the program is killed, what it has started can make no connection any more, and those to us
//! are gone.
//!
//! Not for: what is said over the connection (see [`super::carried`]).

use crate::Error;
use crate::fault::Fault;
use crate::stop::Stop;
use libc::{sock_filter, sock_fprog};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
use socket2::{SockAddr, SockRef, Type};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use truckee_host::program::{dies_with_us, not_run};

/// So often it is looked whether the program is still wanted, ms.
const LOOK: u16 = 50;
/// The calls of a program that are looked at are those of this machine's own kind (`AUDIT_ARCH_`); none is where it is not known.
const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") {
    0xc000_0000 | libc::EM_X86_64 as u32
} else if cfg!(target_arch = "aarch64") {
    0xc000_0000 | libc::EM_AARCH64 as u32
} else {
    0
};

/// The program while it runs. Dropped, it is killed, and what it has started in its process group.
pub struct Watched {
    child: Child,
    near: Near,
    carried: Receiver<Result<SocketAddr, String>>,
    /// Where its connection comes from, which has not been accepted yet.
    from: Option<SocketAddr>,
    unwanted: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
}

/// Sockets of ours on the loopback, for a program's connections.
struct Near {
    four: TcpListener,
    /// None where there is no IPv6.
    six: Option<TcpListener>,
}

impl Near {
    fn open() -> Result<Self, Error> {
        let listen = |at: SocketAddr| {
            let listener = TcpListener::bind(at)?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let four = listen((Ipv4Addr::LOCALHOST, 0).into()).map_err(|e: io::Error| match e.kind() {
            ErrorKind::AddrNotAvailable => Error::Missing {
                what: "this network namespace has no loopback, over which a program is heard".into(),
                mend: "ip link set lo up, in it".into(),
            },
            _ => Error::system("listen for a program", e),
        })?;
        Ok(Self { four, six: listen((Ipv6Addr::LOCALHOST, 0).into()).ok() })
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        let of = |listener: &TcpListener| listener.local_addr().ok();
        [of(&self.four), self.six.as_ref().and_then(of)].into_iter().flatten().collect()
    }

    /// The connection from this address, once it is there; others are strangers'.
    fn accept(&self, from: SocketAddr) -> Option<TcpStream> {
        for listener in [Some(&self.four), self.six.as_ref()].into_iter().flatten() {
            while let Ok((stream, peer)) = listener.accept() {
                if peer == from {
                    return Some(stream);
                }
            }
        }
        None
    }
}

impl Watched {
    /// Starts it. `hosts`: whose connections are to be made to us.
    pub fn start(command: &[OsString], hosts: Vec<SocketAddr>) -> Result<Self, Error> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::Refused { place: "the command".into(), why: "expected a program".into() });
        };
        if ARCHITECTURE == 0 {
            let mend = "probe without a program".into();
            return Err(Error::Missing { what: "a program is not watched on this processor".into(), mend });
        }
        let near = Near::open()?;
        let (ours, theirs) = UnixStream::pair().map_err(|e| Error::system("make a pair of sockets", e))?;
        let filter = filter();
        let mut to_run = Command::new(program);
        to_run.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        to_run.process_group(0);
        dies_with_us(&mut to_run);
        let be_watched = move || be_watched(&filter, theirs.as_fd());
        // SAFETY: between fork and exec it makes system calls only, takes no memory and no lock.
        unsafe { to_run.pre_exec(be_watched) };
        let started = to_run.spawn();
        // The other end, which is the filter's, is closed with it: an end is better than to wait for ever.
        drop(to_run);
        let name = program.to_string_lossy().into_owned();
        let child = started.map_err(|error| match error.raw_os_error() {
            Some(libc::EBUSY | libc::EINVAL | libc::ENOSYS) => {
                Error::system("watch a program (seccomp)", error)
            }
            _ => not_run(name, &error),
        })?;
        let (tell, carried) = mpsc::channel();
        let unwanted = Arc::new(AtomicBool::new(false));
        let mut watched =
            Self { child, near, carried, from: None, unwanted: Arc::clone(&unwanted), watcher: None };
        let calls = receive(&ours).map_err(|e| Error::system("watch a program (seccomp)", e))?;
        let watch = Watch { calls, hosts, near: watched.near.addresses(), tell, carries: false };
        watched.watcher = Some(std::thread::spawn(move || watch.run(&unwanted)));
        Ok(watched)
    }

    /// The program's end of its connection to the host, if it has made it by now.
    pub fn connection(&mut self) -> Result<Option<TcpStream>, Stop> {
        match self.carried.try_recv() {
            Ok(Ok(from)) => self.from = Some(from),
            Ok(Err(why)) => return Err(Fault::Program(why).into()),
            Err(_) => {}
        }
        Ok(self.from.and_then(|from| self.near.accept(from)))
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // Its group is that of its number, as long as it has not been waited for.
        if let (None, Ok(group)) = (self.ended(), i32::try_from(self.child.id())) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = self.child.wait();
        self.unwanted.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}

/// Runs in the new process: it gets no right that it has not, keeps none, and from here on its calls are looked at.
fn be_watched(filter: &[sock_filter], tell: BorrowedFd<'_>) -> io::Result<()> {
    set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program lives until the kernel has copied it, and the call takes nothing else.
    let calls = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    let calls = i32::try_from(calls).ok().filter(|fd| *fd >= 0).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just made it, for us alone; it closes when another program begins.
    let calls = unsafe { OwnedFd::from_raw_fd(calls) };
    let handed = [calls.as_fd()];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut note = SendAncillaryBuffer::new(&mut room);
    note.push(SendAncillaryMessage::ScmRights(&handed));
    sendmsg(tell, &[IoSlice::new(&[0])], &mut note, SendFlags::empty())?;
    Ok(())
}

/// What the new process has handed over.
fn receive(from: &UnixStream) -> io::Result<OwnedFd> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let (mut note, mut byte) = (RecvAncillaryBuffer::new(&mut room), [0]);
    recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut note, RecvFlags::CMSG_CLOEXEC)?;
    let handed = note.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut all) => all.next(),
        _ => None,
    });
    handed.ok_or_else(|| io::Error::from(ErrorKind::UnexpectedEof))
}

/// The filter: connect() is asked about. What opens a connection past it is refused as a kernel without it would, so that the
/// program takes the usual way: io_uring, and data that goes with the first segment (TCP Fast Open).
fn filter() -> Vec<sock_filter> {
    let statement = |code: u32, k: u32| sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let jump = |code: u32, k: u32, jt: u8, jf: u8| sock_filter { code: code as u16, jt, jf, k };
    let load = |at: usize| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at as u32);
    let equal = |k: u32, jt: u8, jf: u8| jump(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, k, jt, jf);
    let answer = |k: u32| statement(libc::BPF_RET | libc::BPF_K, k);
    let (number, architecture) =
        (std::mem::offset_of!(libc::seccomp_data, nr), std::mem::offset_of!(libc::seccomp_data, arch));
    // The lower half of an argument, of the processors that are known.
    let argument = |k: usize| load(std::mem::offset_of!(libc::seccomp_data, args) + 8 * k);
    let refuse = |error: i32| answer(libc::SECCOMP_RET_ERRNO | error as u32);
    let allow = answer(libc::SECCOMP_RET_ALLOW);
    let mut program = vec![load(architecture), equal(ARCHITECTURE, 1, 0), allow, load(number)];
    program.extend([equal(libc::SYS_connect as u32, 0, 1), answer(libc::SECCOMP_RET_USER_NOTIF)]);
    program.extend([equal(libc::SYS_io_uring_setup as u32, 0, 1), refuse(libc::ENOSYS)]);
    let flags_of = [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)];
    for (call, at) in flags_of {
        program.extend([
            equal(call as u32, 0, 4),
            argument(at),
            jump(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, libc::MSG_FASTOPEN as u32, 0, 1),
            refuse(libc::EOPNOTSUPP),
            allow,
        ]);
    }
    program.push(allow);
    program
}

/// What is to become of a call.
enum Verdict {
    /// It goes on as it was meant.
    GoOn,
    /// It is done, with this error of the system's or none (0).
    Done(i32),
}

/// What answers for a program's calls.
struct Watch {
    calls: OwnedFd,
    hosts: Vec<SocketAddr>,
    near: Vec<SocketAddr>,
    tell: Sender<Result<SocketAddr, String>>,
    /// Whether it carries a connection already.
    carries: bool,
}

impl Watch {
    fn run(mut self, unwanted: &AtomicBool) {
        while !unwanted.load(Ordering::Relaxed) {
            let mut fds = [PollFd::new(self.calls.as_fd(), PollFlags::POLLIN)];
            match poll(&mut fds, PollTimeout::from(LOOK)) {
                Ok(1) if fds[0].revents().is_some_and(|r| r.contains(PollFlags::POLLIN)) => {}
                // The last of those who have the filter is gone.
                Ok(1) => return,
                _ => continue,
            }
            // SAFETY: plain numbers, for which zero is a value, and which the kernel wants to find so.
            let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
            // SAFETY: the structure is what this call fills in.
            let came =
                unsafe { libc::ioctl(self.calls.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) };
            // Who was killed meanwhile needs no answer.
            if came < 0 {
                continue;
            }
            let verdict = self.judge(&call);
            let mut answer = libc::seccomp_notif_resp { id: call.id, val: 0, error: 0, flags: 0 };
            match verdict {
                Verdict::GoOn => answer.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
                Verdict::Done(error) => answer.error = -error,
            }
            // SAFETY: the structure is what this call reads.
            unsafe { libc::ioctl(self.calls.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) };
        }
    }

    fn judge(&mut self, call: &libc::seccomp_notif) -> Verdict {
        let Ok(Some(to)) = whom(call) else { return Verdict::GoOn };
        let canonical = SocketAddr::new(to.ip().to_canonical(), to.port());
        if !self.hosts.contains(&canonical) {
            return Verdict::GoOn;
        }
        match self.carry(call, to) {
            Ok(verdict) => verdict,
            Err(error) => {
                let _ = self.tell.send(Err(format!("its connection cannot be taken over: {error}")));
                Verdict::Done(libc::EACCES)
            }
        }
    }

    /// Makes the connection to us, on the program's own socket.
    fn carry(&mut self, call: &libc::seccomp_notif, to: SocketAddr) -> io::Result<Verdict> {
        let process = rustix::process::Pid::from_raw(leader(call.pid)? as i32).ok_or(ErrorKind::NotFound)?;
        let process = pidfd_open(process, PidfdFlags::empty())?;
        let socket = pidfd_getfd(&process, call.data.args[0] as i32, PidfdGetfdFlags::empty())?;
        // That process and that call are still the ones that were asked about.
        // SAFETY: the call reads a number of this size.
        let valid = unsafe {
            libc::ioctl(self.calls.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const call.id)
        };
        if valid < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = SockRef::from(&socket);
        if socket.r#type()? != Type::STREAM {
            return Ok(Verdict::GoOn);
        }
        // One connection at a time to a server.
        if self.carries {
            return Ok(Verdict::Done(libc::ECONNREFUSED));
        }
        // An IPv6 socket is as good for an IPv4 host whose address it was given so.
        let near = self
            .near
            .iter()
            .find(|near| near.is_ipv4() == to.is_ipv4())
            .ok_or(ErrorKind::AddrNotAvailable)?;
        let done = match socket.connect(&SockAddr::from(*near)) {
            Ok(()) => 0,
            Err(error) => match error.raw_os_error() {
                Some(libc::EINPROGRESS) => libc::EINPROGRESS,
                _ => return Err(error),
            },
        };
        let from = socket.local_addr()?.as_socket().ok_or(ErrorKind::AddrNotAvailable)?;
        self.carries = true;
        let _ = self.tell.send(Ok(from));
        Ok(Verdict::Done(done))
    }
}

/// Whom a call of connect() is for, if it is for somebody with an address of IP.
fn whom(call: &libc::seccomp_notif) -> io::Result<Option<SocketAddr>> {
    let [_, at, size, ..] = call.data.args;
    let memory = File::open(format!("/proc/{}/mem", call.pid))?;
    // SAFETY: the closure writes no more than there is room for, and says how much.
    let ((), address) = unsafe {
        SockAddr::try_init(|into, room| {
            let wanted = (size as usize).min(*room as usize);
            let bytes = std::slice::from_raw_parts_mut(into.cast::<u8>(), wanted);
            memory.read_exact_at(bytes, at)?;
            *room = wanted as libc::socklen_t;
            Ok(())
        })?
    };
    Ok(address.as_socket())
}

/// The process that a thread is one of.
fn leader(thread: u32) -> io::Result<u32> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status"))?;
    let leader = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
    leader.ok_or_else(|| ErrorKind::InvalidData.into())
}
