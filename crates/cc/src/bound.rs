//! How far a port may be from its definition: what `bpf/*.h` say of their arithmetic, as numbers.

use super::port::{Port, number};

/// The largest differences that a port's fixed-point arithmetic explains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Of the estimate of bandwidth, relative.
    pub estimate: f64,
    /// Of the window while it grows, segments: 2^-32 an ACK, up to 400,000 ACKs between two losses.
    pub cwnd: f64,
    /// Of ssthresh, and of the window that a response leaves, relative, before they are rounded down to whole segments.
    pub response: f64,
    /// Of the round-trip time at which an answer of a predictor changes, relative.
    pub rtt: f64,
}

/// Of the estimate: up to 20,000 samples in the time that a filter forgets in, each rounded to 2^-32.
const ESTIMATE: f64 = 1e-5;

impl Bound {
    /// The bound of a port.
    pub fn of(port: &Port) -> Self {
        // A filter of a fixed weight w forgets in 1/w samples.
        let fixed = port.estimator().map_or(1.0, |estimator| {
            ["alpha", "weight", "beta"]
                .iter()
                .find_map(|name| number(estimator, name))
                .map_or(1.0, |past| 1.0 - past)
        });
        let estimate = ESTIMATE.max(4.0 * (-32f64).exp2() / fixed.max(f64::EPSILON));
        let by_knee = port.predictor().is_some_and(|p| p.name == "ncpld");
        Self { estimate, cwnd: 1e-4, response: estimate, rtt: if by_knee { estimate } else { 1e-8 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use truckee_tcp::response::AnyResponse;
    use truckee_tcp::{Arg, Spec};

    #[test]
    fn a_filter_that_hardly_forgets_has_a_wider_bound() {
        let tibet = find("tk_tibet").unwrap().port().unwrap();
        assert_eq!(Bound::of(&tibet).estimate, ESTIMATE);
        let slow = Spec::named("to-estimate")
            .with("estimator", Arg::Name("tibet".into()))
            .with("alpha", Arg::Number(0.999_999));
        let slow = Port { response: AnyResponse::build(&slow).unwrap().1, ..tibet };
        let bound = Bound::of(&slow).estimate;
        assert!((bound / (4e6 / 4_294_967_296.0) - 1.0).abs() < 1e-6, "{bound}");
    }
}
