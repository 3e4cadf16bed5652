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

fn index(names: &[&str], spec: Option<&Spec>) -> u64 {
    spec.and_then(|s| names.iter().position(|n| *n == s.name)).unwrap_or(0) as u64
}

/// A field of the structure, by its name, and its word.
pub(super) type Field = (&'static str, u64);

/// The constants of a curve of `crates/tcp/src/highspeed.rs`, from its four arguments.
fn curve(of: Of, names: [&'static str; 6]) -> [Field; 6] {
    if of.0.is_none() {
        return names.map(|name| (name, 0));
    }
    let low = of.number("low_window");
    let decrease = of.number("high_decrease");
    let span = of.number("high_window").ln() - low.ln();
    let ln_low_p = (1.2 * 1.2 / (low * low)).ln();
    let fall = (ln_low_p - of.number("high_p").ln()) / span;
    let words = [low, low.ln(), -ln_low_p, fall, (0.5 - decrease) / span, decrease].map(word);
    std::array::from_fn(|k| (names[k], words[k]))
}

/// The parameters of `port`, in the order of `struct params`.
pub(super) fn params(port: &Port, record: bool) -> Vec<Field> {
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
    let mut fields = vec![
        ("record", u64::from(record)),
        ("growth", index(GROWTHS, Some(&port.growth))),
        ("response", index(RESPONSES, Some(&port.response))),
        ("over", index(RESPONSES, Some(over))),
        ("predictor", index(PREDICTORS, predictor)),
        ("estimator", estimator.map_or(0, |e| index(ESTIMATORS, Some(e)) + 1)),
        ("freebsd", u64::from(port.freebsd)),
        ("ssthresh", port.ssthresh.unwrap_or(0)),
        ("abc_limit", growth("byte-counting").real("limit")),
        ("capped_factor", growth("capped").real("factor")),
        ("limited_max", growth("limited-slow-start").real("max_ssthresh")),
        ("vegas_alpha", growth("vegas").real("alpha")),
        ("vegas_beta", growth("vegas").real("beta")),
        ("vegas_gamma", growth("vegas").real("gamma")),
        ("vegas_by_window", u64::from(growth("vegas").says("backlog", "window"))),
    ];
    fields.extend(curve(
        growth("highspeed"),
        [
            "growth_curve.low_window",
            "growth_curve.ln_low",
            "growth_curve.drops",
            "growth_curve.drops_fall",
            "growth_curve.slope",
            "growth_curve.high_decrease",
        ],
    ));
    fields.extend(curve(
        Of::named(Some(over), &["highspeed"]),
        [
            "response_curve.low_window",
            "response_curve.ln_low",
            "response_curve.drops",
            "response_curve.drops_fall",
            "response_curve.slope",
            "response_curve.high_decrease",
        ],
    ));
    fields.extend([
        ("predict_alpha", word(alpha)),
        ("predict_beta", thresholds.real("beta")),
        ("flip_mask", u64::MAX >> shift),
        ("flip_eta", flip.number("eta") as u64),
        ("ncpld_tick", predict(&["ncpld"]).time("tick")),
        ("random_seed", predict(&["random"]).number("seed") as u64),
        ("filter_new", word(1.0 - past)),
        ("on_sent", u64::from(estimate(&["tibet"]).says("on", "sent"))),
        ("smoother", u64::from(estimate(&["tibet"]).flag("smoother"))),
        ("constant", word((estimate(&["tibet"]).time("t0") + estimate(&["csfq"]).time("k")) as f64)),
        ("tau", estimate(&["westwood-2"]).time("tau")),
        ("abse_rtt", abse.time("rtt")),
        ("abse_cwnd", abse.real("cwnd")),
        ("abse_gain", abse.real("n")),
    ]);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_field_is_where_the_program_reads_it() {
        let fields = params(&crate::find("tk_newreno").unwrap().port().unwrap(), true);
        let asks: String =
            fields.iter().map(|(name, _)| format!("ask(offsetof(struct params, {name}));\n")).collect();
        let program = format!(
            "typedef __u64 fl;\n#include \"params.h\"\nstatic void ask(unsigned long n) {{ printf(\"%lu\\n\", n); }}\n\
             int main(void)\n{{\n{asks}ask(sizeof(struct params));\n}}\n"
        );
        let headers = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf"));
        let text = String::from_utf8(truckee_testing::native(headers, &program, &[], &[])).unwrap();
        let offsets: Vec<usize> = text.lines().map(|line| line.parse().unwrap()).collect();
        let expected: Vec<usize> = (0..=fields.len()).map(|k| 8 * k).collect();
        assert_eq!(offsets, expected);
    }
}
