//! A port in the kernel, for as long as its handle lives.

use super::event::{Event, Events};
use super::layout::{self, event};
use super::params;
use super::port::Port;
use super::told::{self, Teller};
use crate::Error;
use libbpf_rs::{
    ErrorKind, Link, MapCore, MapFlags, MapMut, Object, ObjectBuilder, OpenObject, RingBuffer,
    RingBufferBuilder,
};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use truckee_host::bpf::{listen, parse, refused};

/// The program, compiled.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cc.bpf.o"));
/// Room for events of a port that records: 16 MiB hold some 140,000.
const RING: u32 = 16 << 20;
/// Longest name of a congestion control: TCP_CA_NAME_MAX less the terminating zero.
const MAX_NAME: usize = 15;
/// The struct_ops map of `bpf/cc.bpf.c`, by which its registrations can be told from others'.
pub(super) const OPS: &str = "truckee";
const RECORD: &str = "events";
/// The kernel's flag of a struct_ops map that is registered through a link (Linux 6.4).
const BPF_F_LINK: u32 = 1 << 13;

/// How a port is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registration {
    /// Through a BPF link: until nothing holds that.
    Link,
    /// As kernels before 6.4 do it: until it is told to end. A killed process leaves it behind.
    Plain,
}

/// A port that is registered as a congestion control of the kernel under a name. Dropping it removes the name;
/// connections that use it keep it until they end. A killed process leaves nothing registered.
#[derive(Debug)]
pub struct Loaded {
    name: String,
    /// Unregisters when dropped; none: it was handed over.
    link: Option<Link>,
    object: Object,
    registration: Registration,
    recorder: Option<Recorder>,
    /// Events that had found no room when it was last asked.
    lost: u64,
}

/// Where a port that records does so. It stays mapped: mapping the ring anew for each look costs more than all the rest of
/// a run, and makes the emulator's thread wait.
#[derive(Debug)]
struct Recorder {
    ring: RingBuffer<'static>,
    found: Rc<RefCell<Events>>,
}

impl Recorder {
    /// Of the port in `object`.
    fn of(object: &Object, name: &str) -> Result<Self, Error> {
        let doing = || format!("record what \"{name}\" does");
        let map = object.maps().find(|map| map.name() == RECORD).ok_or_else(|| broken(doing(), RECORD))?;
        let found = Rc::new(RefCell::new(Events::default()));
        let sink = Rc::clone(&found);
        let take = move |record: &[u8]| {
            let mut sink = sink.borrow_mut();
            match parse::<event>(record).as_ref().and_then(Event::of) {
                Some(event) => sink.list.push(event),
                None => sink.lost += 1,
            }
            0
        };
        let mut builder = RingBufferBuilder::new();
        builder.add(&map, take).map_err(|e| refused(doing(), &e))?;
        Ok(Self { ring: builder.build().map_err(|e| refused(doing(), &e))?, found })
    }

    /// What came since the last call; lost: what could not be read.
    fn take(&self) -> Result<Events, libbpf_rs::Error> {
        self.ring.consume()?;
        Ok(self.found.take())
    }
}

impl Loaded {
    /// Loads `port` and registers it as `kernel_name` (1 to 15 letters, digits, `_` and `-`); with `record`, what it is
    /// told and decides can be had from [`Self::events`].
    pub fn load(port: &Port, kernel_name: &str, record: bool) -> Result<Self, Error> {
        Self::load_with(port, kernel_name, &params::of(port, record))
    }

    /// As [`Self::load`] with `record`, and as on a kernel that passes the program over at one of `every` so many questions for a
    /// threshold, and at the change of state after it: for tests of what becomes of that.
    #[doc(hidden)]
    pub fn load_passed_over(port: &Port, kernel_name: &str, every: u64) -> Result<Self, Error> {
        Self::load_with(port, kernel_name, &layout::params { pass_over: every, ..params::of(port, true) })
    }

    fn load_with(port: &Port, kernel_name: &str, params: &layout::params) -> Result<Self, Error> {
        let linked = Self::load_as(port, kernel_name, params, Registration::Link);
        match &linked {
            Err(Error::Bpf { .. }) if before_links() => {
                Self::load_as(port, kernel_name, params, Registration::Plain)
            }
            _ => linked,
        }
    }

    pub(super) fn load_as(
        port: &Port,
        kernel_name: &str,
        params: &layout::params,
        registration: Registration,
    ) -> Result<Self, Error> {
        let record = params.record > 0;
        check_name(kernel_name)?;
        listen();
        let doing = || format!("load the congestion control \"{kernel_name}\"");
        let mut open = ObjectBuilder::default().open_memory(PROGRAM).map_err(|e| refused(doing(), &e))?;
        fill_in(&mut open, kernel_name, params, record)?;
        if port.wants_truth() {
            for mut map in open.maps_mut().filter(|map| map.name() == told::MAP) {
                map.set_max_entries(told::CONNECTIONS).map_err(|e| refused(doing(), &e))?;
            }
        }
        if registration == Registration::Plain {
            for mut ops in open.maps_mut().filter(|map| map.name() == OPS) {
                let flags = ops.map_flags() & !BPF_F_LINK;
                ops.set_map_flags(flags).map_err(|e| refused(doing(), &e))?;
            }
        }
        let mut object = open.load().map_err(|e| refused(doing(), &e))?;
        let link = match ops(&mut object) {
            Some(mut ops) => ops.attach_struct_ops(),
            None => return Err(broken(doing(), OPS)),
        };
        let link = link.map_err(|e| refused(registering(kernel_name), &e))?;
        let recorder = record.then(|| Recorder::of(&object, kernel_name)).transpose()?;
        Ok(Self { name: kernel_name.to_owned(), link: Some(link), object, registration, recorder, lost: 0 })
    }

    /// Its name in the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// By which it is told of losses; a port that goes by no truth hears nothing of what is told.
    pub fn teller(&self) -> Result<Teller, Error> {
        let map = self.object.maps().find(|map| map.name() == told::MAP);
        let doing = || format!("tell \"{}\" of losses", self.name);
        Teller::of(&map.ok_or_else(|| broken(doing(), told::MAP))?)
    }

    /// What was recorded since the last call.
    pub fn events(&mut self) -> Result<Events, Error> {
        let doing = || format!("read what \"{}\" recorded", self.name);
        let recorder = self.recorder.as_ref();
        let found = recorder.map(Recorder::take).transpose().map_err(|e| refused(doing(), &e))?;
        let Events { list, lost: unreadable } = found.unwrap_or_default();
        let lost = self.lost()?;
        let new = lost - std::mem::replace(&mut self.lost, lost);
        Ok(Events { list, lost: new + unreadable })
    }

    /// Events that found no room, over all.
    fn lost(&self) -> Result<u64, Error> {
        let doing = || format!("read what \"{}\" recorded", self.name);
        let counters = self.object.maps().find(|map| map.name().to_string_lossy().ends_with(".bss"));
        let counters = counters.ok_or_else(|| broken(doing(), ".bss"))?;
        let value = counters.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(|e| refused(doing(), &e))?;
        let lost = value.as_deref().and_then(|v| v.first_chunk::<8>()).copied();
        Ok(u64::from_ne_bytes(lost.ok_or_else(|| broken(doing(), ".bss"))?))
    }

    /// Leaves it registered, held by `path` in the BPF file system. `make_folder` makes its folder. That another command may take it back at the same time, whose pin was the last in it, is
    /// why the two belong together.
    pub(super) fn leave(
        mut self,
        path: &Path,
        make_folder: impl Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(mut link) = self.link.take() else { return Ok(()) };
        for left in (0..FOLDER_TAKEN_BACK).rev() {
            make_folder()?;
            match link.pin(path) {
                Err(e) if e.kind() == ErrorKind::NotFound && left > 0 => {}
                pinned => {
                    pinned.map_err(|e| refused(format!("pin {}", path.display()), &e))?;
                    break;
                }
            }
        }
        if self.registration == Registration::Plain {
            link.disconnect(); // what is pinned is the map, and dropping the link would end the registration
        }
        Ok(())
    }
}

/// How often a pin's folder may be taken back between its making and the pin.
const FOLDER_TAKEN_BACK: usize = 100;

/// Whether the kernel is older than struct_ops links: than Linux 6.4.
fn before_links() -> bool {
    let release = nix::sys::utsname::uname().map(|name| name.release().to_string_lossy().into_owned());
    let mut numbers = release.iter().flat_map(|r| r.split(['.', '-'])).map_while(|n| n.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version < (6, 4)
}

fn registering(name: &str) -> String {
    format!("register the congestion control \"{name}\" (is there one of that name already?)")
}

/// An object that does not have what this crate compiled into it.
fn broken(doing: String, what: &str) -> Error {
    Error::Bpf { doing, reason: format!("its BPF object has no {what} as this program expects it") }
}

fn check_name(name: &str) -> Result<(), Error> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(good) {
        return Ok(());
    }
    Err(Error::Refused {
        place: format!("congestion control \"{name}\""),
        why: format!("a name in the kernel is 1 to {MAX_NAME} letters, digits, \"_\" and \"-\""),
    })
}

/// Writes the name, the parameters and the size of the ring before the kernel sees the object.
fn fill_in(open: &mut OpenObject, name: &str, params: &layout::params, record: bool) -> Result<(), Error> {
    let doing = || format!("load the congestion control \"{name}\"");
    let mut filled = 0;
    for mut map in open.maps_mut() {
        let of = map.name().to_string_lossy().into_owned();
        let text = match of.as_str() {
            OPS => {
                let mut text = name.as_bytes().to_vec();
                text.resize(MAX_NAME + 1, 0);
                text
            }
            _ if of.contains(".rodata.par") => bytemuck::bytes_of(params).to_vec(),
            RECORD => {
                if record {
                    map.set_max_entries(RING).map_err(|e| refused(doing(), &e))?;
                }
                continue;
            }
            _ => continue,
        };
        let whole = of != OPS;
        let value =
            map.initial_value_mut().filter(|v| v.len() == text.len() || (!whole && v.len() > text.len()));
        let value = value.ok_or_else(|| broken(doing(), &of))?;
        value[..text.len()].copy_from_slice(&text);
        filled += 1;
    }
    if filled == 2 { Ok(()) } else { Err(broken(doing(), "name and parameters")) }
}

fn ops(object: &mut Object) -> Option<MapMut<'_>> {
    object.maps_mut().find(|map| map.name() == OPS)
}
