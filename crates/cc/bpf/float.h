// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// Real numbers, not negative, in integer arithmetic: BPF has no floating point, and no signed division.
//
// A number is one 64-bit word, m/2^31 · 2^(e - FL_BIAS), with e in the upper half and m, which has its highest bit set,
// in the lower; zero is 0. So numbers compare as words do. Every operation rounds to the nearest of 32 bits: its relative
// error is at most 2^-32; that of fl_ln 2^-29, of fl_exp_neg and fl_rise 2^-25. What is below 2^-65536 is zero.
//
// It knows nothing of the kernel: the tests compile it for the machine they run on and hold it against f64.
#ifndef TRUCKEE_FLOAT_H
#define TRUCKEE_FLOAT_H

typedef __u64 fl;

#define FL_BIAS 65536
#define FL_ONE (((__u64)FL_BIAS << 32) | 0x80000000u)

#ifndef FL_FN
// A global function is verified once, not once a call.
#define FL_FN __attribute__((noinline))
#endif

static inline __attribute__((always_inline)) __u64 fl_exponent(fl a) { return a >> 32; }
static inline __attribute__((always_inline)) __u64 fl_mantissa(fl a) { return a & 0xffffffffu; }

// n/2^62 · 2^(e - FL_BIAS), for n in [2^62, 2^64), rounded.
static inline __attribute__((always_inline)) fl fl_round(__u64 n, __u64 e)
{
	if (n >> 63) {
		e += 1;
		n = (n >> 32) + ((n >> 31) & 1);
	} else {
		n = (n >> 31) + ((n >> 30) & 1);
	}
	if (n >> 32) {
		n >>= 1;
		e += 1;
	}
	return (e << 32) | n;
}

// n · 2^-62 · 2^(e - FL_BIAS), for any n.
FL_FN fl fl_normal(__u64 n, __u64 e)
{
	__u64 up = 0;

	if (!n)
		return 0;
	if (!(n >> 32)) { n <<= 32; up += 32; }
	if (!(n >> 48)) { n <<= 16; up += 16; }
	if (!(n >> 56)) { n <<= 8; up += 8; }
	if (!(n >> 60)) { n <<= 4; up += 4; }
	if (!(n >> 62)) { n <<= 2; up += 2; }
	if (!(n >> 63)) { n <<= 1; up += 1; }
	// Now n is in [2^63, 2^64), which fl_round takes for one exponent more.
	if (e + 1 <= up)
		return 0;
	return fl_round(n, e - up);
}

// n.
static inline __attribute__((always_inline)) fl fl_of(__u64 n) { return fl_normal(n, FL_BIAS + 62); }

// n / 2^32: a number in 32.32 fixed point.
static inline __attribute__((always_inline)) fl fl_of_fixed(__u64 n) { return fl_normal(n, FL_BIAS + 30); }

// a · 2^bits, rounded down; at most 2^64 - 1.
FL_FN __u64 fl_to(fl a, __u64 bits)
{
	__u64 m = fl_mantissa(a), e = fl_exponent(a) + bits;

	if (!a || e < FL_BIAS)
		return 0;
	e -= FL_BIAS; // m · 2^(e - 31)
	if (e > 63)
		return ~0ull;
	if (e >= 31)
		return m << ((e - 31) & 63);
	return m >> ((31 - e) & 63);
}

FL_FN fl fl_mul(fl a, fl b)
{
	__u64 e = fl_exponent(a) + fl_exponent(b);

	if (!a || !b || e <= FL_BIAS)
		return 0;
	return fl_round(fl_mantissa(a) * fl_mantissa(b), e - FL_BIAS);
}

// a / b; zero where b is.
FL_FN fl fl_div(fl a, fl b)
{
	__u64 m = fl_mantissa(a), by = fl_mantissa(b), e = fl_exponent(a) + FL_BIAS;
	__u64 q;

	if (!a || !by || e <= fl_exponent(b) + 1)
		return 0;
	e -= fl_exponent(b);
	if (m >= by) {
		q = ((m << 31) + by / 2) / by;
	} else {
		q = ((m << 32) + by / 2) / by;
		e -= 1;
	}
	if (q >> 32) {
		q >>= 1;
		e += 1;
	}
	return (e << 32) | q;
}

FL_FN fl fl_add(fl a, fl b)
{
	fl large = a > b ? a : b, small = a > b ? b : a;
	__u64 d = fl_exponent(large) - fl_exponent(small);

	if (!small || d > 40)
		return large;
	return fl_round((fl_mantissa(large) << 31) + ((fl_mantissa(small) << 31) >> (d & 63)), fl_exponent(large));
}

// a - b; zero where that is not positive.
FL_FN fl fl_sub(fl a, fl b)
{
	__u64 d = fl_exponent(a) - fl_exponent(b);

	if (a <= b)
		return 0;
	if (!b || d > 40)
		return a;
	return fl_normal((fl_mantissa(a) << 31) - ((fl_mantissa(b) << 31) >> (d & 63)), fl_exponent(a));
}

static inline __attribute__((always_inline)) fl fl_min(fl a, fl b) { return a < b ? a : b; }
static inline __attribute__((always_inline)) fl fl_max(fl a, fl b) { return a > b ? a : b; }
static inline __attribute__((always_inline)) fl fl_apart(fl a, fl b) { return a > b ? fl_sub(a, b) : fl_sub(b, a); }

// a · n/2^k for constants: fl_twice(a, 1) = 2a, fl_half(a, 3) = a/8.
static inline __attribute__((always_inline)) fl fl_twice(fl a, __u64 k) { return a ? a + (k << 32) : 0; }
static inline __attribute__((always_inline)) fl fl_half(fl a, __u64 k) { return fl_exponent(a) > k ? a - (k << 32) : 0; }

// before + gain · (after - before), with gain from 0 to 1: a low-pass filter's step.
FL_FN fl fl_step(fl before, fl after, fl gain)
{
	fl by = fl_mul(gain, fl_apart(after, before));

	return after > before ? fl_add(before, by) : fl_sub(before, by);
}

#define FL_LN2 (((__u64)(FL_BIAS - 1) << 32) | 0xb17217f8u)

// e^-x. x = n·ln 2 + r; e^-r by its series in 2.62 fixed point, cut where the next term is below 2^-36.
FL_FN fl fl_exp_neg(fl x)
{
	__u64 turns = fl_to(fl_div(x, FL_LN2), 32), n = turns >> 32, r, sum = 1ull << 32;
	int k;

	if (n >= FL_BIAS)
		return 0;
	// (turns mod 1) · ln 2, 0.32 fixed point.
	r = ((turns & 0xffffffffu) * 0xb17217f8ull + (1ull << 31)) >> 32;
	// Horner: 1 - r·(1 - r/2·(1 - r/3·(…)))
#ifdef __clang__
#pragma clang loop unroll(full)
#endif
	for (k = 12; k >= 1; k--)
		sum = (1ull << 32) - ((r * sum + (1ull << 31)) >> 32) / k;
	return fl_normal(sum, FL_BIAS + 30 - n);
}

// 1 - e^-x. For small x by its own series, since the difference would lose what it is made of.
FL_FN fl fl_rise(fl x)
{
	fl square;

	if (x >= FL_ONE - (6ull << 32)) // 1/64
		return fl_sub(FL_ONE, fl_exp_neg(x));
	// x - x²/2 + x³/6 - x⁴/24
	square = fl_mul(x, x);
	return fl_sub(fl_add(x, fl_div(fl_mul(square, x), fl_of(6))),
		      fl_add(fl_half(square, 1), fl_div(fl_mul(square, square), fl_of(24))));
}

// ln x for x >= 1; zero below. The logarithm to base 2 bit by bit, by squaring.
FL_FN fl fl_ln(fl x)
{
	__u64 m = fl_mantissa(x), whole = fl_exponent(x) - FL_BIAS, part = 0;
	int k;

	if (x <= FL_ONE)
		return 0;
	for (k = 0; k < 32; k++) {
		m = m * m; // [2^62, 2^64)
		part <<= 1;
		if (m >> 63) {
			part |= 1;
			m >>= 32;
		} else {
			m >>= 31;
		}
	}
	return fl_mul(fl_of_fixed((whole << 32) | part), FL_LN2);
}

#endif
