//! How long a round trip to a server takes, by what the openings of its connections took. Not for: measuring them.

use std::time::Duration;

/// Where no handshake has told of the round trip: as RFC 6298 takes it before the first sample.
const UNKNOWN: Duration = Duration::from_secs(1);

/// What the openings of a server's connections took.
#[derive(Debug, Default)]
pub struct RoundTrips(Vec<Duration>);

impl RoundTrips {
    /// The likely round-trip time of a connection whose opening took so long; 0: not known, as where the SYN had to be
    /// repeated. All waiting goes by it, and a machine that stands still in a handshake makes it seconds.
    pub fn likely(&mut self, sample: Duration) -> Duration {
        if !sample.is_zero() {
            let at = self.0.partition_point(|other| *other < sample);
            self.0.insert(at, sample);
        }
        let Some(middle) = self.0.get(self.0.len().saturating_sub(1) / 2) else { return UNKNOWN };
        if sample.is_zero() { *middle } else { sample.clamp(*middle / 2, *middle * 2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_that_took_too_long_or_tells_nothing_is_held_against_the_others() {
        let ms = Duration::from_millis;
        let mut all = RoundTrips::default();
        assert_eq!(all.likely(Duration::ZERO), UNKNOWN);
        assert_eq!(all.likely(ms(900)), ms(900), "the first is all there is");
        assert_eq!(all.likely(ms(50)), ms(50));
        assert_eq!(all.likely(ms(50)), ms(50));
        assert_eq!(all.likely(ms(1300)), ms(100));
        assert_eq!(all.likely(ms(60)), ms(60));
        assert_eq!(all.likely(ms(1)), ms(25));
        assert_eq!(all.likely(Duration::ZERO), ms(50));
    }
}
