//! The emulator between two ends that the user names.

use super::asked::{self, Ask, KIND};
use super::dials::Dials;
use super::request::{End, Made, Prefixed, Report, Request, Showing, Watch};
use crate::Error;
use crate::{Emulator, Interface, Options, Plan, Port, Tun};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};
use truckee_host::control::{self, Control};
use truckee_host::netns::Netns;
use truckee_host::session::Session;
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
    let mut desk = Desk::open(request, watch);
    emulator.begin();
    watch.begun(&[left_made, right_made], desk.as_ref().map(|desk| desk.session.id()));
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
        let wait = TICK.min(duration - lasted);
        match &mut desk {
            Some(desk) => desk.wait(wait, &emulator, began, watch),
            None => std::thread::sleep(wait),
        }
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

/// Where a running link is asked and turned from outside.
struct Desk {
    // Closed before the session removes its file.
    control: Control,
    session: Session,
    dials: Dials,
    ends: [String; 2],
    turns: u64,
}

impl Desk {
    /// `None` where there can be none, which the watch is told: the link runs all the same.
    fn open(request: &Request<'_>, watch: &mut dyn Watch) -> Option<Self> {
        let dials = Dials::new(request.document, request.scenario, request.link)?;
        let open = || {
            let session = Session::begin()?;
            let control = Control::open(&session, &KIND, control::invoking()?)?;
            Ok::<_, Error>((session, control))
        };
        match open() {
            Ok((session, control)) => {
                let ends = request.ends.each_ref().map(End::to_string);
                Some(Self { control, session, dials, ends, turns: 0 })
            }
            Err(error) => {
                watch.warned(&format!("the link cannot be turned while it runs: {error}"));
                None
            }
        }
    }

    /// Waits so long, or until somebody has come, who is answered.
    fn wait(&mut self, at_most: Duration, emulator: &Emulator, began: Instant, watch: &mut dyn Watch) {
        let timeout = PollTimeout::try_from(at_most).unwrap_or(PollTimeout::ZERO);
        let mut files = [PollFd::new(self.control.as_fd(), PollFlags::POLLIN)];
        // Whatever it is that ends the wait: who comes is seen by asking.
        let _ = poll(&mut files, timeout);
        let Self { control, session, dials, ends, turns } = self;
        control.serve(|line| {
            if let Ask::Set(settings) = asked::read(line)? {
                let turned = dials.turned(&settings)?;
                emulator.turn(0, &dials.link, &turned.dials.link, turned.up).map_err(|e| e.to_string())?;
                *dials = turned.dials;
                *turns += 1;
                watch.turned(&settings);
            }
            let showing = Showing {
                id: session.id().to_owned(),
                ends: ends.clone(),
                lasted_s: began.elapsed().as_secs_f64(),
                turns: *turns,
                settings: dials.settings(),
                lanes: emulator.counters(),
            };
            serde_json::to_string(&showing).map_err(|e| e.to_string())
        });
    }
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
