//! DSDV's settings. The paper gives few numbers; the defaults are those of ns-2, where they are not said to be others.

use crate::error::{count, number, span};
use crate::{BufferConfig, ConfigError};
use truckee_channel::Span;

/// What may be set.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Between full updates, at most; each is early by up to a quarter of it, evenly distributed.
    pub period: Span,
    /// A neighbour of whom no update came for so many periods is lost.
    pub allowed_loss: u32,
    /// What the settling time of a route is taken to be at first; a route is told to others twice its settling time
    /// after it is heard of, for a better one may come (section 3, "damping fluctuations").
    pub settling_time: Span,
    /// The weight of the past in the average of settling times.
    pub settling_weight: f64,
    /// Between triggered updates, at least.
    pub triggered_interval: Span,
    /// Whether who hears that a route is broken triggers an update himself, as the paper asks (section 3, "responding to
    /// topology changes"); ns-2 leaves it to the next update.
    pub spreads_breaks: bool,
    /// A triggered update that would have more than this share of the table, and more than three routes, is a full one.
    pub full_share: f64,
    /// The first full update comes within so long, evenly distributed.
    pub startup: Span,
    /// Each update waits up to so long, evenly distributed, so that neighbours do not send at once.
    pub jitter: Span,
    /// Whether link-layer feedback is heeded, which the paper allows (section 3, "responding to topology changes"). On by
    /// default; ns-2's `use_mac_` is off.
    pub link_layer: bool,
    /// Packets that wait for a route, the node's own and others': of one destination five, as in ns-2. ns-2 knows no
    /// limit of time or of all; 30 s and 64 packets here.
    pub buffer: BufferConfig,
    /// The own sequence number at the beginning, an even one. 0 by default; a test of the wrap begins short of it.
    pub sequence: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            period: Span::s(15),
            allowed_loss: 3,
            settling_time: Span::s(6),
            settling_weight: 0.875,
            triggered_interval: Span::s(1),
            spreads_breaks: true,
            full_share: 1.0 / 3.0,
            startup: Span::s(2),
            jitter: Span::ms(10),
            link_layer: true,
            buffer: BufferConfig { packets: 64, per_destination: 5, time: Span::s(30) },
            sequence: 0,
        }
    }
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let most = Span::s(86_400);
        span("period", self.period, Span::ms(10), most)?;
        count("allowed_loss", self.allowed_loss, 1, 100)?;
        span("settling_time", self.settling_time, Span::ZERO, most)?;
        number("settling_weight", self.settling_weight, 0.0, 1.0)?;
        span("triggered_interval", self.triggered_interval, Span::ZERO, most)?;
        number("full_share", self.full_share, 0.0, 1.0)?;
        span("startup", self.startup, Span::ZERO, most)?;
        span("jitter", self.jitter, Span::ZERO, Span::s(1))?;
        if !self.sequence.is_multiple_of(2) {
            return Err(ConfigError {
                place: "sequence",
                value: self.sequence.to_string(),
                expected: "even".to_owned(),
            });
        }
        self.buffer.check()
    }
}
