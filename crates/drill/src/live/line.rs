//! The script's end of the line to a stack: packets out and in, when they came, and the time.

use super::packet::{self, Ends};
use super::place::{CALLER, HERE, PORT, PREFIX, THERE};
use super::watch::Watch;
use crate::error::Error;
use crate::script::{Packet, TcpOption, bits};
use crate::target::{Refusal, Seen};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use truckee_host::Error as HostError;
use truckee_host::device;
use truckee_host::netns::{self, Address, Interface};
use truckee_host::punctual::clock;
use truckee_host::rights::in_folders;
use truckee_tcp::{Span, Time};

/// Bytes of a packet at most.
const MOST: u32 = 65_535;

/// What packets go through: whole IPv4 packets, one a read, one a write.
pub struct Line {
    device: File,
    begin: Time,
    /// Ports of the connection, the stack's first, and the first number that the stack drew.
    ports: (u16, u16),
    first: u32,
    sent: VecDeque<Seen>,
    lateness: Span,
    watch: Watch,
}

/// A part of the system that is needed is gone.
pub fn gone(doing: &str, source: std::io::Error) -> Error {
    Error::Host(HostError::System { doing: doing.to_owned(), source })
}

impl Line {
    /// One through this device. The script's time begins now.
    pub fn new(device: File) -> Self {
        Self {
            device,
            begin: clock(),
            ports: (PORT, CALLER),
            first: 0,
            sent: VecDeque::new(),
            lateness: Span::ZERO,
            watch: Watch::new(),
        }
    }

    /// The script's time begins now, and not before.
    pub fn begin_anew(&mut self) {
        self.begin = clock();
    }

    /// When the script began.
    pub fn begin(&self) -> Time {
        self.begin
    }

    /// Since then.
    pub fn now(&self) -> Time {
        Time::at(clock() - self.begin)
    }

    /// How late the machine has been at most, wherever.
    pub fn lateness(&self) -> Span {
        self.lateness.max(self.watch.latest())
    }

    /// Something was so late.
    pub fn was_late(&mut self, by: Span) {
        self.lateness = self.lateness.max(by);
    }

    /// Takes what the stack has sent.
    pub fn read(&mut self) -> Result<(), Error> {
        let mut bytes = [0; 2048];
        loop {
            match (&self.device).read(&mut bytes) {
                Ok(n) => {
                    let at = self.now();
                    if let Some((packet, ends)) = packet::read(&bytes[..n]) {
                        self.take(at, packet, ends);
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(gone("read from the TUN device", e)),
            }
        }
    }

    fn take(&mut self, at: Time, mut packet: Packet, ends: Ends) {
        if packet.has(bits::SYN) {
            self.first = packet.seq;
            self.ports = (ends.from.1, ends.to.1);
        }
        packet.seq = packet.seq.wrapping_sub(self.first);
        self.sent.push_back(Seen { at, packet });
    }

    /// Waits until then, or, if `one` segment is enough, until there is one; takes all that the stack sends meanwhile.
    pub fn pass(&mut self, until: Time, one: bool) -> Result<(), Error> {
        loop {
            self.read()?;
            if one && !self.sent.is_empty() {
                return Ok(());
            }
            let now = self.now();
            if now >= until {
                self.lateness = self.lateness.max(now - until);
                return Ok(());
            }
            let left = TimeSpec::from_duration((until - now).into());
            let mut wanted = [PollFd::new(self.device.as_fd(), PollFlags::POLLIN)];
            // An interrupted wait is no error: the time is looked at in any case.
            let _ = ppoll(&mut wanted, Some(left), None);
        }
    }

    /// The next segment that the stack has sent or sends by then.
    pub fn sent(&mut self, until: Time) -> Result<Option<Seen>, Error> {
        self.pass(until, true)?;
        Ok(self.sent.pop_front())
    }

    /// Gives the stack a segment.
    pub fn inject(&mut self, packet: &Packet) -> Result<Result<(), Refusal>, Error> {
        let mut packet = packet.clone();
        packet.ack = packet.ack.map(|ack| ack.wrapping_add(self.first));
        for option in packet.options.iter_mut().flatten() {
            if let TcpOption::Sack(blocks) = option {
                for (from, to) in blocks {
                    (*from, *to) = (from.wrapping_add(self.first), to.wrapping_add(self.first));
                }
            }
        }
        let ends = Ends { from: (THERE, self.ports.1), to: (HERE, self.ports.0) };
        let Some(bytes) = packet::bytes(&packet, ends) else {
            return Ok(Err("its options do not fit into a header".to_owned()));
        };
        (&self.device).write_all(&bytes).map_err(|e| gone("write to the TUN device", e))?;
        Ok(Ok(()))
    }
}

/// Whose stack is behind a TUN device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// The kernel's, which has [`HERE`], and may hand over several segments at once or not.
    Kernel {
        /// Whether it may.
        offload: bool,
    },
    /// A program's.
    Program,
}

/// A TUN device of this namespace, up, and its name.
pub fn tun(behind: Behind) -> Result<(OwnedFd, String), Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
    let open = in_folders(|| options.open("/dev/net/tun"));
    let tun = OwnedFd::from(open.map_err(|e| match e.kind() {
        ErrorKind::PermissionDenied => HostError::without_right("open /dev/net/tun"),
        _ => HostError::System { doing: "open /dev/net/tun".to_owned(), source: e },
    })?);
    let name = device::make_tun(&tun, "tun%d")?;
    let address = [Address { ip: HERE.into(), prefix: PREFIX }];
    let ours = behind != Behind::Program;
    // Each segment on its own, unless the script speaks of that: what TCP hands over in one piece has PSH set where it is cut, at the kernel's own choice.
    let interface = Interface {
        name: &name,
        addresses: if ours { &address } else { &[] },
        // A packet socket sends nothing larger, and a script may.
        mtu: if ours { 0 } else { MOST },
        gso_max_segs: (behind == Behind::Kernel { offload: false }).then_some(1),
        ..Interface::default()
    };
    netns::configure_here(&interface)?;
    Ok((tun, name))
}

/// Writes a sysctl of this thread's namespace.
pub fn set(name: &str, value: &str) -> std::io::Result<()> {
    in_folders(|| fs::write(format!("/proc/sys/{}", name.replace('.', "/")), value))
}
