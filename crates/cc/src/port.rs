//! What is ported: which products of the families' members the BPF programs can be, and the published ones among them.

use super::published::{PORTS, Published};
use crate::Error;
use truckee_tcp::estimate::{AnyEstimator, Csfq, Ewma, Tibet, Westwood1, Westwood2, Westwood3, WestwoodPlus};
use truckee_tcp::growth::{self, AnyGrowth};
use truckee_tcp::predict::Ideal;
use truckee_tcp::preset;
use truckee_tcp::response::{self, AnyResponse};
use truckee_tcp::spec::Member;
use truckee_tcp::stack::ReduceFrom;
use truckee_tcp::start::{AnyStart, FreeBsd, SlowStart};
use truckee_tcp::{Arg, Size, Spec, SpecError, Stack};

/// A sender that a BPF program can be: growth, response and start, all defaults filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Port {
    /// How the window opens.
    pub growth: Spec,
    /// What a loss does to it.
    pub response: Spec,
    /// Whether it starts as FreeBSD did.
    pub freebsd: bool,
    /// Whether a loss takes its share of the congestion window, and not of what is in flight.
    pub from_window: bool,
    /// Initial slow-start threshold, segments; none: the kernel's, which is none.
    pub ssthresh: Option<u64>,
}

impl Published {
    /// It with its published parameters.
    pub fn port(&self) -> Result<Port, Error> {
        let refused = |why: String| Error::Refused { place: self.name.to_owned(), why };
        let preset = preset::find(self.preset)
            .ok_or_else(|| refused(format!("there is no preset \"{}\"", self.preset)))?;
        Port::of(&preset.growth(), &preset.response(), &preset.start(), &Stack::default()).map_err(refused)
    }
}

/// A parameter of a resolved spec; every member has its own.
pub(super) fn arg<'a>(spec: &'a Spec, name: &str) -> Option<&'a Arg> {
    spec.args.iter().find(|(n, _)| n == name).map(|(_, arg)| arg)
}

/// The member that is an argument of another.
pub(super) fn member<'a>(spec: &'a Spec, name: &str) -> Option<&'a Spec> {
    match arg(spec, name) {
        Some(Arg::Spec(spec)) => Some(spec),
        _ => None,
    }
}

/// A parameter that is a pure number.
pub(super) fn number(spec: &Spec, name: &str) -> Option<f64> {
    match arg(spec, name) {
        Some(Arg::Number(x)) => Some(*x),
        _ => None,
    }
}

fn is<M: Member>(spec: &Spec) -> bool {
    spec.name == M::INFO.name
}

impl Port {
    /// The port of these parts; else, in words, what there is no port of.
    pub fn of(growth: &Spec, response: &Spec, start: &Spec, stack: &Stack) -> Result<Self, String> {
        let said = |error: SpecError| error.to_string();
        let growth = AnyGrowth::build(growth).map_err(said)?.1;
        let response = AnyResponse::build(response).map_err(said)?.1;
        let start = AnyStart::build(start).map_err(said)?.1;
        check_growth(&growth)?;
        check_response(&response)?;
        if !is::<SlowStart>(&start) && !is::<FreeBsd>(&start) {
            return Err(format!("no kernel starts by \"{}\"; slow-start and freebsd can be had", start.name));
        }
        if stack.segment_from_acks {
            return Err(
                "segment_from_acks: a BPF congestion control may not change the segment size (the verifier refuses a \
                 write to mss_cache, and TCP_MAXSEG has no effect on a connection that is open); only the engine sim \
                 can run it"
                    .to_owned(),
            );
        }
        let segments = |size: Size| (size.bytes(stack.mss) / u64::from(stack.mss.max(1))).max(2);
        Ok(Self {
            growth,
            response,
            freebsd: is::<FreeBsd>(&start),
            from_window: stack.reduce_from == ReduceFrom::Window,
            ssthresh: stack.initial_ssthresh.map(segments),
        })
    }

    /// The estimator that its response or its predictor goes by.
    pub(crate) fn estimator(&self) -> Option<&Spec> {
        member(&self.response, "estimator").or_else(|| member(self.predictor()?, "estimator"))
    }

    /// The predictor that its response asks.
    pub(crate) fn predictor(&self) -> Option<&Spec> {
        member(&self.response, "predictor")
    }

    /// Whether it has to be told the truth of every loss ([`crate::Teller`]).
    pub fn wants_truth(&self) -> bool {
        self.predictor().is_some_and(is::<Ideal>)
    }

    /// Its name among [`PORTS`], if it is one of them, whatever a loss takes its share of.
    pub fn published(&self) -> Option<&'static Published> {
        let own = Self { from_window: false, ..self.clone() };
        PORTS.iter().find(|p| p.port().is_ok_and(|port| port == own))
    }
}

fn check_growth(growth: &Spec) -> Result<(), String> {
    let ported = is::<growth::PerAck>(growth)
        || is::<growth::ByteCounting>(growth)
        || is::<growth::Capped>(growth)
        || is::<growth::LimitedSlowStart>(growth)
        || is::<growth::HighSpeed>(growth)
        || is::<growth::Vegas>(growth);
    if ported {
        return Ok(());
    }
    Err(format!(
        "the growth rule \"{}\" is not ported to the kernel; per-ack, byte-counting, capped, limited-slow-start, \
         highspeed and vegas are",
        growth.name
    ))
}

fn check_response(response: &Spec) -> Result<(), String> {
    if is::<response::ByCause>(response) {
        return check_by_cause(response);
    }
    if is::<response::ToEstimate>(response) {
        return member(response, "estimator").map_or(Ok(()), check_estimator);
    }
    if is::<response::Halve>(response)
        || is::<response::HighSpeed>(response)
        || is::<response::Vegas>(response)
    {
        return Ok(());
    }
    Err(format!(
        "the response \"{}\" is not ported to the kernel; halve, by-cause, to-estimate, highspeed and vegas are",
        response.name
    ))
}

fn check_by_cause(response: &Spec) -> Result<(), String> {
    if let Some(over) = member(response, "over")
        && !is::<response::Halve>(over)
        && !is::<response::HighSpeed>(over)
    {
        return Err(format!(
            "by-cause over \"{}\" is not ported to the kernel; over halve and highspeed is",
            over.name
        ));
    }
    let Some(predictor) = member(response, "predictor") else { return Ok(()) };
    member(predictor, "estimator").map_or(Ok(()), check_estimator)
}

fn check_estimator(estimator: &Spec) -> Result<(), String> {
    let ported = is::<Tibet>(estimator)
        || is::<Ewma>(estimator)
        || is::<Csfq>(estimator)
        || is::<Westwood1>(estimator)
        || is::<Westwood2>(estimator)
        || is::<Westwood3>(estimator);
    if ported && AnyEstimator::build(estimator).is_ok() {
        return Ok(());
    }
    if is::<WestwoodPlus>(estimator) {
        let own = "Westwood+ is Linux's own: the preset westwood-plus as it is runs there, where the kernel has the module";
        return Err(own.to_owned());
    }
    Err(format!(
        "the estimator \"{}\" is not ported to the kernel; tibet, ewma, csfq and westwood-1, -2 and -3 are",
        estimator.name
    ))
}
