// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
//
// Watches the senders of a run from outside, whatever their congestion control: the window at each ACK, and each turn of
// the state that Linux keeps of a connection's losses (Open, Disorder, CWR, Recovery, Loss). Only sockets of the
// namespaces in `watched` are looked at. Read-only.

#include "tcp_types.h"
#include "record.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} watched SEC(".maps");

struct seen {
	__u64 t;
	__u32 cwnd, ssthresh;
};
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct seen);
} last SEC(".maps");

// Least time between two records of an unchanging socket's window, ns; 0: one for each ACK.
const volatile __u64 spacing SEC(".rodata.spacing") = 0;

__u64 lost = 0; // records for which the ring had no room

static __always_inline int is_watched(struct sock *sk, __u32 *namespace)
{
	*namespace = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	return bpf_map_lookup_elem(&watched, namespace) != 0;
}

static __always_inline struct record *begin(struct sock *sk, struct tcp_sock *tp, __u32 namespace, __u8 kind)
{
	struct record *r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	r->t = bpf_ktime_get_ns();
	r->namespace = namespace;
	r->local = BPF_CORE_READ(sk, __sk_common.skc_num);
	r->peer = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	r->una = BPF_CORE_READ(tp, snd_una);
	r->nxt = BPF_CORE_READ(tp, snd_nxt);
	r->cwnd = BPF_CORE_READ(tp, snd_cwnd);
	r->ssthresh = BPF_CORE_READ(tp, snd_ssthresh);
	r->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	r->mss = BPF_CORE_READ(tp, mss_cache);
	r->kind = kind;
	r->before = r->after = BPF_CORE_READ_BITFIELD_PROBED((struct inet_connection_sock *)sk, icsk_ca_state);
	__builtin_memset(r->unused, 0, sizeof(r->unused));
	return r;
}

// At each segment that an established connection receives, before it changes anything.
SEC("tp_btf/tcp_probe")
int BPF_PROG(on_probe, struct sock *sk)
{
	__u32 namespace;
	if (!is_watched(sk, &namespace))
		return 0;
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	if (spacing) {
		struct seen *seen = bpf_sk_storage_get(&last, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		__u32 cwnd = BPF_CORE_READ(tp, snd_cwnd), ssthresh = BPF_CORE_READ(tp, snd_ssthresh);
		__u64 now = bpf_ktime_get_ns();
		if (seen && (now - seen->t < spacing || (seen->cwnd == cwnd && seen->ssthresh == ssthresh)))
			return 0;
		if (seen) {
			seen->t = now;
			seen->cwnd = cwnd;
			seen->ssthresh = ssthresh;
		}
	}
	struct record *r = begin(sk, tp, namespace, WINDOW);
	if (r)
		bpf_ringbuf_submit(r, 0);
	return 0;
}

// Where Linux takes a connection's losses to have begun, to be repaired, or to be over.
SEC("tp_btf/tcp_cong_state_set")
int BPF_PROG(on_state, struct sock *sk, __u8 state)
{
	__u32 namespace;
	if (!is_watched(sk, &namespace))
		return 0;
	struct record *r = begin(sk, (struct tcp_sock *)sk, namespace, STATE);
	if (r) {
		r->after = state;
		bpf_ringbuf_submit(r, 0);
	}
	return 0;
}
