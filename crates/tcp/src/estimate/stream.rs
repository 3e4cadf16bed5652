//! A stream of arrivals or departures cut into samples: so many bits in so much time.
//!
//! The first event only starts the clock: the time that its bits took is not known. Events at the same instant are
//! merged with the next sample, so that no sample is of no time.

use crate::Time;

/// One sample of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// Bits since the sample before.
    pub bits: f64,
    /// Time since the sample before, in seconds; above zero.
    pub seconds: f64,
}

impl Sample {
    /// Bit/s.
    pub(super) fn rate(self) -> f64 {
        self.bits / self.seconds
    }
}

/// What has come since the last sample.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    last: Option<Time>,
    waiting: f64,
}

impl Stream {
    /// `bytes` more at `now`: the sample that this ends, if time has passed.
    pub(super) fn add(&mut self, now: Time, bytes: u64) -> Option<Sample> {
        let Some(last) = self.last else {
            self.last = Some(now);
            return None;
        };
        self.waiting += bytes as f64 * 8.0;
        if now <= last {
            return None;
        }
        self.last = Some(now);
        Some(Sample { bits: std::mem::take(&mut self.waiting), seconds: (now - last).seconds() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_at_one_instant_join_the_next_sample() {
        let mut stream = Stream::default();
        assert_eq!(stream.add(Time::s(5), 999), None);
        assert_eq!(stream.add(Time::s(6), 100), Some(Sample { bits: 800.0, seconds: 1.0 }));
        assert_eq!(stream.add(Time::s(6), 100), None);
        assert_eq!(stream.add(Time::ms(6500), 25), Some(Sample { bits: 1000.0, seconds: 0.5 }));
        assert_eq!(stream.add(Time::ms(6400), 1), None, "a clock that ran back");
    }
}
