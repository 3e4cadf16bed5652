//! What the tests of a server say: a pure function of their counts.
//!
//! The *gain* of a test is by how many full segments the window has grown: bytes in all, less those acknowledged, less
//! the initial window. Bytes, since a server may send what each ACK opens at once, as small segments. A server that opens
//! its window by a segment an ACK gains as many as there were ACKs; one that counts bytes gains the same however the ACKs
//! are cut. Test F, one ACK for three segments, tells how many segments an ACK counts for at most (L of RFC 3465). Test G
//! shows a bound that holds only from the second round on.
//!
//! A test can be used if no packet was lost, the application did not end its first round, the initial window is the one
//! that most have, and the answer not over (then the gain is only a lower bound). One in which server or path stood still (the server sent again what our ACKs were
//! about to acknowledge, or sent late what they had opened) is used only where every repetition of that test is like it.
//!
//! The verdict is what the middle repetition of each test says, so that a stall here and there does not make it; how sure
//! it is, by how many repetitions say the same each by itself.
//!
//! Not for: measuring (see `super::observe`); what went wrong with a server, which is never a verdict.

use super::fault::Fault;
use super::observation::{Observation, PARTS, Test};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a server reacts to divided ACKs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    /// The window grows by a segment for each ACK: division opens it faster.
    PerAck,
    /// The window grows by the bytes acknowledged: division changes nothing.
    CountsBytes,
    /// As per ACK, but only up to a bound.
    Capped,
    /// Division makes less come, or makes segments smaller.
    Harmed,
    /// The window does not grow at all, not by whole ACKs either: something else bounds it.
    Fixed,
    /// None of these.
    Unclear,
}

impl Reaction {
    /// One word, as files have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::PerAck => "per-ack",
            Self::CountsBytes => "counts-bytes",
            Self::Capped => "capped",
            Self::Harmed => "harmed",
            Self::Fixed => "fixed",
            Self::Unclear => "unclear",
        }
    }

    /// A few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::PerAck => "grows per ACK",
            Self::CountsBytes => "counts bytes",
            Self::Capped => "grows per ACK, capped",
            Self::Harmed => "harmed by division",
            Self::Fixed => "does not grow",
            Self::Unclear => "unclear",
        }
    }
}

/// How sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// A single repetition could be used, or fewer than two thirds say the same by themselves.
    Low,
    /// Two thirds agree, of at least two.
    Fair,
    /// All agree, three at least.
    High,
}

impl Confidence {
    /// Where so many of the repetitions that could be judged agree.
    pub(super) fn of(agreeing: u32, judged: u32) -> Self {
        match (agreeing, judged) {
            (a, j) if a == j && j >= 3 => Self::High,
            (a, j) if j >= 2 && 3 * a >= 2 * j => Self::Fair,
            _ => Self::Low,
        }
    }
}

/// What retransmissions the withheld ACKs provoke, in medians over the tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retransmission {
    /// When the first comes, s after the last new segment.
    pub first_s: Option<f64>,
    /// How many come while the server is watched.
    pub segments: f64,
    /// Whether a new segment comes late, before the timer: a probe for a lost tail.
    pub tail_probe: bool,
}

/// The verdict on a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// How it reacts.
    pub reaction: Reaction,
    /// How sure that is.
    pub confidence: Confidence,
    /// Repetitions that say so each by itself.
    pub agreeing: u32,
    /// Repetitions that could be judged.
    pub judged: u32,
    /// Of a server that counts bytes, for how many segments an ACK counts at most (L of RFC 3465): 1, 2, or none within 3.
    pub limit: Option<u32>,
    /// Of a capped one: how many times the window of the round's beginning is its bound.
    pub cap: Option<f64>,
    /// The initial window, segments.
    pub initial_window: u32,
    /// The same, bytes.
    pub initial_window_bytes: u64,
    /// Whether a handshake of TLS came before, so that the initial window may be up to `handshake_segments` smaller.
    pub handshake_segments: u32,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Retransmissions.
    pub retransmission: Retransmission,
    /// Medians of the gain, segments, by test.
    pub gains: BTreeMap<String, f64>,
    /// What speaks for it, in words.
    pub evidence: Vec<String>,
}

/// A gain counts as the same within this many segments, or this share.
const SLACK: f64 = 1.5;
const SHARE: f64 = 0.15;
/// Less than this share of what comes undivided is harm.
const HARM: f64 = 0.75;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= SLACK.max(SHARE * a.abs().max(b.abs()))
}

/// What a test of a repetition says.
#[derive(Debug, Clone, Copy)]
struct Point {
    test: Test,
    gain: f64,
    acks: f64,
    segments: f64,
    bytes: f64,
    /// Mean size of a segment of the second round, bytes: the largest says little, as one full segment may be among many
    /// small ones.
    size: f64,
    /// Of test G: the window when the second round began, which is what came of the one ACK for the whole first.
    second_window: f64,
    window: f64,
    /// The answer was over: the gain is a lower bound.
    bounded: bool,
}

fn point(o: &Observation) -> Point {
    Point {
        test: o.test,
        gain: (o.second_bytes as f64 - o.acked_bytes as f64) / f64::from(o.mss.max(1)),
        acks: f64::from(o.acks),
        segments: f64::from(o.acked_segments),
        bytes: o.second_bytes as f64,
        size: o.second_bytes as f64 / f64::from(o.second_segments.max(1)),
        second_window: o.rounds.get(1).map_or(0.0, |n| f64::from(*n)),
        window: f64::from(o.window_segments),
        bounded: o.ended,
    }
}

/// Judges a server by all its tests.
///
/// # Errors
/// There is too little: an answer too short, packets lost in nearly every test, first rounds that the application ended or
/// that differ from test to test, too few tests.
pub fn judge(all: &[Observation]) -> Result<Verdict, Fault> {
    // Whatever else was tried is shown, and is no part of the rule.
    let lettered = all.iter().filter(|o| !matches!(o.test, Test::Cut(_)));
    let sound: Vec<&Observation> =
        lettered.filter(|o| o.missing_bytes == 0 && !o.application_limited).collect();
    let window = most(sound.iter().map(|o| o.window_segments)).unwrap_or(0);
    let usable = undisturbed(sound.iter().copied().filter(|o| o.window_segments == window).collect());
    let repetitions: Vec<u32> = {
        let mut list: Vec<u32> = usable.iter().map(|o| o.repetition).collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    let judged: Vec<Reaction> = repetitions
        .iter()
        .filter_map(|k| {
            react(&usable.iter().filter(|o| o.repetition == *k).map(|o| point(o)).collect::<Vec<_>>())
        })
        .collect();
    let points: Vec<Point> = usable.iter().map(|o| point(o)).collect();
    let reaction = react(&middle(&points)).or_else(|| most(judged.iter().copied()));
    let Some(reaction) = reaction else { return Err(too_little(&usable, &sound, all)) };
    let agreeing = judged.iter().filter(|r| **r == reaction).count() as u32;
    let first = usable.iter().find(|o| o.test == Test::A).or(usable.first());
    let (mss, bytes) = first.map_or((0, 0), |o| (o.mss, o.window_bytes));
    let limit = (reaction == Reaction::CountsBytes).then(|| limit(&points)).flatten();
    let cap = (reaction == Reaction::Capped).then(|| cap(&points)).flatten();
    Ok(Verdict {
        reaction,
        confidence: Confidence::of(agreeing, judged.len() as u32),
        agreeing,
        judged: judged.len() as u32,
        limit,
        cap,
        initial_window: window,
        initial_window_bytes: bytes,
        handshake_segments: usable.iter().map(|o| o.handshake_segments).max().unwrap_or(0),
        mss,
        retransmission: retransmission(&usable),
        gains: gains(&points),
        evidence: evidence(reaction, limit, cap, &points).into_iter().chain(near_by(&usable)).collect(),
    })
}

/// Those in which nobody stood still, and all of a test of which there is none such: then it is the server's way. One late
/// segment is a probe for a lost tail.
fn undisturbed(mut usable: Vec<&Observation>) -> Vec<&Observation> {
    let calm = |o: &Observation| o.late_segments <= 1 && o.early_retransmissions == 0;
    let with_calm: Vec<Test> = usable.iter().filter(|o| calm(o)).map(|o| o.test).collect();
    usable.retain(|o| calm(o) || !with_calm.contains(&o.test));
    usable
}

/// Of each test the repetition with the middle gain; of two the larger, since what disturbs makes it smaller. Where the
/// answer was mostly over, the largest lower bound.
fn middle(points: &[Point]) -> Vec<Point> {
    let of = |test: Test| {
        let (mut bounded, mut known): (Vec<Point>, Vec<Point>) =
            points.iter().filter(|p| p.test == test).partition(|p| p.bounded);
        let by_gain = |a: &Point, b: &Point| a.gain.total_cmp(&b.gain);
        if bounded.len() > known.len() {
            bounded.sort_by(by_gain);
            return bounded.pop();
        }
        known.sort_by(by_gain);
        known.get(known.len() / 2).copied()
    };
    Test::ALL.into_iter().filter_map(of).collect()
}

/// Why nothing can be judged: what keeps most tests from being used.
fn too_little(usable: &[&Observation], sound: &[&Observation], all: &[Observation]) -> Fault {
    let ended = usable.iter().filter(|o| o.ended);
    let longest = ended.map(|o| o.window_bytes + o.second_bytes).max();
    if let Some(bytes) = longest {
        // Three segments acknowledged, the window they came in, and a gain of twelve.
        let segments = u64::from(usable.iter().map(|o| o.window_segments).max().unwrap_or(0)) + 3 + 12;
        let mss = u64::from(all.iter().map(|o| o.mss).max().unwrap_or(0));
        return Fault::Short { bytes, need: segments * mss };
    }
    let lost = all.iter().filter(|o| o.missing_bytes > 0).count();
    let limited = all.iter().filter(|o| o.application_limited).count();
    let windows = || sound.iter().map(|o| o.window_segments);
    let others = usable.first().map_or(0, |one| windows().filter(|w| *w != one.window_segments).count());
    match lost.max(limited).max(others) {
        0 => Fault::TooFew,
        most if most == lost => Fault::Lost(all.iter().map(|o| o.missing_bytes).max().unwrap_or(0)),
        most if most == limited => Fault::ApplicationLimited,
        _ => Fault::Unsteady { least: windows().min().unwrap_or(0), most: windows().max().unwrap_or(0) },
    }
}

/// The reaction that the tests of one repetition show; none if they are too few.
fn react(points: &[Point]) -> Option<Reaction> {
    let get = |test| points.iter().find(|p: &&Point| p.test == test);
    let whole = get(Test::A).filter(|p| !p.bounded)?;
    let divided: Vec<&Point> = [Test::B, Test::C, Test::D, Test::E].into_iter().filter_map(get).collect();
    let known: Vec<&Point> = divided.iter().copied().filter(|p| !p.bounded).collect();
    // A division by two alone tells little; an answer that is over may still have gained much.
    let telling = |p: &&&Point| p.test != Test::B && (!p.bounded || p.gain > whole.gain + 2.0 * SLACK);
    divided.iter().find(telling)?;
    let all = |says: &dyn Fn(&Point) -> bool| known.iter().all(|p| says(p));
    let harmed = |p: &Point| p.bytes < HARM * whole.bytes || p.size < HARM * whole.size;
    let last = known.last();
    if last.is_some_and(|p| harmed(p) && p.gain <= whole.gain + SLACK) {
        return Some(Reaction::Harmed);
    }
    let grows = divided.iter().any(|p| p.gain > whole.gain + SLACK.max(SHARE * whole.gain));
    if !grows && all(&|p| near(p.gain, whole.gain)) {
        let fixed =
            whole.gain <= whole.segments / PARTS as f64 && get(Test::F).is_none_or(|p| p.gain <= SLACK);
        return Some(if fixed { Reaction::Fixed } else { Reaction::CountsBytes });
    }
    if grows && all(&|p| near(p.gain, p.acks)) {
        let late = get(Test::G).filter(|p| !p.bounded && p.second_window > 0.0);
        let held = late.is_some_and(|p| opened(p) < p.acks - 1.0 - SLACK.max(SHARE * p.acks));
        return Some(if held { Reaction::Capped } else { Reaction::PerAck });
    }
    let rising = known.windows(2).all(|pair| pair[1].gain >= pair[0].gain - SLACK);
    let below = all(&|p| p.gain <= p.acks + SLACK.max(SHARE * p.acks));
    let top = known.iter().map(|p| p.gain).fold(0.0, f64::max);
    let bound = all(&|p| near(p.gain, p.acks) || near(p.gain, top));
    if grows && rising && below && bound {
        return Some(Reaction::Capped);
    }
    Some(Reaction::Unclear)
}

/// Of test G: by how many segments the ACKs of the second round have opened the window.
fn opened(p: &Point) -> f64 {
    p.window + p.gain - p.second_window
}

/// L: what one ACK for three segments gains, against what they gain one by one. Of a first window below three segments
/// test F acknowledges the three by two ACKs, and tells only whether L is 1.
fn limit(points: &[Point]) -> Option<u32> {
    let of = |test| median(points.iter().filter(|p| p.test == test && !p.bounded).map(|p| p.gain));
    let (whole, one) = (of(Test::A)?, of(Test::F)?);
    let acks = median(points.iter().filter(|p| p.test == Test::F && !p.bounded).map(|p| p.acks))?;
    let each = (whole / PARTS as f64).max(f64::EPSILON);
    match one / each {
        share if share < acks + 0.5 => Some(1),
        share if acks < 1.5 && share < 2.5 => Some(2),
        _ => None,
    }
}

/// The bound of a capped window, as a multiple of the window when the round began.
fn cap(points: &[Point]) -> Option<f64> {
    let held = |p: &&Point| matches!(p.test, Test::D | Test::E) && !p.bounded && !near(p.gain, p.acks);
    let early = median(points.iter().filter(held).map(|p| (p.window + p.gain) / p.window));
    let late = |p: &&Point| p.test == Test::G && !p.bounded && p.second_window > 0.0;
    early.or_else(|| median(points.iter().filter(late).map(|p| (p.window + p.gain) / p.second_window)))
}

fn retransmission(usable: &[&Observation]) -> Retransmission {
    Retransmission {
        first_s: median(usable.iter().filter_map(|o| o.first_retransmission_s)),
        segments: median(usable.iter().map(|o| f64::from(o.retransmitted))).unwrap_or(0.0),
        tail_probe: usable.iter().filter(|o| o.late_segments > 0).count() * 2 > usable.len(),
    }
}

fn gains(points: &[Point]) -> BTreeMap<String, f64> {
    let gain = |test: Test| {
        let values = points.iter().filter(|p| p.test == test && !p.bounded).map(|p| p.gain);
        Some((test.to_string(), median(values)?))
    };
    Test::ALL.into_iter().filter_map(gain).collect()
}

/// What was seen, and what the rules would have shown.
fn evidence(reaction: Reaction, limit: Option<u32>, cap: Option<f64>, points: &[Point]) -> Vec<String> {
    let mut lines = Vec::new();
    for test in Test::ALL {
        let of: Vec<&Point> = points.iter().filter(|p| p.test == test).collect();
        let Some(gain) = median(of.iter().filter(|p| !p.bounded).map(|p| p.gain)) else {
            if let Some(least) = of.iter().map(|p| p.gain).reduce(f64::max) {
                lines.push(format!("{test}: the answer was over after a gain of {least:.0}"));
            }
            continue;
        };
        let acks = median(of.iter().map(|p| p.acks)).unwrap_or(0.0);
        let segments = median(of.iter().map(|p| p.segments)).unwrap_or(0.0);
        let many = |n: f64, thing: &str| format!("{n:.0} {thing}{}", if n == 1.0 { "" } else { "s" });
        let (acks, segments) = (many(acks, "ACK"), many(segments, "segment"));
        lines.push(format!("{test}: {acks} for {segments} opened the window by {gain:.0}"));
    }
    let against = match reaction {
        Reaction::PerAck => "a segment an ACK",
        Reaction::CountsBytes => "the same however the ACKs are cut",
        Reaction::Capped => "a segment an ACK, up to a bound",
        Reaction::Harmed => "less, or smaller segments, the more the ACKs are cut",
        Reaction::Fixed => {
            "no growth by whole ACKs either: a send buffer, no congestion control, or congestion avoidance"
        }
        Reaction::Unclear => "no rule known here",
    };
    lines.push(against.to_owned());
    match (limit, cap) {
        (Some(l), _) => lines.push(format!("one ACK for three segments counts as {l} (L of RFC 3465)")),
        (_, Some(factor)) => lines.push(format!("the bound is {factor:.1} times the window before")),
        _ => {}
    }
    lines
}

/// A round trip too short for ACKs to be told apart, s.
const NO_DELAY: f64 = 1e-3;

/// A warning where the path is too short.
fn near_by(usable: &[&Observation]) -> Option<String> {
    let rtt = median(usable.iter().map(|o| o.rtt_s))?;
    let words = "the round trip is shorter than 1 ms: a busy server may have taken several ACKs for one";
    (rtt < NO_DELAY).then(|| words.to_owned())
}

/// The most frequent; of several the first in order.
fn most<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, u32> = BTreeMap::new();
    values.for_each(|v| *counts.entry(v).or_default() += 1);
    let highest = counts.values().copied().max()?;
    counts.into_iter().find(|(_, n)| *n == highest).map(|(v, _)| v)
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut list: Vec<f64> = values.collect();
    list.sort_by(f64::total_cmp);
    let half = list.len() / 2;
    match list.len() {
        0 => None,
        n if n % 2 == 1 => Some(list[half]),
        _ => Some((list[half - 1] + list[half]) / 2.0),
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
