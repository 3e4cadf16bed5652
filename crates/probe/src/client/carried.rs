//! What a program and a server say to each other: as usual until it is the turn that the prober's ACKs are for. What the
//! program says then is handed over whole, to be asked over a connection that has been taken over.
//!
//! Not for: how the program's connection comes to us (see [`super::watched`]).

use super::Program;
use super::watched::Watched;
use crate::fault::Fault;
use crate::fetch::{AMPLE, Answer};
use crate::http::{Head, LONGEST_HEAD};
use crate::line::{self, Bound, Manner};
use crate::sockets;
use crate::stop::Stop;
use crate::target::Target;
use crate::{Error, Options};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};
use truckee_scenario::Cancel;

/// What a program says is whole when it has said nothing more for so long.
const QUIET: Duration = Duration::from_millis(200);
/// It may not be longer, bytes: it goes in small segments, all at once, as many as any server's window takes (RFC 6928: ten
/// full ones).
const MOST_ASKED: usize = 8 << 10;
/// So long one waits for either to say something, ms.
const LOOK: u16 = 20;

/// A program whose connection has come to us.
pub struct Carried {
    watched: Watched,
    /// The program's end.
    stream: TcpStream,
    turn: u32,
    /// How often it has spoken, and whether it has heard the server since.
    said: u32,
    heard: bool,
}

/// What a program asks.
#[derive(Debug, Default)]
pub struct Asked {
    /// Its words.
    pub request: Vec<u8>,
    /// Whether the server has said something before.
    pub spoken: bool,
}

/// What happens next.
enum Step {
    Nothing,
    Program(Vec<u8>),
    Server(Vec<u8>),
    ProgramEnds,
    ServerEnds,
}

impl Carried {
    /// Starts a program, and waits until it connects to one of these.
    pub fn start(
        program: &Program,
        hosts: &[SocketAddr],
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<Self, Stop> {
        let mut watched = Watched::start(&program.command, hosts.to_vec())?;
        let until = Instant::now() + patience;
        loop {
            if let Some(stream) = watched.connection()? {
                return Ok(Self { watched, stream, turn: program.turn, said: 0, heard: false });
            }
            let whom = hosts.first().map(SocketAddr::to_string).unwrap_or_default();
            if let Some(status) = watched.ended() {
                return Err(
                    Fault::Program(format!("it ended ({status}) without a connection to {whom}")).into()
                );
            }
            let left = line::slice(until, cancel)?;
            let seconds = patience.as_secs();
            let none = || Fault::Program(format!("it made no connection to {whom} in {seconds} s"));
            std::thread::sleep(left.ok_or_else(none)?.min(Duration::from_millis(LOOK.into())));
        }
    }

    /// Lets them talk until it is the program's turn, and takes what it asks then. The server is not told of that.
    pub fn until_its_turn(
        &mut self,
        server: &mut TcpStream,
        manner: &Manner,
        cancel: &Cancel,
    ) -> Result<Asked, Stop> {
        let (mut asked, mut last) = (Asked::default(), Instant::now());
        while asked.request.is_empty() || last.elapsed() < QUIET {
            if line::slice(manner.until, cancel)?.is_none() && asked.request.is_empty() {
                let seconds = manner.patience.as_secs();
                let why = format!(
                    "it has not said its part {} in {seconds} s, but {} of them",
                    self.turn, self.said
                );
                return Err(Fault::Program(why).into());
            }
            match self.step(server, "before its turn")? {
                Step::Nothing => {}
                Step::Program(words) => {
                    self.speaks(&words, server, &mut asked)?;
                    last = Instant::now();
                }
                Step::Server(bytes) => {
                    asked.spoken = true;
                    self.hear(&bytes)?;
                }
                Step::ServerEnds => return Err(Fault::Closed("before the program's turn").into()),
                Step::ProgramEnds if asked.request.is_empty() => return Err(self.left()),
                Step::ProgramEnds => break,
            }
        }
        Ok(asked)
    }

    /// Nothing is asked for so long, what the server still says is heard, and what the program adds is asked too.
    pub fn hold(
        &mut self,
        asked: &mut Asked,
        how_long: Duration,
        server: &mut TcpStream,
        cancel: &Cancel,
    ) -> Result<(), Stop> {
        let until = Instant::now() + how_long;
        while line::slice(until, cancel)?.is_some() {
            match self.step(server, "before the program's request")? {
                Step::Program(words) => self.speaks(&words, server, asked)?,
                Step::Server(bytes) => self.hear(&bytes)?,
                Step::ServerEnds => return Err(Fault::Closed("before the program's request").into()),
                Step::Nothing | Step::ProgramEnds => {}
            }
        }
        Ok(())
    }

    /// The program says something, which is passed on if it is not its turn yet.
    fn speaks(&mut self, words: &[u8], server: &mut TcpStream, asked: &mut Asked) -> Result<(), Fault> {
        if self.said == 0 || (self.heard && self.said < self.turn) {
            self.said += 1;
        }
        self.heard = false;
        if self.said < self.turn {
            // A server that has closed by now shows so when it is read.
            let _ = server.write_all(words);
            return Ok(());
        }
        asked.request.extend(words);
        if asked.request.len() > MOST_ASKED {
            return Err(Fault::Program(format!("what it asks is longer than {MOST_ASKED} bytes")));
        }
        Ok(())
    }

    /// It hears the server.
    fn hear(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.heard = true;
        self.stream.write_all(bytes).map_err(|_| self.left())
    }

    /// It has gone.
    fn left(&mut self) -> Stop {
        let how = self.watched.ended().map_or_else(String::new, |status| format!(" ({status})"));
        Fault::Program(format!("it ended its connection{how} before its part {}", self.turn)).into()
    }

    /// What either says, if they say something soon.
    fn step(&mut self, server: &mut TcpStream, when: &'static str) -> Result<Step, Stop> {
        let ready = {
            let wanted = PollFlags::POLLIN;
            let mut fds = [PollFd::new(self.stream.as_fd(), wanted), PollFd::new(server.as_fd(), wanted)];
            match poll(&mut fds, PollTimeout::from(LOOK)) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(e) => return Err(Error::system("wait for a program", e).into()),
            }
            fds.map(|fd| fd.any().unwrap_or(false))
        };
        let mut buffer = vec![0; 16 << 10];
        let [from_program, from_server] = ready;
        if from_program {
            return Ok(match self.stream.read(&mut buffer) {
                Ok(n @ 1..) => Step::Program(buffer[..n].to_vec()),
                _ => Step::ProgramEnds,
            });
        }
        if from_server {
            return match server.read(&mut buffer) {
                Ok(0) => Ok(Step::ServerEnds),
                Ok(n) => Ok(Step::Server(buffer[..n].to_vec())),
                Err(_) => Err(Fault::Reset(when).into()),
            };
        }
        Ok(Step::Nothing)
    }
}

/// One ordinary run of the program before any test: whether the server answers it, and whether there is enough of it.
pub fn ordinary(target: &Target, program: &Program, o: &Options, cancel: &Cancel) -> Result<Answer, Stop> {
    let hosts = target.addresses(o.family)?;
    let address = hosts[0];
    o.spare(address.ip())?;
    let mut carried = Carried::start(program, &hosts, o.patience, cancel)?;
    let manner = Manner::new(o.mss, o.patience);
    let mut server = Bound::new(address, &manner)?.connect(&manner)?;
    let rtt = sockets::known(&server).map_err(|e| Error::system("ask for a round-trip time", e))?.rtt;
    let asked = carried.until_its_turn(&mut server, &manner, cancel)?;
    let _ = server.write_all(&asked.request);
    let (until, seconds) = (Instant::now() + o.patience, o.patience.as_secs());
    let (mut text, mut bytes, mut ended) = (Vec::new(), 0, false);
    while bytes < AMPLE && !ended {
        if line::slice(until, cancel)?.is_none() {
            return Err(match bytes {
                0 => Fault::Stalled { seconds, after: "after the program's request" },
                _ => Fault::Slow { bytes, seconds },
            }
            .into());
        }
        match carried.step(&mut server, "in its answer")? {
            Step::Nothing => {}
            Step::Program(words) => drop(server.write_all(&words)),
            Step::Server(part) => {
                bytes += part.len() as u64;
                let room = LONGEST_HEAD.saturating_sub(text.len());
                text.extend(part.iter().take(room));
                // A program that has enough may have gone.
                ended = carried.hear(&part).is_err();
            }
            Step::ServerEnds if bytes == 0 => return Err(Fault::Closed("without an answer").into()),
            Step::ProgramEnds if bytes == 0 => return Err(carried.left()),
            Step::ServerEnds | Step::ProgramEnds => ended = true,
        }
    }
    // What a program asks need not be HTTP.
    let status = Head::read(&text).ok().flatten().map(|head| head.status);
    match status {
        Some(status) if !(200..300).contains(&status) => Err(Fault::Status(status).into()),
        _ => Ok(Answer { target: target.clone(), address, hosts, status, bytes, ended, rtt }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Both ends of a connection over the loopback.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener.accept().unwrap().0, far)
    }

    /// A program that says its parts one after the other, each when it has heard the server; and a server that says something
    /// after each that it hears, the first thing unasked. What the program asks in this turn, and what the server has heard.
    fn turn(wanted: u32, greeting: bool) -> (String, Vec<String>) {
        let ((stream, mut program), (mut ours, mut server)) = (pair(), pair());
        let watched = Watched::start(&["sleep".into(), "1000".into()], Vec::new()).unwrap();
        let mut carried = Carried { watched, stream, turn: wanted, said: 0, heard: false };
        let manner = Manner::new(None, truckee_testing::PATIENCE);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut part = [0; 64];
                if greeting && program.read(&mut part).is_err() {
                    return;
                }
                for word in ["one", "two", "three"] {
                    let _ = program.write_all(word.as_bytes());
                    if !matches!(program.read(&mut part), Ok(1..)) {
                        return;
                    }
                }
            });
            let heard = scope.spawn(move || {
                let (mut all, mut part) = (Vec::new(), [0; 64]);
                if greeting {
                    let _ = server.write_all(b"220");
                }
                while let Ok(n @ 1..) = server.read(&mut part) {
                    all.push(String::from_utf8_lossy(&part[..n]).into_owned());
                    let _ = server.write_all(b"250");
                }
                all
            });
            let asked = carried.until_its_turn(&mut ours, &manner, &Cancel::new()).unwrap();
            assert_eq!(asked.spoken, greeting || wanted > 1);
            drop((carried, ours));
            (String::from_utf8(asked.request).unwrap(), heard.join().unwrap())
        })
    }

    #[test]
    fn all_before_its_turn_is_exchanged_as_usual_and_what_it_asks_then_is_not() {
        assert_eq!(turn(1, false), ("one".into(), Vec::new()));
        assert_eq!(turn(1, true), ("one".into(), Vec::new()), "a greeting is no part of the program's");
        assert_eq!(turn(3, true), ("three".into(), vec!["one".into(), "two".into()]));
    }
}
