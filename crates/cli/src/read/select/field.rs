//! What connections are compared by: its names, and how values are written.

use std::cmp::Ordering;
use truckee_capture::report::Connection;
use truckee_scenario::units::{Dimension, Quantity, parse_as};

pub const FILTER_HELP: &str = "\
Only connections of which this holds, such as `bytes > 1MB and loss > 1%`

Comparisons are FIELD, one of < <= = != >= >, and a value; `and`, `or`, `not` and parentheses join them. What there is no
value of fulfils no comparison. Fields that are words (client, server, state) are compared by = and !=, or by ~, which asks
whether the value is part of them.

Of the connection: number, client, server, state, began and lasted (times; began counts from the first of the capture),
bytes (each once, both ways), to-server and to-client (the same one way), packets. Of the direction that more data went:
rate, rtt-min, rtt (the mean), loss (share of segments sent again), resent, fast, timeouts, spurious, overtaken, segments,
flight (the most), window (the initial one, bytes).";

/// Something that connections are compared by.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub of: Of,
}

/// How a field is read, and what its values are written like.
#[derive(Debug, Clone, Copy)]
pub enum Of {
    Words(fn(&Connection) -> &str),
    /// With the unit that the text of a value has; shares are `1%` or `0.01`, counts plain numbers.
    Number(Scale, fn(&Connection, f64) -> Option<f64>),
}

/// What a number measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Count,
    Share,
    In(Dimension),
}

const BYTES: Scale = Scale::In(Dimension::Size);
const TIME: Scale = Scale::In(Dimension::Time);
const RATE: Scale = Scale::In(Dimension::Rate);

macro_rules! field {
    ($name:literal, words, $of:expr) => {
        Field { name: $name, of: Of::Words($of) }
    };
    ($name:literal, $scale:expr, $of:expr) => {
        Field { name: $name, of: Of::Number($scale, $of) }
    };
}

/// All fields. The number that a reader is given is when the capture began, seconds since 1970.
const FIELDS: [Field; 22] = [
    field!("number", Scale::Count, |c, _| Some(c.number as f64)),
    field!("client", words, |c| &c.client),
    field!("server", words, |c| &c.server),
    field!("state", words, |c| c.state),
    field!("began", TIME, |c, origin| Some(c.began_s - origin)),
    field!("lasted", TIME, |c, _| Some(c.lasted_s)),
    field!("bytes", BYTES, |c, _| Some(c.unique_bytes() as f64)),
    field!("to-server", BYTES, |c, _| Some(c.to_server.unique_bytes as f64)),
    field!("to-client", BYTES, |c, _| Some(c.to_client.unique_bytes as f64)),
    field!("packets", Scale::Count, |c, _| Some((c.to_server.packets + c.to_client.packets) as f64)),
    field!("rate", RATE, |c, _| c.direction(c.main_way()).throughput_bps),
    field!("rtt-min", TIME, |c, _| c.direction(c.main_way()).whole_rtt_s().map(|(min, _)| min)),
    field!("rtt", TIME, |c, _| c.direction(c.main_way()).whole_rtt_s().map(|(_, mean)| mean)),
    field!("loss", Scale::Share, |c, _| c.direction(c.main_way()).resent_share()),
    field!("resent", Scale::Count, |c, _| Some(again(c).segments as f64)),
    field!("fast", Scale::Count, |c, _| Some(again(c).fast_events as f64)),
    field!("timeouts", Scale::Count, |c, _| Some(again(c).timeout_events as f64)),
    field!("spurious", Scale::Count, |c, _| Some(again(c).spurious as f64)),
    field!("overtaken", Scale::Count, |c, _| Some(again(c).overtaken as f64)),
    field!("segments", Scale::Count, |c, _| Some(c.direction(c.main_way()).segments as f64)),
    field!("flight", BYTES, |c, _| Some(c.direction(c.main_way()).most_in_flight_bytes as f64)),
    field!("window", BYTES, |c, _| c.direction(c.main_way()).initial_window_bytes.map(|b| b as f64)),
];

fn again(c: &Connection) -> &truckee_capture::flow::retransmissions::Counts {
    &c.direction(c.main_way()).retransmissions
}

impl Field {
    /// By its name; the error names the nearest.
    pub fn parse(name: &str) -> Result<Self, String> {
        FIELDS.into_iter().find(|field| field.name == name).ok_or_else(|| {
            let alike = |field: &&Field| (1000.0 * strsim::jaro_winkler(name, field.name)) as u32;
            match FIELDS.iter().max_by_key(alike).filter(|best| alike(best) > 700) {
                Some(best) => format!("no field \"{name}\"; did you mean \"{}\"?", best.name),
                None => {
                    let known: Vec<&str> = FIELDS.iter().map(|field| field.name).collect();
                    format!("no field \"{name}\"; there are {}", known.join(", "))
                }
            }
        })
    }

    /// Numbers the largest first, those that there are none of last; words from A to Z.
    pub fn order(&self, a: &Connection, b: &Connection, origin: f64) -> Ordering {
        match self.of {
            Of::Words(of) => of(a).cmp(of(b)),
            Of::Number(_, of) => match (of(a, origin), of(b, origin)) {
                (Some(a), Some(b)) => b.total_cmp(&a),
                (a, b) => b.is_some().cmp(&a.is_some()),
            },
        }
    }
}

impl Scale {
    /// A value as text: SI units, shares as numbers from 0 to 1.
    pub fn read(self, text: &str) -> Result<f64, String> {
        let number = |text: &str, example: &str| match text.trim().parse() {
            Ok(x) if f64::is_finite(x) => Ok(x),
            _ => Err(format!("expected {example}, got \"{text}\"")),
        };
        let dimension = match self {
            Self::Count => return number(text, "a number such as \"3\""),
            Self::Share => {
                return match text.strip_suffix('%') {
                    Some(percent) => number(percent, "a share such as \"1%\"").map(|x| x / 100.0),
                    None => number(text, "a share such as \"1%\" or \"0.01\""),
                };
            }
            Self::In(dimension) => dimension,
        };
        match parse_as(text, &[dimension], dimension.usual_unit()) {
            Ok(Quantity::Time(time)) => Ok(time.seconds()),
            Ok(Quantity::Rate(x)) => Ok(x),
            Ok(Quantity::Bytes(n)) => Ok(n as f64),
            Ok(_) => Err(format!("expected {}, got \"{text}\"", dimension.example())),
            Err(error) => Err(match error.help {
                Some(help) => format!("{}; {help}", error.message),
                None => format!("{}, expected {}", error.message, dimension.example()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_units_of_their_fields() {
        for (scale, text, value) in [
            (BYTES, "1MB", 1e6),
            (TIME, "50 ms", 0.05),
            (RATE, "2Mbit/s", 2e6),
            (Scale::Share, "1%", 0.01),
            (Scale::Share, "0.5", 0.5),
            (Scale::Count, "3", 3.0),
        ] {
            assert_eq!(scale.read(text), Ok(value), "{text}");
        }
        assert!(BYTES.read("1MBit").unwrap_err().contains("MB"), "{:?}", BYTES.read("1MBit"));
        for (scale, text) in [(Scale::Share, "x%"), (Scale::Count, "inf"), (TIME, "3"), (RATE, "")] {
            assert!(scale.read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_unknown_field_is_told_the_nearest() {
        assert!(Field::parse("byte").unwrap_err().contains("did you mean \"bytes\"?"));
        assert!(Field::parse("qqq").unwrap_err().contains("there are number, client"));
    }

    #[test]
    fn the_help_names_every_field() {
        for field in FIELDS {
            assert!(FILTER_HELP.contains(field.name), "{}", field.name);
        }
    }
}
