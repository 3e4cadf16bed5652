//! Quantities with units: `"10Mbit/s"`, `"50ms"`, `"64kB"`, `"84packets"`, `"80m"`, `"-82dBm"`; read exactly, written so that reading gives
//! the same value, and refused with the text to write when the unit is missing or misspelt.
//! Not for: which values make sense where; ranges are the decoders' work.

use crate::error::{Error, short};
use crate::nearest::nearest;
use truckee_tcp::Span;

/// A number with a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// A time, nanoseconds.
    Time(Span),
    /// A rate, bit/s.
    Rate(f64),
    /// A size, bytes.
    Bytes(u64),
    /// A number of packets.
    Packets(f64),
    /// A number of segments of the flow's MSS.
    Segments(f64),
    /// A length, metres.
    Length(f64),
    /// A speed, metres a second.
    Speed(f64),
    /// A power, dBm.
    Power(f64),
    /// A ratio of powers, dB.
    Ratio(f64),
    /// A frequency, Hz.
    Frequency(f64),
}

/// What a quantity measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Time.
    Time,
    /// Rate.
    Rate,
    /// Size in bytes.
    Size,
    /// Number of packets.
    Packets,
    /// Number of segments.
    Segments,
    /// Length.
    Length,
    /// Speed.
    Speed,
    /// Power.
    Power,
    /// Ratio of powers.
    Ratio,
    /// Frequency.
    Frequency,
}

/// A unit: its name, its dimension, and its size as `multiple · 10^power` of ns, bit/s, bytes or pieces.
struct Unit {
    name: &'static str,
    dimension: Dimension,
    multiple: u64,
    power: i32,
}

const fn unit(name: &'static str, dimension: Dimension, multiple: u64, power: i32) -> Unit {
    Unit { name, dimension, multiple, power }
}

/// Every unit there is, the largest of a dimension first, so that formatting finds the shortest text.
const UNITS: &[Unit] = &[
    unit("min", Dimension::Time, 60, 9),
    unit("s", Dimension::Time, 1, 9),
    unit("ms", Dimension::Time, 1, 6),
    unit("us", Dimension::Time, 1, 3),
    unit("ns", Dimension::Time, 1, 0),
    unit("Gbit/s", Dimension::Rate, 1, 9),
    unit("Mbit/s", Dimension::Rate, 1, 6),
    unit("kbit/s", Dimension::Rate, 1, 3),
    unit("bit/s", Dimension::Rate, 1, 0),
    unit("GB", Dimension::Size, 1, 9),
    unit("MB", Dimension::Size, 1, 6),
    unit("kB", Dimension::Size, 1, 3),
    unit("GiB", Dimension::Size, 1 << 30, 0),
    unit("MiB", Dimension::Size, 1 << 20, 0),
    unit("KiB", Dimension::Size, 1 << 10, 0),
    unit("B", Dimension::Size, 1, 0),
    unit("packets", Dimension::Packets, 1, 0),
    unit("packet", Dimension::Packets, 1, 0),
    unit("segments", Dimension::Segments, 1, 0),
    unit("segment", Dimension::Segments, 1, 0),
    unit("km", Dimension::Length, 1, 3),
    unit("m", Dimension::Length, 1, 0),
    unit("cm", Dimension::Length, 1, -2),
    unit("m/s", Dimension::Speed, 1, 0),
    unit("dBm", Dimension::Power, 1, 0),
    unit("dB", Dimension::Ratio, 1, 0),
    unit("GHz", Dimension::Frequency, 1, 9),
    unit("MHz", Dimension::Frequency, 1, 6),
    unit("kHz", Dimension::Frequency, 1, 3),
    unit("Hz", Dimension::Frequency, 1, 0),
];

/// Spellings that are common elsewhere, in lower case, and the unit meant.
const SPELLINGS: &[(&str, &str)] = &[
    ("bps", "bit/s"),
    ("kbps", "kbit/s"),
    ("kb/s", "kbit/s"),
    ("mbps", "Mbit/s"),
    ("mb/s", "Mbit/s"),
    ("mbit", "Mbit/s"),
    ("gbps", "Gbit/s"),
    ("gb/s", "Gbit/s"),
    ("gbit", "Gbit/s"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("usec", "us"),
    ("µs", "us"),
    ("μs", "us"),
    ("minute", "min"),
    ("minutes", "min"),
    ("byte", "B"),
    ("bytes", "B"),
    ("octets", "B"),
    ("pkt", "packets"),
    ("pkts", "packets"),
    ("p", "packets"),
    ("seg", "segments"),
    ("segs", "segments"),
    ("mss", "segments"),
    ("metre", "m"),
    ("metres", "m"),
    ("meter", "m"),
    ("meters", "m"),
    ("mps", "m/s"),
    ("dbm", "dBm"),
    ("db", "dB"),
    ("ghz", "GHz"),
    ("mhz", "MHz"),
];

impl Dimension {
    /// What a text of this dimension looks like: `a rate such as "10Mbit/s"`.
    pub fn example(self) -> &'static str {
        match self {
            Dimension::Time => "a time such as \"50ms\"",
            Dimension::Rate => "a rate such as \"10Mbit/s\"",
            Dimension::Size => "a size such as \"64kB\"",
            Dimension::Packets => "a number of packets such as \"84packets\"",
            Dimension::Segments => "a number of segments such as \"10segments\"",
            Dimension::Length => "a length such as \"80m\"",
            Dimension::Speed => "a speed such as \"1.5m/s\"",
            Dimension::Power => "a power such as \"15dBm\"",
            Dimension::Ratio => "a ratio such as \"10dB\"",
            Dimension::Frequency => "a frequency such as \"2.412GHz\"",
        }
    }

    /// The unit suggested to someone who wrote none.
    pub fn usual_unit(self) -> &'static str {
        match self {
            Dimension::Time => "s",
            Dimension::Rate => "Mbit/s",
            Dimension::Size => "kB",
            Dimension::Packets => "packets",
            Dimension::Segments => "segments",
            Dimension::Length => "m",
            Dimension::Speed => "m/s",
            Dimension::Power => "dBm",
            Dimension::Ratio => "dB",
            Dimension::Frequency => "GHz",
        }
    }

    /// Whether less than nothing makes sense: places lie on both sides of the origin, decibels of one.
    fn is_signed(self) -> bool {
        matches!(self, Dimension::Length | Dimension::Power | Dimension::Ratio)
    }
}

/// Reads a quantity of any dimension. `None` if the text is no number followed by a known unit; white space between
/// the two is allowed. Values are rounded to whole nanoseconds and bytes.
pub fn parse(text: &str) -> Option<Quantity> {
    let (number, name) = split(text.trim())?;
    let unit = UNITS.iter().find(|unit| unit.name == name)?;
    quantity(number, unit)
}

/// A quantity's number as it is written, and the name of its unit.
pub fn parts(text: &str) -> Option<(f64, &'static str)> {
    let (number, name) = split(text.trim())?;
    let unit = UNITS.iter().find(|unit| unit.name == name)?;
    Some((number.parse().ok()?, unit.name))
}

/// Reads a quantity of one of `dimensions`. The error says what was expected and, as its help, what to write;
/// `suggest` is the unit proposed where there is none. The error has no place yet.
pub fn parse_as(text: &str, dimensions: &[Dimension], suggest: &str) -> Result<Quantity, Error> {
    let expected = dimensions.iter().map(|d| d.example()).collect::<Vec<_>>().join(", or ");
    let fail = |message: String, help: Option<String>| {
        Err(Error { message, place: None, expected: Some(expected.clone()), help })
    };
    let shown = short(text);
    let Some((number, name)) = split(text.trim()) else {
        return fail(format!("\"{shown}\" does not begin with a number"), None);
    };
    if name.is_empty() {
        return fail(format!("\"{shown}\" has no unit"), Some(format!("write \"{number}{suggest}\"")));
    }
    let fits = |unit: &&Unit| dimensions.contains(&unit.dimension);
    match UNITS.iter().find(|unit| unit.name == name) {
        Some(unit) if fits(&unit) => {
            if number.starts_with('-') && !unit.dimension.is_signed() {
                return fail(format!("\"{shown}\" is negative"), None);
            }
            quantity(number, unit).ok_or_else(|| Error {
                message: format!("\"{shown}\" is too large"),
                place: None,
                expected: Some("less than 2^64 nanoseconds (584 years), bit/s or bytes".to_owned()),
                help: None,
            })
        }
        Some(_) => fail(format!("\"{shown}\" has the wrong unit"), None),
        None => {
            let meant = meant(name, dimensions);
            let help = meant.map(|unit| format!("write \"{number}{unit}\""));
            fail(format!("\"{}\" is no unit", short(name)), help)
        }
    }
}

/// The unit of one of `dimensions` that `name` was probably meant to be.
fn meant(name: &str, dimensions: &[Dimension]) -> Option<&'static str> {
    let names = || UNITS.iter().filter(|unit| dimensions.contains(&unit.dimension)).map(|unit| unit.name);
    let lower = name.to_lowercase();
    SPELLINGS
        .iter()
        .find(|(other, unit)| *other == lower && names().any(|known| known == *unit))
        .map(|(_, unit)| *unit)
        .or_else(|| nearest(name, names()))
}

/// Splits a text into its number and the rest without the white space between; `None` if it begins with no number.
fn split(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let start = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let mut end = digits(start);
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if end == start {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let after = digits(end + 1 + sign);
        if after > end + 1 + sign {
            end = after;
        }
    }
    Some((&text[..end], text[end..].trim_start()))
}

fn quantity(number: &str, unit: &Unit) -> Option<Quantity> {
    if number.starts_with('-') && !unit.dimension.is_signed() {
        return None;
    }
    let exact = || whole(number, unit);
    Some(match unit.dimension {
        Dimension::Time => Quantity::Time(Span::ns(exact()?)),
        Dimension::Size => Quantity::Bytes(exact()?),
        Dimension::Rate => Quantity::Rate(decimal(number, unit.power)?),
        Dimension::Packets => Quantity::Packets(decimal(number, unit.power)?),
        Dimension::Segments => Quantity::Segments(decimal(number, unit.power)?),
        Dimension::Length => Quantity::Length(decimal(number, unit.power)?),
        Dimension::Speed => Quantity::Speed(decimal(number, unit.power)?),
        Dimension::Power => Quantity::Power(decimal(number, unit.power)?),
        Dimension::Ratio => Quantity::Ratio(decimal(number, unit.power)?),
        Dimension::Frequency => Quantity::Frequency(decimal(number, unit.power)?),
    })
}

/// In whole base units: exactly where the number is whole, else rounded to the nearest.
fn whole(number: &str, unit: &Unit) -> Option<u64> {
    if let Ok(n) = number.parse::<u64>() {
        let scale = u64::try_from(unit.power).ok().and_then(|power| 10u64.checked_pow(power as u32))?;
        return n.checked_mul(unit.multiple)?.checked_mul(scale);
    }
    let value = (decimal(number, unit.power)? * unit.multiple as f64).round();
    (value < u64::MAX as f64).then_some(value as u64)
}

/// `number · 10^power`, rounded once: the power goes into the text before it is read.
fn decimal(number: &str, power: i32) -> Option<f64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let exponent = exponent.parse::<i32>().ok()?.checked_add(power)?;
    let value: f64 = format!("{mantissa}e{exponent}").parse().ok()?;
    value.is_finite().then_some(value)
}

/// A time in the largest unit that divides it, minutes excepted: `"1500ms"`.
pub fn format_time(time: Span) -> String {
    format_whole(time.nanos(), Dimension::Time)
}

/// A size in the largest unit that divides it: `"64kB"`, `"64KiB"`.
pub fn format_bytes(bytes: u64) -> String {
    format_whole(bytes, Dimension::Size)
}

/// A rate in bit/s, in the largest unit that divides it: `"10Mbit/s"`.
pub fn format_rate(rate: f64) -> String {
    if rate >= 1.0 && rate.fract() == 0.0 && rate < 1e18 {
        format_whole(rate as u64, Dimension::Rate)
    } else {
        format!("{rate}bit/s")
    }
}

/// A real number of base units, which are metres, metres a second, decibels or hertz: `"2.5m"`.
pub fn format_real(value: f64, dimension: Dimension) -> String {
    let unit = if dimension == Dimension::Frequency { "Hz" } else { dimension.usual_unit() };
    format!("{value}{unit}")
}

/// In the unit that makes the number smallest while it stays whole; minutes are left to people.
fn format_whole(value: u64, dimension: Dimension) -> String {
    let in_unit = |unit: &Unit| {
        let size = unit.multiple * 10u64.pow(unit.power.unsigned_abs());
        value.is_multiple_of(size).then_some((value / size, unit.name))
    };
    let units = UNITS.iter().filter(|unit| unit.dimension == dimension && unit.name != "min");
    match units.filter_map(in_unit).min_by_key(|(number, _)| *number) {
        Some((number, name)) if value > 0 => format!("{number}{name}"),
        _ => format!("{value}{}", dimension.usual_unit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str, dimension: Dimension) -> Error {
        parse_as(text, &[dimension], dimension.usual_unit()).unwrap_err()
    }

    #[test]
    fn quantities_are_read_exactly() {
        assert_eq!(parse("10Mbit/s"), Some(Quantity::Rate(1e7)));
        assert_eq!(parse("1.1Gbit/s"), Some(Quantity::Rate(1.1e9)));
        assert_eq!(parse("0.1ms"), Some(Quantity::Time(Span::us(100))));
        assert_eq!(parse(".2s"), Some(Quantity::Time(Span::ms(200))));
        assert_eq!(parse(".5Mbit/s"), Some(Quantity::Rate(5e5)));
        assert_eq!((parse(".s"), parse("-.2s")), (None, None));
        assert_eq!(parse("2 min"), Some(Quantity::Time(Span::s(120))));
        assert_eq!(parse("1e3us"), Some(Quantity::Time(Span::ms(1))));
        assert_eq!(parse("64KiB"), Some(Quantity::Bytes(65_536)));
        assert_eq!(parse("1.5kB"), Some(Quantity::Bytes(1500)));
        assert_eq!(parse("1segment"), Some(Quantity::Segments(1.0)));
        assert_eq!(parse("-82dBm"), Some(Quantity::Power(-82.0)));
        assert_eq!(parse("2.412GHz"), Some(Quantity::Frequency(2.412e9)));
        assert_eq!(parse("-5m/s"), None);
        assert_eq!(parse("10"), None);
        assert_eq!(parse("10parsec"), None);
    }

    #[test]
    fn a_missing_unit_is_named_with_the_text_to_write() {
        let error = refused("10", Dimension::Rate);
        assert_eq!(error.help.as_deref(), Some("write \"10Mbit/s\""));
        assert!(error.message.contains("\"10\" has no unit"));
    }

    #[test]
    fn spellings_from_elsewhere_are_understood_but_not_accepted() {
        assert_eq!(refused("10Mbps", Dimension::Rate).help.as_deref(), Some("write \"10Mbit/s\""));
        assert_eq!(refused("10mbit/s", Dimension::Rate).help.as_deref(), Some("write \"10Mbit/s\""));
        assert_eq!(refused("5 seconds", Dimension::Time).help.as_deref(), Some("write \"5s\""));
        assert_eq!(refused("5µs", Dimension::Time).help.as_deref(), Some("write \"5us\""));
        assert_eq!(refused("10kb", Dimension::Size).help.as_deref(), Some("write \"10kB\""));
    }

    #[test]
    fn wrong_dimension_sign_and_overflow_are_told_apart() {
        assert!(refused("10ms", Dimension::Rate).message.contains("wrong unit"));
        assert!(refused("-1Mbit/s", Dimension::Rate).message.contains("negative"));
        assert!(refused("1e30s", Dimension::Time).message.contains("too large"));
        assert!(refused("fast", Dimension::Rate).message.contains("number"));
    }

    #[test]
    fn formatting_takes_the_largest_unit_that_divides() {
        assert_eq!(format_time(Span::ms(1500)), "1500ms");
        assert_eq!(format_time(Span::ZERO), "0s");
        assert_eq!(format_rate(1e7), "10Mbit/s");
        assert_eq!(format_bytes(65_536), "64KiB");
        assert_eq!(format_bytes(64_000), "64kB");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(n in any::<u64>(), rate in 1e-3..1e15f64) {
            prop_assert_eq!(parse(&format_time(Span::ns(n))), Some(Quantity::Time(Span::ns(n))));
            prop_assert_eq!(parse(&format_bytes(n)), Some(Quantity::Bytes(n)));
            prop_assert_eq!(parse(&format_rate(rate)), Some(Quantity::Rate(rate)));
        }

        #[test]
        fn so_is_what_has_a_sign(x in -1e9..1e9f64) {
            prop_assert_eq!(parse(&format_real(x, Dimension::Length)), Some(Quantity::Length(x)));
            prop_assert_eq!(parse(&format_real(x, Dimension::Power)), Some(Quantity::Power(x)));
            prop_assert_eq!(parse(&format_real(x, Dimension::Ratio)), Some(Quantity::Ratio(x)));
            let (speed, hertz) = (Quantity::Speed(x.abs()), Quantity::Frequency(x.abs()));
            prop_assert_eq!(parse(&format_real(x.abs(), Dimension::Speed)), Some(speed));
            prop_assert_eq!(parse(&format_real(x.abs(), Dimension::Frequency)), Some(hertz));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,20}") {
            let _ = parse(&text);
            let _ = parse_as(&text, &[Dimension::Time, Dimension::Size], "s");
        }
    }
}
