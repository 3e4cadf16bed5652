// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// What passes between the program that shapes ACKs and its owner. The owner's types are made of these: layout.bpf.c.
#ifndef TRUCKEE_LAYOUT_H
#define TRUCKEE_LAYOUT_H

// A connection as this host sees it.
struct connection {
	__be32 local[4], remote[4];
	__u16 local_port, remote_port;
};

// How this instance is set up.
struct setup {
	__u64 cgroup;     // only sockets in it; 0: any
	__u32 level;      // its depth in the hierarchy
	__u32 copy_mark;  // on copies of ACKs
	__u32 release_mark; // on released ones
	__u32 by_port;    // only connections of `ports`
};

// Whether `manners` has a word on each connection; and whether arrivals wake the thread, or are heard of in passing.
enum adapting { FIXED, PROMPTLY, IN_PASSING };

// What is done with ACKs.
struct manner {
	__u64 wait;      // how long an ACK is held at most, ns
	__u32 covers;    // segments that an ACK is to cover
	__u32 parts;     // pieces of an ACK that is due
	__u32 first;     // how many ACKs may be cut; 0: all
	__u8 cuts_holes; // whether the ACK that fills a hole is cut too
	__u8 minds_window; // whether a window without room for another segment lets the ACK go
	__u8 aligned;    // whether an ACK that covers more than `covers` segments is cut at every `covers`
	__u8 adapts;     // enum adapting
	// Of a connection's: ACKs up to here are still treated as before, with these numbers. A verdict may come before the
	// ACK of the segment that it follows has left.
	__u32 since, covers_before, parts_before;
	// Arrivals nearer than this to the one last told of, us, are told of with a later one.
	__u32 grain_us;
};

// Longest frame that is held: IPv6 with a full TCP header.
#define FRAME 128
// What the thread is told of an ACK that is held; and by the frame in `held`.
struct deadline {
	__u64 at; // CLOCK_MONOTONIC, ns
	struct connection connection;
	__u32 device;
};
struct frame {
	__u64 at;
	__u32 device, length, l2;
	__u8 bytes[FRAME];
};

// What the thread is told of data that has come since it was last told.
struct arrival {
	__u64 t, connection_id;
	struct connection connection;
	__u32 end;      // sequence number after its last byte
	__u32 bytes, segments;
	__u32 unacked;  // bytes in order that no ACK has covered yet, these included
	__u32 window;   // bytes; 2^32 - 1: not known
	__u32 rtt_us;   // a sample that it brought; 0: none
	__u16 policy;
	__u8 in_order, urgent;
};

// Ways of treating ACKs, for counting the time spent in each.
enum mode { AS_IS, DIVIDED, DELAYED, ACCUMULATED, MODES };

// What was done.
struct counts {
	__u64 seen;       // ACKs of the stack that could be shaped
	__u64 sent;       // that left, pieces included
	__u64 divided;    // that were cut
	__u64 pieces;     // into which they were cut
	__u64 held;       // taken away until a later one
	__u64 released;   // sent by the timer
	__u64 late;       // released, but a later one had left meanwhile
	__u64 duplicates; // duplicate ACKs and window updates, passed
	__u64 others;     // ACKs with SACK blocks or ECN echo, passed
	__u64 unheld;     // that should have been held, but there was no room
	__u64 bytes;      // acknowledged, by whatever ACK
	__u64 flows;
	__u64 unheard;    // arrivals that the thread was not told of at once, for want of room
	__u64 mode[MODES]; // time, ns, summed over flows
};

#endif
