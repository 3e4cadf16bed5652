//! Congestion controls of a run, registered as BPF `struct_ops`: `tkID_K`.
//!
//! Registered ones outlive the process that loaded them. They are found by the kernel's list of names, then among the
//! BPF maps of type `struct_ops` by the name that the map's value holds, at the place that the kernel's BTF gives.

use crate::Error;
use crate::identity::id_of_control;
use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::btf::{Btf, TypeId};
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use std::fs;

/// The kernel's list of congestion controls, whatever the namespace.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The controls of a run.
pub(super) fn of(id: &str) -> Vec<String> {
    registered_with(|name| id_of_control(name) == Some(id))
}

/// The names of congestion controls in the kernel that pass a test.
pub fn registered_with(test: impl Fn(&str) -> bool) -> Vec<String> {
    let names = fs::read_to_string(AVAILABLE).unwrap_or_default();
    names.split_whitespace().filter(|name| test(name)).map(str::to_owned).collect()
}

/// Unregisters a control. Sockets that have it keep it until they close.
pub(super) fn remove(name: &str) -> Result<(), Error> {
    let doing = || format!("remove the congestion control {name}");
    let refused = |reason: String| Error::Bpf { doing: doing(), reason };
    let btf = Btf::from_vmlinux().map_err(|e| refused(format!("the kernel's BTF: {e}")))?;
    let maps = MapInfoIter::default().filter(|map| map.ty == MapType::StructOps);
    for info in maps {
        // A map may vanish between being listed and being opened.
        let Ok(map) = MapHandle::from_map_id(info.id) else { continue };
        let Ok(Some(value)) = map.lookup(&0_u32.to_ne_bytes(), MapFlags::empty()) else { continue };
        let at = name_at(&btf, info.btf_vmlinux_value_type_id);
        if at.and_then(|at| text_at(&value, at)) == Some(name) {
            return map.delete(&0_u32.to_ne_bytes()).map_err(|e| refused(e.to_string()));
        }
    }
    if registered_with(|known| known == name).is_empty() {
        return Ok(()); // it went by itself
    }
    Err(refused("no BPF map of this machine that we may look into holds it (root may)".into()))
}

/// Where in the map's value a congestion control has its name: `data.name`, bytes.
fn name_at(btf: &Btf<'_>, value_type: u32) -> Option<usize> {
    let value: Struct<'_> = btf.type_by_id(TypeId::from(value_type))?;
    let member = |of: &Struct<'_>, name: &str| {
        let found = of.iter().find(|m| m.name.is_some_and(|n| n == name))?;
        let MemberAttr::Normal { offset } = found.attr else { return None };
        Some((found.ty, offset as usize / 8))
    };
    let (data, data_at) = member(&value, "data")?;
    let ops: Struct<'_> = btf.type_by_id(data)?;
    if ops.name().is_none_or(|name| name != "tcp_congestion_ops") {
        return None;
    }
    let (_, name_at) = member(&ops, "name")?;
    Some(data_at + name_at)
}

/// The text that begins at a place, up to its NUL.
fn text_at(value: &[u8], at: usize) -> Option<&str> {
    std::ffi::CStr::from_bytes_until_nul(value.get(at..)?).ok()?.to_str().ok()
}
