//! Requests to a network device by name, in the calling thread's namespace: ioctls, for what the emulator sets on its own
//! devices and on interfaces it is given. Not for: routes and namespaces.

use crate::Error;
use nix::errno::Errno;
use std::ffi::c_int;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};

/// The most bytes a device's name has.
const MOST_NAME: usize = libc::IFNAMSIZ - 1;

/// A name as the kernel takes it.
///
/// # Errors
/// It is empty, too long, or has characters no device's name has.
fn request(name: &str) -> Result<libc::ifreq, Error> {
    let fits = (1..=MOST_NAME).contains(&name.len())
        && !name.bytes().any(|b| b == b'/' || b == 0 || b.is_ascii_whitespace());
    if !fits {
        let why = format!("a device's name has 1 to {MOST_NAME} characters, without blanks and slashes");
        return Err(Error::Refused { place: format!("device \"{name}\""), why });
    }
    // SAFETY: `ifreq` is plain data of the kernel's interface; all zeros is a valid value of it.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// Makes a TUN device of this name on an open `/dev/net/tun`; for a `%d` in it the kernel puts a number that is free.
/// Returns its name.
pub fn make_tun(tun: &OwnedFd, name: &str) -> Result<String, Error> {
    let mut request = request(name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_TUN_EXCL) as i16;
    call(tun.as_raw_fd(), libc::TUNSETIFF, &mut request).map_err(|e| match e {
        Errno::EPERM => Error::without_right(&format!("make the TUN device {name}")),
        e => Error::system(format!("make the TUN device {name}"), e),
    })?;
    Ok(request.ifr_name.iter().take_while(|c| **c != 0).map(|c| char::from(*c as u8)).collect())
}

/// A device in the namespace of the thread that opens it. Requests go there from any thread.
#[derive(Debug)]
pub struct Device {
    name: String,
    socket: UdpSocket,
}

impl Device {
    /// The device of this name, which is not looked for yet.
    pub fn named(name: &str) -> Result<Self, Error> {
        // Any socket will do: it carries the namespace.
        let socket = UdpSocket::bind(("0.0.0.0", 0)).map_err(|e| Error::system("open a socket", e))?;
        Ok(Self { name: name.to_owned(), socket })
    }

    fn ask(
        &self,
        what: libc::Ioctl,
        doing: &str,
        fill: impl FnOnce(&mut libc::ifreq),
    ) -> Result<libc::ifreq, Error> {
        let mut request = request(&self.name)?;
        fill(&mut request);
        call(self.socket.as_raw_fd(), what, &mut request).map_err(|e| match e {
            Errno::ENODEV => Error::Refused {
                place: format!("interface \"{}\"", self.name),
                why: "there is none of this name in that namespace (ip link shows those there are)".into(),
            },
            e => Error::system(format!("{doing} {}", self.name), e),
        })?;
        Ok(request)
    }

    /// Its number; with it, whether it exists.
    pub fn index(&self) -> Result<i32, Error> {
        let answer = self.ask(libc::SIOCGIFINDEX, "find the interface", |_| {})?;
        // SAFETY: the request has filled in this field of the union.
        Ok(unsafe { answer.ifr_ifru.ifru_ifindex })
    }

    /// What its frames are: `ARPHRD_…`.
    pub fn kind(&self) -> Result<u16, Error> {
        let answer = self.ask(libc::SIOCGIFHWADDR, "find the kind of", |_| {})?;
        // SAFETY: as above.
        Ok(unsafe { answer.ifr_ifru.ifru_hwaddr.sa_family })
    }

    /// The largest IP packet it takes, bytes.
    pub fn mtu(&self) -> Result<u32, Error> {
        let answer = self.ask(libc::SIOCGIFMTU, "read the MTU of", |_| {})?;
        // SAFETY: as above.
        Ok(unsafe { answer.ifr_ifru.ifru_mtu } as u32)
    }

    /// Sets the largest IP packet.
    pub fn set_mtu(&self, mtu: u32) -> Result<(), Error> {
        self.ask(libc::SIOCSIFMTU, "set the MTU of", |r| r.ifr_ifru.ifru_mtu = mtu as c_int).map(drop)
    }

    /// Sets how many packets wait in it for their reader.
    pub fn set_queue(&self, packets: u32) -> Result<(), Error> {
        let fill = |r: &mut libc::ifreq| r.ifr_ifru.ifru_metric = packets as c_int; // the kernel's ifr_qlen lies there
        self.ask(libc::SIOCSIFTXQLEN, "set the queue of", fill).map(drop)
    }

    /// Takes it up.
    pub fn up(&self) -> Result<(), Error> {
        let now = self.ask(libc::SIOCGIFFLAGS, "read the flags of", |_| {})?;
        // SAFETY: as above.
        let flags = unsafe { now.ifr_ifru.ifru_flags } | libc::IFF_UP as i16;
        self.ask(libc::SIOCSIFFLAGS, "take up", |r| r.ifr_ifru.ifru_flags = flags).map(drop)
    }

    /// Gives it an address with the length of its network's prefix.
    pub fn set_address(&self, address: IpAddr, prefix: u8) -> Result<(), Error> {
        match address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
                let give = |octets: [u8; 4]| {
                    move |r: &mut libc::ifreq| r.ifr_ifru.ifru_addr = socket_address(octets)
                };
                self.ask(libc::SIOCSIFADDR, "give an address to", give(address.octets()))?;
                self.ask(libc::SIOCSIFNETMASK, "give a network to", give(mask.to_be_bytes())).map(drop)
            }
            IpAddr::V6(address) => {
                let socket =
                    UdpSocket::bind(("::", 0)).map_err(|e| Error::system("open an IPv6 socket", e))?;
                let request = libc::in6_ifreq {
                    ifr6_addr: libc::in6_addr { s6_addr: address.octets() },
                    ifr6_prefixlen: u32::from(prefix),
                    ifr6_ifindex: self.index()?,
                };
                let mut request = request;
                call(socket.as_raw_fd(), libc::SIOCSIFADDR, &mut request)
                    .map_err(|e| Error::system(format!("give {address} to {}", self.name), e))
            }
        }
    }

    /// One of ethtool's values.
    pub fn feature(&self, command: u32) -> Result<u32, Error> {
        self.ethtool(command, 0)
    }

    /// Sets one of ethtool's values.
    pub fn set_feature(&self, command: u32, value: u32) -> Result<(), Error> {
        self.ethtool(command, value).map(drop)
    }

    fn ethtool(&self, command: u32, value: u32) -> Result<u32, Error> {
        let mut value = [command, value]; // the kernel's struct ethtool_value
        let data = value.as_mut_ptr().cast();
        self.ask(libc::SIOCETHTOOL as libc::Ioctl, "ask ethtool of", |r| r.ifr_ifru.ifru_data = data)?;
        Ok(value[1])
    }
}

fn socket_address(octets: [u8; 4]) -> libc::sockaddr {
    let mut data = [0; 14];
    for (to, from) in data[2..].iter_mut().zip(octets) {
        *to = from as libc::c_char;
    }
    libc::sockaddr { sa_family: libc::AF_INET as u16, sa_data: data }
}

/// One ioctl whose argument is a structure that the kernel reads and fills in.
fn call<T>(fd: c_int, what: libc::Ioctl, argument: &mut T) -> Result<(), Errno> {
    // SAFETY: each caller passes the structure that belongs to the request; it lives until the call returns, and so does
    // what it points to.
    Errno::result(unsafe { libc::ioctl(fd, what, std::ptr::from_mut(argument)) }).map(drop)
}
