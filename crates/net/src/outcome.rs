//! From the books of a run to its outcome.

use crate::link;
use crate::network::{EstimateBook, FlowState, Network};
use crate::record::{Deliveries, FlowBook, Totals, TrafficBook};
use truckee_scenario::model::{Flow, Medium, Scenario};
use truckee_scenario::outcome::*;
use truckee_tcp::ack::AckPolicy;
use truckee_tcp::books::Judged;
use truckee_tcp::relative_delay::CongestedRounds;
use truckee_tcp::{Span, Time};

/// The outcome of a network that has run; the wall time is left to whoever measured it.
pub fn outcome(mut network: Network<'_>, scenario: &Scenario) -> Outcome {
    let end = network.now;
    let from = Time::at(scenario.warmup).min(end);
    let (flows, series) = flows(&mut network, scenario, from, end);
    let of_scenario = 2 * scenario.links.len(); // behind them come hosts that take their time
    let apart: Vec<_> = (0..of_scenario)
        .map(|link| {
            let span = network.links.counted_until(link, end) - from;
            Box::new(link_outcome(
                scenario.link_name(link),
                &network.links.counts(link),
                &network.links.rare(link),
                span,
            ))
        })
        .collect();
    let media = scenario.media.iter().enumerate();
    let media = media.map(|(index, medium)| medium_outcome(&network, medium, index, end - from)).collect();
    let hosts =
        network.cells.take().into_iter().flat_map(|cells| cells.hosts).map(|host| host.book).collect();
    let traffic = scenario
        .traffic
        .iter()
        .zip(&mut network.traffic)
        .map(|(t, book)| traffic_outcome(&t.name, book, end - from))
        .collect();
    let queues = (0..network.first_host())
        .filter_map(|link| {
            let lengths = network.links.take_queue(link, end)?;
            Some(QueueSeries::new(&network.hop_name(link), lengths))
        })
        .collect();
    let air = network.media.iter_mut().filter_map(|air| air.take_series(end)).collect();
    let steps: u64 = network.media.iter().map(|air| air.radio.events()).sum();
    let (digest, events) = (network.digest.text(), network.events + steps);
    drop(network); // as of the flows, so of their links
    let links = apart.into_iter().map(|one| *one).collect();
    let mut outcome = Outcome {
        hosts,
        truckee: env!("CARGO_PKG_VERSION").to_owned(),
        engine: "sim".to_owned(),
        scenario: scenario.name.clone(),
        seed: scenario.seed,
        digest,
        simulated_s: end.seconds(),
        wall_s: 0.0,
        events,
        jain: None,
        flows,
        links,
        media,
        traffic,
        ports: Vec::new(),
        notes: Vec::new(),
        lateness: None,
        timers_age: None,
        series,
        queues,
        air,
    };
    outcome.compare_flows();
    outcome
}

/// What each flow did, and its time series where they are wanted. Of many flows this alone takes much room: it is to be that of
/// the flows themselves. So each is forgotten once it has been told of, its outcome takes the place of its sender, and they
/// come together when all flows are gone.
fn flows(
    network: &mut Network<'_>,
    scenario: &Scenario,
    from: Time,
    end: Time,
) -> (Vec<FlowOutcome>, Vec<FlowSeries>) {
    let mut apart = Vec::with_capacity(scenario.flows.len());
    let mut series = Vec::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        let one = one_flow(network, scenario, (index, flow), from, end);
        series.extend(network.flows[index].book.series.take().map(|recorded| recorded.series));
        network.forget(index);
        apart.push(Box::new(one));
    }
    (network.flows, network.connections) = (Vec::new(), Vec::new());
    (apart.into_iter().map(|one| *one).collect(), series)
}

fn one_flow(
    network: &Network<'_>,
    scenario: &Scenario,
    (index, flow): (usize, &Flow),
    from: Time,
    end: Time,
) -> FlowOutcome {
    let book = &network.flows[index].book;
    let mut totals = network.totals(index);
    if let Some(warm) = &book.warm {
        totals = totals.since(&warm.totals);
    }
    let mut one = flow_outcome(flow, book, &totals, &mut network.deliveries(index), from, end);
    one.observers = observers(network, scenario, index);
    let ends = &network.connections[network.flows[index].first_connection].ends;
    one.ack_burst = ends.receiver().and_then(|receiver| receiver.policy().burst());
    one.congested = ends.sender().and_then(|sender| sender.congested_rounds()).map(|rounds| {
        let CongestedRounds { neither, forward, reverse, both, .. } = rounds;
        Box::new(CongestedOutcome { neither, forward, reverse, both })
    });
    let rounds = ends.forward.books.rounds().into_iter();
    one.rounds = rounds.map(|r| RoundOutcome { segments: r.segments, acks: r.acks }).collect();
    one
}

fn flow_outcome(
    flow: &Flow,
    book: &FlowBook,
    totals: &Totals,
    deliveries: &mut Deliveries,
    from: Time,
    end: Time,
) -> FlowOutcome {
    let c = &totals.counts;
    let start = book.started.map_or(end, |s| s.max(from));
    let until = book.finished.unwrap_or(end);
    let span = until.saturating_sub(start);
    let over = |x: f64| if span > Span::ZERO { x / span.seconds() } else { 0.0 };
    let since_start = |t: Time| book.started.map(|s| t.saturating_sub(s).seconds());
    FlowOutcome {
        name: flow.name.clone(),
        sender: flow.sender.label.clone(),
        receiver: flow.receiver.name.clone(),
        goodput_bps: over(totals.bytes_delivered as f64 * 8.0),
        bytes_delivered: totals.bytes_delivered,
        completion_s: book.finished.and_then(since_start),
        delivered_s: book.finished.and_then(|_| since_start(deliveries.last)),
        segments_sent: c.segments,
        retransmitted_segments: c.retransmitted_segments,
        timeouts: c.timeouts,
        fast_retransmits: c.fast_retransmits,
        ecn_reductions: c.ecn_reductions,
        acks_sent: totals.acks,
        acks_per_segment: share(totals.acks, totals.segments_received).unwrap_or(0.0),
        ack_burst: None,
        probe: None,
        congested: None,
        rounds: Vec::new(),
        overhead: share(c.retransmitted_bytes, totals.bytes_delivered).unwrap_or(0.0),
        connections: totals.connections,
        slow_start_rounds: c.slow_start_end.map(|e| e.1),
        slow_start_s: c.slow_start_end.map(|e| e.0.seconds()),
        drops: book.drops,
        ack_drops: book.ack_drops.as_deref().copied().unwrap_or_default(),
        loss_events: loss_events(&c.judged),
        accuracy: loss_events(&c.judged).accuracy(),
        fair_share: None,
        observers: Observers::default(),
        longest_stall_s: (deliveries.stall > Span::ZERO).then(|| deliveries.stall.seconds()),
        delay_s: deliveries.delays.outcome(),
        rtt_s: RttOutcome {
            min: totals.rtt_min.map(Span::seconds),
            mean: (c.rtt_samples > 0).then(|| c.rtt_sum.as_f64() / c.rtt_samples as f64 / 1e9),
        },
        mean_cwnd_segments: over(c.cwnd_time / 1e9 / f64::from(flow.stack.mss)),
    }
}

fn loss_events(judged: &Judged) -> LossEvents {
    LossEvents {
        congestion: judged.congestion,
        wireless: judged.wireless,
        spurious: judged.spurious,
        congestion_judged_right: judged.congestion_right,
        wireless_judged_right: judged.wireless_right,
    }
}

fn observers(network: &Network<'_>, scenario: &Scenario, index: usize) -> Observers {
    let flow = &scenario.flows[index];
    let state = &network.flows[index];
    let Some(verdicts) = network.verdicts(index) else {
        return Observers { estimators: estimators(state), ..Observers::default() };
    };
    let verdicts = match state.book.warm.as_ref().and_then(|warm| warm.verdicts.as_ref()) {
        Some(warm) => verdicts.since(warm),
        None => *verdicts,
    };
    let predictors = flow.observe.predictors.iter().zip(&verdicts.predictors);
    let own = scenario.has_detector(index).then_some((OWN_DETECTOR, &verdicts.own_detector));
    let watching = flow.observe.detectors.iter().map(|(name, _)| name.as_str()).zip(&verdicts.detectors);
    Observers {
        predictors: predictors
            .map(|((name, _), judged)| {
                let loss_events = loss_events(judged);
                PredictorOutcome { name: name.clone(), accuracy: loss_events.accuracy(), loss_events }
            })
            .collect(),
        estimators: estimators(state),
        detectors: own.into_iter().chain(watching).map(|(name, d)| DetectorOutcome::of(name, d)).collect(),
    }
}

fn estimators(state: &FlowState) -> Vec<EstimatorOutcome> {
    let readings = state.readings.iter().flat_map(|r| r.names.iter().zip(&r.books));
    readings.map(|(name, book)| estimator_outcome(name, book)).collect()
}

fn estimator_outcome(name: &str, book: &EstimateBook) -> EstimatorOutcome {
    let n = book.readings as f64;
    let over = |x: f64, y: f64| (y > 0.0).then(|| x / y);
    let mean = over(book.sum, n);
    EstimatorOutcome {
        name: name.to_owned(),
        mean_bps: mean,
        sd_bps: mean.map(|m| (book.squares / n - m * m).max(0.0).sqrt()),
        available_bps: over(book.available, n),
        used_bps: over(book.used, n),
        tracking_error: over(book.errors, book.available),
        over_available: over(book.sum, book.available),
        over_used: over(book.sum, book.used),
    }
}

fn link_outcome(name: String, counts: &link::Counts, rare: &link::Rare, span: Span) -> LinkOutcome {
    let (packets, waited) = (counts.packets, counts.waited);
    let over = |x: f64| if span > Span::ZERO { x / span.as_f64() } else { 0.0 };
    LinkOutcome {
        name,
        utilisation: over(counts.busy.as_f64()),
        packets,
        bytes: counts.bytes,
        queue_drops: rare.drops.queue,
        channel_drops: rare.drops.channel,
        outage_drops: rare.drops.outage,
        handoff_drops: rare.drops.handoff,
        ecn_marks: rare.marks,
        acks_filtered: rare.acks_filtered,
        // Little's law: packets waiting on average = sum of their waiting times over the time.
        mean_queue_packets: over(waited),
        mean_wait_s: if packets > 0 { waited / packets as f64 / 1e9 } else { 0.0 },
    }
}

fn medium_outcome(network: &Network<'_>, medium: &Medium, index: usize, span: Span) -> MediumOutcome {
    let air = &network.media[index];
    let share = |time: Span| if span > Span::ZERO { time.as_f64() / span.as_f64() } else { 0.0 };
    let station = |station: usize| {
        let link = air.first + station;
        let name = network.hop_name(link);
        // Of a frame that the end cuts off, too, all is counted.
        let counters = air.measured(station);
        let counts = network.links.counts(link);
        let rare = network.links.rare(link);
        let of_queue = link_outcome(name, &counts, &rare, span);
        let [collisions, noise, weak, receiver_sending, reserved] = counters.failures;
        StationOutcome {
            name: of_queue.name,
            airtime: share(counters.airtime),
            busy: share(air.busy(station, network.now)),
            packets: of_queue.packets,
            bytes: of_queue.bytes,
            frames: counters.frames,
            attempts: counters.attempts,
            collisions,
            noise,
            weak,
            receiver_sending,
            reserved,
            duplicates: counters.duplicates,
            drops: rare.drops,
            ecn_marks: rare.marks,
            mean_queue_packets: of_queue.mean_queue_packets,
            mean_wait_s: of_queue.mean_wait_s,
        }
    };
    let stations: Vec<StationOutcome> = (0..medium.stations.len()).map(station).collect();
    let airtime = stations.iter().map(|station| station.airtime).sum();
    let routing = air.routers.as_ref().map(|routers| routers.outcome());
    MediumOutcome {
        name: medium.name.clone(),
        airtime,
        busy: share(air.busy(air.nodes.len(), network.now)),
        stations,
        routing,
    }
}

fn traffic_outcome(name: &str, book: &mut TrafficBook, span: Span) -> TrafficOutcome {
    TrafficOutcome {
        name: name.to_owned(),
        packets_sent: book.sent,
        packets_delivered: book.delivered,
        delivered_bps: if span > Span::ZERO { book.bytes as f64 * 8.0 / span.seconds() } else { 0.0 },
        drops: book.drops,
        delay_s: book.delays.outcome(),
    }
}
