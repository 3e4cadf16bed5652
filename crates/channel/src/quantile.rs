//! The normal distribution's quantiles.

/// Numerators and denominators by rising powers, of the middle, of the tails and of what lies far out in them.
struct Ratio {
    above: [f64; 8],
    below: [f64; 8],
}

impl Ratio {
    #[inline]
    fn at(&self, r: f64) -> f64 {
        let sum = |of: &[f64; 8]| of.iter().rev().fold(0.0, |sum, coefficient| sum * r + coefficient);
        sum(&self.above) / sum(&self.below)
    }
}

const MIDDLE: Ratio = Ratio {
    above: [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    below: [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
};
const TAIL: Ratio = Ratio {
    above: [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    below: [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
};
const FAR: Ratio = Ratio {
    above: [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    below: [
        1.0,
        5.998_322_065_558_879e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
};

/// The number below which a normal number of mean 0 and standard deviation 1 lies with probability `p`, to sixteen digits
/// (Wichura 1988, algorithm AS 241): infinite at 0 and 1, NaN outside of them. Of one uniform number it makes a normal
/// one, mostly without a logarithm.
#[inline]
pub fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * MIDDLE.at(0.180_625 - q * q);
    }
    let beyond = if q < 0.0 { p } else { 1.0 - p };
    if beyond == 0.0 {
        return f64::INFINITY.copysign(q);
    }
    let r = libm::sqrt(-libm::log(beyond));
    let x = if r <= 5.0 { TAIL.at(r - 1.6) } else { FAR.at(r - 5.0) };
    x.copysign(q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // From mpmath, sqrt(2)·erfinv(2p − 1) at 40 digits.
        for (p, x) in [
            (0.5, 0.0),
            (0.25, -0.674_489_750_196_081_7),
            (0.925, 1.439_531_470_938_456),
            (0.975, 1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813_5),
            (1e-10, -6.361_340_902_404_056),
            (1e-20, -9.262_340_089_798_408),
        ] {
            let found = normal_quantile(p);
            assert!((found - x).abs() <= 1e-15 * x.abs().max(0.1), "{p}: {found}, not {x}");
        }
    }

    #[test]
    fn both_sides_are_alike_and_the_ends_are_infinite() {
        for n in 1..1000 {
            let p = f64::from(n) / 2048.0;
            assert_eq!(normal_quantile(p), -normal_quantile(1.0 - p), "{p}");
            assert!(normal_quantile(p) < normal_quantile(p + 1.0 / 4096.0), "{p}");
        }
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(normal_quantile(-0.1).is_nan() && normal_quantile(1.1).is_nan());
    }
}
