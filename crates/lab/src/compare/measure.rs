//! What is compared: the metrics that both a simulated and a real stack can tell.

use serde::Serialize;
use truckee_scenario::outcome::{FlowOutcome, LinkOutcome};

/// A metric of a flow or of a link's direction.
pub(super) struct Measure<T> {
    pub(super) name: &'static str,
    /// What tolerances may call it; empty where its own name is short.
    pub(super) short: &'static str,
    pub(super) unit: &'static str,
    /// Compared by difference.
    pub(super) share: bool,
    pub(super) get: fn(&T) -> Option<f64>,
}

/// What is known of a measure, for messages and the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MeasureInfo {
    /// Its name.
    pub name: &'static str,
    /// What tolerances may call it for short; empty where its own name is short.
    pub short: &'static str,
    /// `flow` or `link`.
    pub of: &'static str,
    /// Whether it is a share.
    pub share: bool,
}

/// All of them.
pub fn list() -> Vec<MeasureInfo> {
    fn infos<T>(of: &'static str, all: &'static [Measure<T>]) -> impl Iterator<Item = MeasureInfo> {
        all.iter().map(move |m| MeasureInfo { name: m.name, short: m.short, of, share: m.share })
    }
    infos("flow", FLOW).chain(infos("link", LINK)).collect()
}

const fn quantity<T>(
    name: &'static str,
    short: &'static str,
    unit: &'static str,
    get: fn(&T) -> Option<f64>,
) -> Measure<T> {
    Measure { name, short, unit, share: false, get }
}

const fn share<T>(name: &'static str, short: &'static str, get: fn(&T) -> Option<f64>) -> Measure<T> {
    Measure { name, short, unit: "", share: true, get }
}

fn retransmitted_share(flow: &FlowOutcome) -> Option<f64> {
    (flow.segments_sent > 0).then(|| flow.retransmitted_segments as f64 / flow.segments_sent as f64)
}

pub(super) const FLOW: &[Measure<FlowOutcome>] = &[
    quantity("goodput_bps", "goodput", "bit/s", |f| Some(f.goodput_bps)),
    quantity("completion_s", "completion", "s", |f| f.completion_s),
    quantity("bytes_delivered", "delivered", "B", |f| Some(f.bytes_delivered as f64)),
    quantity("retransmitted_segments", "", "", |f| Some(f.retransmitted_segments as f64)),
    share("retransmitted_share", "retransmitted", retransmitted_share),
    quantity("timeouts", "", "", |f| Some(f.timeouts as f64)),
    quantity("fast_retransmits", "", "", |f| Some(f.fast_retransmits as f64)),
    quantity("drops.queue", "", "", |f| Some(f.drops.queue as f64)),
    quantity("drops.channel", "", "", |f| Some(f.drops.channel as f64)),
    quantity("drops.outage", "", "", |f| Some(f.drops.outage as f64)),
    share("accuracy.congestion", "a_c", |f| f.accuracy.congestion),
    share("accuracy.wireless", "a_w", |f| f.accuracy.wireless),
    share("accuracy.all", "a_l", |f| f.accuracy.all),
    quantity("acks_per_segment", "acks", "", |f| Some(f.acks_per_segment)),
    quantity("delay_s.mean", "delay", "s", |f| f.delay_s.mean),
    quantity("delay_s.p99", "p99", "s", |f| f.delay_s.p99),
    quantity("rtt_s.min", "rtt_min", "s", |f| f.rtt_s.min),
    quantity("rtt_s.mean", "rtt", "s", |f| f.rtt_s.mean),
    quantity("mean_cwnd_segments", "cwnd", "segments", |f| Some(f.mean_cwnd_segments)),
];

pub(super) const LINK: &[Measure<LinkOutcome>] = &[
    share("utilisation", "", |l| Some(l.utilisation)),
    quantity("queue_drops", "", "", |l| Some(l.queue_drops as f64)),
    quantity("channel_drops", "", "", |l| Some(l.channel_drops as f64)),
    quantity("outage_drops", "", "", |l| Some(l.outage_drops as f64)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric;

    #[test]
    fn names_and_units_are_those_of_the_metrics() {
        let mut own = Vec::new();
        let known = metric::list();
        let all = FLOW.iter().map(|m| (m.name, m.unit, "flow"));
        for (name, unit, of) in all.chain(LINK.iter().map(|m| (m.name, m.unit, "link"))) {
            match known.iter().find(|i| i.of == of && i.name == name) {
                Some(info) => assert_eq!(info.unit, unit, "{name}"),
                None => own.push(name),
            }
        }
        assert_eq!(own, ["retransmitted_share"], "the only one that is not among the metrics");
    }

    #[test]
    fn no_two_names_are_the_same() {
        let mut names: Vec<&str> = list().iter().flat_map(|m| [m.name, m.short]).collect();
        names.retain(|n| !n.is_empty());
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
