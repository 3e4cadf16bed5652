//! The trials: each does the thing, and takes it back.

mod bpf;
mod qdisc;

#[cfg(test)]
pub use bpf::kept_control;

use super::capability::Capability;
use super::finding::{Finding, Trial};
use crate::Error;
use crate::clean::{self, PINS};
use crate::identity::id_of_control;
use crate::netns::Netns;
use crate::rights::in_folders;
use crate::session::Session;
use libbpf_rs::{MapHandle, MapType};
use std::cell::OnceCell;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};

/// Capabilities by their numbers in linux/capability.h.
const CAPABILITIES: &[(&str, u32)] =
    &[("CAP_NET_ADMIN", 12), ("CAP_SYS_ADMIN", SYS_ADMIN), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];
const SYS_ADMIN: u32 = 21;
/// The loopback, which every namespace has, by its index.
const LOOPBACK: i32 = 1;

/// Where things are tried: a session and a namespace of their own, made when they are first wanted.
pub(super) struct Bench<'a> {
    more: &'a [Trial],
    place: OnceCell<Result<(Netns, Session), String>>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(more: &'a [Trial]) -> Self {
        Self { more, place: OnceCell::new() }
    }

    pub(super) fn tries(&self, what: Capability) -> Finding {
        // What libbpf has to say comes with its errors.
        let before = libbpf_rs::set_print(None);
        let finding = self.find(what);
        libbpf_rs::set_print(before);
        finding
    }

    fn find(&self, what: Capability) -> Finding {
        match what {
            Capability::Linux | Capability::Built | Capability::Clang => Finding::untried("needs no trial"),
            Capability::Lockdown => lockdown(),
            Capability::Controls => controls(),
            Capability::Leftovers => leftovers(),
            Capability::WebPage => found(web_page()),
            Capability::Btf => found(bpf::types()),
            Capability::Privileges => privileges(),
            _ if !lacking().is_empty() => Finding::untried("needs root's capabilities"),
            Capability::Namespaces => self.with(|_, ns| Ok(format!("made one, number {}", ns.inode()))),
            Capability::Tun => self.with(|_, ns| ns.enter(|| tun("tk0"))?.map(|_| "made one".to_owned())),
            Capability::StructOps => self.with(|session, _| bpf::register(session, bpf::KEPT)),
            Capability::StructOpsLink => self.with(|session, _| bpf::register(session, bpf::LINKED)),
            Capability::Tracing => found(bpf::trace()),
            Capability::Tc => self.with(|_, ns| ns.enter(|| bpf::attach(LOOPBACK))?),
            Capability::Shaping => self.elsewhere(what),
            Capability::Cgroup => self.with(|session, _| cgroup(session)),
            Capability::Pins => self.with(|session, _| pin(session)),
            Capability::RealTime => real_time(),
            Capability::Netem => self.with(|_, ns| ns.enter(|| qdisc::add("netem", LOOPBACK))?),
            Capability::Fq => self.with(|_, ns| ns.enter(|| qdisc::add("fq", LOOPBACK))?),
        }
    }

    /// By the trial that the caller has brought.
    fn elsewhere(&self, what: Capability) -> Finding {
        match self.more.iter().find(|(tried, _)| *tried == what) {
            Some((_, try_it)) => self.with(|_, ns| try_it(ns.name())),
            None => Finding::untried("nobody here knows how to try it"),
        }
    }

    fn with(&self, try_it: impl FnOnce(&Session, &Netns) -> Result<String, Error>) -> Finding {
        let place = self.place.get_or_init(|| {
            let session = Session::begin().map_err(|e| e.to_string())?;
            let ns = Netns::create(&session.namespace("doctor")).map_err(|e| e.to_string())?;
            Ok((ns, session))
        });
        match place {
            Ok((ns, session)) => found(try_it(session, ns)),
            Err(error) => Finding::missing(error),
        }
    }
}

fn found<E: std::fmt::Display>(done: Result<String, E>) -> Finding {
    match done {
        Ok(seen) => Finding::works(seen),
        Err(error) => Finding::missing(error.to_string()),
    }
}

/// Asks the web server and its client for their versions.
fn web_page() -> Result<String, String> {
    let version = |program: &str, option: &str| {
        let said = Command::new(program).arg(option).stdin(Stdio::null()).output();
        let said = said.map_err(|e| format!("{program}: {e}"))?;
        // nginx says it on stderr.
        let text = [said.stdout, said.stderr].concat();
        let first = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned();
        let words: Vec<&str> = first.trim_start_matches("nginx version: ").split(' ').take(2).collect();
        Ok::<_, String>(words.join(" "))
    };
    Ok(format!("{}, {}", version("nginx", "-v")?, version("curl", "--version")?))
}

/// Those of root's capabilities that this process lacks.
fn lacking() -> Vec<&'static str> {
    // Those that it may have in effect.
    let mask = rustix::thread::capabilities(None).map_or(0, |sets| sets.permitted.bits());
    let has = |bit: u32| mask >> bit & 1 == 1;
    // CAP_SYS_ADMIN stands for those that were split off from it.
    let lacks = |bit: u32| !has(bit) && (bit <= SYS_ADMIN || !has(SYS_ADMIN));
    CAPABILITIES.iter().filter(|(_, bit)| lacks(*bit)).map(|(name, _)| *name).collect()
}

fn privileges() -> Finding {
    match lacking() {
        lacking if lacking.is_empty() => Finding::works("all that are wanted"),
        lacking => Finding::missing(format!("without {}", lacking.join(", "))),
    }
}

/// A TUN device in the namespace of this thread; it goes when the file is closed.
pub fn tun(name: &str) -> Result<File, Error> {
    nix::ioctl_write_ptr_bad!(tunsetiff, libc::TUNSETIFF, libc::ifreq);
    let file = in_folders(|| OpenOptions::new().read(true).write(true).open("/dev/net/tun"));
    let file = file.map_err(|e| Error::system("open /dev/net/tun", e))?;
    // SAFETY: an ifreq is a name and a union of plain numbers and pointers: all zeros is one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the file is open, and the request an ifreq that outlives the call.
    unsafe { tunsetiff(file.as_raw_fd(), &raw const request) }
        .map_err(|e| Error::system("make a TUN device", e))?;
    Ok(file)
}

fn cgroup(session: &Session) -> Result<String, Error> {
    let mount = clean::cgroup_mount().ok_or_else(|| Error::Broken("cgroup v2 is not mounted".into()))?;
    let path = mount.join(session.cgroup());
    let doing = |e: io::Error| Error::system(format!("make {}", path.display()), e);
    in_folders(|| fs::create_dir(&path).and_then(|()| fs::remove_dir(&path))).map_err(doing)?;
    Ok(format!("made one in {}", mount.display()))
}

fn pin(session: &Session) -> Result<String, Error> {
    let options = libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_sys::bpf_map_create_opts>() as libbpf_sys::size_t,
        ..Default::default()
    };
    let path = Path::new(PINS).join(session.control(0));
    let map = MapHandle::create(MapType::Array, Some("truckee"), 4, 4, 1, &options);
    let pinned = map.and_then(|mut map| {
        in_folders(|| {
            map.pin(&path)?;
            map.unpin(&path)
        })
    });
    pinned.map_err(|e| bpf::refused("pin a BPF map", &e))?;
    Ok(format!("pinned a map in {PINS}"))
}

/// Takes real-time priority, on a thread that ends with it.
fn real_time() -> Finding {
    let done = std::thread::spawn(|| {
        let parameters = libc::sched_param { sched_priority: 1 };
        // SAFETY: 0 is this thread, and the parameters outlive the call.
        let done = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok("took it (SCHED_FIFO)".to_owned()) }
    });
    found(done.join().unwrap_or_else(|_| Err(io::Error::other("the thread panicked"))))
}

fn lockdown() -> Finding {
    let text = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    let mode = text.split(['[', ']']).nth(1).unwrap_or("none");
    if mode == "confidentiality" {
        Finding::missing(mode)
    } else {
        Finding::works(format!("lockdown: {mode}"))
    }
}

fn controls() -> Finding {
    let names = clean::registered_with(|name| id_of_control(name).is_none());
    if names.is_empty() { Finding::missing("none") } else { Finding::works(names.join(" ")) }
}

fn leftovers() -> Finding {
    match clean::clean(true) {
        Err(error) => Finding::missing(error.to_string()),
        Ok(runs) => {
            let dead: Vec<String> = runs.into_iter().filter(|r| !r.alive).map(|r| r.id).collect();
            if dead.is_empty() {
                Finding::works("none")
            } else {
                Finding::missing(format!("of {}", dead.join(" ")))
            }
        }
    }
}
