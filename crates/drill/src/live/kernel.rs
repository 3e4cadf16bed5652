//! The running kernel's stack: sockets in the namespace, and the TUN device whose other end is the script's.

use super::info;
use super::line::{Behind, Line, gone, set, tun};
use super::socket;
use crate::error::Error;
use crate::run::{Report, run};
use crate::script::{Call, Packet, Script};
use crate::target::{Answer, Info, Refusal, Seen, Target};
use socket2::Socket;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::Duration;
use truckee_host::netns;
use truckee_host::punctual::{be_punctual, clock};
use truckee_host::rights::Raised;
use truckee_tcp::{Span, Time};

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
    line: Line,
    /// By the script's file descriptors; the one used last that is, or was to be, a connection.
    sockets: BTreeMap<i64, Arc<Socket>>,
    used: Option<i64>,
    waiting: Option<Waiting>,
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
                let (name, line) = (script.name.clone(), setting.line);
                // Another kernel may have it, or take that value.
                match e.kind() {
                    ErrorKind::NotFound | ErrorKind::InvalidInput => Error::Refused { name, line, why },
                    _ => Error::Script { name, line, why },
                }
            })?;
        }
        let (device, _) = tun(Behind::Kernel { offload: script.offload })?;
        Ok(Self { line: Line::new(device.into()), sockets: BTreeMap::new(), used: None, waiting: None })
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
        let begin = self.line.begin();
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

impl Target for Kernel {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn now(&self) -> Time {
        self.line.now()
    }

    fn wait(&mut self, until: Time) -> Result<(), Error> {
        self.line.pass(until, false)
    }

    fn inject(&mut self, packet: &Packet) -> Result<Result<(), Refusal>, Error> {
        self.line.inject(packet)
    }

    fn sent(&mut self, until: Time) -> Result<Option<Seen>, Error> {
        self.line.sent(until)
    }

    fn call(&mut self, call: &Call) -> Result<Result<Answer, Refusal>, Error> {
        let answer = self.called(call);
        self.line.read()?;
        Ok(answer)
    }

    fn waiting(&mut self) -> Result<Option<(Time, Answer)>, Error> {
        let Some(waiting) = &self.waiting else { return Ok(None) };
        let (at, answer, new) = match waiting.returned.try_recv() {
            Ok(returned) => returned,
            Err(TryRecvError::Empty) => return Ok(None),
            Err(TryRecvError::Disconnected) => {
                let source = std::io::Error::other("its thread is gone");
                return Err(gone("make a call", source));
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
        self.line.lateness()
    }
}
