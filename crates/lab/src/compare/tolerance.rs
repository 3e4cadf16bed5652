//! How far engines may be apart: `goodput=10%`, `retransmitted=1%,timeouts=3`, `flow.download.rtt=5ms`.
//!
//! ```text
//! tolerance = [("flow." | "link.") NAME "."] metric "=" bound
//! bound     = number "%" | number [unit]
//! ```
//!
//! Of quantities, `10%` bounds how far the ratio of the means may be from 1; of shares, it is ten percentage points. A
//! number, with or without a unit, bounds the difference of the means. Without a name, every flow or link must hold.
//!
//! A tolerance is judged by the interval ([`Verdict`]). A single run has none: two simulations are judged by what they
//! gave, which they would give again, and of a live run nothing is decided.

use super::measure::{MeasureInfo, list};
use super::{Against, Comparison, Held, Row, Side, Subject, Verdict};
use crate::Error;
use crate::vary;
use truckee_measure::closest;

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

impl Comparison {
    /// Holds it against tolerances. Where too many runs are invalid, none is judged.
    ///
    /// # Errors
    /// A tolerance names a flow or link that is not there.
    pub fn hold(&mut self, tolerances: &[Tolerance]) -> Result<(), Error> {
        for tolerance in tolerances {
            let held = tolerance.hold(self)?;
            self.tolerances.extend(held);
        }
        self.holds = self.tolerances.iter().all(|h| h.holds);
        // In their order from best to worst: one that is broken is not mended by others that are undecided.
        self.verdict = self.tolerances.iter().map(|h| h.verdict).max().unwrap_or(Verdict::Holds);
        Ok(())
    }
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
    fn hold(&self, comparison: &Comparison) -> Result<Vec<Held>, Error> {
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
                let others = row.against.iter().zip(comparison.engines.iter().skip(1));
                held.extend(others.map(|(against, side)| {
                    let exact = comparison.engines.first().is_some_and(|first| is_exact(first, side));
                    self.one(subject, row, against, exact)
                }));
            }
        }
        // Nobody judged wrong because nobody judged: such a check could never fail.
        let valued = |h: &Held| h.off.is_some() || !h.holds;
        if !held.iter().any(valued) {
            held.iter_mut().for_each(|h| h.end(Verdict::Broken, "no engine has a value"));
        }
        if let Some(why) = &comparison.not_judged {
            held.iter_mut().for_each(|h| h.end(Verdict::NotJudged, why));
        }
        Ok(held)
    }

    /// Of one flow or link and one engine; `exact`: the same runs would give the same again.
    fn one(&self, subject: &Subject, row: &Row, against: &Against, exact: bool) -> Held {
        let (allowed, off, interval) = match self.bound {
            Bound::Absolute(allowed) => (allowed, against.difference, against.difference_interval),
            // 0 of 0 is as good as agreement gets; anything of 0 is out of all proportion.
            Bound::Relative(allowed) if against.ratio.is_none() && against.difference == Some(0.0) => {
                (allowed, Some(0.0), Some((0.0, 0.0)))
            }
            Bound::Relative(allowed) => {
                let interval = against.interval.map(|(low, high)| (low - 1.0, high - 1.0));
                (allowed, against.ratio.map(|r| r - 1.0), interval)
            }
        };
        let no_ratio = || format!("the mean of {} is 0 on the first engine only", row.metric);
        let (verdict, note) = match (against.incomplete, against.n, off) {
            (0, 0, _) => (Verdict::Holds, String::new()),
            (0, _, Some(off)) => judge(allowed, off, interval, exact),
            // Whether the second engine's mean is 0 too is what the difference says.
            (0, _, None) => {
                match judge(0.0, against.difference.unwrap_or(0.0), against.difference_interval, exact) {
                    (Verdict::Undecided, _) => (Verdict::Undecided, no_ratio()),
                    _ => (Verdict::Broken, no_ratio()),
                }
            }
            (one, both, _) => {
                (Verdict::Broken, format!("{one} of {} runs have a value on one engine only", one + both))
            }
        };
        Held {
            tolerance: self.text.clone(),
            metric: row.metric,
            subject: subject.name.clone(),
            engine: against.engine.clone(),
            allowed,
            off: off.map(f64::abs),
            interval,
            holds: verdict == Verdict::Holds,
            verdict,
            note,
        }
    }
}

/// Whether neither is live.
fn is_exact(first: &Side, other: &Side) -> bool {
    [first, other].iter().all(|side| side.digests.iter().all(|digest| !digest.is_empty()))
}

/// A distance from agreement and its interval, held against the largest distance allowed.
fn judge(allowed: f64, off: f64, interval: Option<(f64, f64)>, exact: bool) -> (Verdict, String) {
    let by = |(low, high): (f64, f64)| {
        if low >= -allowed && high <= allowed {
            Verdict::Holds
        } else if low > allowed || high < -allowed {
            Verdict::Broken
        } else {
            Verdict::Undecided
        }
    };
    match interval {
        Some(interval) => (by(interval), String::new()),
        None if exact => (by((off, off)), String::new()),
        None => (Verdict::Undecided, "there is no interval: it takes more runs".to_owned()),
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
