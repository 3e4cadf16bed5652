//! How far engines may be apart: `goodput=10%`, `retransmitted=1%,timeouts=3`, `flow.download.rtt=5ms`.
//!
//! ```text
//! tolerance = [("flow." | "link.") NAME "."] metric "=" bound
//! bound     = number "%" | number [unit]
//! ```
//!
//! Of quantities, `10%` bounds how far the ratio of the means may be from 1; of shares, it is ten percentage points. A
//! number, with or without a unit, bounds the difference of the means. Without a name, every flow or link must hold.

use super::measure::{MeasureInfo, list};
use super::{Against, Comparison, Row, Subject};
use crate::Error;
use crate::error::closest;
use crate::vary;
use serde::Serialize;

/// How far an engine may be from the first one in a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Tolerance {
    metric: MeasureInfo,
    /// Whose; all if `None`.
    name: Option<String>,
    bound: Bound,
    /// As written.
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    /// |ratio − 1|.
    Relative(f64),
    /// |difference|, in the metric's unit.
    Absolute(f64),
}

/// How a tolerance came out for one flow or link and one engine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Held {
    /// The tolerance as written.
    pub tolerance: String,
    /// The metric's full name.
    pub metric: &'static str,
    /// The flow or link.
    pub subject: String,
    /// The engine.
    pub engine: String,
    /// What is allowed, as a share or in the metric's unit.
    pub allowed: f64,
    /// How far it is off, in the same; `None` where there is no number to it.
    pub off: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
    /// Why not, where that is not the distance; else empty.
    pub note: String,
}

impl Tolerance {
    /// Reads one: `goodput=10%`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let fail = |reason: String| Error::Tolerance { text: text.to_owned(), reason };
        let (path, bound) = text
            .split_once('=')
            .ok_or_else(|| fail("expected METRIC=BOUND, for example goodput=10%".to_owned()))?;
        let (metric, name) = subject(path.trim()).map_err(fail)?;
        let bound = bound.trim();
        let expected = || fail(format!("\"{bound}\" is no bound; 10% and 0.1 are"));
        let number = vary::number_si(bound).filter(|x| *x >= 0.0).ok_or_else(expected)?;
        let relative = bound.ends_with('%') && !metric.share;
        let bound = if relative { Bound::Relative(number) } else { Bound::Absolute(number) };
        Ok(Self { metric, name, bound, text: text.trim().to_owned() })
    }

    /// How it comes out, one entry a flow or link and engine.
    pub(super) fn hold(&self, comparison: &Comparison) -> Result<Vec<Held>, Error> {
        let fail = |reason: String| Error::Tolerance { text: self.text.clone(), reason };
        let all = if self.metric.of == "flow" { &comparison.flows } else { &comparison.links };
        let is_meant = |s: &&Subject| self.name.as_ref().is_none_or(|name| s.name == *name);
        let meant: Vec<&Subject> = all.iter().filter(is_meant).collect();
        if meant.is_empty() {
            let known: Vec<_> = all.iter().map(|s| format!("\"{}\"", s.name)).collect();
            let name = self.name.as_deref().unwrap_or_default();
            let known = if known.is_empty() { "none at all".to_owned() } else { known.join(", ") };
            return Err(fail(format!("there is no {} \"{name}\", only {known}", self.metric.of)));
        }
        let mut held = Vec::new();
        for subject in meant {
            if let Some(row) = subject.metrics.iter().find(|r| r.metric == self.metric.name) {
                held.extend(row.against.iter().map(|against| self.one(subject, row, against)));
            }
        }
        // Nobody judged wrong because nobody judged: such a check could never fail.
        let valued = |h: &Held| h.off.is_some() || !h.holds;
        if !held.iter().any(valued) {
            held.iter_mut().for_each(|h| (h.holds, h.note) = (false, "no engine has a value".to_owned()));
        }
        Ok(held)
    }

    fn one(&self, subject: &Subject, row: &Row, against: &Against) -> Held {
        let (allowed, off) = match self.bound {
            Bound::Absolute(allowed) => (allowed, against.difference.map(f64::abs)),
            // 0 of 0 is as good as agreement gets; anything of 0 is out of all proportion.
            Bound::Relative(allowed) if against.difference == Some(0.0) => (allowed, Some(0.0)),
            Bound::Relative(allowed) => (allowed, against.ratio.map(|r| (r - 1.0).abs())),
        };
        let (holds, note) = match (against.incomplete, against.n, off) {
            (0, 0, _) => (true, String::new()),
            (0, _, Some(off)) => (off <= allowed, String::new()),
            (0, _, None) => (false, format!("the mean of {} is 0 on the first engine only", row.metric)),
            (one, both, _) => {
                (false, format!("{one} of {} runs have a value on one engine only", one + both))
            }
        };
        Held {
            tolerance: self.text.clone(),
            metric: row.metric,
            subject: subject.name.clone(),
            engine: against.engine.clone(),
            allowed,
            off,
            holds,
            note,
        }
    }
}

/// The metric of a path, and the flow or link it is restricted to.
fn subject(path: &str) -> Result<(MeasureInfo, Option<String>), String> {
    let all = list();
    let is = |m: &&MeasureInfo, name: &str| m.name == name || (!m.short.is_empty() && m.short == name);
    if let Some(metric) = all.iter().find(|m| is(m, path)) {
        return Ok((*metric, None));
    }
    if let Some((of @ ("flow" | "link"), rest)) = path.split_once('.') {
        // Names may hold dots, and so do metrics: the longest metric that fits is meant.
        let fits = |m: &&MeasureInfo| {
            let ends = |name: &str| {
                !name.is_empty() && rest.strip_suffix(name).is_some_and(|r| r.len() > 1 && r.ends_with('.'))
            };
            m.of == of && (ends(m.name) || ends(m.short))
        };
        if let Some(metric) = all.iter().filter(fits).max_by_key(|m| m.name.len()) {
            let own = if rest.ends_with(metric.name) { metric.name } else { metric.short };
            return Ok((*metric, Some(rest[..rest.len() - own.len() - 1].to_owned())));
        }
    }
    let names = all.iter().flat_map(|m| [m.name, m.short]).filter(|n| !n.is_empty());
    let last = path.rsplit('.').next().unwrap_or(path);
    let near = closest(last, names).map(|n| format!("; did you mean \"{n}\"?")).unwrap_or_default();
    Err(format!("nothing called \"{path}\" is compared{near}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Tolerance::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_tolerance_is_of_a_ratio_or_of_a_difference() {
        let bound = |text| Tolerance::parse(text).unwrap().bound;
        assert_eq!(bound("goodput=10%"), Bound::Relative(0.1));
        assert_eq!(bound("goodput_bps=1Mbit/s"), Bound::Absolute(1e6));
        assert_eq!(bound("retransmitted=1%"), Bound::Absolute(0.01), "percentage points");
        assert_eq!(bound("timeouts = 3"), Bound::Absolute(3.0));
        assert_eq!(bound("rtt=5ms"), Bound::Absolute(0.005));
    }

    #[test]
    fn it_may_be_of_one_flow_or_link_only() {
        let of = |text| {
            let tolerance = Tolerance::parse(text).unwrap();
            (tolerance.metric.name, tolerance.name)
        };
        assert_eq!(of("flow.a.b.goodput=1%"), ("goodput_bps", Some("a.b".to_owned())));
        assert_eq!(of("flow.x.delay_s.mean=1%"), ("delay_s.mean", Some("x".to_owned())));
        assert_eq!(of("link.a-b.utilisation=1%"), ("utilisation", Some("a-b".to_owned())));
        assert_eq!(of("delay_s.p99=1%"), ("delay_s.p99", None));
    }

    #[test]
    fn mistakes_are_told_with_what_would_do() {
        for (text, part) in [
            ("goodput", "expected METRIC=BOUND"),
            ("goodputt=1%", "did you mean \"goodput\"?"),
            ("goodput=ten", "\"ten\" is no bound"),
            ("goodput=-1%", "\"-1%\" is no bound"),
            ("flow.utilisation=1%", "is compared"),
        ] {
            assert!(message(text).contains(part), "{text}: {}", message(text));
        }
    }
}
