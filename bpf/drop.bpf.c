// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Filter programs for XDP, tc and UDP sockets: one parser, one decision. Frames that hit a rule are
 * counted and get config.verdict; everything else passes.
 */
#include "bpf/drop.h"

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define FRAGMENT_OFFSET bpf_htons(0x1fff)

const volatile struct drop_config config;
struct drop_count counts[DROP_CPUS];

/* The number of elements, and the size of the hash keys, are set before they are loaded. */
#define TABLE(name, kind, key_type, value_type, flags) \
	struct {                                       \
		__uint(type, BPF_MAP_TYPE_##kind);     \
		__uint(max_entries, 1);                \
		__uint(map_flags, flags);              \
		__type(key, key_type);                 \
		__type(value, value_type);             \
	} name SEC(".maps")

TABLE(rules4, ARRAY, __u32, struct drop_rule4, 0);
TABLE(rules6, ARRAY, __u32, struct drop_rule6, 0);
TABLE(hash4, HASH, struct drop_key4, __u32, 0);
TABLE(hash6, HASH, struct drop_key6, __u32, 0);
TABLE(lpm4, LPM_TRIE, struct drop_lpm4, __u32, BPF_F_NO_PREALLOC);
TABLE(lpm6, LPM_TRIE, struct drop_lpm6, __u32, BPF_F_NO_PREALLOC);

struct vlan_tag {
	__be16 tci, type;
};

/* What the rules look at. Only what the kind of match needs is filled in. */
struct ports {
	__be16 sport, dport;
	__u32 proto;
};

struct packet4 {
	__be32 src, dst;
	struct ports ports;
};

struct packet6 {
	__be32 src[4], dst[4];
	struct ports ports;
};

struct walk4 {
	struct packet4 packet;
	bool hit;
};

struct walk6 {
	struct packet6 packet;
	bool hit;
};

static __always_inline bool ports_miss(const volatile struct drop_ports *rule,
				       const struct ports *ports, __u32 match)
{
	__u32 miss = ports->dport ^ rule->dport;

	miss |= !(ports->proto & rule->protos);
	if (match == DROP_TUPLE)
		miss |= (__u16)(bpf_ntohs(ports->sport) - rule->sport_min) > rule->sport_span;
	return miss;
}

/* No branch between the fields: each rule of a list costs the same. */
static __always_inline bool rule4_hits(const volatile struct drop_rule4 *rule,
				       const struct packet4 *p)
{
	const __u32 match = config.match;
	__u32 miss = 0;

	if (match != DROP_PORT)
		miss |= (p->src ^ rule->src) & rule->src_mask;
	if (match == DROP_TUPLE)
		miss |= (p->dst ^ rule->dst) & rule->dst_mask;
	if (match != DROP_PREFIX)
		miss |= ports_miss(&rule->ports, &p->ports, match);
	return !miss;
}

static __always_inline __u32 differs6(const __be32 *a, const volatile __be32 *b,
				      const volatile __be32 *mask)
{
	return ((a[0] ^ b[0]) & mask[0]) | ((a[1] ^ b[1]) & mask[1]) | ((a[2] ^ b[2]) & mask[2]) |
	       ((a[3] ^ b[3]) & mask[3]);
}

static __always_inline bool rule6_hits(const volatile struct drop_rule6 *rule,
				       const struct packet6 *p)
{
	const __u32 match = config.match;
	__u32 miss = 0;

	if (match != DROP_PORT)
		miss |= differs6(p->src, rule->src, rule->src_mask);
	if (match == DROP_TUPLE)
		miss |= differs6(p->dst, rule->dst, rule->dst_mask);
	if (match != DROP_PREFIX)
		miss |= ports_miss(&rule->ports, &p->ports, match);
	return !miss;
}

static long walk_rules4(__u32 i, struct walk4 *walk)
{
	const struct drop_rule4 *rule = bpf_map_lookup_elem(&rules4, &i);

	if (!rule)
		return 1;
	if (!rule4_hits(rule, &walk->packet))
		return 0;
	walk->hit = true;
	return !config.go_on;
}

static long walk_rules6(__u32 i, struct walk6 *walk)
{
	const struct drop_rule6 *rule = bpf_map_lookup_elem(&rules6, &i);

	if (!rule)
		return 1;
	if (!rule6_hits(rule, &walk->packet))
		return 0;
	walk->hit = true;
	return !config.go_on;
}

static __always_inline bool in_hash4(const struct packet4 *p)
{
	struct drop_key4 key = {.key = {p->ports.dport, p->ports.proto}};

	if (config.match == DROP_TUPLE) {
		key.src = p->src & config.rule4.src_mask;
		key.dst = p->dst & config.rule4.dst_mask;
	}
	return bpf_map_lookup_elem(&hash4, &key);
}

static __always_inline bool in_hash6(const struct packet6 *p)
{
	struct drop_key6 key = {.key = {p->ports.dport, p->ports.proto}};

	if (config.match == DROP_TUPLE) {
		for (int i = 0; i < 4; i++) {
			key.src[i] = p->src[i] & config.rule6.src_mask[i];
			key.dst[i] = p->dst[i] & config.rule6.dst_mask[i];
		}
	}
	return bpf_map_lookup_elem(&hash6, &key);
}

static __always_inline bool packet4_hits(const struct packet4 *p)
{
	const __u32 structure = config.structure;

	if (structure == DROP_SINGLE)
		return rule4_hits(&config.rule4, p);
	if (structure == DROP_LINEAR) {
		struct walk4 walk = {.packet = *p};

		bpf_loop(config.rules, walk_rules4, &walk, 0);
		return walk.hit;
	}
	if (structure == DROP_HASH)
		return in_hash4(p);
	if (structure == DROP_LPM) {
		struct drop_lpm4 key = {32, p->src};

		return bpf_map_lookup_elem(&lpm4, &key);
	}
	return false;
}

static __always_inline bool packet6_hits(const struct packet6 *p)
{
	const __u32 structure = config.structure;

	if (structure == DROP_SINGLE)
		return rule6_hits(&config.rule6, p);
	if (structure == DROP_LINEAR) {
		struct walk6 walk = {.packet = *p};

		bpf_loop(config.rules, walk_rules6, &walk, 0);
		return walk.hit;
	}
	if (structure == DROP_HASH)
		return in_hash6(p);
	if (structure == DROP_LPM) {
		struct drop_lpm6 key = {128, {p->src[0], p->src[1], p->src[2], p->src[3]}};

		return bpf_map_lookup_elem(&lpm6, &key);
	}
	return false;
}

/* False for protocols that no rule looks at. */
static __always_inline bool take_protocol(struct ports *ports, __u8 protocol)
{
	ports->proto = protocol == IPPROTO_UDP ? DROP_UDP : protocol == IPPROTO_TCP ? DROP_TCP : 0;
	return ports->proto;
}

static __always_inline void take_ports(struct ports *ports, const __be16 *l4)
{
	ports->sport = l4[0];
	ports->dport = l4[1];
}

static __always_inline void take_addresses4(struct packet4 *p, const struct iphdr *ip)
{
	p->src = ip->saddr;
	p->dst = ip->daddr;
}

static __always_inline void take_addresses6(struct packet6 *p, const struct ipv6hdr *ip)
{
	for (int i = 0; i < 4; i++) {
		p->src[i] = ip->saddr.in6_u.u6_addr32[i];
		p->dst[i] = ip->daddr.in6_u.u6_addr32[i];
	}
}

/* Fragments but the first have no ports; only the source prefix can hit them. */
static __always_inline bool ip_hits(const void *l3, const void *end)
{
	const struct iphdr *ip = l3;
	struct packet4 p = {0};
	const __be16 *l4;

	if ((const void *)(ip + 1) > end)
		return false;
	take_addresses4(&p, ip);
	if (config.match != DROP_PREFIX) {
		l4 = l3 + ip->ihl * 4;
		if (!take_protocol(&p.ports, ip->protocol) || ip->frag_off & FRAGMENT_OFFSET ||
		    (const void *)(l4 + 2) > end)
			return false;
		take_ports(&p.ports, l4);
	}
	return packet4_hits(&p);
}

/* Ports are looked for right behind the fixed header: extension headers do not hit. */
static __always_inline bool ip6_hits(const void *l3, const void *end)
{
	const struct ipv6hdr *ip = l3;
	const __be16 *l4 = (const void *)(ip + 1);
	struct packet6 p = {0};

	if ((const void *)l4 > end)
		return false;
	take_addresses6(&p, ip);
	if (config.match != DROP_PREFIX) {
		if (!take_protocol(&p.ports, ip->nexthdr) || (const void *)(l4 + 2) > end)
			return false;
		take_ports(&p.ports, l4);
	}
	return packet6_hits(&p);
}

static __always_inline bool frame_hits(const void *data, const void *end)
{
	const struct ethhdr *eth = data;
	const void *l3 = eth + 1;
	__be16 type;

	if (config.structure == DROP_NONE || l3 > end)
		return false;
	type = eth->h_proto;
	if (type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD)) {
		const struct vlan_tag *tag = l3;

		l3 = tag + 1;
		if (l3 > end)
			return false;
		type = tag->type;
	}
	if (type == bpf_htons(ETH_P_IP))
		return ip_hits(l3, end);
	if (type == bpf_htons(ETH_P_IPV6))
		return ip6_hits(l3, end);
	return false;
}

/* All three hooks run in softirq context, so nothing else on this CPU counts at the same time. */
static __always_inline int hit(void)
{
	counts[bpf_get_smp_processor_id() & (DROP_CPUS - 1)].matched++;
	return config.verdict;
}

SEC("xdp")
int drop_xdp(struct xdp_md *ctx)
{
	return frame_hits((void *)(long)ctx->data, (void *)(long)ctx->data_end) ? hit() : XDP_PASS;
}

/* What does not hit is left to the next filter. */
SEC("tc")
int drop_tc(struct __sk_buff *skb)
{
	/* The headers that are looked at: Ethernet, a tag, IPv4 with all options, ports. */
	const __u32 need = ETH_HLEN + sizeof(struct vlan_tag) + 60 + 4;

	if (skb->data_end - skb->data < need && skb->data_end - skb->data < skb->len)
		bpf_skb_pull_data(skb, skb->len < need ? skb->len : need);
	return frame_hits((void *)(long)skb->data, (void *)(long)skb->data_end) ? hit()
										: TC_ACT_UNSPEC;
}

/* A socket's buffer starts with the UDP header, which IP has checked; its IP header is before it. */
static __always_inline bool datagram4_hits(struct __sk_buff *skb, const __be16 *l4)
{
	struct packet4 p = {.ports.proto = DROP_UDP};
	struct iphdr ip;

	if (bpf_skb_load_bytes_relative(skb, 0, &ip, sizeof(ip), BPF_HDR_START_NET))
		return false;
	take_addresses4(&p, &ip);
	take_ports(&p.ports, l4);
	return packet4_hits(&p);
}

static __always_inline bool datagram6_hits(struct __sk_buff *skb, const __be16 *l4)
{
	struct packet6 p = {.ports.proto = DROP_UDP};
	struct ipv6hdr ip;

	if (bpf_skb_load_bytes_relative(skb, 0, &ip, sizeof(ip), BPF_HDR_START_NET))
		return false;
	take_addresses6(&p, &ip);
	take_ports(&p.ports, l4);
	return packet6_hits(&p);
}

/* The result is how many bytes the socket gets; 0 drops the datagram. */
SEC("socket")
int drop_socket(struct __sk_buff *skb)
{
	__be16 l4[2];
	bool hits;

	if (config.structure == DROP_NONE || bpf_skb_load_bytes(skb, 0, l4, sizeof(l4)))
		return -1;
	if (skb->protocol == bpf_htons(ETH_P_IP))
		hits = datagram4_hits(skb, l4);
	else
		hits = datagram6_hits(skb, l4);
	return hits ? hit() : -1;
}

char _license[] SEC("license") = "GPL";
