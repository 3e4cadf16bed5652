// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
// The senders of crates/tcp as congestion controls of the Linux kernel: any product of the growth rules, responses,
// predictors and estimators of this folder, chosen by `params`. Each header says what its arithmetic is and how far it
// may be from the definition.
//
// What is the kernel's stays the kernel's: how losses are noticed (duplicate ACKs, SACK, RACK, the timer), the window
// while they are repaired (PRR), and what may be sent. Where it asks:
//   pkts_acked   every ACK: estimators and predictors hear of it, then the window opens. cong_avoid, which would come
//                later and only for ACKs that complete a segment, does nothing.
//   ssthresh     once a loss episode. It does not say why it asks. The timer's handler clears icsk_pending before it
//                enters loss, and in no other place is that 0 while data is outstanding: so it is a timeout. For an ECN
//                echo, or a drop in the local queue, the kernel has just cleared prior_ssthresh; it may still be clear
//                where a probe (TLP) has repaired the first loss, but then this is within an ACK, and there is no ECN.
//   set_state    to Loss at every timeout, also where ssthresh is not asked: one during recovery, or of the same segment
//                again.
//   cwnd_event   COMPLETE_CWR: recovery is over, and cwnd = ssthresh. The definition's window may be smaller (an estimate
//                above the window must not open it), so that it is brought down to that.
//   undo_cwnd    as tcp_reno_undo_cwnd.
// A kernel may pass a program over, and take what lies on the stack for its answer: one before 6.1 where the same program is
// running on the processor, and one that keeps programs from some processes where a timer fires while those run. So the
// threshold of an episode is looked at with each ACK in it (is_unanswered).
#include "tcp_types.h"
#include "float.h"
#include "params.h"
#include "event.h"
#include "told.h"
#include "sender.h"
#include "estimate.h"
#include "predict.h"
#include "curve.h"
#include "growth.h"
#include "response.h"

char _license[] SEC("license") = "GPL";

// What a test that passes programs over has the kernel find in place of a threshold.
#define PASSED_OVER 0x27d2bb00u

static __always_inline struct connection *connection_of(struct sock *sk)
{
	return bpf_sk_storage_get(&state, sk, 0, 0);
}

static __always_inline void tell(struct event *event, struct connection *c, struct now *now)
{
	event->flight = now->flight;
	event->sent = now->sent;
	event->sent_at = now->sent_at;
	event->rtt_min_us = c->rtt_min_us;
	event->window_after = c->window;
	event->estimate = fl_to(c->estimate.rate, 8);
	if (c->estimate.known)
		event->flags |= FLAG_ESTIMATE;
}

// A connection's books from now on.
static __always_inline struct connection *begin(struct sock *sk)
{
	struct connection *c = bpf_sk_storage_get(&state, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	struct tcp_sock *tp = tcp_sk(sk);
	struct event *event;

	if (!c)
		return NULL;
	__builtin_memset(c, 0, sizeof(*c));
	c->una = 1;
	c->prev_una = tp->snd_una;
	c->prev_wnd = tp->snd_wnd;
	c->prev_data = tp->data_segs_in;
	c->bytes_sent = tp->bytes_sent;
	c->rtt_min_us = tp->srtt_us >> 3; // the handshake's, where it was measured
	c->of_handshake = 1;
	c->starting = params.freebsd;
	c->doubling = 1;
	c->at_window = c->increase = FL_ONE;
	c->number = __sync_fetch_and_add(&counters.connections, 1);
	read_window(tp, c);
	event = event_begin(sk, EVENT_INIT, bpf_ktime_get_ns(), c->number);
	if (event) {
		event->window = event->window_after = c->window;
		event->rtt_min_us = c->rtt_min_us;
		bpf_ringbuf_submit(event, 0);
	}
	return c;
}

SEC("struct_ops")
void BPF_PROG(truckee_init, struct sock *sk)
{
	if (params.ssthresh)
		tcp_sk(sk)->snd_ssthresh = params.ssthresh;
	begin(sk);
}

SEC("struct_ops")
void BPF_PROG(truckee_release, struct sock *sk)
{
	struct connection *c = connection_of(sk);
	struct event *event = c ? event_begin(sk, EVENT_RELEASE, bpf_ktime_get_ns(), c->number) : NULL;

	if (event)
		bpf_ringbuf_submit(event, 0);
}

// Whether a test has this question passed over, and with it the state that follows.
static __always_inline int is_passed_over(struct connection *c)
{
	c->deaf = params.pass_over && ++c->questions % params.pass_over == 0;
	return c->deaf;
}

// The threshold after the loss of what begins at `una`, segments. c->window is that of before.
static __attribute__((noinline)) __u32 answer(struct sock *sk, struct connection *c, __u32 una, int timeout, int echo)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct now now = {};
	struct decision to = {};
	struct event *event;
	__u32 ssthresh;

	now.time = bpf_ktime_get_ns();
	now.mss = tp->mss_cache;
	now.flight = tp->snd_nxt - una;
	read_departures(tp, c, &now);
	c->highest = c->una + now.flight;
	// RFC 5681, section 3.2, step 2: what limited transmit has released does not count, and the kernel does that.
	if (params.from_window)
		now.flight = (c->window >> 32) * now.mss;
	else if (!echo)
		now.flight = min_of(now.flight, (c->window >> 32) * now.mss);
	estimate_on_sent(c, &now);
	if (params.predictor == PREDICT_IDEAL)
		now.fate = fate_of(sk, una) ?: c->fate;
	event = event_begin(sk, EVENT_SSTHRESH, now.time, c->number);
	respond(tp, c, &now, timeout, echo, &to);
	ssthresh = fl_to(to.ssthresh, 0);
	c->target = fl_to(to.cwnd, 0);
	c->told = ssthresh;
	c->starting = 0;
	c->asked = timeout;
	growth_on_loss(c, timeout);
	if (event) {
		event->una = una;
		event->cwnd = c->window >> 32;
		event->window = c->window;
		tell(event, c, &now);
		event->window_after = (__u64)c->target << 32;
		event->ssthresh_after = ssthresh;
		event->verdict = to.verdict;
		event->flags |= (timeout ? FLAG_TIMEOUT : 0) | (echo ? FLAG_ECHO : 0);
		event->flags |= now.fate == CAUSE_CONGESTION ? FLAG_QUEUED_OUT : 0;
		event->flags |= now.fate == CAUSE_WIRELESS ? FLAG_DESTROYED : 0;
		bpf_ringbuf_submit(event, 0);
	}
	return ssthresh;
}

static __always_inline void enter(struct sock *sk, struct connection *c, __u8 state)
{
	struct event *event;

	if (state == TCP_CA_Loss) {
		if (!c->asked) {
			growth_on_loss(c, 1);
			c->decreased = c->highest;
		}
		predict_on_timeout(c);
		c->asked = c->starting = 0;
	}
	if (state < TCP_CA_CWR) {
		c->told = 0;
		// What is left of the repair's window is no part of the one that follows it, which is a whole threshold.
		if (is_repairing(ca_state_of(sk)))
			c->window = (__u64)tcp_sk(sk)->snd_cwnd << 32;
	}
	event = event_begin(sk, EVENT_STATE, bpf_ktime_get_ns(), c->number);
	if (event) {
		event->state = state;
		bpf_ringbuf_submit(event, 0);
	}
}

// Whether the kernel is in an episode and got no answer of this program's to it. Where path MTU discovery sends segments
// anew it enters loss without asking, and there is nothing to undo.
static __always_inline int is_unanswered(struct tcp_sock *tp, struct connection *c, __u8 state)
{
	return state >= TCP_CA_CWR && c->told != tp->snd_ssthresh && (state != TCP_CA_Loss || tp->prior_ssthresh);
}

// Answers late, as of the window that the episode began with; what came meanwhile was repaired by PRR, which sends no more
// than arrives, whatever it aims at.
static __always_inline void answer_late(struct sock *sk, struct connection *c, __u8 state)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (c->window >> 32 != tp->prior_cwnd)
		c->window = (__u64)tp->prior_cwnd << 32;
	tp->snd_ssthresh = answer(sk, c, c->prev_una, state == TCP_CA_Loss, state == TCP_CA_CWR);
	if (state == TCP_CA_Loss)
		enter(sk, c, state);
}

SEC("struct_ops")
void BPF_PROG(truckee_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct connection *c = connection_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct now now = {};
	struct event *event;
	__u8 state;
	__u64 clamp;

	// The ACK of a SYN comes before init; later there was no memory for it when the connection began.
	if (!c && is_initialised(sk))
		c = begin(sk);
	if (!c)
		return;
	c->heard = tp->tcp_mstamp;
	c->deaf = 0;
	state = ca_state_of(sk);
	if (state < TCP_CA_CWR)
		c->told = 0;
	if (is_unanswered(tp, c, state))
		answer_late(sk, c, state);
	read_ack(sk, sample, c, &now);
	event = event_begin(sk, EVENT_ACK, now.time, c->number);
	if (event) {
		event->newly = now.newly;
		event->delivered = now.delivered;
		event->rtt_us = now.rtt_us;
		event->window = c->window;
		event->flags = (now.duplicate ? FLAG_DUPLICATE : 0) | (now.limited ? FLAG_LIMITED : 0);
	}
	c->highest = now.nxt;
	estimate_on_sent(c, &now);
	if (now.newly || now.duplicate) { // neither: a window update, of which no definition hears
		if (c->starting && now.newly) {
			c->starting = 0;
			c->window += SEGMENT;
		}
		estimate_on_ack(sk, c, &now);
		predict_on_ack(c, &now);
		if (now.newly && now.limited && !is_repairing(now.state))
			growth_on_ack(tp, c, &now);
		growth_after_ack(tp, c, &now);
	}
	clamp = (__u64)tp->snd_cwnd_clamp << 32;
	if (c->window > clamp) {
		c->window = clamp;
		if (event)
			event->flags |= FLAG_CLAMPED;
	}
	if (c->window >> 32 != tp->snd_cwnd)
		tp->snd_cwnd = c->window >> 32;
	if (params.predictor == PREDICT_IDEAL)
		c->fate = fate_of(sk, tp->snd_una);
	if (event) {
		tell(event, c, &now);
		event->ssthresh_after = tp->snd_ssthresh;
		if (params.predictor != PREDICT_IDEAL)
			event->verdict = predict_verdict(c, &now);
		bpf_ringbuf_submit(event, 0);
	}
}

SEC("struct_ops")
__u32 BPF_PROG(truckee_ssthresh, struct sock *sk)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	struct connection *c = connection_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	int timeout, echo;

	if (!c)
		return tp->snd_cwnd > 4 ? tp->snd_cwnd / 2 : 2;
	if (is_passed_over(c))
		return PASSED_OVER;
	timeout = !icsk->icsk_pending;
	echo = !timeout && !tp->prior_ssthresh && (tp->ecn_flags || tp->tcp_mstamp != c->heard);
	read_window(tp, c);
	c->fate = 0; // what is known now counts
	return answer(sk, c, tp->snd_una, timeout, echo);
}

SEC("struct_ops")
void BPF_PROG(truckee_set_state, struct sock *sk, __u8 state)
{
	struct connection *c = connection_of(sk);

	if (!c || (c->deaf && state > TCP_CA_Disorder))
		return;
	enter(sk, c, state);
}

SEC("struct_ops")
void BPF_PROG(truckee_cwnd_event, struct sock *sk, __u32 what)
{
	struct connection *c;
	struct tcp_sock *tp = tcp_sk(sk);

	if (what != bpf_core_enum_value(enum tcp_ca_event, CA_EVENT_COMPLETE_CWR))
		return;
	c = connection_of(sk);
	if (c && c->target && tp->snd_cwnd > c->target)
		tp->snd_cwnd = c->target;
	if (c)
		c->target = 0;
}

SEC("struct_ops")
void BPF_PROG(truckee_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
}

SEC("struct_ops")
__u32 BPF_PROG(truckee_undo_cwnd, struct sock *sk)
{
	struct connection *c = connection_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct event *event;

	if (c) {
		c->target = 0;
		// The kernel raises ssthresh to that of before.
		if (c->told && c->told < tp->prior_ssthresh)
			c->told = tp->prior_ssthresh;
		event = event_begin(sk, EVENT_UNDO, bpf_ktime_get_ns(), c->number);
		if (event)
			bpf_ringbuf_submit(event, 0);
	}
	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops truckee = {
	.name = "truckee",
	.flags = TCP_CONG_NON_RESTRICTED,
	.init = (void *)truckee_init,
	.release = (void *)truckee_release,
	.ssthresh = (void *)truckee_ssthresh,
	.cong_avoid = (void *)truckee_cong_avoid,
	.set_state = (void *)truckee_set_state,
	.cwnd_event = (void *)truckee_cwnd_event,
	.pkts_acked = (void *)truckee_pkts_acked,
	.undo_cwnd = (void *)truckee_undo_cwnd,
};
