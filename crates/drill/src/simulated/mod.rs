//! The simulated stack in virtual time: an [`truckee_tcp::Endpoint`] with sockets above it.
//!
//! What it is not: it knows one connection at a time, and its window does not mind whether its application reads.

mod connection;
mod ending;
mod settings;
mod wire;

use crate::error::Error;
use crate::script::{Argument, Call, Packet, Script};
use crate::target::{Answer, Info, Refusal, Seen, Target};
use connection::Connection;
use ending::Ending;
use settings::Settings;
use std::collections::{BTreeMap, VecDeque};
use truckee_tcp::{Span, Time};

/// So many timers at one instant are a stack that never waits.
const MOST_AT_ONCE: usize = 100_000;

/// A socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Socket {
    kind: Kind,
    blocks: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    /// Neither.
    #[default]
    Fresh,
    /// Takes connections.
    Listening,
    /// Is one.
    Connected,
}

/// A call that has not returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    Accept(i64),
    Connect,
    Read(u64),
}

/// The simulated stack.
#[derive(Debug)]
pub struct Simulated {
    settings: Settings,
    now: Time,
    sockets: BTreeMap<i64, Socket>,
    connection: Option<Connection>,
    /// Whether an application has taken it.
    accepted: bool,
    sent: VecDeque<Seen>,
    pending: Option<Pending>,
    returned: Option<(Time, Answer)>,
}

impl Simulated {
    /// One for a script, of a stack of today; `overrides` are keys of a scenario's flow, such as
    /// `("flow.sender", "cubic")`.
    ///
    /// # Errors
    /// The script wants a setting that there is not, or the overrides are wrong.
    pub fn new(script: &Script, overrides: &[(String, String)]) -> Result<Self, Error> {
        let mut settings = Settings::new(overrides, script.offload);
        for setting in &script.settings {
            settings.take(&setting.name, &setting.value).map_err(|why| Error::Script {
                name: script.name.clone(),
                line: setting.line,
                why,
            })?;
        }
        // What is wrong with them is said before anything happens.
        settings.flow(settings::Agreed {
            mss: settings::MSS,
            sack: true,
            timestamps: true,
            scaling: true,
            ecn: truckee_tcp::stack::Ecn::Off,
        })?;
        Ok(Self {
            settings,
            now: Time::ZERO,
            sockets: BTreeMap::new(),
            connection: None,
            accepted: false,
            sent: VecDeque::new(),
            pending: None,
            returned: None,
        })
    }

    /// Everything that follows at once from what has just happened.
    fn settle(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.transmit(self.now, &mut self.sent);
        }
        if self.returned.is_none()
            && let Some(answer) = self.pending.and_then(|pending| self.answer(pending))
        {
            self.pending = None;
            self.returned = Some((self.now, answer));
        }
    }

    /// What a call comes to by now.
    fn answer(&mut self, pending: Pending) -> Option<Answer> {
        let connection = self.connection.as_mut()?;
        match (connection.ended(), pending) {
            (Some(Ending::Refused), _) => return Some(Answer::failed("ECONNREFUSED")),
            (Some(Ending::Reset), _) => return Some(Answer::failed("ECONNRESET")),
            _ => {}
        }
        match pending {
            Pending::Accept(fd) if connection.established() && !self.accepted => {
                self.accepted = true;
                self.sockets.insert(fd, Socket { kind: Kind::Connected, blocks: true });
                Some(Answer::Returned(fd, None))
            }
            Pending::Connect if connection.established() => Some(Answer::DONE),
            Pending::Read(most) => connection.read(most).map(|bytes| Answer::Returned(bytes as i64, None)),
            _ => None,
        }
    }

    /// The answer now, or that the call waits, or EAGAIN of a socket that does not.
    fn or_wait(&mut self, pending: Pending, blocks: bool, error: &str) -> Answer {
        match self.answer(pending) {
            Some(answer) => answer,
            None if blocks => {
                self.pending = Some(pending);
                Answer::Waits
            }
            None => Answer::failed(error),
        }
    }

    /// Lets the next thing happen that is due by `until`; whether there was one.
    fn step(&mut self, until: Time) -> bool {
        let Some(at) = self.connection.as_ref().and_then(Connection::next).filter(|&at| at <= until) else {
            return false;
        };
        self.now = self.now.max(at);
        if let Some(connection) = &mut self.connection {
            connection.on_time(self.now);
        }
        self.settle();
        true
    }

    /// Lets time pass until nothing is due by `until`, or, if `one` segment is asked for, until there is one.
    fn pass(&mut self, until: Time, one: bool) {
        let (mut instant, mut steps) = (self.now, 0);
        while steps < MOST_AT_ONCE {
            let enough = one && !self.sent.is_empty();
            if enough || !self.step(until) {
                return;
            }
            steps = if self.now == instant { steps + 1 } else { 0 };
            instant = self.now;
        }
    }

    fn socket(&self, fd: i64) -> Result<Socket, Answer> {
        self.sockets.get(&fd).copied().ok_or_else(|| Answer::failed("EBADF"))
    }

    fn called(&mut self, call: &Call) -> Result<Answer, Refusal> {
        if call.name == "socket" {
            let fd = call.result.filter(|&fd| fd >= 0).unwrap_or(3);
            self.sockets.insert(fd, Socket { kind: Kind::Fresh, blocks: true });
            return Ok(Answer::Returned(fd, None));
        }
        let Some(&Argument::Number(fd)) = call.arguments.first() else {
            return Err(format!("{}: the first argument is no file descriptor", call.name));
        };
        let socket = match self.socket(fd) {
            Ok(socket) => socket,
            Err(answer) => return Ok(answer),
        };
        self.call_of(call, fd, socket)
    }

    fn call_of(&mut self, call: &Call, fd: i64, socket: Socket) -> Result<Answer, Refusal> {
        match call.name.as_str() {
            "bind" => Ok(Answer::DONE),
            "listen" => {
                self.sockets.insert(fd, Socket { kind: Kind::Listening, ..socket });
                Ok(Answer::DONE)
            }
            "accept" => {
                let new = call.result.filter(|&fd| fd >= 0).unwrap_or(fd + 1);
                Ok(self.or_wait(Pending::Accept(new), socket.blocks, "EAGAIN"))
            }
            "connect" => self.connect(fd, socket),
            "fcntl" => self.fcntl(call, fd, socket),
            "setsockopt" => self.set_option(call),
            "read" | "recv" | "write" | "send" => self.transfer(call, socket),
            "shutdown" | "close" => {
                if let Some(connection) = self.connection.as_mut().filter(|_| socket.kind == Kind::Connected)
                {
                    let both = call.name == "close" || word(call, 1).contains(&"SHUT_RDWR");
                    if both || word(call, 1).contains(&"SHUT_WR") {
                        connection.close(both, self.now, &mut self.sent);
                    }
                }
                if call.name == "close" {
                    self.sockets.remove(&fd);
                }
                Ok(Answer::DONE)
            }
            name => Err(format!("the simulated stack has no call {name}")),
        }
    }

    fn connect(&mut self, fd: i64, socket: Socket) -> Result<Answer, Refusal> {
        if self.connection.is_some() {
            return Ok(match self.answer(Pending::Connect) {
                Some(_) => Answer::failed("EISCONN"),
                None => Answer::failed("EALREADY"),
            });
        }
        self.connection = Some(Connection::open(&self.settings, self.now).map_err(|e| e.to_string())?);
        self.accepted = true;
        self.sockets.insert(fd, Socket { kind: Kind::Connected, ..socket });
        Ok(self.or_wait(Pending::Connect, socket.blocks, "EINPROGRESS"))
    }

    fn fcntl(&mut self, call: &Call, fd: i64, socket: Socket) -> Result<Answer, Refusal> {
        match word(call, 1).first().copied() {
            // O_RDWR, and O_NONBLOCK where it does not wait.
            Some("F_GETFL") => Ok(Answer::Returned(if socket.blocks { 2 } else { 0o4002 }, None)),
            Some("F_SETFL") => {
                let blocks = !word(call, 2).contains(&"O_NONBLOCK");
                self.sockets.insert(fd, Socket { blocks, ..socket });
                Ok(Answer::DONE)
            }
            _ => Err("fcntl: expected F_GETFL or F_SETFL".to_owned()),
        }
    }

    fn set_option(&mut self, call: &Call) -> Result<Answer, Refusal> {
        let option = call.arguments.get(2).map(Argument::words).unwrap_or_default().join("|");
        let value = call.arguments.get(3);
        let number = match value {
            Some(Argument::List(list)) => match list.first() {
                Some(&Argument::Number(number)) => Some(number),
                _ => None,
            },
            _ => None,
        };
        match (option.as_str(), value, number) {
            // A port is free here.
            ("SO_REUSEADDR", ..) => {}
            ("TCP_NODELAY", _, Some(flag)) => {
                self.settings.nodelay = flag != 0;
                if let Some(connection) = &mut self.connection {
                    connection.set_nagle(flag == 0);
                }
            }
            ("TCP_QUICKACK", _, Some(0)) => {
                let connection = self.connection.as_mut().ok_or("TCP_QUICKACK: there is no connection")?;
                connection.end_quick_acks().map_err(|e| e.to_string())?;
            }
            ("TCP_CONGESTION", Some(Argument::Text(name)), _) => self.settings.set_congestion(name),
            ("SO_MAX_PACING_RATE", _, Some(rate)) if self.connection.is_none() => {
                self.settings.most_pace = Some(rate.clamp(1, i64::from(u32::MAX)) as u32);
            }
            // The kernel takes twice what is asked for, and offers half of that.
            ("SO_RCVBUF", _, Some(bytes)) => {
                self.settings.set_buffer(bytes.clamp(1, i64::from(u32::MAX / 2)) as u32);
            }
            _ => {
                let known = "SO_MAX_PACING_RATE (before a connection), SO_REUSEADDR, SO_RCVBUF, TCP_NODELAY, TCP_QUICKACK (0), TCP_CONGESTION";
                return Err(format!(
                    "the simulated stack has no option {option} of that value; it has {known}"
                ));
            }
        }
        Ok(Answer::DONE)
    }

    fn transfer(&mut self, call: &Call, socket: Socket) -> Result<Answer, Refusal> {
        let Some(&Argument::Number(bytes)) = call.arguments.get(2) else {
            return Err(format!("{}: expected a number of bytes", call.name));
        };
        let bytes = u64::try_from(bytes).map_err(|_| format!("{}: {bytes} bytes", call.name))?;
        let Some(connection) = self.connection.as_mut().filter(|_| socket.kind == Kind::Connected) else {
            return Ok(Answer::failed("ENOTCONN"));
        };
        if matches!(call.name.as_str(), "read" | "recv") {
            return Ok(self.or_wait(Pending::Read(bytes), socket.blocks, "EAGAIN"));
        }
        if connection.closed() || connection.ended().is_some() {
            return Ok(Answer::failed("EPIPE"));
        }
        connection.write(bytes);
        Ok(Answer::Returned(bytes as i64, None))
    }
}

/// The constants of an argument, by name.
fn word(call: &Call, at: usize) -> Vec<&str> {
    call.arguments.get(at).map(Argument::words).unwrap_or_default()
}

impl Target for Simulated {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn now(&self) -> Time {
        self.now
    }

    fn wait(&mut self, until: Time) -> Result<(), Error> {
        self.pass(until, false);
        self.now = self.now.max(until);
        Ok(())
    }

    fn inject(&mut self, packet: &Packet) -> Result<Result<(), Refusal>, Error> {
        match &mut self.connection {
            Some(connection) => {
                connection.on_packet(&self.settings, packet, self.now, &mut self.sent)?;
            }
            None if Connection::is_syn(packet)
                && self.sockets.values().any(|s| s.kind == Kind::Listening) =>
            {
                self.connection = Some(Connection::accept(&self.settings, packet, self.now)?);
            }
            None => self.sent.extend(ending::refusal(packet).map(|packet| Seen { at: self.now, packet })),
        }
        self.settle();
        Ok(Ok(()))
    }

    fn sent(&mut self, until: Time) -> Result<Option<Seen>, Error> {
        self.pass(until, true);
        if self.sent.is_empty() {
            self.now = self.now.max(until);
        }
        Ok(self.sent.pop_front())
    }

    fn call(&mut self, call: &Call) -> Result<Result<Answer, Refusal>, Error> {
        let answer = self.called(call);
        self.settle();
        Ok(answer)
    }

    fn waiting(&mut self) -> Result<Option<(Time, Answer)>, Error> {
        Ok(self.returned.take())
    }

    fn info(&mut self) -> Result<Result<Info, Refusal>, Error> {
        Ok(self.connection.as_ref().map(Connection::info).ok_or_else(|| "there is no connection".to_owned()))
    }

    fn lateness(&self) -> Span {
        Span::ZERO
    }
}
