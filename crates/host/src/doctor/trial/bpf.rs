//! Trials of BPF, with the programs of `bpf/doctor.bpf.c`.

use crate::session::Session;
use crate::{Error, clean};
use libbpf_rs::btf::Btf;
use libbpf_rs::{Link, MapCore, MapType, Object, ObjectBuilder, TC_EGRESS, TcHookBuilder};
use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;

/// The programs, compiled.
static PROGRAMS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/doctor.bpf.o"));
/// The control that stays until it is removed.
pub(super) const KEPT: &str = "kept";
/// The control that goes with its link.
pub(super) const LINKED: &str = "linked";
/// The functions of both.
const OPS: [&str; 3] = ["probe_ssthresh", "probe_avoid", "probe_undo"];
/// Bytes of a congestion control's name, which is first in its structure.
const NAME: usize = 16;

pub(super) fn refused(doing: &str, error: &libbpf_rs::Error) -> Error {
    Error::Bpf { doing: doing.to_owned(), reason: error.to_string() }
}

/// Reads the kernel's types.
pub(super) fn types() -> Result<String, libbpf_rs::Error> {
    Ok(format!("{} types", Btf::from_vmlinux()?.len()))
}

/// Loads of our programs only the named one, or those of the named control, under that control's name.
fn load(only: &str, control: &str) -> Result<Object, libbpf_rs::Error> {
    let mut open = ObjectBuilder::default().open_memory(PROGRAMS)?;
    for mut map in open.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        let wanted = map.name() == only;
        map.set_autocreate(wanted)?;
        if let Some((name, _)) = map.initial_value_mut().and_then(|value| value.split_at_mut_checked(NAME)) {
            name.fill(0);
            name[..control.len()].copy_from_slice(control.as_bytes());
        }
    }
    let of_control = [KEPT, LINKED].contains(&only);
    for mut program in open.progs_mut() {
        let of_it = of_control && OPS.iter().any(|ops| program.name() == *ops);
        let wanted = of_it || program.name() == only;
        program.set_autoload(wanted);
    }
    open.load()
}

fn lost(what: &str) -> libbpf_rs::Error {
    io::Error::other(format!("{what} is not in the object")).into()
}

fn control(kind: &str, name: &str) -> Result<(Link, Object), libbpf_rs::Error> {
    let mut object = load(kind, name)?;
    let link =
        object.maps_mut().find(|map| map.name() == kind).ok_or_else(|| lost(kind))?.attach_struct_ops()?;
    Ok((link, object))
}

/// Registers a congestion control that stays when this process is killed.
#[cfg(test)]
pub fn kept_control(name: &str) {
    std::mem::forget(control(KEPT, name).unwrap());
}

/// Registers a congestion control, and removes it.
pub(super) fn register(session: &Session, kind: &str) -> Result<String, Error> {
    let name = session.control(0);
    let listed = || !clean::registered_with(|known| known == name).is_empty();
    let doing = "register a congestion control";
    let held = control(kind, &name).map_err(|e| refused(doing, &e))?;
    let there = listed();
    drop(held);
    // Its last references are dropped after a grace period.
    let gone = (0..100).any(|_| {
        !listed() || {
            std::thread::sleep(std::time::Duration::from_millis(5));
            false
        }
    });
    match (there, gone) {
        (true, true) => Ok("registered one, and removed it".into()),
        (true, false) => Err(refused(doing, &io::Error::other("it could not be removed again").into())),
        (false, _) => Err(refused(doing, &io::Error::other("the kernel does not list it").into())),
    }
}

/// Traces TCP, for a moment.
pub(super) fn trace() -> Result<String, Error> {
    let traced = || {
        let object = load("probe_trace", "")?;
        let program = object.progs_mut().find(|p| p.name() == OsStr::new("probe_trace"));
        program.ok_or_else(|| lost("probe_trace"))?.attach_trace()
    };
    drop(traced().map_err(|e| refused("trace TCP", &e))?);
    Ok("traced tcp_probe".into())
}

/// Attaches a program to the egress of an interface of this thread's namespace, and removes it.
pub(super) fn attach(interface: i32) -> Result<String, Error> {
    let attached = || {
        let object = load("probe_pass", "")?;
        let program = object.progs_mut().find(|p| p.name() == OsStr::new("probe_pass"));
        let program = program.ok_or_else(|| lost("probe_pass"))?;
        let mut hook = TcHookBuilder::new(program.as_fd());
        let mut hook = hook.ifindex(interface).replace(true).handle(1).priority(1).hook(TC_EGRESS);
        hook.create()?.attach()?;
        hook.destroy()
    };
    attached().map_err(|e| refused("attach a program to an interface", &e))?;
    Ok("attached a program to egress".into())
}
