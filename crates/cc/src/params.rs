//! A port's parameters as its BPF program reads them: `struct params` of `bpf/params.h`, field by field, 64 bits each.

use super::number::word;
use super::port::{Port, arg, member};
use truckee_tcp::{Arg, Spec};

/// Values of `enum growth`, in its order.
const GROWTHS: &[&str] = &["per-ack", "byte-counting", "capped", "limited-slow-start", "highspeed", "vegas"];
/// Values of `enum response`, in its order.
const RESPONSES: &[&str] = &["halve", "to-estimate", "by-cause", "highspeed", "vegas"];
/// Values of `enum predictor`, in its order.
const PREDICTORS: &[&str] = &[
    "always-congested",
    "always-wireless",
    "random",
    "vegas",
    "vegas-single",
    "spike",
    "flip-flop",
    "ncpld",
];
/// Values of `enum estimator` after the first, in its order.
const ESTIMATORS: &[&str] = &["tibet", "ewma", "csfq", "westwood-1", "westwood-2", "westwood-3"];

/// A member whose arguments are looked up; none: it is not part of the sender, and all its parameters are 0.
#[derive(Clone, Copy)]
struct Of<'a>(Option<&'a Spec>);

impl<'a> Of<'a> {
    /// The member if it is of one of those names.
    fn named(spec: Option<&'a Spec>, names: &[&str]) -> Self {
        Self(spec.filter(|s| names.contains(&s.name.as_str())))
    }

    fn number(self, name: &str) -> f64 {
        match self.0.and_then(|spec| arg(spec, name)) {
            Some(Arg::Number(x) | Arg::Rate(x) | Arg::Segments(x)) => *x,
            _ => 0.0,
        }
    }

    fn real(self, name: &str) -> u64 {
        word(self.number(name))
    }

    fn time(self, name: &str) -> u64 {
        match self.0.and_then(|spec| arg(spec, name)) {
            Some(Arg::Time(t)) => *t,
            _ => 0,
        }
    }

    fn flag(self, name: &str) -> bool {
        matches!(self.0.and_then(|spec| arg(spec, name)), Some(Arg::Flag(true)))
    }

    fn says(self, name: &str, what: &str) -> bool {
        matches!(self.0.and_then(|spec| arg(spec, name)), Some(Arg::Name(word)) if word == what)
    }
}

fn index(names: &[&str], spec: Option<&Spec>) -> u64 {
    spec.and_then(|s| names.iter().position(|n| *n == s.name)).unwrap_or(0) as u64
}

/// The constants of a curve of `crates/tcp/src/highspeed.rs`, from its four arguments.
fn curve(of: Of) -> [u64; 6] {
    if of.0.is_none() {
        return [0; 6];
    }
    let low = of.number("low_window");
    let decrease = of.number("high_decrease");
    let span = of.number("high_window").ln() - low.ln();
    let ln_low_p = (1.2 * 1.2 / (low * low)).ln();
    let fall = (ln_low_p - of.number("high_p").ln()) / span;
    [low, low.ln(), -ln_low_p, fall, (0.5 - decrease) / span, decrease].map(word)
}

/// The parameters of `port`, in the order of `struct params`.
pub(super) fn params(port: &Port, record: bool) -> Vec<u64> {
    let (predictor, estimator) = (port.predictor(), port.estimator());
    let over = member(&port.response, "over").unwrap_or(&port.response);
    let growth = |name| Of::named(Some(&port.growth), &[name]);
    let predict = |names| Of::named(predictor, names);
    let estimate = |names| Of::named(estimator, names);
    let thresholds = predict(&["vegas", "spike"]);
    let single = predict(&["vegas-single"]);
    let alpha = thresholds.number("alpha") + single.number("threshold");
    let past = estimate(&["tibet"]).number("alpha")
        + estimate(&["ewma"]).number("weight")
        + estimate(&["westwood-1"]).number("beta");
    let flip = predict(&["flip-flop"]);
    let shift = 64 - (flip.number("l") as u32).clamp(1, 64);
    let abse = estimate(&["westwood-3"]);
    let mut words = vec![
        u64::from(record),
        index(GROWTHS, Some(&port.growth)),
        index(RESPONSES, Some(&port.response)),
        index(RESPONSES, Some(over)),
        index(PREDICTORS, predictor),
        estimator.map_or(0, |e| index(ESTIMATORS, Some(e)) + 1),
        u64::from(port.freebsd),
        port.ssthresh.unwrap_or(0),
        growth("byte-counting").real("limit"),
        growth("capped").real("factor"),
        growth("limited-slow-start").real("max_ssthresh"),
        growth("vegas").real("alpha"),
        growth("vegas").real("beta"),
        growth("vegas").real("gamma"),
        u64::from(growth("vegas").says("backlog", "window")),
    ];
    words.extend(curve(growth("highspeed")));
    words.extend(curve(Of::named(Some(over), &["highspeed"])));
    words.extend([
        word(alpha),
        thresholds.real("beta"),
        u64::MAX >> shift,
        flip.number("eta") as u64,
        predict(&["ncpld"]).time("tick"),
        predict(&["random"]).number("seed") as u64,
        word(1.0 - past),
        u64::from(estimate(&["tibet"]).says("on", "sent")),
        u64::from(estimate(&["tibet"]).flag("smoother")),
        word((estimate(&["tibet"]).time("t0") + estimate(&["csfq"]).time("k")) as f64),
        estimate(&["westwood-2"]).time("tau"),
        abse.time("rtt"),
        abse.real("cwnd"),
        abse.real("n"),
    ]);
    words
}
