//! The thread beside the programs: it releases held ACKs at their deadlines, and has the policies that adapt hear of what
//! comes.
//!
//! The program holds an ACK only once its deadline is in the ring that is read here, so that none is lost however busy the
//! machine is. Deadlines that are far off come without a wake-up, and are read in passing.

use super::arrival::{Listeners, Record};
use super::flow::Connection;
use super::layout::{arrival, deadline, frame};
use super::program::tell;
use super::{Lateness, Policy};
use crate::Error;
use hdrhistogram::Histogram;
use libbpf_rs::{MapCore, MapFlags, MapHandle, RingBuffer, RingBufferBuilder};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use priority_queue::PriorityQueue;
use socket2::Socket;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use truckee_host::bpf::{parse, refused};
use truckee_host::punctual::clock;
use truckee_tcp::{Span, Time};

/// How often the rings are read at least: less than half of what the program takes for a long wait.
const LOOK: Span = Span::ms(20);
/// How often they are read while anything is heard at all, for what is heard in passing.
const PASSING: Span = Span::ms(5);
/// How often they are read while there is much that would wake us.
const LISTEN: Span = Span::us(500);
/// Being woken so soon after the last time is much; and after so long that is looked at anew.
const OFTEN: Span = Span::ms(2);
const PAUSE: Span = Span::ms(20);
/// When a frame could not be sent, it is tried again after this.
const AGAIN: Span = Span::us(200);

/// What the thread and its owner share.
#[derive(Debug)]
pub(super) struct Shared {
    pub stop: AtomicBool,
    /// The policies as they are at present, and how often they were changed.
    pub policies: Mutex<(Vec<Policy>, u64)>,
    /// How late releases were, ns.
    late: Mutex<Histogram<u64>>,
    /// What it has died of.
    pub death: Mutex<Option<Error>>,
    /// Whom arrivals are told of beside the policies, in order of time.
    pub listeners: Mutex<Option<Vec<Record>>>,
}

impl Shared {
    pub fn new(policies: Vec<Policy>) -> Result<Self, Error> {
        // One to 10^10 ns, to a thousandth.
        let late = Histogram::new_with_bounds(1, 10_000_000_000, 3)
            .map_err(|e| Error::Broken(format!("a histogram could not be made: {e}")))?;
        Ok(Self {
            stop: AtomicBool::new(false),
            policies: Mutex::new((policies, 0)),
            late: Mutex::new(late),
            death: Mutex::new(None),
            listeners: Mutex::new(None),
        })
    }

    pub fn lateness(&self) -> Lateness {
        let late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = |ns: u64| (!late.is_empty()).then_some(ns as f64 / 1e9);
        Lateness {
            p50: seconds(late.value_at_quantile(0.5)),
            p99: seconds(late.value_at_quantile(0.99)),
            max: seconds(late.max()),
        }
    }
}

/// What the thread has of the program.
pub(super) struct Maps {
    pub held: MapHandle,
    pub manners: MapHandle,
    pub deadlines: MapHandle,
    pub arrivals: MapHandle,
}

/// The thread's state.
pub(super) struct Releaser {
    shared: Arc<Shared>,
    held: MapHandle,
    manners: MapHandle,
    ring: RingBuffer<'static>,
    read: Rc<RefCell<Read>>,
    socket: Socket,
    /// The last deadline of each connection: an ACK is held only where the one before has left.
    due: PriorityQueue<Connection, Reverse<Time>>,
    listeners: Listeners,
    changes: u64,
    /// When anything was last heard, when that woke us, and when it did so often.
    heard: Time,
    woken: Time,
    busy: Time,
}

/// What was read from the rings.
#[derive(Default)]
struct Read {
    deadlines: Vec<(Connection, Reverse<Time>)>,
    arrivals: Vec<Record>,
}

impl Releaser {
    /// To be made in the thread that runs it.
    pub fn new(shared: Arc<Shared>, maps: Maps, socket: Socket, most_flows: usize) -> Result<Self, Error> {
        let doing = "read what the BPF program tells";
        let read = Rc::new(RefCell::new(Read::default()));
        let mut builder = RingBufferBuilder::new();
        let sink = Rc::clone(&read);
        let on_deadline = move |bytes: &[u8]| {
            let told = parse::<deadline>(bytes).map(|d| (d.connection.into(), Reverse(Time::ns(d.at))));
            sink.borrow_mut().deadlines.extend(told);
            0
        };
        builder.add(&maps.deadlines, on_deadline).map_err(|e| refused(doing, &e))?;
        let sink = Rc::clone(&read);
        let on_arrival = move |bytes: &[u8]| {
            sink.borrow_mut().arrivals.extend(parse::<arrival>(bytes).as_ref().map(Record::of));
            0
        };
        builder.add(&maps.arrivals, on_arrival).map_err(|e| refused(doing, &e))?;
        let ring = builder.build().map_err(|e| refused(doing, &e))?;
        let listeners = Listeners::new(most_flows);
        let (held, manners) = (maps.held, maps.manners);
        let due = PriorityQueue::new();
        Ok(Self {
            shared,
            held,
            manners,
            ring,
            read,
            socket,
            due,
            listeners,
            changes: 0,
            heard: Time::ZERO,
            woken: Time::ZERO,
            busy: Time::ZERO,
        })
    }

    /// Until it is told to stop; then everything that is held leaves at once.
    pub fn run(mut self) -> Result<(), Error> {
        loop {
            let stop = self.shared.stop.load(Ordering::Acquire);
            self.read()?;
            let next = self.release(if stop { Time::MAX } else { clock() })?;
            if stop {
                return Ok(());
            }
            self.wait(next);
        }
    }

    /// Sleeps until the rings or the next deadline want something.
    fn wait(&mut self, next: Option<Time>) {
        let now = clock();
        let look = if now.saturating_sub(self.heard) < PAUSE { PASSING } else { LOOK };
        let until = next.map_or(look, |next| next.saturating_sub(now)).min(look);
        if now.saturating_sub(self.busy) < PAUSE {
            std::thread::sleep(until.min(LISTEN).into());
            return;
        }
        // SAFETY: the ring lives as long as this borrow, and owns the descriptor.
        let ring = unsafe { BorrowedFd::borrow_raw(self.ring.epoll_fd()) };
        let mut wanted = [PollFd::new(ring, PollFlags::POLLIN)];
        // An interrupted wait is no error: the rings are read in any case.
        let woken = ppoll(&mut wanted, Some(TimeSpec::from_duration(until.into())), None);
        if woken.is_ok_and(|rings| rings > 0) {
            let now = clock();
            let before = std::mem::replace(&mut self.woken, now);
            // From now on it is enough to look now and then.
            if now.saturating_sub(before) < OFTEN {
                self.busy = now;
            }
        }
    }

    fn read(&mut self) -> Result<(), Error> {
        self.ring.consume().map_err(|e| refused("read what the BPF program tells", &e))?;
        let read = self.read.take();
        if read.deadlines.is_empty() && read.arrivals.is_empty() {
            return Ok(());
        }
        self.heard = clock();
        self.due.extend(read.deadlines);
        self.hear(&read.arrivals)?;
        if let Some(listener) = &mut *self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner) {
            listener.extend(read.arrivals);
        }
        Ok(())
    }

    fn hear(&mut self, arrivals: &[Record]) -> Result<(), Error> {
        let policies = self.shared.policies.lock().unwrap_or_else(PoisonError::into_inner);
        if policies.1 != self.changes {
            self.changes = policies.1;
            self.listeners.change(&policies.0);
        }
        for record in arrivals {
            let Some(policy) = policies.0.get(usize::from(record.policy)) else { continue };
            if policy.adapts()
                && let Some((connection, turn)) = self.listeners.hear(record, policy)
            {
                tell(&self.manners, &connection, &turn)?;
            }
        }
        Ok(())
    }

    /// Sends what is due by `now`. Returns the next deadline.
    fn release(&mut self, now: Time) -> Result<Option<Time>, Error> {
        let mut again = Vec::new();
        while let Some((connection, Reverse(at))) = self.due.pop_if(|_, Reverse(at)| *at <= now) {
            match self.send(at, &connection, now)? {
                Sent::Gone => {}
                Sent::Later => again.push((connection, Reverse(clock() + AGAIN))),
            }
        }
        if now != Time::MAX {
            self.due.extend(again);
        }
        Ok(self.due.peek().map(|(_, Reverse(at))| *at))
    }

    fn send(&mut self, at: Time, connection: &Connection, now: Time) -> Result<Sent, Error> {
        let doing = "take a held ACK";
        let key = connection.key();
        // What was held has left with a later ACK, and what is held now has a deadline of its own.
        match self.held.lookup(key, MapFlags::ANY).map_err(|e| refused(doing, &e))? {
            Some(held) if parse::<frame>(&held).is_some_and(|held| Time::ns(held.at) <= now) => {}
            _ => return Ok(Sent::Gone),
        }
        let Ok(Some(held)) = self.held.lookup_and_delete(key) else { return Ok(Sent::Gone) };
        let Some((device, bytes)) = parse(&held).and_then(|held| complete(&held)) else {
            return Ok(Sent::Gone);
        };
        match send_frame(&self.socket, device, &bytes) {
            Ok(()) => {
                let late = clock().saturating_sub(at).max(Span::ns(1));
                if now != Time::MAX {
                    self.shared
                        .late
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .saturating_record(late.nanos());
                }
                Ok(Sent::Gone)
            }
            // The device's queue is full. Should the stack have held another one meanwhile, that has the newer number.
            Err(e)
                if e.kind() == std::io::ErrorKind::WouldBlock || e.raw_os_error() == Some(libc::ENOBUFS) =>
            {
                let _ = self.held.update(key, &held, MapFlags::NO_EXIST);
                Ok(Sent::Later)
            }
            // The interface is gone or down, and the connection's way with it.
            Err(_) => Ok(Sent::Gone),
        }
    }
}

enum Sent {
    Gone,
    Later,
}

/// A held frame as it leaves, and the interface: the stack has left its checksum to the device.
fn complete(held: &frame) -> Option<(u32, Vec<u8>)> {
    let l2 = held.l2 as usize;
    let mut bytes = held.bytes.get(..held.length as usize)?.to_vec();
    let ip = bytes.get(l2..)?;
    let (addresses, tcp_at) = match ip.first()? >> 4 {
        4 => (ip.get(12..20)?.to_vec(), l2 + 20),
        6 => (ip.get(8..40)?.to_vec(), l2 + 40),
        _ => return None,
    };
    let segment = bytes.get_mut(tcp_at..)?;
    segment.get_mut(16..18)?.fill(0);
    let words = addresses.chunks(2).chain(segment.chunks(2));
    let pseudo = u64::from(libc::IPPROTO_TCP as u16) + segment.len() as u64;
    let mut sum = words.fold(pseudo, |sum, word| {
        sum + u64::from(u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]))
    });
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    segment.get_mut(16..18)?.copy_from_slice(&(!(sum as u16)).to_be_bytes());
    Some((held.device, bytes))
}

fn send_frame(socket: &Socket, device: u32, bytes: &[u8]) -> std::io::Result<()> {
    let version = if bytes.len() > 14 && bytes.get(12..14) == Some(&[0x86, 0xdd]) || bytes[0] >> 4 == 6 {
        libc::ETH_P_IPV6
    } else {
        libc::ETH_P_IP
    };
    // SAFETY: `sockaddr_ll` is plain data of the kernel's interface; all zeros is a valid value of it.
    let mut to: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    to.sll_family = libc::AF_PACKET as u16;
    to.sll_protocol = (version as u16).to_be();
    to.sll_ifindex = device as i32;
    // SAFETY: both pointers and their lengths are of values that live until the call returns.
    let sent = unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            libc::MSG_DONTWAIT,
            (&raw const to).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if sent < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 ACK without its TCP checksum, as the program stores it.
    fn held(l2: usize) -> frame {
        let mut bytes = vec![0; l2];
        bytes.extend([0x45, 0, 0, 40, 0, 1, 0x40, 0, 64, 6, 0x12, 0x34, 10, 77, 0, 1, 10, 77, 0, 2]);
        bytes.extend([
            0x9c, 0x40, 0x4e, 0x20, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0xff, 0xff, 0xab, 0xcd, 0, 0,
        ]);
        let mut held =
            frame { at: 9, device: 3, length: bytes.len() as u32, l2: l2 as u32, ..frame::default() };
        held.bytes[..bytes.len()].copy_from_slice(&bytes);
        held
    }

    #[test]
    fn a_released_frame_has_its_whole_checksum() {
        for l2 in [0, 14] {
            let (device, bytes) = complete(&held(l2)).unwrap();
            assert_eq!((device, bytes.len()), (3, l2 + 40));
            let ip = &bytes[l2..];
            let words = ip[12..20].chunks(2).chain(ip[20..].chunks(2));
            let sum: u32 = words.map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum::<u32>() + 6 + 20;
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "it sums up to all ones");
        }
        let longer = frame { length: 129, ..held(0) };
        assert_eq!(complete(&longer), None, "longer than any that is held");
    }
}
