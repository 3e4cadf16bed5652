//! The rates a frame may be sent at, and what they mean on the air.

use std::fmt;

/// A rate of IEEE 802.11: a way to modulate and code.
///
/// Clauses are those of IEEE 802.11-2016, here and everywhere in this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rate {
    /// DSSS and CCK (clauses 15 and 16).
    Dsss(Dsss),
    /// OFDM in 20 MHz (clause 17; in the 2.4 GHz band as ERP-OFDM, clause 18).
    Ofdm(Ofdm),
    /// High throughput, one spatial stream in 20 MHz (clause 19): the MCS, 0 to 7.
    Ht(Mcs),
}

/// Rates of clauses 15 and 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dsss {
    /// 1 Mbit/s, DBPSK, 11-chip Barker code.
    R1,
    /// 2 Mbit/s, DQPSK, 11-chip Barker code.
    R2,
    /// 5.5 Mbit/s, CCK.
    R5_5,
    /// 11 Mbit/s, CCK.
    R11,
}

/// Rates of clause 17.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ofdm {
    /// 6 Mbit/s, BPSK 1/2.
    R6,
    /// 9 Mbit/s, BPSK 3/4.
    R9,
    /// 12 Mbit/s, QPSK 1/2.
    R12,
    /// 18 Mbit/s, QPSK 3/4.
    R18,
    /// 24 Mbit/s, 16-QAM 1/2.
    R24,
    /// 36 Mbit/s, 16-QAM 3/4.
    R36,
    /// 48 Mbit/s, 64-QAM 2/3.
    R48,
    /// 54 Mbit/s, 64-QAM 3/4.
    R54,
}

/// A modulation and coding scheme of one spatial stream: 0 to 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mcs(u8);

impl Mcs {
    /// All of one spatial stream.
    pub const ALL: [Mcs; 8] = [Mcs(0), Mcs(1), Mcs(2), Mcs(3), Mcs(4), Mcs(5), Mcs(6), Mcs(7)];

    /// None beyond 7: those have more than one spatial stream.
    pub fn new(index: u8) -> Option<Self> {
        (index <= 7).then_some(Self(index))
    }

    /// 0 to 7.
    pub fn index(self) -> u8 {
        self.0
    }
}

impl Dsss {
    /// All, slowest first.
    pub const ALL: [Dsss; 4] = [Dsss::R1, Dsss::R2, Dsss::R5_5, Dsss::R11];

    /// Units of 100 kbit/s, in which all four are whole.
    fn hundreds_of_kbit(self) -> u64 {
        [10, 20, 55, 110][self as usize]
    }
}

impl Ofdm {
    /// All, slowest first.
    pub const ALL: [Ofdm; 8] =
        [Ofdm::R6, Ofdm::R9, Ofdm::R12, Ofdm::R18, Ofdm::R24, Ofdm::R36, Ofdm::R48, Ofdm::R54];

    /// N_DBPS, data bits a symbol of 4 µs (table 17-4).
    pub(crate) fn bits_per_symbol(self) -> u64 {
        [24, 36, 48, 72, 96, 144, 192, 216][self as usize]
    }
}

impl Mcs {
    /// N_DBPS, data bits a symbol (table 19-27).
    pub(crate) fn bits_per_symbol(self) -> u64 {
        [26, 52, 78, 104, 156, 208, 234, 260][usize::from(self.0)]
    }
}

/// What the receiver's demodulator has to tell apart: what decides which errors a given SINR brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Modulation {
    /// 1 Mbit/s of clause 15.
    Dbpsk,
    /// 2 Mbit/s of clause 15.
    Dqpsk,
    /// 5.5 Mbit/s of clause 16.
    Cck5_5,
    /// 11 Mbit/s of clause 16.
    Cck11,
    /// BPSK, code rate 1/2.
    Bpsk12,
    /// BPSK, code rate 3/4.
    Bpsk34,
    /// QPSK, code rate 1/2.
    Qpsk12,
    /// QPSK, code rate 3/4.
    Qpsk34,
    /// 16-QAM, code rate 1/2.
    Qam16R12,
    /// 16-QAM, code rate 3/4.
    Qam16R34,
    /// 64-QAM, code rate 2/3.
    Qam64R23,
    /// 64-QAM, code rate 3/4.
    Qam64R34,
    /// 64-QAM, code rate 5/6.
    Qam64R56,
}

impl Modulation {
    /// All of them, in the order of their numbers.
    pub const ALL: [Modulation; 13] = {
        use Modulation::*;
        [
            Dbpsk, Dqpsk, Cck5_5, Cck11, Bpsk12, Bpsk34, Qpsk12, Qpsk34, Qam16R12, Qam16R34, Qam64R23,
            Qam64R34, Qam64R56,
        ]
    };
}

impl Rate {
    /// How many there are.
    pub(crate) const COUNT: usize = Dsss::ALL.len() + Ofdm::ALL.len() + Mcs::ALL.len();

    /// All of them, in the order of their numbers.
    pub(crate) fn all() -> [Rate; Self::COUNT] {
        const FIRST_HT: usize = Dsss::ALL.len() + Ofdm::ALL.len();
        std::array::from_fn(|i| match i {
            0..4 => Rate::Dsss(Dsss::ALL[i]),
            4..FIRST_HT => Rate::Ofdm(Ofdm::ALL[i - Dsss::ALL.len()]),
            _ => Rate::Ht(Mcs::ALL[i - FIRST_HT]),
        })
    }

    /// Its place among all rates, to look up what is worked out once for each.
    #[inline(always)]
    pub(crate) fn number(self) -> usize {
        match self {
            Rate::Dsss(rate) => rate as usize,
            Rate::Ofdm(rate) => Dsss::ALL.len() + rate as usize,
            Rate::Ht(mcs) => Dsss::ALL.len() + Ofdm::ALL.len() + usize::from(mcs.0),
        }
    }

    /// The rate's modulation and code.
    pub fn modulation(self) -> Modulation {
        use Modulation::*;
        const OFDM: [Modulation; 8] =
            [Bpsk12, Bpsk34, Qpsk12, Qpsk34, Qam16R12, Qam16R34, Qam64R23, Qam64R34];
        const HT: [Modulation; 8] =
            [Bpsk12, Qpsk12, Qpsk34, Qam16R12, Qam16R34, Qam64R23, Qam64R34, Qam64R56];
        match self {
            Rate::Dsss(rate) => [Dbpsk, Dqpsk, Cck5_5, Cck11][rate as usize],
            Rate::Ofdm(rate) => OFDM[rate as usize],
            Rate::Ht(mcs) => HT[usize::from(mcs.0)],
        }
    }

    /// The rate in Mbit/s; that of an MCS with the long guard interval.
    pub fn mbit(self) -> f64 {
        match self {
            Rate::Dsss(rate) => rate.hundreds_of_kbit() as f64 / 10.0,
            Rate::Ofdm(rate) => rate.bits_per_symbol() as f64 / 4.0,
            Rate::Ht(mcs) => mcs.bits_per_symbol() as f64 / 4.0,
        }
    }

    /// The rate without high throughput that decides which control frame answers a frame at this one (the non-HT
    /// reference rate of 10.7).
    pub fn reference(self) -> Rate {
        use Ofdm::*;
        match self {
            Rate::Ht(mcs) => Rate::Ofdm([R6, R12, R18, R24, R36, R48, R54, R54][usize::from(mcs.0)]),
            other => other,
        }
    }

    /// The rate of the control frame that answers a frame at this rate: the highest of the basic rates that is not
    /// faster and of the same kind (DSSS or OFDM); if there is none, the highest mandatory one (10.7.6.5.2).
    pub fn answer(self, basic: &[Rate]) -> Rate {
        let heard = self.reference();
        let fits = |rate: &Rate| match (rate, heard) {
            (Rate::Dsss(r), Rate::Dsss(h)) => *r <= h,
            (Rate::Ofdm(r), Rate::Ofdm(h)) => *r <= h,
            _ => false,
        };
        let highest = |rates: &[Rate]| rates.iter().copied().filter(fits).max();
        let (dsss, ofdm) = (Dsss::ALL.map(Rate::Dsss), [Ofdm::R6, Ofdm::R12, Ofdm::R24].map(Rate::Ofdm));
        highest(basic).or_else(|| highest(&dsss)).or_else(|| highest(&ofdm)).unwrap_or(heard)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Ht(mcs) => write!(f, "MCS {}", mcs.0),
            other => write!(f, "{} Mbit/s", other.mbit()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_standard() {
        assert_eq!(Dsss::ALL.map(|r| Rate::Dsss(r).mbit()), [1.0, 2.0, 5.5, 11.0]);
        let ofdm = [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];
        assert_eq!(Ofdm::ALL.map(|r| Rate::Ofdm(r).mbit()), ofdm);
        let ht = [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0];
        assert_eq!(Mcs::ALL.map(|m| Rate::Ht(m).mbit()), ht);
    }

    #[test]
    fn answers_go_at_the_highest_basic_rate_that_is_not_faster() {
        let dsss = [Rate::Dsss(Dsss::R1), Rate::Dsss(Dsss::R2)];
        let ofdm = [Ofdm::R6, Ofdm::R12, Ofdm::R24].map(Rate::Ofdm);
        let answers = |basic: &[Rate]| Ofdm::ALL.map(|r| Rate::Ofdm(r).answer(basic).mbit());
        assert_eq!(Dsss::ALL.map(|r| Rate::Dsss(r).answer(&dsss).mbit()), [1.0, 2.0, 2.0, 2.0]);
        assert_eq!(answers(&ofdm), [6.0, 6.0, 12.0, 12.0, 24.0, 24.0, 24.0, 24.0]);
        // The mandatory rates, where no basic rate is of the frame's kind.
        assert_eq!(answers(&dsss), [6.0, 6.0, 12.0, 12.0, 24.0, 24.0, 24.0, 24.0]);
        assert_eq!(answers(&[Rate::Ofdm(Ofdm::R6)]), [6.0; 8]);
        let ht = Mcs::ALL.map(|m| Rate::Ht(m).answer(&ofdm).mbit());
        assert_eq!(ht, [6.0, 12.0, 12.0, 24.0, 24.0, 24.0, 24.0, 24.0]);
    }

    #[test]
    fn numbers_are_places_among_all_rates() {
        assert_eq!(Rate::all().map(Rate::number), std::array::from_fn(|i| i));
    }

    #[test]
    fn there_are_eight_schemes_of_one_stream() {
        assert_eq!(Mcs::new(7).map(Mcs::index), Some(7));
        assert_eq!(Mcs::new(8), None);
    }

    #[test]
    fn rates_are_shown_as_people_call_them() {
        assert_eq!(Rate::Dsss(Dsss::R5_5).to_string(), "5.5 Mbit/s");
        assert_eq!(Rate::Ht(Mcs::ALL[3]).to_string(), "MCS 3");
    }
}
