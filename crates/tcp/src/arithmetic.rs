//! Arithmetic that takes one instruction where what it is about is known to be in range: it is done for every ACK.

/// A time or a number of bytes as a real number. Below 2^63, as all are, the signed conversion is the same and takes one
/// instruction in place of eight.
#[inline(always)]
pub(crate) fn real(n: u64) -> f64 {
    n as i64 as f64
}

/// The larger of two numbers, neither of which is NaN: without that to mind it is one instruction in place of seven.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    debug_assert!(!a.is_nan() && !b.is_nan());
    if a > b { a } else { b }
}

/// The smaller of two numbers, neither of which is NaN.
#[inline(always)]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    debug_assert!(!a.is_nan() && !b.is_nan());
    if a < b { a } else { b }
}
