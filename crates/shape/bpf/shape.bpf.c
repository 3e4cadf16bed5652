// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
//
// Shapes the ACKs that leave this host: cuts them, or holds them back. What is done is given in numbers (struct manner);
// what numbers to give is decided by the ACK policies of truckee-tcp, which hear of arriving data through `arrivals`. A
// held ACK is released by a thread (shape/release.rs), which gets each one's deadline through `deadlines`, since a BPF
// timer cannot transmit. An ACK is held only if that thread is sure to hear of it.
//
// Never touched: segments with data, SYN, FIN, RST, SACK blocks or ECN echo, duplicate ACKs and window updates. What was
// held when one of them leaves has left with it.

#include "packet.h"
#include "state.h"

char _license[] SEC("license") = "GPL";

// Most pieces of one ACK.
#define PIECES 64
// An ACK that waits so long, ns, is heard of in time by a thread that looks every 20 ms.
#define LONG_WAIT 50000000ULL
// The scale of a window whose SYN was not seen: above any that there is (14). So it does not bound what is held, and the
// pieces of an ACK offer no more than the ACK itself.
#define UNKNOWN_SCALE 15
// A connection that was silent for so long on one interface, ns, may go on through another.
#define MOVES 1000000000ULL

static __always_inline struct counts *count(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&counts, &zero);
}

#define COUNT(what, n)                         \
	do {                                   \
		struct counts *c_ = count();   \
		if (c_)                        \
			c_->what += (n);       \
	} while (0)

static __always_inline __s32 after(__u32 a, __u32 b)
{
	return (__s32)(a - b);
}

// The policy of a connection; -1: none.
static __always_inline int policy_of(const struct connection *c)
{
	if (!setup.by_port)
		return 0;
	__u16 port = c->local_port;
	__u16 *policy = bpf_map_lookup_elem(&ports, &port);
	if (!policy) {
		port = c->remote_port;
		policy = bpf_map_lookup_elem(&ports, &port);
	}
	return policy ? *policy : -1;
}

static __always_inline struct flow *new_flow(const struct segment *s, int policy, __u32 device)
{
	struct flow flow = {};
	flow.id = __sync_fetch_and_add(&ids, 1) + 1;
	flow.t = bpf_ktime_get_ns();
	flow.device = device;
	flow.policy = policy;
	flow.scale = UNKNOWN_SCALE;
	bpf_map_update_elem(&flows, &s->connection, &flow, BPF_ANY);
	COUNT(flows, 1);
	return bpf_map_lookup_elem(&flows, &s->connection);
}

// The peer's first byte of data will have this number.
static __always_inline void begin(struct flow *flow, __u32 first)
{
	flow->acked = flow->seen = flow->expected = first;
	flow->begun = flow->hears = 1;
}

// Our part of the handshake: the window scale we offer, and when we asked.
static __always_inline void on_syn(struct flow *flow, const struct segment *s)
{
	flow->scale = s->scale;
	flow->window = s->window; // never scaled in a SYN
	flow->begun = flow->hears = flow->disorder = flow->finished = 0;
	flow->due = 0;
	flow->echo_t = 0;
	// The answer to one that was sent twice may be to either (Karn's rule).
	flow->syn_t = flow->greeted ? 0 : bpf_ktime_get_ns();
	flow->greeted = 1;
	if (s->flags & ACK)
		begin(flow, s->ack);
}

static __always_inline void forget_held(struct flow *flow, const struct connection *c)
{
	if (flow->holds)
		bpf_map_delete_elem(&held, c);
	flow->holds = 0;
}

// Takes the packet away, and the local TCP none the wiser: it goes to a device that does not exist.
static __always_inline int take_away(void)
{
	return bpf_redirect(0, 0);
}

// Holds this ACK instead of the one held before it, if any. 0 if it cannot be held.
static __always_inline int hold(struct __sk_buff *skb, const struct segment *s, __u32 l2, __u64 wait)
{
	__u32 zero = 0, length = skb->len;
	struct scratch *room = bpf_map_lookup_elem(&scratch, &zero);
	if (!room || length < LEAST_HEADER || length > FRAME)
		return 0;
	struct frame *before = bpf_map_lookup_elem(&held, &s->connection);
	room->frame.at = before ? before->at : bpf_ktime_get_ns() + wait;
	room->frame.device = skb->ifindex;
	room->frame.length = length;
	room->frame.l2 = l2;
	if (bpf_skb_load_bytes(skb, 0, room->frame.bytes, length))
		return 0;
	// The thread may take the one before at this very moment; then this is a new one.
	if (before && !bpf_map_update_elem(&held, &s->connection, &room->frame, BPF_EXIST))
		return 1;
	if (before)
		room->frame.at = bpf_ktime_get_ns() + wait;
	struct deadline *d = bpf_ringbuf_reserve(&deadlines, sizeof(*d), 0);
	if (!d)
		return 0;
	d->at = room->frame.at;
	d->connection = s->connection;
	d->device = skb->ifindex;
	if (bpf_map_update_elem(&held, &s->connection, &room->frame, BPF_ANY)) {
		bpf_ringbuf_discard(d, BPF_RB_NO_WAKEUP);
		return 0;
	}
	bpf_ringbuf_submit(d, wait >= LONG_WAIT ? BPF_RB_NO_WAKEUP : 0);
	return 1;
}

// How many pieces of the ACK that is due, which covers `bytes`, are to leave.
static __always_inline __u32 pieces_of(const struct manner *m, const struct flow *flow, __u32 bytes, int urgent)
{
	if (urgent && !m->cuts_holes)
		return 1;
	if (m->first && flow->due > m->first)
		return 1;
	__u32 n = m->parts;
	if (m->aligned && flow->mss)
		n = (bytes - 1) / (m->covers * flow->mss) + 1;
	if (n > PIECES)
		n = PIECES;
	return n < 1 || bytes < n ? 1 : n;
}

// The copies of an ACK that leave before it.
struct pieces {
	struct __sk_buff *skb;
	const struct segment *segment;
	__u64 step;     // segments' bytes between two; 0: equal parts
	__u32 n;        // with the ACK itself
	__u32 base;     // acknowledged before
	__u32 scale;    // of the window
	__u32 ack, window; // what the packet says now
};

static long send_piece(__u32 k, struct pieces *p)
{
	const struct segment *s = p->segment;
	__u32 bytes = s->ack - p->base, n = p->n ? p->n : 1;
	__u32 number = p->base + (p->step ? p->step * (k + 1) : (__u64)bytes * (k + 1) / n);
	// The right edge of the window stays where it is.
	__u32 window = s->window + ((s->ack - number) >> (p->scale & 15));
	if (window > 65535)
		window = 65535;
	renumber(p->skb, s, p->ack, number, p->window, window);
	p->ack = number;
	p->window = window;
	bpf_clone_redirect(p->skb, p->skb->ifindex, 0);
	return 0;
}

static __always_inline void send_pieces(struct __sk_buff *skb, const struct segment *s, const struct manner *m,
					const struct flow *flow, __u32 n)
{
	__u32 zero = 0, mark = skb->mark;
	struct scratch *room = bpf_map_lookup_elem(&scratch, &zero);
	if (!room)
		return;
	__u64 step = m->aligned ? (__u64)m->covers * flow->mss : 0;
	struct pieces p = { .skb = skb, .segment = s, .n = n, .base = flow->acked, .scale = flow->scale };
	// More than fit would be left at the end: then equal parts.
	p.step = step * (n - 1) < s->ack - p.base && step * n >= s->ack - p.base ? step : 0;
	p.ack = s->ack;
	p.window = s->window;
	room->mark = mark;
	skb->mark = setup.copy_mark;
	bpf_loop(n - 1, send_piece, &p, 0);
	renumber(skb, s, p.ack, s->ack, p.window, s->window);
	skb->mark = mark;
	struct counts *c = count();
	if (c) {
		c->divided++;
		c->pieces += n;
	}
}

static __always_inline __u8 mode_of(const struct manner *m)
{
	if (m->parts > 1)
		return DIVIDED;
	if (m->covers <= 1)
		return AS_IS;
	return m->adapts && m->covers > 2 ? ACCUMULATED : DELAYED;
}

// An ACK of new data that says nothing else: held, or sent in pieces.
static __always_inline int shape(struct __sk_buff *skb, const struct segment *s, struct flow *flow, __u32 l2, int released)
{
	__u32 index = flow->policy;
	struct manner *policy = bpf_map_lookup_elem(&policies, &index);
	if (!policy)
		return TCX_NEXT;
	struct manner m = *policy;
	if (m.adapts) {
		struct manner *now = bpf_map_lookup_elem(&manners, &s->connection);
		if (now) {
			int before = after(s->ack, now->since) <= 0;
			m.wait = now->wait;
			m.covers = before ? now->covers_before : now->covers;
			m.parts = before ? now->parts_before : now->parts;
		}
	}
	__u32 bytes = s->ack - flow->acked;
	int urgent = flow->disorder || (flow->finished && after(s->ack, flow->fin) >= 0);
	if (flow->disorder && after(s->ack, flow->top) >= 0)
		flow->disorder = 0;
	flow->mode = mode_of(&m);
	if (!released && !urgent && m.covers > 1) {
		__u32 mss = flow->mss ? flow->mss : 1;
		int full = m.minds_window && (__u64)bytes + mss > flow->window;
		__u32 segments = (bytes - 1) / mss + 1;
		if (!full && flow->mss && segments < m.covers) {
			if (hold(skb, s, l2, m.wait)) {
				COUNT(held, 1);
				flow->holds = 1;
				return take_away();
			}
			COUNT(unheld, 1);
		}
	}
	forget_held(flow, &s->connection);
	flow->due++;
	__u32 n = pieces_of(&m, flow, bytes, urgent);
	if (n > 1)
		send_pieces(skb, s, &m, flow, n);
	flow->acked = s->ack;
	COUNT(sent, n);
	return TCX_NEXT;
}

// Waits for the echo of one timestamp at a time.
static __always_inline void await_echo(struct flow *flow, const struct segment *s, __u64 now)
{
	if (s->stamped && !flow->echo_t) {
		flow->echo = s->ts_val;
		flow->echo_t = now;
	}
}

SEC("tcx/egress")
int outgoing(struct __sk_buff *skb)
{
	__u32 mark = skb->mark, zero = 0, device = skb->ifindex;
	if (mark == setup.copy_mark) {
		struct scratch *room = bpf_map_lookup_elem(&scratch, &zero);
		if (room)
			skb->mark = room->mark;
		return TCX_NEXT;
	}
	int released = mark == setup.release_mark;
	if (!released && setup.cgroup && bpf_skb_ancestor_cgroup_id(skb, setup.level) != setup.cgroup)
		return TCX_NEXT;
	__u32 *l2 = bpf_map_lookup_elem(&devices, &device);
	struct segment s = {};
	if (!l2 || !read_segment(skb, *l2, 1, &s))
		return TCX_NEXT;
	int policy = policy_of(&s.connection);
	if (policy < 0)
		return TCX_NEXT;
	__u64 now = bpf_ktime_get_ns();
	struct flow *flow = bpf_map_lookup_elem(&flows, &s.connection);
	if (!flow) {
		if (released)
			skb->mark = 0;
		if (s.flags & (RST | FIN))
			return TCX_NEXT;
		flow = new_flow(&s, policy, device);
		if (!flow)
			return TCX_NEXT;
	}
	if (flow->device != device) {
		// Another interface on the way of the same packet, or a new way.
		if (now - flow->t < MOVES)
			return TCX_NEXT;
		flow->device = device;
	}
	if (released) {
		skb->mark = 0;
		if (!flow->begun || after(s.ack, flow->acked) <= 0) {
			COUNT(late, 1);
			return take_away();
		}
		COUNT(released, 1);
		return shape(skb, &s, flow, *l2, 1);
	}
	if (s.flags & SYN) {
		on_syn(flow, &s);
		return TCX_NEXT;
	}
	if (!(s.flags & ACK) || s.flags & RST)
		return TCX_NEXT;
	flow->window = s.window << flow->scale;
	await_echo(flow, &s, now);
	if (!flow->begun) {
		// A connection that was there before us.
		begin(flow, s.ack);
		flow->t = now;
		return TCX_NEXT;
	}
	if (flow->begun == 1 && s.ack == flow->seen && !s.payload)
		return TCX_NEXT; // the handshake's third
	flow->begun = 2;
	struct counts *c = count();
	if (!c)
		return TCX_NEXT;
	__s32 news = after(s.ack, flow->seen);
	if (news > 0 && after(s.ack, flow->expected) > 0)
		flow->expected = s.ack; // a hole was filled, or data came another way
	if (!is_pure_ack(&s) || news <= 0) {
		if (!s.payload && news <= 0 && !s.sack)
			c->duplicates++;
		else if (!s.payload)
			c->others++;
		if (news > 0) {
			flow->seen = s.ack;
			c->bytes += news;
		}
		if (after(s.ack, flow->acked) > 0) {
			flow->acked = s.ack;
			forget_held(flow, &s.connection);
		}
		return TCX_NEXT;
	}
	c->seen++;
	c->bytes += news;
	c->mode[flow->mode % MODES] += now - flow->t;
	flow->t = now;
	flow->seen = s.ack;
	return shape(skb, &s, flow, *l2, 0);
}

// The round-trip time that a segment brings: the handshake's, or that of the timestamp it echoes.
static __always_inline __u32 rtt_of(struct flow *flow, const struct segment *s, __u64 now)
{
	__u32 rtt = flow->rtt_us;
	flow->rtt_us = 0;
	if (s->stamped && flow->echo_t && after(s->ts_ecr, flow->echo) >= 0) {
		rtt = (now - flow->echo_t) / 1000;
		flow->echo_t = 0;
		return rtt ? rtt : 1;
	}
	return rtt;
}

SEC("tcx/ingress")
int incoming(struct __sk_buff *skb)
{
	__u32 device = skb->ifindex;
	__u32 *l2 = bpf_map_lookup_elem(&devices, &device);
	struct segment s = {};
	if (!l2 || !read_segment(skb, *l2, 0, &s))
		return TCX_NEXT;
	struct flow *flow = bpf_map_lookup_elem(&flows, &s.connection);
	if (!flow)
		return TCX_NEXT;
	__u64 now = bpf_ktime_get_ns();
	if (s.flags & ACK && flow->syn_t) {
		flow->rtt_us = (now - flow->syn_t) / 1000;
		flow->syn_t = 0;
	}
	if (s.flags & SYN) {
		if (!flow->begun)
			begin(flow, s.seq + 1);
		return TCX_NEXT;
	}
	if (!flow->hears || (!s.payload && !(s.flags & FIN)))
		return TCX_NEXT;
	__u32 segments = skb->gso_segs ? skb->gso_segs : 1;
	__u32 size = skb->gso_size ? skb->gso_size : s.payload;
	if (size > flow->mss)
		flow->mss = size;
	__u32 end = s.seq + s.payload;
	int in_order = after(s.seq, flow->expected) <= 0 && after(end, flow->expected) > 0;
	int old = s.payload && after(end, flow->expected) <= 0;
	if (in_order)
		flow->expected = end;
	else if (after(s.seq, flow->expected) > 0) {
		flow->top = flow->disorder && after(flow->top, end) > 0 ? flow->top : end;
		flow->disorder = 1;
	}
	if (s.flags & FIN && !flow->finished) {
		flow->finished = 1;
		flow->fin = end + 1;
	}
	__u32 index = flow->policy;
	struct manner *m = bpf_map_lookup_elem(&policies, &index);
	if (!m || !m->adapts || !s.payload)
		return TCX_NEXT;
	__u32 rtt = rtt_of(flow, &s, now);
	flow->untold_bytes += s.payload;
	flow->untold_segments += segments;
	if (rtt)
		flow->untold_rtt_us = rtt;
	int urgent = flow->disorder || old || s.flags & FIN;
	if (!urgent && now - flow->told_t < m->grain_us * 1000ULL)
		return TCX_NEXT;
	struct arrival *a = bpf_ringbuf_reserve(&arrivals, sizeof(*a), 0);
	if (!a) {
		COUNT(unheard, 1);
		return TCX_NEXT;
	}
	a->t = now;
	a->connection_id = flow->id;
	a->connection = s.connection;
	a->end = end;
	a->bytes = flow->untold_bytes;
	a->segments = flow->untold_segments;
	a->unacked = flow->begun ? flow->expected - flow->acked : s.payload;
	a->window = flow->window;
	a->rtt_us = flow->untold_rtt_us;
	a->policy = flow->policy;
	a->in_order = in_order;
	a->urgent = urgent;
	bpf_ringbuf_submit(a, m->adapts == IN_PASSING && !urgent ? BPF_RB_NO_WAKEUP : 0);
	flow->told_t = now;
	flow->untold_bytes = flow->untold_segments = flow->untold_rtt_us = 0;
	return TCX_NEXT;
}
