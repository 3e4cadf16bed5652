// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// What a recorded congestion control was told, and what it decided: one record an event, into a ring buffer. What does
// not fit is counted. The owner's types are made of these (layout.bpf.c); src/event.rs says what each field is. Not for:
// deciding anything.
#ifndef TRUCKEE_EVENT_H
#define TRUCKEE_EVENT_H

enum kind { EVENT_INIT, EVENT_ACK, EVENT_SSTHRESH, EVENT_STATE, EVENT_UNDO, EVENT_RELEASE };

enum flag {
	FLAG_DUPLICATE = 1, FLAG_LIMITED = 2, FLAG_TIMEOUT = 4, FLAG_ECHO = 8, FLAG_CLAMPED = 16, FLAG_ESTIMATE = 32,
	FLAG_QUEUED_OUT = 64, FLAG_DESTROYED = 128, // what was told of the loss
};

struct event {
	__u64 time, sent_at, estimate;
	__u64 window, window_after;
	__u32 connection;
	__u16 local_port, remote_port;
	__u32 una, nxt, newly, delivered;
	__s32 rtt_us;
	__u32 sent, flight, mss, srtt_us, rtt_min_us, ssthresh, ssthresh_after, cwnd;
	__u8 kind, state, flags, verdict;
};

#ifndef TRUCKEE_NATIVE
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); // the loader's to enlarge
} events SEC(".maps");

struct {
	__u64 lost, connections;
} counters;

static __always_inline struct event *event_begin(struct sock *sk, __u8 kind, __u64 now, __u32 connection)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct event *event;

	if (!params.record)
		return NULL;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		__sync_fetch_and_add(&counters.lost, 1);
		return NULL;
	}
	__builtin_memset(event, 0, sizeof(*event));
	event->kind = kind;
	event->time = now;
	event->connection = connection;
	event->local_port = sk->__sk_common.skc_num;
	event->remote_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	event->una = tp->snd_una;
	event->nxt = tp->snd_nxt;
	event->mss = tp->mss_cache;
	event->srtt_us = tp->srtt_us >> 3;
	event->ssthresh = event->ssthresh_after = tp->snd_ssthresh;
	event->cwnd = tp->snd_cwnd;
	event->state = ca_state_of(sk);
	event->rtt_us = -1;
	return event;
}
#endif

#endif
