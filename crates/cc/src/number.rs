//! Numbers as the BPF programs have them: `bpf/float.h`, which says what a word means.

/// The exponent of 1.
const BIAS: i64 = 65_536;

/// `x` as a word, rounded to the nearest of 32 bits; what is not positive is zero.
pub(super) fn word(x: f64) -> u64 {
    if x.is_nan() || x <= 0.0 {
        return 0;
    }
    // Every f64 that a parameter can be is normal.
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    let mantissa = x.to_bits() & ((1 << 52) - 1) | 1 << 52;
    let rounded = (mantissa + (1 << 20)) >> 21;
    let (mantissa, exponent) =
        if rounded >> 32 == 0 { (rounded, exponent) } else { (rounded >> 1, exponent + 1) };
    ((exponent + BIAS) as u64) << 32 | mantissa
}

#[cfg(test)]
pub(super) fn value(word: u64) -> f64 {
    let exponent = (word >> 32) as i64 - BIAS - 31;
    (word & 0xffff_ffff) as f64 * (exponent as f64).exp2()
}

#[cfg(test)]
mod tests;
