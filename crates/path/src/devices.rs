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
use truckee_channel::{Nanos, Time};
use truckee_host::punctual::clock;

/// Ports that are told of at once.
const TOLD: usize = 64;
/// What the owner's calls are told as.
const CALL: u64 = u64::MAX;

/// The devices that the emulator stands between.
#[derive(Debug)]
pub(super) struct Devices {
    ports: Vec<Port>,
    /// Readable when the owner wants something.
    call: UnixStream,
    /// Knows which of them have something, however many there are.
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

    /// Those that have something at this moment; whether any has, or the owner has called.
    fn look(&mut self, ready: &mut Vec<usize>) -> Result<bool, Error> {
        let mut told = [EpollEvent::empty(); TOLD];
        let count = match self.watch.wait(&mut told, EpollTimeout::ZERO) {
            Err(Errno::EINTR) => 0,
            count => count.map_err(|e| Error::system("look for packets", e))?,
        };
        for event in &told[..count] {
            match event.data() {
                // As many calls as there are count as one.
                CALL => drop((&self.call).read(&mut [0; 64])),
                number => ready.push(number as usize),
            }
        }
        Ok(count > 0)
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

    fn wait(&mut self, at_most: Option<Nanos>, ready: &mut Vec<usize>) -> Result<bool, Error> {
        ready.clear();
        if at_most == Some(0) {
            return Ok(!self.look(ready)?);
        }
        // `epoll` counts in milliseconds, before Linux 5.11 at least.
        let mut fds = [PollFd::new(self.watch.0.as_fd(), PollFlags::POLLIN)];
        let timeout = at_most.map(|left| TimeSpec::from(Duration::from_nanos(left)));
        match ppoll(&mut fds, timeout, None) {
            Ok(0) => Ok(true),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(Error::system("wait for packets", error)),
            Ok(_) => self.look(ready).map(|_| false),
        }
    }
}
