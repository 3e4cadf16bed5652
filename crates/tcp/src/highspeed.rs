//! The response curve of HighSpeed TCP: how much a window of w segments opens in a round, a(w), and how much of it a
//! loss takes, b(w). Shared by the growth rule and the loss response of that name.
//!
//! Up to Low_Window TCP is what it was: a = 1, b = ½. Beyond, the drop rate p(w) that sustains a window of w falls as a
//! power of w from (Low_Window, (1.2/Low_Window)²), a point of standard TCP's own curve w = 1.2/√p, to (High_Window,
//! High_P); b(w) falls with ln w from ½ to High_Decrease at High_Window and no further; and
//!
//! a(w) = w²·p(w)·2·b(w)/(2 − b(w)), at least 1.
//!
//! With the published values p(w) is what RFC 3649 rounds to 0.078/w^1.2. Source: RFC 3649, section 5.

use crate::spec::{Args, SpecError};

/// p(w), a(w) and b(w). Windows are in segments.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    low_window: f64,
    ln_low: f64,
    /// ln p(Low_Window) and d ln p / d ln w.
    drops: (f64, f64),
    /// d b / d ln w.
    slope: f64,
    high_decrease: f64,
}

/// b(w) of standard TCP.
const LOW_DECREASE: f64 = 0.5;

impl Curve {
    /// The curve of the arguments `low_window`, `high_window`, `high_p` and `high_decrease`, by default those of RFC
    /// 3649: 38, 83,000, 1e-7, 0.1.
    pub fn build(args: &mut Args) -> Result<Self, SpecError> {
        let low_window = args.number("low_window", 38.0, 2.0..=1e6)?;
        let high_window = args.number("high_window", 83_000.0, 3.0..=1e9)?;
        if high_window <= low_window {
            return Err(args.bad(
                "high_window",
                &high_window,
                &format!("more than low_window, which is {low_window}"),
            ));
        }
        let low_p = 1.2 * 1.2 / (low_window * low_window);
        let high_p = args.number("high_p", 1e-7, 1e-15..=0.1)?;
        if high_p >= low_p {
            return Err(args.bad(
                "high_p",
                &high_p,
                &format!("less than {low_p:e}, the drop rate at low_window"),
            ));
        }
        let high_decrease = args.number("high_decrease", 0.1, 0.01..=LOW_DECREASE)?;
        let ln_low = libm::log(low_window);
        let span = libm::log(high_window) - ln_low;
        let ln_low_p = libm::log(low_p);
        Ok(Self {
            low_window,
            ln_low,
            drops: (ln_low_p, (libm::log(high_p) - ln_low_p) / span),
            slope: (high_decrease - LOW_DECREASE) / span,
            high_decrease,
        })
    }

    /// Segments by which a window of `w` segments opens in a round.
    pub fn increase(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        let octaves = libm::log(w) - self.ln_low;
        let b = self.decrease_at(octaves);
        let (at_low, per_octave) = self.drops;
        let p = libm::exp(at_low + per_octave * octaves);
        (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
    }

    /// The part of a window of `w` segments that a loss takes.
    pub fn decrease(&self, w: f64) -> f64 {
        if w <= self.low_window { LOW_DECREASE } else { self.decrease_at(libm::log(w) - self.ln_low) }
    }

    fn decrease_at(&self, octaves: f64) -> f64 {
        (LOW_DECREASE + self.slope * octaves).max(self.high_decrease)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arg, Spec};

    fn curve(args: &[(&str, f64)]) -> Result<Curve, SpecError> {
        let spec = args.iter().fold(Spec::named("highspeed"), |spec, (n, v)| spec.with(n, Arg::Number(*v)));
        Curve::build(&mut Args::new(&spec))
    }

    /// RFC 3649, appendix B. Its program computes with 1/12.8 for 0.078 and 1.2 for the exponent, which makes up to 3.2 %.
    #[test]
    fn agrees_with_the_table_of_rfc_3649() {
        let curve = curve(&[]).unwrap();
        for (w, a, b) in [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (1058.0, 8.0, 0.33),
            (3039.0, 15.0, 0.27),
            (8130.0, 26.0, 0.22),
            (17_981.0, 39.0, 0.18),
            (84_035.0, 71.0, 0.10),
        ] {
            assert!((curve.increase(w) / a - 1.0).abs() < 0.035, "a({w}) = {}", curve.increase(w));
            assert!((curve.decrease(w) - b).abs() <= 0.005 + 1e-9, "b({w}) = {}", curve.decrease(w));
        }
    }

    #[test]
    fn passes_through_its_two_points() {
        let curve = curve(&[]).unwrap();
        assert_eq!((curve.increase(38.0), curve.decrease(38.0)), (1.0, 0.5));
        // a(High_Window) = 83,000²·1e-7·2·0.1/1.9 = 72.5, which RFC 3649, section 5, gives as 72.
        assert!((curve.increase(83_000.0) - 83_000.0 * 83_000.0 * 1e-7 * 0.2 / 1.9).abs() < 1e-6);
        assert!((curve.decrease(83_000.0) - 0.1).abs() < 1e-12);
        assert_eq!(curve.decrease(1e7), 0.1, "not below High_Decrease");
    }

    #[test]
    fn refuses_points_that_do_not_fall() {
        assert!(curve(&[("high_window", 30.0)]).is_err());
        assert!(curve(&[("high_p", 0.01)]).is_err());
        assert!(curve(&[("high_p", 1e-3), ("low_window", 10.0)]).is_ok());
    }
}
