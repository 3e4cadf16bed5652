//! One scenario on the real stack, from the first check to the last clean-up.
//!
//! Everything that can be refused is refused before anything is made. What is made is owned by values whose `Drop`
//! removes it, so that a run that ends early, for whatever reason, leaves nothing.
//!
//! Not for: what happens to packets (`truckee-path`), what a sender decides (`truckee-cc` and the kernel).

mod app;
mod books;
pub(crate) mod controls;
mod detectors;
mod layout;
pub(crate) mod place;
mod receivers;
mod watch;
mod web;

use crate::Error;
use crate::doctor::{self, Capability};
use crate::lateness::{Seen, Witness};
use app::{Ends, Stop};
use controls::Controls;
use place::Place;
use receivers::Receivers;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use truckee_cc::{self as cc, Control};
use truckee_host::punctual::clock;
use truckee_host::rights::Raised;
use truckee_host::session::Session;
use truckee_host::stack::Settings;
use truckee_host::ticks;
use truckee_path::{self as path, Books, Emulator, MOST_TAPPED, Plan};
use truckee_scenario::arrivals::Process;
use truckee_scenario::model::App;
use truckee_scenario::outcome::{THIS_RUN, Vantage};
use truckee_scenario::{Cancel, Lateness, Outcome, Scenario};
use truckee_tcp::{Span, Time};
use watch::{Record, Watch};
use web::Page;

/// What a run records beside its outcome, and how it runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether to record time series.
    pub series: bool,
    /// Where to record every packet of the flows, and the time series too; nowhere unless asked for.
    pub packets: Option<Vantage>,
    /// Whether the emulator waits for the next packet with its eyes open: delays are more exact, a core is busy.
    pub busy: bool,
}

/// How often the records of the kernel are taken.
const TAKE: Duration = Duration::from_millis(20);
/// Least time between two records of a window that nobody draws.
const SPACING: Span = Span::ms(1);
/// Most flows: each has threads and a port of its own.
const MAX_FLOWS: usize = 500;

/// Runs a scenario to its end on the kernel of this machine. It takes as long as the scenario lasts. When `cancel`
/// is wished it ends with [`Error::Interrupted`], and nothing is left.
pub fn run(scenario: &Scenario, options: &Options, cancel: &Cancel) -> Result<Outcome, Error> {
    let started = Instant::now();
    let _rights = Raised::live();
    doctor::ready()?;
    let Wanted { plan, stacks, controls: wanted, policies } = wanted(scenario)?;
    if scenario.flows.iter().any(|flow| matches!(flow.app, App::WebPage { .. })) {
        web::check()?;
    }
    if policies.iter().any(Option::is_some) {
        doctor::check(&[Capability::Btf, Capability::Tc])?;
    }
    if wanted.iter().any(|control| matches!(control, Control::Port(_))) {
        doctor::check(&[Capability::Btf, Capability::StructOps])?;
    }

    let session = Session::begin()?;
    let mut place = Place::make(&session, scenario, &plan, &stacks)?;
    let controls = Controls::load(&session, wanted)?;
    let receivers = Receivers::start(scenario, &place, policies)?;
    // Detectors are held against the window at every ACK.
    let watched = |flow| scenario.has_detector(flow) || !scenario.flows[flow].observe.detectors.is_empty();
    let every = options.series || (0..scenario.flows.len()).any(watched);
    let spacing = if every { Span::ZERO } else { SPACING };
    // Without it the run is as good, only less is known of the senders.
    let (watch, blind) = match doctor::check(&[Capability::Btf, Capability::Tracing]) {
        Ok(()) => (Some(Watch::start(&place.inodes(), spacing)?), None),
        Err(error) => (None, Some(format!("{THIS_RUN}nothing is known of windows and loss events: {error}"))),
    };
    let emulate = path::Options {
        series: options.series,
        packets: options.packets,
        busy: options.busy,
        priority: true,
    };
    let emulator = plan.start_telling(place.take_tuns(), &emulate, controls.listener()?)?;
    let pages = pages(&session, scenario, &place, &controls)?;
    let timers_age = ticks::age_at_zero();
    let t0 = emulator.begin();

    let ends = ends(scenario, &place, &stacks, &controls, t0)?;
    let mut live = Live {
        scenario,
        session: &session,
        ends: &ends,
        pages,
        watch,
        controls,
        receivers,
        records: Vec::new(),
        t0,
    };
    let (path, end, seen) = live.conduct(emulator, cancel)?;
    let left_out = left_out(&path);
    let (mut outcome, lacking) =
        live.outcome((path, seen), end, options.series || options.packets.is_some())?;
    let late =
        outcome.lateness.iter().flat_map(Lateness::faults).map(|fault| format!("{THIS_RUN}invalid: {fault}"));
    let late: Vec<String> = late.collect();
    outcome.notes =
        blind.into_iter().chain(late).chain(left_out).chain(lacking).chain(notes(&stacks)).collect();
    outcome.timers_age = timers_age.map(|age| age + t0.since_start());
    outcome.wall_s = started.elapsed().as_secs_f64();
    Ok(outcome)
}

/// What a scenario wants of a kernel.
struct Wanted {
    plan: Plan,
    stacks: Vec<Settings>,
    controls: Vec<Control>,
    policies: Vec<Option<receivers::Wanted>>,
}

/// Reads it, and refuses what no kernel does. Nothing is made.
fn wanted(scenario: &Scenario) -> Result<Wanted, Error> {
    let plan = Plan::of(scenario)?;
    let stacks = place::stacks(scenario)?;
    let controls = controls::wanted(scenario)?;
    let policies = receivers::wanted(scenario)?;
    refuse(scenario, &controls)?;
    Ok(Wanted { plan, stacks, controls, policies })
}

/// See [`crate::refuses`].
pub fn refuses(scenario: &Scenario) -> Option<Error> {
    wanted(scenario).err().filter(|error| matches!(error, Error::Refused { .. }))
}

/// What the parts of a run do not refuse themselves.
fn refuse(scenario: &Scenario, wanted: &[Control]) -> Result<(), Error> {
    let refused = |place: String, why: &str| Err(Error::Refused { place, why: why.to_owned() });
    if scenario.flows.is_empty() {
        return refused(
            "[[flow]]".to_owned(),
            "a kernel run needs a flow: cross traffic alone meets no stack",
        );
    }
    if scenario.flows.len() > MAX_FLOWS {
        let why =
            format!("a kernel run has at most {MAX_FLOWS} flows, and here are {}", scenario.flows.len());
        return refused("[[flow]]".to_owned(), &why);
    }
    let mut serves = BTreeMap::new();
    for (flow, control) in scenario.flows.iter().zip(wanted) {
        let place = || format!("flow \"{}\"", flow.name);
        let watched = &flow.observe;
        if !watched.estimators.is_empty() || !watched.predictors.is_empty() {
            return refused(
                place(),
                "observe: nobody watches a sender of the kernel engine, only detectors its receiver; use --engine sim",
            );
        }
        if let App::WebPage { .. } = flow.app {
            if let Control::Native(name) = control
                && !cc::allowed()?.contains(name)
            {
                let why = format!(
                    "a web server of a namespace may not have \"{name}\": see net.ipv4.tcp_allowed_congestion_control"
                );
                return refused(place(), &why);
            }
            // Its server takes the congestion control of its namespace, which has one.
            if serves.insert(flow.from, &flow.sender).is_some_and(|other| *other != flow.sender) {
                return refused(
                    place(),
                    "two web servers at one node with different senders; give them nodes of their own",
                );
            }
        }
    }
    Ok(())
}

/// What of the packets was not kept.
fn left_out(path: &Books) -> Option<String> {
    let left_out: u64 = path.flows.iter().map(|flow| flow.packets_left_out).sum();
    (left_out > 0).then(|| {
        format!("{THIS_RUN}{left_out} packets are not in the capture, which holds {MOST_TAPPED} a flow and direction")
    })
}

/// What of the papers' stack, or today's, cannot be had, each once.
fn notes(stacks: &[Settings]) -> Vec<String> {
    let all: BTreeSet<&str> = stacks.iter().flat_map(|s| s.stated.iter().copied()).collect();
    all.into_iter().map(str::to_owned).collect()
}

/// The flows with their listening sockets.
fn ends<'a>(
    scenario: &'a Scenario,
    place: &'a Place,
    stacks: &[Settings],
    controls: &Controls,
    t0: Time,
) -> Result<Vec<Ends<'a>>, Error> {
    let flows = scenario.flows.iter().enumerate();
    flows
        .map(|(index, flow)| {
            let lasts = flow.stop.map_or(scenario.duration, Time::since_start);
            let times = (t0 + flow.start.since_start(), t0.saturating_add(lasts));
            let process = match &flow.app {
                App::Segments { arrivals, size, .. } => {
                    let rng = truckee_channel::stream(scenario.seed, &format!("{}/app", flow.name));
                    Some(Process::new(arrivals, *size, flow.start, rng))
                }
                _ => None,
            };
            let between = (place.namespace(flow.from)?, place.namespace(flow.to)?);
            let sockets = (stacks[index].sockets.clone(), controls.name(index));
            let mut ends = Ends::new((index, flow), between, sockets, times, process);
            if !matches!(flow.app, App::WebPage { .. }) {
                ends.listen()?;
            }
            Ok(ends)
        })
        .collect()
}

/// The web pages of the flows that have one, by their flow's number.
fn pages(
    session: &Session,
    scenario: &Scenario,
    place: &Place,
    controls: &Controls,
) -> Result<Vec<(usize, Page)>, Error> {
    let mut pages = Vec::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        if let App::WebPage { objects, mean, connections } = flow.app {
            let namespace = place.namespace(flow.from)?;
            truckee_host::stack::set_control(namespace, &controls.name(index))?;
            let here = SocketAddr::new(path::address(flow.from).into(), path::FLOW_PORT + index as u16);
            let what = (objects, mean, connections);
            pages.push((index, Page::serve(session, namespace, here, &flow.name, scenario.seed, what)?));
        }
    }
    Ok(pages)
}

/// A run while it goes on.
struct Live<'a> {
    scenario: &'a Scenario,
    session: &'a Session,
    ends: &'a [Ends<'a>],
    pages: Vec<(usize, Page)>,
    watch: Option<Watch>,
    controls: Controls,
    receivers: Receivers,
    records: Vec<Record>,
    t0: Time,
}

impl Live<'_> {
    /// Lets the flows run until the end, or until all have done what they had to. Returns what the path saw, when
    /// the end was, and how late the machine was until then.
    fn conduct(&mut self, emulator: Emulator, cancel: &Cancel) -> Result<(Books, Time, Seen), Error> {
        let stop = Stop::default();
        let ends = self.ends;
        let witness = Witness::start()?;
        std::thread::scope(|scope| {
            ends.iter().for_each(|end| end.run(scope, &stop));
            let ended = self.attend(&emulator, cancel);
            let seen = witness.finish();
            // First the path, so that what the ends do when they are stopped is in nobody's books.
            let path = emulator.stop();
            stop.all();
            self.pages.clear();
            let end = ended?;
            Ok((path?, end, seen))
        })
    }

    /// Takes records until the run is over. Returns when that was.
    fn attend(&mut self, emulator: &Emulator, cancel: &Cancel) -> Result<Time, Error> {
        let last = self.t0.saturating_add(self.scenario.duration);
        loop {
            let left = Duration::from(last.saturating_sub(clock()));
            if left.is_zero() || self.is_done() {
                return Ok(clock().min(last));
            }
            match &self.watch {
                Some(watch) => self.records.extend(watch.take(left.min(TAKE))),
                None => std::thread::sleep(left.min(TAKE)),
            }
            self.controls.take()?;
            self.receivers.attend(Time::at(clock().saturating_sub(self.t0)))?;
            self.attend_pages()?;
            if cancel.is_cancelled() {
                return Err(Error::Interrupted);
            }
            emulator.check()?;
            if let Some((end, why)) = self.ends.iter().find_map(|e| Some((e, e.progress().failure.clone()?)))
            {
                return Err(Error::Broken(format!("flow \"{}\" broke off: {why}", end.flow.name)));
            }
        }
    }

    fn is_done(&self) -> bool {
        let done = |end: &Ends<'_>| end.progress().finished.is_some() && is_finite(&end.flow.app);
        self.scenario.stop_when_done && self.ends.iter().all(done)
    }

    /// Has pages asked for when their time has come, and notes when they are there.
    fn attend_pages(&mut self) -> Result<(), Error> {
        for (index, page) in &mut self.pages {
            let end = &self.ends[*index];
            let mut progress = end.progress();
            let now = clock();
            if progress.started.is_none() && now >= end.start {
                progress.started = Some(now);
                page.ask(self.session, end.to)?;
            }
            if progress.finished.is_none() {
                match page.is_done() {
                    Ok(true) => progress.finished = Some(now),
                    Ok(false) => {}
                    Err(why) => progress.failure = Some(why),
                }
            }
        }
        Ok(())
    }

    /// The outcome, and what is to be said of this run.
    fn outcome(
        mut self,
        (path, seen): (Books, Seen),
        end: Time,
        series: bool,
    ) -> Result<(Outcome, Vec<String>), Error> {
        self.records.extend(self.watch.iter().flat_map(|watch| watch.take(Duration::ZERO)));
        self.controls.take()?;
        let heard = self.receivers.stop()?;
        // What was lost is in no figure: such a run is invalid, and says so.
        let lost = self.watch.as_ref().map_or(0, Watch::lost) + self.controls.lost() + heard.lost;
        let lateness = seen.with(&path, lost);
        let namespaces = self.ends.iter().map(|e| e.from.inode() as u32).collect();
        let run = books::Run {
            scenario: self.scenario,
            ends: self.ends,
            path,
            records: self.records,
            heard: heard.by_flow,
            controls: &self.controls,
            namespaces,
            t0: self.t0,
            end,
            series,
        };
        Ok((Outcome { lateness: Some(lateness), ..run.outcome()? }, heard.notes))
    }
}

/// Whether an application comes to an end by itself.
fn is_finite(app: &App) -> bool {
    match app {
        App::Bulk => false,
        App::File { .. } | App::Files { .. } | App::WebPage { .. } => true,
        App::RequestResponse { count, .. } | App::Segments { count, .. } => count.is_some(),
    }
}
