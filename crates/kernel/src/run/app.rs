//! What a flow's application does on real sockets: the sender connects and writes, the receiver accepts and reads. Data
//! is zeros; what of it went where and when, the path's books know. Not for: what a segment's fate was, or windows.
//!
//! A flow runs in threads of its own, blocked in the kernel nearly all of the time. [`Stop`] ends them whatever they
//! wait for.

use crate::Error;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;
use truckee_host::netns::Netns;
use truckee_host::punctual::clock;
use truckee_host::stack::SocketSettings;
use truckee_path::{FLOW_PORT, address};
use truckee_scenario::arrivals::Process;
use truckee_scenario::model::{App, Connections, Flow};
use truckee_tcp::Time;

/// Most that one write or read moves, bytes.
const CHUNK: usize = 64 << 10;
/// What a sender may have written and not sent, bytes: little of it is left when its application stops.
const UNSENT: u32 = 256 << 10;
/// A blocked write looks at the clock so often.
const PATIENCE: Duration = Duration::from_millis(50);
/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the threads of a run.
#[derive(Default)]
pub struct Stop {
    live: Mutex<Live>,
    turned: Condvar,
}

#[derive(Default)]
struct Live {
    stopped: bool,
    sockets: Vec<(usize, Socket)>,
    next: usize,
}

impl Stop {
    /// Ends everything: waits return, sockets are shut.
    pub fn all(&self) {
        let mut live = lock(&self.live);
        live.stopped = true;
        for (_, socket) in &live.sockets {
            // Closed at once, or the kernel would go on trying to deliver what nobody waits for.
            let _ = socket.set_linger(Some(Duration::ZERO));
            // One that is not connected yet, or no longer, needs none.
            let _ = socket.shutdown(Shutdown::Both);
        }
        drop(live);
        self.turned.notify_all();
    }

    /// Sleeps until `time`; whether the run still goes on then.
    fn sleep_until(&self, time: Time) -> bool {
        let mut live = lock(&self.live);
        while !live.stopped {
            let now = clock();
            if now >= time {
                return true;
            }
            let left = Duration::from(time - now);
            live = self.turned.wait_timeout(live, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    fn stopped(&self) -> bool {
        lock(&self.live).stopped
    }

    /// Has the socket shut when the run ends, until the guard goes.
    fn guard<'a>(&'a self, socket: &Socket) -> io::Result<Guard<'a>> {
        let copy = socket.try_clone()?;
        let mut live = lock(&self.live);
        if live.stopped {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let number = live.next;
        live.next += 1;
        live.sockets.push((number, copy));
        Ok(Guard { stop: self, number })
    }
}

struct Guard<'a> {
    stop: &'a Stop,
    number: usize,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        lock(&self.stop.live).sockets.retain(|(number, _)| *number != self.number);
    }
}

/// How far a flow is.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// When it opened its first connection.
    pub started: Option<Time>,
    /// When it closed its last one, having done all it had to.
    pub finished: Option<Time>,
    /// Connections closed after all their data.
    pub connections: u64,
    /// What ended it before its time.
    pub failure: Option<String>,
}

/// One flow and where it runs.
pub struct Ends<'a> {
    /// Its number in the scenario.
    pub index: usize,
    /// The flow.
    pub flow: &'a Flow,
    /// Where data is sent from.
    pub from: &'a Netns,
    /// Where it goes.
    pub to: &'a Netns,
    /// What its sockets are set to.
    pub sockets: SocketSettings,
    /// The congestion control of those that send data, by its name in the kernel.
    pub control: String,
    /// When it starts.
    pub start: Time,
    /// When its application stops writing.
    pub stop_at: Time,
    /// Gives the arrivals of segments.
    pub process: Option<Process>,
    progress: Mutex<Progress>,
    /// Where its receiver waits; none where a real server takes its place.
    listener: Option<Socket>,
    /// Lanes that have not ended.
    lanes: AtomicUsize,
}

impl<'a> Ends<'a> {
    /// A flow between these namespaces; `times`: when it starts, and when its application stops writing.
    pub fn new(
        (index, flow): (usize, &'a Flow),
        (from, to): (&'a Netns, &'a Netns),
        (sockets, control): (SocketSettings, String),
        (start, stop_at): (Time, Time),
        process: Option<Process>,
    ) -> Self {
        let (progress, listener, lanes) = Default::default();
        Self { index, flow, from, to, sockets, control, start, stop_at, process, progress, listener, lanes }
    }
}

impl Ends<'_> {
    /// How far it is.
    pub fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }

    /// Makes the flow's listening socket; nothing else happens before [`Ends::run`].
    pub fn listen(&mut self) -> Result<(), Error> {
        let here = receiver(self.index, self.flow);
        let listen = || -> Result<Socket, Error> {
            let system = |e| Error::system(format!("listen at {here} for flow \"{}\"", self.flow.name), e);
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).map_err(system)?;
            self.sockets.apply(&socket)?;
            socket.bind(&here.into()).and_then(|()| socket.listen(BACKLOG)).map_err(system)?;
            Ok(socket)
        };
        self.listener = Some(self.to.enter(listen)??);
        Ok(())
    }

    /// Starts the flow's threads; they end by themselves or by `stop`.
    pub fn run<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, stop: &'scope Stop) {
        if self.listener.is_none() {
            return; // a real server and client have no threads here
        }
        scope.spawn(move || self.accept(scope, stop));
        let shares = self.shares();
        self.lanes.store(shares.len(), Ordering::Relaxed);
        for files in shares {
            scope.spawn(move || {
                if !stop.sleep_until(self.start) {
                    return;
                }
                lock(&self.progress).started.get_or_insert_with(clock);
                match self.lane(files, stop) {
                    Ok(()) => self.lane_done(),
                    Err(error) if !stop.stopped() => {
                        lock(&self.progress).failure.get_or_insert_with(|| error.to_string());
                    }
                    Err(_) => {}
                }
            });
        }
    }

    /// How many files each lane transfers; one lane of no files for the other applications.
    fn shares(&self) -> Vec<u64> {
        match self.flow.app {
            App::Files { count, connections: Connections::Parallel(n), .. } => {
                let lanes = u64::from(n).min(count).max(1);
                (0..lanes).map(|k| count / lanes + u64::from(k < count % lanes)).collect()
            }
            App::Files { count, .. } => vec![count],
            App::File { .. } => vec![1],
            _ => vec![0],
        }
    }

    fn lane_done(&self) {
        if self.lanes.fetch_sub(1, Ordering::AcqRel) == 1 {
            lock(&self.progress).finished = Some(clock());
        }
    }

    /// Does what one lane has to do; an error ends it early.
    fn lane(&self, files: u64, stop: &Stop) -> io::Result<()> {
        match self.flow.app {
            App::Bulk => self.connection(stop, |s| self.write(s, u64::MAX)),
            App::File { size } => self.connection(stop, |s| self.write(s, size)),
            App::Files { size, connections: Connections::One, pause, .. } => self.connection(stop, |s| {
                (0..files).try_for_each(|k| {
                    if k > 0 && !stop.sleep_until(clock() + pause) {
                        return Err(io::ErrorKind::Interrupted.into());
                    }
                    self.write(s, size)
                })
            }),
            App::Files { size, pause, .. } => (0..files).try_for_each(|k| {
                if k > 0 && !stop.sleep_until(clock() + pause) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                self.connection(stop, |s| self.write(s, size))
            }),
            App::RequestResponse { request, response, count, .. } => self.connection(stop, |s| {
                let mut left = count.unwrap_or(u64::MAX);
                while left > 0 && self.read(s, request)? == request {
                    self.write(s, response)?;
                    left -= 1;
                }
                Ok(())
            }),
            App::WebPage { .. } => Ok(()), // has neither lanes nor threads
            App::Segments { size, count, .. } => self.connection(stop, |s| {
                let Some(mut process) = self.process.clone() else { return Ok(()) };
                for _ in 0..count.unwrap_or(u64::MAX) {
                    let due = self.start.saturating_add(process.next() - self.flow.start);
                    if due >= self.stop_at || !stop.sleep_until(due) {
                        break;
                    }
                    self.write(s, u64::from(size))?;
                }
                Ok(())
            }),
        }
    }

    /// Opens a connection, has `work` done over it, and closes it when all has arrived.
    fn connection(&self, stop: &Stop, work: impl FnOnce(&Socket) -> io::Result<()>) -> io::Result<()> {
        let there = receiver(self.index, self.flow);
        let made = self.from.enter(|| self.sender()).and_then(|made| made);
        let socket = made.map_err(io::Error::other)?;
        let _guard = stop.guard(&socket)?;
        socket.connect(&there.into())?;
        socket.set_write_timeout(Some(PATIENCE))?; // before, it would hold for connecting, too
        work(&socket)?;
        socket.shutdown(Shutdown::Write)?;
        self.read(&socket, u64::MAX)?; // until the receiver, which has read all, closes
        lock(&self.progress).connections += 1;
        Ok(())
    }

    fn sender(&self) -> Result<Socket, Error> {
        let system = |doing: &str| {
            let doing = format!("{doing} for flow \"{}\"", self.flow.name);
            move |e: io::Error| Error::system(doing.clone(), e)
        };
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP));
        let socket = socket.map_err(system("make a socket"))?;
        let control = self.control.as_bytes();
        socket
            .set_tcp_congestion(control)
            .map_err(system(&format!("set the congestion control \"{}\"", self.control)))?;
        self.sockets.apply(&socket)?;
        set_unsent(&socket).map_err(system("set TCP_NOTSENT_LOWAT of a socket"))?;
        Ok(socket)
    }

    /// Writes so many bytes, or until the application stops writing.
    fn write(&self, mut socket: &Socket, mut bytes: u64) -> io::Result<()> {
        static ZEROS: [u8; CHUNK] = [0; CHUNK];
        while bytes > 0 && clock() < self.stop_at {
            let chunk = CHUNK.min(usize::try_from(bytes).unwrap_or(CHUNK));
            match socket.write(&ZEROS[..chunk]) {
                Ok(written) => bytes -= written as u64,
                Err(error) if is_patience(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Accepts the flow's connections for as long as the run goes on.
    fn accept<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, stop: &'scope Stop) {
        let Some(listener) = &self.listener else { return };
        let Ok(_guard) = stop.guard(listener) else { return };
        while let Ok((socket, _)) = listener.accept() {
            scope.spawn(move || {
                let Ok(_guard) = stop.guard(&socket) else { return };
                // A connection that breaks shows at its sender, which says so.
                let _ = self.receive(&socket, stop);
            });
        }
    }

    fn receive(&self, mut socket: &Socket, stop: &Stop) -> io::Result<()> {
        let App::RequestResponse { request, response, count, think } = self.flow.app else {
            self.read(socket, u64::MAX)?;
            return Ok(());
        };
        let asked = vec![0; usize::try_from(request).unwrap_or(CHUNK)];
        for k in 0..count.unwrap_or(u64::MAX) {
            if clock() >= self.stop_at || (k > 0 && !stop.sleep_until(clock() + think)) {
                break;
            }
            socket.write_all(&asked)?;
            if self.read(socket, response)? < response {
                break;
            }
        }
        socket.shutdown(Shutdown::Write)?;
        self.read(socket, u64::MAX)?;
        Ok(())
    }

    /// Reads so many bytes, or until the end; how many there were. Holds the window at what the flow wants.
    fn read(&self, mut socket: &Socket, bytes: u64) -> io::Result<u64> {
        let mut buffer = vec![0; CHUNK];
        let mut done = 0;
        while done < bytes {
            let most = CHUNK.min(usize::try_from(bytes - done).unwrap_or(CHUNK));
            match socket.read(&mut buffer[..most]) {
                Ok(0) => break,
                Ok(n) => done += n as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            self.sockets.hold_window(socket).map_err(io::Error::other)?;
        }
        Ok(done)
    }
}

/// Where a flow's receiver waits.
pub fn receiver(index: usize, flow: &Flow) -> SocketAddr {
    SocketAddr::new(address(flow.to).into(), FLOW_PORT + index as u16)
}

/// Whether a write has only run out of patience.
fn is_patience(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

fn set_unsent(socket: &Socket) -> io::Result<()> {
    socket.set_tcp_notsent_lowat(UNSENT)
}
