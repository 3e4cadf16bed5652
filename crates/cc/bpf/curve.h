// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// The response curve of HighSpeed TCP: crates/tcp/src/highspeed.rs. Arithmetic: float.h, its ln and e^-x included; a(w)
// and b(w) are within 1e-7 of the definition's.
#ifndef TRUCKEE_CURVE_H
#define TRUCKEE_CURVE_H

static __always_inline fl curve_decrease_at(const volatile struct curve *curve, fl octaves)
{
	return fl_max(fl_sub(fl_half(FL_ONE, 1), fl_mul(curve->slope, octaves)), curve->high_decrease);
}

// b(w).
static __always_inline fl curve_decrease(const volatile struct curve *curve, fl w)
{
	if (w <= curve->low_window)
		return fl_half(FL_ONE, 1);
	return curve_decrease_at(curve, fl_sub(fl_ln(w), curve->ln_low));
}

// a(w) = w²·p(w)·2b/(2 - b), at least 1.
static __always_inline fl curve_increase(const volatile struct curve *curve, fl w)
{
	fl octaves, b, p;

	if (w <= curve->low_window)
		return FL_ONE;
	octaves = fl_sub(fl_ln(w), curve->ln_low);
	b = curve_decrease_at(curve, octaves);
	p = fl_exp_neg(fl_add(curve->drops, fl_mul(curve->drops_fall, octaves)));
	return fl_max(FL_ONE, fl_div(fl_mul(fl_mul(fl_mul(w, w), p), fl_twice(b, 1)), fl_sub(fl_of(2), b)));
}

#endif
