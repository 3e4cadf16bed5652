// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// TCP segments as they pass an interface: reading their headers, and sending copies of an ACK with other numbers. For
// IPv4 without options and IPv6 without extension headers, which is what TCP has; anything else is not looked at.
#ifndef TRUCKEE_PACKET_H
#define TRUCKEE_PACKET_H

#include "tcp_types.h"
#include "layout.h"
#include <bpf/bpf_endian.h>

enum { BPF_MAP_TYPE_PERCPU_ARRAY = 6, BPF_MAP_TYPE_LRU_HASH = 9 };
enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };
enum { BPF_RB_NO_WAKEUP = 1 };

// What a program at an interface may say of a packet. There is no word for taking it away without telling the local TCP
// of a loss: a redirection to a device that does not exist does that.
enum { TCX_NEXT = -1, TCX_REDIRECT = 7 };

struct bpf_flow_keys;
struct bpf_sock;

// The kernel's view for programs (uapi/linux/bpf.h), up to the last field that is read here.
struct __sk_buff {
	__u32 len, pkt_type, mark, queue_mapping, protocol, vlan_present, vlan_tci, vlan_proto, priority;
	__u32 ingress_ifindex, ifindex, tc_index, cb[5], hash, tc_classid, data, data_end, napi_id;
	__u32 family, remote_ip4, local_ip4, remote_ip6[4], local_ip6[4], remote_port, local_port, data_meta;
	union {
		struct bpf_flow_keys *flow_keys;
		__u64 : 64;
	};
	__u64 tstamp;
	__u32 wire_len, gso_segs;
	union {
		struct bpf_sock *sk;
		__u64 : 64;
	};
	__u32 gso_size;
};

struct ipv4 {
	__u8 version_length, service;
	__be16 length, id, fragment;
	__u8 ttl, protocol;
	__u16 check;
	__be32 from, to;
};

struct ipv6 {
	__be32 version_class_flow;
	__be16 length;
	__u8 protocol, hops;
	__be32 from[4], to[4];
};

struct tcp {
	__be16 from, to;
	__be32 seq, ack;
	__u8 offset, flags;
	__be16 window;
	__u16 check, urgent;
};

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, ECE = 64, CWR = 128 };
enum { IPV4 = 0x0800, IPV6 = 0x86dd, TCP = 6, LEAST_HEADER = 20 };

// One segment's headers, in the host's byte order.
struct segment {
	struct connection connection;
	__u32 at;      // where its TCP header begins
	__u32 header;  // bytes of that
	__u32 payload; // bytes
	__u32 seq, ack;
	__u32 window;  // as on the wire, not scaled
	__u8 flags;
	__u8 sack;     // carries SACK blocks
	__u8 stamped;  // carries timestamps
	__u8 scale;    // of a SYN: its window scale
	__u32 ts_val, ts_ecr;
};

#define MOST_OPTIONS 40

// The options of a header, and where we are in them.
struct options {
	__u8 bytes[MOST_OPTIONS + 24]; // as if followed by zeros: no option is read beyond them
	__u32 at, length;
	struct segment *segment;
};

// One option; 1: it was the last.
static long read_option(__u32 k, struct options *o)
{
	__u32 at = o->at;
	if (at >= o->length || at >= MOST_OPTIONS)
		return 1;
	const __u8 *option = &o->bytes[at];
	if (option[0] == 0)
		return 1;
	if (option[0] == 1) {
		o->at++;
		return 0;
	}
	if (option[1] < 2)
		return 1;
	struct segment *s = o->segment;
	if (option[0] == 5)
		s->sack = 1;
	if (option[0] == 3)
		s->scale = option[2] > 14 ? 14 : option[2];
	if (option[0] == 8 && option[1] == 10) {
		s->stamped = 1;
		s->ts_val = option[2] << 24 | option[3] << 16 | option[4] << 8 | option[5];
		s->ts_ecr = option[6] << 24 | option[7] << 16 | option[8] << 8 | option[9];
	}
	o->at += option[1];
	return 0;
}

// Options, as far as anything here depends on them.
static __always_inline void read_options(struct __sk_buff *skb, struct segment *s)
{
	struct options o = { .segment = s };
	__u32 length = s->header - LEAST_HEADER;
	if (length == 0 || length > MOST_OPTIONS)
		return;
	if (bpf_skb_load_bytes(skb, s->at + LEAST_HEADER, o.bytes, length))
		return;
	o.length = length;
	// What nearly every segment carries: two options that say nothing, then the timestamps.
	if (length == 12 && *(__be32 *)o.bytes == bpf_htonl(0x0101080a)) {
		o.at = 2;
		read_option(0, &o);
		return;
	}
	bpf_loop(MOST_OPTIONS, read_option, &o, 0);
}

// Reads a segment's headers; 0 if this is none. `l2` is where its IP header begins. Not inlined, so that the kernel
// checks it once.
__attribute__((noinline)) int read_segment(struct __sk_buff *skb, __u32 l2, __u32 outgoing, struct segment *s)
{
	struct tcp tcp;
	__u32 ip_payload;
	if (!s || l2 > 64)
		return 0;
	__builtin_memset(s, 0, sizeof(*s));
	if (skb->protocol == bpf_htons(IPV4)) {
		struct ipv4 ip;
		if (bpf_skb_load_bytes(skb, l2, &ip, sizeof(ip)))
			return 0;
		if (ip.version_length != 0x45 || ip.protocol != TCP || ip.fragment & bpf_htons(0x3fff))
			return 0;
		s->connection.local[0] = outgoing ? ip.from : ip.to;
		s->connection.remote[0] = outgoing ? ip.to : ip.from;
		s->at = l2 + sizeof(ip);
		// Zero in a packet of more than 64 KiB that the stack has not cut up yet.
		ip_payload = ip.length ? bpf_ntohs(ip.length) : skb->len - l2;
		if (ip_payload < sizeof(ip))
			return 0;
		ip_payload -= sizeof(ip);
	} else if (skb->protocol == bpf_htons(IPV6)) {
		struct ipv6 ip;
		if (bpf_skb_load_bytes(skb, l2, &ip, sizeof(ip)))
			return 0;
		if (ip.protocol != TCP)
			return 0;
		__builtin_memcpy(s->connection.local, outgoing ? ip.from : ip.to, 16);
		__builtin_memcpy(s->connection.remote, outgoing ? ip.to : ip.from, 16);
		s->at = l2 + sizeof(ip);
		ip_payload = ip.length ? bpf_ntohs(ip.length) : skb->len - s->at;
	} else {
		return 0;
	}
	if (bpf_skb_load_bytes(skb, s->at, &tcp, sizeof(tcp)))
		return 0;
	// A length that the packet does not have is nobody's segment: the stack drops it.
	s->header = (tcp.offset >> 4) * 4;
	if (s->header < LEAST_HEADER || s->header > ip_payload || ip_payload > skb->len - s->at)
		return 0;
	s->connection.local_port = bpf_ntohs(outgoing ? tcp.from : tcp.to);
	s->connection.remote_port = bpf_ntohs(outgoing ? tcp.to : tcp.from);
	s->payload = ip_payload - s->header;
	s->seq = bpf_ntohl(tcp.seq);
	s->ack = bpf_ntohl(tcp.ack);
	s->window = bpf_ntohs(tcp.window);
	s->flags = tcp.flags;
	read_options(skb, s);
	return 1;
}

// An ACK that says nothing but how far the data has come.
static __always_inline int is_pure_ack(const struct segment *s)
{
	return (s->flags & (FIN | SYN | RST | ACK | ECE)) == ACK && !s->payload && !s->sack;
}

// Rewrites the ACK's number and window in the packet; the checksum stays right whether it is complete or left to the
// device.
static __always_inline void renumber(struct __sk_buff *skb, const struct segment *s, __u32 from_ack, __u32 to_ack,
				     __u32 from_window, __u32 to_window)
{
	__u32 check = s->at + __builtin_offsetof(struct tcp, check);
	__be32 before = bpf_htonl(from_ack), after = bpf_htonl(to_ack);
	bpf_l4_csum_replace(skb, check, before, after, 4);
	bpf_skb_store_bytes(skb, s->at + __builtin_offsetof(struct tcp, ack), &after, 4, 0);
	if (from_window != to_window) {
		__be16 old = bpf_htons(from_window), new = bpf_htons(to_window);
		bpf_l4_csum_replace(skb, check, old, new, 2);
		bpf_skb_store_bytes(skb, s->at + __builtin_offsetof(struct tcp, window), &new, 2, 0);
	}
}

#endif
