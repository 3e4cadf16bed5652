// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
/* What `truckee doctor` has the kernel load, to see whether it does: a congestion control, registered for good or for
 * as long as its link is held, a program at a tracepoint, and one at an interface. None of them does anything. */
#define SEC(name) __attribute__((section(name), used))

typedef unsigned int u32;
typedef unsigned long long u64;

char _license[] SEC("license") = "GPL";

struct sock;

/* Members are found by their names in the kernel's BTF; what is left out is left zero. */
struct tcp_congestion_ops {
	char name[16]; /* first, so that the loader knows where to write it */
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	u32 (*undo_cwnd)(struct sock *sk);
} __attribute__((preserve_access_index));

/* One for each member: the kernel checks a program as the member that it is for. */
SEC("struct_ops")
u32 probe_ssthresh(u64 *ctx)
{
	return 2;
}

SEC("struct_ops")
u32 probe_undo(u64 *ctx)
{
	return 2;
}

SEC("struct_ops")
void probe_avoid(u64 *ctx)
{
}

SEC(".struct_ops")
struct tcp_congestion_ops kept = {
	.name = "truckee_kept",
	.ssthresh = (void *)probe_ssthresh,
	.cong_avoid = (void *)probe_avoid,
	.undo_cwnd = (void *)probe_undo,
};

SEC(".struct_ops.link")
struct tcp_congestion_ops linked = {
	.name = "truckee_linked",
	.ssthresh = (void *)probe_ssthresh,
	.cong_avoid = (void *)probe_avoid,
	.undo_cwnd = (void *)probe_undo,
};

SEC("tp_btf/tcp_probe")
int probe_trace(u64 *ctx)
{
	return 0;
}

SEC("tc")
int probe_pass(void *skb)
{
	return -1; /* TC_ACT_UNSPEC */
}
