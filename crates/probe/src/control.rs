//! Which congestion control a sender has, by its windows round by round over a path without a queue whose round trip the
//! prober sets: a pure function of what was seen.
//!
//! Each algorithm's definition says what has to be seen: which part of the window the first loss takes (out of slow
//! start) and the second (out of congestion avoidance), by how much a round opens the window soon after a loss and later,
//! and what a longer round trip does to it. What was seen is held against each in units of what rounding and this
//! measurement leave uncertain; the sum of squares decides, and the second smallest names the runner-up.
//!
//! | | first loss leaves | second leaves | a round opens by | with a longer round trip |
//! |---|---|---|---|---|
//! | reno | 1/2 | 1/2 | 1 | 1 |
//! | cubic | 0.7 | 0.7 | C·(t − K)³ + Wmax (RFC 9438) | the same |
//! | vegas | 1/2 to 3/4 | 1/2 to 3/4 | 1 | −1 (Brakmo and Peterson 1995) |
//! | veno | 4/5, with a queue 1/2 | the same | 1 | 1/2 (Fu and Liew 2003) |
//! | westwood | what its filter has learnt so far | the estimate | 1 | 1 (Mascolo and others 2001) |
//! | highspeed | 1/2 to 1 − b(w) | 1 − b(w) | a(w), or the next whole segment | the same (RFC 3649) |
//! | htcp | 1/2 to 4/5 | 1/2 to 4/5 | 1 + 10·(t − 1) + ((t − 1)/2)² after a second (Leith and Shorten 2004) | the same |
//! | illinois | 7/8 | 7/8 | up to 10 (Liu, Başar and Srikant 2006) | less |
//! | bbr | all | all | by a model | the rate stays |
//! | none | all | all | | |
//!
//! Not for: measuring (see `super::identify`).

use super::identity::{Control, Finding, Rounds};
use truckee_tcp::Spec;
use truckee_tcp::highspeed::Curve;
use truckee_tcp::spec::Args;

/// CUBIC's constants (RFC 9438, sections 4.1, 4.3 and 4.6), segments, s.
const CUBIC_C: f64 = 0.4;
const CUBIC_BETA: f64 = 0.7;
/// A part of a window is known to so much.
const PART: f64 = 0.06;
/// A growth is known to so many segments a round, and to this share.
const SLOPE: f64 = 0.3;
const SLOPE_SHARE: f64 = 0.25;
/// One thing that does not fit does not outweigh all others.
const MOST: f64 = 16.0;
/// What fits worse than this, a thing on average, is none of those that are known.
const FIT: f64 = 5.0;
/// So many rounds after the first loss are needed.
pub const LEAST_ROUNDS: usize = 8;
/// A window that nothing but what was offered bounds.
const UNBOUND: f64 = 0.9;

/// What was seen of one connection, in short.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// Windows when the losses were reported, and the parts left two rounds after each repair.
    losses: [f64; 2],
    left: [Option<f64>; 2],
    /// The window two rounds after the first repair.
    begun: f64,
    /// Segments a round, soon and later after the first repair; none where what was offered bounds it.
    soon: Option<f64>,
    later: Option<f64>,
    /// With the longer round trip.
    longer: Option<f64>,
    /// The rounds between those.
    rounds: [usize; 2],
    round_trip: f64,
    /// The smallest parts left in the three rounds after each repair's own, and to how much the window opened within five.
    least: [Option<f64>; 2],
    opened: f64,
    offered: f64,
    first: f64,
}

/// The middle of these.
fn median(windows: &[f64]) -> Option<f64> {
    let mut sorted = windows.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// Each window as the middle of five: a server that stands still for a moment splits a round in two.
fn smooth(windows: &[f64]) -> Vec<f64> {
    windows.windows(5).filter_map(median).collect()
}

fn slope(windows: &[f64]) -> Option<f64> {
    let (first, last) = (windows.first()?, windows.last()?);
    (windows.len() > 2).then(|| (last - first) / (windows.len() - 1) as f64)
}

impl Seen {
    fn of(r: &Rounds) -> Option<Self> {
        if r.after_first.len() < LEAST_ROUNDS || r.first_loss < 2.0 {
            return None;
        }
        let free = r.after_first.iter().position(|w| *w > UNBOUND * r.offered).unwrap_or(r.after_first.len());
        // From the third round after the repair on.
        let after = smooth(r.after_first.get(1..free).unwrap_or_default());
        let half = after.len() / 2;
        let third = |windows: &[f64]| windows.get(1..4).and_then(median);
        let left = |windows: &[f64], loss: f64| third(windows).filter(|_| loss > 0.0).map(|w| w / loss);
        let longer = smooth(&r.longer);
        let longer = longer.iter().all(|w| *w < UNBOUND * r.offered).then_some(longer);
        let least = |windows: &[f64], loss: f64| {
            let least = windows.get(1..4)?.iter().copied().reduce(f64::min)?;
            (loss > 0.0).then(|| least / loss)
        };
        Some(Self {
            losses: [r.first_loss, r.second_loss],
            left: [left(&r.after_first, r.first_loss), left(&r.after_second, r.second_loss)],
            begun: third(&r.after_first)?,
            soon: slope(&after[..(half + 1).min(after.len())]),
            later: slope(&after[half..]),
            longer: longer.as_deref().and_then(slope),
            rounds: [half, after.len()],
            round_trip: r.round_trip_s,
            least: [least(&r.after_first, r.first_loss), least(&r.after_second, r.second_loss)],
            opened: r.after_first.iter().take(5).copied().fold(0.0, f64::max) / r.first_loss,
            offered: r.offered,
            first: r.start.first().copied().unwrap_or(0.0),
        })
    }

    /// By how much a round opens the window on average, from the round `from` after the repair to the round `to`.
    fn mean(&self, from: usize, to: usize, mut open: impl FnMut(f64, f64) -> f64) -> f64 {
        let mut window = self.begun;
        let mut marks = [window; 2];
        for round in 0..to {
            if round == from {
                marks[0] = window;
            }
            // A repair takes a round trip, and the third round after it is the first that is looked at.
            window += open(window, (round + 3) as f64 * self.round_trip);
        }
        marks[1] = window;
        (marks[1] - marks[0]) / (to - from).max(1) as f64
    }
}

/// What an algorithm does.
struct Rule<'a> {
    /// The parts that losses leave: least and most.
    left: [(f64, f64); 2],
    /// What a round opens, by the window and the time since the loss.
    open: Box<dyn Fn(f64, f64) -> f64 + 'a>,
    /// The same, with the longer round trip; none: that says nothing.
    longer: Option<f64>,
    /// How far apart its implementations are, as a share of its growth.
    loose: f64,
    /// By how many segments a round they may open less or more.
    wide: (f64, f64),
}

fn rule<'a>(control: Control, s: &'a Seen, curve: &'a Curve) -> Option<Rule<'a>> {
    let same = |part: f64| [(part, part); 2];
    let constant = |left, by: f64, longer| {
        Some(Rule { left, open: Box::new(move |_, _| by), longer, loose: 0.0, wide: (0.0, 0.0) })
    };
    match control {
        Control::Reno => constant(same(0.5), 1.0, Some(1.0)),
        // Linux halves; Brakmo and Peterson take a quarter where a single loss was noticed early.
        Control::Vegas => constant([(0.5, 0.75); 2], 1.0, Some(-1.0)),
        // Half, where it takes what little delay there is for a queue, or has not looked yet.
        Control::Veno => constant([(0.5, 0.8); 2], 1.0, Some(0.5)),
        // A filter that is fed once a round trip has hardly followed slow start by the first loss, and has caught up with
        // most of the window by the second.
        Control::Westwood => constant([(0.0, 0.35), (0.7, 1.0)], 1.0, Some(1.0)),
        Control::Highspeed => {
            // Linux takes b(w) of its table only in congestion avoidance, and rounds a(w) up.
            let [first, second] = s.losses.map(|w| 1.0 - curve.decrease(w));
            let open = Box::new(|w: f64, _: f64| curve.increase(w));
            let longer = Some(curve.increase(s.losses[1] / 2.0));
            Some(Rule { left: [(0.5, first), (second, second)], open, longer, loose: 0.0, wide: (0.0, 1.0) })
        }
        Control::Cubic => {
            let (top, r) = (s.losses[0], s.round_trip);
            let k = ((top - s.begun).max(0.0) / CUBIC_C).cbrt();
            let at = move |t: f64| CUBIC_C * (t - k).powi(3) + top;
            // Not below what is friendly to Reno (RFC 9438, section 4.3).
            let friendly = 3.0 * (1.0 - CUBIC_BETA) / (1.0 + CUBIC_BETA);
            let open = Box::new(move |_: f64, t: f64| {
                let t = t - 3.0 * r;
                (at(t + r) - at(t)).max(friendly)
            });
            // One that rounds each ACK's share of a segment down does not open at all while each segment has an ACK of its
            // own (gVisor, cubic.go, getCwnd).
            let most = s.mean(0, s.rounds[1].max(1), &open);
            Some(Rule { left: same(CUBIC_BETA), open, longer: None, loose: 0.15, wide: (2.0 * most, 0.0) })
        }
        Control::Htcp => {
            let open = Box::new(|_: f64, t: f64| {
                let late = (t - 1.0).max(0.0);
                1.0 + 10.0 * late + late * late / 4.0
            });
            Some(Rule { left: [(0.5, 0.8); 2], open, longer: None, loose: 0.5, wide: (0.0, 0.0) })
        }
        Control::Illinois => {
            // By how much of the largest delay there is, which here is some of the first round's.
            let open = Box::new(|_: f64, _: f64| 8.0);
            Some(Rule { left: same(0.875), open, longer: None, loose: 0.25, wide: (6.0, 2.0) })
        }
        Control::Bbr | Control::None => None,
    }
}

/// How far that is from a range, in units of `unit`, squared; never more than counts.
fn miss(seen: f64, (least, most): (f64, f64), unit: f64) -> f64 {
    let off = (least - seen).max(seen - most).max(0.0) / unit;
    (off * off).min(MOST)
}

/// How badly what was seen fits an algorithm: the mean over the things that were seen.
fn misfit(control: Control, s: &Seen, curve: &Curve) -> f64 {
    let mut all = Vec::new();
    if let Some(rule) = rule(control, s, curve) {
        let first_step = s.mean(0, 1, &rule.open);
        for (k, left) in s.left.into_iter().enumerate() {
            let Some(left) = left else { continue };
            // By then it has grown twice.
            let grown = 2.0 * first_step / s.losses[k].max(1.0);
            let (least, most) = rule.left[k];
            all.push(miss(left, (least + grown, most + grown), PART + rule.loose * grown));
        }
        let [half, end] = s.rounds;
        for (seen, from, to) in [(s.soon, 0, half), (s.later, half, end.saturating_sub(1))] {
            let Some(seen) = seen.filter(|_| to > from) else { continue };
            let should = s.mean(from, to, &rule.open);
            // By the smaller of both: a fast rule that opens slowly is as far off as a slow one that opens fast.
            let unit = SLOPE + (SLOPE_SHARE + rule.loose) * should.abs().min(seen.abs());
            let (less, more) = rule.wide;
            all.push(miss(seen, ((should - less).max(0.0).min(should), should + more), unit));
        }
        if let (Some(seen), Some(should)) = (s.longer, rule.longer) {
            let (less, more) = rule.wide;
            all.push(miss(seen, (should - less, should + more), SLOPE + SLOPE_SHARE * should.abs()));
        }
        if s.soon.is_none() && s.later.is_none() {
            // It went to what was offered at once, which none of these does.
            all.push(MOST);
        }
    } else {
        // A window that a model holds at twice what is in the air follows what was offered after a loss as before it.
        all.extend(s.least.into_iter().flatten().map(|least| miss(least, (0.95, f64::MAX), PART)));
        all.push(if control == Control::Bbr { miss(s.opened, (1.5, f64::MAX), PART) } else { 0.0 });
        let at_once = s.first > UNBOUND * s.offered;
        all.push(if at_once == (control == Control::None) { 0.0 } else { MOST });
    }
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

/// What one connection says: the two that fit best, and how.
fn one(r: &Rounds, curve: &Curve) -> (Option<Control>, Option<Control>, String) {
    let Some(s) = Seen::of(r) else {
        let few =
            format!("{} rounds after the first loss, and {LEAST_ROUNDS} are needed", r.after_first.len());
        return (None, None, if r.ended { format!("{few} (a longer object, or --mss 256)") } else { few });
    };
    if r.timeouts > 0 {
        return (None, None, "it repaired a loss by its timer, after which all begin alike".into());
    }
    let mut fits: Vec<_> = Control::ALL.into_iter().map(|c| (misfit(c, &s, curve), c)).collect();
    fits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (best, second) = (fits[0], fits[1]);
    let part = |left: Option<f64>| left.map_or("?".into(), |left| format!("{left:.2}"));
    let by = |slope: Option<f64>| slope.map_or("?".into(), |slope| format!("{slope:+.1}"));
    let why = format!(
        "losses at {:.0} and {:.0} segments left {} and {}; rounds then opened by {}, later {}, and {} with a longer round trip: {} fits to {:.1}, {} to {:.1}",
        s.losses[0],
        s.losses[1],
        part(s.left[0]),
        part(s.left[1]),
        by(s.soon),
        by(s.later),
        by(s.longer),
        best.1.name(),
        best.0,
        second.1.name(),
        second.0
    );
    let is = (best.0 <= FIT).then_some(best.1);
    (is, Some(if is.is_some() { second.1 } else { best.1 }), why)
}

/// What all connections say.
pub fn control(all: &[Rounds]) -> Finding<Control> {
    let spec = Spec::named("highspeed");
    // The published values are within their own ranges.
    let Ok(curve) = Curve::build(&mut Args::new(&spec)) else { return Finding::of(&[], Vec::new()) };
    let each: Vec<_> = all.iter().map(|r| one(r, &curve)).collect();
    let said: Vec<_> = each.iter().map(|(is, second, _)| (*is, *second)).collect();
    let mut evidence: Vec<String> = each.into_iter().map(|(_, _, why)| why).collect();
    if evidence.is_empty() {
        evidence.push("no connection showed anything".into());
    }
    Finding::of(&said, evidence)
}

#[cfg(test)]
#[path = "control_tests.rs"]
mod tests;
