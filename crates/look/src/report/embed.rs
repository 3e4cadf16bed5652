//! Figures as text within a page: JSON, with the numbers of each array as base64. Arrays that are the same are there once.
//!
//! Most numbers are whole multiples of something small: times of nanoseconds, sequence numbers of bytes. Of these the
//! differences are kept, each in as few bytes as it needs (seven bits a byte, the sign in the lowest bit), before the
//! base64 `v` and how many make one: `v1000000000:…`. Others are floating-point numbers, little-endian, 32 bits wide
//! where they stay below ten thousand, as windows and rates in their figures' units do: `32:…`, `64:…`.

use super::model::{Figure, Grid, Map, Page, Series};
use super::thin;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use std::collections::HashMap;

/// Points of one series at most; see [`thin`].
pub(super) const MOST_POINTS: usize = 100_000;
/// Points of all series at most: a page of some thirty megabytes.
const MOST_IN_ALL: usize = 2_000_000;

/// What the scripts of a page read.
#[derive(Debug, Serialize)]
pub(super) struct Embedded<'a> {
    title: &'a str,
    /// As the module says.
    arrays: Vec<String>,
    figures: Vec<EmbeddedFigure<'a>>,
    grids: Vec<&'a Grid>,
    maps: Vec<&'a Map>,
}

#[derive(Debug, Serialize)]
struct EmbeddedFigure<'a> {
    #[serde(flatten)]
    figure: &'a Figure,
    /// For each series its arrays.
    data: Vec<Arrays>,
}

/// Places in [`Embedded::arrays`].
#[derive(Debug, Serialize)]
struct Arrays {
    x: usize,
    y: usize,
    half: Option<usize>,
    /// Whether points were left out.
    thinned: bool,
}

impl<'a> Embedded<'a> {
    pub(super) fn new(page: &'a Page) -> Self {
        let figures = || page.sections.iter().flat_map(|s| &s.figures);
        let long = figures().flat_map(|f| &f.series).filter(|s| !s.whole).count().max(1);
        let most = (MOST_IN_ALL / long).clamp(2_000, MOST_POINTS);
        let mut store = Store::default();
        let embedded = figures()
            .map(|figure| EmbeddedFigure {
                figure,
                data: figure.series.iter().map(|s| store.series(s, most)).collect(),
            })
            .collect();
        Self {
            title: &page.title,
            arrays: store.arrays,
            figures: embedded,
            grids: page.sections.iter().filter_map(|s| s.grid.as_ref()).collect(),
            maps: page.sections.iter().filter_map(|s| s.map.as_ref()).collect(),
        }
    }

    /// As JSON that a script element can hold: no `<` ends it early.
    #[cfg(feature = "pages")]
    pub(super) fn json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string(self)?.replace('<', "\\u003c"))
    }
}

#[derive(Debug, Default)]
struct Store {
    arrays: Vec<String>,
    places: HashMap<String, usize>,
}

impl Store {
    fn series(&mut self, series: &Series, most: usize) -> Arrays {
        let all = series.whole || series.y.len() <= most || !series.remarks.is_empty();
        let of = |values: &[f64]| -> Vec<f64> {
            if all || values.is_empty() {
                return values.to_vec();
            }
            thin::kept(&series.y, most).into_iter().map(|k| values[k]).collect()
        };
        Arrays {
            x: self.array(&of(&series.x), true),
            y: self.array(&of(&series.y), false),
            half: (!series.half.is_empty()).then(|| self.array(&of(&series.half), false)),
            thinned: !all,
        }
    }

    fn array(&mut self, values: &[f64], exact: bool) -> usize {
        let text = multiples(values).unwrap_or_else(|| floats(values, exact));
        let next = self.arrays.len();
        *self.places.entry(text).or_insert_with_key(|text| {
            self.arrays.push(text.clone());
            next
        })
    }
}

/// Numbers that are whole multiples of 1, 10⁻³, 10⁻⁶ or 10⁻⁹, to twelve digits: their differences.
fn multiples(values: &[f64]) -> Option<String> {
    // What is larger is no longer exact as a multiple.
    const MOST: f64 = 9e15;
    let whole = |scale: f64| -> Option<Vec<i64>> {
        let one = |&v: &f64| {
            let n = (v * scale).round();
            ((n / scale - v).abs() <= 1e-12 * v.abs() && n.abs() < MOST).then_some(n as i64)
        };
        values.iter().map(one).collect()
    };
    let (scale, numbers) = [1.0, 1e3, 1e6, 1e9].into_iter().find_map(|s| Some((s, whole(s)?)))?;
    let mut bytes = Vec::with_capacity(3 * numbers.len());
    let mut before = 0;
    for n in numbers {
        let difference: i64 = n - before;
        let mut rest = ((difference << 1) ^ (difference >> 63)) as u64;
        while rest >= 128 {
            bytes.push((rest & 127) as u8 | 128);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        before = n;
    }
    Some(format!("v{scale}:{}", STANDARD.encode(bytes)))
}

fn floats(values: &[f64], exact: bool) -> String {
    // Seven digits tell two points of a figure apart, but not two sequence numbers far into a transfer.
    if !exact && values.iter().all(|v| v.abs() < 10_000.0) {
        let bytes: Vec<u8> = values.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect();
        return format!("32:{}", STANDARD.encode(bytes));
    }
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    format!("64:{}", STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::model::{Kind, Section};
    use super::*;
    use proptest::prelude::*;

    fn page(series: Vec<Series>) -> Page {
        let figure = Figure { series, ..Figure::default() };
        Page {
            title: "</script>".into(),
            sections: vec![Section { figures: vec![figure], ..Section::default() }],
            ..Page::default()
        }
    }

    /// As the page's script reads it.
    fn numbers(text: &str) -> Vec<f64> {
        let (kind, text) = text.split_once(':').unwrap();
        let bytes = STANDARD.decode(text).unwrap();
        match (kind, kind.strip_prefix('v')) {
            ("32", _) => bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()).into()).collect(),
            ("64", _) => bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
            (_, scale) => {
                let scale: f64 = scale.unwrap().parse().unwrap();
                let ends = bytes.split_inclusive(|b| *b < 128);
                let raw = ends.map(|b| b.iter().rev().fold(0u64, |n, b| n << 7 | u64::from(b & 127)));
                let differences = raw.map(|n| (n >> 1) as i64 ^ -((n & 1) as i64));
                let sums = differences.scan(0, |sum, d| {
                    *sum += d;
                    Some(*sum as f64 / scale)
                });
                sums.collect()
            }
        }
    }

    proptest! {
        #[test]
        fn times_and_sequence_numbers_come_back(
            ns in prop::collection::vec(0u64..1_000_000_000_000, 0..100),
            floats in prop::collection::vec(-1e9..1e9f64, 1..50),
        ) {
            let times: Vec<f64> = ns.iter().map(|&n| n as f64 / 1e9).collect();
            let text = multiples(&times).unwrap();
            prop_assert!(text.starts_with('v'));
            prop_assert_eq!(numbers(&text), times);
            let kilo: Vec<f64> = ns.iter().map(|&n| (n as f64) * 1e-3).collect();
            let near = |(a, b): (f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
            prop_assert!(numbers(&multiples(&kilo).unwrap()).into_iter().zip(&kilo).all(near));
            let mut store = Store::default();
            let place = store.array(&floats, true);
            prop_assert!(numbers(&store.arrays[place]).into_iter().zip(&floats).all(near));
        }
    }

    #[test]
    fn what_is_no_multiple_stays_a_float() {
        assert!(multiples(&[0.1, 1.0 / 3.0]).is_none());
        assert!(multiples(&[f64::NAN]).is_none() && multiples(&[1e300]).is_none());
        assert!(floats(&[1.0 / 3.0], false).starts_with("32:") && floats(&[1e5], false).starts_with("64:"));
    }

    #[test]
    fn the_same_array_is_there_once_and_large_numbers_keep_their_digits() {
        let points = [(0.1, 1.5), (0.2, 2.5)];
        let page = page(vec![
            Series::new("a", Kind::Line, points),
            Series::new("b", Kind::Line, points.map(|(x, y)| (x, 2.0 * y))),
            Series::new("seq", Kind::Points, points.map(|(x, _)| (x, 123_456_789.0))),
        ]);
        let embedded = Embedded::new(&page);
        assert_eq!(embedded.arrays.len(), 4);
        assert_eq!(numbers(&embedded.arrays[0]), [0.1, 0.2]);
        assert_eq!(numbers(&embedded.arrays[3]), [123_456_789.0; 2]);
    }

    #[test]
    fn nothing_in_it_ends_the_script_element() {
        assert!(!Embedded::new(&page(vec![])).json().unwrap().contains('<'));
    }

    #[test]
    fn long_series_are_thinned_and_those_that_count_are_not() {
        let points = || (0..250_000).map(|k| (f64::from(k), f64::from(k % 1000)));
        let page = page(vec![
            Series::new("window", Kind::Step, points()),
            Series::new("drops", Kind::Points, points()).whole(),
        ]);
        let embedded = Embedded::new(&page);
        let len = |k: usize| numbers(&embedded.arrays[k]).len();
        let data = &embedded.figures[0].data;
        assert!(len(data[0].x) <= MOST_POINTS && len(data[0].x) > MOST_POINTS / 2);
        assert_eq!((len(data[1].x), data[0].thinned, data[1].thinned), (250_000, true, false));
    }
}
