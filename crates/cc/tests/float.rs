//! `bpf/float.h`, compiled for this machine, held against f64 over its range.

#![cfg(live)]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write as _;
use std::path::Path;

const BPF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/bpf");

const PROGRAM: &str = r#"
#define FL_FN static
#include "float.h"
int main(void)
{
	char op;
	__u64 a, b, r;
	while (scanf(" %c %llu %llu", &op, &a, &b) == 3) {
		switch (op) {
		case '+': r = fl_add(a, b); break;
		case '-': r = fl_sub(a, b); break;
		case '*': r = fl_mul(a, b); break;
		case '/': r = fl_div(a, b); break;
		case 'e': r = fl_exp_neg(a); break;
		case 'r': r = fl_rise(a); break;
		case 'l': r = fl_ln(a); break;
		case 'o': r = fl_of(a); break;
		case 'f': r = fl_of_fixed(a); break;
		case 't': r = fl_to(a, b); break;
		default: return 1;
		}
		printf("%llu\n", r);
	}
	return 0;
}
"#;

/// The program's results for so many operations.
fn compute(operations: &[(char, u64, u64)]) -> Vec<u64> {
    let mut text = String::new();
    operations.iter().for_each(|(op, a, b)| writeln!(text, "{op} {a} {b}").unwrap());
    let flags = ["-O2", "-fsanitize=undefined", "-fno-sanitize-recover"];
    let wrote = truckee_testing::native(Path::new(BPF), PROGRAM, &flags, text.as_bytes());
    let results: Vec<u64> =
        String::from_utf8(wrote).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(results.len(), operations.len());
    results
}

fn value(word: u64) -> f64 {
    if word == 0 {
        return 0.0;
    }
    (word & 0xffff_ffff) as f64 * (((word >> 32) as i64 - 65_536 - 31) as f64).exp2()
}

/// Evenly spread bits.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A number between 2^-`spread` and 2^`spread`, the word.
fn number(state: &mut u64, spread: u64) -> u64 {
    let exponent = 65_536 - spread + draw(state) % (2 * spread);
    exponent << 32 | 0x8000_0000 | draw(state) >> 33
}

/// Largest relative difference of an operation from `exact`.
fn worst(op: char, spread: u64, exact: impl Fn(f64, f64) -> f64) -> f64 {
    let mut state = u64::from(op);
    let operations: Vec<_> =
        (0..100_000).map(|_| (op, number(&mut state, spread), number(&mut state, spread))).collect();
    let results = compute(&operations);
    let apart = |(&(_, a, b), &result): (&(char, u64, u64), &u64)| {
        let exact = exact(value(a), value(b));
        if exact == 0.0 { value(result) } else { (value(result) / exact - 1.0).abs() }
    };
    operations.iter().zip(&results).map(apart).fold(0.0, f64::max)
}

/// Rounding to the nearest of 32 bits.
const HALF: f64 = 1.0 / (1u64 << 32) as f64;

#[test]
fn arithmetic_rounds_to_the_nearest() {
    assert!(worst('*', 60, |a, b| a * b) <= HALF * 1.001);
    assert!(worst('/', 60, |a, b| a / b) <= HALF * 1.001);
    // What is shifted out before the sum is another half of the last bit at most.
    assert!(worst('+', 20, |a, b| a + b) <= HALF * 1.6);
    assert!(worst('-', 20, |a, b| (a - b).max(0.0)) <= HALF * 1.6);
}

#[test]
fn the_exponential_and_the_logarithm() {
    let exponential = worst('e', 5, |x, _| (-x).exp());
    let rise = worst('r', 5, |x, _| -(-x).exp_m1());
    let small = worst('r', 40, |x, _| -(-x.min(700.0)).exp_m1());
    println!("e^-x {exponential:e}, 1 - e^-x {rise:e} {small:e}");
    assert!(exponential < 3e-8 && rise < 3e-8 && small < 3e-8);
    let logarithm = worst('l', 32, |x, _| if x > 2.0 { x.ln() } else { f64::NAN });
    println!("ln x {logarithm:e}");
    assert!(logarithm < 2e-9);
}

#[test]
fn whole_numbers_and_fixed_point() {
    let mut state = 7;
    let operations: Vec<_> = (0..100_000)
        .flat_map(|_| {
            let n = draw(&mut state) >> (draw(&mut state) % 64);
            [('o', n, 0), ('f', n, 0)]
        })
        .chain([('o', 0, 0), ('o', u64::MAX, 0), ('o', 1, 0)])
        .collect();
    for (&(op, n, _), word) in operations.iter().zip(compute(&operations)) {
        let exact = if op == 'o' { n as f64 } else { n as f64 / (1u64 << 32) as f64 };
        assert!((value(word) - exact).abs() <= exact * HALF * 1.001, "{op} {n}");
    }
    let back: Vec<_> = (0..100_000).map(|_| ('t', number(&mut state, 31), draw(&mut state) % 33)).collect();
    for (&(_, word, bits), whole) in back.iter().zip(compute(&back)) {
        assert_eq!(whole, (value(word) * (bits as f64).exp2()).floor() as u64, "{word:x} {bits}");
    }
    assert_eq!(compute(&[('t', (65_536 + 64) << 32 | 0x8000_0000, 0)]), [u64::MAX], "saturates");
}

#[test]
fn what_has_no_answer_is_zero() {
    let one = 65_536 << 32 | 0x8000_0000u64;
    let none = [('/', one, 0), ('/', 0, one), ('-', one, one), ('-', 0, one), ('*', 0, one), ('l', one, 0)];
    assert_eq!(compute(&none), [0; 6]);
    assert_eq!(compute(&[('+', 0, one), ('-', one, 0), ('e', 0, 0), ('r', 0, 0)]), [one, one, one, 0]);
}
