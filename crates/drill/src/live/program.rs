//! Any stack behind a TUN device: a program that has the device as a descriptor and is asked on its standard input.
//!
//! It is started in the script's namespace, for one script, and is killed with all that it has started when that is over. The
//! script's end is a packet socket on the device. Not for: what is said on the lines, see [`super::protocol`].

use super::line::{Behind, Line, gone, tun};
use super::protocol::{self, Said};
use crate::error::Error;
use crate::run::{Report, run};
use crate::script::{Argument, Call, Packet, Script, Setting};
use crate::target::{Answer, Info, Refusal, Seen, Target};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::Duration;
use truckee_host::Error as HostError;
use truckee_host::device::Device;
use truckee_host::netns;
use truckee_host::program::{dies_with_us, not_run};
use truckee_host::punctual::{be_punctual, clock};
use truckee_host::rights::Raised;
use truckee_tcp::{Span, Time};

/// Where a program finds the number of its descriptor of the device.
const DEVICE: &str = "TRUCKEE_DEVICE";
/// So long a program has to begin, and so long to answer.
const BEGINS: Duration = Duration::from_secs(10);
const ANSWERS: Duration = Duration::from_secs(2);
/// A call that is to return at once has so long.
const AT_ONCE: Duration = Duration::from_millis(200);
/// Bytes of a program's line, at most.
const MOST: u64 = 4096;

/// Runs a script against the stack of a program: its name and arguments.
///
/// # Errors
/// No right, no TUN device; the program cannot be run, ends or says nothing; what it refuses.
pub fn drill(script: &Script, command: &[OsString]) -> Result<Report, Error> {
    netns::nameless(|| {
        let mut program = Program::new(script, command)?;
        run(script, &mut program)
    })?
}

/// A line that a program has said, and when.
type Spoken = (Time, String);

/// The stack of a program.
struct Program {
    line: Line,
    child: Child,
    asks: ChildStdin,
    says: Receiver<Vec<Spoken>>,
    /// What it has said that nobody has asked for yet.
    said: VecDeque<Spoken>,
    /// The connection used last.
    used: Option<i64>,
    /// Whether a call waits, and what it has come to.
    waits: bool,
    returned: Option<(Time, Answer)>,
    ended: bool,
}

impl Program {
    fn new(script: &Script, command: &[OsString]) -> Result<Self, Error> {
        if script.offload {
            let why = "--offload=on: a program hands over its segments one by one".to_owned();
            return Err(Error::Refused { name: script.name.clone(), line: 1, why });
        }
        be_punctual(true);
        let rights = Raised::live();
        let (tun, name) = tun(Behind::Program)?;
        let device = on_device(&name).map_err(|e| gone("open a packet socket on the TUN device", e))?;
        drop(rights);
        let (mut child, asks, says) = start(command, tun)?;
        let says = match listen(says) {
            Ok(says) => says,
            Err(error) => {
                end(&mut child);
                return Err(gone("start a thread", error));
            }
        };
        let mut made = Self {
            line: Line::new(device),
            child,
            asks,
            says,
            said: VecDeque::new(),
            used: None,
            waits: false,
            returned: None,
            ended: false,
        };
        match made.hear(BEGINS)? {
            Said::Ready => {}
            other => return Err(made.strange(&format!("{other:?}"), "\"ready\" as its first line")),
        }
        for setting in &script.settings {
            made.set(script, setting)?;
        }
        made.line.begin_anew();
        Ok(made)
    }

    fn set(&mut self, script: &Script, setting: &Setting) -> Result<(), Error> {
        self.ask(&format!("setting {} {}", setting.name, setting.value))?;
        match self.hear(ANSWERS)? {
            Said::Came(Answer::Returned(0, None)) => Ok(()),
            Said::Refused(why) => {
                let why = format!("net.ipv4.{}={}: {why}", setting.name, setting.value);
                Err(Error::Refused { name: script.name.clone(), line: setting.line, why })
            }
            other => Err(self.strange(&format!("{other:?}"), "0, or \"refused\" and why")),
        }
    }

    fn ask(&mut self, line: &str) -> Result<(), Error> {
        match writeln!(self.asks, "{line}").and_then(|()| self.asks.flush()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.is_over()),
        }
    }

    /// The next thing that it says; what a call that waits has come to is kept until it is asked for.
    fn hear(&mut self, patience: Duration) -> Result<Said, Error> {
        loop {
            let Some((at, line)) = self.said.pop_front() else {
                match self.says.recv_timeout(patience) {
                    Ok(said) => self.said.extend(said),
                    Err(RecvTimeoutError::Disconnected) => return Err(self.is_over()),
                    Err(RecvTimeoutError::Timeout) => {
                        let why = format!("the program has said nothing for {} s", patience.as_secs());
                        return Err(Error::ended(why));
                    }
                }
                continue;
            };
            match protocol::said(&line) {
                Some(Said::Returned(answer)) if self.waits => self.keep(at, answer),
                Some(Said::Returned(_)) | None => return Err(self.strange(&line, "an answer")),
                Some(said) => return Ok(said),
            }
        }
    }

    fn keep(&mut self, at: Time, answer: Answer) {
        self.waits = false;
        self.returned = Some((Time::at(at - self.line.begin()), answer));
    }

    fn strange(&self, line: &str, expected: &str) -> Error {
        Error::ended(format!("the program has said {line:?}; expected {expected}"))
    }

    /// It is gone: how.
    fn is_over(&mut self) -> Error {
        self.ended = true;
        // It has closed its lines, and ends, or is made to.
        let status = end(&mut self.child);
        Error::ended(format!("the program has ended ({status})"))
    }

    /// What has been said meanwhile.
    fn look(&mut self) -> Result<(), Error> {
        if self.said.is_empty() {
            match self.says.try_recv() {
                Ok(said) => self.said.extend(said),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return Err(self.is_over()),
            }
        }
        let Some((at, line)) = self.said.pop_front() else { return Ok(()) };
        match protocol::said(&line) {
            Some(Said::Returned(answer)) if self.waits => {
                self.keep(at, answer);
                Ok(())
            }
            _ => Err(self.strange(&line, "nothing, or what the call that waits has come to")),
        }
    }

    /// A call that waits although it is to return at once may be about to.
    fn settle(&mut self) -> Result<Answer, Error> {
        let begun = clock();
        loop {
            if let Some((_, answer)) = self.returned.take() {
                return Ok(answer);
            }
            let passed = Duration::from(clock() - begun);
            let Some(left) = AT_ONCE.checked_sub(passed) else { return Ok(Answer::Waits) };
            self.line.pass(self.line.now() + Span::us(200).min(left.into()), false)?;
            self.look()?;
        }
    }
}

/// A packet socket on a device: what the stack sends comes here, and what is sent here comes to it.
fn on_device(name: &str) -> io::Result<File> {
    let index = Device::named(name).and_then(|device| device.index()).map_err(io::Error::other)?;
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(0)))?;
    socket.set_nonblocking(true)?;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_IP as u16).to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let size = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is of the socket's family, and its size is given.
    let done = unsafe { libc::bind(socket.as_raw_fd(), std::ptr::from_ref(&address).cast(), size) };
    Errno::result(done)?;
    Ok(File::from(OwnedFd::from(socket)))
}

/// Starts the program, at the head of a group of its own, with the device.
fn start(command: &[OsString], tun: OwnedFd) -> Result<(Child, ChildStdin, ChildStdout), Error> {
    let Some((name, arguments)) = command.split_first() else {
        let why = "no program; expected one behind --, such as -- ./my-stack".to_owned();
        return Err(HostError::Refused { place: "--target program".to_owned(), why }.into());
    };
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    dies_with_us(&mut command);
    command.env(DEVICE, tun.as_raw_fd().to_string());
    let keep = move || fcntl(&tun, FcntlArg::F_SETFD(FdFlag::empty())).map(drop).map_err(io::Error::from);
    // SAFETY: between fork and exec it makes one system call, takes no memory and no lock.
    unsafe { command.pre_exec(keep) };
    let mut child =
        command.spawn().map_err(|e| Error::Host(not_run(name.to_string_lossy().into_owned(), &e)))?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(asks), Some(says)) => Ok((child, asks, says)),
        _ => {
            end(&mut child);
            Err(gone("speak to the program", io::Error::other("it has no lines")))
        }
    }
}

/// What the program says and when, on a thread that ends with it: lines that come together are told of together.
fn listen(says: ChildStdout) -> io::Result<Receiver<Vec<Spoken>>> {
    let (tell, said) = channel();
    let hear = move || {
        let mut lines = BufReader::new(says);
        loop {
            let mut together = Vec::new();
            while together.is_empty() || lines.buffer().contains(&b'\n') {
                let mut line = String::new();
                match (&mut lines).take(MOST).read_line(&mut line) {
                    Ok(1..) => together.push((clock(), line.trim_end().to_owned())),
                    _ => {
                        let _ = tell.send(together); // the last words; whoever asked may be gone
                        return;
                    }
                }
            }
            if tell.send(together).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().spawn(hear)?;
    Ok(said)
}

/// Ends a program and all that it has started, unless it has moved elsewhere; how it ended.
fn end(child: &mut Child) -> String {
    // One that is about to end by itself may say how.
    for _ in 0..20 {
        match child.try_wait() {
            Ok(Some(status)) => {
                let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
                return status.to_string();
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(_) => break,
        }
    }
    let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    let _ = child.wait();
    "it had closed its lines, and was killed".to_owned()
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.ended {
            let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

impl Target for Program {
    fn name(&self) -> &'static str {
        "program"
    }

    fn now(&self) -> Time {
        self.line.now()
    }

    fn wait(&mut self, until: Time) -> Result<(), Error> {
        self.line.pass(until, false)?;
        self.look()
    }

    fn inject(&mut self, packet: &Packet) -> Result<Result<(), Refusal>, Error> {
        self.line.inject(packet)
    }

    fn sent(&mut self, until: Time) -> Result<Option<Seen>, Error> {
        let seen = self.line.sent(until)?;
        self.look()?;
        if seen.is_some() {
            return Ok(seen);
        }
        // It may have had no processor: how late it is to answer tells, and widens what is tolerated.
        let asked = self.now();
        self.ask("there")?;
        match self.hear(ANSWERS)? {
            Said::Came(Answer::Returned(0, None)) => {}
            other => return Err(self.strange(&format!("{other:?}"), "0")),
        }
        let now = self.now();
        self.line.was_late(now - asked);
        self.line.sent(now)
    }

    fn call(&mut self, call: &Call) -> Result<Result<Answer, Refusal>, Error> {
        let line = match protocol::line(call) {
            Ok(line) => line,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if let (true, Some(&Argument::Number(fd))) = (call.name != "accept", call.arguments.first()) {
            self.used = Some(fd);
        }
        // Before it is asked, since it may answer twice at once.
        let waited = std::mem::replace(&mut self.waits, true);
        self.ask(&line)?;
        let answer = match self.hear(ANSWERS)? {
            Said::Came(Answer::Waits) if call.until.is_none() => self.settle()?,
            Said::Came(Answer::Waits) => Answer::Waits,
            Said::Came(answer) => {
                self.waits = waited;
                answer
            }
            Said::Refused(why) => {
                self.waits = waited;
                return Ok(Err(why));
            }
            other => return Err(self.strange(&format!("{other:?}"), "an answer to a call")),
        };
        if let ("accept", &Answer::Returned(fd, None)) = (call.name.as_str(), &answer) {
            self.used = Some(fd);
        }
        self.line.read()?;
        Ok(Ok(answer))
    }

    fn waiting(&mut self) -> Result<Option<(Time, Answer)>, Error> {
        self.look()?;
        if let Some((_, Answer::Returned(fd, None))) = self.returned.as_ref().filter(|_| self.used.is_none())
        {
            self.used = Some(*fd);
        }
        Ok(self.returned.take())
    }

    fn info(&mut self) -> Result<Result<Info, Refusal>, Error> {
        let Some(fd) = self.used else { return Ok(Err("there is no connection".to_owned())) };
        self.ask(&format!("info {fd}"))?;
        match self.hear(ANSWERS)? {
            Said::Info(told) => Ok(protocol::info(told)),
            Said::Refused(why) => Ok(Err(why)),
            other => {
                Err(self.strange(&format!("{other:?}"), "\"info\" and NAME=VALUE, or \"refused\" and why"))
            }
        }
    }

    fn lateness(&self) -> Span {
        self.line.lateness()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_come_together_are_told_of_together() {
        let shell = Command::new("sh").args(["-c", "printf '3\\n4\\n5'"]).stdout(Stdio::piped()).spawn();
        let mut shell = shell.unwrap();
        let said = listen(shell.stdout.take().unwrap()).unwrap();
        let lines: Vec<_> = said.recv().unwrap().into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, ["3", "4"]);
        assert_eq!(said.recv().unwrap().len(), 1, "what has no end of line is told of at the end");
        shell.wait().unwrap();
    }
}
