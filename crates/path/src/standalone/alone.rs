//! The emulator between two ends that the user names.

use super::request::{End, Made, Prefixed, Report, Request, Watch};
use crate::Error;
use crate::{Interface, Options, Plan, Port, Tun};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};
use truckee_host::netns::Netns;
use truckee_scenario::Cancel;
use truckee_tcp::Span;

/// What TUN devices are called: with a number behind.
const NAME: &str = "truckee%d";

/// How often it looks whether to stop, and shows itself.
const TICK: Duration = Duration::from_millis(50);
const SHOW: Duration = Duration::from_secs(1);

/// See [`super::run`].
pub(super) fn run(request: &Request<'_>, cancel: &Cancel, watch: &mut dyn Watch) -> Result<Report, Error> {
    let plan = Plan::of_link(request.scenario, request.link)?;
    let [first, second] = &request.ends;
    if matches!(first, End::Namespace(_)) != matches!(second, End::Namespace(_)) {
        let why =
            "a TUN device and an interface have no frames in common; give two namespaces or two interfaces";
        return Err(Error::Refused { place: "the ends".into(), why: why.into() });
    }
    let nodes = plan.endpoints().to_vec();
    // Both ends before either forwards: of two mistakes, no half is left.
    let (left, left_made) = open(request, 0)?;
    let (right, right_made) = open(request, 1)?;
    let options = Options { busy: request.busy, priority: true, ..Options::default() };
    let ports = nodes.into_iter().zip([left, right]).collect();
    let emulator = plan.start_between(ports, &options)?;
    emulator.begin();
    watch.begun(&[left_made, right_made]);
    let began = Instant::now();
    let duration = Duration::from(request.scenario.duration);
    let mut shown = Duration::ZERO;
    loop {
        let lasted = began.elapsed();
        if lasted >= duration || cancel.is_cancelled() {
            break;
        }
        emulator.check()?;
        if lasted - shown >= SHOW {
            shown = lasted;
            watch.counters(&emulator.counters());
        }
        std::thread::sleep(TICK.min(duration - lasted));
    }
    let lanes = emulator.counters();
    let lasted = began.elapsed().min(duration);
    let books = emulator.stop()?;
    Ok(Report {
        lasted_s: Span::from(lasted).seconds(),
        links: books.links,
        lanes,
        ports: books.ports,
        late_s: books.late_s,
    })
}

/// Opens one end.
fn open(request: &Request<'_>, which: usize) -> Result<(Port, Made), Error> {
    let made = |device: &str, addresses| Made { device: device.to_owned(), addresses };
    match &request.ends[which] {
        End::Interface { namespace, name } => {
            let open = || Interface::open(name);
            let interface = match namespace {
                None => open()?,
                Some(namespace) => Netns::open(namespace)?.enter(open)??,
            };
            let made = made(interface.name(), Vec::new());
            Ok((interface.into(), made))
        }
        End::Namespace(namespace) => {
            let stated = request.addresses[which].clone();
            let none = request.addresses.iter().all(Vec::is_empty);
            let addresses = if none { by_default(which as u8 + 1) } else { stated };
            let tun = Netns::open(namespace)?.enter(|| {
                let tun = Tun::create(NAME)?;
                tun.set_mtu(request.mtu)?;
                addresses.iter().try_for_each(|a| tun.set_address(a.address, a.prefix))?;
                tun.up()?;
                Ok(tun)
            })??;
            let made = made(tun.name(), addresses.clone());
            Ok((tun.into(), made))
        }
    }
}

/// The addresses of an end that was given none.
fn by_default(host: u8) -> Vec<Prefixed> {
    let four = Prefixed { address: Ipv4Addr::new(10, 77, 0, host).into(), prefix: 24 };
    let six = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, host.into());
    vec![four, Prefixed { address: six.into(), prefix: 64 }]
}
