// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// The kernel's types, as far as a congestion control here reads them. libbpf finds each field's place in the running
// kernel (CO-RE), so neither its headers nor its BTF are needed where this is compiled.
#ifndef TRUCKEE_TCP_TYPES_H
#define TRUCKEE_TCP_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u64 __be64;
typedef __u16 __le16;

enum bpf_map_type { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_SK_STORAGE = 24, BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_SK_STORAGE_GET_F_CREATE = 1 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define RELOCATED __attribute__((preserve_access_index))

// Only what a BTF type needs to have in common with the kernel's is its name and those of its fields.
struct ns_common {
	__u32 inum;
} RELOCATED;

struct net {
	struct ns_common ns;
} RELOCATED;

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	__be16 skc_dport;
	__u16 skc_num;
	possible_net_t skc_net;
} RELOCATED;

struct sock {
	struct sock_common __sk_common;
} RELOCATED;

struct inet_connection_sock {
	__u8 icsk_ca_state : 5;
	__u8 icsk_ca_initialized : 1;
	__u8 icsk_pending;
} RELOCATED;

struct tcp_sock {
	__u32 snd_una, snd_nxt, snd_wnd, snd_cwnd, snd_ssthresh, snd_cwnd_clamp;
	__u32 prior_cwnd, prior_ssthresh;
	__u32 max_packets_out, mss_cache, srtt_us, data_segs_in;
	__u64 bytes_sent, tcp_mstamp;
	__u8 ecn_flags;
	__u64 tcp_wstamp_ns;
	__u32 is_cwnd_limited : 1;
} RELOCATED;

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
	__u32 in_flight;
} RELOCATED;

enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
enum tcp_ca_event { CA_EVENT_COMPLETE_CWR = 2 };

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CA_NAME_MAX 16

// The name comes first, where the loader writes it; the kernel's own order does not matter.
struct tcp_congestion_ops {
	char name[TCP_CA_NAME_MAX];
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event what);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
};

static __always_inline struct tcp_sock *tcp_sk(struct sock *sk) { return (struct tcp_sock *)sk; }

static __always_inline __u8 ca_state_of(struct sock *sk)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;

	return BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state);
}

static __always_inline __u8 is_initialised(struct sock *sk)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;

	return BPF_CORE_READ_BITFIELD(icsk, icsk_ca_initialized);
}

#endif
