//! What the tests of several modules stand on: outcomes and scenarios made by hand.

use crate::{Engine, Failure};
use std::collections::BTreeMap;
use std::sync::Mutex;
pub use truckee_measure::testing::outcome;
use truckee_scenario::{Lateness, Outcome, Scenario, Span};

/// A flow that loses by noise and by its queue; its name is one that no file and no page may carry as it is.
pub const NOISY: &str = r#"
    duration = "20s"
    [[link]]
    between = ["a", "b"]
    rate = "2Mbit/s"
    delay = "20ms"
    queue = { size = "10packets" }
    channel = { kind = "bernoulli", per = 0.01 }
    [[flow]]
    name = "noisy <flow>"
    from = "a"
    to = "b"
    sender = "newreno"
"#;

/// A study for [`Fake`].
pub const STUDY: &str = r#"
    id = "twice"
    title = "Twice the time"
    source = { paper = "nobody", place = "table 0" }
    setup = "none"
    scenario = '''
        duration = "1s"
        [[link]]
        between = ["a", "b"]
        rate = "1Mbit/s"
        delay = "1ms"
        [[flow]]
        from = "a"
        to = "b"
    '''
    [[sweep]]
    name = "main"
    vary = ["duration=10s,20s,40s"]
    runs = 4
    quick = { runs = 2, keep = { duration = ["10s", "20s"] } }
    [[check]]
    name = "formula"
    kind = "formula"
    metric = "goodput_bps"
    formula = "2 * t"
    let = { t = "duration" }
    tolerance = 0.01
    [[check]]
    name = "rises"
    kind = "rises"
    metric = "goodput_bps"
    along = "duration"
    [[check]]
    name = "the longest"
    kind = "within"
    metric = "goodput_bps"
    where = { duration = "40s" }
    published = 60
    tolerance = 0.1
    [[figure]]
    name = "curve"
    title = "Twice"
    x = "duration"
    y = ["goodput_bps"]
    x_label = "t / s"
    y_label = "goodput / bit/s"
"#;

/// A machine that was on time.
pub const PUNCTUAL: Lateness = Lateness {
    packets: 1000,
    late_share: 0.0,
    latest_s: 1e-4,
    waiting_share: 0.0,
    longest_wait_s: 1e-3,
    stolen_share: Some(0.0),
    lost_records: 0,
    unread_packets: 0,
    replaces: 0,
};
/// The late one.
pub const LATE: Lateness = Lateness { late_share: 0.5, ..PUNCTUAL };

/// Whether the machine is late in a run of that duration (s) and seed that is made for so many a time, from 1 on.
pub type Late = fn(u64, u64, usize) -> bool;

/// An engine that gives one flow a goodput of twice the duration in seconds, and a hundredth of the seed; half of it
/// when the machine is late.
#[derive(Default)]
pub struct Fake {
    live: bool,
    follows: bool,
    lacks: Option<&'static str>,
    late: Option<Late>,
    broken: Option<Late>,
    /// What it says its build is.
    build: &'static str,
    made: Mutex<BTreeMap<(u64, u64), usize>>,
    /// Seeds it was asked for, in order.
    pub asked: Mutex<Vec<u64>>,
}

impl Fake {
    /// As fast as the machine can.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that says it is live, and gives a tenth less and no digest.
    pub fn live() -> Self {
        Self { live: true, ..Self::default() }
    }

    /// One whose runs go by live ones.
    pub fn following() -> Self {
        Self { follows: true, ..Self::default() }
    }

    /// A live one that this machine cannot run.
    pub fn lacking(what: &'static str) -> Self {
        Self { lacks: Some(what), ..Self::live() }
    }

    /// One of another build.
    pub fn of_build(build: &'static str) -> Self {
        Self { build, ..Self::default() }
    }

    /// A live one on a machine that is late at times.
    pub fn late(late: Late) -> Self {
        Self { late: Some(late), ..Self::live() }
    }

    /// A live one whose runs break off at times.
    pub fn breaking(broken: Late) -> Self {
        Self { broken: Some(broken), ..Self::live() }
    }

    fn is_late(&self, scenario: &Scenario) -> Result<bool, Failure> {
        let mut made = self.made.lock().map_err(|e| e.to_string())?;
        let times = made.entry((scenario.duration.nanos(), scenario.seed)).or_default();
        *times += 1;
        let is = |what: Option<Late>| {
            what.is_some_and(|is| is(scenario.duration.ticks(Span::s(1)), scenario.seed, *times))
        };
        if is(self.broken) {
            return Err(Failure { reason: "a record was lost".into(), once: true });
        }
        Ok(is(self.late))
    }
}

impl Engine for Fake {
    fn name(&self) -> &str {
        if self.live { "kernel" } else { "sim" }
    }

    fn build(&self) -> std::borrow::Cow<'_, str> {
        self.build.into()
    }

    fn is_live(&self) -> bool {
        self.live
    }

    fn goes_by_live_runs(&self) -> Option<&str> {
        self.follows.then_some("as the live ones")
    }

    fn lacks(&self) -> Option<String> {
        self.lacks.map(str::to_owned)
    }

    fn run(&self, scenario: &Scenario, _series: bool) -> Result<Outcome, Failure> {
        self.asked.lock().map_err(|e| e.to_string())?.push(scenario.seed);
        let is_late = self.is_late(scenario)?;
        let goodput = 2.0 * scenario.duration.seconds() + 0.01 * scenario.seed as f64;
        let goodput = if is_late { goodput / 2.0 } else { goodput };
        let mut outcome = outcome(scenario.seed, &[if self.live { 0.9 * goodput } else { goodput }]);
        outcome.engine = self.name().into();
        if self.live {
            outcome.digest.clear();
            outcome.lateness = Some(if is_late { LATE } else { PUNCTUAL });
        }
        Ok(outcome)
    }
}

/// A scenario that only a fake engine can run: its duration carries the parameter.
pub fn scenario(name: &str, parameter: u64) -> Scenario {
    Scenario {
        name: name.into(),
        duration: Span::ns(parameter),
        warmup: Span::ZERO,
        seed: 1,
        stop_when_done: true,
        nodes: Vec::new(),
        links: Vec::new(),
        places: Vec::new(),
        media: Vec::new(),
        flows: Vec::new(),
        traffic: Vec::new(),
        changes: Vec::new(),
        cells: None,
        kernel: Default::default(),
    }
}
