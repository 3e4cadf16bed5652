//! Intervals in which a measured rate must lie, for the members' tests.

use super::AnyImpairment;
use crate::random::stream;
use crate::{Effect, Fate, Packet, Span, Time};

/// Standard deviations that hold 99.9 % of a normal distribution.
const Z: f64 = 3.29;

/// Asserts that `count` of `n` independent trials lies in the 99.9 % interval around probability `p`.
pub(crate) fn assert_rate(count: u64, n: u64, p: f64) {
    assert_correlated_rate(count, n, p, 0.0);
}

/// The same for trials whose correlation at lag k is `r`^k, which widens the interval by √((1 + r)/(1 − r)).
pub(crate) fn assert_correlated_rate(count: u64, n: u64, p: f64, r: f64) {
    let measured = count as f64 / n as f64;
    let margin = Z * libm::sqrt(p * (1.0 - p) / n as f64 * (1.0 + r) / (1.0 - r));
    assert!((measured - p).abs() <= margin, "{measured} of {n}, expected {p} ± {margin}");
}

/// The member for `effect`, with a stream that depends on `seed`.
pub(crate) fn member(effect: &Effect, seed: u64) -> AnyImpairment {
    AnyImpairment::new(effect, stream(seed, "test")).expect("an effect on packets")
}

/// What the member does to a data packet of 1500 bytes that enters so long after the start.
pub(crate) fn fate(member: &mut impl super::Impairment, at: Span) -> Fate {
    fate_of(member, &Packet { at: Time::at(at), bytes: 1500, flow: 0, data: true })
}

/// What the member does to `packet`.
pub(crate) fn fate_of(member: &mut impl super::Impairment, packet: &Packet) -> Fate {
    let mut passage = super::Passage::default();
    member.act(packet, &mut passage);
    passage.into()
}

/// Whether a member loses a data packet of 1500 bytes that enters so long after the start.
pub(crate) fn lost(member: &mut impl super::Impairment, at: Span) -> bool {
    matches!(fate(member, at), Fate::Lost(_))
}
