//! Lines of what changes in steps, as fine as the page.

use super::scale::Scale;

/// A value that holds until the next one, as pixels, up to the end of the run. Of the points that share a pixel column
/// the first, the last and the extremes stay: more cannot be seen, and a run has hundreds of thousands.
pub(super) fn steps(
    points: impl Iterator<Item = (f64, f64)>,
    end: f64,
    x: &Scale,
    y: &Scale,
) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::new();
    let mut column: Vec<(f64, f64)> = Vec::new();
    let mut flush = |column: &mut Vec<(f64, f64)>| {
        let (Some(&first), Some(&last)) = (column.first(), column.last()) else { return };
        if let Some(&(_, held)) = line.last() {
            line.push((first.0, held));
        }
        let low = column.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
        let high = column.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        line.extend([first.1, low, high, last.1].map(|value| (first.0, value)));
        line.dedup();
        column.clear();
    };
    for (t, value) in points {
        let at = (x.pixel(t).round(), y.pixel(value));
        if column.first().is_some_and(|first| first.0 != at.0) {
            flush(&mut column);
        }
        column.push(at);
    }
    flush(&mut column);
    if let Some(&(at, held)) = line.last()
        && x.pixel(end) > at
    {
        line.push((x.pixel(end), held));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_long_as_the_page_is_wide_however_many_points_there_are() {
        let scale = |pixels| Scale::covering([0.0, 100.0].into_iter(), false, true, pixels);
        let (x, y) = (scale((0.0, 800.0)), scale((200.0, 0.0)));
        let points = (0..1_000_000).map(|k| (k as f64 / 1e4, f64::from(k % 100)));
        let line = steps(points, 100.0, &x, &y);
        assert!(line.len() < 5 * 801, "{}", line.len());
        assert!(line.windows(2).all(|w| w[0].0 <= w[1].0), "time does not run backwards");
        let lowest = line.iter().map(|p| p.1).fold(0.0, f64::max);
        assert!((lowest - y.pixel(0.0)).abs() < 1e-9, "extremes stay");
    }
}
