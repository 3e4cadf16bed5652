// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// Estimators of bandwidth: crates/tcp/src/estimate/{stream,tibet,ewma,csfq,westwood1,westwood2}.rs; westwood-3 is in
// abse.h.
//
// Arithmetic: bits, nanoseconds and bit/s as numbers of 32 bits (float.h); a filter's step is old ± gain·|new - old|,
// which rounds once, to 2^-32 of the old value. In the steady state the error is therefore 2^-32/gain: with the default
// parameters, and samples a microsecond apart at least, below 1e-5 of the estimate.
// Several segments that left since the event before are one burst: the first ends the sample, the others wait for the next.
#ifndef TRUCKEE_ESTIMATE_H
#define TRUCKEE_ESTIMATE_H

#define NS_PER_S fl_of(1000000000)

// `bytes` more at `now`: the time that the sample has taken which this ends, ns, 0 if it ends none. At most `first` of them
// are of that sample; the others came after them, at the same instant, and wait. Of the very first event's it is not known
// what time they took.
static __always_inline __u64 stream_add(struct stream *s, __u64 now, __u64 bytes, __u64 first, fl *bits)
{
	__u64 took, ends = bytes < first ? bytes : first, waited = s->waiting;

	if (s->last && now <= s->last) {
		s->waiting += bytes;
		return 0;
	}
	took = s->last ? now - s->last : 0;
	s->last = now;
	s->waiting = bytes - ends;
	*bits = fl_of((waited + ends) * 8);
	return took;
}

static __always_inline fl rate_of(fl bits, fl ns)
{
	return fl_div(fl_mul(bits, NS_PER_S), ns);
}

// A step of the filter of rates: the first sample is the rate.
static __always_inline void rate_step(struct estimate *e, fl sample, fl gain)
{
	e->rate = e->known ? fl_step(e->rate, sample, gain) : sample;
	e->known = 1;
}

static __always_inline void tibet_take(struct estimate *e, __u64 time, __u64 bytes, __u64 first)
{
	fl bits = 0, mean;
	__u64 took = stream_add(&e->stream, time, bytes, first, &bits);

	if (!took)
		return;
	e->bits = e->means ? fl_step(e->bits, bits, params.filter_new) : bits;
	e->gap = e->means ? fl_step(e->gap, fl_of(took), params.filter_new) : fl_of(took);
	e->means = 1;
	mean = rate_of(e->bits, e->gap);
	if (params.smoother) {
		rate_step(e, mean, fl_rise(fl_div(fl_of(took), params.constant)));
	} else {
		e->rate = mean;
		e->known = 1;
	}
}

// 1 - p, p = (2τ - span)/(2τ + span).
static __always_inline fl westwood_gain(fl twice_tau, fl span)
{
	return fl_min(FL_ONE, fl_div(fl_twice(span, 1), fl_add(twice_tau, span)));
}

static __always_inline void westwood2_take(struct estimate *e, fl sample, __u64 span)
{
	rate_step(e, e->known ? fl_half(fl_add(sample, e->before), 1) : sample, westwood_gain(fl_of(2 * params.tau), fl_of(span)));
	e->before = sample;
}

// The virtual samples of nothing that fell before `time`.
static __always_inline void westwood2_advance(struct estimate *e, __u64 time)
{
	__u64 step = params.tau / 2, missed, left;
	fl pole;
	int k;

	if (!e->known || time <= e->sampled + 1)
		return;
	missed = (time - e->sampled - 1) / step;
	if (!missed)
		return;
	westwood2_take(e, 0, step);
	pole = fl_sub(FL_ONE, westwood_gain(fl_of(2 * params.tau), fl_of(step)));
	left = missed - 1;
	for (k = 0; k < 32 && left; k++) { // rate · pole^left
		if (left & 1)
			e->rate = fl_mul(e->rate, pole);
		pole = fl_mul(pole, pole);
		left >>= 1;
	}
	e->sampled += missed * step;
}

#include "abse.h"

static __always_inline void estimate_on_sent(struct connection *c, struct now *now)
{
	struct estimate *e = &c->estimate;

	if (!now->sent)
		return;
	if (params.estimator == ESTIMATE_TIBET && params.on_sent)
		tibet_take(e, now->sent_at, now->sent, now->mss);
	if (params.estimator == ESTIMATE_WESTWOOD2)
		westwood2_advance(e, now->sent_at);
}

static __always_inline void estimate_on_ack(struct sock *sk, struct connection *c, struct now *now)
{
	struct estimate *e = &c->estimate;
	fl bits = 0, sample;
	__u64 took;

	if (params.estimator == ESTIMATE_NONE)
		return;
	if (params.estimator == ESTIMATE_TIBET) {
		if (!params.on_sent)
			tibet_take(e, now->time, now->delivered, ~0ull);
		return;
	}
	if (params.estimator == ESTIMATE_WESTWOOD3) {
		abse_on_ack(sk, c, now);
		return;
	}
	if (params.estimator == ESTIMATE_WESTWOOD2)
		westwood2_advance(e, now->time);
	took = stream_add(&e->stream, now->time, now->delivered, ~0ull, &bits);
	if (!took)
		return;
	sample = rate_of(bits, fl_of(took));
	if (params.estimator == ESTIMATE_EWMA)
		rate_step(e, sample, params.filter_new);
	if (params.estimator == ESTIMATE_CSFQ)
		rate_step(e, sample, fl_rise(fl_div(fl_of(took), params.constant)));
	if (params.estimator == ESTIMATE_WESTWOOD1) {
		rate_step(e, e->known ? fl_half(fl_add(sample, e->before), 1) : sample, params.filter_new);
		e->before = sample;
	}
	if (params.estimator == ESTIMATE_WESTWOOD2) {
		westwood2_take(e, sample, now->time - e->sampled);
		e->sampled = now->time;
	}
}

// B·RTTmin in bytes.
static __always_inline fl estimate_bytes(struct connection *c)
{
	fl rtt = fl_mul(fl_of(c->rtt_min_us), fl_of(1000));

	return fl_div(fl_mul(fl_half(c->estimate.rate, 3), rtt), NS_PER_S);
}

#endif
