//! A run that goes on as far as it is told: for a program that has to do other things between, as a page in a browser has,
//! and that shows how far it is.

use crate::network::Network;
use crate::{Error, Options, outcome};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use truckee_scenario::model::App;
use truckee_scenario::{Outcome, Scenario};
use truckee_tcp::registry::Fault;
use truckee_tcp::{Registry, Time};

/// A run under way.
///
/// ```
/// use truckee_net::{Options, Run, run};
/// use truckee_scenario::{Document, Span, Time};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = r#"
///     duration = "10s"
///     topology = { kind = "single-link", rate = "10Mbit/s" }
///     flow     = [{ from = "src", to = "dst" }]
/// "#;
/// let scenario = Document::parse("short.toml", text)?.scenario()?;
/// let drawn = scenario.drawn();
/// let mut under_way = Run::new(&drawn, &Options::default(), &Default::default())?;
/// let mut until = Time::ZERO;
/// while !under_way.advance(until)? {
///     until = until + Span::ms(250);
/// }
/// assert_eq!(under_way.outcome().digest, run(&scenario, &Options::default())?.digest);
/// # Ok(())
/// # }
/// ```
pub struct Run<'a> {
    scenario: &'a Scenario,
    network: Network<'a>,
    over: bool,
}

impl<'a> Run<'a> {
    /// Builds what the scenario describes; nothing has happened yet. What a scenario leaves to its seed is to be written out
    /// before, by [`Scenario::drawn`]. Its algorithms are built in or in the registry.
    ///
    /// # Errors
    /// The scenario asks for what the simulator has not, or contradicts itself.
    pub fn new(scenario: &'a Scenario, options: &Options, registry: &Registry) -> Result<Self, Error> {
        refuse_live(scenario)?;
        let built = faultless(|| Network::new(scenario, options, registry));
        let network = built.map_err(|fault| foreign(fault, Time::ZERO))??;
        Ok(Self { scenario, network, over: false })
    }

    /// Lets happen what happens by this time of the run; whether the run is over then. One that is
    /// over stays so.
    ///
    /// # Errors
    /// It cannot go on; or it was wished that it end early. Nothing can be had of it any more.
    pub fn advance(&mut self, until: Time) -> Result<bool, Error> {
        if !self.over {
            let went = faultless(|| self.network.run(until));
            self.over = went.map_err(|fault| foreign(fault, self.network.now))??;
        }
        Ok(self.over)
    }

    /// The time of what has happened last.
    pub fn now(&self) -> Time {
        self.network.now
    }

    /// What has happened so far, in events.
    pub fn events(&self) -> u64 {
        self.network.events
    }

    /// What the run showed. Of one that is not over, this is of as far as it came. The time that it took is left to whoever
    /// measured it.
    pub fn outcome(mut self) -> Outcome {
        if !self.over {
            self.network.close_books();
        }
        outcome::outcome(self.network, self.scenario)
    }
}

fn foreign(Fault { member, what }: Fault, at: Time) -> Error {
    Error::Foreign { member, what, at: at.seconds() }
}

/// Does something in which foreign algorithms have a part. What one of them does wrong unwinds to here; any other panic is a
/// fault of ours and goes on.
fn faultless<T>(f: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(f))
        .map_err(|panic| *panic.downcast::<Fault>().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// Refuses what only real stacks have.
fn refuse_live(scenario: &Scenario) -> Result<(), Error> {
    for flow in &scenario.flows {
        let what = match (&flow.sender.native, &flow.app) {
            (Some(name), _) => format!("the congestion control \"{name}\" is the running kernel's own"),
            (None, App::WebPage { .. }) => "a web page takes a real server and a real client".to_owned(),
            _ => continue,
        };
        return Err(Error::OnlyLive { flow: flow.name.clone(), what });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run;

    #[test]
    fn what_only_real_stacks_have_is_refused_by_name() {
        let link = "duration = \"1s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbit/s\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n";
        for (key, named) in [
            ("sender = \"kernel:htcp\"", "\"htcp\""),
            ("app = { kind = \"web-page\", size = \"1kB\" }", "web page"),
        ] {
            let text = format!("{link}{key}\n");
            let scenario = truckee_scenario::Document::parse("t.toml", &text).unwrap().scenario().unwrap();
            let error = run(&scenario, &Options::default()).unwrap_err().to_string();
            assert!(error.contains(named) && error.contains("--engine kernel"), "{error}");
        }
    }

    const NOISY: &str = r#"
        duration = "20s"
        link = [{ between = ["a", "b"], rate = "5Mbit/s", delay = "20ms", channel = { kind = "bernoulli", per = 0.01 } }]
        flow = [{ from = "a", to = "b" }, { from = "b", to = "a", sender = "cubic" }]
    "#;

    fn noisy() -> Scenario {
        truckee_scenario::Document::parse("t.toml", NOISY).unwrap().scenario().unwrap()
    }

    #[test]
    fn a_run_in_slices_is_the_run_in_one_go() {
        let scenario = noisy();
        let options = Options { series: true, ..Options::default() };
        let whole = run(&scenario, &options).unwrap();
        for slice in [1, 250, 7_000, 60_000].map(truckee_tcp::Span::ms) {
            let mut sliced = Run::new(&scenario, &options, &Registry::new()).unwrap();
            let mut until = Time::ZERO;
            while !sliced.advance(until).unwrap() {
                assert!(sliced.now() <= until, "it goes on beyond {until:?}");
                until = until.saturating_add(slice);
            }
            assert!(sliced.advance(Time::ZERO).unwrap(), "over once and for all");
            assert_eq!(sliced.outcome(), Outcome { wall_s: 0.0, ..whole.clone() });
        }
    }

    #[test]
    fn a_run_that_is_not_over_tells_of_as_far_as_it_came() {
        let scenario = noisy();
        let mut begun = Run::new(&scenario, &Options::default(), &Registry::new()).unwrap();
        assert!(!begun.advance(Time::ZERO + truckee_tcp::Span::s(5)).unwrap());
        assert!(begun.events() > 1000);
        let outcome = begun.outcome();
        assert!(outcome.simulated_s > 4.9 && outcome.simulated_s <= 5.01, "{}", outcome.simulated_s);
        let goodput = outcome.flows[0].goodput_bps;
        assert!(goodput > 1e6 && goodput < 5e6, "{goodput}");
    }
}
