// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// Loss predictors: crates/tcp/src/predict/*.rs.
//
// Arithmetic: round-trip times are the kernel's, whole microseconds; backlog, knee and filters are numbers of 32 bits
// (float.h). So an answer can differ from the definition's only where the round-trip time is within 1e-7 of a
// threshold (ncpld: within 1e-5 of the knee, whose bandwidth is an estimate). The random predictor is exact.
// The window is the kernel's: it is not inflated by duplicate ACKs during recovery, as the definition's is.
#ifndef TRUCKEE_PREDICT_H
#define TRUCKEE_PREDICT_H

enum cause { CAUSE_UNKNOWN, CAUSE_CONGESTION, CAUSE_WIRELESS };

// Own segments in queues, cwnd·(RTT - RTTmin)/RTT.
static __always_inline fl backlog(struct connection *c, __u64 rtt_us)
{
	return fl_div(fl_mul(fl_of_fixed(c->window), fl_of(rtt_us - c->rtt_min_us)), fl_of(rtt_us));
}

// `above` for what lies above, `below` for what lies below; between, the answer is as before.
static __always_inline void vegas_on_ack(struct connection *c, __u64 rtt_us)
{
	fl d = backlog(c, rtt_us);

	if (d <= params.predict_alpha)
		c->answer = CAUSE_WIRELESS;
	else if (params.predictor == PREDICT_SINGLE || d >= params.predict_beta)
		c->answer = CAUSE_CONGESTION;
}

static __always_inline void spike_on_ack(struct connection *c, __u64 rtt_us)
{
	fl rtt = fl_of(rtt_us), min = fl_of(c->rtt_min_us), range, excess = fl_sub(rtt, min);

	c->max = fl_max(c->max, rtt);
	range = fl_sub(c->max, min);
	if (excess > fl_mul(params.predict_alpha, range))
		c->answer = CAUSE_CONGESTION;
	else if (excess < fl_mul(params.predict_beta, range))
		c->answer = CAUSE_WIRELESS;
}

static __always_inline void flip_flop_on_ack(struct connection *c, __u64 rtt_us)
{
	fl rtt = fl_of(rtt_us), limit;
	int outlier;

	if (!c->begun) {
		c->begun = 1;
		c->mean = c->last = rtt;
		c->range = fl_half(rtt, 1);
		return;
	}
	limit = fl_add(c->mean, fl_div(fl_mul(c->range, fl_of(3000)), fl_of(1128)));
	outlier = rtt > limit;
	c->outliers = c->outliers << 1 | outlier;
	if (outlier) {
		c->mean = fl_step(c->mean, rtt, fl_div(FL_ONE, fl_of(10)));
	} else {
		c->mean = fl_step(c->mean, rtt, fl_div(fl_of(9), fl_of(10)));
		c->range = fl_step(c->range, fl_apart(rtt, c->last), fl_half(FL_ONE, 3));
	}
	c->last = rtt;
}

// The knee, where ½·RTT·ΔF/ΔRTT is positive: RTTmin + ½·RTT·bdp/pipe = RTTmin + bdp·|ΔRTT|/|ΔF|; times in ns.
static __always_inline void ncpld_knee(struct connection *c, __u64 rtt, __u64 flight)
{
	int grows = flight > c->last_flight, lengthens = rtt >= c->last_rtt;
	__u64 more = grows ? flight - c->last_flight : c->last_flight - flight;
	__u64 longer = lengthens ? rtt - c->last_rtt : c->last_rtt - rtt;

	if (!c->estimate.known || !more || grows != lengthens)
		return;
	if (!longer)
		longer = params.ncpld_tick;
	c->knee = fl_add(fl_of((__u64)c->rtt_min_us * 1000),
			 fl_div(fl_mul(estimate_bytes(c), fl_of(longer)), fl_of(more)));
	c->has_knee = 1;
}

static __always_inline void ncpld_on_ack(struct connection *c, struct now *now)
{
	__u64 rtt = (__u64)now->rtt_us * 1000;

	if (c->begun)
		ncpld_knee(c, rtt, now->flight);
	c->begun = 1;
	c->last_rtt = rtt;
	c->last_flight = now->flight;
	if (c->has_knee)
		c->answer = fl_of(rtt) > c->knee ? CAUSE_CONGESTION : CAUSE_WIRELESS;
}

static __always_inline void predict_on_ack(struct connection *c, struct now *now)
{
	if (now->rtt_us <= 0)
		return;
	if (params.predictor == PREDICT_VEGAS || params.predictor == PREDICT_SINGLE)
		vegas_on_ack(c, now->rtt_us);
	if (params.predictor == PREDICT_SPIKE)
		spike_on_ack(c, now->rtt_us);
	if (params.predictor == PREDICT_FLIP_FLOP)
		flip_flop_on_ack(c, now->rtt_us);
	if (params.predictor == PREDICT_NCPLD)
		ncpld_on_ack(c, now);
}

static __always_inline void predict_on_timeout(struct connection *c)
{
	if (params.predictor == PREDICT_SPIKE && !c->timed_out)
		c->max = 0;
	c->timed_out = 1;
}

// The finaliser of SplitMix64.
static __always_inline __u64 mix(__u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

// What a loss now would be taken for. Of the ideal predictor only a loss can be asked.
static __always_inline __u8 predict_verdict(struct connection *c, struct now *now)
{
	const __u64 step = 0x9e3779b97f4a7c15ull;
	__u64 drawn;

	if (params.response != RESPONSE_CAUSE)
		return CAUSE_UNKNOWN;
	if (params.predictor == PREDICT_IDEAL)
		return now->fate ?: params.ideal_unlost; // crates/tcp/src/predict/oracle.rs
	if (params.predictor == PREDICT_WIRELESS)
		return CAUSE_WIRELESS;
	if (params.predictor == PREDICT_RANDOM) {
		drawn = mix(step ^ params.random_seed);
		drawn = mix((drawn + step) ^ c->una);
		drawn = mix((drawn + step) ^ now->time);
		return drawn >> 63 ? CAUSE_WIRELESS : CAUSE_CONGESTION;
	}
	if (params.predictor == PREDICT_FLIP_FLOP) {
		if (!c->begun)
			return CAUSE_CONGESTION;
		return __builtin_popcountll(c->outliers & params.flip_mask) <= params.flip_eta ? CAUSE_WIRELESS : CAUSE_CONGESTION;
	}
	return c->answer ?: CAUSE_CONGESTION;
}

#endif
