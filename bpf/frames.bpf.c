// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The generator: runs as BPF_PROG_TEST_RUN with live frames, once per frame. It decides whether a frame
 * is due, writes it, and sends it out of a device or up the stack. It keeps its own time, so that one
 * system call lasts a whole trial.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "bpf/generator.h"
#include "bpf/histogram.h"

const volatile struct generator_config config;
struct generator_state state;

/* How late departures were: one histogram. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct histogram);
} late SEC(".maps");

/* The verifier knows these values; the compiler must not think that it does. */
static __always_inline const struct generator_config *constants(void)
{
	const struct generator_config *c = (const struct generator_config *)&config;

	asm volatile("" : "+r"(c));
	return c;
}

static __always_inline void note_late(__u64 ns)
{
	__u32 zero = 0;
	struct histogram *h = bpf_map_lookup_elem(&late, &zero);

	if (h)
		histogram_add(h, ns);
}

/* After a hold-up of more than can be made good, the schedule moves on without its frames. */
static __always_inline void skip_missed(const struct generator_config *c, struct generator_state *s,
					__u64 elapsed)
{
	__u64 missed;

	if (elapsed < s->due + (FRAMES_CATCH_UP_NS << FRAMES_DUE_SHIFT))
		return;
	missed = (elapsed - (FRAMES_CATCH_UP_NS << FRAMES_DUE_SHIFT) - s->due) / c->interval;
	s->due += missed * c->interval;
	s->unsent += missed * c->burst;
}

/* The departure of a frame that is due; 0: none is. Not inline: most frames at full rate go without. */
static __noinline __u64 due(const struct generator_config *c, struct generator_state *s)
{
	__u64 now = bpf_ktime_get_ns(), elapsed;

	if (!s->start_ns || now < s->start_ns || now >= s->end_ns)
		return 0;
	if (!s->mark && now >= s->begin_ns) {
		s->mark = FRAMES_MEASURED;
		s->early = s->sent;
	}
	s->stamp_at = s->sent + FRAMES_STAMP_EVERY;
	if (!c->interval) {
		s->first_ns = s->first_ns ? s->first_ns : now;
		return now;
	}
	elapsed = (now - s->start_ns) << FRAMES_DUE_SHIFT;
	if (!s->in_burst) {
		if (elapsed < s->due)
			return 0;
		skip_missed(c, s, elapsed);
	}
	s->first_ns = s->first_ns ? s->first_ns : now;
	if (s->mark)
		note_late((elapsed - s->due) >> FRAMES_DUE_SHIFT);
	if (++s->in_burst >= c->burst) {
		s->in_burst = 0;
		s->due += c->interval;
	}
	return now;
}

static __always_inline const struct frames_size *next_size(const struct generator_config *c,
							   struct generator_state *s)
{
	__u32 i = s->size;

	if (c->n_sizes == 1)
		return &c->sizes[0];
	s->size = i + 1 < c->n_sizes ? i + 1 : 0;
	return &c->sizes[i & (FRAMES_SIZES - 1)];
}

/* One flow of one size at full rate, to a sink that touches nothing: only the payload differs. */
static __always_inline int plain_out(struct xdp_md *ctx, const struct generator_config *c,
				     struct generator_state *s)
{
	char *payload = (char *)(long)ctx->data + FRAMES_PLAIN_PAYLOAD;
	__u64 ns = 0, seq = s->sent;

	if (seq == s->stamp_at) {
		ns = due(c, s);
		if (!ns)
			return XDP_DROP;
	}
	if (payload + FRAMES_PAYLOAD > (char *)(long)ctx->data_end)
		return XDP_DROP;
	frames_write_payload(payload, FRAMES_BE64(seq), FRAMES_BE64(ns),
			     FRAMES_BE16(c->stream | s->mark));
	s->sent = seq + 1;
	return (int)bpf_redirect(c->ifindex, 0);
}

/* What the verifier knows to be constant it takes out; but not the loads, hence the short way. */
SEC("xdp") int frames_out(struct xdp_md *ctx)
{
	const struct generator_config *c = constants();
	struct generator_state *s = &state;
	const struct frames_size *size;
	void *data, *end;
	__u64 ns = 0, seq = s->sent;
	__u32 tuple = c->shape.tuple;

	if (c->plain)
		return plain_out(ctx, c, s);
	if (c->count && seq >= c->count)
		return XDP_DROP;
	if (c->interval || seq == s->stamp_at) {
		ns = due(c, s);
		if (!ns)
			return XDP_DROP;
	}
	size = next_size(c, s);
	if (c->n_sizes > 1 && bpf_xdp_adjust_tail(ctx, (int)size->bytes - (int)c->longest))
		return XDP_DROP;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	if (data + c->shape.payload + FRAMES_PAYLOAD > end)
		return XDP_DROP;
	if (c->shape.many_flows)
		tuple = frames_tuple(c->flows.first + frames_flow(&c->flows, seq), c->seed);
	frames_write(&c->shape, size, tuple, FRAMES_BE64(seq), FRAMES_BE64(ns),
		     FRAMES_BE16(c->stream | s->mark), data);
	s->sent = seq + 1;
	if (c->action == XDP_REDIRECT)
		return bpf_redirect(c->ifindex, 0);
	return c->action;
}

/*
 * Engine tc: frames come up from the loopback device, where nothing but they has these addresses, and
 * are sent out as any packet would be.
 */
SEC("tc") int frames_turn(struct __sk_buff *skb)
{
	const struct generator_config *c = constants();
	__u64 start[2]; /* both MAC addresses and the type */

	if (bpf_skb_load_bytes(skb, 0, start, 12))
		return TC_ACT_UNSPEC;
	if (start[0] != c->shape.header[0] || (__u32)start[1] != (__u32)c->shape.header[1])
		return TC_ACT_UNSPEC;
	return (int)bpf_redirect(c->ifindex, 0);
}

char _license[] SEC("license") = "GPL";
