//! A curve of bounded size: when it is full, every second point is left out from then on, and of those before.

use crate::flow::quantiles::Quantiles;

/// Points of a curve, where nobody asks for more or fewer.
const MOST: usize = 4096;

/// A curve.
#[derive(Debug, Clone)]
pub struct Line {
    points: Vec<(f64, f64)>,
    most: usize,
    stride: u64,
    seen: u64,
    last: Option<(f64, f64)>,
    /// ∫ y dx, and where x began.
    area: f64,
    from: f64,
    /// How long which values held, ns.
    held: Quantiles,
}

impl Default for Line {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl Line {
    /// One of so many points, two at least.
    pub fn of(most: usize) -> Self {
        Self {
            points: Vec::new(),
            most: most.max(2),
            stride: 1,
            seen: 0,
            last: None,
            area: 0.0,
            from: 0.0,
            held: Quantiles::default(),
        }
    }

    /// Whether points were left out.
    pub fn is_thinned(&self) -> bool {
        self.stride > 1
    }

    /// Adds a point; x never falls.
    pub fn add(&mut self, x: f64, y: f64) {
        match self.last.replace((x, y)) {
            Some((before, held)) => {
                self.area += held * (x - before);
                self.held.add_weighted(held as u64, ((x - before) * 1e9) as u64);
            }
            None => self.from = x,
        }
        if self.seen.is_multiple_of(self.stride) {
            if self.points.len() == self.most {
                self.stride *= 2;
                let mut k = 0;
                self.points.retain(|_| {
                    k += 1;
                    k % 2 == 1
                });
            }
            if self.seen.is_multiple_of(self.stride) {
                self.points.push((x, y));
            }
        }
        self.seen += 1;
    }

    /// The points that are kept, and the last.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let mut points = self.points.clone();
        points.extend(self.last.filter(|last| self.points.last() != Some(last)));
        points
    }

    /// Its last value.
    pub fn last(&self) -> Option<f64> {
        self.last.map(|(_, y)| y)
    }

    /// Its mean over x, each value holding until the next.
    pub fn mean(&self) -> Option<f64> {
        let (x, y) = self.last?;
        Some(if x > self.from { self.area / (x - self.from) } else { y })
    }

    /// The value that it was above for half of the time and below for half, right to 0.4 %: one that is far off for a
    /// moment does not change it, as it does the mean.
    pub fn median(&self) -> Option<f64> {
        let (x, y) = self.last?;
        Some(if x > self.from { self.held.at(0.5)? as f64 } else { y })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_keeps_its_shape_and_its_size() {
        let mut line = Line::default();
        (0..1_000_000).for_each(|k| line.add(f64::from(k), f64::from(k % 2)));
        let points = line.points();
        assert!(points.len() <= MOST + 1 && points.len() > MOST / 2, "{}", points.len());
        assert_eq!((points[0].0, points[points.len() - 1].0), (0.0, 999_999.0));
        assert!(points.windows(2).all(|w| w[0].0 < w[1].0));
        assert!((line.mean().unwrap() - 0.5).abs() < 1e-6);
        assert_eq!(line.last(), Some(1.0));
        let mut one = Line::default();
        assert_eq!(one.mean(), None);
        one.add(3.0, 7.0);
        assert_eq!((one.mean(), one.median(), one.points()), (Some(7.0), Some(7.0), vec![(3.0, 7.0)]));
    }

    #[test]
    fn one_value_that_is_far_off_rules_the_mean_and_not_the_median() {
        let mut line = Line::default();
        (0..100).for_each(|k| line.add(f64::from(k), if k == 50 { 1e9 } else { 200.0 }));
        assert!(line.mean().unwrap() > 1e7 && line.median() == Some(200.0), "{:?}", line.median());
    }
}
