//! A run as a person reads it: the flows, those who watched them, the links that matter, the cross traffic, the digest.

mod hosts;
mod losses;
mod media;

use crate::human::{self, count, many, optional, percent, quantity};
use crate::layout::{self, numbers, words};
use losses::of;
use std::io::{self, Write};
use std::path::PathBuf;
use truckee_scenario::outcome::{
    DetectorOutcome, Drops, EstimatorOutcome, FlowOutcome, LinkOutcome, PortOutcome, PredictorOutcome,
    TrafficOutcome,
};
use truckee_scenario::{Lateness, Outcome};

/// Links shown at most: those that lost something or were busiest.
const MOST_LINKS: usize = 6;
/// A link that lost nothing and was idle for longer than this share of the time says little.
const BUSY: f64 = 0.5;

/// Writes all of it.
pub fn write(out: &mut dyn Write, outcome: &Outcome, files: &[PathBuf]) -> io::Result<()> {
    flows(out, outcome)?;
    predictors(out, outcome)?;
    estimators(out, outcome)?;
    detectors(out, outcome)?;
    links(out, outcome)?;
    media::write(out, outcome)?;
    traffic(out, outcome)?;
    hosts::write(out, outcome)?;
    ports(out, outcome)?;
    // A live run has none.
    let told = match outcome.digest.as_str() {
        "" => format!("engine {}", outcome.engine),
        digest => format!("digest {digest}"),
    };
    writeln!(
        out,
        "\n{}, seed {}: {told}; {} in {}, {} events",
        outcome.scenario,
        outcome.seed,
        quantity(outcome.simulated_s, "s"),
        quantity(outcome.wall_s, "s"),
        count(outcome.events),
    )?;
    if let Some(lateness) = &outcome.lateness {
        writeln!(out, "{}", late(lateness))?;
    }
    for file in files {
        writeln!(out, "wrote {}", file.display())?;
    }
    Ok(())
}

/// How late the machine was, in a line; which bound was broken is said on stderr.
fn late(lateness: &Lateness) -> String {
    let word = if lateness.is_invalid() { "INVALID" } else { "valid" };
    let stolen = lateness.stolen_share.map_or_else(|| human::NONE.to_owned(), percent);
    format!(
        "{word}: {} of {} packets late, the latest by {}; end hosts kept waiting {} of the time, {} at most; {stolen} stolen",
        percent(lateness.late_share),
        count(lateness.packets),
        quantity(lateness.latest_s, "s"),
        percent(lateness.waiting_share),
        quantity(lateness.longest_wait_s, "s"),
    )
}

fn flows(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    if outcome.flows.is_empty() {
        return writeln!(out, "no flows");
    }
    let columns = [
        words("flow"),
        words("sender"),
        words("receiver"),
        numbers("goodput"),
        numbers("done in"),
        numbers("delay: mean"),
        numbers("p99"),
        numbers("resent"),
    ];
    layout::write(out, &columns, outcome.flows.iter().map(flow))?;
    if outcome.flows.len() > 1 {
        let total: f64 = outcome.flows.iter().map(|f| f.goodput_bps).sum();
        let jain = outcome.jain.map_or_else(|| human::NONE.to_owned(), |j| format!("{j:.3}"));
        let flows = many(outcome.flows.len(), "flow");
        writeln!(out, "{flows}: {} in all, Jain's index {jain}", quantity(total, "bit/s"))?;
    }
    losses::write(out, outcome)
}

fn flow(flow: &FlowOutcome) -> Vec<String> {
    let resent = match flow.segments_sent {
        0 => human::NONE.to_owned(),
        sent => percent(flow.retransmitted_segments as f64 / sent as f64),
    };
    vec![
        flow.name.clone(),
        flow.sender.clone(),
        flow.receiver.clone(),
        quantity(flow.goodput_bps, "bit/s"),
        optional(flow.completion_s, "s"),
        optional(flow.delay_s.mean, "s"),
        optional(flow.delay_s.p99, "s"),
        resent,
    ]
}

/// The BPF programs that stood for senders, held against their definitions: one row a program, the widest differences
/// of its flows.
fn ports(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let mut names: Vec<&str> = outcome.ports.iter().map(|p| p.port.as_str()).collect();
    names.dedup();
    let row = |name: &str| {
        let of = || outcome.ports.iter().filter(move |p| p.port == name);
        let widest = |what: fn(&PortOutcome) -> f64| of().map(what).fold(0.0, f64::max);
        let sum = |what: fn(&PortOutcome) -> u64| of().map(what).sum::<u64>();
        let estimate = of().filter_map(|p| p.estimate).reduce(f64::max);
        let verdicts = sum(|p| p.verdicts);
        vec![
            name.to_owned(),
            count(sum(|p| p.acks)),
            estimate.map_or_else(|| human::NONE.to_owned(), scientific),
            match verdicts {
                0 => human::NONE.to_owned(),
                all => format!("{} of {}", count(sum(|p| p.verdicts_apart)), count(all)),
            },
            scientific(widest(|p| p.cwnd_segments)),
            scientific(widest(|p| p.ssthresh_segments)),
            if of().all(|p| p.within) { "yes" } else { "NO" }.to_owned(),
            match of().map(|p| p.unrecorded).max().unwrap_or(0) {
                0 => human::NONE.to_owned(),
                missing => count(missing),
            },
        ]
    };
    if names.is_empty() {
        return Ok(());
    }
    let columns = [
        words("BPF port against its definition"),
        numbers("ACKs"),
        numbers("estimate off by"),
        numbers("verdicts apart"),
        numbers("cwnd by"),
        numbers("ssthresh"),
        words("within"),
        numbers("not recorded"),
    ];
    writeln!(out)?;
    layout::write(out, &columns, names.into_iter().map(row))
}

/// A difference that may be next to nothing.
fn scientific(x: f64) -> String {
    if x == 0.0 { "0".to_owned() } else { format!("{x:.0e}") }
}

/// The predictors that watched: A_C, A_W and A_L, each with its counts.
fn predictors(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let share = |right: u64, all: u64| match all {
        0 => human::NONE.to_owned(),
        _ => format!("{} ({})", percent(right as f64 / all as f64), of(right, all)),
    };
    let row = |flow: &FlowOutcome, p: &PredictorOutcome| {
        let e = &p.loss_events;
        vec![
            flow.name.clone(),
            p.name.clone(),
            share(e.congestion_judged_right, e.congestion),
            share(e.wireless_judged_right, e.wireless),
            share(e.congestion_judged_right + e.wireless_judged_right, e.congestion + e.wireless),
        ]
    };
    let rows: Vec<_> =
        outcome.flows.iter().flat_map(|f| f.observers.predictors.iter().map(|p| row(f, p))).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let columns = [
        words("flow"),
        words("predictor"),
        numbers("A_C: congestion"),
        numbers("A_W: wireless"),
        numbers("A_L: all"),
    ];
    writeln!(out)?;
    layout::write(out, &columns, rows)
}

/// The estimators that watched, and those that senders went by, against the truth.
fn estimators(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let row = |flow: &FlowOutcome, e: &EstimatorOutcome| {
        vec![
            flow.name.clone(),
            e.name.clone(),
            optional(e.mean_bps, "bit/s"),
            optional(e.sd_bps, "bit/s"),
            optional(e.available_bps, "bit/s"),
            optional(e.used_bps, "bit/s"),
            e.tracking_error.map_or_else(|| human::NONE.to_owned(), percent),
        ]
    };
    let rows: Vec<_> =
        outcome.flows.iter().flat_map(|f| f.observers.estimators.iter().map(|e| row(f, e))).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let columns = [
        words("flow"),
        words("estimator"),
        numbers("mean"),
        numbers("sd"),
        numbers("truly available"),
        numbers("used"),
        numbers("tracking error"),
    ];
    writeln!(out)?;
    layout::write(out, &columns, rows)
}

/// The slow-start detectors that watched, and those that receivers went by, against the truth.
fn detectors(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let share = |x: Option<f64>| x.map_or_else(|| human::NONE.to_owned(), percent);
    let row = |flow: &FlowOutcome, d: &DetectorOutcome| {
        vec![
            flow.name.clone(),
            d.name.clone(),
            share(d.accuracy.slow_start),
            share(d.accuracy.avoidance),
            of(d.ends_noticed, d.ends),
            optional(d.end_delay_s, "s"),
            of(d.starts_noticed, d.starts),
            count(d.false_alarms),
        ]
    };
    let rows: Vec<_> =
        outcome.flows.iter().flat_map(|f| f.observers.detectors.iter().map(|d| row(f, d))).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let columns = [
        words("flow"),
        words("detector"),
        numbers("slow start"),
        numbers("avoidance"),
        numbers("ends noticed"),
        numbers("after"),
        numbers("returns"),
        numbers("false alarms"),
    ];
    writeln!(out)?;
    layout::write(out, &columns, rows)
}

fn links(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let dropped = |l: &LinkOutcome| l.queue_drops + l.channel_drops + l.outage_drops + l.handoff_drops;
    let matters = |l: &&LinkOutcome| dropped(l) > 0 || l.utilisation > BUSY;
    let mut shown: Vec<&LinkOutcome> = outcome.links.iter().filter(matters).collect();
    shown.sort_by(|a, b| dropped(b).cmp(&dropped(a)).then(b.utilisation.total_cmp(&a.utilisation)));
    shown.truncate(MOST_LINKS);
    if shown.is_empty() {
        return Ok(());
    }
    let columns = [
        words("link"),
        numbers("busy"),
        numbers("lost: queue"),
        numbers("channel"),
        numbers("outage"),
        numbers("marked"),
        numbers("mean queue"),
    ];
    writeln!(out)?;
    let row = |link: &LinkOutcome| {
        vec![
            link.name.clone(),
            percent(link.utilisation),
            count(link.queue_drops),
            count(link.channel_drops),
            count(link.outage_drops),
            count(link.ecn_marks),
            format!("{:.1} packets", link.mean_queue_packets),
        ]
    };
    layout::write(out, &columns, shown.iter().map(|l| row(l)))?;
    match outcome.links.len() - shown.len() {
        0 => Ok(()),
        quiet => writeln!(
            out,
            "{} more that lost less or nothing: --format json shows all",
            many(quiet, "direction")
        ),
    }
}

fn traffic(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    if outcome.traffic.is_empty() {
        return Ok(());
    }
    let columns = [
        words("traffic"),
        numbers("delivered"),
        numbers("packets sent"),
        numbers("lost"),
        numbers("delay: mean"),
    ];
    writeln!(out)?;
    let lost = Drops::total;
    let row = |t: &TrafficOutcome| {
        vec![
            t.name.clone(),
            quantity(t.delivered_bps, "bit/s"),
            count(t.packets_sent),
            count(lost(&t.drops)),
            optional(t.delay_s.mean, "s"),
        ]
    };
    layout::write(out, &columns, outcome.traffic.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_scenario::outcome::{DetectorAccuracy, LossEvents, Observers};

    fn outcome(observers: Observers) -> Outcome {
        Outcome {
            truckee: String::new(),
            engine: String::new(),
            scenario: "s".into(),
            seed: 1,
            digest: String::new(),
            simulated_s: 1.0,
            wall_s: 0.0,
            events: 1,
            flows: vec![FlowOutcome { name: "one".into(), observers, ..FlowOutcome::default() }],
            links: Vec::new(),
            media: Vec::new(),
            traffic: Vec::new(),
            jain: None,
            ports: Vec::new(),
            notes: Vec::new(),
            hosts: Vec::new(),
            lateness: None,
            timers_age: None,
            series: Vec::new(),
            queues: Vec::new(),
            air: Vec::new(),
        }
    }

    fn written(outcome: &Outcome) -> String {
        let mut text = Vec::new();
        write(&mut text, outcome, &[]).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn what_is_lost_in_handoffs_is_shown_where_anything_is() {
        let mut outcome = outcome(Observers::default());
        assert!(!written(&outcome).contains("handoff"));
        outcome.flows[0].drops.handoff = 7;
        let text = written(&outcome);
        assert!(text.contains("outage  handoff") && text.contains("      7 "), "{text}");
    }

    fn shown(observers: Observers) -> String {
        written(&outcome(observers))
    }

    #[test]
    fn a_run_is_cited_by_its_digest_and_a_live_one_by_its_engine() {
        let mut run =
            Outcome { digest: "00ff".into(), engine: "sim".into(), ..outcome(Observers::default()) };
        assert!(written(&run).contains("s, seed 1: digest 00ff; "));
        (run.digest, run.engine) = (String::new(), "kernel".into());
        assert!(written(&run).contains("s, seed 1: engine kernel; "));
    }

    /// The words of the line that names `who`.
    fn line(text: &str, who: &str) -> Vec<String> {
        let line = text.lines().find(|l| l.contains(who)).unwrap_or_default();
        line.split("  ").filter(|cell| !cell.is_empty()).map(|cell| cell.trim().to_owned()).collect()
    }

    #[test]
    fn predictors_that_watched_are_shown_with_shares_and_counts() {
        let loss_events = LossEvents {
            congestion: 8,
            wireless: 0,
            spurious: 3,
            congestion_judged_right: 6,
            wireless_judged_right: 0,
        };
        let predictors =
            vec![PredictorOutcome { name: "spike".into(), loss_events, ..PredictorOutcome::default() }];
        let text = shown(Observers { predictors, ..Observers::default() });
        assert_eq!(line(&text, "spike"), ["one", "spike", "75 % (6 of 8)", "–", "75 % (6 of 8)"]);
        assert!(!text.contains("truly available"), "no estimator watched");
    }

    #[test]
    fn ports_are_shown_with_their_widest_differences_and_whether_they_keep_their_bounds() {
        let port = |port: &str, estimate, cwnd_segments, within: bool| PortOutcome {
            port: port.into(),
            acks: 1000,
            verdicts: 10,
            verdicts_apart: u64::from(!within),
            estimate,
            cwnd_segments,
            within,
            ..PortOutcome::default()
        };
        let ports = vec![
            port("tk_tibet", Some(2e-6), 0.0, true),
            port("tk_tibet", Some(4e-6), 3e-8, true),
            port("tk_lp_spike", None, 1.0, false),
        ];
        let text = written(&Outcome { ports, ..outcome(Observers::default()) });
        let tibet = ["tk_tibet", "2000", "4e-6", "0 of 20", "3e-8", "0", "yes", "–"];
        assert_eq!(line(&text, "tk_tibet"), tibet, "{text}");
        let spike = ["tk_lp_spike", "1000", "–", "1 of 10", "1e0", "0", "NO", "–"];
        assert_eq!(line(&text, "tk_lp_spike"), spike, "{text}");
        assert!(!shown(Observers::default()).contains("BPF"), "the simulator has none");
    }

    #[test]
    fn estimators_are_shown_against_the_truth() {
        let estimators = vec![
            EstimatorOutcome {
                name: "tibet".into(),
                mean_bps: Some(4.8e6),
                sd_bps: Some(2e5),
                available_bps: Some(5e6),
                used_bps: Some(4.9e6),
                tracking_error: Some(0.05),
                ..EstimatorOutcome::default()
            },
            EstimatorOutcome { name: "silent".into(), ..EstimatorOutcome::default() },
        ];
        let text = shown(Observers { estimators, ..Observers::default() });
        let rates = ["4.80 Mbit/s", "200 kbit/s", "5 Mbit/s", "4.90 Mbit/s", "5 %"];
        assert_eq!(line(&text, "tibet")[2..], rates);
        assert_eq!(line(&text, "silent")[2..], ["–"; 5]);
        assert!(!text.contains("A_L"), "no predictor watched");
    }

    #[test]
    fn detectors_are_shown_with_what_they_noticed_and_when() {
        let accuracy = DetectorAccuracy { slow_start: Some(0.9), avoidance: None, ..Default::default() };
        let detector = DetectorOutcome {
            name: "inter-arrival".into(),
            accuracy,
            ends: 3,
            ends_noticed: 2,
            end_delay_s: Some(0.25),
            false_alarms: 7,
            ..DetectorOutcome::default()
        };
        let text = shown(Observers { detectors: vec![detector], ..Observers::default() });
        let words = ["90 %", "–", "2 of 3", "250 ms", "–", "7"];
        assert_eq!(line(&text, "inter-arrival")[2..], words);
    }

    #[test]
    fn nobody_who_watched_is_no_table() {
        let text = shown(Observers::default());
        assert!(!text.contains("A_L") && !text.contains("truly available"));
    }
}
