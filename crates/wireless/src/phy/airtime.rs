//! How long a frame is on the air (TXTIME), and what of that is preamble and header.

use super::rate::{Dsss, Rate};
use crate::Span;

/// The preamble of clause 16. Frames of OFDM have one of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preamble {
    /// 192 µs with the header, all at 1 Mbit/s.
    #[default]
    Long,
    /// 96 µs with the header, which goes at 2 Mbit/s. Frames at 1 Mbit/s have the long one all the same (16.2.2.3).
    Short,
}

/// The guard interval of high throughput (19.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GuardInterval {
    /// 800 ns: a symbol lasts 4 µs.
    #[default]
    Long,
    /// 400 ns: a symbol lasts 3.6 µs.
    Short,
}

/// Where the channel lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Band {
    /// 2.4 GHz: frames of OFDM and HT are followed by 6 µs of signal extension (18.3.2.4, 19.3.2), during which nothing
    /// is sent and the medium counts as busy.
    #[default]
    Ghz2_4,
    /// 5 GHz.
    Ghz5,
}

/// What decides the length of a frame on the air besides its rate and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phy {
    /// Of frames of DSSS and CCK.
    pub preamble: Preamble,
    /// Of frames of high throughput.
    pub guard: GuardInterval,
    /// Of the channel.
    pub band: Band,
}

impl Phy {
    /// TXTIME of a frame of `bytes` bytes (PSDU: with MAC header and FCS) at `rate`.
    pub fn airtime(&self, rate: Rate, bytes: u32) -> Span {
        let bits = 8 * u64::from(bytes);
        self.header(rate)
            + match rate {
                // 16.3.4: the last microsecond is a whole one.
                Rate::Dsss(Dsss::R1) => Span::us(bits),
                Rate::Dsss(Dsss::R2) => Span::us(bits.div_ceil(2)),
                Rate::Dsss(Dsss::R5_5) => Span::us((2 * bits).div_ceil(11)),
                Rate::Dsss(Dsss::R11) => Span::us(bits.div_ceil(11)),
                // 17.4.3: 16 bits of SERVICE, 6 of tail.
                Rate::Ofdm(r) => {
                    Span::us(4) * (16 + bits + 6).div_ceil(r.bits_per_symbol()) + self.extension()
                }
                // 19.4.3, mixed format, one encoder, no STBC: with the short guard interval the end is rounded up to
                // whole symbols of 4 µs.
                Rate::Ht(mcs) => {
                    let symbols = (16 + bits + 6).div_ceil(mcs.bits_per_symbol());
                    let data = match self.guard {
                        GuardInterval::Long => Span::us(4) * symbols,
                        GuardInterval::Short => (Span::ns(3_600) * symbols).up_to_tick(Span::us(4)),
                    };
                    data + self.extension()
                }
            }
    }

    /// Preamble and header of a frame at `rate`.
    pub fn header(&self, rate: Rate) -> Span {
        match rate {
            // 16.2.2.2 and 16.2.2.3: 128 + 16 bits of preamble and 48 of header at 1 Mbit/s; or 56 + 16 bits at 1
            // Mbit/s and 48 at 2 Mbit/s.
            Rate::Dsss(Dsss::R1) => Span::us(192),
            Rate::Dsss(_) => match self.preamble {
                Preamble::Long => Span::us(192),
                Preamble::Short => Span::us(96),
            },
            // Table 17-5: preamble 16 µs, SIGNAL 4 µs.
            Rate::Ofdm(_) => Span::us(20),
            // Table 19-6, mixed format: L-STF 8, L-LTF 8, L-SIG 4, HT-SIG 8, HT-STF 4, one HT-LTF 4 µs.
            Rate::Ht(_) => Span::us(36),
        }
    }

    /// Bits of a header that have to be read for the rest to be understood, and the rate they go at: the PLCP header,
    /// SIGNAL, or L-SIG with HT-SIG.
    pub fn header_bits(&self, rate: Rate) -> (u32, Rate) {
        match rate {
            Rate::Dsss(Dsss::R1) => (48, Rate::Dsss(Dsss::R1)),
            Rate::Dsss(_) => match self.preamble {
                Preamble::Long => (48, Rate::Dsss(Dsss::R1)),
                Preamble::Short => (48, Rate::Dsss(Dsss::R2)),
            },
            Rate::Ofdm(_) => (24, Rate::Ofdm(super::Ofdm::R6)),
            Rate::Ht(_) => (72, Rate::Ofdm(super::Ofdm::R6)),
        }
    }

    fn extension(&self) -> Span {
        match self.band {
            Band::Ghz2_4 => Span::us(6),
            Band::Ghz5 => Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rate::{Mcs, Ofdm};
    use super::*;

    fn phy(preamble: Preamble, guard: GuardInterval, band: Band) -> Phy {
        Phy { preamble, guard, band }
    }

    #[test]
    fn dsss_and_cck_take_what_the_standard_says() {
        let long = Phy::default();
        let short = Phy { preamble: Preamble::Short, ..long };
        // An ACK, 14 bytes: 192 + 112/1, 192 + 112/2, 192 + 112/5.5 = 20.36 → 21, 192 + 112/11 = 10.18 → 11.
        let acks = [304, 248, 213, 203];
        // Short: 96 in place of 192, but for 1 Mbit/s, which knows none.
        let short_acks = [304, 152, 117, 107];
        for (i, rate) in Dsss::ALL.into_iter().enumerate() {
            assert_eq!(long.airtime(Rate::Dsss(rate), 14), Span::us(acks[i]));
            assert_eq!(short.airtime(Rate::Dsss(rate), 14), Span::us(short_acks[i]));
        }
        // 1,500 bytes of IP, 8 of LLC, 28 of MAC: 12,288 bits.
        let frames = [192 + 12_288, 192 + 6_144, 192 + 2_235, 192 + 1_118];
        for (rate, expected) in Dsss::ALL.into_iter().zip(frames) {
            assert_eq!(long.airtime(Rate::Dsss(rate), 1536), Span::us(expected));
        }
    }

    #[test]
    fn ofdm_takes_what_the_standard_says() {
        let a = Phy { band: Band::Ghz5, ..Phy::default() };
        // An ACK: 16 + 112 + 6 = 134 bits: 6, 4, 3, 2, 2, 1, 1 and 1 symbols.
        let acks = [44, 36, 32, 28, 28, 24, 24, 24];
        // 1,536 bytes: 12,310 bits: 513, 342, 257, 171, 129, 86, 65 and 57 symbols.
        let frames = [2072, 1388, 1048, 704, 536, 364, 280, 248];
        for (i, rate) in Ofdm::ALL.into_iter().enumerate() {
            assert_eq!(a.airtime(Rate::Ofdm(rate), 14), Span::us(acks[i]));
            assert_eq!(a.airtime(Rate::Ofdm(rate), 1536), Span::us(frames[i]));
            // ERP-OFDM adds the signal extension.
            assert_eq!(Phy::default().airtime(Rate::Ofdm(rate), 1536), Span::us(frames[i] + 6));
        }
    }

    #[test]
    fn high_throughput_takes_what_the_standard_says() {
        let long = phy(Preamble::Long, GuardInterval::Long, Band::Ghz5);
        let short = phy(Preamble::Long, GuardInterval::Short, Band::Ghz5);
        // 1,538 bytes (QoS header): 12,326 bits at 26 … 260 bits a symbol: 475, 238, 159, 119, 80, 60, 53, 48 symbols.
        let symbols = [475, 238, 159, 119, 80, 60, 53, 48];
        // Of 3.6 µs: 1710, 856.8, 572.4, 428.4, 288, 216, 190.8, 172.8, rounded up to 4 µs.
        let rounded = [1712, 860, 576, 432, 288, 216, 192, 176];
        for (i, mcs) in Mcs::ALL.into_iter().enumerate() {
            assert_eq!(long.airtime(Rate::Ht(mcs), 1538), Span::us(36 + 4 * symbols[i]));
            assert_eq!(short.airtime(Rate::Ht(mcs), 1538), Span::us(36 + rounded[i]));
            let in_2_4 = Phy { band: Band::Ghz2_4, ..long };
            assert_eq!(in_2_4.airtime(Rate::Ht(mcs), 1538), Span::us(42 + 4 * symbols[i]));
        }
    }
}
