// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// What the program that watches senders tells its owner, whose types are made of these: layout.bpf.c.
#ifndef TRUCKEE_RECORD_H
#define TRUCKEE_RECORD_H

enum kind { WINDOW = 1, STATE = 2 };

// One record.
struct record {
	__u64 t;           // CLOCK_MONOTONIC, ns
	__u32 namespace;   // inode of its network namespace
	__u16 local, peer; // ports
	__u32 una, nxt;    // sequence numbers as sent
	__u32 cwnd, ssthresh; // segments
	__u32 srtt_us;     // smoothed round-trip time, us
	__u32 mss;         // bytes
	__u8 kind, before, after, unused[5]; // states: TCP_CA_*
};

#endif
