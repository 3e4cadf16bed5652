// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// The books of one connection, from which every part is told of an ACK as its definition in crates/tcp is.
//
// pkts_acked is the one hook that sees every ACK that comes while data is outstanding, duplicates and those that cover
// part of a segment included, in the same order on every kernel: snd_una has advanced, nothing has been sent for it yet,
// and icsk_ca_state is still that of before. Hence
//   newly acked   the advance of snd_una since the hook before;
//   duplicate     no advance, no data with it, the window field as before;
//   rtt           of a duplicate, too, that reports what was sent once; of what a retransmission repaired by timestamps, in
//                 whole milliseconds (tcp_ack_update_rtt);
//   flight        snd_nxt - snd_una, and what was newly acked back: as it was just before the ACK;
//   departures    the growth of bytes_sent since the ACK before, as one at the time of the last of them (tcp_wstamp_ns).
// The window is kept in 32.32 fixed point here, and its whole part in snd_cwnd; where the kernel has written another
// one there (recovery, idleness), that is the window. Not for: what to do with any of it.
#ifndef TRUCKEE_SENDER_H
#define TRUCKEE_SENDER_H

struct stream {
	__u64 last; // 0: nothing has come yet
	__u64 waiting; // bytes
};

struct estimate {
	struct stream stream;
	__u64 known; // whether there is a rate
	__u64 means; // whether there are means
	fl bits, gap; // ns
	fl rate, before;
	__u64 sampled;
	fl throughput, unsteadiness, recent[10]; // westwood-3
	__u64 at;
};

struct connection {
	// books
	__u64 una; // 64 bits, from 1 on
	__u64 bytes_sent;
	__u64 window; // 32.32
	__u64 heard; // the time of the last ACK by the kernel's clock
	__u64 counted; // bytes counted by duplicates and not yet covered
	__u32 prev_una, prev_wnd, prev_data, rtt_min_us, number;
	__u32 target; // what the response would have cwnd be after recovery, 0: nothing to say
	__u32 told; // the threshold of the episode under way; 0: none
	__u32 questions; // for a threshold
	__u8 starting, asked, answer, timed_out, deaf;
	__u8 of_handshake; // whether rtt_min_us is the SYN's, which is back sooner than any data and counts only until these are
	__u8 fate; // of the first byte outstanding, as it was known with the last ACK
	// growth
	__u64 round_end; // capped, vegas; 0: none
	fl cap, at_window, increase;
	__u64 acked, base_us, sum_us, samples;
	__u8 in_round, capped, after_timeout, limited, due, doubling, opening;
	// response
	__u64 highest, decreased;
	// predictors
	fl max, mean, range, last;
	__u64 outliers, last_rtt, last_flight;
	fl knee;
	__u8 begun, has_knee;
	struct estimate estimate;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} state SEC(".maps");

// An event as the parts see it; `ack` or a loss.
struct now {
	__u64 time, newly, delivered, flight, mss, sent, sent_at;
	__u64 nxt; // 64 bits
	__s64 rtt_us; // -1: none
	__u64 srtt_us;
	__u8 duplicate, limited, state;
	__u8 fate; // of a loss: what the owner has told of it
};

static __always_inline int is_repairing(__u8 ca_state)
{
	return ca_state == TCP_CA_CWR || ca_state == TCP_CA_Recovery;
}

// tcp_is_cwnd_limited().
static __always_inline int is_cwnd_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

// What has left since it was asked last.
static __always_inline void read_departures(struct tcp_sock *tp, struct connection *c, struct now *now)
{
	__u64 sent = tp->bytes_sent, at = tp->tcp_wstamp_ns;

	now->sent = sent - c->bytes_sent;
	now->sent_at = at < now->time ? at : now->time; // a paced sender's next departure may lie ahead
	c->bytes_sent = sent;
}

// Where the kernel has moved the window, that is the window.
static __always_inline void read_window(struct tcp_sock *tp, struct connection *c)
{
	__u32 cwnd = tp->snd_cwnd;

	if (c->window >> 32 != cwnd)
		c->window = (__u64)cwnd << 32;
}

static __always_inline fl in_segments(__u64 bytes, struct now *now) { return fl_div(fl_of(bytes), fl_of(now->mss)); }

static __always_inline __u64 min_of(__u64 a, __u64 b) { return a < b ? a : b; }

// What the event shows to have been delivered; crates/tcp/src/sender/books.rs, ByDuplicates.
static __always_inline void count_delivered(struct connection *c, struct now *now)
{
	__u64 known;

	if (now->newly) {
		known = min_of(c->counted, now->newly);
		c->counted -= known;
		now->delivered = now->newly - known;
	} else if (now->duplicate) {
		known = now->flight > c->counted ? now->flight - c->counted : 0;
		now->delivered = min_of(now->mss, known);
		c->counted += now->delivered;
	}
}

static __always_inline void read_ack(struct sock *sk, const struct ack_sample *sample, struct connection *c, struct now *now)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 una = tp->snd_una, out = tp->snd_nxt - una, wnd = tp->snd_wnd, data = tp->data_segs_in;
	__s32 rtt_us = sample->rtt_us;

	now->time = bpf_ktime_get_ns();
	now->newly = (__u32)(una - c->prev_una);
	now->duplicate = !now->newly && out && wnd == c->prev_wnd && data == c->prev_data;
	now->mss = tp->mss_cache;
	now->srtt_us = tp->srtt_us >> 3;
	now->flight = (__u64)out + now->newly;
	now->limited = is_cwnd_limited(tp);
	now->state = ca_state_of(sk);
	c->prev_una = una;
	c->prev_wnd = wnd;
	c->prev_data = data;
	c->una += now->newly;
	now->nxt = c->una + out;
	count_delivered(c, now);
	now->rtt_us = (now->newly || now->duplicate) && rtt_us > 0 ? rtt_us : -1;
	if (now->rtt_us > 0 && (c->of_handshake || now->rtt_us < c->rtt_min_us)) {
		c->rtt_min_us = now->rtt_us;
		c->of_handshake = 0;
	}
	read_departures(tp, c, now);
	read_window(tp, c);
}

#endif
