//! Algorithms from elsewhere: named in a scenario as those that are built in, run beside them, and not trusted.

#![allow(clippy::panic, clippy::unwrap_used)] // a test says so by failing

use truckee_net::{Error, Options, run, run_among};
use truckee_scenario::{Document, Outcome};
use truckee_tcp::ack::{AckPolicy, AckSink};
use truckee_tcp::controller::{Controller, Interest};
use truckee_tcp::growth::Growth;
use truckee_tcp::outstanding::Sent;
use truckee_tcp::predict::LossPredictor;
use truckee_tcp::recovery::{Advance, NewReno, Recovery};
use truckee_tcp::sender::Transfer;
use truckee_tcp::spec::{Args, Member};
use truckee_tcp::{
    Ack, Air, Arrival, Cause, Info, Loss, LossKind, Registry, Report, SackBlocks, Span, Spec, SpecError,
    Time, Window,
};

fn info(name: &'static str) -> Info {
    Info { name, summary: "of a test", formula: "none", source: "nobody" }
}

fn document(sender: &str) -> Document {
    losing(sender, 0.005)
}

fn losing(sender: &str, per: f64) -> Document {
    let text = format!(
        r#"
        duration = "20s"
        topology = {{ kind = "single-link", rate = "5Mbit/s", delay = "30ms", queue = {{ size = "30packets" }}, channel = {{ kind = "bernoulli", per = {per} }} }}
        flow = [{{ from = "src", to = "dst", sender = {sender} }}]
        "#
    );
    Document::parse("foreign.toml", &text).unwrap()
}

fn outcome(sender: &str, registry: &Registry) -> Result<Outcome, Error> {
    let scenario = document(sender).scenario_among(registry).unwrap();
    run_among(&scenario, &Options::default(), registry)
}

/// RFC 5681's growth, by another hand.
#[derive(Debug, Clone)]
struct MyGrowth {
    step: f64,
}

impl Growth for MyGrowth {
    fn on_ack(&mut self, _: &Ack, w: &mut Window) {
        w.cwnd += self.step * if w.in_slow_start() { w.mss } else { w.mss * w.mss / w.cwnd };
    }
    fn listens(&self) -> bool {
        false
    }
}

fn my_growth(args: &mut Args<'_>) -> Result<Box<dyn Growth>, SpecError> {
    Ok(Box::new(MyGrowth { step: args.number("step", 1.0, 0.01..=2.0)? }))
}

/// Takes every loss for noise.
#[derive(Debug, Clone)]
struct Optimist;

impl LossPredictor for Optimist {
    fn verdict(&self, _: &Loss) -> Cause {
        Cause::Wireless
    }
}

#[test]
fn a_foreign_algorithm_does_what_a_built_in_one_of_the_same_rule_does() {
    let mut registry = Registry::new();
    registry.add::<dyn Growth>(info("mine"), my_growth).unwrap();
    registry.add::<dyn LossPredictor>(info("optimist"), |_| Ok(Box::new(Optimist))).unwrap();
    for (foreign, built_in) in [
        ("{ growth = \"mine\" }", "\"newreno\""),
        ("{ response = { by-cause = { predictor = \"optimist\" } } }", "\"newreno-lp(always-wireless)\""),
    ] {
        let foreign = outcome(foreign, &registry).unwrap();
        let built_in = run(&document(built_in).scenario().unwrap(), &Options::default()).unwrap();
        assert!(built_in.flows[0].fast_retransmits > 10);
        assert_eq!(foreign.digest, built_in.digest);
    }
    let gentle = outcome("{ growth = { mine = { step = 0.2 } } }", &registry).unwrap();
    assert_ne!(gentle.digest, outcome("{ growth = \"mine\" }", &registry).unwrap().digest);
}

#[test]
fn its_arguments_are_checked_and_its_name_is_its_own() {
    let mut registry = Registry::new();
    registry.add::<dyn Growth>(info("mine"), my_growth).unwrap();
    for taken in ["mine", "cubic"] {
        let error = registry.add::<dyn Growth>(info(taken), my_growth).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("there is a growth rule named \"{taken}\" already, expected a name of its own")
        );
    }
    let refused = |sender| document(sender).scenario_among(&registry).unwrap_err().to_string();
    let error = refused("{ growth = { mine = { step = 3 } } }");
    assert!(error.contains("step is 3") && error.contains("0.01 to 2"), "{error}");
    let error = refused("{ growth = \"min\" }");
    assert!(error.contains("\"mine\""), "the nearest name: {error}");
    let error = document("{ growth = \"mine\" }").scenario().unwrap_err().to_string();
    assert!(error.contains("no growth rule \"mine\""), "it is not built in: {error}");
}

/// Does one thing wrong from its two hundredth ACK on.
#[derive(Debug, Clone)]
struct Bad {
    fault: &'static str,
    acks: u32,
}

impl Controller for Bad {
    fn interest(&self) -> Interest {
        Interest::ALL
    }
    fn on_ack(&mut self, _: &Ack, w: &mut Window) {
        self.acks += 1;
        w.cwnd += w.mss * w.mss / w.cwnd;
        match self.fault {
            "window" if self.acks > 200 => w.cwnd = f64::NAN,
            "closed" if self.acks > 200 => w.cwnd = 0.0,
            "panic" if self.acks > 200 => panic!("out of ideas"),
            _ => {}
        }
    }
    fn after_ack(&mut self, _: &Ack, air: &Air, _: &mut Window) {
        assert!(air.rate.is_none_or(|sample| sample.rate >= 0.0));
    }
    fn on_loss(&mut self, loss: &Loss, w: &mut Window) -> Cause {
        w.ssthresh = w.half_flight();
        w.cwnd = if loss.kind == LossKind::Timeout { w.mss } else { w.ssthresh };
        Cause::Congestion
    }
    fn pacing_rate(&self, _: &Window) -> Option<f64> {
        (self.fault == "pace" && self.acks > 200).then_some(-1.0)
    }
}

#[test]
fn what_it_does_wrong_ends_the_run_with_its_name_and_the_time() {
    let mut registry = Registry::new();
    let bad = |args: &mut Args<'_>| -> Result<Box<dyn Controller>, SpecError> {
        let fault = args.choice("fault", &["none", "window", "closed", "pace", "panic"])?;
        Ok(Box::new(Bad { fault, acks: 0 }))
    };
    registry.add::<dyn Controller>(info("bad"), bad).unwrap();
    let said = |fault: &str| {
        outcome(&format!("{{ controller = {{ bad = {{ fault = \"{fault}\" }} }} }}"), &registry)
            .map(|outcome| outcome.flows[0].goodput_bps)
    };
    assert!(said("none").unwrap() > 1e5);
    for (fault, expected) in [
        ("window", "on_ack left a cwnd of NaN bytes, expected one segment at least"),
        ("closed", "on_ack left a cwnd of 0 bytes, expected one segment at least"),
        ("pace", "pacing_rate answered -1, expected a number from 0 on"),
        ("panic", "on_ack panicked: out of ideas"),
    ] {
        match said(fault).unwrap_err() {
            Error::Foreign { member, what, at } => {
                assert_eq!((member, what.as_str()), ("bad", expected));
                assert!(at > 0.1 && at < 20.0, "{at}");
            }
            other => panic!("{other}"),
        }
    }
}

/// NewReno that probes the tail: where nothing has been heard for a while it sends the first hole again, and takes a loss back
/// whose segment was not lost. It shows what a recovery can do besides hearing ACKs.
#[derive(Debug, Clone)]
struct Prober {
    newreno: NewReno,
    probe_at: Option<Time>,
    probe: bool,
    sent: u64,
}

impl Recovery for Prober {
    fn on_advance(
        &mut self,
        ack: &Ack,
        sack: &SackBlocks,
        t: &mut Transfer,
        report: &mut Report<'_>,
    ) -> Advance {
        self.probe_at = None;
        self.newreno.on_advance(ack, sack, t, report)
    }
    fn on_duplicate(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        self.newreno.on_duplicate(ack, sack, t, report);
    }
    fn on_sent(&mut self, sent: &Sent, _: &mut Transfer) {
        assert!(u64::from(sent.number.0) == self.sent, "in the order of sending");
        self.sent += 1;
        self.probe_at = Some(sent.sent + Span::ms(250));
    }
    fn hears_departures(&self) -> bool {
        true
    }
    fn deadline(&self, _: &Transfer) -> Option<Time> {
        self.probe_at
    }
    fn on_timer(&mut self, now: Time, t: &mut Transfer, report: &mut Report<'_>) {
        self.probe_at = None;
        self.probe = !t.out.is_empty();
        // Nothing was lost, it says: the window is what it was.
        if t.out.flight() < 10_000 {
            t.undo(now, report);
        }
    }
    fn has_timer(&self) -> bool {
        true
    }
    fn on_timeout(&mut self, now: Time, t: &mut Transfer) {
        self.newreno.on_timeout(now, t);
    }
    fn deflated(&self, t: &Transfer) -> f64 {
        self.newreno.deflated(t)
    }
    fn retransmission(&mut self, t: &Transfer) -> Option<usize> {
        if std::mem::take(&mut self.probe) { Some(0) } else { self.newreno.retransmission(t) }
    }
    fn duplicates(&self) -> u32 {
        self.newreno.duplicates()
    }
    fn repairing(&self) -> bool {
        self.newreno.repairing()
    }
}

#[test]
fn a_recovery_with_a_timer_and_an_undo_of_its_own_spares_timeouts() {
    let mut registry = Registry::new();
    let prober = |_: &mut Args<'_>| -> Result<Box<dyn Recovery>, SpecError> {
        let newreno = NewReno::build(&mut Args::new(&Spec::named("newreno")))?;
        Ok(Box::new(Prober { newreno, probe_at: None, probe: false, sent: 0 }))
    };
    registry.add::<dyn Recovery>(info("prober"), prober).unwrap();
    let timeouts = |sender: &str, seed: u64| {
        // Windows of a segment or two, whose loss no duplicates show.
        let mut scenario = losing(sender, 0.1).scenario_among(&registry).unwrap();
        scenario.seed = seed;
        let outcome = run_among(&scenario, &Options::default(), &registry).unwrap();
        (outcome.flows[0].timeouts, outcome.flows[0].goodput_bps)
    };
    let sum =
        |sender| (1..=5).map(|seed| timeouts(sender, seed)).fold((0, 0.0), |(n, g), t| (n + t.0, g + t.1));
    let (plain, probing) = (sum("\"newreno\""), sum("{ recovery = \"prober\" }"));
    assert!(probing.0 * 2 < plain.0, "{probing:?} {plain:?}");
    assert!(probing.1 > plain.1, "{probing:?} {plain:?}");
}

/// Acknowledges every segment, and wants its timer at once, for ever.
#[derive(Debug, Clone)]
struct Restless;

impl AckPolicy for Restless {
    fn on_segment(&mut self, segment: &Arrival, out: &mut AckSink) {
        out.ack(segment.rcv_nxt);
    }
    fn deadline(&self) -> Option<Time> {
        Some(Time::s(1))
    }
}

/// Likewise, among recoveries.
#[derive(Debug, Clone)]
struct RestlessRecovery(NewReno);

impl Recovery for RestlessRecovery {
    fn on_advance(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, r: &mut Report<'_>) -> Advance {
        self.0.on_advance(ack, sack, t, r)
    }
    fn on_duplicate(&mut self, ack: &Ack, sack: &SackBlocks, t: &mut Transfer, report: &mut Report<'_>) {
        self.0.on_duplicate(ack, sack, t, report);
    }
    fn deadline(&self, _: &Transfer) -> Option<Time> {
        Some(Time::s(1))
    }
    fn has_timer(&self) -> bool {
        true
    }
    fn on_timeout(&mut self, now: Time, t: &mut Transfer) {
        self.0.on_timeout(now, t);
    }
    fn retransmission(&mut self, t: &Transfer) -> Option<usize> {
        self.0.retransmission(t)
    }
    fn duplicates(&self) -> u32 {
        self.0.duplicates()
    }
    fn repairing(&self) -> bool {
        self.0.repairing()
    }
}

#[test]
fn a_timer_that_is_asked_for_again_at_once_ends_the_run_and_does_not_hold_its_time_up() {
    let mut registry = Registry::new();
    registry.add::<dyn AckPolicy>(info("restless"), |_| Ok(Box::new(Restless))).unwrap();
    let recovery = |_: &mut Args<'_>| -> Result<Box<dyn Recovery>, SpecError> {
        Ok(Box::new(RestlessRecovery(NewReno::build(&mut Args::new(&Spec::named("newreno")))?)))
    };
    registry.add::<dyn Recovery>(info("restless"), recovery).unwrap();
    for sender in ["\"newreno\", receiver = \"restless\"", "{ recovery = \"restless\" }"] {
        match outcome(sender, &registry).unwrap_err() {
            Error::Foreign { member, what, at } => {
                assert_eq!((member, at), ("restless", 1.0));
                assert_eq!(
                    what,
                    "deadline answered 1000000000 ns when that time had come and on_timer had been told, \
                     expected a later time"
                );
            }
            other => panic!("{other}"),
        }
    }
}
