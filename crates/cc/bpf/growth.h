// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// Growth rules: crates/tcp/src/growth/{per_ack,byte_counting,capped,limited_slow_start,highspeed,vegas}.rs.
//
// Arithmetic: the window in segments, 32.32 fixed point; an ACK's step is rounded down to 2^-32 of a segment, so that
// ten million ACKs after the last loss it is within 0.003 segments of the definition's (highspeed: within 0.01).
// Slow start ends by the kernel's ssthresh, whole segments. Vegas: a round that ends within a repair is measured from
// the ACK after it on (the kernel tells of the end of a repair one ACK late).
#ifndef TRUCKEE_GROWTH_H
#define TRUCKEE_GROWTH_H

#define SEGMENT (1ull << 32)

static __always_inline int in_slow_start(struct tcp_sock *tp, struct connection *c)
{
	return c->window < (__u64)tp->snd_ssthresh << 32;
}

// segments/cwnd, 32.32.
static __always_inline __u64 share(struct connection *c, fl segments)
{
	return fl_to(fl_div(segments, fl_of_fixed(c->window)), 32);
}

static __always_inline __u64 per_ack(struct tcp_sock *tp, struct connection *c)
{
	if (in_slow_start(tp, c))
		return SEGMENT;
	return c->window ? ~0ull / c->window : SEGMENT; // 2^32/cwnd
}

static __always_inline __u64 by_bytes(struct tcp_sock *tp, struct connection *c, struct now *now)
{
	fl bytes = fl_of(now->newly), mss = fl_of(now->mss);
	__u64 window;

	if (in_slow_start(tp, c))
		return fl_to(fl_min(fl_div(bytes, mss), c->after_timeout ? FL_ONE : params.abc_limit), 32);
	c->after_timeout = 0;
	c->acked += now->newly;
	window = fl_to(fl_mul(fl_of_fixed(c->window), mss), 0);
	if (c->acked < window)
		return 0;
	c->acked = min_of(c->acked - window, window);
	return SEGMENT;
}

static __always_inline __u64 limited_slow_start(struct tcp_sock *tp, struct connection *c)
{
	fl segments = fl_of_fixed(c->window);
	__u64 k;

	if (!in_slow_start(tp, c) || segments <= params.limited_max)
		return per_ack(tp, c);
	k = fl_to(fl_div(fl_twice(segments, 1), params.limited_max), 0);
	return k ? SEGMENT / k : SEGMENT;
}

static __always_inline __u64 highspeed(struct tcp_sock *tp, struct connection *c)
{
	fl segments = fl_of_fixed(c->window);

	if (in_slow_start(tp, c))
		return SEGMENT;
	if (fl_apart(segments, c->at_window) > fl_half(FL_ONE, 2)) {
		c->at_window = segments;
		c->increase = curve_increase(&params.growth_curve, segments);
	}
	return share(c, c->increase);
}

// cwnd ≤ factor·(cwnd when the round began), from the second round on.
static __always_inline void capped(struct tcp_sock *tp, struct connection *c, struct now *now)
{
	__u64 before, cap;

	if (!c->in_round || c->una > c->round_end) {
		if (c->in_round) {
			c->cap = fl_mul(params.capped_factor, fl_of_fixed(c->window));
			c->capped = 1;
		}
		c->in_round = 1;
		c->round_end = c->una - now->newly + now->flight;
	}
	before = c->window;
	c->window += per_ack(tp, c);
	cap = c->capped ? fl_to(c->cap, 32) : ~0ull;
	if (c->window > cap)
		c->window = cap > before ? cap : before;
}

static __always_inline void vegas_open(struct tcp_sock *tp, struct connection *c)
{
	if (!in_slow_start(tp, c))
		c->window += c->opening ? per_ack(tp, c) : 0;
	else if (c->doubling)
		c->window += SEGMENT;
}

// An ACK of new data while nothing is repaired and the window limits the sender.
static __always_inline void growth_on_ack(struct tcp_sock *tp, struct connection *c, struct now *now)
{
	if (params.growth == GROWTH_PER_ACK)
		c->window += per_ack(tp, c);
	if (params.growth == GROWTH_BYTES)
		c->window += by_bytes(tp, c, now);
	if (params.growth == GROWTH_CAPPED)
		capped(tp, c, now);
	if (params.growth == GROWTH_LIMITED)
		c->window += limited_slow_start(tp, c);
	if (params.growth == GROWTH_HIGHSPEED)
		c->window += highspeed(tp, c);
	if (params.growth == GROWTH_VEGAS) {
		c->limited = c->due = 1;
		if (params.vegas_by_window)
			vegas_open(tp, c);
	}
}

// ssthresh no higher than the window.
static __always_inline void cap_ssthresh(struct tcp_sock *tp, struct connection *c)
{
	if (tp->snd_ssthresh > c->window >> 32)
		c->told = tp->snd_ssthresh = c->window >> 32;
}

// A round is over that the window has limited: own segments in queues meanwhile were `expected` less `actual`.
static __always_inline void vegas_decide(struct tcp_sock *tp, struct connection *c, fl expected, fl actual)
{
	fl diff = expected > actual ? fl_sub(expected, actual) : 0; // less than none opens the window, whatever alpha
	__u64 least = 2 * SEGMENT;

	if (!in_slow_start(tp, c)) {
		c->doubling = 1;
		c->opening = diff < params.vegas_alpha || expected < actual;
		if (diff > params.vegas_beta) {
			if (c->window > least)
				c->window = c->window - SEGMENT > least ? c->window - SEGMENT : least;
			cap_ssthresh(tp, c);
		}
	} else if (c->doubling) {
		c->doubling = 0; // and the next round is measured
	} else if (diff > params.vegas_gamma) {
		c->window -= c->window >> 3;
		if (c->window < least)
			c->window = least;
		cap_ssthresh(tp, c);
	} else {
		c->doubling = 1;
	}
}

static __always_inline void vegas_begin(struct connection *c)
{
	c->sum_us = c->samples = 0;
	c->limited = 0;
}

// Takes the ACK's sample, and decides if it ends a round.
static __always_inline void vegas_end_round(struct tcp_sock *tp, struct connection *c, struct now *now)
{
	fl expected, sent;
	__u64 begun, rtt_us;
	int over;

	if (now->rtt_us > 0) {
		rtt_us = now->rtt_us;
		if (params.vegas_tick_us)
			rtt_us = (rtt_us / params.vegas_tick_us + 1) * params.vegas_tick_us;
		if (!c->base_us || rtt_us < c->base_us)
			c->base_us = rtt_us;
		c->sum_us += rtt_us;
		c->samples++;
	}
	begun = c->round_end;
	over = begun && c->una > begun;
	if (over || !c->round_end)
		c->round_end = now->nxt;
	if (!over)
		return;
	c->opening = 0;
	if (params.vegas_few && c->samples <= params.vegas_few) {
		c->window += in_slow_start(tp, c) ? 0 : SEGMENT;
	} else if (c->limited && c->sum_us) {
		expected = sent = fl_of_fixed(c->window);
		if (!params.vegas_by_window) {
			expected = in_segments(now->nxt - c->una + now->mss, now);
			sent = in_segments(now->nxt - begun, now);
		}
		// sent·base/mean
		vegas_decide(tp, c, expected, fl_div(fl_mul(sent, fl_of(c->base_us * c->samples)), fl_of(c->sum_us)));
	}
	vegas_begin(c);
}

// Every ACK, after everything else that it brings. By default Vegas opens the window here, as the round has it that the ACK may have begun.
static __always_inline void growth_after_ack(struct tcp_sock *tp, struct connection *c, struct now *now)
{
	int due = c->due;

	c->due = 0;
	if (params.growth != GROWTH_VEGAS || is_repairing(now->state))
		return;
	vegas_end_round(tp, c, now);
	if (due && !params.vegas_by_window)
		vegas_open(tp, c);
}

// A loss event, after the response to it.
static __always_inline void growth_on_loss(struct connection *c, int timeout)
{
	if (params.growth == GROWTH_BYTES) {
		c->acked = 0;
		c->after_timeout = timeout;
	}
	if (params.growth == GROWTH_CAPPED) {
		c->in_round = 1;
		c->round_end = 0; // the next ACK begins a round from what is left of the window
	}
	if (params.growth == GROWTH_VEGAS) {
		c->doubling = 1;
		c->opening = 0;
		if (timeout) {
			c->round_end = 0;
			vegas_begin(c);
		}
	}
}

#endif
