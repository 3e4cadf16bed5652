//! Nodes with places, and media.

use super::Text;
use super::queue::queue_table;
use super::routing::routing;
use super::toml::{Inline, array, bytes, number, quoted, time};
use crate::Scenario;
use crate::decode::rate_name;
use crate::model::{Medium, Movement, Place, REACH_PACKET, Roaming, Station};
use crate::units::{Dimension, format_real};
use truckee_wireless::phy::{Band, GuardInterval, Preamble, Slot, Standard};
use truckee_wireless::propagation::{PathLoss, Propagation};
use truckee_wireless::{Aggregation, Position, Protection, RateControl};

fn real(value: f64, dimension: Dimension) -> String {
    quoted(&format_real(value, dimension))
}

fn metres(value: f64) -> String {
    real(value, Dimension::Length)
}

fn dbm(value: f64) -> String {
    real(value, Dimension::Power)
}

fn decibels(value: f64) -> String {
    real(value, Dimension::Ratio)
}

fn place(at: &Position) -> String {
    array([metres(at.x), metres(at.y)])
}

fn roam(scenario: &Scenario, of: &Roaming) -> String {
    let told =
        |(at, to): &(truckee_tcp::Time, usize)| array([time(at.since_start()), quoted(&scenario.nodes[*to])]);
    let table = match of.hysteresis {
        Some(hysteresis) => Inline::default().with("hysteresis", decibels(hysteresis)),
        None => Inline::default().with("to", array(of.to.iter().map(told))),
    };
    table.with("gap", time(of.gap)).end()
}

impl Text {
    pub(super) fn node(&mut self, scenario: &Scenario, of: &Place) {
        self.head("node");
        self.line("name", quoted(&scenario.nodes[of.node]));
        let height = match &of.movement {
            Movement::Still(at) => {
                self.line("at", place(at));
                at.z
            }
            Movement::Path(points) => {
                let first = points.first().map_or_else(Position::default, |(_, at)| *at);
                self.line("at", place(&first));
                let point = |(t, at): &(truckee_tcp::Time, Position)| {
                    array([time(t.since_start()), metres(at.x), metres(at.y)])
                };
                let points = array(points.iter().skip(1).map(point));
                self.line("move", Inline::kind("path").with("points", points).end());
                first.z
            }
            Movement::Trace { file, number, height, .. } => {
                let trace = Inline::kind("setdest").with("file", quoted(file));
                self.line("move", trace.with("number", number.to_string()).end());
                *height
            }
            Movement::RandomWaypoint(model) => {
                let speed = |v| real(v, Dimension::Speed);
                let movement = Inline::kind("random-waypoint")
                    .with("area", array([metres(model.width), metres(model.height)]))
                    .with("speed", array([speed(model.speeds.0), speed(model.speeds.1)]))
                    .with("pause", time(model.pause));
                self.line("move", movement.end());
                model.antenna
            }
        };
        self.line("height", metres(height));
        self.line_some("roam", of.roam.as_ref().map(|roaming| roam(scenario, roaming)));
        let own = scenario.media.iter().find_map(|medium| {
            let power = medium.stations[medium.station_of(of.node)?].power;
            (power != medium.power).then(|| dbm(power))
        });
        self.line_some("power", own);
    }

    pub(super) fn medium(&mut self, scenario: &Scenario, medium: &Medium) {
        self.head("medium");
        self.line("name", quoted(&medium.name));
        let name = |station: &Station| quoted(&scenario.nodes[station.node]);
        self.line("stations", array(medium.stations.iter().map(name)));
        self.line_some("access_point", medium.access_point.map(|index| name(&medium.stations[index])));
        self.line("power", dbm(medium.power));
        self.standard(medium.config.standard);
        self.ranges(medium);
        self.line("rate", rate(medium.rate));
        let config = &medium.config;
        self.line("basic_rates", array(config.basic_rates.iter().map(|r| quoted(&rate_name(*r)))));
        self.line("frequency", real(config.propagation.frequency, Dimension::Frequency));
        self.line("propagation", propagation(&config.propagation));
        self.line("delay", time(config.delay));
        self.line("noise", dbm(config.noise));
        self.line("receive_threshold", dbm(config.sensitivity));
        self.line("carrier_sense", dbm(config.carrier_sense));
        self.line("preamble_ratio", decibels(config.preamble));
        self.line("capture", config.capture.map_or_else(|| quoted("none"), decibels));
        self.line("ignored", dbm(config.ignored));
        let threshold = match config.rts_threshold {
            u32::MAX => quoted("never"),
            threshold => bytes(u64::from(threshold)),
        };
        self.line("rts_threshold", threshold);
        let retries = |limit: Option<u32>| limit.map_or_else(|| quoted("unlimited"), |n| n.to_string());
        self.line("short_retries", retries(config.short_retries));
        self.line("long_retries", retries(config.long_retries));
        self.line("cw_min", config.timing.cw_min.to_string());
        self.line("cw_max", config.timing.cw_max.to_string());
        let protection = match config.protection {
            None => "none",
            Some(Protection::CtsToSelf(_)) => "cts-to-self",
            Some(Protection::RtsCts(_)) => "rts-cts",
        };
        self.line("protection", quoted(protection));
        self.line("aggregation", aggregation(config.aggregation));
        self.line("queue", queue_table(&medium.queue).end());
        self.line("routing", routing(&medium.routing));
    }

    fn standard(&mut self, standard: Standard) {
        let word = |long: bool| quoted(if long { "long" } else { "short" });
        match standard {
            Standard::A => self.line("standard", quoted("802.11a")),
            Standard::B(preamble) => {
                self.line("standard", quoted("802.11b"));
                self.line("preamble", word(preamble == Preamble::Long));
            }
            Standard::G(slot) => {
                self.line("standard", quoted("802.11g"));
                self.line("slot", word(slot == Slot::Long));
            }
            Standard::N(band, guard) => {
                self.line("standard", quoted("802.11n"));
                self.line("band", quoted(if band == Band::Ghz5 { "5GHz" } else { "2.4GHz" }));
                self.line("guard_interval", word(guard == GuardInterval::Long));
            }
        }
    }

    /// How far each rate reaches, which nobody sees from powers and thresholds.
    fn ranges(&mut self, medium: &Medium) {
        let mut powers: Vec<f64> = medium.stations.iter().map(|station| station.power).collect();
        powers.sort_by(f64::total_cmp);
        powers.dedup();
        // The weakest and the strongest, if they differ.
        let ends = powers.first().into_iter().chain(powers.last().filter(|_| powers.len() > 1));
        for power in ends {
            let range = |rate| match medium.config.range(*power, rate, REACH_PACKET) {
                metres if metres.is_finite() => format!("{} {metres:.0} m", rate_name(rate)),
                _ => format!("{} everywhere", rate_name(rate)),
            };
            let ranges: Vec<String> = medium.config.standard.rates().into_iter().map(range).collect();
            self.note(&format!(
                "range at {}, {REACH_PACKET} bytes, one frame in ten lost: {}",
                format_real(*power, Dimension::Power),
                ranges.join(", ")
            ));
        }
        let sensed = medium
            .config
            .propagation
            .range(powers.last().copied().unwrap_or(0.0), medium.config.carrier_sense);
        if sensed.is_finite() {
            self.note(&format!("carrier sensed at up to {sensed:.0} m"));
        }
    }
}

fn rate(control: RateControl) -> String {
    match control {
        RateControl::Arf => quoted("arf"),
        RateControl::Minstrel => quoted("minstrel"),
        RateControl::Fixed(rate) => quoted(&rate_name(rate)),
    }
}

fn propagation(propagation: &Propagation) -> String {
    let loss = match propagation.path_loss {
        PathLoss::FreeSpace => Inline::kind("free-space"),
        PathLoss::TwoRay => Inline::kind("two-ray"),
        PathLoss::LogDistance { exponent, reference } => Inline::kind("log-distance")
            .with("exponent", number(exponent))
            .with("reference", metres(reference)),
    };
    let shadowing = propagation.shadowing.map(|shadowing| {
        let table = Inline::default().with("sigma", decibels(shadowing.sigma_db));
        table.with("correlation", time(shadowing.correlation)).end()
    });
    let fading = propagation.fading.map(|fading| {
        let table = match fading.k {
            0.0 => Inline::kind("rayleigh"),
            k => Inline::kind("rice").with("k", number(k)),
        };
        table.with("coherence", time(fading.coherence)).end()
    });
    loss.with_some("shadowing", shadowing).with_some("fading", fading).end()
}

fn aggregation(aggregation: Option<Aggregation>) -> String {
    let Some(aggregation) = aggregation else { return "false".to_owned() };
    Inline::default()
        .with("frames", aggregation.frames.to_string())
        .with("bytes", bytes(u64::from(aggregation.bytes)))
        .with("airtime", time(aggregation.airtime))
        .with("asks", aggregation.asks.to_string())
        .end()
}
