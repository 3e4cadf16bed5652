//! A simulation beside a live run has what the machine gave that one: clocks whose ticks lie where those of its kernel did, and a
//! path that is late with each packet by what the emulator and the other host were late by. No scenario says either, as little
//! as it says which packets noise will lose. Not for: what a tick does (`truckee_tcp::wheel`).

use super::events::{Passed, Trace};
use std::collections::BTreeMap;
use std::sync::Arc;
use truckee_channel::{Delays, Effect};
use truckee_lab::{Engine, Failure};
use truckee_scenario::model::{Direction, Flow};
use truckee_scenario::outcome::{FlowSeries, Vantage};
use truckee_scenario::{Outcome, Scenario};
use truckee_tcp::wheel::TICK;
use truckee_tcp::{Span, Time};

/// Runs once more, with their packets kept, those of two sides that are simulations of `scenario`, each beside the live run of the
/// same seed; where that run's ticks are not known, clocks stay as they are.
///
/// # Errors
/// The engine's.
pub fn beside_the_live_runs(
    scenario: &Scenario,
    engines: [&dyn Engine; 2],
    sides: &mut [Vec<Outcome>],
) -> Result<(), Failure> {
    let [one, other] = sides else { return Ok(()) };
    let both = one.iter_mut().zip(other);
    for (a, b) in both {
        let (engine, simulated, live) = match engines.map(Engine::is_live) {
            [false, true] => (engines[0], a, &*b),
            [true, false] => (engines[1], b, &*a),
            _ => return Ok(()),
        };
        if let Some(late) = as_late_as(engine, scenario, simulated, live)? {
            *simulated = late;
        }
    }
    Ok(())
}

/// A simulated run once more, beside a live one; `None`: what passed in one of them is not known.
///
/// # Errors
/// The engine's.
pub(super) fn as_late_as(
    engine: &dyn Engine,
    scenario: &Scenario,
    simulated: &Outcome,
    live: &Outcome,
) -> Result<Option<Outcome>, Failure> {
    // What the hosts take is seen once the path is late as the live one was.
    let Some(path_alone) = beside(scenario, simulated, None, live) else { return Ok(None) };
    let late = engine.run_tapped(&path_alone, Vantage::Sender)?;
    let beside = beside(scenario, simulated, Some(&late), live);
    beside.map(|beside| engine.run_tapped(&beside, Vantage::Sender)).transpose()
}

/// The scenario of a simulated run beside a live one; `late`: such a run whose hosts take no time.
fn beside(
    scenario: &Scenario,
    simulated: &Outcome,
    late: Option<&Outcome>,
    live: &Outcome,
) -> Option<Scenario> {
    let mut beside = Scenario { seed: simulated.seed, ..scenario.clone() };
    for (number, flow) in scenario.flows.iter().enumerate() {
        let series = |outcome: &'_ Outcome| outcome.series.iter().position(|series| series.flow == flow.name);
        let (ours, theirs) = (&simulated.series[series(simulated)?], &live.series[series(live)?]);
        if let Some(age) = live.timers_age {
            tick_alike(&mut beside.flows[number], age, ours, theirs)?;
        }
        let live = Trace::of(live, flow)?;
        let opening = Trace::of(simulated, flow).and_then(|ours| answered_in(&ours, &live, &theirs.late));
        let Some(opening) = opening else { continue };
        let each = late.and_then(|late| hosts_take(&Trace::of(late, flow)?, &live)).unwrap_or_default();
        // The first of either direction opens the connection.
        let host = |first: Span, number| if number == 0 { first } else { each / 2 };
        let [to, back] = [(&theirs.late[0], Span::ZERO), (&theirs.late[1], opening)]
            .map(|(late, first)| late.iter().enumerate().map(|(n, &by)| by + host(first, n)).collect());
        be_late(&mut beside, number, [to, back]);
    }
    Some(beside)
}

/// Gives a flow the clocks of a live one; the time of either counts from a flow's first packet. It begins as far into a tick of
/// the simulation's time as it did into one of the kernel's: timestamps, CUBIC and the receiver's round trips go by ticks of
/// that time, which lie where those of the kernel's own monotonic clock do, and the wheel's age is whole ticks.
fn tick_alike(flow: &mut Flow, age: Span, ours: &FlowSeries, theirs: &FlowSeries) -> Option<()> {
    let first = |series: &FlowSeries| series.packets.first().map(|packet| packet.at);
    let (ours, theirs) = (first(ours)?, first(theirs)?);
    let age = (age + Time::since_start(theirs)).saturating_sub(Time::since_start(ours));
    flow.stack.timers_age = TICK * age.ticks(TICK);
    flow.start += age - flow.stack.timers_age;
    Some(())
}

/// What the other host took for the answer to a SYN, which a simulated one gives at once; `late`: by what the path was with packets.
fn answered_in(ours: &Trace, live: &Trace, late: &[Vec<Span>; 2]) -> Option<Span> {
    let [syn, answer] = late.each_ref().map(|late| late.first().copied().unwrap_or_default());
    Some(live.opening?.saturating_sub(ours.opening?).saturating_sub(syn + answer))
}

/// What both hosts took with a segment, its ACK and what that released, where simulated ones take no time: in the middle of all
/// turns that both runs had. `None`: they had none.
fn hosts_take(ours: &Trace, live: &Trace) -> Option<Span> {
    let (ours, live) = (turns(ours), turns(live));
    let both = ours.iter().zip(&live).take_while(|(a, b)| (a.ack, a.released) == (b.ack, b.released));
    let clocked = both.filter(|(a, b)| a.after.max(b.after) < AT_ONCE);
    let mut longer: Vec<Span> = clocked.map(|(a, b)| b.took.saturating_sub(a.took)).collect();
    longer.sort();
    longer.get(longer.len() / 2).copied()
}

/// What leaves so soon after an ACK has waited for nothing else.
const AT_ONCE: Span = Span::ms(1);

/// From a segment that was sent once to the first that left after its ACK.
#[derive(Debug)]
struct Turn {
    ack: u64,
    /// Where the segment that left begins.
    released: u64,
    took: Span,
    /// How long that was after the ACK.
    after: Span,
}

fn turns(trace: &Trace) -> Vec<Turn> {
    let mut left = BTreeMap::new();
    let (mut heard, mut turns) = (None, Vec::new());
    for event in &trace.events {
        match &event.what {
            Passed::Sent { segment: (from, to), time: 1, .. } => {
                turns.extend(heard.take().map(|(ack, sent, at)| Turn {
                    ack,
                    released: *from,
                    took: event.at.saturating_sub(sent),
                    after: event.at.saturating_sub(at),
                }));
                left.insert(*to, event.at);
            }
            // Times of what follows are not those of the first transmission.
            Passed::Sent { .. } => left.clear(),
            Passed::Heard { ack, .. } => heard = left.remove(ack).map(|sent| (*ack, sent, event.at)),
        }
    }
    turns
}

/// Makes the last link to the receiver late with the flow's data, and that to the sender with its ACKs, packet after packet. Where
/// more than one link leads to an end, or its queue may drop what the channel has let pass, that direction stays as it is.
fn be_late(scenario: &mut Scenario, number: usize, late: [Vec<Span>; 2]) {
    let ends = [scenario.flows[number].to, scenario.flows[number].from];
    for (end, by) in ends.into_iter().zip(late) {
        let mut to: Vec<&mut Arc<Direction>> = Vec::new();
        for link in &mut scenario.links {
            match end {
                end if end == link.second => to.push(&mut link.forward),
                end if end == link.first => to.push(&mut link.back),
                _ => {}
            }
        }
        if let [only] = &mut to[..]
            && !only.after_channel
        {
            let delays = Delays { flow: Some(number as u32), by: by.into() };
            Arc::make_mut(only).channel.effects.push(Effect::Delays(delays));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulator;
    use crate::trace::{Trace, as_late, tapped};
    use std::borrow::Cow;
    use std::time::Duration;
    use truckee_lab::Cancel;
    use truckee_lab::compare::{Runs, run};
    use truckee_scenario::Document;
    use truckee_tcp::Span;

    /// One segment that is lost, so that what a timer does is seen.
    const LOST: &str = r#"
duration = "3s"
profile = "linux"
[[link]]
between = ["a", "b"]
rate = "10Mbit/s"
delay = "10ms"
channel = { kind = "scripted", counts = "data", packets = [1] }
[[flow]]
from = "a"
to = "b"
sender = "newreno"
app = { kind = "file", size = "1kB" }
"#;

    /// A simulation that says it were a kernel's, with timers of that age, over a path that is late by those, both ways.
    #[derive(Clone, Copy)]
    struct Live(Span, &'static [Span]);

    impl Engine for Live {
        fn name(&self) -> &str {
            "kernel"
        }
        fn run(&self, scenario: &Scenario, _: bool) -> Result<Outcome, Failure> {
            self.run_tapped(scenario, Vantage::Sender)
        }
        fn run_tapped(&self, scenario: &Scenario, vantage: Vantage) -> Result<Outcome, Failure> {
            let mut scenario = scenario.clone();
            scenario.flows[0].stack.timers_age = self.0;
            be_late(&mut scenario, 0, [self.1.to_vec(), self.1.to_vec()]);
            let mut outcome = Simulator.run_tapped(&scenario, vantage)?;
            outcome.series[0].late = [self.1.to_vec(), self.1.to_vec()];
            Ok(Outcome { timers_age: Some(self.0), ..outcome })
        }
        fn refuses(&self, _: &Scenario) -> Option<String> {
            None
        }
        fn is_live(&self) -> bool {
            true
        }
        fn build(&self) -> Cow<'_, str> {
            "none".into()
        }
        fn takes(&self, _: &Scenario) -> Option<Duration> {
            None
        }
    }

    fn times(outcome: &Outcome) -> Vec<Time> {
        outcome.series[0].packets.iter().map(|packet| packet.at).collect()
    }

    /// Since the first one.
    fn apart(outcome: &Outcome) -> Vec<Span> {
        let times = times(outcome);
        times.iter().map(|&at| at - times[0]).collect()
    }

    #[test]
    fn a_simulation_has_the_ticks_of_the_live_run_beside_it() {
        let scenario = Document::parse("lost.toml", LOST).unwrap().scenario().unwrap();
        for age in [3, 250, 1_000_001].map(Span::ms) {
            let engines: [&dyn Engine; 2] = [&Simulator, &Live(age, &[])];
            let run = |engine: &dyn Engine| vec![tapped(engine).run(&scenario, true).unwrap()];
            let mut sides = [run(engines[0]), run(engines[1])];
            assert_ne!(apart(&sides[0][0]), apart(&sides[1][0]), "{age:?}");
            beside_the_live_runs(&scenario, engines, &mut sides).unwrap();
            assert_eq!(apart(&sides[0][0]), apart(&sides[1][0]), "{age:?}");
            // Clocks other than the wheel count the simulation's own time.
            let into = |time: Time| time.since_start() - TICK * time.since_start().ticks(TICK);
            let began = age + times(&sides[1][0])[0].since_start();
            assert_eq!(into(times(&sides[0][0])[0]), began - TICK * began.ticks(TICK), "{age:?}");
            let trace = Trace::of(&sides[0][0], &scenario.flows[0]).unwrap();
            assert_eq!(trace.late, Span::ZERO, "a simulation that begins later is not late: {age:?}");
        }
    }

    #[test]
    fn a_simulation_is_late_with_each_packet_that_the_path_beside_it_was_late_with() {
        const LATE: [Span; 5] = [Span::us(300), Span::us(50), Span::ZERO, Span::us(900), Span::us(20)];
        let text = LOST.replace("1kB", "20kB");
        let scenario = Document::parse("late.toml", &text).unwrap().scenario().unwrap();
        let engines: [&dyn Engine; 2] = [&Simulator, &Live(Span::ms(250), &LATE)];
        let run = |engine: &dyn Engine| vec![tapped(engine).run(&scenario, true).unwrap()];
        let mut sides = [run(engines[0]), run(engines[1])];
        assert_ne!(apart(&sides[0][0]), apart(&sides[1][0]));
        beside_the_live_runs(&scenario, engines, &mut sides).unwrap();
        assert_eq!(apart(&sides[0][0]), apart(&sides[1][0]));
    }

    #[test]
    fn means_are_compared_of_simulations_as_late_as_the_live_runs_of_their_seeds() {
        const LATE: [Span; 3] = [Span::ZERO, Span::ms(40), Span::ms(9)];
        let text = LOST.replace("1kB", "20kB");
        let scenario = Document::parse("late.toml", &text).unwrap().scenario().unwrap();
        let engines: [&dyn Engine; 2] = [&Simulator, &Live(Span::ms(250), &LATE)];
        let runs = Runs { count: 2, at_most: 2, jobs: None, series: false, as_written: false };
        let ran = |engines: &[&dyn Engine]| {
            run(&scenario, engines, runs, &mut (), &Cancel::new()).unwrap().unwrap()
        };
        let apart = |sides: &[Vec<Outcome>]| {
            let [one, other] = [0, 1].map(|side| sides[side][1].flows[0].completion_s.unwrap());
            (one - other).abs()
        };
        assert!(apart(&ran(&engines)) > 0.01);
        for pair in [engines, [engines[1], engines[0]]] {
            let sides = as_late(&pair, ran).unwrap();
            assert!(apart(&sides) < 1e-4, "{}", apart(&sides));
            assert!(sides.iter().flatten().all(|outcome| outcome.series.is_empty()));
        }
        let refused = as_late(&[&Simulator, &Simulator], |_| ()).unwrap_err();
        assert!(refused.to_string().ends_with("such as sim,kernel; found sim, sim"), "{refused}");
    }

    #[test]
    fn what_the_hosts_take_longer_is_added_to_each_packet() {
        let text = LOST.replace("1kB", "60kB");
        let scenario = Document::parse("host.toml", &text).unwrap().scenario().unwrap();
        let trace = |by: u64| {
            let late = vec![Span::us(by); 200];
            let mut scenario = scenario.clone();
            be_late(&mut scenario, 0, [late.clone(), late]);
            let outcome = tapped(&Simulator).run(&scenario, true).unwrap();
            Trace::of(&outcome, &scenario.flows[0]).unwrap()
        };
        let (ours, live) = (trace(0), trace(35));
        // The SYN was late by 30 us of its 70, and its answer by none.
        let late = [vec![Span::us(30), Span::us(5)], vec![Span::ZERO]];
        assert_eq!(answered_in(&ours, &live, &late), Some(Span::us(40)));
        assert!(turns(&live).len() > 10, "{:?}", turns(&live));
        assert_eq!(hosts_take(&ours, &live), Some(Span::us(70)));
    }

    #[test]
    fn a_flow_with_two_links_at_an_end_keeps_its_path() {
        let text =
            LOST.replace("[[flow]]", "[[link]]\nbetween = [\"b\", \"c\"]\nrate = \"1Mbit/s\"\n[[flow]]");
        let mut scenario = Document::parse("two.toml", &text).unwrap().scenario().unwrap();
        be_late(&mut scenario, 0, [vec![Span::ms(1)], vec![Span::ms(2)]]);
        let effects = |direction: &Direction| direction.channel.effects.len();
        let of =
            |link: usize| [&scenario.links[link].forward, &scenario.links[link].back].map(|d| effects(d));
        assert_eq!([of(0), of(1)], [[1, 1], [0, 0]], "the script alone to b, and the ACKs' delays to a");
    }
}
