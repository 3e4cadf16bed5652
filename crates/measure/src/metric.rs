//! Metrics by name: one number from an [`Outcome`].
//!
//! | name | what it is |
//! |---|---|
//! | `jain`, `total_goodput_bps`, … | one number of the whole run |
//! | `goodput_bps`, `delay_s.mean`, … | the mean over all flows |
//! | `flow.NAME.goodput_bps` | one flow, by name or by position from 0 |
//! | `sender.LABEL.goodput_bps` | the mean over the flows with that sender |
//! | `link.NAME.utilisation` | one direction of a link, by name or by position from 0 |
//! | `station.NODE@MEDIUM.airtime` | one station of a medium |
//! | `medium.NAME.routing.bytes` | one medium, by name or by position from 0 |
//! | `medium.NAME.routing.messages.RREQ.bytes` | one kind of message of its routing protocol |
//! | `traffic.NAME.delivered_bps` | one entry of cross traffic |
//! | `predictor.NAME.accuracy.all` | a predictor that watched, over the loss events of all flows it watched |
//! | `estimator.NAME.mean_bps` | an estimator that watched, or `sender`: the one that the sender goes by; the mean over flows |
//! | `detector.NAME.accuracy.all` | a slow-start detector that watched, or `receiver`: the one that the receiver goes by; the mean over flows |
//! | `round.K.segments`, `round.K.acks` | what went in the K-th round of the (last) connection; the mean over flows |
//! | `probe.initial_window`, `probe.per_ack`, … | what probing the senders showed (engine `probe`); the mean over flows |
//!
//! `flow.NAME.` and `sender.LABEL.` also go before `predictor.…`, `estimator.…`, `detector.…`, `round.…` and `probe.…`.
//!
//! Names within a flow, link or traffic are those of the JSON, with dots for nesting. A value can be missing: a flow
//! that did not finish has no completion time. A mean over flows of which one lacks the value is missing too. The one
//! exception is `accuracy.*`, which over several flows is taken over all their loss events together, as A_C, A_W and
//! A_L are defined. A missing value is never a number: see [`crate::stats`].

mod fields;
mod media;

use crate::{Error, closest};

use fields::{
    DETECTOR, ESTIMATOR, FLOW, Field, LINK, PREDICTOR, PROBE, ROUND, RUN, STATION, TRAFFIC, find, share,
    split,
};
use media::{MEDIUM, MESSAGES, OfMedium};
use std::fmt;
use truckee_scenario::Outcome;
use truckee_scenario::model::Scenario;
use truckee_scenario::outcome::{
    DetectorOutcome, EstimatorOutcome, FlowOutcome, LinkOutcome, LossEvents, OWN_DETECTOR, OWN_ESTIMATE,
    PredictorOutcome, ProbeOutcome, RoundOutcome, StationOutcome, TrafficOutcome,
};

/// What is known of a metric: shown by the command and in the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Info {
    /// Its name.
    pub name: &'static str,
    /// Its unit in results; empty for pure numbers.
    pub unit: &'static str,
    /// What it belongs to: `run`, `flow`, `predictor`, `estimator`, `detector`, `round`, `probe`, `link`,
    /// `station`, `medium`, `kind of message` or `traffic`.
    pub of: &'static str,
    /// What it says.
    pub summary: &'static str,
}

/// Every metric there is, for the book and for messages.
pub fn list() -> Vec<Info> {
    fn infos<T>(of: &'static str, fields: &'static [Field<T>]) -> impl Iterator<Item = Info> {
        fields.iter().map(move |f| Info { name: f.name, unit: f.unit, of, summary: f.summary })
    }
    infos("run", RUN)
        .chain(infos("flow", FLOW))
        .chain(infos("predictor", PREDICTOR))
        .chain(infos("estimator", ESTIMATOR))
        .chain(infos("detector", DETECTOR))
        .chain(infos("round", ROUND))
        .chain(infos("probe", PROBE))
        .chain(infos("link", LINK))
        .chain(infos("station", STATION))
        .chain(infos("medium", MEDIUM))
        .chain(infos("kind of message", MESSAGES))
        .chain(infos("traffic", TRAFFIC))
        .collect()
}

/// All metrics of one flow, by name.
pub fn of_flow(flow: &FlowOutcome) -> impl Iterator<Item = (&'static str, Option<f64>)> {
    FLOW.iter().map(move |field| (field.name, (field.get)(flow).filter(|x| x.is_finite())))
}

/// A metric, by name.
#[derive(Clone)]
pub struct Metric {
    name: String,
    unit: &'static str,
    subject: Subject,
}

#[derive(Clone)]
enum Subject {
    Run(&'static Field<Outcome>),
    /// Of flows: which ones, and what of them.
    Flows(Which, Of),
    Link(String, &'static Field<LinkOutcome>),
    Station(String, &'static Field<StationOutcome>),
    Medium(String, OfMedium),
    Traffic(String, &'static Field<TrafficOutcome>),
}

/// Which flows.
#[derive(Clone)]
enum Which {
    All,
    Sender(String),
    One(String),
}

/// What of a flow.
#[derive(Clone)]
enum Of {
    Flow(&'static Field<FlowOutcome>),
    Predictor(String, &'static Field<PredictorOutcome>),
    Estimator(String, &'static Field<EstimatorOutcome>),
    Detector(String, &'static Field<DetectorOutcome>),
    /// Counted from 1.
    Round(usize, &'static Field<RoundOutcome>),
    Probe(&'static Field<ProbeOutcome>),
}

/// What metrics of a flow's parts begin with.
const PARTS: [&str; 5] = ["predictor", "estimator", "detector", "round", "probe"];

impl Of {
    fn unit(&self) -> &'static str {
        match self {
            Self::Flow(field) => field.unit,
            Self::Predictor(_, field) => field.unit,
            Self::Estimator(_, field) => field.unit,
            Self::Detector(_, field) => field.unit,
            Self::Round(_, field) => field.unit,
            Self::Probe(field) => field.unit,
        }
    }
}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metric({})", self.name)
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Metric {
    /// The metric called `name`; an unknown name is refused with the nearest one.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let of_flows = |which, of: Of| {
            let unit = of.unit();
            (Subject::Flows(which, of), unit)
        };
        let (subject, unit) = match name.split_once('.') {
            Some((kind @ ("flow" | "sender"), rest)) => {
                let (which, of) = of_some(kind, rest)?;
                of_flows(if kind == "flow" { Which::One(which) } else { Which::Sender(which) }, of)
            }
            Some((kind, rest)) if PARTS.contains(&kind) => of_flows(Which::All, part(kind, rest, "")?),
            Some(("link", rest)) => subject("link", rest, LINK, Subject::Link)?,
            Some(("station", rest)) => subject("station", rest, STATION, Subject::Station)?,
            Some(("medium", rest)) => {
                let (name, of) = OfMedium::parse(rest).ok_or_else(|| unknown_of_medium(rest))?;
                let unit = of.unit();
                (Subject::Medium(name, of), unit)
            }
            Some(("traffic", rest)) => subject("traffic", rest, TRAFFIC, Subject::Traffic)?,
            _ => match (find(RUN, name), find(FLOW, name)) {
                (Some(field), _) => (Subject::Run(field), field.unit),
                (None, Some(field)) => of_flows(Which::All, Of::Flow(field)),
                (None, None) => {
                    let known = RUN.iter().map(|f| f.name).chain(FLOW.iter().map(|f| f.name));
                    return Err(Error::UnknownMetric { name: name.to_owned(), near: closest(name, known) });
                }
            },
        };
        Ok(Self { name: name.to_owned(), unit, subject })
    }

    /// All metrics of the run and of the flows' means: what a sweep stores.
    pub fn unqualified() -> Vec<Self> {
        let run = RUN.iter().map(|f| (f.name, f.unit, Subject::Run(f)));
        let flows = FLOW.iter().map(|f| (f.name, f.unit, Subject::Flows(Which::All, Of::Flow(f))));
        run.chain(flows).map(|(name, unit, subject)| Self { name: name.to_owned(), unit, subject }).collect()
    }

    /// All metrics of those who watch in a scenario, over all flows.
    pub fn of_observers(scenario: &Scenario) -> Vec<Self> {
        let mut all = Vec::new();
        let mut add = |name: String, of: Of| {
            if !all.iter().any(|m: &Self| m.name == name) {
                all.push(Self { name, unit: of.unit(), subject: Subject::Flows(Which::All, of) });
            }
        };
        for (index, flow) in scenario.flows.iter().enumerate() {
            for (who, _) in &flow.observe.predictors {
                for f in PREDICTOR {
                    add(format!("predictor.{who}.{}", f.name), Of::Predictor(who.clone(), f));
                }
            }
            let own = flow.sender.goes_by_estimate().then_some(OWN_ESTIMATE);
            let others = flow.observe.estimators.iter().map(|(who, _)| who.as_str());
            for who in own.into_iter().chain(others) {
                for f in ESTIMATOR {
                    add(format!("estimator.{who}.{}", f.name), Of::Estimator(who.to_owned(), f));
                }
            }
            let own = scenario.has_detector(index).then_some(OWN_DETECTOR);
            let others = flow.observe.detectors.iter().map(|(who, _)| who.as_str());
            for who in own.into_iter().chain(others) {
                for f in DETECTOR {
                    add(format!("detector.{who}.{}", f.name), Of::Detector(who.to_owned(), f));
                }
            }
        }
        all
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its unit; empty for pure numbers.
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    /// Its value in `outcome`; `None` where the run has none. Errors: the outcome lacks the flow, link, … named.
    pub fn of(&self, outcome: &Outcome) -> Result<Option<f64>, Error> {
        let value = match &self.subject {
            Subject::Run(field) => (field.get)(outcome),
            Subject::Flows(which, of) => over_flows(of, &self.flows(which, outcome)?),
            Subject::Link(name, field) => self.one("link", name, field, &outcome.links, |l| &l.name)?,
            Subject::Station(name, field) => {
                let stations: Vec<&StationOutcome> =
                    outcome.media.iter().flat_map(|medium| &medium.stations).collect();
                self.entry("station", name, &stations, |s| &s.name).map(|station| (field.get)(station))?
            }
            Subject::Medium(name, of) => of.of(self.entry("medium", name, &outcome.media, |m| &m.name)?),
            Subject::Traffic(name, field) => {
                self.one("traffic", name, field, &outcome.traffic, |t| &t.name)?
            }
        };
        Ok(value.filter(|x| x.is_finite()))
    }

    /// The flows that the metric is of.
    fn flows<'o>(&self, which: &Which, outcome: &'o Outcome) -> Result<Vec<&'o FlowOutcome>, Error> {
        let all = &outcome.flows;
        Ok(match which {
            Which::All => all.iter().collect(),
            Which::Sender(label) => {
                let of_label: Vec<_> = all.iter().filter(|f| f.sender == *label).collect();
                if of_label.is_empty() {
                    return Err(self.no_subject("sender", label, all.iter().map(|f| f.sender.as_str())));
                }
                of_label
            }
            Which::One(name) => vec![self.entry("flow", name, all, |f| &f.name)?],
        })
    }

    /// The field of the entry called `name`, or else at that position.
    fn one<T>(
        &self,
        kind: &'static str,
        name: &str,
        field: &Field<T>,
        all: &[T],
        name_of: fn(&T) -> &String,
    ) -> Result<Option<f64>, Error> {
        self.entry(kind, name, all, name_of).map(|entry| (field.get)(entry))
    }

    fn entry<'o, T>(
        &self,
        kind: &'static str,
        name: &str,
        all: &'o [T],
        name_of: fn(&T) -> &String,
    ) -> Result<&'o T, Error> {
        let by_name = all.iter().find(|entry| name_of(entry) == name);
        let entry = by_name.or_else(|| all.get(name.parse::<usize>().ok()?));
        entry.ok_or_else(|| self.no_subject(kind, name, all.iter().map(|e| name_of(e).as_str())))
    }

    fn no_subject<'a>(&self, kind: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> Error {
        let known: Vec<_> = known.collect();
        let near = closest(name, known.iter().copied());
        let known: Vec<_> = known.into_iter().map(|k| format!("\"{k}\"")).collect();
        let known =
            if known.is_empty() { "none at all".to_owned() } else { format!("only {}", known.join(", ")) };
        Error::UnknownSubject { metric: self.name.clone(), kind, name: name.to_owned(), known, near }
    }

    /// Refuses a metric of somebody who watches in no scenario, where these are the metrics of all who do
    /// ([`Self::of_observers`]).
    pub fn check_observer(&self, observers: &[Self]) -> Result<(), Error> {
        let (kind, name) = match &self.subject {
            Subject::Flows(_, Of::Predictor(name, _)) => ("predictor", name),
            Subject::Flows(_, Of::Estimator(name, _)) => ("estimator", name),
            Subject::Flows(_, Of::Detector(name, _)) => ("detector", name),
            _ => return Ok(()),
        };
        let mut known: Vec<&String> = observers
            .iter()
            .filter_map(|m| match &m.subject {
                Subject::Flows(_, Of::Predictor(name, _)) if kind == "predictor" => Some(name),
                Subject::Flows(_, Of::Estimator(name, _)) if kind == "estimator" => Some(name),
                Subject::Flows(_, Of::Detector(name, _)) if kind == "detector" => Some(name),
                _ => None,
            })
            .collect();
        known.sort();
        known.dedup();
        if known.contains(&name) {
            return Ok(());
        }
        Err(self.no_subject(kind, name, known.iter().map(|name| name.as_str())))
    }
}

fn subject<T>(
    kind: &str,
    rest: &str,
    fields: &'static [Field<T>],
    build: fn(String, &'static Field<T>) -> Subject,
) -> Result<(Subject, &'static str), Error> {
    match split(rest, fields) {
        Some((name, field)) => Ok((build(name.to_owned(), field), field.unit)),
        None => Err(unknown(kind, rest, fields)),
    }
}

/// `NAME.metric` of a flow or of a sender's flows, or `NAME.predictor.…` and the like of a part of it.
fn of_some(kind: &str, rest: &str) -> Result<(String, Of), Error> {
    for of in PARTS {
        let mark = format!(".{of}.");
        if let Some((name, metric)) = rest.split_once(&mark) {
            return Ok((name.to_owned(), part(of, metric, &format!("{kind}.{name}."))?));
        }
    }
    match split(rest, FLOW) {
        Some((name, field)) => Ok((name.to_owned(), Of::Flow(field))),
        None => Err(unknown(kind, rest, FLOW)),
    }
}

/// `NAME.metric` of an observer, `K.metric` of a round, or `metric` of a probe; `before` is what stands before the kind, for messages.
fn part(kind: &str, rest: &str, before: &str) -> Result<Of, Error> {
    let place = format!("{before}{kind}");
    fn of<T>(
        place: &str,
        rest: &str,
        fields: &'static [Field<T>],
    ) -> Result<(String, &'static Field<T>), Error> {
        let (name, field) = split(rest, fields).ok_or_else(|| unknown(place, rest, fields))?;
        Ok((name.to_owned(), field))
    }
    Ok(match kind {
        "predictor" => of(&place, rest, PREDICTOR).map(|(name, field)| Of::Predictor(name, field))?,
        "estimator" => of(&place, rest, ESTIMATOR).map(|(name, field)| Of::Estimator(name, field))?,
        "detector" => of(&place, rest, DETECTOR).map(|(name, field)| Of::Detector(name, field))?,
        "probe" => {
            let near = || closest(rest, PROBE.iter().map(|f| f.name)).map(|m| format!("{place}.{m}"));
            let name = format!("{place}.{rest}");
            Of::Probe(find(PROBE, rest).ok_or_else(|| Error::UnknownMetric { name, near: near() })?)
        }
        _ => {
            let (number, field) = of(&place, rest, ROUND)?;
            let round = number.parse().ok().filter(|&k: &usize| k > 0);
            Of::Round(round.ok_or_else(|| unknown(&place, rest, ROUND))?, field)
        }
    })
}

fn unknown<T>(kind: &str, rest: &str, fields: &'static [Field<T>]) -> Error {
    let near = rest.split_once('.').and_then(|(subject, metric)| {
        closest(metric, fields.iter().map(|f| f.name)).map(|m| format!("{kind}.{subject}.{m}"))
    });
    Error::UnknownMetric { name: format!("{kind}.{rest}"), near }
}

fn unknown_of_medium(rest: &str) -> Error {
    let near = rest.split_once('.').and_then(|(medium, metric)| {
        let names = OfMedium::names();
        closest(metric, names.iter().map(String::as_str)).map(|m| format!("medium.{medium}.{m}"))
    });
    Error::UnknownMetric { name: format!("medium.{rest}"), near }
}

/// The mean over flows; accuracy is taken over all their loss events together. Of observers, over the flows that they
/// watched: in a grid not every point need have the same ones, and then there is no value.
fn over_flows(of: &Of, flows: &[&FlowOutcome]) -> Option<f64> {
    match of {
        Of::Flow(field) if field.name.starts_with("accuracy.") => {
            pooled_accuracy(field.name, flows.iter().map(|f| &f.loss_events))
        }
        Of::Flow(field) => mean(flows.iter().map(|f| (field.get)(f))),
        Of::Predictor(name, field) => {
            let watched = || flows.iter().flat_map(|f| &f.observers.predictors).filter(|p| p.name == *name);
            if field.name.starts_with("accuracy.") {
                return pooled_accuracy(field.name, watched().map(|p| &p.loss_events));
            }
            mean(watched().map(field.get))
        }
        Of::Estimator(name, field) => {
            let watched = flows.iter().flat_map(|f| &f.observers.estimators).filter(|e| e.name == *name);
            mean(watched.map(field.get))
        }
        Of::Detector(name, field) => {
            let watched = flows.iter().flat_map(|f| &f.observers.detectors).filter(|d| d.name == *name);
            mean(watched.map(field.get))
        }
        Of::Probe(field) => mean(flows.iter().map(|f| f.probe.as_deref().and_then(field.get))),
        Of::Round(k, field) => mean(flows.iter().map(|f| f.rounds.get(k - 1).and_then(field.get))),
    }
}

fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    values.filter(|v| !v.is_empty()).map(|v| v.iter().sum::<f64>() / v.len() as f64)
}

fn pooled_accuracy<'a>(name: &str, events: impl Iterator<Item = &'a LossEvents>) -> Option<f64> {
    let mut all = LossEvents::default();
    for one in events {
        all.congestion += one.congestion;
        all.wireless += one.wireless;
        all.congestion_judged_right += one.congestion_judged_right;
        all.wireless_judged_right += one.wireless_judged_right;
    }
    match name {
        "accuracy.congestion" => share(all.congestion_judged_right, all.congestion),
        "accuracy.wireless" => share(all.wireless_judged_right, all.wireless),
        _ => share(all.congestion_judged_right + all.wireless_judged_right, all.congestion + all.wireless),
    }
}

#[cfg(test)]
mod tests;
