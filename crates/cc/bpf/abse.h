// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// The third filter of TCP Westwood, ABSE: crates/tcp/src/estimate/westwood3.rs.
//
// Arithmetic as in estimate.h. The ACKs of the last RTT are kept in a ring; where a span began is found by bisection.
// Differs: the ring holds 1024 ACKs; where an RTT brings more, what lies before is taken to have been forgotten.
#ifndef TRUCKEE_ABSE_H
#define TRUCKEE_ABSE_H

#define HISTORY 1024

struct heard {
	__u64 time, acked;
};

struct history {
	__u64 first, end; // ordinals
	struct heard acks[HISTORY];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct history);
} histories SEC(".maps");

#define HEARD(h, k) (&(h)->acks[(k) & (HISTORY - 1)])

// Adds an ACK: the time since the one before, 0 if there was none or no time has passed.
static __always_inline __u64 history_add(struct history *h, __u64 time, __u64 bytes)
{
	struct heard *last;
	__u64 acked;

	if (!h->end) {
		h->acks[0].time = time;
		h->end = 1;
		return 0;
	}
	last = HEARD(h, h->end - 1);
	acked = last->acked + bytes;
	if (time <= last->time) {
		last->acked = acked;
		return 0;
	}
	bytes = time - last->time;
	last = HEARD(h, h->end);
	last->time = time;
	last->acked = acked;
	h->end++;
	if (h->end - h->first > HISTORY)
		h->first = h->end - HISTORY;
	return bytes;
}

// The last ACK that came no later than `start`, or the first that is remembered.
static __always_inline __u64 history_find(struct history *h, __u64 start)
{
	__u64 low = h->first, high = h->end - 1, middle;
	int k;

	for (k = 0; k < 11 && low < high; k++) {
		middle = (low + high + 1) / 2;
		if (HEARD(h, middle)->time <= start)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

// Bit/s since that ACK.
static __always_inline fl history_rate(struct history *h, __u64 from)
{
	struct heard *now = HEARD(h, h->end - 1), *since = HEARD(h, from);
	__u64 took = now->time - since->time;

	return rate_of(fl_of((now->acked - since->acked) * 8), fl_of(took ?: 1));
}

static __always_inline __u64 before(__u64 time, __u64 span)
{
	return time > span ? time - span : 0;
}

// τ/RTT = 1 + N·U/Umax, after |s - s'| = change.
static __always_inline fl abse_spread(struct estimate *e, fl change)
{
	fl max = 0;
	int k;

	e->unsteadiness = fl_step(e->unsteadiness, change, fl_div(fl_of(2), fl_of(5)));
	if (e->at < 10)
		e->recent[e->at] = e->unsteadiness;
	e->at = e->at < 9 ? e->at + 1 : 0;
#pragma clang loop unroll(full)
	for (k = 0; k < 10; k++)
		max = fl_max(max, e->recent[k]);
	return fl_add(FL_ONE, fl_mul(params.abse_gain, fl_div(e->unsteadiness, max)));
}

static __always_inline void abse_on_ack(struct sock *sk, struct connection *c, struct now *now)
{
	struct estimate *e = &c->estimate;
	struct history *h = bpf_sk_storage_get(&histories, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	__u64 interval, rtt, span;
	fl rate, in_path, cwnd, sample, spread, gain;

	if (!h)
		return;
	interval = history_add(h, now->time, now->delivered);
	rtt = params.abse_rtt ? params.abse_rtt : now->srtt_us * 1000;
	if (!interval || !rtt || !c->rtt_min_us)
		return;
	cwnd = params.abse_cwnd ? params.abse_cwnd : fl_of_fixed(c->window);
	cwnd = fl_mul(cwnd, fl_of(now->mss * 8)); // bits

	h->first = history_find(h, before(now->time, rtt));
	rate = history_rate(h, h->first);
	e->throughput = e->known ? fl_step(e->throughput, rate, fl_div(fl_of(2), fl_of(5))) : rate;
	in_path = fl_div(fl_mul(e->throughput, fl_of((__u64)c->rtt_min_us * 1000)), NS_PER_S);
	span = fl_to(fl_mul(fl_of(rtt), fl_sub(FL_ONE, fl_div(in_path, cwnd))), 0);
	sample = history_rate(h, history_find(h, before(now->time, span > interval ? span : interval)));
	if (!e->known) {
		rate_step(e, sample, 0);
		e->before = sample;
		return;
	}
	spread = abse_spread(e, fl_apart(sample, e->before));
	e->before = sample;
	gain = westwood_gain(fl_twice(fl_mul(fl_of(rtt), spread), 1), fl_of(interval));
	rate_step(e, sample, gain);
}

#endif
