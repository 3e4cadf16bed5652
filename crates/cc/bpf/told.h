// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// What the owner tells of losses, for the ideal predictor: of each connection that misses any, the stretches of bytes
// whose latest transmission the path has lost, lowest first. An entry is replaced as a whole. A path that knows the causes
// tells them before it lets anything through from which a sender could learn of the loss. The owner's types are made of
// these (layout.bpf.c). Not for: deciding anything.
#ifndef TRUCKEE_TOLD_H
#define TRUCKEE_TOLD_H

#define MOST_STRETCHES 64

// A connection by its ports, of which the server's is the lower one.
struct ends {
	__u16 server, client;
};

struct stretch {
	__u32 first, bytes; // numbers as on the wire
	__u32 cause; // enum cause
};

struct losses {
	__u32 count;
	struct stretch stretches[MOST_STRETCHES];
};

#ifndef TRUCKEE_NATIVE
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); // the loader's to enlarge
	__type(key, struct ends);
	__type(value, struct losses);
} told SEC(".maps");

// What the latest transmission of this byte died of, by wrapping numbers; 0: it is not known to be lost.
static __always_inline __u8 fate_of(struct sock *sk, __u32 byte)
{
	__u16 local = sk->__sk_common.skc_num, remote = __builtin_bswap16(sk->__sk_common.skc_dport);
	struct ends ends = { local < remote ? local : remote, local < remote ? remote : local };
	struct losses *losses = bpf_map_lookup_elem(&told, &ends);
	__u32 i;

	if (!losses)
		return 0;
	for (i = 0; i < MOST_STRETCHES && i < losses->count; i++)
		if (byte - losses->stretches[i].first < losses->stretches[i].bytes)
			return losses->stretches[i].cause;
	return 0;
}
#endif

#endif
