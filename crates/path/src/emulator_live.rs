//! The emulator for real: two namespaces, a TUN device in each, packets through both.

use super::*;
use crate::{Cause, FLOW_PORT, Interface, address, address6};
use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use truckee_host::device::Device;
use truckee_host::doctor::Capability;
use truckee_host::testing::able;
use truckee_scenario::Document;
use truckee_tcp::Span;
use truckee_testing::PATIENCE;

/// A namespace of a name of its own, removed with it.
struct Space(String);

impl Space {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tkpath-{}-{count}", std::process::id());
        ip(&["netns", "add", &name]);
        Self(name)
    }

    /// Runs something inside, on a thread of its own.
    fn inside<T: Send>(&self, what: impl FnOnce() -> T + Send) -> T {
        let file = File::open(format!("/run/netns/{}", self.0)).unwrap();
        let run = || {
            setns(file, CloneFlags::CLONE_NEWNET).unwrap();
            what()
        };
        std::thread::scope(|scope| scope.spawn(run).join().unwrap())
    }

    fn tun(&self, node: NodeId) -> (NodeId, Tun) {
        self.inside(|| {
            let tun = Tun::create("path0").unwrap();
            tun.set_address(address(node).into(), 16).unwrap();
            tun.set_address(address6(node).into(), 64).unwrap();
            tun.up().unwrap();
            (node, tun)
        })
    }
}

impl std::ops::Drop for Space {
    fn drop(&mut self) {
        ip(&["netns", "del", &self.0]);
    }
}

fn ip(arguments: &[&str]) {
    let done = Command::new("ip").args(arguments).output().unwrap();
    assert!(done.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn plan(channel: &str) -> Plan {
    let text = format!(
        r#"
        duration = "60s"
        seed = 3
        link = [{{ between = ["a", "b"], rate = "100Mbit/s", delay = "5ms", channel = {channel} }}]
        flow = [{{ name = "f", from = "a", to = "b", sender = "reno" }}]
        "#
    );
    Plan::of(&Document::parse("live.toml", &text).unwrap().scenario().unwrap()).unwrap()
}

fn started(channel: &str) -> (Space, Space, Emulator) {
    let (left, right) = (Space::new(), Space::new());
    let tuns = vec![left.tun(0), right.tun(1)];
    let options = Options { series: true, ..Options::default() };
    let emulator = plan(channel).start(tuns, &options).unwrap();
    (left, right, emulator)
}

/// Waits until nothing is on its way any more: all that came has left or was lost, and for a while nothing comes.
fn settle(emulator: &Emulator) {
    let mut before: u64 = 0;
    truckee_testing::until("the last packets", || {
        let lanes = emulator.counters();
        let came = lanes.iter().map(|lane| lane.packets).sum();
        let still = came == before && lanes.iter().all(|lane| lane.on_the_way == 0);
        before = came;
        std::thread::sleep(Duration::from_millis(100));
        still
    });
}

#[test]
fn a_script_loses_exactly_the_packets_it_names() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let (left, right, emulator) =
        started(r#"{ kind = "scripted", packets = ["3..5", "10..10", "200..200"] }"#);
    let receiver = right.inside(|| UdpSocket::bind((address(1), 9)).unwrap());
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let sender = left.inside(|| UdpSocket::bind((address(0), 0)).unwrap());
    // Before the run begins nothing is lost, however the script reads.
    for k in 0..10u32 {
        sender.send_to(&k.to_be_bytes(), (address(1), 9)).unwrap();
    }
    let next = || {
        let mut number = [0; 4];
        receiver.recv(&mut number).map(|_| u32::from_be_bytes(number)).ok()
    };
    assert_eq!((0..10).filter_map(|_| next()).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    emulator.begin();
    let script = [3, 4, 5, 10, 200];
    let lives = |k: &u32| !script.contains(k);
    // A few at a time: the socket's buffer shall lose nothing.
    for first in (1..=300u32).step_by(50) {
        for k in first..first + 50 {
            sender.send_to(&k.to_be_bytes(), (address(1), 9)).unwrap();
        }
        let expected: Vec<u32> = (first..first + 50).filter(lives).collect();
        assert_eq!(expected.iter().filter_map(|_| next()).collect::<Vec<_>>(), expected);
    }
    let there = &emulator.counters()[0];
    assert_eq!((there.packets, there.delivered, there.channel_drops), (300, 295, 5));
    let books = emulator.stop().unwrap();
    assert_eq!((books.links[0].packets, books.links[0].bytes), (300, 300 * 32));
    // What strays are the stacks' own router solicitations, from both ends.
    let read: u64 = books.ports.iter().map(|port| port.read).sum();
    assert_eq!((read - books.strays, books.ports[1].written), (310, 305));
    assert!(books.ports.iter().all(|port| port.unread == 0 && port.refused == 0));
}

#[test]
fn a_connection_is_booked_as_it_was_and_its_losses_are_known() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let (left, right, emulator) = started(r#"{ kind = "scripted", packets = ["20..20", "21..21"] }"#);
    let listener = right.inside(|| TcpListener::bind((address(1), FLOW_PORT)).unwrap());
    let begin = emulator.begin();
    let took = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        all.len()
    });
    let mut stream = left.inside(|| TcpStream::connect((address(1), FLOW_PORT)).unwrap());
    let port = stream.local_addr().unwrap().port();
    stream.write_all(&vec![7; 200_000]).unwrap();
    drop(stream);
    assert_eq!(took.join().unwrap(), 200_000);
    let took = clock() - begin;
    settle(&emulator);
    let books = emulator.stop().unwrap();
    let flow = &books.flows[0];
    assert_eq!((flow.connections, flow.bytes_delivered), (1, 200_000));
    assert_eq!((flow.drops.channel, flow.drops.queue, flow.drops.outage), (2, 0, 0));
    assert_eq!(flow.segments_sent - flow.segments_received, 2);
    assert_eq!(flow.retransmitted_bytes, flow.bytes_sent - 200_000);
    assert!(flow.retransmitted_segments >= 2);
    assert!(flow.acks_sent > 0 && flow.acks.len() as u64 >= flow.acks_sent);
    assert_eq!(flow.segments.len() as u64, flow.segments_sent);
    for dropped in &flow.dropped {
        let at = Time::truncated(dropped.t * 1e9) + Span::us(1);
        let fate = flow.fate(port, dropped.seq, at).unwrap();
        assert_eq!(fate.cause, Cause::Channel);
        assert_eq!(flow.fate(port, dropped.seq, Time::at(took)), None, "it came in the end");
    }
    assert!(flow.rtt_s.min.unwrap() >= 0.010 && flow.delay_s.p50.unwrap() >= 0.005, "{flow:?}");
    assert!(flow.rounds.len() > 1 && flow.rounds[0].segments <= 10, "{:?}", flow.rounds);
}

#[test]
fn a_device_that_goes_away_is_told_of() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let (left, _right, emulator) = started(r#"{ kind = "none" }"#);
    emulator.check().unwrap();
    left.inside(|| ip(&["link", "del", "path0"]));
    truckee_testing::until("somebody to notice", || emulator.check().is_err());
    let said = emulator.check().unwrap_err().to_string();
    assert!(said.contains("path0 is gone"), "{said}");
    assert!(emulator.counters().is_empty());
    assert!(emulator.stop().unwrap_err().to_string().contains("path0 is gone"));
}

#[test]
fn devices_must_be_those_of_the_plan() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let space = Space::new();
    let said = plan("{ kind = \"none\" }").start(vec![space.tun(0)], &Options::default()).unwrap_err();
    assert!(said.to_string().ends_with("none for node 1"), "{said}");
    let taken = space.inside(|| {
        let _one = Tun::create("path0").unwrap();
        Tun::create("path0").unwrap_err().to_string()
    });
    assert!(taken.starts_with("cannot make the TUN device path0"), "{taken}");
    assert!(space.inside(|| Tun::create("a/b").unwrap_err()).to_string().starts_with("device \"a/b\""));
}

/// ethtool's commands: read and set TSO; read GRO.
const TSO: (u32, u32) = (0x1e, 0x1f);
const GRO: u32 = 0x2b;

/// Two hosts, each on a veth of its own to a third namespace, in which the emulator joins them.
fn hosts() -> [Space; 3] {
    let spaces = [Space::new(), Space::new(), Space::new()];
    for (host, (end, node)) in spaces.iter().zip([("end0", 0), ("end1", 1)]) {
        let middle = &spaces[2].0;
        ip(&["-n", &host.0, "link", "add", "eth0", "type", "veth", "peer", "name", end, "netns", middle]);
        ip(&["-n", &host.0, "addr", "add", &format!("{}/16", address(node)), "dev", "eth0"]);
        ip(&["-n", &host.0, "link", "set", "eth0", "up"]);
        ip(&["-n", middle, "link", "set", end, "up"]);
    }
    spaces
}

fn on_wire(spaces: &[Space; 3], channel: &str) -> Emulator {
    let [one, other] = ["end0", "end1"].map(|end| spaces[2].inside(|| Interface::open(end).unwrap()));
    let text = format!(
        "duration = \"60s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"100Mbit/s\"\ndelay = \"5ms\"\nchannel = {channel}"
    );
    let plan = Plan::of_link(&Document::parse("wire.toml", &text).unwrap().scenario().unwrap(), 0).unwrap();
    plan.start_between(vec![(0, one.into()), (1, other.into())], &Options::default()).unwrap()
}

#[test]
fn frames_pass_between_interfaces_and_offloads_are_as_before_afterwards() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let spaces = hosts();
    let offloads =
        || spaces[2].inside(|| [TSO.0, GRO].map(|get| Device::named("end0").unwrap().feature(get).unwrap()));
    let before = offloads();
    assert_eq!(before[0], 1, "a veth has TSO");
    let emulator = on_wire(&spaces, r#"{ kind = "scripted", packets = ["2..2"] }"#);
    assert_eq!(offloads(), [0, 0]);
    emulator.begin();
    let receiver = spaces[1].inside(|| UdpSocket::bind((address(1), 9)).unwrap());
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let sender = spaces[0].inside(|| UdpSocket::bind((address(0), 0)).unwrap());
    let mut got = Vec::new();
    for k in 1..=4u8 {
        sender.send_to(&[k], (address(1), 9)).unwrap();
    }
    let mut number = [0];
    while got.len() < 3 && receiver.recv(&mut number).is_ok() {
        got.push(number[0]);
    }
    assert_eq!(got, [1, 3, 4], "addresses were resolved across, checksums were right");
    let books = emulator.stop().unwrap();
    assert_eq!(books.links[0].channel_drops, 1);
    assert_eq!(offloads(), before);
}

#[test]
fn what_is_yet_to_be_segmented_does_not_pass_unseen() {
    if !able(&[Capability::Namespaces, Capability::Tun]) {
        return;
    }
    let spaces = hosts();
    let emulator = on_wire(&spaces, "{ kind = \"none\" }");
    emulator.begin();
    let listener = spaces[1].inside(|| TcpListener::bind((address(1), 99)).unwrap());
    let took = std::thread::spawn(move || {
        let mut all = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut all).unwrap();
        all.len()
    });
    let mut stream = spaces[0].inside(|| TcpStream::connect((address(1), 99)).unwrap());
    // The first flight leaves within the call. With the sender's own offload off, all of it comes.
    stream.write_all(&[1; 100_000]).unwrap();
    spaces[0].inside(|| Device::named("eth0").unwrap().set_feature(TSO.1, 0).unwrap());
    drop(stream);
    assert_eq!(took.join().unwrap(), 100_000);
    let books = emulator.stop().unwrap();
    assert!(books.ports[0].oversized > 0, "{:?}", books.ports);
}
