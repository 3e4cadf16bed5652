//! The rates of the Quick-Start option: 40 kbit/s · 2^k for k from 1 to 15. Source: RFC 4782, section 3.1.

const UNIT: f64 = 40e3;

/// The option for a wanted rate in bit/s: the largest that does not exceed it; 0 if that is below the least.
pub fn request(bits_per_second: f64) -> u8 {
    (1..=15).rev().find(|&k| rate(k) <= bits_per_second).unwrap_or(0)
}

/// The rate of an option that came back, bit/s; none where nothing was granted.
pub fn granted(option: u8) -> Option<f64> {
    (1..=15).contains(&option).then(|| rate(option))
}

fn rate(k: u8) -> f64 {
    UNIT * f64::from(1u32 << k)
}
