use super::*;
use crate::doctor::Capability;
use crate::session::Session;
use crate::testing::{able, tun};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::Read;
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::os::fd::AsFd;
use std::process::Command;
use truckee_tcp::Span;

fn names() -> Vec<String> {
    crate::clean::names_in(Path::new(FOLDER))
}

/// What a program says inside a namespace.
fn inside(ns: &Netns, program: &str, arguments: &[&str]) -> String {
    let output = ns.enter(|| Command::new(program).args(arguments).output()).unwrap().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_namespace_is_there_until_it_is_dropped() {
    if !able(&[Capability::Namespaces]) {
        return;
    }
    let session = Session::begin().unwrap();
    let name = session.namespace("life");
    let ns = Netns::create(&name).unwrap();
    assert!(names().contains(&name));
    let seen = ns.enter(|| fs::metadata("/proc/thread-self/ns/net").unwrap().ino()).unwrap();
    let outside = fs::metadata("/proc/thread-self/ns/net").unwrap().ino();
    assert_eq!(seen, ns.inode());
    assert_ne!(outside, ns.inode(), "this thread has stayed where it was");
    drop(ns);
    assert!(!names().contains(&name));
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&name), "{mounts}");
}

#[test]
fn a_name_that_exists_is_refused_and_left_alone() {
    if !able(&[Capability::Namespaces]) {
        return;
    }
    let session = Session::begin().unwrap();
    let ns = Netns::create(&session.namespace("twice")).unwrap();
    let refused = Netns::create(ns.name()).unwrap_err().to_string();
    assert!(refused.contains(ns.name()) && refused.contains("exists already"), "{refused}");
    let opened = Netns::open(ns.name()).unwrap();
    assert_eq!(opened.inode(), ns.inode());
    drop(opened);
    assert_eq!(Netns::open(ns.name()).unwrap().inode(), ns.inode(), "opening and closing does not remove it");
}

#[test]
fn what_was_deleted_and_made_anew_by_another_is_not_ours_to_remove() {
    if !able(&[Capability::Namespaces]) {
        return;
    }
    let session = Session::begin().unwrap();
    let name = session.namespace("anew");
    let ours = Netns::create(&name).unwrap();
    remove(&name).unwrap();
    let theirs = Netns::create(&name).unwrap();
    drop(ours);
    assert_eq!(Netns::open(&name).unwrap().inode(), theirs.inode());
}

#[test]
fn ip_netns_knows_our_namespaces() {
    if !able(&[Capability::Namespaces]) {
        return;
    }
    let session = Session::begin().unwrap();
    let ns = Netns::create(&session.namespace("known")).unwrap();
    let list = Command::new("ip").args(["netns", "list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&list.stdout).contains(ns.name()));
    let links = Command::new("ip").args(["netns", "exec", ns.name(), "ip", "-o", "link"]).output().unwrap();
    assert!(String::from_utf8_lossy(&links.stdout).starts_with("1: lo:"), "{links:?}");
}

#[test]
fn names_that_no_file_can_have_are_refused() {
    for name in ["", ".", "..", "a/b", &"x".repeat(256)] {
        let refused = Netns::create(name).unwrap_err().to_string();
        assert!(refused.contains("no network namespace can have this name"), "{refused}");
    }
}

#[test]
fn a_panic_inside_comes_out() {
    if !able(&[Capability::Namespaces]) {
        return;
    }
    let session = Session::begin().unwrap();
    let ns = Netns::create(&session.namespace("panic")).unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ns.enter(|| panic!("inside"))));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"inside"));
}

#[test]
fn an_interface_gets_addresses_routes_and_metrics() {
    if !able(&[Capability::Namespaces]) {
        return;
    }
    let session = Session::begin().unwrap();
    let ns = Netns::create(&session.namespace("set")).unwrap();
    inside(&ns, "ip", &["tuntap", "add", "tk0", "mode", "tun"]);
    let metrics = Metrics {
        initcwnd: Some(3),
        initrwnd: Some(20),
        rto_min: Some(Span::s(1)),
        ssthresh: Some(40),
        window: Some(65_535),
        advmss: Some(1460),
        quickack: true,
    };
    let route = |ip: &str, prefix| Route { destination: ip.parse().unwrap(), prefix, metrics };
    let address = |ip: &str, prefix| Address { ip: ip.parse::<IpAddr>().unwrap(), prefix };
    let interface = Interface {
        name: "tk0",
        addresses: &[address("10.77.0.1", 32), address("fd77::1", 128)],
        mtu: 1400,
        txqueuelen: 321,
        gso_max_segs: Some(1),
        routes: &[route("10.77.0.2", 32), route("fd77::", 64)],
    };
    configure(&ns, &interface).unwrap();
    let link = inside(&ns, "ip", &["-d", "link", "show", "tk0"]);
    for part in ["mtu 1400", "qlen 321", "gso_max_segs 1 ", "UP"] {
        assert!(link.contains(part), "{part}: {link}");
    }
    let parts = [
        "initcwnd 3",
        "initrwnd 20",
        "rto_min lock 1s",
        "ssthresh lock 40",
        "window 65535",
        "advmss 1460",
        "quickack 1",
    ];
    for routes in [inside(&ns, "ip", &["route"]), inside(&ns, "ip", &["-6", "route", "show", "fd77::/64"])] {
        for part in parts {
            assert!(routes.contains(part), "{part}: {routes}");
        }
    }
    let six = inside(&ns, "ip", &["-6", "addr", "show", "tk0"]);
    assert!(six.contains("fd77::1/128") && !six.contains("tentative") && !six.contains("fe80"), "{six}");
    ns.enter(|| TcpListener::bind("[fd77::1]:0").unwrap()).unwrap();
    ns.enter(|| TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
}

#[test]
fn the_kernel_sends_nothing_of_its_own() {
    if !able(&[Capability::Tun]) {
        return;
    }
    let session = Session::begin().unwrap();
    let ns = Netns::create(&session.namespace("quiet")).unwrap();
    let mut device = ns.enter(|| tun("tk0")).unwrap().unwrap();
    let addresses = ["10.77.0.1", "fd77::1"].map(|ip| Address { ip: ip.parse().unwrap(), prefix: 24 });
    configure(&ns, &Interface { name: "tk0", addresses: &addresses, ..Interface::default() }).unwrap();
    let mut wanted = [PollFd::new(device.as_fd(), PollFlags::POLLIN)];
    // Solicitations and reports would come within a second, and again.
    let arrived = poll(&mut wanted, PollTimeout::from(2500_u16)).unwrap();
    let mut packet = [0; 1500];
    if arrived > 0 {
        let length = device.read(&mut packet).unwrap();
        panic!("{:02x?}", &packet[..length]);
    }
    // And what we send does come.
    ns.enter(|| UdpSocket::bind("10.77.0.1:0").unwrap().send_to(b"x", "10.77.0.9:9").unwrap()).unwrap();
    assert_eq!(device.read(&mut packet).unwrap(), 29);
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    if !able(&[Capability::Namespaces]) {
        return;
    }
    let session = Session::begin().unwrap();
    let ns = Netns::create(&session.namespace("none")).unwrap();
    let error = configure(&ns, &Interface { name: "tk9", ..Interface::default() }).unwrap_err().to_string();
    assert!(error.contains("tk9") && error.contains(ns.name()), "{error}");
}
