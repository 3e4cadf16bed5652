use super::*;

#[test]
fn words_and_numbers() {
    for x in [1.0, 0.5, 0.1, 3.0, 83_000.0, 1e-9, 1.9e19] {
        let back = value(word(x));
        assert!((back / x - 1.0).abs() <= 2f64.powi(-32), "{x}: {back}");
    }
    assert_eq!(word(1.0), 65_536 << 32 | 0x8000_0000);
    assert_eq!([word(0.0), word(-1.0), word(f64::NAN)], [0; 3]);
    assert_eq!(word(1.0 - 2f64.powi(-40)), word(1.0), "rounded up to the next power");
}
