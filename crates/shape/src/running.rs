//! A shaper at work.

use super::arrival::Record;
use super::devices::{self, Found};
use super::program::Program;
use super::release::{Maps, Releaser, Shared};
use super::{Counts, Devices, Policy, Request};
use crate::Error;
use socket2::{Domain, Protocol, Socket, Type};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use truckee_host::netns::Netns;
use truckee_host::punctual::be_punctual;
use truckee_host::rights::{self, Kept};

/// Shapes ACKs for as long as it lives. However the process ends, nothing stays attached; what was held at that moment
/// is lost, as packets are, and the peer's next retransmission is acknowledged.
#[derive(Debug)]
pub struct Shaper {
    program: Mutex<Program>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    namespace: Option<Netns>,
    wanted: Devices,
    found: Mutex<Vec<Found>>,
}

impl Shaper {
    /// Begins. Needs `CAP_BPF`, `CAP_NET_ADMIN` and `CAP_NET_RAW`.
    ///
    /// # Errors
    /// No rights; an interface that is not there; a kernel before 6.6.
    pub fn start(request: &Request) -> Result<Self, Error> {
        let namespace = request.namespace.as_deref().map(Netns::open).transpose()?;
        let program = Program::load(&request.scope, &request.policies, request.most_flows)?;
        let open = || socket(program.marks.release);
        let socket = within(namespace.as_ref(), open)??;
        let shared = Arc::new(Shared::new(request.policies.clone())?);
        let maps = Maps {
            held: program.map("held")?,
            manners: program.map("manners")?,
            deadlines: program.map("deadlines")?,
            arrivals: program.map("arrivals")?,
        };
        let (told, most) = (Arc::clone(&shared), request.most_flows as usize);
        let work = move || {
            be_punctual(true);
            if let Err(error) = rights::shed(None, Kept::Nothing) {
                told.death.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
                return;
            }
            let done = Releaser::new(Arc::clone(&told), maps, socket, most).and_then(Releaser::run);
            if let Err(error) = done {
                told.death.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
            }
        };
        let thread = std::thread::Builder::new().name("truckee-acks".into()).spawn(work);
        let thread = Some(thread.map_err(|e| Error::system("start the thread that releases ACKs", e))?);
        let shaper = Self {
            program: Mutex::new(program),
            shared,
            thread,
            namespace,
            wanted: request.devices.clone(),
            found: Mutex::new(Vec::new()),
        };
        shaper.look()?;
        Ok(shaper)
    }

    /// Shapes on interfaces that have come since, if it shapes on all there are.
    pub fn look(&self) -> Result<(), Error> {
        let found = within(self.namespace.as_ref(), || devices::find(&self.wanted))?;
        let found = match (found, &self.wanted) {
            (found, Devices::All) => found?,
            // One that was named may go, and with it what hung there.
            (found, Devices::Named(_)) if self.devices().is_empty() => found?,
            _ => return Ok(()),
        };
        let mut program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        program.keep(&found);
        let mut still = Vec::with_capacity(found.len());
        for device in found {
            match (program.attach(&device, self.namespace.as_ref())?, &self.wanted) {
                (true, _) => still.push(device),
                (false, Devices::All) => {}
                (false, Devices::Named(_)) => return Err(devices::absent(&device.name)),
            }
        }
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = still;
        Ok(())
    }

    /// The interfaces on which it shapes.
    pub fn devices(&self) -> Vec<String> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.iter().map(|device| device.name.clone()).collect()
    }

    /// The policy of that index is this from now on; connections go on with what they have learnt, where it is of use.
    pub fn change(&self, index: usize, policy: &Policy) -> Result<(), Error> {
        let mut policies = self.shared.policies.lock().unwrap_or_else(PoisonError::into_inner);
        let known = policies.0.len();
        let Some(slot) = policies.0.get_mut(index) else {
            return Err(Error::Broken(format!("there is no policy {index} to change, only {known}")));
        };
        *slot = policy.clone();
        policies.1 += 1;
        self.program.lock().unwrap_or_else(PoisonError::into_inner).set_policy(index, policy)
    }

    /// What it has done until now.
    pub fn counts(&self) -> Result<Counts, Error> {
        let counts = self.program.lock().unwrap_or_else(PoisonError::into_inner).counts()?;
        Ok(Counts { lateness_s: self.shared.lateness(), ..counts })
    }

    /// Whether it still works: the error of its thread, if that has died.
    pub fn check(&self) -> Result<(), Error> {
        match self.shared.death.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// From now on what arrives is kept, for [`Self::heard`]. Only connections of a policy that adapts are heard of.
    pub fn listen(&self) {
        self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
    }

    /// What has arrived since the last call.
    pub fn heard(&self) -> Vec<Record> {
        let mut kept = self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Ends it: what is held leaves, then nothing is shaped any more.
    pub fn stop(mut self) -> Result<Counts, Error> {
        self.end();
        self.check()?;
        self.counts()
    }

    fn end(&mut self) {
        // First nothing more is held, then what is held leaves.
        let policies = self.shared.policies.lock().unwrap_or_else(PoisonError::into_inner).0.len();
        self.program.lock().unwrap_or_else(PoisonError::into_inner).pass_all(policies);
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Shaper {
    fn drop(&mut self) {
        self.end();
    }
}

/// In the namespace, or where we are.
fn within<T: Send>(namespace: Option<&Netns>, f: impl FnOnce() -> T + Send) -> Result<T, Error> {
    match namespace {
        Some(namespace) => namespace.enter(f),
        None => Ok(f()),
    }
}

/// What frames are sent with: it reads nothing.
fn socket(mark: u32) -> Result<Socket, Error> {
    let refused = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::PermissionDenied => Error::without_right("send held ACKs"),
        _ => Error::system("open a socket for held ACKs", e),
    };
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(0))).map_err(refused)?;
    socket.set_mark(mark).map_err(refused)?;
    Ok(socket)
}
