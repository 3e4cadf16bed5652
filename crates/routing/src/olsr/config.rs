//! OLSR's settings. Source: RFC 3626, section 18.

use crate::ConfigError;
use crate::error::{count, number, span};
use truckee_channel::Span;

/// What may be set. The default has the RFC's values.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// HELLO_INTERVAL, and REFRESH_INTERVAL.
    pub hello_interval: Span,
    /// TC_INTERVAL.
    pub tc_interval: Span,
    /// NEIGHB_HOLD_TIME: what a hello says is valid for so long.
    pub neighbour_hold_time: Span,
    /// TOP_HOLD_TIME: what a TC says is valid for so long.
    pub topology_hold_time: Span,
    /// DUP_HOLD_TIME: a message is known again for so long.
    pub duplicate_hold_time: Span,
    /// MAXJITTER: what is sent by a timer is early, and what is passed on waits, by up to so long, evenly distributed
    /// (3.4.1, 18.3). By default a quarter of the interval of hellos.
    pub jitter: Span,
    /// How ready a node is to relay for others, 0 (never) to 7 (always); 3 by default (18.8).
    pub willingness: u8,
    /// Link hysteresis (section 14); none: a link is what hellos say. None by default.
    pub hysteresis: Option<Hysteresis>,
    /// Whether link-layer feedback is heeded (section 13), which is optional. Off by default.
    pub link_layer: bool,
}

/// Link hysteresis (section 14): a link counts while packets come regularly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hysteresis {
    /// HYST_SCALING: the weight of the last packet.
    pub scaling: f64,
    /// HYST_THRESHOLD_HIGH: from this on a link counts.
    pub high: f64,
    /// HYST_THRESHOLD_LOW: below this it counts no longer.
    pub low: f64,
}

impl Default for Hysteresis {
    fn default() -> Self {
        Self { scaling: 0.5, high: 0.8, low: 0.3 }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            hello_interval: Span::s(2),
            tc_interval: Span::s(5),
            neighbour_hold_time: Span::s(6),
            topology_hold_time: Span::s(15),
            duplicate_hold_time: Span::s(30),
            jitter: Span::ms(500),
            willingness: 3,
            hysteresis: None,
            link_layer: false,
        }
    }
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        // What eight bits can say (18.3).
        let most = Span::truncated(3_968e9);
        span("hello_interval", self.hello_interval, Span::us(62_500), most)?;
        span("tc_interval", self.tc_interval, Span::us(62_500), most)?;
        span("neighbour_hold_time", self.neighbour_hold_time, self.hello_interval, most)?;
        span("topology_hold_time", self.topology_hold_time, self.tc_interval, most)?;
        span("duplicate_hold_time", self.duplicate_hold_time, Span::s(1), Span::s(86_400))?;
        span("jitter", self.jitter, Span::ZERO, self.hello_interval / 2)?;
        count("willingness", self.willingness.into(), 0, 7)?;
        if let Some(hysteresis) = self.hysteresis {
            number("hysteresis.scaling", hysteresis.scaling, 0.0, 1.0)?;
            number("hysteresis.high", hysteresis.high, 0.0, 1.0)?;
            number("hysteresis.low", hysteresis.low, 0.0, hysteresis.high)?;
        }
        Ok(())
    }
}
