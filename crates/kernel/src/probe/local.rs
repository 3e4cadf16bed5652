//! A server of our own to probe: a scenario's sender at the far end of the scenario's path, with a few lines of HTTP in front
//! of it. What holds for every kernel run holds here: what is made is gone afterwards, however it ends.

use super::{Options, Prober, Report, Trust};
use crate::Error;
use crate::lateness::Witness;
use crate::run::controls::{self, Controls};
use crate::run::place::{self, Place};
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, SockAddr, Socket, Type};
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use truckee_host::netns::Netns;
use truckee_host::rights::Raised;
use truckee_host::session::Session;
use truckee_host::stack::SocketSettings;
use truckee_path::{self as path, FLOW_PORT, Plan, address};
use truckee_scenario::{Cancel, Scenario};

/// Bytes of the answer: ample for every test.
const ANSWER: usize = 600_000;
/// So often the server looks whether to stop.
const TICK: Duration = Duration::from_millis(20);

/// See [`super::probe_flow`].
pub fn probe(scenario: &Scenario, options: &Options, cancel: &Cancel) -> Result<Report, Error> {
    let _rights = Raised::live();
    crate::doctor::ready()?;
    let Some(flow) = scenario.flows.first() else {
        let why = "a probe needs a flow, whose sender is probed".to_owned();
        return Err(Error::Refused { place: "[[flow]]".to_owned(), why });
    };
    let plan = Plan::of(scenario)?;
    let stacks = place::stacks(scenario)?;
    let wanted = controls::wanted(scenario)?;
    let session = Session::begin()?;
    let mut place = Place::make(&session, scenario, &plan, &stacks)?;
    let controls = Controls::load(&session, wanted)?;
    let emulate = path::Options { priority: true, ..path::Options::default() };
    let emulator = plan.start(place.take_tuns(), &emulate)?;
    emulator.begin();
    let (from, to) = (place.namespace(flow.from)?, place.namespace(flow.to)?);
    let listener = listen(from, &stacks[0].sockets, &controls.name(0))?;
    let url = format!("http://{}:{FLOW_PORT}/", address(flow.from));
    // A server of ours needs no pause that spares it.
    let options = Options { trust: Trust::Anyone, ..options.clone() };
    let stop = AtomicBool::new(false);
    let witness = Witness::start()?;
    let probed = std::thread::scope(|scope| {
        scope.spawn(|| serve(&listener, &stop));
        let probed = to.enter(|| Prober::new(&options)?.probe(&url.parse()?, &mut (), cancel));
        stop.store(true, Ordering::Relaxed);
        probed
    });
    let seen = witness.finish();
    emulator.check()?;
    let path = emulator.stop()?;
    let report = probed??;
    Ok(Report { lateness: Some(seen.with(&path, 0)), ..report })
}

/// A socket inside, which listens with this congestion control.
fn listen(inside: &Netns, settings: &SocketSettings, control: &str) -> Result<TcpListener, Error> {
    let failed = |e: std::io::Error| Error::system("listen as a server to probe", e);
    let socket = inside.enter(|| Socket::new(Domain::IPV4, Type::STREAM, None))?.map_err(failed)?;
    settings.apply(&socket)?;
    setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(control))
        .map_err(|e| Error::system(format!("take the congestion control \"{control}\""), e))?;
    let here = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), FLOW_PORT);
    socket.bind(&SockAddr::from(here)).and_then(|()| socket.listen(16)).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    Ok(socket.into())
}

/// Answers each request, until it is to stop.
fn serve(listener: &TcpListener, stop: &AtomicBool) {
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok((stream, _)) => {
                    scope.spawn(move || answer(stream, stop));
                }
                Err(_) => std::thread::sleep(TICK / 10),
            }
        }
    });
}

/// Reads a request and answers it. A prober that is gone, or has what it wants, ends it.
fn answer(mut stream: TcpStream, stop: &AtomicBool) {
    let set = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_read_timeout(Some(TICK)))
        .and_then(|()| stream.set_write_timeout(Some(TICK)));
    if set.is_err() {
        return;
    }
    let mut text = Vec::new();
    let mut part = [0; 1024];
    while !text.ends_with(b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(n @ 1..) => text.extend(&part[..n]),
            Err(e) if is_wait(e.kind()) && !stop.load(Ordering::Relaxed) => {}
            _ => return,
        }
    }
    let mut left = format!("HTTP/1.1 200 OK\r\nContent-Length: {ANSWER}\r\n\r\n").into_bytes();
    left.resize(left.len() + ANSWER, 0);
    let mut left = &left[..];
    while !left.is_empty() {
        match stream.write(left) {
            Ok(n @ 1..) => left = &left[n..],
            Err(e) if is_wait(e.kind()) && !stop.load(Ordering::Relaxed) => {}
            _ => return,
        }
    }
}

fn is_wait(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
