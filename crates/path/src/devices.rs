//! What is really outside of the emulator's loop: the kernel's clock, devices, and sleep.

use super::port::Port;
use super::pump::Outside;
use crate::Error;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use truckee_channel::{Nanos, Time};
use truckee_host::punctual::clock;

/// The devices that the emulator stands between.
#[derive(Debug)]
pub(super) struct Devices {
    pub ports: Vec<Port>,
    /// Readable when the owner wants something.
    pub call: UnixStream,
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

    // Not `epoll`, which would have the kernel say of each packet that it is there, also while all that is there is read.
    fn wait(&mut self, at_most: Option<Nanos>, ready: &mut Vec<usize>) -> Result<bool, Error> {
        let others: Vec<usize> = (0..self.ports.len()).filter(|port| !ready.contains(port)).collect();
        let watched = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds = vec![watched(self.call.as_fd())];
        fds.extend(others.iter().map(|port| watched(self.ports[*port].as_fd())));
        let timeout = at_most.map(|left| TimeSpec::from(Duration::from_nanos(left)));
        match ppoll(&mut fds, timeout, None) {
            Ok(0) => return Ok(true),
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(false),
            Err(error) => return Err(Error::system("wait for packets", error)),
        }
        // What is wrong with a device is told by reading from it.
        let has = |fd: &PollFd<'_>| fd.revents().is_some_and(|events| !events.is_empty());
        ready.extend(others.iter().zip(&fds[1..]).filter(|(_, fd)| has(fd)).map(|(port, _)| *port));
        if has(&fds[0]) {
            // As many calls as there are count as one.
            let _ = (&self.call).read(&mut [0; 64]);
        }
        Ok(false)
    }
}
