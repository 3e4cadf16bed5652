//! From numbers to pixels, and where the ticks are.

/// Maps numbers to pixels along one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    pixels: (f64, f64),
    log: bool,
}

impl Scale {
    /// Covers all `values` with some air around, from 0 where `zero` and the axis is linear.
    pub(super) fn covering(
        values: impl Iterator<Item = f64>,
        log: bool,
        zero: bool,
        pixels: (f64, f64),
    ) -> Self {
        let transformed = |x: f64| if log { x.log10() } else { x };
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in values.map(transformed).filter(|x| x.is_finite()) {
            from = from.min(x);
            to = to.max(x);
        }
        if from > to {
            (from, to) = (0.0, 1.0);
        }
        if zero && !log && from > 0.0 {
            from = 0.0;
        }
        let width = if to > from { to - from } else { to.abs().max(1.0) };
        let stays = |end: f64| zero && !log && end == 0.0;
        let air = 0.05 * width;
        let from = if stays(from) { from } else { from - air };
        Self { from, to: to + air, pixels, log }
    }

    /// Covers the positions 0 … n − 1 of categories, half a step more on each side.
    pub(super) fn categories(n: usize, pixels: (f64, f64)) -> Self {
        Self { from: -0.5, to: n as f64 - 0.5, pixels, log: false }
    }

    /// The pixel of `x`.
    pub(super) fn pixel(&self, x: f64) -> f64 {
        let x = if self.log { x.log10() } else { x };
        let share = (x - self.from) / (self.to - self.from);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// Whether it is logarithmic.
    pub(super) fn is_log(&self) -> bool {
        self.log
    }

    /// The pixel where the axis begins.
    pub(super) fn bottom(&self) -> f64 {
        self.pixels.0
    }

    /// Ticks with their labels, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        if self.log { self.log_ticks(wanted) } else { self.linear_ticks(wanted) }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let step = nice_step((self.to - self.from) / wanted as f64);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        let digits = (-step.log10().floor()).max(0.0) as usize;
        (first..=last).map(|k| (k as f64 * step, short(k as f64 * step, step, digits))).collect()
    }

    /// Decades; within a span of less than two decades also 2 and 5, of less than one also 3 and 7.
    fn log_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let (first, last) = (self.from.floor() as i32, self.to.ceil() as i32);
        let decades = (self.to - self.from).ceil() as usize;
        let every = decades.div_ceil(wanted.max(1)).max(1) as i32;
        let within: &[f64] = match self.to - self.from {
            span if span < 1.0 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            span if span < 2.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let ticks: Vec<f64> = (first..=last)
            .filter(|d| d.rem_euclid(every) == 0)
            .flat_map(|d| within.iter().map(move |m| m * 10f64.powi(d)))
            .filter(|x| (self.from..=self.to).contains(&x.log10()))
            .collect();
        // One way of writing for all: 10⁻⁴ next to 0.001 makes a reader count.
        let raised = ticks.iter().any(|&x| !(1e-3..1e5).contains(&(x * 1.000_000_1)));
        ticks.into_iter().map(|x| (x, if raised { as_power(x) } else { power(x) })).collect()
    }
}

/// The 1, 2 or 5 times a power of ten that is not below `least`.
fn nice_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= least * 0.999);
    factor.unwrap_or(10.0) * power
}

fn short(x: f64, step: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    // 0.1 s read better than 1e-1 s; a millionth does not.
    if (1e-4..1e6).contains(&step) && x.abs() < 1e7 {
        format!("{x:.digits$}").replace('-', "−")
    } else {
        format!("{x:.1e}").replace('-', "−")
    }
}

/// A number as short as it goes.
pub(super) fn plain(x: f64) -> String {
    if x == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e7).contains(&x.abs()) {
        let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(x);
        rounded.to_string().replace('-', "−")
    } else {
        power(x)
    }
}

/// Numbers as short as they go, and if one is a power of ten and all can be, all as such.
pub(super) fn alike(values: &[f64]) -> Vec<String> {
    let is_short = |x: f64| {
        let mantissa = x / 10f64.powf((x.log10() + 1e-9).floor());
        x > 0.0 && (mantissa - mantissa.round()).abs() < 1e-6
    };
    let raised =
        values.iter().any(|&x| x > 0.0 && !(1e-3..1e7).contains(&x)) && values.iter().all(|&x| is_short(x));
    values.iter().map(|&x| if raised { as_power(x) } else { plain(x) }).collect()
}

/// 0.001 as it is, 1e-5 as 10⁻⁵, 5e-5 as 5·10⁻⁵.
fn power(x: f64) -> String {
    if (1e-3..1e5).contains(&(x * 1.000_000_1)) {
        let shortest = format!("{:.3}", x);
        return match shortest.contains('.') {
            true => shortest.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => shortest,
        };
    }
    as_power(x)
}

/// 1e-2 as 10⁻², 5e-5 as 5·10⁻⁵, and 1 as 1.
fn as_power(x: f64) -> String {
    let exponent = (x.log10() + 1e-9).floor();
    let mantissa = (x / 10f64.powf(exponent)).round();
    let raised: String = format!("{exponent}")
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            c => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c as usize - '0' as usize).unwrap_or(c),
        })
        .collect();
    if exponent == 0.0 {
        return format!("{mantissa}");
    }
    if mantissa == 1.0 { format!("10{raised}") } else { format!("{mantissa}·10{raised}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: f64, to: f64, log: bool) -> Vec<String> {
        let scale = Scale { from, to, pixels: (0.0, 100.0), log };
        scale.ticks(5).into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(0.0, 43.0, false), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels(0.4, 2.1, false), ["0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(labels(-0.02, 0.02, false), ["−0.02", "−0.01", "0", "0.01", "0.02"]);
        assert_eq!(labels(-5.0, -1.0, true), ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]);
        assert_eq!(labels(0.0, 1.1, true), ["1", "2", "5", "10"]);
    }

    #[test]
    fn ticks_at_values_are_written_alike_where_that_loses_nothing() {
        assert_eq!(alike(&[1e-4, 1e-3, 5e-2]), ["10⁻⁴", "10⁻³", "5·10⁻²"]);
        assert_eq!(alike(&[0.01, 0.1, 0.25]), ["0.01", "0.1", "0.25"]);
        assert_eq!(alike(&[0.5, 1.0, 20.0]), ["0.5", "1", "20"]);
    }

    #[test]
    fn all_values_are_inside() {
        for log in [false, true] {
            let scale = Scale::covering([1.0, 3.0, 50.0].into_iter(), log, true, (0.0, 100.0));
            assert!(scale.pixel(1.0) >= 0.0 && scale.pixel(50.0) <= 100.0);
            assert!(scale.pixel(1.0) < scale.pixel(3.0));
        }
        let one = Scale::covering([7.0].into_iter(), false, false, (100.0, 0.0));
        assert!((0.0..=100.0).contains(&one.pixel(7.0)));
    }
}
