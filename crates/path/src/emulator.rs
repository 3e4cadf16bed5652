//! The emulator as its owner has it: a handle on the thread that forwards.

use super::LaneCounters;
use super::books::Books;
use super::company::Company;
use super::devices::Devices;
use super::lane;
use super::listener::LossListener;
use super::network::Network;
use super::plan::Plan;
use super::port::Port;
use super::pump::{Pump, Question, Shared, Turn};
use super::tun::Tun;
use crate::Error;
use crossbeam_channel::Sender;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use truckee_channel::Time;
use truckee_host::punctual::{be_punctual, clock};
use truckee_scenario::model::{Link, NodeId};
use truckee_scenario::outcome::Vantage;

/// How the emulator runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether the books keep time series.
    pub series: bool,
    /// At which end they keep the packets of the flows, as they leave and come; at neither unless asked for.
    pub packets: Option<Vantage>,
    /// Whether it looks at the clock again and again shortly before something is due, in place of sleeping.
    pub busy: bool,
    /// Whether its thread gets real-time priority (SCHED_FIFO 1), where that is allowed.
    pub priority: bool,
}

/// A running emulator. Dropped without [`Emulator::stop`], it stops, and its books are lost.
#[derive(Debug)]
pub struct Emulator {
    shared: Arc<Shared>,
    questions: Sender<Question>,
    wake: UnixStream,
    thread: Option<JoinHandle<Option<Books>>>,
    /// What its thread died of.
    death: Arc<Mutex<Option<Error>>>,
}

impl Plan {
    /// Starts forwarding between the TUN devices of the plan's endpoints. Until [`Emulator::begin`], packets pass at once,
    /// as if there were no network between.
    ///
    /// # Errors
    /// A device is missing or one too many; no thread to be had.
    pub fn start(self, tuns: Vec<(NodeId, Tun)>, options: &Options) -> Result<Emulator, Error> {
        self.start_telling(tuns, options, None)
    }

    /// The same, and this one is told of the flows' losses as they happen.
    ///
    /// # Errors
    /// As above.
    pub fn start_telling(
        self,
        tuns: Vec<(NodeId, Tun)>,
        options: &Options,
        listener: Option<Box<dyn LossListener>>,
    ) -> Result<Emulator, Error> {
        let ports = tuns.into_iter().map(|(node, tun)| (node, Port::Tun(tun))).collect();
        self.begin_forwarding(ports, options, listener)
    }

    /// The same between devices of any kind.
    ///
    /// # Errors
    /// As above; or devices of two kinds, whose frames differ.
    pub fn start_between(self, ports: Vec<(NodeId, Port)>, options: &Options) -> Result<Emulator, Error> {
        self.begin_forwarding(ports, options, None)
    }

    fn begin_forwarding(
        self,
        ports: Vec<(NodeId, Port)>,
        options: &Options,
        listener: Option<Box<dyn LossListener>>,
    ) -> Result<Emulator, Error> {
        let ports = in_order(self.endpoints(), ports)?;
        let (near, far) = UnixStream::pair().map_err(|e| Error::system("make a pair of sockets", e))?;
        for end in [&near, &far] {
            end.set_nonblocking(true).map_err(|e| Error::system("set up a pair of sockets", e))?;
        }
        let shared = Arc::new(Shared::default());
        let (questions, asked) = crossbeam_channel::unbounded();
        let pump = Pump {
            network: Network::new(self, options.series).tapped(options.packets).telling(listener),
            outside: Devices::new(ports, far)?,
            shared: Arc::clone(&shared),
            questions: asked,
            busy: options.busy,
            company: Company::of_process(),
        };
        let death = Arc::new(Mutex::new(None));
        let (told, priority) = (Arc::clone(&death), options.priority);
        let thread = std::thread::Builder::new().name("truckee-path".into()).spawn(move || {
            be_punctual(priority);
            pump.run().map_err(|error| told.lock().unwrap_or_else(|e| e.into_inner()).replace(error)).ok()
        });
        let thread = thread.map_err(|e| Error::system("start the emulator's thread", e))?;
        Ok(Emulator { shared, questions, wake: near, thread: Some(thread), death })
    }
}

/// The ports in the order of the endpoints.
fn in_order(endpoints: &[NodeId], ports: Vec<(NodeId, Port)>) -> Result<Vec<Port>, Error> {
    let wrong = |why: String| Error::Broken(format!("the emulator was given the wrong devices: {why}"));
    let mut slots: Vec<Option<Port>> = endpoints.iter().map(|_| None).collect();
    for (node, port) in ports {
        let slot = endpoints.iter().position(|n| *n == node).and_then(|at| slots.get_mut(at));
        match slot {
            Some(slot @ None) => *slot = Some(port),
            _ => return Err(wrong(format!("{} is for node {node}, which needs none", port.name()))),
        }
    }
    let missing =
        |(slot, node): (Option<Port>, &NodeId)| slot.ok_or_else(|| wrong(format!("none for node {node}")));
    let ports: Vec<Port> = slots.into_iter().zip(endpoints).map(missing).collect::<Result<_, _>>()?;
    if ports.windows(2).any(|pair| pair[0].ip_at() != pair[1].ip_at()) {
        return Err(wrong("a TUN device and an interface have no frames in common".into()));
    }
    Ok(ports)
}

impl Emulator {
    /// Begins the run: this moment, which is returned in ns of CLOCK_MONOTONIC, is its time 0. From now on packets take
    /// the lanes, sources send, changes come and books are kept. A second call changes nothing.
    pub fn begin(&self) -> Time {
        let now = clock();
        let order = Ordering::AcqRel;
        match self.shared.begin.compare_exchange(0, now.nanos(), order, Ordering::Acquire) {
            Ok(_) => {
                self.call();
                now
            }
            Err(before) => Time::ns(before),
        }
    }

    /// What every lane shows at this moment; nothing once the emulator has died.
    pub fn counters(&self) -> Vec<LaneCounters> {
        let (answer, answered) = crossbeam_channel::bounded(1);
        if self.questions.send(Question::Counters(answer)).is_err() {
            return Vec::new();
        }
        self.call();
        answered.recv().unwrap_or_default()
    }

    /// Has both directions of a link be otherwise from now on; each that is to be up or down becomes so.
    ///
    /// # Errors
    /// [`Error::Refused`] where the difference is none that a running lane can take; or the emulator has died.
    pub fn turn(&self, link: usize, from: &Link, to: &Link, up: [Option<bool>; 2]) -> Result<(), Error> {
        for (before, after) in [(&from.forward, &to.forward), (&from.back, &to.back)] {
            if let Some(why) = lane::refuses(before, after) {
                let name = to.name.as_deref().map_or_else(|| link.to_string(), str::to_owned);
                return Err(Error::Refused { place: format!("link \"{name}\""), why: why.into() });
            }
        }
        let directions = [Arc::clone(&to.forward), Arc::clone(&to.back)];
        let (answer, answered) = crossbeam_channel::bounded(1);
        let sent = self.questions.send(Question::Turn(Turn { link, directions, up }, answer)).is_ok();
        self.call();
        if sent && answered.recv().is_ok() {
            return Ok(());
        }
        self.check()?;
        Err(Error::Broken("the path emulator has ended".into()))
    }

    /// Whether it still forwards.
    ///
    /// # Errors
    /// What its thread has died of.
    pub fn check(&self) -> Result<(), Error> {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        match &*self.death.lock().unwrap_or_else(|e| e.into_inner()) {
            Some(error) => Err(Error::Broken(format!("the path emulator has died: {error}"))),
            None => Err(Error::Broken("the path emulator has died".into())),
        }
    }

    /// Stops forwarding; the devices go.
    ///
    /// # Errors
    /// What its thread had died of.
    pub fn stop(mut self) -> Result<Books, Error> {
        let books = self.end();
        let death = self.death.lock().unwrap_or_else(|e| e.into_inner()).take();
        match (books, death) {
            (Some(books), _) => Ok(books),
            (None, Some(error)) => Err(error),
            (None, None) => Err(Error::Broken("the path emulator has died".into())),
        }
    }

    fn end(&mut self) -> Option<Books> {
        self.shared.stop.store(true, Ordering::Release);
        self.call();
        self.thread.take()?.join().ok()?
    }

    /// Wakes the thread. If the socket is full, it is being woken already.
    fn call(&self) {
        let _ = (&self.wake).write(&[1]);
    }
}

impl std::ops::Drop for Emulator {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
#[path = "emulator_live.rs"]
mod live;
