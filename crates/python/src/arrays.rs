//! Single algorithms on arrays: one step for each element, with nothing around them.
//!
//! Arrays come in as the bytes of their numbers, in the machine's order, and go out as tables.

use crate::error;
use crate::table::Table;
use pyo3::prelude::*;
use truckee_engines::drive::feed::{Delivered, Receiving};
use truckee_engines::drive::spec;
use truckee_lab::store::real;
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::detect::{AnyDetector, Phase, SlowStartDetector};
use truckee_tcp::estimate::{AnyEstimator, BandwidthEstimator};
use truckee_tcp::predict::{AnyPredictor, LossPredictor};
use truckee_tcp::{Ack, Arrival, Cause, Loss, LossKind, Seq, Span, Spec, SpecError, Time, Window};

/// The member that a text of JSON names, built.
fn member<M>(
    json: &str,
    what: &str,
    example: &str,
    build: impl FnOnce(&Spec) -> Result<(M, Spec), SpecError>,
) -> PyResult<M> {
    let value: toml::Value =
        serde_json::from_str(json).map_err(|e| error::question(format!("{json} names no {what}: {e}")))?;
    let spec = spec(&value, what, example).map_err(error::question)?;
    if spec.mentions("oracle") || spec.mentions("ideal") {
        return Err(error::question(format!("\"{}\" knows nothing outside a network", spec.name)));
    }
    Ok(build(&spec).map_err(|e| error::question(e.to_string()))?.0)
}

fn numbers(bytes: &[u8]) -> impl ExactSizeIterator<Item = f64> + '_ {
    bytes.chunks_exact(8).map(|number| f64::from_ne_bytes(number.try_into().unwrap_or_default()))
}

/// Times in seconds, in rising order; `name` is for messages.
fn times(name: &str, bytes: &[u8]) -> PyResult<Vec<Time>> {
    let mut times: Vec<Time> = Vec::with_capacity(bytes.len() / 8);
    for (k, t) in numbers(bytes).enumerate() {
        let time = Time::at(span(name, k, t)?);
        if times.last().is_some_and(|&before| time < before) {
            return Err(error::question(format!(
                "{name}[{k}] is {t}, before {name}[{}]: expected rising times",
                k - 1
            )));
        }
        times.push(time);
    }
    Ok(times)
}

/// A time in seconds; a year at the most, as in a scenario.
fn span(name: &str, k: usize, seconds: f64) -> PyResult<Span> {
    const MOST: f64 = 365.0 * 86_400.0;
    if (0.0..=MOST).contains(&seconds) {
        return Ok(Span::ns((seconds * 1e9).round() as u64));
    }
    Err(error::question(format!("{name}[{k}] is {seconds}, expected seconds from 0 to {MOST}")))
}

/// The round-trip time of each element, above 0.
fn rtts(bytes: &[u8]) -> PyResult<Vec<Span>> {
    let one = |(k, rtt)| match span("rtt_s", k, rtt)? {
        Span::ZERO => Err(error::question(format!("rtt_s[{k}] is 0, expected more"))),
        rtt => Ok(rtt),
    };
    numbers(bytes).enumerate().map(one).collect()
}

/// Sizes in bytes.
fn sizes(bytes: &[u8]) -> PyResult<Vec<u32>> {
    let one = |(k, size): (usize, f64)| {
        let whole = size.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&size);
        let wrong = || error::question(format!("bytes[{k}] is {size}, expected whole bytes, 1 at least"));
        whole.then_some(size as u32).ok_or_else(wrong)
    };
    numbers(bytes).enumerate().map(one).collect()
}

fn of_one_length(lengths: &[(&str, usize)]) -> PyResult<()> {
    match lengths.windows(2).find(|pair| pair[0].1 != pair[1].1) {
        None => Ok(()),
        Some(pair) => {
            let [(a, n), (b, m)] = [pair[0], pair[1]];
            Err(error::question(format!("{a} has {n} elements and {b} has {m}: expected as many")))
        }
    }
}

/// A sender's window of so many bytes, over segments of so many.
fn window(mss: u32, cwnd: f64) -> PyResult<Window> {
    let mss = f64::from(mss);
    if cwnd.is_finite() && cwnd >= mss {
        let mut window = Window::new(mss, cwnd);
        window.flight = cwnd as u64;
        return Ok(window);
    }
    Err(error::question(format!("cwnd_bytes is {cwnd}, expected one segment of {mss} bytes at least")))
}

/// Notes a round-trip time in the window, as a sender without smoothing would.
fn measure(window: &mut Window, rtt: Span) {
    window.srtt = Some(rtt);
    window.rtt_min = Some(window.rtt_min.map_or(rtt, |least| least.min(rtt)));
}

/// What an estimator says after each arrival: the column `bits_per_second`.
#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    estimator: &str,
    t_s: &[u8],
    bytes: &[u8],
    rtt_s: &[u8],
    cwnd_bytes: f64,
) -> PyResult<Table> {
    let mut estimator = member(
        estimator,
        "bandwidth estimator",
        "\"ewma\" and {\"ewma\": {\"weight\": 0.5}}",
        AnyEstimator::build,
    )?;
    let (times, sizes, rtts) = (times("t_s", t_s)?, sizes(bytes)?, rtts(rtt_s)?);
    of_one_length(&[("t_s", times.len()), ("bytes", sizes.len()), ("rtt_s", rtts.len())])?;
    let window = window(sizes.iter().copied().max().unwrap_or(1), cwnd_bytes)?;
    let said: Vec<Option<f64>> = py.detach(|| {
        let mut delivered = Delivered::new(window);
        let steps = times.iter().zip(&sizes).zip(&rtts);
        steps
            .map(|((&now, &bytes), &rtt)| {
                measure(&mut delivered.window, rtt);
                delivered.arrive(&mut estimator, now, bytes, rtt);
                estimator.bits_per_second()
            })
            .collect()
    });
    Table::of(vec![real("bits_per_second", said.into_iter())])
}

/// What a predictor takes each loss for: the column `wireless`, 1 or 0. It has heard the ACKs up to then.
#[pyfunction]
pub fn judge(
    py: Python<'_>,
    predictor: &str,
    t_s: &[u8],
    rtt_s: &[u8],
    cwnd_bytes: &[u8],
    mss: u32,
    losses_s: &[u8],
) -> PyResult<Table> {
    let example = "\"vegas\" and {\"vegas\": {\"alpha\": 1}}";
    let mut predictor = member(predictor, "loss predictor", example, AnyPredictor::build)?;
    let (times, rtts, losses) = (times("t_s", t_s)?, rtts(rtt_s)?, times("losses_s", losses_s)?);
    let windows = numbers(cwnd_bytes).map(|cwnd| window(mss, cwnd)).collect::<PyResult<Vec<_>>>()?;
    of_one_length(&[("t_s", times.len()), ("rtt_s", rtts.len()), ("cwnd_bytes", windows.len())])?;
    let said: Vec<Option<f64>> = py.detach(|| {
        let (mut heard, mut seq) = (0, Seq::FIRST);
        let mut known = Window::new(f64::from(mss), f64::from(mss));
        let mut said = Vec::with_capacity(losses.len());
        for &loss in &losses {
            while heard < times.len() && times[heard] <= loss {
                let (now, rtt) = (times[heard], rtts[heard]);
                measure(&mut known, rtt);
                (known.cwnd, known.flight) = (windows[heard].cwnd, windows[heard].flight);
                seq += u64::from(mss);
                let mut ack = Ack::of_bytes(now, u64::from(mss));
                (ack.ack, ack.highest) = (seq, seq + known.flight);
                (ack.rtt, ack.sent) = (Some(rtt), Some(now.earlier(rtt)));
                predictor.on_ack(&ack, &known);
                heard += 1;
            }
            let verdict = predictor.verdict(&Loss::new(loss, LossKind::DupAcks, seq));
            said.push(Some(f64::from(u8::from(verdict == Cause::Wireless))));
        }
        said
    });
    Table::of(vec![real("wireless", said.into_iter())])
}

/// Whether a detector takes the sender to be in slow start, after each arrival: the column `slow_start`, 1 or 0.
#[pyfunction]
pub fn detect(py: Python<'_>, detector: &str, t_s: &[u8], bytes: &[u8], rtt_s: &[u8]) -> PyResult<Table> {
    let example = "\"inter-arrival\" and {\"inter-arrival\": {\"beta\": 0.5}}";
    let mut detector = member(detector, "slow-start detector", example, AnyDetector::build)?;
    let (times, sizes, rtts) = (times("t_s", t_s)?, sizes(bytes)?, rtts(rtt_s)?);
    of_one_length(&[("t_s", times.len()), ("bytes", sizes.len()), ("rtt_s", rtts.len())])?;
    let said: Vec<Option<f64>> = py.detach(|| {
        let mut end = Seq::FIRST;
        let steps = times.iter().zip(&sizes).zip(&rtts);
        steps
            .map(|((&now, &bytes), &rtt)| {
                end += u64::from(bytes);
                // A round-trip time later, so that the first sample does not reach back before the beginning.
                let mut arrival = Arrival::of_bytes(now.saturating_add(rtt), bytes);
                (arrival.end, arrival.rcv_nxt, arrival.rtt) = (end, end, Some(rtt));
                detector.on_segment(&arrival);
                Some(f64::from(u8::from(detector.phase() == Phase::SlowStart)))
            })
            .collect()
    });
    Table::of(vec![real("slow_start", said.into_iter())])
}

/// The ACKs with which a policy answers segments in order: the columns `t_s` and `acked_bytes`. Its timers go off up to
/// `until_s`.
#[pyfunction]
pub fn acknowledge(
    py: Python<'_>,
    policy: &str,
    t_s: &[u8],
    bytes: &[u8],
    rtt_s: Option<&[u8]>,
    until_s: f64,
) -> PyResult<Table> {
    let example = "\"delayed\" and {\"delayed\": {\"timeout\": \"100ms\"}}";
    let policy = member(policy, "ACK policy", example, AnyAckPolicy::build)?;
    let (times, sizes) = (times("t_s", t_s)?, sizes(bytes)?);
    let rtts = rtt_s.map(rtts).transpose()?;
    let samples = rtts.as_ref().map_or(times.len(), Vec::len);
    of_one_length(&[("t_s", times.len()), ("bytes", sizes.len()), ("rtt_s", samples)])?;
    let until = Time::at(span("until_s", 0, until_s)?);
    let acks: Vec<(Time, u64)> = py.detach(|| {
        let mut receiving = Receiving::new(policy);
        let mut acks = Vec::new();
        for (k, (&now, &bytes)) in times.iter().zip(&sizes).enumerate() {
            receiving.wait(now, &mut |at, acked| acks.push((at, acked)));
            let rtt = rtts.as_ref().map(|rtts| rtts[k]);
            receiving.arrive(now, bytes, rtt, &mut |at, acked| acks.push((at, acked)));
        }
        receiving.wait(until, &mut |at, acked| acks.push((at, acked)));
        acks
    });
    let acked = acks.iter().map(|(_, acked)| Some(*acked as f64));
    Table::of(vec![real("t_s", acks.iter().map(|(at, _)| Some(at.seconds()))), real("acked_bytes", acked)])
}
