//! What a run recorded over time, as its figures take it: read from disk ([`super::read`]), or of an outcome in memory, which
//! comes to the same.

use truckee_scenario::Outcome;
use truckee_scenario::outcome::{FlowOutcome, FlowSeries, MediumSeries};

/// All of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Recorded {
    /// In the flows' order; none of one that recorded nothing.
    pub(super) flows: Vec<FlowPoints>,
    /// Packets waiting, by the link's direction.
    pub(super) queues: Vec<(String, Points)>,
    pub(super) air: Vec<Air>,
}

/// Time and value.
pub(super) type Points = Vec<(f64, f64)>;

/// The time series of one flow; times in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FlowPoints {
    pub(super) flow: String,
    /// Congestion window, bytes.
    pub(super) cwnd: Points,
    /// Slow-start threshold, bytes.
    pub(super) ssthresh: Points,
    /// Bytes outstanding.
    pub(super) flight: Points,
    /// RTT samples, s.
    pub(super) rtt: Points,
    /// Delays of segments, s.
    pub(super) delay: Points,
    /// First bytes of segments sent for the first time.
    pub(super) sent: Points,
    /// First bytes of segments sent again.
    pub(super) again: Points,
    /// Numbers acknowledged.
    pub(super) acks: Points,
    pub(super) drops: Vec<Drop>,
    pub(super) losses: Vec<Loss>,
    /// By estimator, bit/s.
    pub(super) estimates: Vec<(String, Points)>,
    /// What was available, bit/s.
    pub(super) available: Points,
    /// What the flow used, bit/s.
    pub(super) used: Points,
    /// Gaps between segments at the receiver, where a detector looks at them.
    pub(super) floats: Floats,
}

/// Gaps between segments at a receiver, s: each one, the smallest and the largest of its block, and the smoothed
/// round-trip time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Floats {
    pub(super) gap: Points,
    pub(super) min: Points,
    pub(super) max: Points,
    pub(super) rtt: Points,
}

/// A packet dropped.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drop {
    pub(super) t: f64,
    pub(super) seq: f64,
    pub(super) is_ack: bool,
    pub(super) cause: String,
    pub(super) link: String,
}

/// A loss event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Loss {
    pub(super) t: f64,
    pub(super) seq: f64,
    pub(super) truth: String,
    pub(super) verdict: String,
    pub(super) event: String,
}

/// What happened on a radio medium.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Air {
    pub(super) medium: String,
    pub(super) stations: Vec<Station>,
    pub(super) frames: Vec<Frame>,
    /// By flow, in the order in which they came to the medium; none in runs that an earlier version kept.
    pub(super) ways: Vec<Way>,
}

/// By whom a flow's data went on: when, from where, to whom; stations by their places in the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Way {
    pub(super) flow: String,
    pub(super) hops: Vec<(f64, usize, usize)>,
}

/// A station: where it was when, s and m.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Station {
    pub(super) name: String,
    pub(super) places: Vec<(f64, f64, f64)>,
}

/// A frame; stations by their places in the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    pub(super) t: f64,
    pub(super) airtime: f64,
    pub(super) from: usize,
    pub(super) to: Option<usize>,
    /// Whether there is a packet in it.
    pub(super) is_data: bool,
    pub(super) packets: u32,
    pub(super) lost: u32,
    pub(super) failure: Option<String>,
}

impl Air {
    /// The place of a station in the list.
    pub(super) fn station(&mut self, name: &str) -> usize {
        let known = self.stations.iter().position(|station| station.name == name);
        known.unwrap_or_else(|| {
            self.stations.push(Station { name: name.to_owned(), places: Vec::new() });
            self.stations.len() - 1
        })
    }

    /// The way of a flow, which begins here.
    pub(super) fn way(&mut self, flow: &str) -> &mut Way {
        let known = self.ways.iter().position(|way| way.flow == flow).unwrap_or_else(|| {
            self.ways.push(Way { flow: flow.to_owned(), ..Way::default() });
            self.ways.len() - 1
        });
        &mut self.ways[known]
    }
}

impl Recorded {
    /// What a run has recorded that is still in memory.
    pub(super) fn of(outcome: &Outcome) -> Self {
        let queue = |points: &[truckee_scenario::outcome::QueuePoint]| {
            points.iter().map(|p| (p.t, f64::from(p.packets))).collect()
        };
        let queues = outcome.queues.iter().filter(|q| !q.points.is_empty());
        Self {
            flows: outcome.series.iter().map(FlowPoints::of).filter(|f| !f.is_empty()).collect(),
            queues: queues.map(|q| (q.link.clone(), queue(&q.points))).collect(),
            air: outcome.air.iter().map(|air| Air::of(air, &outcome.flows)).collect(),
        }
    }
}

impl FlowPoints {
    fn of(series: &FlowSeries) -> Self {
        let segments = |again: bool| {
            let those = series.segments.iter().filter(move |s| s.retransmission == again);
            those.map(|s| (s.t, s.seq as f64)).collect()
        };
        let mut points = Self {
            flow: series.flow.clone(),
            cwnd: series.window.iter().map(|w| (w.t, w.cwnd)).collect(),
            ssthresh: series.window.iter().map(|w| (w.t, w.ssthresh)).collect(),
            flight: series.window.iter().map(|w| (w.t, w.flight as f64)).collect(),
            rtt: series.window.iter().filter_map(|w| Some((w.t, w.rtt?))).collect(),
            delay: series.delays.iter().map(|d| (d.t, d.delay)).collect(),
            sent: segments(false),
            again: segments(true),
            acks: series.acks.iter().map(|a| (a.t, a.ack as f64)).collect(),
            ..Self::default()
        };
        points.floats = Floats {
            gap: series.gaps.iter().map(|g| (g.t, g.gap)).collect(),
            min: series.gaps.iter().map(|g| (g.t, g.min)).collect(),
            max: series.gaps.iter().map(|g| (g.t, g.max)).collect(),
            rtt: series.gaps.iter().filter_map(|g| Some((g.t, g.rtt?))).collect(),
        };
        points.drops = series
            .drops
            .iter()
            .map(|d| Drop {
                t: d.t,
                seq: d.seq as f64,
                is_ack: d.ack,
                cause: d.cause.to_owned(),
                link: d.link.clone(),
            })
            .collect();
        points.losses = series
            .losses
            .iter()
            .map(|l| Loss {
                t: l.t,
                seq: l.seq as f64,
                truth: l.truth.to_owned(),
                verdict: l.verdict.to_owned(),
                event: l.kind.to_owned(),
            })
            .collect();
        for e in &series.estimates {
            points.read_estimate(&e.estimator, e.t, e.estimate, (e.available, e.used));
        }
        points
    }

    /// One reading of an estimator, bit/s, with what was available and what the flow used.
    pub(super) fn read_estimate(&mut self, name: &str, t: f64, estimate: Option<f64>, truth: (f64, f64)) {
        let place = self.estimates.iter().position(|(n, _)| n == name).unwrap_or_else(|| {
            self.estimates.push((name.to_owned(), Vec::new()));
            self.estimates.len() - 1
        });
        // Every estimator is read at the same times, with the same truth beside it.
        if place == 0 {
            self.available.push((t, truth.0));
            self.used.push((t, truth.1));
        }
        self.estimates[place].1.extend(estimate.map(|estimate| (t, estimate)));
    }

    fn is_empty(&self) -> bool {
        *self == Self { flow: self.flow.clone(), ..Self::default() }
    }
}

impl Air {
    fn of(series: &MediumSeries, flows: &[FlowOutcome]) -> Self {
        let mut air = Self { medium: series.medium.clone(), ..Self::default() };
        let name = |station: u32| series.stations.get(station as usize).map_or("", String::as_str);
        for p in &series.places {
            let station = air.station(name(p.station));
            air.stations[station].places.push((p.t, p.x, p.y));
        }
        for f in &series.frames {
            let to = f.to.map(|to| air.station(name(to)));
            let from = air.station(name(f.from));
            air.frames.push(Frame {
                t: f.t,
                airtime: f.airtime,
                from,
                to,
                is_data: matches!(f.kind, "data" | "aggregate"),
                packets: f.packets,
                lost: f.lost,
                failure: f.failure.map(str::to_owned),
            });
        }
        for hop in &series.hops {
            let flow = flows.get(hop.flow as usize).map_or("", |flow| flow.name.as_str());
            let (from, to) = (air.station(name(hop.from)), air.station(name(hop.to)));
            air.way(flow).hops.push((hop.t, from, to));
        }
        air
    }
}
