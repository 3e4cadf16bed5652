//! Controls in the running kernel: loaded for all, for a run, and gone again.

use super::super::load::Registration;
use super::*;
use crate::{find, params};
use socket2::{Domain, Socket, Type};
use truckee_host::doctor::Capability;
use truckee_host::testing::able;

fn port() -> Port {
    find("newreno-lp").unwrap().port().unwrap()
}

fn has(name: &str) -> bool {
    available().unwrap().iter().any(|n| n == name)
}

fn unique(what: &str) -> String {
    format!("tk{what}{:x}", std::process::id())
}

/// Asks for the control as any program would.
fn usable(name: &str) -> bool {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_tcp_congestion(name.as_bytes()).is_ok()
}

#[test]
fn a_control_that_is_loaded_for_all_stays_until_it_is_unloaded() {
    if !able(&[Capability::StructOps]) {
        return;
    }
    let name = unique("all");
    load_for_all(&port(), &name).unwrap();
    assert!(has(&name) && usable(&name));
    let listed = list().unwrap();
    let owner = |name: &str| listed.iter().find(|c| c.name == name).map(|c| c.owner);
    assert_eq!(owner(&name), Some(Owner::Installed));
    assert_eq!(owner("reno"), Some(Owner::Kernel));
    unload(&name).unwrap();
    assert!(!has(&name) && !usable(&name) && !pin(&name).exists());
}

#[test]
fn a_kernel_without_links_can_do_the_same() {
    if !able(&[Capability::StructOps]) {
        return;
    }
    let name = unique("old");
    Loaded::load_as(&port(), &name, &params::of(&port(), false), Registration::Plain)
        .unwrap()
        .leave(&pin(&name), make_folder)
        .unwrap();
    assert!(has(&name) && usable(&name));
    unload(&name).unwrap();
    assert!(!has(&name));
}

#[test]
fn commands_that_load_and_unload_beside_each_other_leave_each_other_the_folder() {
    if !able(&[Capability::StructOps]) {
        return;
    }
    std::thread::scope(|scope| {
        for what in ["one", "two", "thr"] {
            scope.spawn(move || {
                for _ in 0..10 {
                    load_for_all(&port(), &unique(what)).unwrap();
                    unload(&unique(what)).unwrap();
                }
            });
        }
    });
}

#[test]
fn a_run_s_control_ends_with_its_handle() {
    if !able(&[Capability::StructOps]) {
        return;
    }
    for (what, registration) in [("lnk", Registration::Link), ("pln", Registration::Plain)] {
        let name = unique(what);
        let loaded = Loaded::load_as(&port(), &name, &params::of(&port(), false), registration).unwrap();
        assert!(usable(&name));
        assert!(Loaded::load(&port(), &name, false).is_err(), "twice under one name");
        drop(loaded);
        assert!(!has(&name), "{registration:?}");
    }
}

#[test]
fn nothing_of_others_is_unloaded() {
    if !able(&[Capability::StructOps]) {
        return;
    }
    for name in ["reno", "cubic", "no-such", "../reno"] {
        assert!(matches!(unload(name), Err(Error::Refused { .. })), "{name}");
    }
    let name = unique("own");
    let loaded = Loaded::load(&port(), &name, false).unwrap();
    assert!(unload(&name).is_err(), "a run's");
    assert!(has(loaded.name()));
}

#[test]
fn names_that_the_kernel_has_no_room_for_are_refused() {
    for name in ["", "sixteen_letters_", "a b", "tk_ü"] {
        assert!(matches!(Loaded::load(&port(), name, false), Err(Error::Refused { .. })), "{name}");
    }
}
