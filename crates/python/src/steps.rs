//! Runs that go on step by step, and whose senders are told between the steps what to do: what the package's learning
//! environments stand on.

use crate::error;
use crate::run::Run;
use crate::scenario::Document;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use truckee_engines::{NetError, Standing, Stepped};
use truckee_scenario::Scenario;
use truckee_tcp::Span;
use truckee_tcp::controller::Order;
use truckee_tcp::segment::HEADER_BYTES;

/// What an agent's flow has done in a step: its seconds; acknowledged and sent, bit/s; the share that was sent again; mean and
/// smallest round-trip time, s; window and flight, bytes; timeouts.
type Reading = [f64; 9];

/// Numbers in an observation: see [`Agent::observe`].
const SEEN: usize = 6;

/// Most that any of them says.
const MOST: f64 = 100.0;

/// What all agents see after a step, what that is worth to each, and which runs are over.
type Seen<'py> = (Bound<'py, PyByteArray>, Vec<f64>, Vec<bool>);

/// Some runs of one scenario side by side, each with a seed of its own, and the flows of it that are steered.
#[pyclass(module = "truckee._native")]
#[derive(Debug)]
pub struct Steps {
    scenario: Scenario,
    /// The numbers of the flows that are steered.
    flows: Vec<usize>,
    paces: bool,
    every: Option<Span>,
    /// What a wait in queues as long as the smallest round-trip time costs, in what the path carries.
    delay: f64,
    runs: Vec<Option<Episode>>,
}

/// One run at work.
#[derive(Debug)]
struct Episode {
    run: Stepped,
    scenario: Scenario,
    agents: Vec<Agent>,
    over: bool,
}

/// A steered flow, and where it stood after the last step.
#[derive(Debug)]
struct Agent {
    flow: usize,
    /// Maximum segment size, bytes.
    mss: f64,
    /// Bit/s that its path carries, headers included, and of data alone.
    rate: f64,
    capacity: f64,
    /// Round-trip time of its path where nothing waits, s.
    path_rtt: f64,
    /// What it was told last: segments, or bit/s.
    setting: f64,
    before: Standing,
    last: Reading,
}

impl Agent {
    fn new(run: &Stepped, flow: usize) -> Option<Self> {
        let known = run.known(flow)?;
        let (mss, path_rtt) = (f64::from(known.mss), known.rtt.seconds());
        let capacity = known.rate * mss / (mss + f64::from(HEADER_BYTES));
        let last = [0.0, 0.0, 0.0, 0.0, path_rtt, path_rtt, 0.0, 0.0, 0.0];
        let (rate, before, setting) = (known.rate, Standing::default(), 0.0);
        Some(Self { flow, mss, rate, capacity, path_rtt, setting, before, last })
    }

    /// Takes in what has come of a step of so many seconds.
    fn read(&mut self, run: &Stepped, seconds: f64) {
        let now = run.standing(self.flow);
        let before = std::mem::replace(&mut self.before, now);
        // What is acknowledged can seem to fall where a FIN is in the air.
        let since = |now: u64, before: u64| now.saturating_sub(before) as f64;
        let rate = |bytes: f64| if seconds > 0.0 { bytes * 8.0 / seconds } else { 0.0 };
        let (sent, resent) = (since(now.sent, before.sent), since(now.resent, before.resent));
        let samples = since(now.rtt_samples, before.rtt_samples);
        let [_, _, _, _, rtt, rtt_min, ..] = self.last;
        self.last = [
            seconds,
            rate(since(now.acked, before.acked)),
            rate(sent),
            if sent > 0.0 { resent / sent } else { 0.0 },
            if samples > 0.0 { (now.rtt_sum - before.rtt_sum).seconds() / samples } else { rtt },
            now.rtt_min.map_or(rtt_min, Span::seconds),
            now.window,
            now.in_flight as f64,
            since(now.timeouts, before.timeouts),
        ];
    }

    /// What it sees of that: acknowledged and sent, of what the path carries; the share that was sent again; by how much of
    /// the smallest round-trip time the mean one is longer; flight and setting, of what the path holds or carries.
    fn observe(&self, paces: bool) -> [f64; SEEN] {
        let [_, acked, sent, resent, rtt, rtt_min, _, in_flight, _] = self.last;
        let holds = self.capacity * self.path_rtt / 8.0;
        let setting = if paces { self.setting / self.rate } else { self.setting * self.mss / holds };
        let waits = (rtt / rtt_min - 1.0).max(0.0);
        [acked / self.capacity, sent / self.capacity, resent, waits, in_flight / holds, setting]
    }
}

impl Episode {
    /// Goes on by a step, after the agents have been given these settings: segments, or bit/s with headers.
    fn step(&mut self, paces: bool, every: Option<Span>, settings: &[f64]) -> Result<(), NetError> {
        for (agent, &setting) in self.agents.iter_mut().zip(settings) {
            agent.setting = setting;
            let order = match paces {
                true => Order { window: None, pace: Some(setting / 8.0) },
                false => Order { window: Some(setting * agent.mss), pace: None },
            };
            self.run.steer(agent.flow, order)?;
        }
        let step = every.unwrap_or_else(|| self.round_trip());
        let began = self.run.now();
        self.over = self.run.advance(began + step)?;
        let seconds = (self.run.now() - began).seconds();
        self.agents.iter_mut().for_each(|agent| agent.read(&self.run, seconds));
        Ok(())
    }

    /// The longest smoothed round-trip time of the agents; before any is known, that of their paths.
    fn round_trip(&self) -> Span {
        let known = |agent: &Agent| {
            let of_path = || self.run.known(agent.flow).map(|known| known.rtt);
            self.run.srtt(agent.flow).or_else(of_path)
        };
        self.agents.iter().filter_map(known).max().unwrap_or_default().max(Span::us(1))
    }

    /// Adds what the agents see, and what that is worth to each.
    fn tell(&self, paces: bool, delay: f64, seen: &mut Vec<u8>, worth: &mut Vec<f64>) {
        for agent in &self.agents {
            let numbers = agent.observe(paces);
            numbers.iter().for_each(|n| seen.extend_from_slice(&(n.min(MOST) as f32).to_ne_bytes()));
            worth.push(numbers[0] - delay * numbers[3]);
        }
    }
}

#[pymethods]
impl Steps {
    /// So many runs of a scenario, whose flows of these names are steered, all of them if none is named: by pacing rates
    /// or by windows, for so many seconds a step, or for a round-trip time. A wait in queues as long as the smallest
    /// round-trip time takes `delay` from what a step is worth.
    #[new]
    fn new(
        document: &Document,
        flows: Vec<String>,
        paces: bool,
        every: Option<f64>,
        delay: f64,
        number: usize,
    ) -> PyResult<Self> {
        let scenario = document.to_run()?;
        let names: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
        let find = |name: &String| {
            names.iter().position(|known| known == name).ok_or_else(|| {
                error::question(format!("there is no flow \"{name}\", only {}", names.join(", ")))
            })
        };
        let flows: Vec<usize> = match flows.is_empty() {
            true => (0..names.len()).collect(),
            false => flows.iter().map(find).collect::<PyResult<_>>()?,
        };
        if flows.is_empty() {
            return Err(error::question("there is no flow to steer in this scenario"));
        }
        let every = every.map(step).transpose()?;
        let runs = (0..number).map(|_| None).collect();
        Ok(Self { scenario, flows, paces, every, delay, runs })
    }

    /// The flows that are steered, by name.
    #[getter]
    fn flows(&self) -> Vec<String> {
        self.flows.iter().map(|&flow| self.scenario.flows[flow].name.clone()).collect()
    }

    /// Begins a run anew with a seed, and returns what its agents see.
    fn begin<'py>(&mut self, py: Python<'py>, number: usize, seed: u64) -> PyResult<Bound<'py, PyByteArray>> {
        let mut scenario = self.scenario.clone();
        scenario.seed = seed;
        let run = py.detach(|| Stepped::new(scenario.clone(), &self.flows)).map_err(|e| failed(&e))?;
        let agents = self.flows.iter().filter_map(|&flow| Agent::new(&run, flow)).collect();
        let slot =
            self.runs.get_mut(number).ok_or_else(|| error::internal(format!("there is no run {number}")))?;
        let (mut seen, mut worth) = (Vec::new(), Vec::new());
        let episode = slot.insert(Episode { run, scenario, agents, over: false });
        episode.tell(self.paces, self.delay, &mut seen, &mut worth);
        Ok(PyByteArray::new(py, &seen))
    }

    /// Has all runs that are not over go on by a step, with these settings for their agents, run by run: segments, or bit/s
    /// with headers. Returns what all agents see, what that is worth to each, and which runs are over.
    fn step<'py>(&mut self, py: Python<'py>, settings: Vec<f64>) -> PyResult<Seen<'py>> {
        let (paces, every, agents, delay) = (self.paces, self.every, self.flows.len(), self.delay);
        let wanted = agents * self.runs.len();
        if settings.len() != wanted {
            return Err(error::question(format!("{} settings for {wanted} agents", settings.len())));
        }
        let (mut seen, mut worth) = (Vec::with_capacity(wanted * SEEN * 4), Vec::with_capacity(wanted));
        let mut over = Vec::with_capacity(self.runs.len());
        let runs = &mut self.runs;
        let stepped = py.detach(|| {
            for (run, settings) in runs.iter_mut().zip(settings.chunks_exact(agents)) {
                let Some(episode) = run else { return Ok(false) };
                if !episode.over {
                    episode.step(paces, every, settings)?;
                }
                episode.tell(paces, delay, &mut seen, &mut worth);
                over.push(episode.over);
            }
            Ok(true)
        });
        match stepped {
            Ok(true) => Ok((PyByteArray::new(py, &seen), worth, over)),
            Ok(false) => Err(not_begun()),
            Err(error) => Err(failed(&error)),
        }
    }

    /// What is known of each agent's path beforehand: what it carries, bit/s with headers and without; its round-trip time,
    /// s; its maximum segment size, bytes.
    fn paths(&self, number: usize) -> PyResult<Vec<(f64, f64, f64, f64)>> {
        let agents = self.episode(number)?.agents.iter();
        Ok(agents.map(|agent| (agent.rate, agent.capacity, agent.path_rtt, agent.mss)).collect())
    }

    /// What each agent's flow has done in the last step: its seconds; acknowledged and sent, bit/s; the share that was sent
    /// again; mean and smallest round-trip time, s; window and flight, bytes; timeouts.
    fn readings(&self, number: usize) -> PyResult<Vec<Reading>> {
        Ok(self.episode(number)?.agents.iter().map(|agent| agent.last).collect())
    }

    /// Simulated seconds of a run.
    fn now(&self, number: usize) -> PyResult<f64> {
        Ok(self.episode(number)?.run.now().seconds())
    }

    /// Whether a run has come to the end of its scenario's duration.
    fn timed_out(&self, number: usize) -> PyResult<bool> {
        let run = &self.episode(number)?.run;
        Ok(run.now() >= run.end())
    }

    /// What the path has lost of each agent's data by now: to full queues, and to everything else.
    fn losses(&self, number: usize) -> PyResult<Vec<(u64, u64)>> {
        let lost = |agent: &Agent| {
            let drops = agent.before.drops;
            (drops.queue, drops.total() - drops.queue)
        };
        Ok(self.episode(number)?.agents.iter().map(lost).collect())
    }

    /// What has come of a run by now, which ends it.
    fn end(&mut self, number: usize) -> PyResult<Run> {
        let ended = self.runs.get_mut(number).and_then(Option::take);
        let mut episode = ended.ok_or_else(not_begun)?;
        let outcome = episode.run.outcome().ok_or_else(|| error::internal("a run without an outcome"))?;
        Ok(Run::made(episode.scenario, outcome))
    }
}

impl Steps {
    fn episode(&self, number: usize) -> PyResult<&Episode> {
        self.runs.get(number).and_then(Option::as_ref).ok_or_else(not_begun)
    }
}

/// How long a step takes.
fn step(seconds: f64) -> PyResult<Span> {
    const RANGE: std::ops::RangeInclusive<f64> = 1e-6..=3600.0;
    if RANGE.contains(&seconds) {
        return Ok(Span::truncated(seconds * 1e9));
    }
    let (least, most) = (RANGE.start(), RANGE.end());
    Err(error::question(format!("a step of {seconds} s, expected one from {least} s to {most} s")))
}

fn not_begun() -> PyErr {
    error::question("no run has begun: reset() begins one")
}

/// A run that cannot begin, or go on.
fn failed(error: &NetError) -> PyErr {
    error::failure(&error.to_string().into())
}
