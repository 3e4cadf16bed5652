//! What arrives at one station: how strong it is all together, and the one frame that is being read.

use super::levels::Levels;
use crate::mac::Frame;
use crate::phy::{ErrorTables, Modulation, Phy};
use crate::report::Failure;
use crate::{Span, Time};

/// The frame that is being read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lock {
    /// Which transmission.
    pub slot: u32,
    /// Milliwatts.
    pub power: f64,
    pub since: Time,
    /// Until then it may still be lost as a beginning.
    pub header_until: Time,
}

/// What came of the beginning of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    /// Whether it is read; if not, [`Radio::why_missed`] knows why.
    pub is_read: bool,
    /// The transmission that is no longer read for it.
    pub ended: Option<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct Radio {
    /// Milliwatts of all that arrives, and how many frames that are.
    pub energy: f64,
    pub arrivals: u32,
    pub sending: bool,
    pub lock: Option<Lock>,
    /// Milliwatts of everything but the frame that is being read, from when on.
    pub interference: Vec<(Time, f64)>,
    /// The most of these.
    worst: f64,
}

impl Radio {
    #[inline]
    pub fn add(&mut self, power: f64) {
        self.energy += power;
        self.arrivals += 1;
    }

    #[inline]
    pub fn remove(&mut self, power: f64) {
        self.arrivals -= 1;
        // Nothing is left of sums that do not come out even.
        self.energy = if self.arrivals == 0 { 0.0 } else { (self.energy - power).max(0.0) };
    }

    /// Milliwatts beside a frame of this power.
    #[inline]
    pub fn beside(&self, power: f64) -> f64 {
        if self.arrivals <= 1 { 0.0 } else { (self.energy - power).max(0.0) }
    }

    #[inline]
    pub fn is_busy(&self, carrier_sense: f64) -> bool {
        self.sending || self.lock.is_some() || self.energy >= carrier_sense
    }

    /// A frame begins to arrive: it is read from now on, or disturbs what is.
    #[inline(always)]
    pub fn begin(&mut self, new: Lock, levels: &Levels) -> Begun {
        let Levels { noise, sensitivity, preamble, capture, .. } = *levels;
        let (now, power) = (new.since, new.power);
        self.add(power);
        if self.sending {
            return Begun { is_read: false, ended: None };
        }
        // How far above all else it has to be.
        let above = match &self.lock {
            None => preamble,
            // Two that begin at once: the stronger is found.
            Some(first) if first.since == now => preamble,
            Some(_) => capture,
        };
        if power >= sensitivity && power >= above * (self.beside(power) + noise) {
            let ended = self.lock.as_ref().map(|first| first.slot);
            self.follow(new);
            return Begun { is_read: true, ended };
        }
        let mut ended = None;
        if let Some(first) = &self.lock {
            if now < first.header_until && first.power < preamble * (self.beside(first.power) + noise) {
                ended = Some(first.slot);
                self.lock = None;
            } else {
                self.note(now);
            }
        }
        Begun { is_read: false, ended }
    }

    /// Why a frame of so many milliwatts that begins to arrive is not read. Only of whom it is for is this asked.
    pub fn why_missed(&self, power: f64, levels: &Levels) -> Failure {
        let Levels { noise, sensitivity, preamble, .. } = *levels;
        if self.sending {
            Failure::Transmitting
        } else if power < sensitivity || power < preamble * noise {
            Failure::Weak
        } else {
            Failure::Collision
        }
    }

    /// Begins to read a frame.
    #[inline]
    fn follow(&mut self, lock: Lock) {
        let beside = self.beside(lock.power);
        self.interference.clear();
        self.interference.push((lock.since, beside));
        self.worst = beside;
        self.lock = Some(lock);
    }

    /// Whether a frame of `clean` milliwatts or more was read without anything beside it: the usual case, in which it is
    /// certain that there are no errors, and which costs no draw.
    #[inline]
    pub fn has_read_clean(&self, clean: f64) -> bool {
        let alone = matches!(self.interference.as_slice(), [(_, beside)] if *beside == 0.0);
        alone && self.lock.is_some_and(|lock| lock.power >= clean)
    }

    /// Whether a frame was read that was `clean` times as strong as noise and all that was beside it, at any time: then, too,
    /// it is certain that there are no errors, and none need to be worked out.
    #[inline]
    pub fn has_read_strong(&self, clean: f64, noise: f64) -> bool {
        self.lock.is_some_and(|lock| lock.power / (self.worst + noise) >= clean)
    }

    /// Notes what is beside the frame that is being read, from `now` on.
    #[inline]
    pub fn note(&mut self, now: Time) {
        if let Some(lock) = &self.lock {
            let beside = self.beside(lock.power);
            self.interference.push((now, beside));
            if beside > self.worst {
                self.worst = beside;
            }
        }
    }
}

/// A frame as it was read, from beginning to end.
pub(crate) struct Reading<'a> {
    pub tables: &'a ErrorTables,
    pub phy: &'a Phy,
    /// Milliwatts.
    pub noise: f64,
    pub power: f64,
    pub interference: &'a [(Time, f64)],
    /// When it began to arrive.
    pub since: Time,
}

/// −ln of the probability that something was read without error: as it was, and had there been noise alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Exponents {
    pub all: f64,
    pub noise: f64,
}

impl Reading<'_> {
    /// Of the header.
    pub fn header(&self, frame: &Frame) -> Exponents {
        let (bits, rate) = self.phy.header_bits(frame.rate);
        let until = self.since + self.phy.header(frame.rate);
        self.between(self.since, until, f64::from(bits), rate.modulation())
    }

    /// Of the bytes `from` to `to` of what follows the header.
    pub fn bytes(&self, frame: &Frame, from: u32, to: u32) -> Exponents {
        let header = self.phy.header(frame.rate);
        let (start, length) = (self.since + header, frame.airtime - header);
        let bits = f64::from(to - from) * 8.0;
        if (from, to) == (0, frame.bytes) {
            return self.between(start, start + length, bits, frame.rate.modulation());
        }
        let at = |byte: u32| {
            let share = u128::from(length.nanos()) * u128::from(byte) / u128::from(frame.bytes);
            start + Span::ns(share as u64)
        };
        self.between(at(from), at(to), bits, frame.rate.modulation())
    }

    /// Of `bits` bits spread over a time.
    fn between(&self, from: Time, to: Time, bits: f64, modulation: Modulation) -> Exponents {
        let rate = |beside: f64| self.tables.exponent(modulation, self.power / (beside + self.noise));
        let alone = rate(0.0);
        let mut all = 0.0;
        for (i, &(start, beside)) in self.interference.iter().enumerate() {
            let end = self.interference.get(i + 1).map_or(Time::MAX, |next| next.0);
            let (start, end) = (start.max(from), end.min(to));
            if start < end {
                let rate = if beside == 0.0 { alone } else { rate(beside) };
                all += bits * ((end - start) / (to - from)) * rate;
            }
        }
        Exponents { all, noise: bits * alone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Dsss, Rate};
    use crate::report::Kind;

    fn frame() -> Frame {
        let rate = Rate::Dsss(Dsss::R2);
        let airtime = Phy::default().airtime(rate, 500);
        let (packets, nav, request, first, bitmap) = (1, Span::ZERO, false, 0, 0);
        Frame {
            kind: Kind::Data,
            from: 0,
            to: 1,
            rate,
            bytes: 500,
            airtime,
            nav,
            packets,
            request,
            first,
            bitmap,
        }
    }

    #[test]
    fn interference_counts_for_the_part_it_overlaps() {
        let (tables, phy) = (ErrorTables::new(Modulation::ALL), Phy::default());
        // 192 µs of header and 2,000 µs of data, of which the second half meets interference of the frame's own power.
        let since = Time::ms(1);
        let half = since + Span::us(192) + Span::ms(1);
        let interference = [(since, 0.0), (half, 1.0)];
        let reading = Reading {
            tables: &tables,
            phy: &phy,
            noise: 5.0,
            power: 1.0,
            interference: &interference,
            since,
        };
        let (whole, first) = (reading.bytes(&frame(), 0, 500), reading.bytes(&frame(), 0, 250));
        let second = reading.bytes(&frame(), 250, 500);
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        near(first.all, 2_000.0 * tables.exponent(Modulation::Dqpsk, 0.2));
        near(second.all, 2_000.0 * tables.exponent(Modulation::Dqpsk, 1.0 / 6.0));
        near(whole.all, first.all + second.all);
        near(whole.noise, 2.0 * first.all);
        assert_eq!(first.all, first.noise);
        near(reading.header(&frame()).all, 48.0 * tables.exponent(Modulation::Dbpsk, 0.2));
    }

    #[test]
    fn a_strong_frame_alone_is_read_for_certain() {
        let mut radio = Radio::default();
        let lock = |power| Lock { slot: 0, power, since: Time::ns(5), header_until: Time::ns(9) };
        radio.add(2.0);
        radio.follow(lock(2.0));
        assert!(radio.has_read_clean(2.0));
        assert!(!radio.has_read_clean(2.1));
        radio.add(1e-9);
        radio.note(Time::ns(6));
        assert!(!radio.has_read_clean(2.0));
    }

    #[test]
    fn what_is_far_above_the_worst_interference_has_no_errors() {
        let (tables, phy, noise) = (ErrorTables::new(Modulation::ALL), Phy::default(), 1e-3);
        let clean = tables.clean_from(Modulation::Dqpsk).max(tables.clean_from(Modulation::Dbpsk));
        for (other, expected) in [(0.9 / clean, true), (1.1 / clean, false)] {
            let (mut radio, since) = (Radio::default(), Time::ms(1));
            radio.add(1.0);
            radio.follow(Lock { slot: 0, power: 1.0, since, header_until: since });
            radio.add(other - noise);
            radio.note(since + Span::us(100));
            radio.remove(other - noise);
            radio.note(since + Span::ms(1));
            assert_eq!(radio.has_read_strong(clean, noise), expected);
            let interference = &radio.interference;
            let reading = Reading { tables: &tables, phy: &phy, noise, power: 1.0, interference, since };
            let all = reading.header(&frame()).all + reading.bytes(&frame(), 0, 500).all;
            assert_eq!(all == 0.0, expected, "{all}");
        }
    }

    #[test]
    fn energy_comes_back_to_nothing() {
        let mut radio = Radio::default();
        for power in [0.1, 0.2, 0.3] {
            radio.add(power);
        }
        for power in [0.1, 0.3, 0.2] {
            radio.remove(power);
        }
        assert_eq!(radio.energy, 0.0);
    }
}
