// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The sink: counts test frames and lets them go, at the XDP hook of the last device or as the filter
 * of the socket they are meant for. Beside it, a program that lets everything pass, for devices that
 * only take redirected frames when they have a program.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/histogram.h"
#include "bpf/sink.h"

const volatile struct sink_config config;
struct sink_count counts[SINK_CPUS] __attribute__((aligned(64)));
struct sink_stream streams[FRAMES_STREAMS];

/* One-way latency; one histogram per CPU, or one for all when the sink is on one CPU at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct histogram);
} latency SEC(".maps");

/* Per flow, one above the highest number seen. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} last SEC(".maps");

static __always_inline const struct sink_config *constants(void)
{
	const struct sink_config *c = (const struct sink_config *)&config;

	asm volatile("" : "+r"(c));
	return c;
}

/* Not inline: most frames at full rate carry no time. */
static __noinline void note_latency(__u32 cpu, __u64 sent_ns)
{
	struct histogram *h = bpf_map_lookup_elem(&latency, &cpu);
	const __u64 now = bpf_ktime_get_ns();

	if (h)
		histogram_add(h, now > sent_ns ? now - sent_ns : 0);
}

/* With constants for the last two: the compiler makes of the simple case what it is. */
static __always_inline void count(const struct sink_config *c, __u64 seq, __u64 ns, __u16 label,
				  __u32 bytes, int many_flows, int concurrent)
{
	const __u32 cpu = concurrent ? bpf_get_smp_processor_id() & (SINK_CPUS - 1) : 0;
	const __u32 number = label & ~FRAMES_MEASURED;
	struct sink_memory m = {.count = &counts[cpu]};

	if (number >= c->n_streams || number >= FRAMES_STREAMS) {
		m.count->unknown++;
		return;
	}
	m.stream = &streams[number];
	if (many_flows) {
		const struct frames_flows *flows = &c->flows[number];
		__u32 flow = flows->first + frames_flow(flows, seq);

		m.last = bpf_map_lookup_elem(&last, &flow);
	}
	if (c->bytes && bytes != c->bytes)
		m.count->odd++;
	if (sink_take(&m, seq, label >> 15, concurrent) && ns && (label & FRAMES_MEASURED))
		note_latency(cpu, FRAMES_BE64(ns));
}

/* ns in network byte order. */
static __always_inline void take(const struct sink_config *c, __u64 seq, __u64 ns, __u16 label,
				 __u32 bytes)
{
	if (c->plain)
		count(c, seq, ns, label, bytes, 0, 0);
	else if (c->concurrent)
		count(c, seq, ns, label, bytes, c->many_flows, 1);
	else
		count(c, seq, ns, label, bytes, c->many_flows, 0);
}

/*
 * Where the payload of an untagged IPv4 test frame begins; 0: another frame. Its headers but for the
 * first tell it well enough, and lie in one cache line.
 */
static __always_inline void *find_ipv4(const struct sink_config *c, char *data, char *end, int tcp)
{
	const int l3 = 14, l4 = l3 + 20, payload = l4 + (tcp ? 20 : 8);

	if (data + payload + FRAMES_PAYLOAD > end)
		return 0;
	return *(__u32 *)(data + l3 + 16) == c->address &&
			       *(__u8 *)(data + l3 + 9) == (tcp ? 6 : 17) &&
			       *(__u16 *)(data + l4 + 2) == c->port
		       ? data + payload
		       : 0;
}

/* The same for any kind. */
static __always_inline void *find(const struct sink_config *c, char *data, char *end, int v6,
				  int tcp)
{
	const int l3 = 14, l4 = l3 + (v6 ? 40 : 20), payload = l4 + (tcp ? 20 : 8);
	__u16 type;

	if (!v6 && !c->vlan)
		return find_ipv4(c, data, end, tcp);
	if (data + payload + FRAMES_PAYLOAD > end)
		return 0;
	type = *(__u16 *)(data + 12);
	/* The tag may also have been taken off, and kept beside the frame. */
	if (c->vlan && type == FRAMES_BE16(0x8100)) {
		data += 4;
		if (data + payload + FRAMES_PAYLOAD > end)
			return 0;
		type = *(__u16 *)(data + 12);
	}
	if (type != (v6 ? FRAMES_BE16(0x86dd) : FRAMES_BE16(0x0800)) ||
	    *(__u8 *)(data + l3 + (v6 ? 6 : 9)) != (tcp ? 6 : 17) ||
	    *(__u16 *)(data + l4 + 2) != c->port)
		return 0;
	return data + payload;
}

/* Offsets that the compiler knows: this runs once per frame. */
static __always_inline void *find_payload(const struct sink_config *c, char *data, char *end)
{
	if (c->v6)
		return c->tcp ? find(c, data, end, 1, 1) : find(c, data, end, 1, 0);
	return c->tcp ? find(c, data, end, 0, 1) : find(c, data, end, 0, 0);
}

SEC("xdp.frags") int sink_xdp(struct xdp_md *ctx)
{
	const struct sink_config *c = constants();
	char *data = (char *)(long)ctx->data, *end = (char *)(long)ctx->data_end;
	const char *payload = c->plain ? find_ipv4(c, data, end, 0) : find_payload(c, data, end);

	if (!payload)
		return XDP_PASS;
	take(c, FRAMES_BE64(*(__u64 *)payload), *(__u64 *)(payload + 8),
	     FRAMES_BE16(*(__u16 *)(payload + 16)), (__u32)(end - data));
	return XDP_DROP;
}

SEC("xdp.frags") int sink_pass(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_PASS;
}

/*
 * The filter of a UDP or a raw TCP socket: the packet starts at its transport header, or (raw, IPv4) at
 * its IP header. Nothing is queued. A raw socket sees other ports too; those it need not keep either.
 */
SEC("socket") int sink_socket(struct __sk_buff *skb)
{
	const struct sink_config *c = constants();
	const __u32 header = c->skip + (c->tcp ? 20 : 8);
	struct frames_payload payload;
	__u16 port;

	if (bpf_skb_load_bytes(skb, c->skip + 2, &port, sizeof(port)) || port != c->port ||
	    bpf_skb_load_bytes(skb, header, &payload, sizeof(payload)))
		return 0;
	take(c, FRAMES_BE64(payload.seq), payload.ns, FRAMES_BE16(payload.stream),
	     skb->len - c->skip + c->l4);
	return 0;
}

char _license[] SEC("license") = "GPL";
