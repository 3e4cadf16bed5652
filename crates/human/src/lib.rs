//! How quantities read: three significant figures and a unit of the right size.
//!
//! Not for: JSON and CSV, which carry SI units and every digit.

/// What stands where there is no value.
pub const NONE: &str = "–";

const RATES: [(f64, &str); 4] = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")];
const TIMES: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
const SIZES: [(f64, &str); 4] = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")];

/// The scales of an SI unit; none for pure numbers.
fn scales(unit: &str) -> &'static [(f64, &'static str)] {
    match unit {
        "bit/s" => &RATES,
        "s" => &TIMES,
        "B" => &SIZES,
        _ => &[],
    }
}

/// The scale in which `x` reads best: its size in the SI unit, and its name.
pub fn scale_of(x: f64, unit: &str) -> (f64, &'static str) {
    let scales = scales(unit);
    let fits = scales.iter().find(|(size, _)| x.abs() >= *size);
    match (fits, x == 0.0) {
        (_, true) => scales.iter().find(|(size, _)| *size == 1.0).copied().unwrap_or((1.0, "")),
        (Some(scale), _) => *scale,
        (None, _) => scales.last().copied().unwrap_or((1.0, "")),
    }
}

/// Digits behind the point that make three significant figures of `x`.
fn decimals(x: f64) -> usize {
    let magnitude = x.abs().log10().floor();
    if magnitude.is_finite() { (2.0 - magnitude).clamp(0.0, 9.0) as usize } else { 0 }
}

/// A value in an SI unit: `9.52 Mbit/s`, `71.2 ms`, `0.0123`.
pub fn quantity(x: f64, unit: &str) -> String {
    let (size, name) = scale_of(x, unit);
    let x = x / size;
    if scales(unit).is_empty() {
        let number = if x != 0.0 && !(1e-4..1e7).contains(&x.abs()) {
            format!("{x:.2e}")
        } else {
            plain(x, decimals(x))
        };
        return if unit.is_empty() { number } else { format!("{number} {unit}") };
    }
    format!("{} {name}", plain(x, decimals(x)))
}

/// A mean with the half-width of its interval, both in the same unit: `9.52 ± 0.03 Mbit/s`.
pub fn with_interval(mean: f64, half_width: Option<f64>, unit: &str) -> String {
    let Some(half_width) = half_width else { return quantity(mean, unit) };
    let (size, name) = scale_of(mean, unit);
    let (mean, half_width) = (mean / size, half_width / size);
    // The interval shows how many of the mean's digits mean something.
    let digits = if half_width > 0.0 {
        decimals(half_width).saturating_sub(1).max(decimals(mean))
    } else {
        decimals(mean)
    };
    let digits = digits.min(decimals(mean) + 2);
    let name = if scales(unit).is_empty() { unit } else { name };
    let space = if name.is_empty() { "" } else { " " };
    format!("{mean:.digits$} ± {half_width:.digits$}{space}{name}")
}

/// A measured value with its interval, which shows both its ends where it is not symmetric: `2.00 ± 0.50 s`,
/// `2 s (1.90 s … 3 s)`.
pub fn estimate(mean: Option<f64>, interval: Option<(f64, f64)>, unit: &str) -> String {
    let Some(mean) = mean else { return NONE.to_owned() };
    let Some((low, high)) = interval else { return quantity(mean, unit) };
    let (below, above) = (mean - low, high - mean);
    let width = below + above;
    if width <= 1e-9 * mean.abs() {
        with_interval(mean, Some(0.0), unit)
    } else if (below - above).abs() <= 0.05 * width {
        with_interval(mean, Some(width / 2.0), unit)
    } else {
        format!("{} ({} … {})", quantity(mean, unit), quantity(low, unit), quantity(high, unit))
    }
}

/// An optional value.
pub fn optional(x: Option<f64>, unit: &str) -> String {
    x.map_or_else(|| NONE.to_owned(), |x| quantity(x, unit))
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    let x = 100.0 * share;
    format!("{} %", plain(x, decimals(x).min(3)))
}

/// A whole number, digits in groups of three.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) && digits.len() > 4 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// So many of these things: `1 flow`, `2 flows`.
pub fn many(n: usize, thing: &str) -> String {
    format!("{} {thing}{}", count(n as u64), if n == 1 { "" } else { "s" })
}

/// How many runs a number stands on, with what is to be said of them: `10 (2 without a value, 1 invalid)`.
pub fn runs(n: usize, without: usize, invalid: Option<usize>) -> String {
    let doubts = [(without, "without a value"), (invalid.unwrap_or(0), "invalid")];
    let doubts = doubts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    let doubts: Vec<_> = doubts.collect();
    match doubts.is_empty() {
        true => (n + without).to_string(),
        false => format!("{} ({})", n + without, doubts.join(", ")),
    }
}

fn plain(x: f64, digits: usize) -> String {
    if x.fract() == 0.0 && x.abs() < 1e7 { format!("{x:.0}") } else { format!("{x:.digits$}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_has_three_figures_and_a_fitting_unit() {
        let cases = [
            (9_523_456.0, "bit/s", "9.52 Mbit/s"),
            (999.0, "bit/s", "999 bit/s"),
            (0.0712, "s", "71.2 ms"),
            (300.0, "s", "300 s"),
            (0.0, "s", "0 s"),
            (1.5e-10, "s", "0.150 ns"),
            (20e6, "B", "20 MB"),
            (0.0123, "", "0.0123"),
            (1e-6, "", "1.00e-6"),
            (31.24, "packets", "31.2 packets"),
        ];
        for (x, unit, expected) in cases {
            assert_eq!(quantity(x, unit), expected);
        }
    }

    #[test]
    fn an_interval_shares_the_unit_of_its_mean() {
        assert_eq!(with_interval(9.5e6, Some(30e3), "bit/s"), "9.500 ± 0.030 Mbit/s");
        assert_eq!(with_interval(9.5e6, None, "bit/s"), "9.50 Mbit/s");
        assert_eq!(with_interval(0.5, Some(0.25), ""), "0.500 ± 0.250");
        assert_eq!(with_interval(12.0, Some(0.0), "s"), "12.0 ± 0.0 s");
    }

    #[test]
    fn an_interval_that_is_not_symmetric_shows_both_ends() {
        assert_eq!(estimate(Some(2.0), Some((1.5, 2.5)), "s"), "2.00 ± 0.50 s");
        assert_eq!(estimate(Some(2.0), Some((1.9, 3.0)), "s"), "2 s (1.90 s … 3 s)");
        assert_eq!((estimate(None, None, "s"), estimate(Some(2.0), None, "s")), ("–".into(), "2 s".into()));
    }

    #[test]
    fn counts_are_grouped_from_five_digits_on() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1234), "1234");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(many(1, "flow"), "1 flow");
        assert_eq!(many(2, "flow"), "2 flows");
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.001234), "0.123 %");
        assert_eq!(percent(0.0), "0 %");
    }
}
