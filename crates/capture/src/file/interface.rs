//! An interface that packets were captured at: what its packets begin with, and how its clock counts.

use truckee_tcp::Time;

/// What the first bytes of a packet are: a LINKTYPE number (<https://www.tcpdump.org/linktypes.html>).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: a protocol family in the capturing machine's byte order.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// PPP, with or without its framing.
    pub const PPP: Self = Self(9);
    /// Raw IP, as some systems write it.
    pub const RAW_OLD: Self = Self(12);
    /// Raw IP, as OpenBSD writes it.
    pub const RAW_BSD: Self = Self(14);
    /// PPP in HDLC-like framing, or Cisco's HDLC.
    pub const PPP_HDLC: Self = Self(50);
    /// A session of PPP over Ethernet.
    pub const PPPOE: Self = Self(51);
    /// Raw IP.
    pub const RAW: Self = Self(101);
    /// Cisco's HDLC.
    pub const CISCO_HDLC: Self = Self(104);
    /// OpenBSD loopback: a protocol family in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux cooked, version 1.
    pub const LINUX_SLL: Self = Self(113);
    /// PPP as pppd has it: the direction in place of the address.
    pub const PPP_PPPD: Self = Self(166);
    /// PPP behind a byte that tells the direction.
    pub const PPP_WITH_DIRECTION: Self = Self(204);
    /// Cisco's HDLC behind a byte that tells the direction.
    pub const CISCO_HDLC_WITH_DIRECTION: Self = Self(205);
    /// Raw IPv4.
    pub const IPV4: Self = Self(228);
    /// Raw IPv6.
    pub const IPV6: Self = Self(229);
    /// IP over InfiniBand.
    pub const IPOIB: Self = Self(242);
    /// Linux cooked, version 2.
    pub const LINUX_SLL2: Self = Self(276);
}

/// How the time stamps of an interface count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    /// Units in a second.
    per_second: u64,
    /// Seconds to add.
    offset: i64,
}

impl Clock {
    pub const MICROSECONDS: Self = Self { per_second: 1_000_000, offset: 0 };
    pub const NANOSECONDS: Self = Self { per_second: 1_000_000_000, offset: 0 };

    /// By the options `if_tsresol` and `if_tsoffset` (draft-ietf-opsawg-pcapng, section 4.2); `None`: no such
    /// resolution can be.
    pub fn new(resolution: u8, offset: i64) -> Option<Self> {
        let per_second = match resolution {
            0..=19 => 10u64.pow(u32::from(resolution)),
            0x80..=0xbf => 1 << (resolution & 0x7f),
            _ => return None,
        };
        Some(Self { per_second, offset })
    }

    /// Nanoseconds since 1970 of `units`. Stamps that a clock of nanoseconds cannot hold count as its first or last.
    pub fn time(self, units: u64) -> Time {
        let nanos = match self.per_second {
            1_000_000_000 => i128::from(units),
            1_000_000 => i128::from(units) * 1000,
            n => (u128::from(units) * 1_000_000_000 / u128::from(n)) as i128,
        };
        let time = nanos + i128::from(self.offset) * 1_000_000_000;
        Time::ns(time.clamp(0, i128::from(u64::MAX)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_count_in_powers_of_ten_and_of_two() {
        let time = |resolution, offset, units| Clock::new(resolution, offset).map(|c| c.time(units));
        assert_eq!(time(6, 0, 1_500_000), Some(Time::ns(1_500_000_000)));
        assert_eq!(time(9, 0, 7), Some(Time::ns(7)));
        assert_eq!(time(0, 0, 2), Some(Time::ns(2_000_000_000)));
        assert_eq!(time(12, 0, 2_000), Some(Time::ns(2)));
        assert_eq!(time(0x80 | 10, 0, 1536), Some(Time::ns(1_500_000_000)));
        assert_eq!(time(6, 3, 1), Some(Time::ns(3_000_001_000)));
        assert_eq!(time(6, -3, 1), Some(Time::ns(0)));
        assert_eq!(time(0, i64::MAX, u64::MAX), Some(Time::MAX));
        assert_eq!((time(20, 0, 1), time(0xc0, 0, 1)), (None, None));
    }
}
