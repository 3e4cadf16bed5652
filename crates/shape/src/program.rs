//! The BPF programs in the kernel: loaded, hung on interfaces, and told what to do.

use super::arrival::Turn;
use super::devices::Found;
use super::flow::Connection;
use super::layout::{counts, setup};
use super::manner;
use super::{Counts, MOST_FLOWS, Policy, Scope};
use crate::Error;
use libbpf_rs::{MapCore, MapFlags, MapHandle, Object, ObjectBuilder, OpenObject};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use truckee_host::bpf::{parse, refused};
use truckee_host::netns::Netns;

/// The programs, compiled.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shape.bpf.o"));

/// The marks of packets that have been dealt with; nobody else's packets carry them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    pub copy: u32,
    pub release: u32,
}

impl Marks {
    fn draw() -> Self {
        let random = RandomState::new().hash_one(std::process::id());
        // Never 0, which is what packets without a mark carry, and never the same.
        Self { copy: random as u32 | 1, release: (random >> 32) as u32 & !1 | 2 }
    }
}

/// The programs. Dropped, they are gone from the interfaces.
#[derive(Debug)]
pub(super) struct Program {
    object: Object,
    /// What keeps them on the interfaces, by the interface's number.
    links: BTreeMap<u32, [OwnedFd; 2]>,
    pub marks: Marks,
}

impl Program {
    /// Loads them; they are nowhere yet.
    pub fn load(scope: &Scope, policies: &[Policy], most_flows: u32) -> Result<Self, Error> {
        let doing = || "load the BPF program that shapes ACKs".to_owned();
        let marks = Marks::draw();
        let mut open = ObjectBuilder::default().open_memory(PROGRAM).map_err(|e| refused(doing(), &e))?;
        set_up(&mut open, &setup_of(scope, marks)?, most_flows).map_err(|e| refused(doing(), &e))?;
        let object = open.load().map_err(|e| refused(doing(), &e))?;
        let program = Self { object, links: BTreeMap::new(), marks };
        for (index, policy) in policies.iter().enumerate() {
            program.set_policy(index, policy)?;
        }
        if let Scope::Ports(ports) = scope {
            let map = program.map("ports")?;
            for (port, policy) in ports {
                let policy = u16::try_from(*policy).unwrap_or(u16::MAX);
                let done = map.update(&port.to_ne_bytes(), &policy.to_ne_bytes(), MapFlags::ANY);
                done.map_err(|e| refused("say which connections are shaped", &e))?;
            }
        }
        Ok(program)
    }

    /// Hangs them on an interface, which is one of `namespace`, or of the calling thread's. What hangs there already
    /// stays. Returns whether the interface is still there.
    pub fn attach(&mut self, device: &Found, namespace: Option<&Netns>) -> Result<bool, Error> {
        if self.links.contains_key(&device.index) {
            return Ok(true);
        }
        let devices = self.map("devices")?;
        let told = devices.update(&device.index.to_ne_bytes(), &device.l2.to_ne_bytes(), MapFlags::ANY);
        told.map_err(|e| refused(format!("shape ACKs on {}", device.name), &e))?;
        let ends = [("incoming", libbpf_sys::BPF_TCX_INGRESS), ("outgoing", libbpf_sys::BPF_TCX_EGRESS)];
        let programs: Vec<(i32, u32)> =
            ends.iter().map(|(name, at)| Ok((self.program(name)?, *at))).collect::<Result<_, Error>>()?;
        let hang = || programs.iter().map(|(program, at)| link(*program, device.index, *at)).collect();
        let links: Result<Vec<OwnedFd>, std::io::Error> = match namespace {
            Some(namespace) => namespace.enter(hang)?,
            None => hang(),
        };
        let links = match links {
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => return Ok(false),
            links => links.map_err(|e| unattached(&device.name, e))?,
        };
        if let Ok(pair) = links.try_into() {
            self.links.insert(device.index, pair);
        }
        Ok(true)
    }

    /// Forgets the interfaces that are gone: those whose number is not among these.
    pub fn keep(&mut self, there: &[Found]) {
        self.links.retain(|index, _| there.iter().any(|found| found.index == *index));
    }

    /// From now on that policy is this.
    pub fn set_policy(&self, index: usize, policy: &Policy) -> Result<(), Error> {
        let map = self.map("policies")?;
        let done =
            map.update(&(index as u32).to_ne_bytes(), bytemuck::bytes_of(&manner::of(policy)), MapFlags::ANY);
        done.map_err(|e| refused("tell the BPF program what to do with ACKs", &e))
    }

    /// From now on ACKs pass as they are. It is not an error if that cannot be said: the links will go all the same.
    pub fn pass_all(&self, policies: usize) {
        for index in 0..policies {
            let _ = self.set_policy(index, &Policy::as_it_is());
        }
    }

    /// What has been counted, on all processors; the timer's lateness is not known here.
    pub fn counts(&self) -> Result<Counts, Error> {
        let doing = "read what the BPF program has counted";
        let found = self.map("counts")?.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY);
        let found = found.map_err(|e| refused(doing, &e))?.unwrap_or_default();
        let mut counts = Counts::default();
        for record in &found {
            let short = || Error::Bpf { doing: doing.into(), reason: format!("{} bytes", record.len()) };
            counts.add(&parse::<counts>(record).ok_or_else(short)?);
        }
        Ok(counts)
    }

    /// One of its maps, to be used from another thread.
    pub fn map(&self, name: &str) -> Result<MapHandle, Error> {
        let missing = || Error::Bpf {
            doing: format!("find the map \"{name}\" of the BPF program that shapes ACKs"),
            reason: "it is not part of this build".into(),
        };
        let map = self.object.maps().find(|map| map.name() == name).ok_or_else(missing)?;
        MapHandle::try_from(&map).map_err(|e| refused(format!("use the map \"{name}\""), &e))
    }

    fn program(&self, name: &str) -> Result<i32, Error> {
        let missing = || Error::Bpf {
            doing: format!("find the BPF program \"{name}\""),
            reason: "it is not part of this build".into(),
        };
        let program = self.object.progs().find(|program| program.name() == name).ok_or_else(missing)?;
        Ok(program.as_fd().as_raw_fd())
    }
}

/// Tells the program of a connection's manner.
pub(super) fn tell(manners: &MapHandle, connection: &Connection, turn: &Turn) -> Result<(), Error> {
    let told = manner::of_connection(&turn.manner, turn.since, &turn.before);
    let done = manners.update(connection.key(), bytemuck::bytes_of(&told), MapFlags::ANY);
    done.map_err(|e| refused("tell the BPF program what to do with a connection's ACKs", &e))
}

/// The program's constants.
fn setup_of(scope: &Scope, marks: Marks) -> Result<setup, Error> {
    let (cgroup, level) = match scope {
        Scope::Cgroup(folder) => cgroup(folder)?,
        Scope::Everything | Scope::Ports(_) => (0, 0),
    };
    let by_port = matches!(scope, Scope::Ports(_)).into();
    Ok(setup { cgroup, level, copy_mark: marks.copy, release_mark: marks.release, by_port })
}

/// The number by which the kernel knows a control group, and its depth below the root.
fn cgroup(folder: &Path) -> Result<(u64, u32), Error> {
    let there =
        fs::metadata(folder).map_err(|e| Error::system(format!("look at {}", folder.display()), e))?;
    let mount = truckee_host::clean::cgroup_mount();
    let below = mount.as_deref().and_then(|mount| folder.strip_prefix(mount).ok());
    match below {
        Some(below) => Ok((there.ino(), below.components().count() as u32)),
        None => Err(Error::Refused {
            place: format!("control group \"{}\"", folder.display()),
            why: "it is none of cgroup v2".into(),
        }),
    }
}

fn set_up(open: &mut OpenObject, setup: &setup, most_flows: u32) -> Result<(), libbpf_rs::Error> {
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if name == ".rodata.setup"
            && let Some(value) = map.initial_value_mut()
        {
            let setup = bytemuck::bytes_of(setup);
            value[..setup.len()].copy_from_slice(setup);
        }
        if ["flows", "held", "manners"].contains(&name.as_str()) {
            map.set_max_entries(most_flows.clamp(1, MOST_FLOWS))?;
        }
    }
    Ok(())
}

fn link(program: i32, device: u32, at: u32) -> Result<OwnedFd, std::io::Error> {
    // SAFETY: plain numbers; without options the pointer may be null.
    let fd = unsafe { libbpf_sys::bpf_link_create(program, device as i32, at, std::ptr::null()) };
    if fd < 0 {
        return Err(std::io::Error::from_raw_os_error(-fd));
    }
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn unattached(device: &str, error: std::io::Error) -> Error {
    match error.raw_os_error() {
        Some(libc::EPERM) => Error::without_right(&format!("shape ACKs on {device}")),
        Some(libc::EINVAL) => Error::Missing {
            what: format!("this kernel takes no BPF program on {device} that goes when its owner goes (TCX)"),
            mend: "use Linux 6.6 or newer".into(),
        },
        _ => Error::system(format!("shape ACKs on {device}"), error),
    }
}
