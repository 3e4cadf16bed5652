//! The emulator's loop, the only place that reads the clock: packets in, what is due out, sleep until the next of either.
//!
//! It sleeps in `ppoll` with a timeout in nanoseconds, its timer slack being one, until the next moment at which
//! something is due or a packet comes. Sleep ends late, by what waking a processor takes: it learns by how much and has
//! itself woken as much earlier ([`Waking`]). With `busy`, it does not sleep within [`SPIN`] of such a moment, but looks
//! again and again: that costs processor time and saves what waking up takes. While packets come, it reads them in batches, and
//! sends what is due between any two of them.

use super::delays::Delays;
use super::late::Late;
use super::network::{Exit, Network};
use super::port::Port;
use super::{Books, LaneCounters, PortCounters};
use crate::Error;
use crossbeam_channel::{Receiver, Sender};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use truckee_channel::{Nanos, Time};
use truckee_host::punctual::clock;

/// Packets read from one port before the others have their turn.
const BATCH: usize = 64;

/// With `busy`: how long before a deadline sleep ends.
const SPIN: Nanos = 150_000;

/// The most by which it has itself woken earlier.
const MOST_EARLY: Nanos = 100_000;

/// How late sleep ends here: an average that forgets, of times that ended by the clock.
#[derive(Debug, Default)]
struct Waking(Nanos);

impl Waking {
    /// Sleep that was to end has ended so much later.
    fn learn(&mut self, late: Nanos) {
        self.0 = (7 * self.0 + late.min(MOST_EARLY)) / 8;
    }

    /// How long to sleep for something that is due in `left`.
    fn sleep_for(&self, left: Nanos) -> Nanos {
        left.saturating_sub(self.0)
    }
}

/// The largest frame: an IP packet of 65,535 bytes and what is in front of it.
const LARGEST: usize = 65_600;

/// What the loop and its owner share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// CLOCK_MONOTONIC at time 0 of the run; 0: it has not begun.
    pub begin: AtomicU64,
    pub stop: AtomicBool,
}

/// A question to the loop: the lanes' counters.
pub(super) type Question = Sender<Vec<LaneCounters>>;

/// The loop.
pub(super) struct Pump {
    pub network: Network,
    pub ports: Vec<Port>,
    pub shared: Arc<Shared>,
    pub questions: Receiver<Question>,
    /// Readable when the owner wants something.
    pub wake: UnixStream,
    pub busy: bool,
}

/// What leaves.
struct Out {
    ports: Vec<Port>,
    counters: Vec<PortCounters>,
    begin: Time,
    delays: Delays,
    late: Late,
    failed: Option<Error>,
}

impl Out {
    fn write(&mut self, port: usize, frame: &[u8]) {
        match self.ports[port].write(frame) {
            Ok(true) => self.counters[port].written += 1,
            Ok(false) => self.counters[port].refused += 1,
            Err(error) => {
                self.failed.get_or_insert(error);
            }
        }
    }
}

impl Exit for Out {
    fn leave(&mut self, port: usize, frame: &[u8], due: Time) -> Time {
        let now = clock().saturating_sub(self.begin);
        self.delays.add(now.saturating_sub(due));
        self.late.add(now.saturating_sub(due));
        self.write(port, frame);
        now
    }
}

impl Pump {
    /// Forwards until it is told to stop.
    pub fn run(self) -> Result<Books, Error> {
        let Self { mut network, ports, shared, questions, wake, busy } = self;
        let counters = ports.iter().map(|p| PortCounters { name: p.name().to_owned(), ..Default::default() });
        let mut out = Out {
            counters: counters.collect(),
            ports,
            begin: 0,
            delays: Delays::default(),
            late: Late::default(),
            failed: None,
        };
        let (mut frame, mut waking) = (vec![0; LARGEST], Waking::default());
        while !shared.stop.load(Ordering::Acquire) {
            out.begin = shared.begin.load(Ordering::Acquire);
            let begun = out.begin > 0;
            let now = clock().saturating_sub(out.begin);
            if begun {
                network.advance(now, &mut out);
            }
            for question in questions.try_iter() {
                // Whoever has gone does not want to know.
                let _ = question.send(network.counters(if begun { now } else { 0 }));
            }
            let mut came = false;
            for port in 0..out.ports.len() {
                came |= read_batch(&mut network, &mut out, port, &mut frame, &shared)?;
            }
            if let Some(error) = out.failed {
                return Err(error);
            }
            if !came {
                let next = if begun { network.next_event() } else { None };
                sleep(&out, &wake, next, busy, &mut waking)?;
            }
        }
        let Out { ports, mut counters, begin, delays, late, .. } = out;
        counters.iter_mut().zip(&ports).for_each(|(counters, port)| counters.unread = port.unread());
        let end = if begin > 0 { clock().saturating_sub(begin) } else { 0 };
        let strays = network.strays;
        let queues = network.take_queues(end);
        let (flows, links, traffic) = network.finish(end);
        Ok(Books { flows, links, traffic, queues, ports: counters, strays, late_s: delays.outcome(), late })
    }
}

/// Reads what a port has, up to a batch; whether there was anything.
fn read_batch(
    network: &mut Network,
    out: &mut Out,
    port: usize,
    frame: &mut [u8],
    shared: &Shared,
) -> Result<bool, Error> {
    for n in 0..BATCH {
        let Some(read) = out.ports[port].read(frame)? else { return Ok(n > 0) };
        let Some(bytes) = read else {
            out.counters[port].oversized += 1;
            continue;
        };
        out.counters[port].read += 1;
        let (frame, ip_at) = (&frame[..bytes], out.ports[port].ip_at());
        if out.begin == 0 {
            // After the reading: what was sent after the run began shall not pass as if before.
            out.begin = shared.begin.load(Ordering::Acquire);
        }
        if out.begin > 0 {
            let now = clock().saturating_sub(out.begin);
            network.advance(now, out);
            network.enter(now, port, frame, ip_at);
        } else if let Some(to) = network.port_out(port, &frame[ip_at.min(bytes)..]) {
            out.write(to, frame);
        } else {
            network.strays += 1;
        }
    }
    Ok(true)
}

/// Sleeps until something comes or the next event is about to be due.
fn sleep(
    out: &Out,
    mut wake: &UnixStream,
    next: Option<Time>,
    busy: bool,
    waking: &mut Waking,
) -> Result<(), Error> {
    let now = clock();
    let left = next.map(|next| next.saturating_sub(now.saturating_sub(out.begin)));
    let left = left.map(|left| waking.sleep_for(if busy { left.saturating_sub(SPIN) } else { left }));
    if left == Some(0) {
        return Ok(());
    }
    let mut fds: Vec<PollFd<'_>> =
        out.ports.iter().map(|port| PollFd::new(port.as_fd(), PollFlags::POLLIN)).collect();
    fds.push(PollFd::new(wake.as_fd(), PollFlags::POLLIN));
    let timeout = left.map(|left| TimeSpec::from(Duration::from_nanos(left)));
    match (ppoll(&mut fds, timeout, None), left) {
        (Ok(0), Some(left)) => waking.learn(clock().saturating_sub(now + left)),
        (Ok(_) | Err(Errno::EINTR), _) => {}
        (Err(error), _) => return Err(Error::system("wait for packets", error)),
    }
    let called =
        fds.last().and_then(PollFd::revents).is_some_and(|events| events.contains(PollFlags::POLLIN));
    if called {
        // As many calls as there are count as one.
        let _ = wake.read(&mut [0; 64]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_itself_woken_earlier_by_as_much_as_sleep_ends_late() {
        let mut waking = Waking::default();
        assert_eq!(waking.sleep_for(1_000_000), 1_000_000);
        (0..100).for_each(|_| waking.learn(50_000));
        let early = 1_000_000 - waking.sleep_for(1_000_000);
        assert!((49_000..=50_000).contains(&early), "{early}");
        // Once held up for long, it does not spin for long.
        (0..100).for_each(|_| waking.learn(10_000_000));
        assert!(waking.sleep_for(1_000_000) >= 1_000_000 - MOST_EARLY);
        assert_eq!(waking.sleep_for(20_000), 0);
    }
}
