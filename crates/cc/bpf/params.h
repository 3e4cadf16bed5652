// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// What a loaded congestion control is made of, and its parameters: written by the loader before the kernel sees the
// program, and constant from then on, so that the verifier drops every branch that is not taken. All fields are 64 bits;
// the loader's types are made of these (layout.bpf.c), and src/params.rs fills them in. `fl`: see float.h. Windows are in segments, times in ns, rates in bit/s.
#ifndef TRUCKEE_PARAMS_H
#define TRUCKEE_PARAMS_H

enum growth { GROWTH_PER_ACK, GROWTH_BYTES, GROWTH_CAPPED, GROWTH_LIMITED, GROWTH_HIGHSPEED, GROWTH_VEGAS };
enum response { RESPONSE_HALVE, RESPONSE_ESTIMATE, RESPONSE_CAUSE, RESPONSE_HIGHSPEED, RESPONSE_VEGAS };
enum predictor {
	PREDICT_CONGESTED, PREDICT_WIRELESS, PREDICT_RANDOM, PREDICT_VEGAS, PREDICT_SINGLE, PREDICT_SPIKE,
	PREDICT_FLIP_FLOP, PREDICT_NCPLD, PREDICT_IDEAL,
};
enum estimator { ESTIMATE_NONE, ESTIMATE_TIBET, ESTIMATE_EWMA, ESTIMATE_CSFQ, ESTIMATE_WESTWOOD1, ESTIMATE_WESTWOOD2, ESTIMATE_WESTWOOD3 };

// The curve of HighSpeed TCP, crates/tcp/src/highspeed.rs.
struct curve {
	fl low_window, ln_low;
	fl drops; // -ln p(Low_Window)
	fl drops_fall; // -d ln p / d ln w
	fl slope; // -d b / d ln w
	fl high_decrease;
};

struct params {
	__u64 record; // whether events go to the ring buffer
	__u64 growth, response, over, predictor, estimator;
	__u64 freebsd; // whether the first ACK opens the window by one segment more
	__u64 from_window; // whether a loss takes its share of cwnd, and not of what is in flight
	__u64 ssthresh; // initial, segments; 0: the kernel's
	fl abc_limit;
	fl capped_factor;
	fl limited_max;
	fl vegas_alpha, vegas_beta, vegas_gamma;
	__u64 vegas_by_window; // whether the backlog is taken from the window
	__u64 vegas_tick_us; // what round-trip times are counted in; 0: as they are
	__u64 vegas_few; // of so many samples or fewer a round opens the window unjudged
	struct curve growth_curve, response_curve;
	fl predict_alpha, predict_beta; // thresholds of vegas, vegas-single (alpha alone) and spike
	__u64 flip_mask, flip_eta;
	__u64 ncpld_tick;
	__u64 random_seed;
	__u64 ideal_unlost; // enum cause: what a loss is taken for that was none
	fl filter_new; // the weight of a new sample: what tibet's alpha, ewma's w, westwood-1's beta leave
	__u64 on_sent, smoother; // tibet
	fl constant; // ns: tibet's t0, csfq's K
	__u64 tau; // westwood-2, ns
	__u64 abse_rtt; // westwood-3, ns; 0: the connection's
	fl abse_cwnd, abse_gain; // likewise, segments
	__u64 pass_over; // a test's: of so many questions for a threshold one is passed over; 0: none
};

#ifndef TRUCKEE_NATIVE
const volatile struct params params SEC(".rodata.params") = {};
#endif

#endif
