// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// What a loss does to ssthresh: crates/tcp/src/response/{halve,to_estimate,by_cause,highspeed,vegas}.rs.
//
// Arithmetic: float.h, and at the end whole segments, rounded down: ssthresh is less than one segment below the
// definition's, never above it. The window during recovery is the kernel's (PRR); where it ends the window is the
// definition's, rounded down (response_target).
#ifndef TRUCKEE_RESPONSE_H
#define TRUCKEE_RESPONSE_H

struct decision {
	fl ssthresh, cwnd; // segments
	__u8 verdict;
};

static __always_inline fl at_least_two(fl segments) { return fl_max(segments, fl_of(2)); }

static __always_inline fl halved(struct now *now) { return at_least_two(fl_half(in_segments(now->flight, now), 1)); }

// What congestion does; `response` is one that asks no predictor.
static __always_inline void congested(__u64 response, struct tcp_sock *tp, struct connection *c, struct now *now, int dup_acks, struct decision *to)
{
	fl w = in_segments(now->flight, now);

	to->verdict = CAUSE_CONGESTION;
	to->ssthresh = halved(now);
	if (response == RESPONSE_HIGHSPEED)
		to->ssthresh = at_least_two(fl_mul(w, fl_sub(FL_ONE, curve_decrease(&params.response_curve, w))));
	to->cwnd = to->ssthresh;
	if (response == RESPONSE_ESTIMATE && c->estimate.known && c->rtt_min_us) {
		to->ssthresh = at_least_two(fl_div(estimate_bytes(c), fl_of(now->mss)));
		to->cwnd = fl_min(to->ssthresh, fl_of_fixed(c->window));
	}
	if (response == RESPONSE_VEGAS) {
		if (dup_acks && c->una < c->decreased) { // that decrease was for the same trouble
			to->ssthresh = fl_of(tp->snd_ssthresh);
			to->cwnd = fl_of_fixed(c->window);
			return;
		}
		if (dup_acks)
			to->cwnd = to->ssthresh = at_least_two(fl_sub(fl_of_fixed(c->window), fl_half(fl_of_fixed(c->window), 2)));
		c->decreased = c->highest;
	}
}

static __always_inline void respond(struct tcp_sock *tp, struct connection *c, struct now *now, int timeout, int echo, struct decision *to)
{
	if (params.estimator == ESTIMATE_WESTWOOD2 && params.response == RESPONSE_ESTIMATE)
		westwood2_advance(&c->estimate, now->time);
	if (params.response != RESPONSE_CAUSE) {
		congested(params.response, tp, c, now, !timeout && !echo, to);
	} else if (!echo && predict_verdict(c, now) == CAUSE_WIRELESS) {
		to->verdict = CAUSE_WIRELESS;
		to->ssthresh = to->cwnd = at_least_two(in_segments(now->flight, now));
	} else {
		congested(params.over, tp, c, now, !timeout && !echo, to);
	}
}

#endif
