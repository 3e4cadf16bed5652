// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// What the program that shapes ACKs knows: of each connection, of what it is to do, and of what it has done.
#ifndef TRUCKEE_STATE_H
#define TRUCKEE_STATE_H

#include "packet.h"

// Room for connections; those not heard of for longest make room for others.
#define FLOWS 32768
// Most policies: one a flow of a scenario.
#define POLICIES 512

struct flow {
	__u64 id;
	__u64 t;           // when its last ACK was seen
	__u64 echo_t;      // when the timestamp was sent whose echo is awaited; 0: none is
	__u64 syn_t;       // when our SYN left; 0: not seen, sent again, or its answer was seen
	__u64 told_t;      // when the thread was last told of data
	__u32 untold_bytes, untold_segments, untold_rtt_us; // since then
	__u32 echo;        // that timestamp
	__u32 rtt_us;      // the handshake's, until told
	__u32 acked;       // ACKs up to here have left
	__u32 seen;        // the stack has acknowledged up to here
	__u32 expected;    // data in order has come up to here
	__u32 top;         // highest byte seen while something was missing
	__u32 fin;         // number after the FIN
	__u32 mss;         // bytes of the largest segment seen
	__u32 due;         // ACKs that were due until now
	__u32 device;
	__u32 window;      // as last advertised, bytes
	__u16 policy;
	__u8 scale;        // of our window
	__u8 begun;        // acked and seen hold; 1: nothing was acknowledged since the handshake
	__u8 hears;        // expected holds
	__u8 disorder;     // something is missing below `top`
	__u8 finished;     // a FIN has come
	__u8 mode;
	__u8 greeted;      // our SYN has left before
	__u8 holds;        // an ACK was held, and may still be
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FLOWS);
	__type(key, struct connection);
	__type(value, struct flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FLOWS);
	__type(key, struct connection);
	__type(value, struct frame);
} held SEC(".maps");

// What a policy that adapts does with a connection at present.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FLOWS);
	__type(key, struct connection);
	__type(value, struct manner);
} manners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, POLICIES);
	__type(key, __u32);
	__type(value, struct manner);
} policies SEC(".maps");

// With `by_port`: which policy a port has, ours or the peer's.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, POLICIES);
	__type(key, __u16);
	__type(value, __u16);
} ports SEC(".maps");

// The interfaces: where the IP header begins in their frames.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counts);
} counts SEC(".maps");

// Too large for a stack of 512 bytes; and the mark of the packet that is being copied, for its copies.
struct scratch {
	struct frame frame;
	__u32 mark;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} deadlines SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} arrivals SEC(".maps");

const volatile struct setup setup SEC(".rodata.setup") = {};

__u64 ids = 0; // connections named so far

#endif
