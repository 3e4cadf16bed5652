//! What is really outside of the emulator's loop: the kernel's clock, devices, and sleep.

use super::port::Port;
use super::pump::Outside;
use crate::Error;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use truckee_channel::{Span, Time};
use truckee_host::punctual::clock;

/// Ports that are told of at once; the others are told of the next time.
const TOLD: usize = 64;
/// What the owner's calls are told as.
const CALL: u64 = u64::MAX;

/// The devices that the emulator stands between.
#[derive(Debug)]
pub(super) struct Devices {
    ports: Vec<Port>,
    /// Readable when the owner wants something.
    call: UnixStream,
    /// Knows which of them have something. To ask each of eighty costs more than all else that a packet does.
    watch: Epoll,
}

impl Devices {
    /// Watches these ports, and the socket by which the owner calls.
    pub fn new(ports: Vec<Port>, call: UnixStream) -> Result<Self, Error> {
        let doing = |e: Errno| Error::system("watch the emulator's devices", e);
        let watch = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(doing)?;
        for (number, port) in ports.iter().enumerate() {
            watch.add(port, EpollEvent::new(EpollFlags::EPOLLIN, number as u64)).map_err(doing)?;
        }
        watch.add(&call, EpollEvent::new(EpollFlags::EPOLLIN, CALL)).map_err(doing)?;
        Ok(Self { ports, call, watch })
    }

    /// Adds those that have something at this moment, whatever is wrong with a device included, which reading from it tells;
    /// whether any was added, or the owner has called.
    fn look(&mut self, ready: &mut Vec<usize>) -> Result<bool, Error> {
        let mut told = [EpollEvent::empty(); TOLD];
        let count = match self.watch.wait(&mut told, EpollTimeout::ZERO) {
            Err(Errno::EINTR) => 0,
            count => count.map_err(|e| Error::system("look for packets", e))?,
        };
        let mut news = false;
        for event in &told[..count] {
            let number = event.data();
            if number == CALL {
                // As many calls as there are count as one.
                let _ = (&self.call).read(&mut [0; 64]);
            } else if ready.contains(&(number as usize)) {
                continue;
            } else {
                ready.push(number as usize);
            }
            news = true;
        }
        Ok(news)
    }
}

impl Outside for Devices {
    fn now(&self) -> Time {
        clock()
    }

    fn names(&self) -> Vec<String> {
        self.ports.iter().map(|port| port.name().to_owned()).collect()
    }

    fn ip_at(&self, port: usize) -> usize {
        self.ports[port].ip_at()
    }

    fn read(&mut self, port: usize, into: &mut [u8]) -> Result<Option<Option<usize>>, Error> {
        self.ports[port].read(into)
    }

    fn write(&mut self, port: usize, frame: &[u8]) -> Result<bool, Error> {
        self.ports[port].write(frame)
    }

    fn unread(&self, port: usize) -> u64 {
        self.ports[port].unread()
    }

    fn wait(&mut self, at_most: Option<Span>, ready: &mut Vec<usize>) -> Result<bool, Error> {
        if at_most == Some(Span::ZERO) {
            return Ok(!self.look(ready)?);
        }
        // `epoll` counts in milliseconds, before Linux 5.11 at least.
        let mut fds = [PollFd::new(self.watch.0.as_fd(), PollFlags::POLLIN)];
        let timeout = at_most.map(|left| TimeSpec::from(Duration::from(left)));
        match ppoll(&mut fds, timeout, None) {
            Ok(0) => Ok(true),
            Ok(_) => self.look(ready).map(|_| false),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(Error::system("wait for packets", error)),
        }
    }
}
