//! The times and counts that medium access goes by: slot, interframe spaces, contention window.

use super::airtime::{Band, GuardInterval, Phy, Preamble};
use super::bytes;
use super::rate::{Dsss, Mcs, Ofdm, Rate};
use crate::Span;

/// The slot of clause 18 (ERP): short where all stations know it (18.4.5), but in no network without an access point (9.4.1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Slot {
    /// 20 µs: a station of 802.11b may be in the cell, or there is no access point.
    Long,
    /// 9 µs.
    #[default]
    Short,
}

/// The amendments people know by their letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    /// HR/DSSS (clause 16): 1 to 11 Mbit/s in 2.4 GHz.
    B(Preamble),
    /// OFDM (clause 17): 6 to 54 Mbit/s in 5 GHz.
    A,
    /// ERP-OFDM (clause 18): 6 to 54 Mbit/s in 2.4 GHz, no station of 802.11b beside it but where
    /// protection says so.
    G(Slot),
    /// HT (clause 19), one spatial stream, 20 MHz, with the short slot; contends as best effort of EDCA.
    N(Band, GuardInterval),
}

/// Times of medium access. All fields may be changed, as studies of DCF do; [`Timing::of`] has the standard's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// aSlotTime.
    pub slot: Span,
    /// aSIFSTime: between the frames of an exchange.
    pub sifs: Span,
    /// Slots that follow a SIFS before contention: 2 make a DIFS (10.3.2.3.5), 3 the AIFS of best effort (table 9-137).
    pub aifsn: u32,
    /// aCWmin: the first window is 0 to this, in slots.
    pub cw_min: u32,
    /// aCWmax.
    pub cw_max: u32,
    /// From a frame's end: when the answer must have begun (10.3.2.9: SIFS + slot + aRxPHYStartDelay).
    pub answer: Span,
    /// From the end of a frame that could not be read: when contention begins (10.3.2.3.7: SIFS + an ACK at the lowest
    /// mandatory rate + DIFS).
    pub eifs: Span,
}

impl Standard {
    /// What frames of this standard look like.
    pub fn phy(self) -> Phy {
        let none = Phy::default();
        match self {
            Standard::B(preamble) => Phy { preamble, ..none },
            Standard::A => Phy { band: Band::Ghz5, ..none },
            Standard::G(_) => none,
            Standard::N(band, guard) => Phy { band, guard, ..none },
        }
    }

    /// The rates of data, slowest first.
    pub fn rates(self) -> Vec<Rate> {
        match self {
            Standard::B(_) => Dsss::ALL.map(Rate::Dsss).to_vec(),
            Standard::A | Standard::G(_) => Ofdm::ALL.map(Rate::Ofdm).to_vec(),
            Standard::N(..) => Mcs::ALL.map(Rate::Ht).to_vec(),
        }
    }

    /// The basic rates that are usual: 1 and 2 Mbit/s, or 6, 12 and 24 Mbit/s.
    pub fn basic_rates(self) -> Vec<Rate> {
        match self {
            Standard::B(_) => vec![Rate::Dsss(Dsss::R1), Rate::Dsss(Dsss::R2)],
            _ => [Ofdm::R6, Ofdm::R12, Ofdm::R24].map(Rate::Ofdm).to_vec(),
        }
    }

    /// Header and FCS of a frame of data, with the LLC and SNAP headers of an IP packet.
    pub fn overhead(self) -> u32 {
        bytes::SNAP
            + match self {
                Standard::N(..) => bytes::QOS_DATA,
                _ => bytes::DATA,
            }
    }

    /// The width that noise comes through, in Hz: that of the spread signal, or of the channel.
    pub fn bandwidth(self) -> f64 {
        match self {
            Standard::B(_) => 22e6,
            _ => 20e6,
        }
    }
}

impl Timing {
    /// The standard's times: the PHY characteristics at the ends of clauses 16 (HR/DSSS), 17 (OFDM), 18 (ERP), 19 (HT).
    pub fn of(standard: Standard) -> Self {
        let phy = standard.phy();
        // aRxPHYStartDelay: preamble and header (10.3.2.9 and the tables above; that of HT is 33 µs in 5 GHz).
        let (slot, sifs, aifsn, cw_min, start, lowest) = match standard {
            Standard::B(preamble) => {
                let start = match preamble {
                    Preamble::Long => 192,
                    Preamble::Short => 96,
                };
                (20, 10, 2, 31, start, Rate::Dsss(Dsss::R1))
            }
            Standard::A => (9, 16, 2, 15, 20, Rate::Ofdm(Ofdm::R6)),
            Standard::G(slot) => {
                let slot = if slot == Slot::Short { 9 } else { 20 };
                (slot, 10, 2, 15, 20, Rate::Ofdm(Ofdm::R6))
            }
            Standard::N(Band::Ghz5, _) => (9, 16, 3, 15, 33, Rate::Ofdm(Ofdm::R6)),
            Standard::N(Band::Ghz2_4, _) => (9, 10, 3, 15, 33, Rate::Ofdm(Ofdm::R6)),
        };
        let (slot, sifs) = (Span::us(slot), Span::us(sifs));
        let difs = sifs + 2 * slot;
        Self {
            slot,
            sifs,
            aifsn,
            cw_min,
            cw_max: 1023,
            answer: sifs + slot + Span::us(start),
            eifs: sifs + phy.airtime(lowest, bytes::ACK) + difs,
        }
    }

    /// DIFS, or the AIFS that takes its place: SIFS and `aifsn` slots.
    pub fn difs(&self) -> Span {
        self.sifs + u64::from(self.aifsn) * self.slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DIFS, EIFS, and how long an answer is waited for, in microseconds.
    fn spaces(standard: Standard) -> [u64; 3] {
        let t = Timing::of(standard);
        [t.difs(), t.eifs, t.answer].map(|t| t.ticks(Span::us(1)))
    }

    #[test]
    fn spaces_are_those_of_the_standard() {
        // 10 + 2·20; 10 + 304 + 50; 10 + 20 + 192.
        assert_eq!(spaces(Standard::B(Preamble::Long)), [50, 364, 222]);
        assert_eq!(spaces(Standard::B(Preamble::Short)), [50, 364, 126]);
        // 16 + 2·9; 16 + 44 + 34; 16 + 9 + 20.
        assert_eq!(spaces(Standard::A), [34, 94, 45]);
        // 10 + 2·9; 10 + 50 + 28; 10 + 9 + 20.
        assert_eq!(spaces(Standard::G(Slot::Short)), [28, 88, 39]);
        // 10 + 2·20; 10 + 50 + 50; 10 + 20 + 20.
        assert_eq!(spaces(Standard::G(Slot::Long)), [50, 110, 50]);
        // AIFS 16 + 3·9; 16 + 44 + 34; 16 + 9 + 33.
        assert_eq!(spaces(Standard::N(Band::Ghz5, GuardInterval::Long)), [43, 94, 58]);
    }
}
