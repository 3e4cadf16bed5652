//! A port's parameters as its BPF program reads them: `struct params` of `bpf/params.h`.

use super::layout::{self, curve, params};
use super::number::word;
use super::port::{Port, arg, member};
use truckee_tcp::{Arg, Spec};

/// What a growth rule is to the program; of the response, predictor and estimator likewise.
const GROWTHS: &[(&str, layout::growth)] = &[
    ("per-ack", layout::growth::GROWTH_PER_ACK),
    ("byte-counting", layout::growth::GROWTH_BYTES),
    ("capped", layout::growth::GROWTH_CAPPED),
    ("limited-slow-start", layout::growth::GROWTH_LIMITED),
    ("highspeed", layout::growth::GROWTH_HIGHSPEED),
    ("vegas", layout::growth::GROWTH_VEGAS),
];
const RESPONSES: &[(&str, layout::response)] = &[
    ("halve", layout::response::RESPONSE_HALVE),
    ("to-estimate", layout::response::RESPONSE_ESTIMATE),
    ("by-cause", layout::response::RESPONSE_CAUSE),
    ("highspeed", layout::response::RESPONSE_HIGHSPEED),
    ("vegas", layout::response::RESPONSE_VEGAS),
];
const PREDICTORS: &[(&str, layout::predictor)] = &[
    ("always-congested", layout::predictor::PREDICT_CONGESTED),
    ("always-wireless", layout::predictor::PREDICT_WIRELESS),
    ("random", layout::predictor::PREDICT_RANDOM),
    ("vegas", layout::predictor::PREDICT_VEGAS),
    ("vegas-single", layout::predictor::PREDICT_SINGLE),
    ("spike", layout::predictor::PREDICT_SPIKE),
    ("flip-flop", layout::predictor::PREDICT_FLIP_FLOP),
    ("ncpld", layout::predictor::PREDICT_NCPLD),
    ("ideal", layout::predictor::PREDICT_IDEAL),
];
const ESTIMATORS: &[(&str, layout::estimator)] = &[
    ("tibet", layout::estimator::ESTIMATE_TIBET),
    ("ewma", layout::estimator::ESTIMATE_EWMA),
    ("csfq", layout::estimator::ESTIMATE_CSFQ),
    ("westwood-1", layout::estimator::ESTIMATE_WESTWOOD1),
    ("westwood-2", layout::estimator::ESTIMATE_WESTWOOD2),
    ("westwood-3", layout::estimator::ESTIMATE_WESTWOOD3),
];

/// What the member is called by in the program; what stands for none where there is none.
fn number<T: Copy + Default>(all: &[(&str, T)], spec: Option<&Spec>) -> T {
    let known = spec.and_then(|spec| all.iter().find(|(name, _)| *name == spec.name));
    known.map_or_else(T::default, |(_, number)| *number)
}

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
            Some(Arg::Time(t)) => t.nanos(),
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

/// The constants of a curve of `crates/tcp/src/highspeed.rs`, from its four arguments.
fn curve_of(of: Of) -> curve {
    if of.0.is_none() {
        return curve::default();
    }
    let low = of.number("low_window");
    let decrease = of.number("high_decrease");
    let span = of.number("high_window").ln() - low.ln();
    let ln_low_p = (1.2 * 1.2 / (low * low)).ln();
    let fall = (ln_low_p - of.number("high_p").ln()) / span;
    curve {
        low_window: word(low),
        ln_low: word(low.ln()),
        drops: word(-ln_low_p),
        drops_fall: word(fall),
        slope: word((0.5 - decrease) / span),
        high_decrease: word(decrease),
    }
}

/// The parameters of `port`.
pub(super) fn of(port: &Port, record: bool) -> params {
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
    params {
        record: u64::from(record),
        growth: number(GROWTHS, Some(&port.growth)).0.into(),
        response: number(RESPONSES, Some(&port.response)).0.into(),
        over: number(RESPONSES, Some(over)).0.into(),
        predictor: number(PREDICTORS, predictor).0.into(),
        estimator: number(ESTIMATORS, estimator).0.into(),
        freebsd: u64::from(port.freebsd),
        from_window: port.from_window.into(),
        ssthresh: port.ssthresh.unwrap_or(0),
        abc_limit: growth("byte-counting").real("limit"),
        capped_factor: growth("capped").real("factor"),
        limited_max: growth("limited-slow-start").real("max_ssthresh"),
        vegas_alpha: growth("vegas").real("alpha"),
        vegas_beta: growth("vegas").real("beta"),
        vegas_gamma: growth("vegas").real("gamma"),
        vegas_by_window: u64::from(growth("vegas").says("backlog", "window")),
        vegas_tick_us: growth("vegas").time("tick") / 1000,
        vegas_few: growth("vegas").number("few") as u64,
        growth_curve: curve_of(growth("highspeed")),
        response_curve: curve_of(Of::named(Some(over), &["highspeed"])),
        predict_alpha: word(alpha),
        predict_beta: thresholds.real("beta"),
        flip_mask: u64::MAX >> shift,
        flip_eta: flip.number("eta") as u64,
        ncpld_tick: predict(&["ncpld"]).time("tick"),
        random_seed: predict(&["random"]).number("seed") as u64,
        ideal_unlost: 1 + u64::from(predict(&["ideal"]).says("unlost", "noise")),
        filter_new: word(1.0 - past),
        on_sent: u64::from(estimate(&["tibet"]).says("on", "sent")),
        smoother: u64::from(estimate(&["tibet"]).flag("smoother")),
        constant: word((estimate(&["tibet"]).time("t0") + estimate(&["csfq"]).time("k")) as f64),
        tau: estimate(&["westwood-2"]).time("tau"),
        abse_rtt: abse.time("rtt"),
        abse_cwnd: abse.real("cwnd"),
        abse_gain: abse.real("n"),
        pass_over: 0,
    }
}
