//! What every outcome must satisfy.

use crate::generate::Case;
use truckee_scenario::Outcome;
use truckee_scenario::model::{App, Flow};
use truckee_scenario::outcome::{Drops, FlowOutcome, FlowSeries};
use truckee_tcp::Span;

const S: Span = Span::s(1);

/// Says what is wrong where it does not hold.
macro_rules! hold {
    ($condition:expr, $($message:tt)+) => {
        let holds: bool = $condition;
        if !holds {
            return Err(format!("{}: {}", stringify!($condition), format!($($message)+)));
        }
    };
}

/// Bytes that the application of a flow delivers if it completes undisturbed.
fn promised(flow: &Flow) -> Option<u64> {
    match flow.app {
        App::Bulk => None,
        App::File { size } => Some(size),
        App::Files { size, count, .. } => Some(size * count),
        App::RequestResponse { response, count, .. } => count.map(|n| n * response),
        App::Segments { size, count, .. } => count.map(|n| n * u64::from(size)),
        App::WebPage { .. } => None,
    }
}

fn total(drops: &Drops) -> u64 {
    drops.total()
}

/// Checks an outcome and that of the same run with its series.
pub fn check(case: &Case, outcome: &Outcome, recorded: &Outcome) -> Result<(), String> {
    hold!(outcome.digest == recorded.digest, "{} and {}", outcome.digest, recorded.digest);
    let same = Outcome {
        wall_s: outcome.wall_s,
        series: Vec::new(),
        queues: Vec::new(),
        air: Vec::new(),
        ..recorded.clone()
    };
    hold!(*outcome == same, "recording changes the outcome");
    for ((flow, result), series) in case.scenario.flows.iter().zip(&outcome.flows).zip(&recorded.series) {
        check_flow(case, flow, result).map_err(|e| format!("{}: {e}", flow.name))?;
        check_series(series).map_err(|e| format!("{}: {e}", flow.name))?;
        if case.scenario.warmup.is_zero() {
            check_counts(result, series).map_err(|e| format!("{}: {e}", flow.name))?;
        }
    }
    for link in &outcome.links {
        hold!((0.0..=1.0).contains(&link.utilisation), "{}: {}", link.name, link.utilisation);
        hold!(link.mean_queue_packets >= 0.0 && link.mean_wait_s >= 0.0, "{}", link.name);
        // What came before the warm-up's end may be lost after it.
        hold!(!case.scenario.warmup.is_zero() || link.channel_drops <= link.packets, "{}", link.name);
        hold!(
            filters(case) || link.acks_filtered == 0,
            "{}: {} ACKs filtered",
            link.name,
            link.acks_filtered
        );
    }
    if case.scenario.warmup.is_zero() {
        check_drops(case, recorded)?;
        for traffic in &outcome.traffic {
            // What is delivered or dropped was sent; a channel may deliver and drop copies besides.
            let ends = traffic.packets_delivered + total(&traffic.drops);
            // A mobile host may hear a packet from its old station and from its new one.
            let copies: u64 = outcome.hosts.iter().map(|host| host.copies).sum();
            hold!(duplicates(case) || ends <= traffic.packets_sent + copies, "{}: {ends}", traffic.name);
            let all = ends >= traffic.packets_sent;
            hold!(all || !has_ended(case), "{}: {ends} of {}", traffic.name, traffic.packets_sent);
        }
    }
    for station in outcome.media.iter().flat_map(|medium| &medium.stations) {
        // A frame that the end cuts off counts whole.
        hold!((0.0..1.001).contains(&station.airtime), "{}: {}", station.name, station.airtime);
        hold!((0.0..=1.0).contains(&station.busy), "{}: {}", station.name, station.busy);
        let failed = station.collisions + station.noise + station.weak + station.receiver_sending;
        hold!(station.reserved <= station.attempts, "{station:?}");
        // Answers and reservations fail as well, each a frame.
        hold!(failed <= station.attempts + station.frames, "{station:?}");
    }
    Ok(())
}

/// Whether everything that was sent has met its end: over media, which give up in the end, and over fast links, with time
/// enough.
fn has_ended(case: &Case) -> bool {
    let scenario = &case.scenario;
    let given_up = |m: &truckee_scenario::model::Medium| {
        m.config.short_retries.is_some() && m.config.long_retries.is_some()
    };
    let stop = |t: &truckee_scenario::model::Traffic| {
        t.stop.is_some_and(|stop| stop.since_start() + 30 * S < scenario.duration)
    };
    (!scenario.media.is_empty() || scenario.cells.is_some())
        && scenario.media.iter().all(given_up)
        && scenario.traffic.iter().all(stop)
        && scenario.links.iter().all(|link| link.forward.rate >= 9_000_000)
}

fn duplicates(case: &Case) -> bool {
    let copies = |effect: &_| matches!(effect, truckee_channel::Effect::Duplicate { .. });
    let links = &case.scenario.links;
    links.iter().any(|l| l.forward.channel.effects.iter().chain(&l.back.channel.effects).any(copies))
}

fn filters(case: &Case) -> bool {
    case.scenario.links.iter().any(|l| l.forward.ack_filter || l.back.ack_filter)
}

fn check_flow(case: &Case, flow: &Flow, result: &FlowOutcome) -> Result<(), String> {
    if let Some(promised) = promised(flow) {
        let delivered = result.bytes_delivered;
        hold!(delivered <= promised, "{delivered} of {promised} bytes");
        if result.completion_s.is_some() && flow.stop.is_none() && case.scenario.warmup.is_zero() {
            hold!(delivered == promised, "{delivered} of {promised} bytes");
        }
        let complete = result.completion_s.is_some();
        hold!(complete || !case.must_complete, "{delivered} of {promised} bytes, {result:#?}");
    }
    if let (Some(completion), Some(delivered)) = (result.completion_s, result.delivered_s) {
        hold!(delivered <= completion, "{delivered} s, {completion} s");
    }
    hold!(result.goodput_bps.is_finite() && result.goodput_bps >= 0.0, "{}", result.goodput_bps);
    hold!(result.retransmitted_segments <= result.segments_sent, "{result:#?}");
    let losses = result.loss_events.congestion + result.loss_events.wireless + result.loss_events.spurious;
    hold!(losses <= result.fast_retransmits + result.timeouts, "{result:#?}");
    if case.scenario.warmup.is_zero() && flow.stop.is_none() && result.completion_s.is_some() {
        let data = result.segments_sent - result.retransmitted_segments;
        hold!(data * u64::from(flow.stack.mss) >= result.bytes_delivered, "{data} segments");
    }
    Ok(())
}

/// Times rise.
fn check_series(series: &FlowSeries) -> Result<(), String> {
    fn rise<T>(points: &[T], t: impl Fn(&T) -> f64) -> bool {
        points.windows(2).all(|w| t(&w[0]) <= t(&w[1]))
    }
    hold!(rise(&series.window, |p| p.t), "window");
    hold!(rise(&series.segments, |p| p.t), "segments");
    hold!(rise(&series.acks, |p| p.t), "acks");
    hold!(rise(&series.drops, |p| p.t), "drops");
    hold!(rise(&series.losses, |p| p.t), "losses");
    hold!(series.window.iter().all(|p| p.cwnd >= 1.0 && p.ssthresh >= 1.0), "a window of nothing");
    Ok(())
}

fn check_counts(result: &FlowOutcome, series: &FlowSeries) -> Result<(), String> {
    let sent = series.segments.len() as u64;
    hold!(sent == result.segments_sent, "{sent} and {}", result.segments_sent);
    let again = series.segments.iter().filter(|s| s.retransmission).count() as u64;
    hold!(again == result.retransmitted_segments, "{again} and {}", result.retransmitted_segments);
    let acks = series.drops.iter().filter(|d| d.ack).count() as u64;
    hold!(acks == total(&result.ack_drops), "{acks} and {:?}", result.ack_drops);
    // SYN and FIN alone are no data.
    let data = series.drops.len() as u64 - acks;
    hold!(data >= total(&result.drops), "{data} and {:?}", result.drops);
    Ok(())
}

/// What links have dropped is what flows and traffic have lost.
fn check_drops(case: &Case, recorded: &Outcome) -> Result<(), String> {
    if case.scenario.flows.iter().any(|f| matches!(f.app, App::RequestResponse { .. })) {
        return Ok(()); // requests are in nobody's books
    }
    let links = &recorded.links;
    let of_links: u64 =
        links.iter().map(|l| l.queue_drops + l.channel_drops + l.outage_drops + l.handoff_drops).sum();
    let stations = recorded.media.iter().flat_map(|medium| &medium.stations);
    let of_links = of_links + stations.map(|station| total(&station.drops)).sum::<u64>();
    let of_flows: u64 = recorded.series.iter().map(|s| s.drops.len() as u64).sum();
    let of_traffic: u64 = recorded.traffic.iter().map(|t| total(&t.drops)).sum();
    // Packets of Cellular IP itself are in no flow's books, nor are copies of which another one came.
    let besides = case.scenario.cells.is_some() && of_links > of_flows + of_traffic;
    hold!(besides || of_links == of_flows + of_traffic, "{of_links}, {of_flows} and {of_traffic}");
    Ok(())
}
