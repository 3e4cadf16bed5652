//! What `--vary` says: which part of a scenario takes which values.
//!
//! ```text
//! axis   = path "=" item ("," item)*
//! item   = value | number ".." number | number ".." number ":" ("lin" | "log") points
//! ```
//!
//! `a..b` are the whole numbers from a to b; with `:lin5` five points evenly spaced, with `:log13` thirteen evenly
//! spaced logarithms, ends included. Both ends of a range carry the same unit or none. Commas within braces, brackets
//! or quotes belong to the value. `seed=…` is not an axis: it says which replications are run.
//!
//! Not for: what the paths and values mean; the scenario's reader decides that.

use crate::Error;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// More values than this on one axis are taken for a mistake.
const MOST_VALUES: usize = 100_000;

/// What one `--vary` asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Vary {
    /// A dimension of the grid.
    Axis(Axis),
    /// The replications.
    Seeds(Vec<u64>),
}

/// A dimension of a sweep's grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The path it varies, or a name of its own where its values set several paths.
    pub name: String,
    /// Its values, in order.
    pub values: Vec<Value>,
}

/// One value of an axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// What tables and figures call it: the value as written.
    pub label: String,
    /// The value as a number in SI units (bit/s, s, bytes; segments, packets and bandwidth-delay
    /// products as such), if it is one.
    pub number: Option<f64>,
    /// What it sets in the scenario: paths and values.
    pub sets: Vec<(String, String)>,
}

impl Axis {
    /// Whether all values are numbers without a unit.
    pub fn is_plain_numbers(&self) -> bool {
        self.values.iter().all(|v| v.label.parse::<f64>().is_ok())
    }

    /// The SI unit, or the name of what is counted, that all its values have; `None` where they differ or are no
    /// numbers. Empty for pure numbers.
    pub fn unit(&self) -> Option<&'static str> {
        let mut units = self.values.iter().map(|v| quantity(&v.label).map(|q| q.si_unit()));
        let first = units.next()??;
        units.all(|unit| unit == Some(first)).then_some(first)
    }

    /// The index of the value called `label`, or of the value that is the same number.
    pub fn position(&self, label: &str) -> Option<usize> {
        let exact = self.values.iter().position(|v| v.label == label);
        exact.or_else(|| {
            let wanted = quantity(label)?.si();
            self.values.iter().position(|v| v.number.is_some_and(|n| same(n, wanted)))
        })
    }
}

/// Equal but for the rounding of a unit's conversion.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

/// Reads the text of one `--vary`.
pub fn parse(text: &str) -> Result<Vary, Error> {
    let fail = |reason: String| Error::Vary { text: text.to_owned(), reason };
    let (path, values) = text
        .split_once('=')
        .ok_or_else(|| fail("expected path=values, for example channel.per=1e-5..1e-1:log13".to_owned()))?;
    let path = path.trim();
    if path.is_empty() || !path.chars().all(|c| c.is_alphanumeric() || "._-".contains(c)) {
        return Err(fail(format!("\"{path}\" is no path; a path is names and numbers with dots between")));
    }
    let mut labels = Vec::new();
    for item in split_items(values).map_err(fail)? {
        expand(item, &mut labels).map_err(fail)?;
    }
    if path == "seed" {
        return seeds(&labels).map(Vary::Seeds).map_err(fail);
    }
    if let Some(twice) = first_repeated(&labels) {
        return Err(fail(format!("the value {twice} is there twice")));
    }
    let value = |label: String| Value {
        number: quantity(&label).map(|q| q.si()),
        sets: vec![(path.to_owned(), label.clone())],
        label,
    };
    Ok(Vary::Axis(Axis { name: path.to_owned(), values: labels.into_iter().map(value).collect() }))
}

fn seeds(labels: &[String]) -> Result<Vec<u64>, String> {
    let seeds: Vec<u64> = labels
        .iter()
        .map(|l| l.parse().map_err(|_| format!("\"{l}\" is no seed; seeds are whole numbers from 0 on")))
        .collect::<Result<_, _>>()?;
    match first_repeated(labels) {
        Some(twice) => Err(format!("the seed {twice} is there twice")),
        None => Ok(seeds),
    }
}

fn first_repeated(labels: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    labels.iter().find(|l| !seen.insert(*l))
}

/// Splits at the commas that are not within braces, brackets or quotes.
fn split_items(text: &str) -> Result<Vec<&str>, String> {
    let mut items = Vec::new();
    let mut open = Vec::new();
    let mut quote = None;
    let mut from = 0;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => open.push('}'),
            (None, '[') => open.push(']'),
            (None, '}' | ']') if open.last() == Some(&c) => {
                open.pop();
            }
            (None, '}' | ']') => return Err(format!("\"{c}\" closes nothing")),
            (None, ',') if open.is_empty() => {
                items.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    if let Some(missing) = quote.or(open.pop()) {
        return Err(format!("a closing {missing} is missing"));
    }
    items.push(text[from..].trim());
    match items.iter().any(|item| item.is_empty()) {
        true => Err("a value is empty".to_owned()),
        false => Ok(items),
    }
}

/// Adds the values of one item: itself, or the points of a range.
fn expand(item: &str, out: &mut Vec<String>) -> Result<(), String> {
    let Some((from, rest)) = item.split_once("..") else {
        out.push(item.to_owned());
        return Ok(());
    };
    let Some(from) = quantity(from) else {
        // Not a range: a file name such as ../loss.trace.
        out.push(item.to_owned());
        return Ok(());
    };
    let (to, spacing) = match rest.split_once(':') {
        Some((to, spacing)) => (to, Some(spacing)),
        None => (rest, None),
    };
    let to = quantity(to).ok_or_else(|| format!("\"{to}\" is no number"))?;
    if from.unit != to.unit {
        return Err(format!("both ends of {item} need the same unit"));
    }
    if from.number > to.number || (from.number == to.number && spacing.is_some()) {
        return Err(format!("{item} does not rise"));
    }
    let points = match spacing {
        None => whole_numbers(from.number, to.number, item)?,
        Some(spacing) => spaced(from.number, to.number, spacing)?,
    };
    out.extend(points.into_iter().map(|x| format!("{x}{}", from.unit)));
    Ok(())
}

fn whole_numbers(from: f64, to: f64, item: &str) -> Result<Vec<f64>, String> {
    if from.fract() != 0.0 || to.fract() != 0.0 {
        return Err(format!("{item} are not whole numbers; say how many points: {item}:lin5 or {item}:log5"));
    }
    let count = to - from + 1.0;
    if count > MOST_VALUES as f64 {
        return Err(format!("{item} are {count} values, more than {MOST_VALUES}; say how many: {item}:lin5"));
    }
    Ok((0..count as usize).map(|k| from + k as f64).collect())
}

fn spaced(from: f64, to: f64, spacing: &str) -> Result<Vec<f64>, String> {
    let wrong = || format!("\":{spacing}\" is no spacing; \":lin5\" and \":log5\" are");
    let (kind, points) = spacing.split_at_checked(3).ok_or_else(wrong)?;
    let points: usize = points.parse().map_err(|_| wrong())?;
    if !(2..=MOST_VALUES).contains(&points) {
        return Err(format!("{points} points; from 2 to {MOST_VALUES} can be"));
    }
    let step = |k: usize| k as f64 / (points - 1) as f64;
    let point: Box<dyn Fn(usize) -> f64> = match kind {
        "lin" => Box::new(|k| from + (to - from) * step(k)),
        "log" if from > 0.0 => Box::new(|k| (from.ln() + (to / from).ln() * step(k)).exp()),
        "log" => return Err("a logarithmic range starts above 0".to_owned()),
        _ => return Err(wrong()),
    };
    Ok((0..points)
        .map(|k| match k {
            0 => from,
            k if k == points - 1 => to,
            k => twelve_digits(point(k)),
        })
        .collect())
}

/// Rounds to twelve digits, so that 1e-4 is not 0.00010000000000000002.
fn twelve_digits(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantity<'a> {
    number: f64,
    unit: &'a str,
}

/// Units and what one is in SI: seconds, bit/s, bytes; counts stay counts.
const UNITS: &[(&str, f64)] = &[
    ("", 1.0),
    ("%", 0.01),
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("bdp", 1.0),
    ("segments", 1.0),
    ("packets", 1.0),
];

impl Quantity<'_> {
    fn si(&self) -> f64 {
        let factor = UNITS.iter().find(|(unit, _)| *unit == self.unit).map_or(1.0, |(_, f)| *f);
        self.number * factor
    }

    fn si_unit(&self) -> &'static str {
        match self.unit {
            "bdp" => "bdp",
            "segments" => "segments",
            "packets" => "packets",
            "" | "%" => "",
            unit if unit.ends_with("bit/s") => "bit/s",
            unit if unit.ends_with('B') => "B",
            _ => "s",
        }
    }
}

/// The number of `10Mbit/s`, `0.5`, `10%` in SI units; counts and bandwidth-delay products as such.
pub(crate) fn number_si(text: &str) -> Option<f64> {
    quantity(text).map(|q| q.si())
}

/// Reads `10Mbit/s`, `0.5`, `1e-5`.
fn quantity(text: &str) -> Option<Quantity<'_>> {
    let text = text.trim();
    UNITS.iter().filter(|(unit, _)| text.ends_with(unit)).find_map(|(unit, _)| {
        let digits = text[..text.len() - unit.len()].trim_end();
        let plain = digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        let number = digits.parse::<f64>().ok().filter(|x| plain && x.is_finite())?;
        Some(Quantity { number, unit })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(text: &str) -> Vec<String> {
        match parse(text).unwrap() {
            Vary::Axis(axis) => axis.values.into_iter().map(|v| v.label).collect(),
            Vary::Seeds(seeds) => seeds.iter().map(u64::to_string).collect(),
        }
    }

    fn message(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn lists_keep_their_words_and_their_order() {
        assert_eq!(labels("flow.sender=tahoe, reno,newreno"), ["tahoe", "reno", "newreno"]);
    }

    #[test]
    fn logarithmic_ranges_hit_the_decades_exactly() {
        let got = labels("channel.per=1e-5..1e-1:log13");
        assert_eq!(got.len(), 13);
        assert_eq!((got[0].as_str(), got[3].as_str(), got[12].as_str()), ("0.00001", "0.0001", "0.1"));
    }

    #[test]
    fn linear_and_whole_ranges_include_both_ends() {
        assert_eq!(labels("x=0..1:lin5"), ["0", "0.25", "0.5", "0.75", "1"]);
        assert_eq!(labels("x=1..4"), ["1", "2", "3", "4"]);
        assert_eq!(labels("seed=7..7"), ["7"]);
        assert_eq!(labels("x=0,1..2,7"), ["0", "1", "2", "7"]);
    }

    #[test]
    fn units_pass_through_and_count_in_si() {
        let Vary::Axis(axis) = parse("link.0.rate=1Mbit/s,10Mbit/s,500 kbit/s").unwrap() else { panic!() };
        assert_eq!(axis.values[1].number, Some(1e7));
        assert_eq!(axis.values[2].number, Some(5e5));
        assert_eq!(labels("link.0.delay=10ms..30ms:lin3"), ["10ms", "20ms", "30ms"]);
        assert_eq!(axis.position("1e7bit/s"), Some(1));
        assert_eq!(axis.position("2Mbit/s"), None);
    }

    #[test]
    fn a_table_with_commas_is_one_value() {
        let got = labels("flow.sender={ recovery = \"sack\", growth = [1, 2] },reno");
        assert_eq!(got, ["{ recovery = \"sack\", growth = [1, 2] }", "reno"]);
    }

    #[test]
    fn seeds_are_no_axis() {
        assert_eq!(parse("seed=1..3,9").unwrap(), Vary::Seeds(vec![1, 2, 3, 9]));
        assert!(message("seed=1,one").contains("\"one\" is no seed"));
        assert!(message("seed=1,1").contains("twice"));
    }

    #[test]
    fn paths_of_files_are_no_ranges() {
        assert_eq!(labels("channel.file=../a.trace,./b..c"), ["../a.trace", "./b..c"]);
    }

    #[test]
    fn mistakes_are_told_apart() {
        for (text, part) in [
            ("nothing", "expected path=values"),
            ("=1,2", "is no path"),
            ("x=", "a value is empty"),
            ("x=1,,2", "a value is empty"),
            ("x={a,b", "a closing } is missing"),
            ("x=a}", "closes nothing"),
            ("x=\"a,b", "a closing \" is missing"),
            ("x=1..z", "\"z\" is no number"),
            ("x=3..1", "does not rise"),
            ("x=1..1:lin3", "does not rise"),
            ("x=1ms..2s:lin3", "same unit"),
            ("x=0.5..2", "not whole numbers"),
            ("x=0..1:log3", "starts above 0"),
            ("x=1..2:cub3", "is no spacing"),
            ("x=1..2:é", "is no spacing"),
            ("x=1..2:lin1", "1 points"),
            ("x=1..1e9", "more than"),
            ("x=1,1", "twice"),
        ] {
            let got = message(text);
            assert!(got.contains(part), "{text}: {got}");
        }
    }

    proptest! {
        #[test]
        fn ranges_rise_from_end_to_end(a in 1e-9f64..1e9, ratio in 1.001f64..1e6, points in 2usize..50, log: bool) {
            let b = a * ratio;
            let text = format!("p={a}..{b}:{}{points}", if log { "log" } else { "lin" });
            let Vary::Axis(axis) = parse(&text).unwrap() else { panic!() };
            let numbers: Vec<f64> = axis.values.iter().map(|v| v.number.unwrap()).collect();
            prop_assert_eq!(numbers.len(), points);
            prop_assert_eq!((numbers[0], numbers[points - 1]), (a, b));
            prop_assert!(numbers.windows(2).all(|w| w[0] < w[1]));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn lists_of_words_come_back(words in proptest::collection::hash_set("[a-z]{1,8}", 1..10)) {
            let words: Vec<String> = words.into_iter().collect();
            prop_assert_eq!(labels(&format!("p={}", words.join(","))), words);
        }
    }
}
